//! How a stream is driven: pauses, rates, bursts, shared limits, ratios, queue depth. All executors use the same rules, whether their
//! time is a CPU counter or virtual.
//!
//! Nothing here reads a clock, waits or does I/O: the executor does. Clock readings are passed in, and a [`Timeline`] interprets them.

mod burst;
mod depth_search;
mod pace;
mod pauses;
mod queue;
mod quota;
mod ratio_turn;
mod rounds;
mod schedule;
mod think;
mod warm_up;

pub use burst::Bursts;
pub use depth_search::{DepthFound, DepthSearch};
pub use pace::Pacing;
pub use pauses::Pauses;
pub use queue::{carried, in_flight};
pub use quota::{Quota, Taken};
pub use ratio_turn::{AWAY, RatioTurn};
pub use rounds::Sums;
pub use schedule::Schedule;
pub use think::SerialPauses;
pub use warm_up::WarmUp;

/// Interprets the readings of an executor's clock. Both conversions saturate.
pub trait Timeline: Copy {
    /// Ticks of the clock in a number of nanoseconds.
    fn ticks(&self, ns: u64) -> u64;
    /// Nanoseconds from one reading to a later one; 0 if it is earlier.
    fn between(&self, earlier: u64, later: u64) -> u64;
}

/// Readings in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Nanoseconds;

impl Timeline for Nanoseconds {
    fn ticks(&self, ns: u64) -> u64 {
        ns
    }

    fn between(&self, earlier: u64, later: u64) -> u64 {
        later.saturating_sub(earlier)
    }
}
