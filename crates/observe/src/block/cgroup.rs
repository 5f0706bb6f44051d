//! I/O of this process's control group by device: the part of a device's counters that is ours (and that of other members of the group).
//! Version 2 has `io.stat`, version 1 `blkio.throttle.*`; which of them exists is detected. Version 2 charges write-back to the group
//! that dirtied the page, version 1 to the root group.

use crate::device::mount;
use crate::files::{KernelFiles, Live};
use fathom_record::block::DeviceNumber;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The control group of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnGroup {
    version: u8,
    dir: PathBuf,
    name: String,
}

/// I/O of a group on one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct GroupIo {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

/// By device.
pub type GroupCounters = BTreeMap<DeviceNumber, GroupIo>;

impl OwnGroup {
    /// Finds the group. The error is a sentence that says why there is none.
    pub fn find(files: &dyn KernelFiles) -> Result<Self, String> {
        let text =
            |path: &str| files.read(Path::new(path)).map_err(|e| format!("{path} cannot be read: {e}"));
        let mounts = mount::parse(&text("/proc/self/mountinfo")?);
        let groups = text("/proc/self/cgroup")?;
        let two = member(&groups, |controllers| controllers.is_empty())
            .and_then(|name| Self::at(&mounts, 2, name, |m| m.kind == "cgroup2"));
        let one = member(&groups, |controllers| controllers.split(',').any(|c| c == "blkio"))
            .and_then(|name| Self::at(&mounts, 1, name, |m| m.kind == "cgroup" && m.has_option("blkio")));
        let found = [two, one].into_iter().flatten().find(|g| g.read_with(files).is_some());
        found.ok_or_else(|| {
            "no control group counts our I/O: neither io.stat (version 2) nor blkio.throttle.io_service_bytes (version 1) can be read".into()
        })
    }

    fn at(
        mounts: &[mount::Mount],
        version: u8,
        name: &str,
        fits: impl Fn(&mount::Mount) -> bool,
    ) -> Option<Self> {
        let mount = mounts.iter().find(|m| fits(m))?;
        // In a container the mount shows only the part of the tree below its root.
        let inside = name.strip_prefix(mount.root.trim_end_matches('/')).unwrap_or(name);
        let dir = Path::new(&mount.mount_point).join(inside.trim_start_matches('/'));
        Some(Self { version, dir, name: name.into() })
    }

    /// The group's directory and its cgroup version.
    pub(crate) fn place(&self) -> (&Path, u8) {
        (&self.dir, self.version)
    }

    /// Where the figures come from: "io.stat of the cgroup /user.slice".
    #[must_use]
    pub fn source(&self) -> String {
        let file = if self.version == 2 { "io.stat" } else { "blkio.throttle" };
        let all = if self.is_root() { ", which holds every process that is in no other group" } else { "" };
        format!("{file} of the control group {} (version {}){all}", self.name, self.version)
    }

    /// Whether it is the root group, whose figures include every process.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.name == "/"
    }

    /// The current counters; `None` if they cannot be read.
    #[must_use]
    pub fn read(&self) -> Option<GroupCounters> {
        self.read_with(&Live)
    }

    fn read_with(&self, files: &dyn KernelFiles) -> Option<GroupCounters> {
        let text = |name: &str| files.read(&self.dir.join(name)).ok();
        if self.version == 2 {
            return Some(version_2(&text("io.stat")?));
        }
        let bytes = text("blkio.throttle.io_service_bytes")?;
        Some(version_1(&bytes, &text("blkio.throttle.io_serviced").unwrap_or_default()))
    }
}

/// I/O of a group between two readings, without devices that had none.
#[must_use]
pub fn moved(before: &GroupCounters, after: &GroupCounters) -> GroupCounters {
    let step = |number: &DeviceNumber, later: &GroupIo| {
        let earlier = before.get(number).copied().unwrap_or_default();
        GroupIo {
            read_bytes: later.read_bytes.saturating_sub(earlier.read_bytes),
            write_bytes: later.write_bytes.saturating_sub(earlier.write_bytes),
            reads: later.reads.saturating_sub(earlier.reads),
            writes: later.writes.saturating_sub(earlier.writes),
        }
    };
    let all = after.iter().map(|(number, io)| (*number, step(number, io)));
    all.filter(|(_, io)| *io != GroupIo::default()).collect()
}

/// Our group in the first hierarchy that `wanted` accepts: `4:blkio:/user.slice`, `0::/user.slice`.
fn member(groups: &str, wanted: impl Fn(&str) -> bool) -> Option<&str> {
    groups.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, name) = rest.split_once(':')?;
        wanted(controllers).then_some(name)
    })
}

