//! Input of every check: the machine's files, the stack of devices below the path, the environment document of a run, and a short sample
//! of the machine's counters. Files are read on demand; nothing is changed.

use super::look::Sample;
use crate::device::{Device, DeviceKind, DeviceStack, is_bio_based};
use crate::files::KernelFiles;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};

/// Input of a check.
pub(super) struct Scene<'a> {
    pub files: &'a dyn KernelFiles,
    /// Without symbolic links.
    pub path: PathBuf,
    pub stack: DeviceStack,
    /// The document stored with every run, see docs/formats/environment.md.
    pub environment: Value,
    pub sample: Sample,
    /// Effective user id; `None` if the kernel does not report it.
    pub uid: Option<u32>,
}

/// Result of reading a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileReading {
    /// Its trimmed text, possibly empty.
    Text(String),
    /// The file does not exist, or reading it fails.
    Absent,
    /// This user may not read it.
    Forbidden,
}

/// A device with its own queue: everything but a partition.
pub(super) struct Queue<'a> {
    pub device: &'a Device,
    /// Its entry in the environment document.
    entry: &'a Value,
}

impl Scene<'_> {
    /// A file's text; `None` if it is empty or cannot be read.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        self.files.trimmed(path.as_ref())
    }

    /// A file's content as a number.
    pub fn number(&self, path: impl AsRef<Path>) -> Option<f64> {
        self.text(path)?.parse().ok()
    }

    /// A file's text, or why there is none.
    pub fn reading(&self, path: impl AsRef<Path>) -> FileReading {
        match self.files.read(path.as_ref()) {
            Ok(text) => FileReading::Text(text.trim().to_string()),
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => FileReading::Forbidden,
            Err(_) => FileReading::Absent,
        }
    }

    /// Names in a directory; none if it cannot be listed.
    pub fn list(&self, path: impl AsRef<Path>) -> Vec<String> {
        self.files.list(path.as_ref()).unwrap_or_default()
    }

    /// A value of the environment document by its dotted name.
    pub fn known(&self, name: &str) -> Option<&Value> {
        name.split('.').try_fold(&self.environment, |value, part| value.get(part)).filter(|v| !v.is_null())
    }

    pub fn word(&self, name: &str) -> Option<&str> {
        self.known(name)?.as_str()
    }

    pub fn count(&self, name: &str) -> Option<u64> {
        self.known(name)?.as_u64()
    }

    /// Type of the file system that holds the path.
    pub fn kind(&self) -> &str {
        self.stack.file_system()
    }

    /// Whether the mount has an option, with or without a value.
    pub fn mounted_with(&self, option: &str) -> bool {
        self.stack.mount.as_ref().is_some_and(|m| m.has_option(option))
    }

    /// The mount point of the path.
    pub fn mount_point(&self) -> &str {
        self.stack.mount.as_ref().map_or("/", |m| m.mount_point.as_str())
    }

    /// Devices with a queue, nearest to the file system first.
    pub fn queues(&self) -> Vec<Queue<'_>> {
        let entries = self.environment.get("devices").and_then(Value::as_array);
        let entries = entries.map(Vec::as_slice).unwrap_or_default();
        let both = self.stack.devices.iter().zip(entries);
        both.filter(|(d, _)| d.kind != DeviceKind::Partition)
            .map(|(device, entry)| Queue { device, entry })
            .collect()
    }

    /// Those of them in which requests wait. Most of device mapper, md and zram pass on what they get: there, the kernel shows settings of
    /// a queue that have no effect.
    pub fn request_queues(&self) -> Vec<Queue<'_>> {
        let mut queues = self.queues();
        queues.retain(|q| !self.is_without_requests(q));
        queues
    }

    pub fn is_without_requests(&self, queue: &Queue<'_>) -> bool {
        is_bio_based(self.files, &queue.device.sys)
    }

    /// Names of running programs and kernel threads, with their PIDs.
    pub fn programs(&self) -> Vec<(u32, String)> {
        let pids = self.list("/proc").into_iter().filter_map(|name| name.parse::<u32>().ok());
        pids.filter_map(|pid| Some((pid, self.text(format!("/proc/{pid}/comm"))?))).collect()
    }

    /// Directories of the processors.
    pub fn processors(&self) -> Vec<PathBuf> {
        let root = Path::new("/sys/devices/system/cpu");
        let is_cpu = |n: &String| {
            n.strip_prefix("cpu").is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
        };
        self.list(root).into_iter().filter(is_cpu).map(|n| root.join(n)).collect()
    }
}

impl Queue<'_> {
    pub fn name(&self) -> &str {
        &self.device.name
    }

    /// A string of its environment entry.
    pub fn word(&self, name: &str) -> Option<&str> {
        self.entry.get(name)?.as_str()
    }

    pub fn count(&self, name: &str) -> Option<u64> {
        self.entry.get(name)?.as_u64()
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        self.entry.get(name)?.as_bool()
    }

    /// A file below its directory in sysfs.
    pub fn file(&self, below: &str) -> PathBuf {
        self.device.sys.join(below)
    }

    /// Short name of such a file, for messages.
    pub fn short(&self, below: &str) -> String {
        format!("/sys/block/{}/{below}", self.device.name)
    }

    /// Whether it is implemented in software: loop, device mapper, md, memory.
    pub fn is_virtual(&self) -> bool {
        self.device.kind != DeviceKind::Disk
    }
}
