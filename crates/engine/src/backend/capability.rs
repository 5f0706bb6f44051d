//! A feature of a back-end, and the file on which it is tried.

use rustix::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::io::Errno;
use std::path::Path;

/// Whether a feature works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It was tried successfully.
    Works,
    /// It was tried and refused.
    Lacks,
    /// It could not be tried here.
    Unknown,
}

impl State {
    /// As a word: "works", "lacks" or "unknown".
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Lacks => "lacks",
            Self::Unknown => "unknown",
        }
    }
}

/// One feature of a back-end, and whether it works here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// Name of the back-end in workloads.
    pub backend: &'static str,
    /// The feature, by the kernel's name for it where it has one.
    pub feature: &'static str,
    /// Result of the probe.
    pub state: State,
    /// Explanation: how to request the feature, what refuses it, and what helps.
    pub sentence: String,
}

/// Size of the probe file in bytes.
const GROUND_BYTES: usize = 64 << 10;

/// The file that features are tried on.
pub(super) struct ProbeFile {
    file: OwnedFd,
    name: String,
    /// The device of the directory, even if the file is in memory.
    device: Option<u64>,
}

impl ProbeFile {
    /// A file in the directory, else in memory.
    pub fn new(directory: &Path) -> Result<Self, Errno> {
        if let Some(probe_file) = Self::of(directory) {
            return Ok(probe_file);
        }
        let name = format!("a file in memory ({} supports no unnamed files)", directory.display());
        Self::written(file_in_memory()?, name, directory)
    }

    /// `None` if the directory does not support unnamed files.
    pub fn of(directory: &Path) -> Option<Self> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR).ok()?;
        Self::written(file, format!("files in {}", directory.display()), directory).ok()
    }

    fn written(file: OwnedFd, name: String, directory: &Path) -> Result<Self, Errno> {
        let zeroes = vec![0; GROUND_BYTES];
        if rustix::io::pwrite(&file, &zeroes, 0)? < GROUND_BYTES {
            return Err(Errno::NOSPC);
        }
        let device = rustix::fs::stat(directory).ok().map(|s| s.st_dev);
        Ok(Self { file, name, device })
    }

    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// "files in DIR", for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn bytes(&self) -> usize {
        GROUND_BYTES
    }

    /// The same file, reopened with O_DIRECT.
    pub fn direct(&self) -> Result<OwnedFd, Errno> {
        let path = format!("/proc/thread-self/fd/{}", self.file.as_raw_fd());
        rustix::fs::open(path, OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC, Mode::empty())
    }
}

/// An unnamed file in memory.
pub(super) fn file_in_memory() -> Result<OwnedFd, Errno> {
    rustix::fs::memfd_create("fathom-probe", MemfdFlags::CLOEXEC)
}

/// A page aligned for O_DIRECT.
#[repr(C, align(4096))]
pub(super) struct Page(pub [u8; 4096]);

impl Page {
    pub fn zeroed() -> Self {
        Self([0; 4096])
    }
}

/// The kernel's text for an error, without its number.
pub(super) fn text(error: Errno) -> String {
    let words = std::io::Error::from_raw_os_error(error.raw_os_error()).to_string();
    words.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// The number in a file of /proc or /sys.
pub(super) fn number_in(path: impl AsRef<Path>) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Whether the device below a file has polled queues, and its name; `None` if unknown, as for file systems that span devices or
/// have none.
pub(super) fn polled_queues(device: u64) -> Option<(String, bool)> {
    let link = format!("/sys/dev/block/{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    let found = std::fs::canonicalize(link).ok()?;
    // A partition has no queue; its disk has.
    let disk = found.ancestors().take(2).find(|p| p.join("queue/io_poll").exists())?;
    let polls = number_in(disk.join("queue/io_poll"))? != 0;
    Some((disk.file_name()?.to_string_lossy().into_owned(), polls))
}

pub(super) fn no_polled_queues(disk: &str) -> String {
    format!(
        "the device {disk} has no polled queues (/sys/block/{disk}/queue/io_poll is 0); drivers make them when they are loaded, e.g. nvme.poll_queues=2"
    )
}

/// The state of a polling feature that the kernel accepts.
pub(super) fn polling_state(probe_file: &ProbeFile, so_far: &str) -> (State, String) {
    match probe_file.device.and_then(polled_queues) {
        Some((disk, true)) => (State::Works, format!("{so_far}, and the device {disk} has polled queues")),
        Some((disk, false)) => (State::Lacks, format!("{so_far}, but {}", no_polled_queues(&disk))),
        None => {
            (State::Unknown, format!("{so_far}; the device to poll for {} is unknown", probe_file.name()))
        }
    }
}
