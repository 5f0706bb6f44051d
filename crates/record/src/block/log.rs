//! fathom's own file of block events: a header, then records of a few bytes each. Written while it is recorded and read again in
//! constant memory; a recording that was killed reads up to its last whole record. The bytes are described in
//! docs/formats/trace.md, which changes with [`VERSION`].
//!
//! Compression is no part of the form: a name that ends in `.zst` gets a zstd stream around it ([`create`]), flushed whenever the
//! writer is, so that a killed recording loses no more there either.

mod read;
mod varint;
mod write;

pub use read::{LogError, LogReader};
pub use write::{LogFile, LogWriter};

use super::event::{BlockAction, BlockEvent, DeviceNumber, RequestFlags, TASK_NAME_BYTES};

/// The first eight bytes of a file.
pub const MAGIC: [u8; 8] = *b"fathomBL";
/// Version of the form. A reader refuses a larger one.
pub const VERSION: u16 = 1;
/// Longest header body and longest name or note, so that hostile lengths cost nothing.
pub(crate) const MAX_HEADER_BYTES: usize = 64 << 10;
/// See [`MAX_HEADER_BYTES`].
pub(crate) const MAX_TEXT_BYTES: usize = 4 << 10;
/// Most devices of one file.
pub const MAX_DEVICES: usize = 1 << 16;
/// Task names kept before the table starts again: what bounds memory on both sides.
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

/// Bits of an event's first byte above the action.
pub(crate) mod bit {
    pub const SAME_DEVICE: u8 = 0x10;
    pub const SAME_TASK: u8 = 0x20;
    pub const ERROR: u8 = 0x40;
    pub const TIME_BACK: u8 = 0x80;
}

/// What the times count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogClock {
    /// Nanoseconds since an origin that nobody knows (a trace of somebody else's).
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

/// What a file says before its events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogHeader {
    /// What the times count.
    pub clock: LogClock,
    /// Unix time in ns of time 0 of the events, if it is known.
    pub wall_ns: Option<i64>,
    /// Whether the way of a request above the driver was watched too (arrival, merges, insertion), or only issue and completion.
    pub queueing: bool,
    /// Whether arrivals are all there is: no request of the trace is ever issued or completed.
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
    /// 0 for what the file system itself uses, 1 for what that is made of, and so on.
    pub level: u32,
    /// Whether it has bios only, no requests.
    pub bio_based: bool,
    /// Its name; empty where nobody told.
    pub name: String,
}

/// What a file says behind its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogEnd {
    /// Events in the file.
    pub events: u64,
    /// Events the source had no room for.
    pub lost: u64,
    /// When recording ended, on the clock of the events; 0 if nobody told.
    pub end_ns: u64,
    /// When it began, likewise.
    pub start_ns: u64,
    /// CPU time that recording cost, ns.
    pub observer_cpu_ns: u64,
}

/// What the first event is written as a difference to.
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
