//! Location of the store: the default path from the environment, and whether it is on a network file system.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The default path from a look-up of environment variables. Empty variables count as unset, as the XDG specification says.
pub(super) fn default_path(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(file) = set("FATHOM_STORE") {
        return Some(file);
    }
    let data = set("XDG_DATA_HOME")
        .filter(|p| p.is_absolute())
        .or_else(|| set("HOME").map(|home| home.join(".local/share")))?;
    Some(data.join("fathom").join("fathom.db"))
}

/// Whether the file is on a file system that several hosts may share, where SQLite's write-ahead log must not be used.
pub(super) fn is_networked(path: &Path) -> bool {
    let Some(directory) = path.parent().map(|p| if p.as_os_str().is_empty() { Path::new(".") } else { p })
    else {
        return false;
    };
    let Ok(directory) = directory.canonicalize() else { return false };
    let Ok(mounts) = std::fs::read_to_string("/proc/self/mountinfo") else { return false };
    file_system_of(&directory, &mounts).is_some_and(|t| is_network_type(&t))
}

/// The type of the file system that holds `directory`: that of the longest mount point containing it. If several are mounted there, the
/// last one counts, as it hides the others.
fn file_system_of(directory: &Path, mountinfo: &str) -> Option<String> {
    let mut best: Option<(usize, String)> = None;
    for line in mountinfo.lines() {
        let Some((before, after)) = line.split_once(" - ") else { continue };
        let (Some(mount_point), Some(kind)) = (before.split(' ').nth(4), after.split(' ').next()) else {
            continue;
        };
        let mount_point = mount_point.replace("\\040", " ");
        let length = mount_point.len();
        if directory.starts_with(&mount_point) && best.as_ref().is_none_or(|(l, _)| length >= *l) {
            best = Some((length, kind.to_string()));
        }
    }
    best.map(|(_, kind)| kind)
}

/// Types whose files another host or kernel may hold open at the same time.
fn is_network_type(kind: &str) -> bool {
    const NETWORK: [&str; 16] = [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "9p",
        "virtiofs",
        "ceph",
        "lustre",
        "gpfs",
        "afs",
        "beegfs",
        "ocfs2",
        "gfs2",
        "glusterfs",
        "pvfs2",
    ];
    NETWORK.contains(&kind) || kind == "fuse" || kind.starts_with("fuse.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_with(pairs: &[(&str, &str)]) -> Option<PathBuf> {
        default_path(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v)))
    }

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let all = [("FATHOM_STORE", "/a/b.db"), ("XDG_DATA_HOME", "/x"), ("HOME", "/home/u")];
        assert_eq!(path_with(&all), Some("/a/b.db".into()));
        assert_eq!(path_with(&all[1..]), Some("/x/fathom/fathom.db".into()));
        assert_eq!(path_with(&all[2..]), Some("/home/u/.local/share/fathom/fathom.db".into()));
        assert_eq!(path_with(&[]), None);
    }

    #[test]
    fn empty_and_relative_values_do_not_count() {
        let odd = [("FATHOM_STORE", ""), ("XDG_DATA_HOME", "relative"), ("HOME", "/home/u")];
        assert_eq!(path_with(&odd), Some("/home/u/.local/share/fathom/fathom.db".into()));
    }

    const MOUNTS: &str = "\
22 1 254:0 / / rw - ext4 /dev/vda rw
30 22 0:40 / /home rw,relatime shared:9 - nfs4 server:/home rw
31 30 8:1 / /home/local\\040disk rw - xfs /dev/sda1 rw
";

    #[test]
    fn the_longest_mount_point_counts() {
        let kind = |p: &str| file_system_of(Path::new(p), MOUNTS).unwrap_or_default();
        assert_eq!(kind("/var/lib"), "ext4");
        assert_eq!(kind("/home/u/.local"), "nfs4");
        assert_eq!(kind("/home/local disk/x"), "xfs");
        assert_eq!(kind("/homework"), "ext4");
    }

    #[test]
    fn network_types_are_known() {
        assert!(is_network_type("nfs4") && is_network_type("fuse.sshfs") && is_network_type("9p"));
        assert!(!is_network_type("ext4") && !is_network_type("fuseblk") && !is_network_type("tmpfs"));
    }
}
