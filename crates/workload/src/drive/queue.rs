//! How many operations a stream keeps in flight, and how many one kernel call submits.

use crate::ops::{Place, Region, StreamOps};
use crate::{Backend, Stream};

/// Default number of operations per submission while others are in flight. A device that answers in bursts idles while a whole burst is
/// prepared: in batches of four, a virtio disk did 10 % more operations for 10 % less CPU time. Where operations complete at once, none
/// is in flight at this point, and one call submits them all.
const WHILE_BUSY: usize = 4;

/// Operations per submission, for a worker with `busy` operations in flight. `batch`: the workload's setting; 0: unset.
#[inline(always)]
#[must_use]
pub fn carried(batch: u32, busy: usize, depth: usize) -> usize {
    match batch {
        0 if busy > 0 => WHILE_BUSY.min(depth),
        0 => depth,
        asked => (asked as usize).min(depth),
    }
}

impl Backend {
    /// Configured operations per submission; 0: unset, or the back-end has no such calls.
    #[must_use]
    pub fn batch(&self) -> u32 {
        match self {
            Self::Aio { batch, .. } => *batch,
            Self::Uring(options) | Self::Nvme(options) => options.batch,
            // Each operation is a separate call.
            Self::Posix => 1,
            _ => 0,
        }
    }
}

/// Maximum number of operations that a worker can have in flight: its queue depth, or the total if smaller. `pooled`: it works on all files of its
/// set.
#[must_use]
pub fn in_flight(stream: &Stream, pooled: bool, region: Region, seed: u64, place: Place) -> u32 {
    let most = stream.queue_depth.max(1);
    if pooled {
        return most;
    }
    let all = StreamOps::new(stream, region, seed, place).and_then(|ops| ops.remaining_operations());
    all.map_or(most, |all| u32::try_from(all).unwrap_or(u32::MAX).clamp(1, most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bytes, Direction};

    #[test]
    fn a_busy_worker_hands_in_fours() {
        assert_eq!([carried(0, 0, 32), carried(0, 5, 32), carried(0, 1, 2)], [32, 4, 2]);
        assert_eq!([carried(16, 5, 32), carried(64, 0, 32)], [16, 32]);
    }

    #[test]
    fn no_more_are_in_flight_than_there_are() {
        let mut stream = Stream::new("f", Direction::Read, Bytes(4096));
        stream.queue_depth = 32;
        let depth = |bytes, pooled| {
            in_flight(&stream, pooled, Region { start: 0, length: bytes }, 1, Place::default())
        };
        assert_eq!([depth(8192, false), depth(1 << 20, false), depth(8192, true)], [2, 32, 32]);
    }
}
