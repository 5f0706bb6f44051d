//! Finds this machine's tracefs and removes instances left behind by killed processes of this program.

use super::error::WatchError;
use crate::device::mount;
use crate::files::{KernelFiles, Live};
use std::io;
use std::path::{Path, PathBuf};

/// Prefix of our instances' names: `fathom-PID-START-N`. The process's start time is included because PIDs are reused.
pub(super) const PREFIX: &str = "fathom-";

/// Where tracefs is mounted. It is never mounted implicitly; debugfs mounts it at its `tracing` directory.
pub(super) fn find(files: &dyn KernelFiles) -> Result<PathBuf, WatchError> {
    let table =
        files.read(Path::new("/proc/self/mountinfo")).map_err(WatchError::io("/proc/self/mountinfo"))?;
    let mounts = mount::parse(&table);
    let at = |kind: &str| mounts.iter().rev().find(|m| m.kind == kind).map(|m| PathBuf::from(&m.mount_point));
    if let Some(point) = at("tracefs") {
        return Ok(point);
    }
    let below = at("debugfs").map(|point| point.join("tracing"));
    below.filter(|dir| files.list(dir).is_ok_and(|names| !names.is_empty())).ok_or(WatchError::NotMounted)
}

/// Start time of a process in clock ticks after boot: together with the PID it is unique until the next boot.
pub(super) fn start_ticks(pid: u32) -> Option<u64> {
    let stat = Live.read(Path::new(&format!("/proc/{pid}/stat"))).ok()?;
    // The name in parentheses may contain anything; fields 3 and on follow the last parenthesis.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// Removes the instances of processes that are gone. One in use (by a process in another PID namespace, which we cannot see) has open
/// files, and the kernel refuses to remove it.
pub(super) fn sweep(instances: &Path) {
    let Ok(names) = Live.list(instances) else { return };
    for name in names {
        if owner(&name).is_some_and(|(pid, start)| start_ticks(pid) != Some(start)) {
            let _ = std::fs::remove_dir(instances.join(name));
        }
    }
}

/// Sweeps this machine's tracefs, if it is mounted.
pub fn sweep_left_behind() {
    if let Ok(root) = find(&Live) {
        sweep(&root.join("instances"));
    }
}

fn owner(name: &str) -> Option<(u32, u64)> {
    let mut parts = name.strip_prefix(PREFIX)?.split('-');
    let owner = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    (parts.next()?.parse::<u32>().is_ok() && parts.next().is_none()).then_some(owner)
}

/// rmdir with retries: the kernel returns EBUSY while a reader closes or a child process still holds our files.
pub(super) fn remove(instance: &Path) -> io::Result<()> {
    let mut pause = std::time::Duration::from_millis(2);
    loop {
        match std::fs::remove_dir(instance) {
            Err(e) if e.raw_os_error() == Some(libc::EBUSY) && pause.as_millis() < 300 => {
                std::thread::sleep(pause);
                pause *= 2;
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn tracefs_is_found_by_its_kind() {
        let table = "25 1 0:24 / /sys rw - sysfs sysfs rw\n30 25 0:12 / /sys/kernel/tracing rw - tracefs tracefs rw\n";
        let fake = Fake::new().file("/proc/self/mountinfo", table);
        assert_eq!(find(&fake).expect("there"), Path::new("/sys/kernel/tracing"));
    }

    #[test]
    fn debugfs_brings_one_along() {
        let table = "31 25 0:7 / /sys/kernel/debug rw - debugfs debugfs rw\n";
        let fake = Fake::new().file("/proc/self/mountinfo", table);
        assert!(matches!(find(&fake), Err(WatchError::NotMounted)));
        let fake = fake.file("/sys/kernel/debug/tracing/trace_clock", "[local] mono\n");
        assert_eq!(find(&fake).expect("there"), Path::new("/sys/kernel/debug/tracing"));
    }

    #[test]
    fn without_one_the_command_is_told() {
        let fake = Fake::new().file("/proc/self/mountinfo", "25 1 0:24 / /sys rw - sysfs sysfs rw\n");
        let said = find(&fake).expect_err("none").to_string();
        assert!(said.contains("mount -t tracefs tracefs /sys/kernel/tracing"), "{said}");
    }

    #[test]
    fn names_tell_their_owner_and_others_are_left_alone() {
        assert_eq!(owner("fathom-12-3456-0"), Some((12, 3456)));
        for other in ["fathom-12", "fathom-12-3456", "fathom-12-3456-0-1", "fathom-x-1-0", "other-12-3456-0"]
        {
            assert_eq!(owner(other), None, "{other}");
        }
    }

    #[test]
    fn a_process_has_a_start() {
        let me = start_ticks(std::process::id()).expect("we run");
        assert!(me > 0);
        assert_eq!(start_ticks(std::process::id()), Some(me));
        assert_eq!(start_ticks(u32::MAX), None);
    }
}
