//! Whether it is worth idling for the next request of the queue in service: for throughput, because that request is likely to be near by,
//! or for fairness, because other queues would take the share of the device promised to this one.

use super::queue::BfqQueue;
use super::{BfqLite, ROTATIONAL, SLICE_IDLE};
use crate::task::IoClass;
use crate::time::Nanos;

/// A device with more than this many requests in flight has its own queue.
const QUEUES: u32 = 3;
/// Completions per check.
const SAMPLES: u32 = 32;
/// Longest idling for a queue that seeks.
const IDLE_SEEKY: Nanos = Nanos::from_millis(2);
/// Shortest idling for a raised queue.
const IDLE_RAISED: Nanos = Nanos::from_millis(20);
/// A raised queue is idled for once others have this many requests in flight.
const OTHERS: u32 = 4;

/// Whether the device has its own queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queueing {
    believed: bool,
    most: u32,
    samples: u32,
}

impl Default for Queueing {
    fn default() -> Self {
        Self { believed: true, most: 0, samples: 0 }
    }
}

impl Queueing {
    pub(super) const fn queues(&self) -> bool {
        self.believed
    }

    /// A request is about to complete: `in_device` are in flight, `waiting` are queued.
    fn completes(&mut self, in_device: u32, waiting: usize, hardly_any: bool) {
        self.most = self.most.max(in_device);
        if in_device as usize + waiting <= QUEUES as usize || hardly_any {
            return;
        }
        self.samples += 1;
        if self.samples > SAMPLES {
            *self = Self { believed: self.most > QUEUES, most: 0, samples: 0 };
        }
    }
}

impl BfqLite {
    pub(super) fn slice_idle(&self) -> Nanos {
        Nanos::from_millis(self.tunables[SLICE_IDLE])
    }

    pub(super) fn rotates(&self) -> bool {
        self.tunables[ROTATIONAL] != 0
    }

    /// Called before a completed request is subtracted from those in flight.
    pub(super) fn watch_queueing(&mut self) {
        // A queue with short think times and few requests in flight hides the device's queueing.
        let hides = |queue: &BfqQueue| {
            let own = queue.with_device + queue.requests.lane.len() as u32;
            queue.own.thinks_briefly && own < QUEUES
        };
        let hardly_any =
            self.turn.is_some_and(|turn| hides(&self.queues[turn.key])) && self.in_device < QUEUES;
        self.queueing.completes(self.in_device, self.waiting, hardly_any);
    }

    /// Whether to idle for the queue when it runs out of requests.
    pub(super) fn worth_idling(&self, key: u16) -> bool {
        let queue = &self.queues[key];
        let may = self.slice_idle() > Nanos::ZERO && queue.sync && queue.class != IoClass::Idle;
        may && (self.idling_is_quicker(queue) || self.idling_is_fair(queue))
    }

    /// Throughput: always on a disk without its own queue; on one with a queue, or flash without one, for sequential requests. Never
    /// while a raised queue waits.
    pub(super) fn idling_is_quicker(&self, queue: &BfqQueue) -> bool {
        let (rotates, queueing) = (self.rotates(), self.queueing.believed);
        let quicker = rotates && !queueing || (rotates || !queueing) && queue.own.is_worth_a_pause();
        quicker && self.raised_queues() == 0
    }

    /// Fairness: a raised queue when others are not raised or have many requests in flight; any queue when weights or classes differ.
    fn idling_is_fair(&self, queue: &BfqQueue) -> bool {
        if queue.own.is_raised() {
            let (busy, raised) = (self.busy().count(), self.raised_queues());
            if raised < busy || busy == 1 || self.in_device >= queue.with_device + OTHERS {
                return true;
            }
        }
        self.is_asymmetric(Some(queue))
    }

    /// Whether queues have different weights or classes, so that each must get its promised share. A queue of the smallest weight has no
    /// share that idling would protect. Raised queues have separate rules.
    pub(super) fn is_asymmetric(&self, queue: Option<&BfqQueue>) -> bool {
        let classes = self.busy().fold(0u8, |classes, key| classes | 1 << self.queues[key].class as u8);
        if classes.count_ones() > 1 {
            return true;
        }
        let counted = self.counted.iter().map(|&key| &self.queues[key].own).filter(|own| !own.is_raised());
        let (mut least, mut most) = (u64::MAX, 0);
        for own in counted {
            least = least.min(own.entity.weight);
            most = most.max(own.entity.weight);
        }
        let smallest = queue.is_some_and(|queue| !queue.own.is_raised() && queue.own.entity.weight == least);
        least < most && !smallest
    }

    /// How long to idle for the queue.
    pub(super) fn idle_time(&self, key: u16) -> Nanos {
        let (queue, idle) = (&self.queues[key], self.slice_idle());
        if queue.own.is_raised() {
            idle.max(IDLE_RAISED)
        } else if queue.own.is_seeky() && !self.is_asymmetric(Some(queue)) {
            idle.min(IDLE_SEEKY)
        } else {
            idle
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_never_has_more_than_three_does_not_queue() {
        let mut queueing = Queueing::default();
        (0..33).for_each(|_| queueing.completes(3, 5, false));
        assert!(!queueing.believed);
        (0..32).for_each(|_| queueing.completes(4, 0, false));
        assert!(!queueing.believed, "not yet");
        queueing.completes(4, 0, true);
        queueing.completes(3, 0, false);
        assert!(!queueing.believed, "those say nothing");
        queueing.completes(4, 0, false);
        assert!(queueing.believed);
    }
}
