//! fathom's own file format for block events: a header, then records of a few bytes each. It is written while recording and
//! read in constant memory; a killed recording can be read up to its last whole record. The bytes are described in
//! docs/formats/trace.md, which changes with [`VERSION`].
//!
//! Compression is not part of the format: a name that ends in `.zst` gets a zstd stream around it ([`create`]), flushed
//! whenever the writer is, so that a killed recording loses no more.

mod read;
mod varint;
mod write;

pub use read::{LogError, LogReader};
pub use write::{LogFile, LogWriter};

use super::event::{BlockAction, BlockEvent, DeviceNumber, RequestFlags, TASK_NAME_BYTES};

/// The first eight bytes of a file.
pub const MAGIC: [u8; 8] = *b"fathomBL";
/// Version of the format. A reader refuses a larger one.
pub const VERSION: u16 = 1;
/// Longest header body; bounds the cost of hostile lengths.
pub(crate) const MAX_HEADER_BYTES: usize = 64 << 10;
/// Longest name or note, likewise.
pub(crate) const MAX_TEXT_BYTES: usize = 4 << 10;
/// Maximum number of devices per file.
pub const MAX_DEVICES: usize = 1 << 16;
/// Task names kept before the table restarts; bounds memory in writer and reader.
pub(crate) const MAX_TASKS: usize = 1 << 12;

/// Kinds of control records, the byte after a 0.
pub(crate) mod control {
    pub const DEVICE: u8 = 1;
    pub const TASK: u8 = 2;
    pub const TASKS_AGAIN: u8 = 3;
    pub const LOST: u8 = 4;
    pub const NOTE: u8 = 5;
    pub const END: u8 = 6;
}

/// Bits of a device's flags.
pub(crate) mod device_bit {
    pub const BIO_BASED: u8 = 1;
    pub const QUEUE: u8 = 2;
}

/// Bits of an event's first byte above the action.
pub(crate) mod bit {
    pub const SAME_DEVICE: u8 = 0x10;
    pub const SAME_TASK: u8 = 0x20;
    pub const ERROR: u8 = 0x40;
    pub const TIME_BACK: u8 = 0x80;
}

/// The clock behind the times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogClock {
    /// Nanoseconds since an unknown origin (a foreign trace).
    #[default]
    Unknown,
    /// CLOCK_MONOTONIC of the machine.
    Monotonic,
    /// Virtual time of the simulator.
    Virtual,
}

impl LogClock {
    pub(crate) const ALL: [Self; 3] = [Self::Unknown, Self::Monotonic, Self::Virtual];
}

/// Header of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogHeader {
    /// The clock behind the times.
    pub clock: LogClock,
    /// Unix time in ns of the events' time 0, if known.
    pub wall_ns: Option<i64>,
    /// Whether a request's path above the driver was watched too (arrival, merges, insertion), or only issue and completion.
    pub queueing: bool,
    /// Whether the trace has arrivals only: no request is ever issued or completed.
    pub arrivals_only: bool,
    /// Where the events come from: "tracefs", "ebpf", "sim", or the format they were converted from.
    pub source: String,
    /// The machine: system, kernel, name.
    pub machine: String,
    /// The program that wrote the file, with its version.
    pub writer: String,
}

/// One device of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogDevice {
    /// Its number.
    pub number: DeviceNumber,
    /// 0 for the devices the file system uses directly, 1 for their components, and so on.
    pub level: u32,
    /// Whether it has bios only, no requests.
    pub bio_based: bool,
    /// Its name; empty if unknown.
    pub name: String,
    /// What the kernel had set for it when the recording began, if known.
    pub queue: Option<QueueSettings>,
}

/// A device's size, and what the kernel has set for its queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueSettings {
    /// Size in sectors of 512 bytes.
    pub sectors: u64,
    /// I/O scheduler: "none", "mq-deadline"; empty if the device has none to choose.
    pub scheduler: String,
    /// Largest read-ahead window, KiB.
    pub read_ahead_kb: u32,
    /// Largest request, KiB.
    pub max_sectors_kb: u32,
}

/// Trailer of a file, after its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogEnd {
    /// Events in the file.
    pub events: u64,
    /// Events the source dropped.
    pub lost: u64,
    /// End of the recording, on the clock of the events; 0 if unknown.
    pub end_ns: u64,
    /// Start of the recording, likewise.
    pub start_ns: u64,
    /// CPU time of the recording, ns.
    pub observer_cpu_ns: u64,
}

/// The base that the first event is encoded against.
fn start() -> BlockEvent {
    BlockEvent {
        time_ns: 0,
        device: DeviceNumber::default(),
        action: BlockAction::Queue,
        flags: RequestFlags::default(),
        sector: 0,
        sectors: 0,
        pid: 0,
        cpu: 0,
        error: 0,
        task: [0; TASK_NAME_BYTES],
    }
}

#[cfg(test)]
mod tests;
