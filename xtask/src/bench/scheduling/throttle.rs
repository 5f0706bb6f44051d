//! A control group whose reads and writes of one device are limited to N a second each, by the controller blkio (version 1) or io
//! (version 2), whichever the kernel has. When it is dropped the group is gone and what was switched on for it is off again.

use crate::bench::loop_device::show_failure;
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time for the processes of the group to end after the signal.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where groups are made, and in which words.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Hierarchy {
    Blkio(PathBuf),
    Io(PathBuf),
}

/// A group with a limit.
pub struct Throttle {
    dir: PathBuf,
    /// Where the controller was switched on for it.
    switched_on: Option<PathBuf>,
}

impl Throttle {
    /// Limits the device with this number ("7:0") to `per_s` reads and `per_s` writes a second.
    pub fn on(number: &str, per_s: u32) -> Result<Self> {
        let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
        let mounts = read(Path::new("/proc/self/mountinfo"));
        let controllers = |dir: &Path| read(&dir.join("cgroup.controllers"));
        let found = hierarchy(&mounts, controllers).context(
            "no control group with the controller blkio or io is mounted, and requests are held back by one",
        )?;
        let name = format!("fathom-bench-{}", std::process::id());
        let mut throttle = match &found {
            Hierarchy::Blkio(top) => Self { dir: top.join(name), switched_on: None },
            Hierarchy::Io(top) => {
                let control = top.join("cgroup.subtree_control");
                let on = read(&control).split_whitespace().any(|c| c == "io");
                if !on {
                    write(&control, "+io")?;
                }
                Self { dir: top.join(name), switched_on: (!on).then_some(control) }
            }
        };
        if let Err(error) = std::fs::create_dir(&throttle.dir) {
            let dir = std::mem::take(&mut throttle.dir);
            return Err(error).with_context(|| format!("{} cannot be made", dir.display()));
        }
        for (file, limit) in limits(&found, number, per_s) {
            write(&throttle.dir.join(file), &limit)?;
        }
        Ok(throttle)
    }

    /// The file that takes the number of a process which is to be held back.
    pub fn processes(&self) -> PathBuf {
        self.dir.join("cgroup.procs")
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        let made = !self.dir.as_os_str().is_empty();
        let end = Instant::now() + PATIENCE;
        while made && let Err(error) = std::fs::remove_dir(&self.dir) {
            // A process that was killed is in it until its last request is done.
            if Instant::now() >= end {
                eprintln!("the control group {} cannot be removed: {error}", self.dir.display());
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        if let Some(control) = self.switched_on.take() {
            show_failure(write(&control, "-io"));
        }
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("{text:?} cannot be written to {}", path.display()))
}

/// The files of a limit and the values written to them.
fn limits(hierarchy: &Hierarchy, number: &str, per_s: u32) -> Vec<(&'static str, String)> {
    match hierarchy {
        Hierarchy::Blkio(_) => ["blkio.throttle.read_iops_device", "blkio.throttle.write_iops_device"]
            .map(|file| (file, format!("{number} {per_s}")))
            .to_vec(),
        Hierarchy::Io(_) => vec![("io.max", format!("{number} riops={per_s} wiops={per_s}"))],
    }
}

/// The first hierarchy that can limit I/O. A controller is in one only.
fn hierarchy(mountinfo: &str, controllers: impl Fn(&Path) -> String) -> Option<Hierarchy> {
    mountinfo.lines().find_map(|line| {
        let (mount, file_system) = line.split_once(" - ")?;
        let top = PathBuf::from(mount.split(' ').nth(4)?);
        let mut words = file_system.split(' ');
        match (words.next()?, words.nth(1)?) {
            ("cgroup", options) => options.split(',').any(|o| o == "blkio").then_some(Hierarchy::Blkio(top)),
            ("cgroup2", _) => {
                let has = controllers(&top).split_whitespace().any(|c| c == "io");
                has.then_some(Hierarchy::Io(top))
            }
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_version_is_found_where_its_controller_is() {
        let v1 = "26 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 26 0:30 / /cg/cpu rw - cgroup cgroup rw,cpu\n\
                  31 26 0:31 / /cg/blkio rw - cgroup cgroup rw,blkio\n32 26 0:32 / /cg/all rw - cgroup2 cgroup2 rw\n";
        let nothing = |_: &Path| "hugetlb\n".to_owned();
        assert_eq!(hierarchy(v1, nothing), Some(Hierarchy::Blkio("/cg/blkio".into())));
        let v2 = "30 26 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
        assert_eq!(hierarchy(v2, |_| "cpu io memory\n".into()), Some(Hierarchy::Io("/sys/fs/cgroup".into())));
        assert_eq!(hierarchy(v2, nothing), None);
    }

    #[test]
    fn a_limit_is_in_the_words_of_its_version() {
        let of = |h: Hierarchy| {
            limits(&h, "7:1", 400).into_iter().map(|(f, t)| format!("{f}: {t}")).collect::<Vec<_>>()
        };
        assert_eq!(of(Hierarchy::Io("/c".into())), ["io.max: 7:1 riops=400 wiops=400"]);
        assert_eq!(
            of(Hierarchy::Blkio("/c".into())),
            ["blkio.throttle.read_iops_device: 7:1 400", "blkio.throttle.write_iops_device: 7:1 400"]
        );
    }
}
