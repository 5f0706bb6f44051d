//! Location of the state directory, from the environment alone. Whether its contents may be trusted is not checked here.

use std::ffi::OsString;
use std::path::PathBuf;

/// For root without a home that only root can change: a system directory, cleared at the next boot.
const OF_ROOT: &str = "/run/fathom";

/// `$XDG_STATE_HOME/fathom`, else `~/.local/state/fathom`; `None` if neither variable holds an absolute path.
/// Never a directory shared with other users, as its contents could be theirs.
#[must_use]
pub fn configured(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
    base.map(|base| base.join("fathom"))
}

/// The alternative for root, if the configured directory does not exist or others can change it.
#[must_use]
pub fn instead(user: u32) -> Option<PathBuf> {
    (user == 0).then(|| PathBuf::from(OF_ROOT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configured_by(variables: &[(&str, &str)]) -> Option<PathBuf> {
        let of = |name: &str| variables.iter().find(|v| v.0 == name).map(|v| OsString::from(v.1));
        configured(of)
    }

    #[test]
    fn it_is_below_a_home_or_nowhere() {
        assert_eq!(configured_by(&[("HOME", "/root")]), Some("/root/.local/state/fathom".into()));
        let both = [("HOME", "/root"), ("XDG_STATE_HOME", "/s")];
        assert_eq!(configured_by(&both), Some("/s/fathom".into()));
        for nowhere in [&[][..], &[("TMPDIR", "/tmp")], &[("HOME", "")], &[("XDG_STATE_HOME", "here")]] {
            assert_eq!(configured_by(nowhere), None);
        }
        assert_eq!((instead(0), instead(1000)), (Some("/run/fathom".into()), None));
    }
}
