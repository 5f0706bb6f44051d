//! Which devices of a stack are watched, and whether each has request events or only bio events.

use crate::device::{Device, DeviceKind, DeviceStack, is_bio_based, nvme};
use crate::files::{KernelFiles, Live};
use fathom_record::block::DeviceNumber;
use std::path::Path;

/// A device that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The number its events carry.
    pub number: DeviceNumber,
    /// Kernel name: "vda", "loop0".
    pub name: String,
    /// Its level in the stack, see [`Device::level`], without the devices that have no events: the disk of the file system's partition
    /// is at level 0.
    pub level: u32,
    /// Whether it has no requests (most of device mapper, md, zram, brd): bio events are used instead.
    pub bio_based: bool,
    /// Whether its requests wait in an I/O scheduler, which has an event for each one queued (flushes and writes with a flush bypass it).
    /// Insertions by this process's measured threads can then be filtered out.
    pub scheduled: bool,
    /// Numbers of its partitions: on some kernels a bio's event carries its partition's number. Events are reported under the disk's
    /// number.
    pub partitions: Vec<DeviceNumber>,
}

/// The devices of a stack that have their own events. A partition has none: its disk is watched instead, which also shows the I/O of the
/// other partitions. Instead of an NVMe multipath device its paths are watched.
#[must_use]
pub fn watched(stack: &DeviceStack) -> Vec<Watched> {
    watched_with(&Live, stack)
}

fn watched_with(files: &dyn KernelFiles, stack: &DeviceStack) -> Vec<Watched> {
    let watched = stack.devices.iter().filter(|d| has_events(d));
    watched
        .map(|device| Watched {
            name: shown_name(stack, device),
            level: level_among_watched(stack, device),
            ..one(files, device)
        })
        .collect()
}

/// A partition's events are its disk's. An NVMe multipath device sends each bio to a path, where it also completes.
fn has_events(device: &Device) -> bool {
    !matches!(device.kind, DeviceKind::Partition | DeviceKind::Multipath)
}

/// The only path of an NVMe multipath device goes by that device's name, which is the one that users know.
fn shown_name(stack: &DeviceStack, device: &Device) -> String {
    let above = |d: &Device| stack.devices.iter().find(|a| d.above.as_ref() == Some(&a.name));
    let paths = |head: &Device| stack.devices.iter().filter(|d| d.above.as_ref() == Some(&head.name)).count();
    let head = above(device).filter(|head| head.kind == DeviceKind::Multipath && paths(head) == 1);
    head.unwrap_or(device).name.clone()
}

fn level_among_watched(stack: &DeviceStack, device: &Device) -> u32 {
    let above = |d: &&Device| {
        let name = d.above.as_ref()?;
        stack.devices.iter().find(|a| a.name == *name && a.level < d.level)
    };
    let unwatched = std::iter::successors(Some(device), above).filter(|d| !has_events(d));
    device.level.saturating_sub(unwatched.count() as u32)
}

fn one(files: &dyn KernelFiles, device: &Device) -> Watched {
    let (major, minor) = device.number;
    // A partition's name begins with the disk's.
    let disk = device.sys.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let names = files.list(&device.sys).unwrap_or_default();
    let inside = names.iter().filter(|name| name.starts_with(&*disk)).map(|name| device.sys.join(name));
    let partitions = inside.filter(|d| files.trimmed(&d.join("partition")).is_some());
    Watched {
        number: DeviceNumber { major, minor },
        name: device.name.clone(),
        level: device.level,
        bio_based: is_bio_based(files, &device.sys),
        scheduled: is_scheduled(files, &device.sys),
        partitions: partitions.filter_map(|d| DeviceNumber::parse(&files.trimmed(&d.join("dev"))?)).collect(),
    }
}

/// The file lists the choices with the current one in brackets: "none mq-deadline [bfq]".
fn is_scheduled(files: &dyn KernelFiles, sys: &Path) -> bool {
    let choice = files.trimmed(&sys.join("queue/scheduler"));
    choice.is_some_and(|choice| choice.contains('[') && !choice.contains("[none]"))
}

impl Watched {
    /// For a process that only watches and measures nothing itself: all insertions are reported, and requests without a known origin are
    /// not attributed to it.
    #[must_use]
    pub fn for_a_bystander(self) -> Self {
        Self { scheduled: false, ..self }
    }

    /// A device of which only the number is known.
    #[must_use]
    pub fn of_number(number: DeviceNumber, bio_based: bool) -> Self {
        Self {
            number,
            name: number.to_string(),
            level: 0,
            bio_based,
            scheduled: false,
            partitions: Vec::new(),
        }
    }

