//! How a simulated phase went inside: what the device's time was spent on, how deep its queue was and when it was kept idle on purpose,
//! and, thinned out to be drawn, where its requests lay and when, and how far read-ahead went. A real run has none of it.

use crate::Histogram;
use serde::{Deserialize, Serialize};

/// The inside of one phase, of its last repetition. Times are counted from the start of the repetition, ns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseInside {
    /// Number of the phase, as in [`Phase::seq`](crate::Phase::seq).
    pub phase: u32,
    /// What the device's time was spent on.
    pub service: ServiceTime,
    /// Requests as the device was given them, evenly thinned out.
    pub served: Thinned<Dot>,
    /// Bios as they were handed to the queue, evenly thinned out.
    pub queued: Thinned<Dot>,
    /// What read-ahead had read, at each time: evenly thinned out.
    pub windows: Thinned<Window>,
    /// Queue and device over time; empty in older records.
    #[serde(default)]
    pub depths: DepthCourse,
    /// When the scheduler kept the device idle although requests waited; empty in older records.
    #[serde(default)]
    pub idle_waits: IdleWaits,
}

/// How deep the queue was and what the device did, in intervals of equal length from the start on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthCourse {
    /// Length of an interval, ns.
    pub interval_ns: u64,
    /// When it was over, ns: the last interval may be shorter.
    pub end_ns: u64,
    /// The intervals.
    pub intervals: Vec<DepthInterval>,
}

/// Sums over one interval: divided by its length they are shares and mean depths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthInterval {
    /// Time during which the device had a command, ns.
    pub busy_ns: u64,
    /// Time during which the scheduler kept it idle although requests waited, ns.
    pub held_ns: u64,
    /// Requests in the device, times ns.
    pub in_device_ns: u64,
    /// Requests that waited above it, times ns.
    pub waiting_ns: u64,
}

/// Waits of an idle device for a request that was expected (anticipation, idling of CFQ and BFQ), while others waited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleWaits {
    /// Lengths of those that paid: what was served next had come during the wait.
    pub paid: Histogram,
    /// Lengths of those that did not: what was served next had been there before.
    pub in_vain: Histogram,
    /// Some of them, evenly thinned out.
    pub kept: Thinned<IdleWait>,
    /// What the scheduler kept of processes when the phase was over: by this it waits for them, or does not. Empty where it keeps nothing
    /// that it tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub habits: Vec<Habits>,
}

/// What a scheduler keeps of a process, as decaying means.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Habits {
    /// Who it is.
    pub task: String,
    /// Between the end of a request and the next one, ns.
    pub think_ns: u64,
    /// From the end of a request to the beginning of the next one, sectors.
    pub seek_sectors: u64,
}

/// One wait of an idle device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleWait {
    /// When it began, ns.
    pub at_ns: u64,
    /// How long it lasted, ns.
    pub ns: u64,
    /// First sector of the request that the device had been given before.
    pub sector: u64,
    /// Whether it paid.
    pub paid: bool,
}

/// What the time of a device was spent on, ns. Parts may overlap (a drive that transfers one command while it positions for the next),
/// so their sum may be above the time it was busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceTime {
    /// Time with something to do.
    pub busy_ns: u64,
    /// Before commands.
    pub overhead_ns: u64,
    /// Moving the arm or the sledge.
    pub seek_ns: u64,
    /// Waiting for the medium to turn.
    pub rotation_ns: u64,
    /// Data passing the head, or the chips.
    pub transfer_ns: u64,
    /// Writing a cache back; its parts are counted above, too.
    pub destage_ns: u64,
    /// Commands that were answered from a buffer.
    pub buffer_hits: u64,
    /// Writes that a cache took.
    pub cached_writes: u64,
    /// Arms or channels that seek, turn and move data side by side; those parts are sums over them. 0, as in older records, is one.
    #[serde(default)]
    pub members: u32,
}

/// Every so-manieth of many, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thinned<T> {
    /// One of so many was kept.
    pub one_of: u64,
    /// Those that were kept.
    pub kept: Vec<T>,
}

impl<T> Default for Thinned<T> {
    fn default() -> Self {
        Self { one_of: 1, kept: Vec::new() }
    }
}

/// A request or a bio: when and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dot {
    /// When, ns.
    pub at_ns: u64,
    /// Its first sector of 512 bytes.
    pub sector: u64,
    /// Whether it writes.
    pub write: bool,
}

/// A read in advance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// When, ns.
    pub at_ns: u64,
    /// Pages of 4 KiB.
    pub pages: u32,
}
