//! One event of the block layer: a bio that was queued, merged or split, or a request that was issued to a device or completed
//! by it. Every source (tracefs, eBPF, blktrace, a blkparse text, the simulator) produces these, so that one analysis serves
//! all.
//!
//! Sectors are the kernel's: 512 bytes each, whatever the device's own sector size. Times are ns of CLOCK_MONOTONIC for live
//! events, and ns since an arbitrary origin in a foreign trace.

use serde::{Deserialize, Serialize};

/// A sector in the kernel's block layer, in bytes.
pub const SECTOR_BYTES: u64 = 512;

/// Major and minor number of a block device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeviceNumber {
    /// Identifies the driver.
    pub major: u32,
    /// Identifies the device within the driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// From the kernel's own encoding, as in its trace events: the minor number in the low 20 bits.
    #[must_use]
    pub fn from_kernel(dev: u32) -> Self {
        Self { major: dev >> 20, minor: dev & 0xf_ffff }
    }

    /// From the form used in sysfs and /proc: "8:16".
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// The kernel's own encoding.
    #[must_use]
    pub fn to_kernel(self) -> u32 {
        self.major << 20 | self.minor & 0xf_ffff
    }
}

impl std::fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{},{}", self.major, self.minor)
    }
}

/// What happened, with blktrace's customary letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockAction {
    /// Q: a bio arrived at the block layer.
    Queue,
    /// X: a bio was split at a limit of the device.
    Split,
    /// M: a bio was appended to a waiting request.
    BackMerge,
    /// F: a bio was prepended to a waiting request.
    FrontMerge,
    /// G: a request was allocated for a bio.
    GetRequest,
    /// I: a request was inserted into the I/O scheduler.
    Insert,
    /// m: two waiting requests were merged.
    RequestMerge,
    /// D: a request was issued to the driver.
    Issue,
    /// R: the driver returned it, to be retried later.
    Requeue,
    /// C: a request, or on a device without requests a bio, was completed.
    Complete,
    /// C of a bio: everything the caller submitted is done. Reported by devices without requests, and by some with.
    BioComplete,
    /// P: a task began to hold back its requests.
    Plug,
    /// U: it released them; `sectors` holds the number of requests.
    Unplug,
    /// A: a bio was redirected to another device; the event belongs to the new device.
    Remap,
}

impl BlockAction {
    /// Every action.
    pub const ALL: [Self; 14] = [
        Self::Queue,
        Self::Split,
        Self::BackMerge,
        Self::FrontMerge,
        Self::GetRequest,
        Self::Insert,
        Self::RequestMerge,
        Self::Issue,
        Self::Requeue,
        Self::Complete,
        Self::BioComplete,
        Self::Plug,
        Self::Unplug,
        Self::Remap,
    ];

    /// The letter used by blkparse.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Queue => 'Q',
            Self::Split => 'X',
            Self::BackMerge => 'M',
            Self::FrontMerge => 'F',
            Self::GetRequest => 'G',
            Self::Insert => 'I',
            Self::RequestMerge => 'm',
            Self::Issue => 'D',
            Self::Requeue => 'R',
            Self::Complete | Self::BioComplete => 'C',
            Self::Plug => 'P',
            Self::Unplug => 'U',
            Self::Remap => 'A',
        }
    }
}

/// The operation and its modifiers: the kernel's `rwbs` word as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestFlags(pub u16);

impl RequestFlags {
    /// R: reads data.
    pub const READ: Self = Self(1);
    /// W: writes data.
    pub const WRITE: Self = Self(1 << 1);
    /// D: discards blocks.
    pub const DISCARD: Self = Self(1 << 2);
    /// E: secure erase (with [`Self::DISCARD`]).
    pub const ERASE: Self = Self(1 << 3);
    /// F before the direction: the device's cache is flushed first, or only flushed.
    pub const PREFLUSH: Self = Self(1 << 4);
    /// F after the direction: the write bypasses the device's cache.
    pub const FUA: Self = Self(1 << 5);
    /// A: read-ahead.
    pub const AHEAD: Self = Self(1 << 6);
    /// S: a task waits for it.
    pub const SYNC: Self = Self(1 << 7);
    /// M: file-system metadata.
    pub const META: Self = Self(1 << 8);
    /// N, a zone command, or a driver command: no data moves.
    pub const OTHER: Self = Self(1 << 9);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union of both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// From the kernel's word: "R", "WS", "FWFS", "RAM", "DE", "FN". An F before the direction is a preflush, after it FUA.
    /// Unknown letters are ignored.
    #[must_use]
    pub fn parse(rwbs: &str) -> Self {
        let mut flags = Self::default();
        let mut directed = false;
        for letter in rwbs.chars() {
            let bit = match letter {
                'R' if !directed => Self::READ,
                'W' if !directed => Self::WRITE,
                'D' if !directed => Self::DISCARD,
                'E' if flags.has(Self::DISCARD) => Self::ERASE,
                'F' if directed => Self::FUA,
                'F' => Self::PREFLUSH,
                'A' => Self::AHEAD,
                'S' => Self::SYNC,
                'M' => Self::META,
                'N' | 'Z' => Self::OTHER,
                _ => continue,
            };
            directed |= matches!(letter, 'R' | 'W' | 'D' | 'N' | 'Z');
            flags = flags.with(bit);
        }
        flags
    }

