//! What lies below a block queue. A device is told when commands arrive and is asked when it next has something to say; time is
//! passed in, it has no clock. Each kind is one file; the event loop knows only [`Device`].

mod any;
pub mod array;
mod constant;
mod coverage;
mod curve;
pub mod disk;
pub mod distribution;
mod held_out;
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
pub use profile::{DeviceProfile, NAMES, ProfileError, ReadText, by_name, is_file, text};

/// Bytes of a sector.
pub const SECTOR_BYTES: u64 = 512;

/// One command as it reaches a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Given back when the command is done; unique among those outstanding.
    pub tag: u32,
    /// Direction.
    pub write: bool,
    /// First sector of 512 bytes.
    pub sector: u64,
    /// Sectors. 0 with `write` is a flush: it is done when every write that was done before it is on the medium.
    pub sectors: u32,
    /// Entries of its scatter list.
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

    /// Its data in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        u64::from(self.sectors) * SECTOR_BYTES
    }
}

/// A device. Commands are handed in, time moves on, completions come out.
pub trait Device {
    /// Its size in sectors of 512 bytes.
    fn capacity_sectors(&self) -> u64;

    /// Commands it takes at once; whoever drives it never has more outstanding.
    fn depth(&self) -> u32;

    /// A command arrives at `now` ns. `now` never goes back, and every event before it has been taken by [`Device::advance`].
    fn submit(&mut self, now: u64, command: Command);

    /// When it next has something to say, ns: a completion or a step inside. `None`: only a new command will change anything. The
    /// answer may change with every call of `submit` and `advance`.
    fn next_event(&self) -> Option<u64>;

    /// Time has come to `now`: does every step that is due and adds the tags of commands that are done by then to `done`, in the
    /// order of their completion.
    fn advance(&mut self, now: u64, done: &mut Vec<u32>);

    /// What it did up to `now`, which is not before the last event: what has begun and lies beyond is not in it.
    fn counters(&self, now: u64) -> Counters;
}

/// What a device did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Time during which it worked on something (a command, or what it does of itself for one), ns. Never more than passed.
    pub busy_ns: u64,
    /// Parts of that, ns: overhead of commands and bus, seeking, waiting for the sector, transfer from or to the medium. An SSD and an
    /// optical drive count the parts of a command when it begins, whole.
    pub overhead_ns: u64,
    /// Seeking and settling.
    pub seek_ns: u64,
    /// Waiting for the sector to come round.
    pub rotation_ns: u64,
    /// Transfer from or to the medium.
    pub transfer_ns: u64,
    /// Time spent on writing its cache back, ns; its parts are also counted above.
    pub destage_ns: u64,
    /// Reads that found their data in its cache, or being read ahead.
    pub read_hits: u64,
    /// Writes that its cache took without waiting for the medium.
    pub cached_writes: u64,
    /// Writes that went past a cache which it has.
    pub bypassed_writes: u64,
    /// Arms or channels that work side by side: seeking, rotation and transfer are sums over them, each at most the time that passed.
    /// 0 stands for one.
    pub members: u32,
}

impl Counters {
    /// How many times the time that passed its parts can be.
    #[must_use]
    pub fn side_by_side(&self) -> u32 {
        self.members.max(1)
    }
}
