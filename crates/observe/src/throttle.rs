//! Limits this process to a number of reads per second at a device by a dedicated control group (controller blkio of version 1, io of
//! version 2): its requests then wait as on a slow device, and other programs' do not. On drop the process returns to its old group and
//! the new one is removed. After a SIGKILL an empty group remains, which limits no process; the next command removes it ([`sweep`]).

use crate::block::cgroup::OwnGroup;
use crate::files::Live;
use fathom_record::block::DeviceNumber;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long requests in flight may keep the group alive.
const PATIENCE: Duration = Duration::from_secs(5);

/// Prefix of our groups' names; the PID follows.
const PREFIX: &str = "fathom-";

/// Removes the groups of dead processes. A group with processes (of another container, with other PIDs) is in use, and the kernel refuses
/// to remove it.
pub fn sweep() {
    let Ok(own) = OwnGroup::find(&Live) else { return };
    let (dir, version) = own.place();
    let above = above(dir, version, own.is_root());
    for entry in fs::read_dir(above).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// An active limit.
#[derive(Debug)]
pub struct Throttle {
    group: PathBuf,
    back: PathBuf,
    /// Where the controller was enabled for it.
    switched_on: Option<PathBuf>,
}

impl Throttle {
    /// Limits this process to `reads_per_s` at a device.
    ///
    /// # Errors
    /// A sentence: no control group limits I/O here, or this user may not create one.
    pub fn this_process(device: DeviceNumber, reads_per_s: u32) -> Result<Self, String> {
        let own = OwnGroup::find(&Live)?;
        let (dir, version) = own.place();
        let above = above(dir, version, own.is_root());
        let group = above.join(format!("{PREFIX}{}", std::process::id()));
        let failed = |what: &Path, e: io::Error| format!("{}: {e}; a limit takes root", what.display());
        let control = above.join("cgroup.subtree_control");
        let on = version != 2
            || fs::read_to_string(&control).unwrap_or_default().split_whitespace().any(|c| c == "io");
        if !on {
            fs::write(&control, "+io").map_err(|e| failed(&control, e))?;
        }
        fs::create_dir(&group).map_err(|e| failed(&group, e))?;
        let throttle = Self { group, back: dir.join("cgroup.procs"), switched_on: (!on).then_some(control) };
        let (file, limit) = limit(version, device, reads_per_s);
        for (file, text) in [(file, limit), ("cgroup.procs", std::process::id().to_string())] {
            let path = throttle.group.join(file);
            fs::write(&path, text).map_err(|e| failed(&path, e))?;
        }
        Ok(throttle)
    }
}

/// The parent of a new group: in version 2 a group with processes has no children, so the new one becomes a sibling.
fn above(own: &Path, version: u8, root: bool) -> PathBuf {
    match own.parent() {
        Some(parent) if version == 2 && !root => parent.to_path_buf(),
        _ => own.to_path_buf(),
    }
}

/// The file of a limit and its content.
fn limit(version: u8, device: DeviceNumber, reads_per_s: u32) -> (&'static str, String) {
    let DeviceNumber { major, minor } = device;
    match version {
        2 => ("io.max", format!("{major}:{minor} riops={reads_per_s}")),
        _ => ("blkio.throttle.read_iops_device", format!("{major}:{minor} {reads_per_s}")),
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        // Errors cannot be handled here; a remaining group is empty and limits no process.
        let _ = fs::write(&self.back, std::process::id().to_string());
        let begun = Instant::now();
        while fs::remove_dir(&self.group).is_err() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
        }
        if let Some(control) = self.switched_on.take() {
            let _ = fs::write(control, "-io");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOP: DeviceNumber = DeviceNumber { major: 7, minor: 1 };

    #[test]
    fn a_limit_is_in_the_words_of_its_version() {
        assert_eq!(limit(1, LOOP, 90), ("blkio.throttle.read_iops_device", "7:1 90".into()));
        assert_eq!(limit(2, LOOP, 90), ("io.max", "7:1 riops=90".into()));
    }

    #[test]
    fn a_group_is_made_where_groups_may_be() {
        let own = Path::new("/cg/user/a");
        assert_eq!(above(own, 1, false), own);
        assert_eq!(above(own, 2, false), Path::new("/cg/user"));
        assert_eq!(above(Path::new("/cg"), 2, true), Path::new("/cg"));
    }
}