    /// The kernel's word for these flags.
    #[must_use]
    pub fn rwbs(self) -> String {
        let mut word = String::new();
        let mut put = |bit: Self, letter: char| {
            if self.has(bit) {
                word.push(letter);
            }
        };
        put(Self::PREFLUSH, 'F');
        put(Self::READ, 'R');
        put(Self::WRITE, 'W');
        put(Self::DISCARD, 'D');
        put(Self::ERASE, 'E');
        put(Self::OTHER, 'N');
        put(Self::FUA, 'F');
        put(Self::AHEAD, 'A');
        put(Self::SYNC, 'S');
        put(Self::META, 'M');
        word
    }
}

/// Length of a task name in the kernel, including the terminating zero.
pub const TASK_NAME_BYTES: usize = 16;

/// Name of the threads of a process whose I/O is measured. The engine gives it to its workers, and a busy watch filters its own
/// process's known events out of the kernel's rings by it. The name contains the process ID, so that two concurrent runs
/// differ.
#[must_use]
pub fn measured_threads_name(process: u32) -> String {
    // At most 14 letters: Linux has PIDs up to 2^22.
    format!("fathom-{process}")
}

/// One event of the block layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockEvent {
    /// Time, ns; see the module text for the origin.
    pub time_ns: u64,
    /// The device.
    pub device: DeviceNumber,
    /// What happened.
    pub action: BlockAction,
    /// Kind of request.
    pub flags: RequestFlags,
    /// First sector.
    pub sector: u64,
    /// Number of sectors; for [`BlockAction::Unplug`] the number of requests, for [`BlockAction::Split`] the sector of the
    /// second part minus the first.
    pub sectors: u32,
    /// The task running at the time: the issuer up to `Issue`, any task for completions.
    pub pid: u32,
    /// On which CPU.
    pub cpu: u16,
    /// For completions: the kernel's error number (negative), 0 for success.
    pub error: i32,
    /// Name of the running task, padded with zeros; empty if the source does not say.
    pub task: [u8; TASK_NAME_BYTES],
}

impl BlockEvent {
    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        u64::from(self.sectors) * SECTOR_BYTES
    }

    /// Where it begins. The kernel reports a request without a position, such as a flush, at 0 when issued and at the last
    /// sector number when completed.
    #[must_use]
    pub fn place(&self) -> u64 {
        if self.sector == u64::MAX { 0 } else { self.sector }
    }

    /// Name of the task, without the padding.
    #[must_use]
    pub fn task_name(&self) -> std::borrow::Cow<'_, str> {
        let end = self.task.iter().position(|&b| b == 0).unwrap_or(self.task.len());
        String::from_utf8_lossy(&self.task[..end])
    }

    /// A task name as an event stores it, truncated as the kernel would.
    #[must_use]
    pub fn task_of(name: &str) -> [u8; TASK_NAME_BYTES] {
        let mut task = [0; TASK_NAME_BYTES];
        let length = name.len().min(TASK_NAME_BYTES - 1);
        task[..length].copy_from_slice(&name.as_bytes()[..length]);
        task
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words_are_read_and_written_again() {
        for word in
            ["R", "W", "RA", "RSM", "WS", "WSM", "FWFS", "FF", "D", "DE", "FN", "N", "WFS", "FWS", "RAM"]
        {
            let flags = RequestFlags::parse(word);
            if word != "FF" {
                assert_eq!(flags.rwbs(), word, "{flags:?}");
            }
        }
        assert!(RequestFlags::parse("FWFS").has(RequestFlags::PREFLUSH));
        assert!(RequestFlags::parse("FWFS").has(RequestFlags::FUA));
        assert!(!RequestFlags::parse("FWS").has(RequestFlags::FUA));
        assert!(!RequestFlags::parse("WFS").has(RequestFlags::PREFLUSH));
    }

    #[test]
    fn device_numbers_have_the_kernels_form() {
        let loop7 = DeviceNumber { major: 7, minor: 2 };
        assert_eq!(loop7.to_kernel(), 7 << 20 | 2);
        assert_eq!(DeviceNumber::from_kernel(7 << 20 | 2), loop7);
        assert_eq!(loop7.to_string(), "7,2");
        assert_eq!(DeviceNumber::parse("7:2\n"), Some(loop7));
        assert_eq!((DeviceNumber::parse("7"), DeviceNumber::parse("7:x")), (None, None));
    }

    #[test]
    fn task_names_are_cut_where_the_kernel_cuts() {
        let mut event = BlockEvent {
            time_ns: 0,
            device: DeviceNumber::default(),
            action: BlockAction::Issue,
            flags: RequestFlags::READ,
            sector: 0,
            sectors: 8,
            pid: 1,
            cpu: 0,
            error: 0,
            task: BlockEvent::task_of("kworker/u8:12-flush"),
        };
        assert_eq!(event.task_name(), "kworker/u8:12-f");
        event.task = [0; TASK_NAME_BYTES];
        assert_eq!((event.task_name().as_ref(), event.bytes()), ("", 4096));
    }
}