    /// A whole device of this machine by its kernel name ("vda", "loop0"); `None` if it does not exist.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        // An NVMe multipath device is watched at its path, if there is only one.
        let paths = nvme::paths(&Live, name);
        let (entry, hidden) = match paths.as_slice() {
            [path] => (path.as_str(), nvme::hidden_number(&Live, path)),
            _ => (name, None),
        };
        let sys = Path::new("/sys/block").join(entry).canonicalize().ok()?;
        let number = match hidden {
            Some((major, minor)) => DeviceNumber { major, minor },
            None => DeviceNumber::parse(&Live.trimmed(&sys.join("dev"))?)?,
        };
        let device = Device {
            name: name.into(),
            number: (number.major, number.minor),
            kind: DeviceKind::Disk,
            role: crate::device::Role::Data,
            level: 0,
            above: None,
            image_on: None,
            in_memory: false,
            sys,
        };
        Some(one(&Live, &device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::stack_with;
    use crate::fake::Fake;

    #[test]
    fn a_partition_is_watched_on_its_disk() {
        let fake = Fake::new()
            .disk("ata1", "sda", (8, 0))
            .file("/sys/devices/ata1/block/sda/mq/0/nr_tags", "64\n")
            .partition("ata1", "sda", "sda1", (8, 1))
            .partition("ata1", "sda", "sda2", (8, 2))
            .file("/proc/self/mountinfo", "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n")
            .on_mount("/", 27, (8, 1));
        let devices = watched_with(&fake, &stack_with(&fake, Path::new("/x")));
        let number = |minor| DeviceNumber { major: 8, minor };
        let wanted = Watched {
            number: number(0),
            name: "sda".into(),
            level: 0,
            bio_based: false,
            scheduled: false,
            partitions: vec![number(1), number(2)],
        };
        assert_eq!(devices, [wanted]);
    }

    #[test]
    fn a_partition_below_a_mapper_does_not_count_either() {
        let fake = Fake::new()
            .disk("ata1", "sda", (8, 0))
            .partition("ata1", "sda", "sda2", (8, 2))
            .disk("virtual", "dm-0", (253, 0))
            .file("/sys/devices/virtual/block/dm-0/slaves/sda2", "")
            .file("/proc/self/mountinfo", "27 1 253:0 / / rw - ext4 /dev/mapper/home rw\n")
            .on_mount("/", 27, (253, 0));
        let devices = watched_with(&fake, &stack_with(&fake, Path::new("/x")));
        let levels: Vec<_> = devices.iter().map(|d| (d.name.as_str(), d.level)).collect();
        assert_eq!(levels, [("dm-0", 0), ("sda", 1)]);
    }

    #[test]
    fn the_path_of_an_nvme_multipath_device_is_watched_in_its_name() {
        let mut fake = Fake::new()
            .disk("subsys1", "nvme1n1", (259, 1))
            .disk("ctl1", "nvme1c1n1", (259, 7))
            .file("/sys/devices/ctl1/block/nvme1c1n1/mq/0/nr_tags", "64\n")
            .file("/proc/self/mountinfo", "27 1 259:1 / / rw - ext4 /dev/nvme1n1 rw\n")
            .on_mount("/", 27, (259, 1));
        let seen = |fake: &Fake| {
            let devices = watched_with(fake, &stack_with(fake, Path::new("/x")));
            devices.into_iter().map(|d| (d.name, d.level, d.number.minor, d.bio_based)).collect::<Vec<_>>()
        };
        assert_eq!(seen(&fake), [("nvme1n1".to_owned(), 0, 7, false)]);
        fake = fake
            .disk("ctl2", "nvme1c2n1", (259, 8))
            .file("/sys/devices/ctl2/block/nvme1c2n1/mq/0/nr_tags", "64\n");
        let both = [("nvme1c1n1".to_owned(), 0, 7, false), ("nvme1c2n1".to_owned(), 0, 8, false)];
        assert_eq!(seen(&fake), both);
    }

    #[test]
    fn who_has_no_queue_has_bios() {
        let fake = Fake::new()
            .disk("virtual", "zram0", (253, 0))
            .disk("virtual", "md0", (9, 0))
            .file("/sys/devices/virtual/block/md0/queue/scheduler", "none\n")
            .disk("ata1", "sda", (8, 0))
            .file("/sys/devices/ata1/block/sda/queue/scheduler", "noop deadline [cfq]\n")
            .disk("nvme", "nvme0n1", (259, 0))
            .file("/sys/devices/nvme/block/nvme0n1/queue/scheduler", "[none] mq-deadline\n")
            .file("/sys/devices/nvme/block/nvme0n1/mq/0/nr_tags", "1023\n");
        let bios = |dir: &str| is_bio_based(&fake, &Path::new("/sys/devices").join(dir));
        assert!(bios("virtual/block/zram0"));
        assert!(bios("virtual/block/md0"));
        assert!(!bios("ata1/block/sda"), "a queue of the older kind");
        assert!(!bios("nvme/block/nvme0n1"));
    }

    #[test]
    fn unknown_names_are_none() {
        assert_eq!(Watched::of_name("no such device"), None);
    }
}
