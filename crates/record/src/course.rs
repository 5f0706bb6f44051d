//! What happened inside a simulated phase: how the device spent its time, how deep its queue was, and when it was kept idle on
//! purpose. For plots, it also holds a thinned list of requests by time and sector, and of read-ahead windows. A real run has none
//! of this.

use crate::Histogram;
use serde::{Deserialize, Serialize};

/// The course of one phase, taken from its last repetition. Times count from the start of the repetition, ns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseCourse {
    /// Number of the phase, as in [`Phase::seq`](crate::Phase::seq).
    pub phase: u32,
    /// How the device spent its time.
    pub service: ServiceTime,
    /// Requests as issued to the device, evenly thinned.
    pub served: Thinned<Dot>,
    /// Bios as they entered the queue, evenly thinned.
    pub queued: Thinned<Dot>,
    /// Read-ahead windows, evenly thinned.
    pub windows: Thinned<Window>,
    /// Queue and device over time; empty in older records.
    #[serde(default)]
    pub depths: DepthCourse,
    /// When the scheduler kept the device idle although requests were waiting; empty in older records.
    #[serde(default)]
    pub idle_waits: IdleWaits,
}

/// Queue depth and device activity in intervals of equal length from the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthCourse {
    /// Length of an interval, ns.
    pub interval_ns: u64,
    /// End of the course, ns; the last interval may be shorter.
    pub end_ns: u64,
    /// The intervals, in order of time.
    pub intervals: Vec<DepthInterval>,
}

/// Sums over one interval; divided by its length they are shares and mean depths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthInterval {
    /// Time with a command in the device, ns.
    pub busy_ns: u64,
    /// Time during which the scheduler kept the device idle although requests were waiting, ns.
    pub held_ns: u64,
    /// Requests in the device, times ns.
    pub in_device_ns: u64,
    /// Requests waiting above the device, times ns.
    pub waiting_ns: u64,
}

/// Waits of an idle device for an expected request (anticipation, idling of CFQ and BFQ) while others waited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleWaits {
    /// Lengths of the waits that paid: the next request served arrived during the wait.
    pub paid: Histogram,
    /// Lengths of the waits in vain: the next request served had been there before.
    pub in_vain: Histogram,
    /// A sample of the waits, evenly thinned.
    pub kept: Thinned<IdleWait>,
    /// What the scheduler knew of processes at the end of the phase, which decides whether it waits for them. Empty if the
    /// scheduler keeps or reports nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub habits: Vec<Habits>,
}

/// What a scheduler keeps about a process, as decaying means.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Habits {
    /// Name of the task.
    pub task: String,
    /// Think time from the end of a request to the next one, ns.
    pub think_ns: u64,
    /// Distance from the end of a request to the beginning of the next one, sectors.
    pub seek_sectors: u64,
}

/// One wait of an idle device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleWait {
    /// Start of the wait, ns.
    pub at_ns: u64,
    /// Length of the wait, ns.
    pub ns: u64,
    /// First sector of the request the device was given before.
    pub sector: u64,
    /// Whether it paid.
    pub paid: bool,
}

/// How the device spent its time, ns. Parts may overlap (a drive that transfers one command while it positions for the next),
/// so their sum may exceed the busy time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceTime {
    /// Time with work in the device.
    pub busy_ns: u64,
    /// Command overhead.
    pub overhead_ns: u64,
    /// Moving the arm or the laser sledge.
    pub seek_ns: u64,
    /// Waiting for the medium to turn.
    pub rotation_ns: u64,
    /// Data passing the head or the chips.
    pub transfer_ns: u64,
    /// Writing the device's cache back; its parts are also counted above.
    pub destage_ns: u64,
    /// Commands answered from a buffer.
    pub buffer_hits: u64,
    /// Writes absorbed by a cache.
    pub cached_writes: u64,
    /// Arms or channels that work in parallel; the parts above are sums over them. 0, as in older records, means one.
    #[serde(default)]
    pub members: u32,
}

/// An ordered sample of many: every n-th item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thinned<T> {
    /// One in this many was kept.
    pub one_of: u64,
    /// The items kept.
    pub kept: Vec<T>,
}

impl<T> Default for Thinned<T> {
    fn default() -> Self {
        Self { one_of: 1, kept: Vec::new() }
    }
}

/// A request or bio as a point in time and space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dot {
    /// Time, ns.
    pub at_ns: u64,
    /// First sector of 512 bytes.
    pub sector: u64,
    /// Whether it writes.
    pub write: bool,
}

/// A read-ahead window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Time, ns.
    pub at_ns: u64,
    /// Length in pages of 4 KiB.
    pub pages: u32,
}
