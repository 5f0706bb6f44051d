//! Which sources of block-layer figures this user can use on this machine, with one sentence for each that is unavailable.

use super::error::WatchError;
use super::tracefs;
use crate::files::{KernelFiles, Live};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The sources that are available.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Availability {
    /// Trace events: every request with its size, sector, times and issuer. `Err` holds the reason in a sentence.
    pub events: Result<PathBuf, String>,
    /// The devices' counters: totals and rates that include every program's I/O.
    pub counters: Result<(), String>,
    /// The counters of our own control group; `Ok` names their source and version.
    pub cgroup: Result<String, String>,
}

impl Availability {
    /// The best available source: "tracefs", "counters" or "none".
    #[must_use]
    pub fn best(&self) -> &'static str {
        match (&self.events, &self.counters) {
            (Ok(_), _) => "tracefs",
            (_, Ok(())) => "counters",
            _ => "none",
        }
    }

    /// What the missing sources would have shown, in one sentence; `None` if nothing is missing.
    #[must_use]
    pub fn degraded(&self) -> Option<String> {
        let why = self.events.as_ref().err()?;
        Some(match &self.counters {
            Ok(()) => format!(
                "{why}. The devices' counters are used instead: they have no sizes, seeks or device latencies, and include the \
                 I/O of other programs"
            ),
            Err(none) => format!("{why}; {none}: nothing is known of what reached the device"),
        })
    }
}

/// Probes the machine without changing anything.
#[must_use]
pub fn availability() -> Availability {
    let found = tracefs::find(&Live).and_then(|root| allowed(&root).map(|()| root));
    Availability {
        events: found.map_err(|e| e.to_string()),
        counters: counters(&Live),
        cgroup: super::cgroup::OwnGroup::find(&Live).map(|g| g.source()),
    }
}

fn allowed(root: &Path) -> Result<(), WatchError> {
    let instances = root.join("instances");
    let reachable = CString::new(instances.as_os_str().as_bytes()).is_ok_and(|path| {
        // SAFETY: a NUL-terminated string that outlives the call.
        unsafe {
            libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::W_OK | libc::X_OK, libc::AT_EACCESS) == 0
        }
    });
    if !reachable {
        return Err(WatchError::NotAllowed(root.to_path_buf()));
    }
    let issue = root.join("events/block/block_rq_issue");
    if Live.list(&issue).is_err() {
        return Err(WatchError::NoEvent { tracefs: root.to_path_buf(), event: "block_rq_issue" });
    }
    Ok(())
}

fn counters(files: &dyn KernelFiles) -> Result<(), String> {
    match files.list(Path::new("/sys/dev/block")) {
        Ok(devices) if !devices.is_empty() => Ok(()),
        _ => Err("the counters of block devices cannot be read: /sys/dev/block is not there or empty".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn degraded_observation_gives_one_sentence_with_a_remedy() {
        let without = Availability {
            events: Err(WatchError::NotMounted.to_string()),
            counters: Ok(()),
            cgroup: Err("x".into()),
        };
        assert_eq!(without.best(), "counters");
        let said = without.degraded().expect("something is lost");
        assert!(said.contains("mount -t tracefs") && said.contains("counters are used instead"), "{said}");
        let all = Availability { events: Ok("/sys/kernel/tracing".into()), ..without };
        assert_eq!((all.best(), all.degraded()), ("tracefs", None));
    }

    #[test]
    fn a_machine_without_sysfs_has_no_counters() {
        assert!(counters(&Fake::new()).is_err());
        let fake = Fake::new().disk("ata1", "sda", (8, 0));
        assert_eq!(counters(&fake), Ok(()));
    }

    #[test]
    fn this_machine_answers_and_is_left_as_it_is() {
        let now = availability();
        assert!(["tracefs", "counters", "none"].contains(&now.best()));
        assert_eq!(now.degraded().is_none(), now.best() == "tracefs");
    }
}