/// `8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6`
fn version_2(text: &str) -> GroupCounters {
    let line = |line: &str| {
        let (device, rest) = line.split_once(' ')?;
        let value = |name: &str| {
            let field = rest.split_ascii_whitespace().find_map(|f| f.strip_prefix(name)?.strip_prefix('='));
            field.and_then(|v| v.parse().ok()).unwrap_or(0)
        };
        let io = GroupIo {
            read_bytes: value("rbytes"),
            write_bytes: value("wbytes"),
            reads: value("rios"),
            writes: value("wios"),
        };
        Some((DeviceNumber::parse(device)?, io))
    };
    text.lines().filter_map(line).collect()
}

/// `8:0 Read 1`, one line per device and kind.
fn version_1(bytes: &str, operations: &str) -> GroupCounters {
    let mut found = GroupCounters::new();
    for (text, in_bytes) in [(bytes, true), (operations, false)] {
        for line in text.lines() {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let [device, kind, value] = words[..] else { continue };
            let (Some(device), Ok(value)) = (DeviceNumber::parse(device), value.parse::<u64>()) else {
                continue;
            };
            let io = found.entry(device).or_default();
            match (kind, in_bytes) {
                ("Read", true) => io.read_bytes = value,
                ("Write", true) => io.write_bytes = value,
                ("Read", false) => io.reads = value,
                ("Write", false) => io.writes = value,
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    const SDA: DeviceNumber = DeviceNumber { major: 8, minor: 0 };
    const IO: GroupIo = GroupIo { read_bytes: 4096, write_bytes: 8192, reads: 1, writes: 2 };

    #[test]
    fn version_2_is_found_and_read() {
        let fake = Fake::new()
            .file("/proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
            .file("/proc/self/cgroup", "0::/user.slice/a\n")
            .file(
                "/sys/fs/cgroup/user.slice/a/io.stat",
                "8:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n7:1 \n",
            );
        let group = OwnGroup::find(&fake).expect("there");
        assert!(!group.is_root() && group.source().contains("io.stat"), "{}", group.source());
        assert_eq!(group.read_with(&fake).expect("read").get(&SDA), Some(&IO));
    }

    #[test]
    fn version_1_is_found_beside_a_version_2_without_io() {
        let fake = Fake::new()
            .file("/proc/self/mountinfo", "30 1 0:26 / /cg/blkio rw - cgroup cgroup rw,blkio\n31 1 0:27 / /cg/unified rw - cgroup2 cgroup2 rw\n")
            .file("/proc/self/cgroup", "7:blkio:/\n0::/\n")
            .file("/cg/blkio/blkio.throttle.io_service_bytes", "8:0 Read 4096\n8:0 Write 8192\n8:0 Total 12288\nTotal 12288\n")
            .file("/cg/blkio/blkio.throttle.io_serviced", "8:0 Read 1\n8:0 Write 2\n");
        let group = OwnGroup::find(&fake).expect("there");
        assert!(group.is_root() && group.source().contains("version 1"), "{}", group.source());
        let before = group.read_with(&fake).expect("read");
        assert_eq!(before, GroupCounters::from([(SDA, IO)]));
        let mut after = before.clone();
        assert_eq!(moved(&before, &after), GroupCounters::new());
        after.entry(SDA).or_default().reads += 5;
        assert_eq!(moved(&before, &after).get(&SDA).map(|io| io.reads), Some(5));
    }

    #[test]
    fn a_container_sees_its_own_part() {
        let fake = Fake::new()
            .file("/proc/self/mountinfo", "30 1 0:26 /pod/x /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
            .file("/proc/self/cgroup", "0::/pod/x\n")
            .file("/sys/fs/cgroup/io.stat", "8:0 rbytes=4096 wbytes=8192 rios=1 wios=2\n");
        assert!(OwnGroup::find(&fake).is_ok());
    }

    #[test]
    fn without_either_file_the_error_names_io_stat() {
        let fake = Fake::new().file("/proc/self/mountinfo", "").file("/proc/self/cgroup", "0::/\n");
        assert!(OwnGroup::find(&fake).expect_err("none").contains("io.stat"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(?s).{0,100}|([0-9]{1,10}:[0-9]{1,10} (rbytes|Read)[= ][0-9]{1,22}\n){0,3}") {
            let _ = (version_2(&text), version_1(&text, &text), member(&text, |_| true));
        }
    }
}
