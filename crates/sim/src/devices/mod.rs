//! Device models below a block queue. A device is notified when commands arrive and is asked for its next event; time is passed in, it
//! has no clock. Each kind is one file; the event loop knows only [`Device`].

mod any;
pub mod array;
mod constant;
mod coverage;
mod curve;
pub mod disk;
pub mod distribution;
mod held_out;
mod kernel_queue;
pub mod optical;
pub mod profile;
pub mod ssd;

#[cfg(test)]
mod acceptance_tests;
#[cfg(test)]
mod testing;

pub use any::AnyDevice;
pub use constant::Constant;
pub use coverage::Coverage;
pub use held_out::{HeldOut, Part};
pub use kernel_queue::KernelQueue;
pub use profile::{DeviceProfile, NAMES, ProfileError, ReadText, by_name, is_file, text};

/// Bytes per sector.
pub const SECTOR_BYTES: u64 = 512;

/// One command as it reaches a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Returned on completion; unique among those outstanding.
    pub tag: u32,
    /// Whether it writes; otherwise it reads.
    pub write: bool,
    /// First sector of 512 bytes.
    pub sector: u64,
    /// Length in sectors. 0 with `write` is a flush: it is done when every write completed before it is on the medium.
    pub sectors: u32,
    /// Number of scatter-list entries.
    pub segments: u16,
}

impl Command {
    /// The sector after the last one.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.sector + u64::from(self.sectors)
    }

    /// Whether it is a flush.
    #[must_use]
    pub fn is_flush(&self) -> bool {
        self.write && self.sectors == 0
    }

    /// Bytes of data.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        u64::from(self.sectors) * SECTOR_BYTES
    }
}

/// A device: commands are submitted, time advances, completions come out.
pub trait Device {
    /// Capacity in sectors of 512 bytes.
    fn capacity_sectors(&self) -> u64;

    /// Maximum number of outstanding commands; the caller never exceeds it.
    fn depth(&self) -> u32;

    /// A command arrives at `now` ns. `now` never decreases, and [`Device::advance`] has handled every earlier event.
    fn submit(&mut self, now: u64, command: Command);

    /// Time of the next event, ns: a completion or an internal step. `None`: only a new command will change anything. The answer may
    /// change with every call of `submit` and `advance`.
    fn next_event(&self) -> Option<u64>;

    /// Advances to `now`: does every scheduled step and adds the tags of commands completed by then to `done`, in completion order.
    fn advance(&mut self, now: u64, done: &mut Vec<u32>);

    /// Counters up to `now`, which is not before the last event; work that lies after `now` is excluded.
    fn counters(&self, now: u64) -> Counters;
}

/// Counters of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Time spent on any work (a command, or internal work caused by one), ns. Never more than the elapsed time.
    pub busy_ns: u64,
    /// Command and bus overhead, a part of the busy time, ns. An SSD and an optical drive count the parts of a command in full when it
    /// begins.
    pub overhead_ns: u64,
    /// Seeking and settling, ns.
    pub seek_ns: u64,
    /// Rotational latency, ns.
    pub rotation_ns: u64,
    /// Transfer from or to the medium, ns.
    pub transfer_ns: u64,
    /// Time spent writing the cache back, ns; its parts are also counted above.
    pub destage_ns: u64,
    /// Reads served from its cache or from ongoing read-ahead.
    pub read_hits: u64,
    /// Writes taken by its cache without waiting for the medium.
    pub cached_writes: u64,
    /// Writes that bypassed its cache.
    pub bypassed_writes: u64,
    /// Arms or channels working in parallel: seek, rotation and transfer are sums over them, each at most the elapsed time. 0 means one.
    pub members: u32,
}

impl Counters {
    /// By what factor the sum of the parts can exceed the elapsed time.
    #[must_use]
    pub fn side_by_side(&self) -> u32 {
        self.members.max(1)
    }
}
