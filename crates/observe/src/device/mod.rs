//! Maps a path to the block devices below it: mount, then device number, then sysfs through partitions, loop files, device mapper, md,
//! and the file systems that hide their devices (btrfs, overlay). Without a block device the result is a sentence that says why.
//!
//! Nothing is opened or changed; all data comes from statx, /proc/self/mountinfo and /sys.

mod fuse_server;
pub mod mount;
pub(crate) mod nvme;
pub(crate) mod server;
mod walk;

pub use fuse_server::FuseServer;
pub use nvme::sys_of;

use crate::files::{KernelFiles, Live};
use mount::Mount;
use std::path::{Path, PathBuf};

/// Kind of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// A whole disk, or what the kernel presents as one.
    Disk,
    /// A partition of a disk.
    Partition,
    /// A device-mapper device: LVM, dm-crypt, multipath.
    DeviceMapper,
    /// A software RAID.
    Md,
    /// An NVMe namespace with native multipath: it has no queue, and lies above the namespace of each controller.
    Multipath,
    /// A loop device, backed by a file.
    Loop,
    /// A disk in main memory: zram, brd, a loop device whose file is on a memory file system.
    Ram,
}

impl DeviceKind {
    /// Its name in records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Partition => "partition",
            Self::DeviceMapper => "device-mapper",
            Self::Md => "md",
            Self::Multipath => "multipath",
            Self::Loop => "loop",
            Self::Ram => "ram",
        }
    }
}

/// What the file system uses a device for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// File data, and any metadata stored with it.
    Data,
    /// Only the journal.
    Log,
    /// Backs a device above it.
    Below,
}

/// A block device of the stack.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Device {
    /// Kernel name: "nvme0n1p2", "dm-0", "loop3".
    pub name: String,
    /// Major and minor number.
    pub number: (u32, u32),
    /// What kind of device the kernel says it is.
    pub kind: DeviceKind,
    /// What the file system uses it for.
    pub role: Role,
    /// 0 for the devices that the file system uses directly, 1 for those they are made of, and so on.
    pub level: u32,
    /// Name of the device above it; `None` directly below the file system.
    pub above: Option<String>,
    /// For a loop device, the type of the file system that holds its file.
    pub image_on: Option<String>,
    /// Whether it is main memory, or stands on nothing else.
    #[serde(skip)]
    pub in_memory: bool,
    /// Its directory in /sys/devices.
    pub sys: PathBuf,
}

/// The devices below a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct DeviceStack {
    /// The mount that holds the path.
    pub mount: Option<Mount>,
    /// Every device once; those that the file system uses directly come first.
    pub devices: Vec<Device>,
    /// How bytes that reach storage are counted: "diskstats", "memory" (there is no storage), "mountstats" (by the server of a network
    /// file system), "fuse-server" (bytes that the program behind a FUSE file system reads), or "none".
    pub method: String,
    /// That program.
    #[serde(skip)]
    pub fuse_server: Option<FuseServer>,
    /// Why there is no device, or what is unknown about the devices.
    pub note: Option<String>,
}

impl DeviceStack {
    /// The stack for files that are written: a FUSE server's writes are counted when they make memory dirty, which proves nothing.
    #[must_use]
    pub fn for_writes(mut self) -> Self {
        if self.fuse_server.take().is_some() {
            self.method = "none".into();
        }
        self
    }

    /// The devices that hold the file system's data.
    pub fn tops(&self) -> impl Iterator<Item = &Device> {
        self.devices.iter().filter(|d| d.level == 0 && d.role == Role::Data)
    }

    /// Whether a device holds the file system's journal and none of its files.
    #[must_use]
    pub fn is_for_journal(&self, device: &Device) -> bool {
        let mut all = std::iter::successors(Some(device), |d| {
            let above = d.above.as_ref()?;
            self.devices.iter().find(|a| a.name == *above && a.level < d.level)
        });
        all.any(|d| d.role == Role::Log)
    }

    /// The file system's compression according to its mount options ("zstd:3"), or its type if that compresses by itself; `None` if it
    /// does not compress or does not say.
    #[must_use]
    pub fn compression(&self) -> Option<String> {
        let mount = self.mount.as_ref()?;
        let option = match mount.kind.as_str() {
            packed @ ("squashfs" | "erofs") => Some(packed),
            "btrfs" => mount.option("compress-force").or_else(|| mount.option("compress")),
            "f2fs" => mount.option("compress_algorithm"),
            _ => None,
        };
        option.filter(|o| !matches!(*o, "no" | "none")).map(String::from)
    }

    /// Type of the file system, or "unknown".
    #[must_use]
    pub fn file_system(&self) -> &str {
        self.mount.as_ref().map_or("unknown", |m| m.kind.as_str())
    }
}

/// The kernel makes the directory `mq` for every disk with request queues and for no other. Before Linux 5.0 there was an older kind of
/// queue without it; those offered a choice of I/O schedulers, where a device without requests shows "none" or nothing.
pub(crate) fn is_bio_based(files: &dyn KernelFiles, sys: &Path) -> bool {
    if files.list(&sys.join("mq")).is_ok() {
        return false;
    }
    let scheduler = files.trimmed(&sys.join("queue/scheduler"));
    scheduler.is_none_or(|choice| choice == "none")
}

/// The devices below a path of this machine. Never fails: `note` says what is unknown.
#[must_use]
pub fn stack_of(path: &Path) -> DeviceStack {
    stack_with(&Live, path)
}

/// The devices below a path, read through `files`.
#[must_use]
pub fn stack_with(files: &dyn KernelFiles, path: &Path) -> DeviceStack {
    stack_of_all_with(files, &[path.to_path_buf()])
}

/// The devices below several paths, each once. The paths may lie on several file systems; the mount is that of the first.
#[must_use]
pub fn stack_of_all(paths: &[PathBuf]) -> DeviceStack {
    stack_of_all_with(&Live, paths)
}

/// The devices below several paths, read through `files`.
#[must_use]
pub fn stack_of_all_with(files: &dyn KernelFiles, paths: &[PathBuf]) -> DeviceStack {
    // The mount table shows absolute paths, which are needed where the kernel gives no mount id. With an id no path is resolved: it may
    // lead elsewhere by now.
    let has_id = |p: &Path| files.mount_of(p).is_ok_and(|key| key.mount_id.is_some());
    let absolute = paths.iter().map(|p| {
        let canonical = (!has_id(p)).then(|| files.canonical(p).ok()).flatten();
        canonical.unwrap_or_else(|| p.clone())
    });
    walk::Walk::new(files).stack_at(&absolute.collect::<Vec<_>>())
}
