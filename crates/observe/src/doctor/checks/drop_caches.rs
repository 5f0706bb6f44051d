//! Whether this user may drop the kernel's caches, which a cold measurement of files in use by others requires.

use super::super::finding::Finding;
use super::super::scene::Scene;
use crate::device::mount;
use std::path::Path;

const CODE: &str = "drop-caches";
const SOURCE: &str = "/proc/sys/vm/drop_caches";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let Some(uid) = scene.uid else { return Vec::new() };
    let lost = "a cold cache for files that others hold open or mapped (drop_caches; fathom still evicts its own files)";
    if uid != 0 {
        return vec![Finding::forbidden(CODE, SOURCE, lost).remedy("Run as root")];
    }
    // The file belongs to root and is write-only, so its mode says nothing; a container mounts /proc/sys read-only.
    let mounts =
        scene.files.read(Path::new("/proc/self/mountinfo")).map(|t| mount::parse(&t)).unwrap_or_default();
    let holder = mounts
        .iter()
        .filter(|m| Path::new(SOURCE).starts_with(&m.mount_point))
        .max_by_key(|m| m.mount_point.len());
    vec![if holder.is_some_and(|m| m.has_option("ro")) {
        Finding::forbidden(CODE, SOURCE, format!("{lost}; /proc/sys is read-only here, as in a container"))
            .remedy("Start the container with --privileged, or measure outside")
    } else {
        Finding::good(CODE, SOURCE, "The kernel's caches can be emptied before a cold measurement.")
    }]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    #[test]
    fn rights_and_a_read_only_proc_decide() {
        let _ = says(&machine(), "drop-caches", Severity::Good, &[]);
        let user = machine().file("/proc/self/status", "Uid:\t1000\t1000\t1000\t1000\n");
        assert!(says(&user, "drop-caches", Severity::Unknown, &["cold cache"]).forbidden);
        let boxed = machine().file("/proc/self/mountinfo", "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n31 27 0:12 / /proc rw - proc proc rw\n32 31 0:12 /sys /proc/sys ro - proc proc rw\n");
        let _ = says(&boxed, "drop-caches", Severity::Unknown, &["container"]);
    }
}
