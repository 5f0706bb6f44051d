//! One event of the block layer: a bio that was queued, merged or split, a request that was issued to a device or completed by
//! it. Every source (tracefs, eBPF, blktrace, a text of blkparse, the simulator) gives these, so that one analysis serves all.
//!
//! Sectors are the kernel's: 512 bytes each, whatever the device's own are. Times are ns of CLOCK_MONOTONIC for live events, ns
//! since an origin of its own in a trace of somebody else's.

use serde::{Deserialize, Serialize};

/// A sector in the kernel's block layer, in bytes.
pub const SECTOR_BYTES: u64 = 512;

/// Major and minor number of a block device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeviceNumber {
    /// Of the driver.
    pub major: u32,
    /// Of the device.
    pub minor: u32,
}

impl DeviceNumber {
    /// From the kernel's own form, as its trace events have it: the minor number in the low 20 bits.
    #[must_use]
    pub fn from_kernel(dev: u32) -> Self {
        Self { major: dev >> 20, minor: dev & 0xf_ffff }
    }

    /// From the form of sysfs and /proc: "8:16".
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// The kernel's own form.
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

/// What happened, with the letter that blktrace made customary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockAction {
    /// Q: a bio arrived at the block layer.
    Queue,
    /// X: a bio was cut at a limit of the device.
    Split,
    /// M: a bio was put behind a waiting request.
    BackMerge,
    /// F: a bio was put before a waiting request.
    FrontMerge,
    /// G: a request was allocated for a bio.
    GetRequest,
    /// I: a request was given to the I/O scheduler.
    Insert,
    /// m: two waiting requests became one.
    RequestMerge,
    /// D: a request was given to the driver.
    Issue,
    /// R: the driver gave it back to be tried later.
    Requeue,
    /// C: a request, or on a device without requests a bio, was completed.
    Complete,
    /// C of a bio: the whole of what a caller had handed in is done. Told by devices without requests, and by some with.
    BioComplete,
    /// P: a task began to hold its requests back.
    Plug,
    /// U: it let them go; `sectors` holds how many requests.
    Unplug,
    /// A: a bio was redirected to another device; the event is the new device's.
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

    /// The letter of blkparse.
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

/// What is to be done, and how: the kernel's `rwbs` word as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestFlags(pub u16);

impl RequestFlags {
    /// R: data is read.
    pub const READ: Self = Self(1);
    /// W: data is written.
    pub const WRITE: Self = Self(1 << 1);
    /// D: blocks are given back.
    pub const DISCARD: Self = Self(1 << 2);
    /// E: and must not be readable afterwards (with [`Self::DISCARD`]).
    pub const ERASE: Self = Self(1 << 3);
    /// F at the front: the device's cache is flushed first, or that is all there is to do.
    pub const PREFLUSH: Self = Self(1 << 4);
    /// F behind the direction: the write goes past the device's cache.
    pub const FUA: Self = Self(1 << 5);
    /// A: read-ahead.
    pub const AHEAD: Self = Self(1 << 6);
    /// S: somebody waits for it.
    pub const SYNC: Self = Self(1 << 7);
    /// M: the file system's own data.
    pub const META: Self = Self(1 << 8);
    /// N, or a zone command, or one for the driver: nothing is moved.
    pub const OTHER: Self = Self(1 << 9);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// From the kernel's word: "R", "WS", "FWFS", "RAM", "DE", "FN". An F is the flush before the data when it stands before the
    /// direction, FUA behind it. Letters nobody knows yet are passed over.
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

    /// The kernel's word again.
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

/// Length of a task's name in the kernel, with the zero at its end.
pub const TASK_NAME_BYTES: usize = 16;

/// Name of the threads of a process whose I/O is measured: the engine gives it to its workers, and a watch that is short of time
/// leaves out of the kernel's rings what it knows of them anyway. The process is in it, so that two runs at once are told apart.
#[must_use]
pub fn measured_threads_name(process: u32) -> String {
    // At most 14 letters: Linux has PIDs up to 2^22.
    format!("fathom-{process}")
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockEvent {
    /// When, ns; see the module text for the origin.
    pub time_ns: u64,
    /// On which device.
    pub device: DeviceNumber,
    /// What happened.
    pub action: BlockAction,
    /// To what kind of request.
    pub flags: RequestFlags,
    /// First sector.
    pub sector: u64,
    /// How many sectors; of [`BlockAction::Unplug`] how many requests, of [`BlockAction::Split`] the sector of the second part
    /// less the first.
    pub sectors: u32,
    /// Who was running when it happened: the issuer for all up to `Issue`, anybody for completions.
    pub pid: u32,
    /// On which CPU.
    pub cpu: u16,
    /// Of completions: the kernel's error number (negative), 0 for success.
    pub error: i32,
    /// Name of the running task, filled up with zeros; empty where the source does not tell.
    pub task: [u8; TASK_NAME_BYTES],
}

impl BlockEvent {
    /// Bytes it is about.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        u64::from(self.sectors) * SECTOR_BYTES
    }

    /// Where it begins. The kernel shows a request without a place, such as a flush, as 0 when it is issued and as the last sector
    /// there is when it is completed.
    #[must_use]
    pub fn place(&self) -> u64 {
        if self.sector == u64::MAX { 0 } else { self.sector }
    }

    /// Name of the task, without the zeros.
    #[must_use]
    pub fn task_name(&self) -> std::borrow::Cow<'_, str> {
        let end = self.task.iter().position(|&b| b == 0).unwrap_or(self.task.len());
        String::from_utf8_lossy(&self.task[..end])
    }

    /// A task's name as an event keeps it, cut where the kernel would.
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
