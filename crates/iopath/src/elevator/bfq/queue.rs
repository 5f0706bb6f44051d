//! Per-queue state besides its requests: position in virtual time, raising, and the habits of its task.

use super::fair::Entity;
use crate::elevator::mean::Mean;
use crate::elevator::per_task::{TaskQueue, TaskQueues};
use crate::time::Nanos;

pub(super) type Queues = TaskQueues<Budgeted>;
pub(super) type BfqQueue = TaskQueue<Budgeted>;

/// A request further than this from the end of the previous one is a seek, in sectors;
const SEEK: u64 = 100 * 8;
/// on a non-rotating device only if it is also shorter than this, in sectors.
const SHORT: u64 = 2 * 32;
/// With more seeks than this among the last 32 requests the queue counts as seeking.
const MOST_SEEKS: u32 = 19;
/// Longest window for deciding whether a task is I/O-bound,
const IO_WINDOW: Nanos = Nanos::from_millis(200);
/// and the shortest.
const IO_LEAST: Nanos = Nanos::from_millis(2);

/// What BFQ keeps with a queue.
#[derive(Clone, Debug)]
pub(super) struct Budgeted {
    pub(super) entity: Entity,
    /// By priority.
    pub(super) weight: u64,
    /// Factor of the weight; 1: not raised.
    pub(super) coefficient: u64,
    pub(super) raised_at: Nanos,
    pub(super) raised_for: Nanos,
    /// Sectors served while raised.
    pub(super) served_raised: u64,
    /// Budget of the next turn; 0: no request so far.
    pub(super) budget: u64,
    /// Time since which it has had no requests queued or in flight; `None`: always.
    pub(super) quiet_since: Option<Nanos>,
    /// Time of its first request,
    pub(super) made_at: Nanos,
    /// and the queue created shortly before, with which it may be merged.
    pub(super) partner: Option<u16>,
    /// It ran out of requests and continues with the rest of its budget if one arrives in time.
    pub(super) goes_on: bool,
    last_done: Nanos,
    think: Mean,
    pub(super) thinks_briefly: bool,
    /// The last 32 requests, one bit each: set for a seek. The first almost certainly is one.
    seeks: u32,
    last_end: u64,
    io_since: Nanos,
    io_idle: Nanos,
    pub(super) io_bound: bool,
}

impl Budgeted {
    pub(super) fn new(level: u8) -> Self {
        Self {
            entity: Entity::default(),
            weight: weight(level),
            coefficient: 1,
            raised_at: Nanos::ZERO,
            raised_for: Nanos::ZERO,
            served_raised: 0,
            budget: 0,
            quiet_since: None,
            made_at: Nanos::ZERO,
            partner: None,
            goes_on: false,
            last_done: Nanos::ZERO,
            think: Mean::default(),
            thinks_briefly: true,
            seeks: 1,
            last_end: 0,
            io_since: Nanos::ZERO,
            io_idle: Nanos::ZERO,
            io_bound: true,
        }
    }

    pub(super) fn is_raised(&self) -> bool {
        self.coefficient > 1
    }

    pub(super) fn is_seeky(&self) -> bool {
        self.seeks.count_ones() > MOST_SEEKS
    }

    /// Almost no seeks, always busy, and short think times: the next request is likely to be sequential.
    pub(super) fn is_worth_a_pause(&self) -> bool {
        !self.is_seeky() && self.io_bound && self.thinks_briefly
    }
}

/// Weight 80 for level 0, down to 10 for level 7.
pub(super) fn weight(level: u8) -> u64 {
    10 * u64::from(8 - level.min(7))
}

/// Whether a request is a seek after one that ended at `last`; `last` 0 means there was none.
pub(super) fn seeks(last: u64, sector: u64, sectors: u64, rotational: bool) -> bool {
    last != 0 && last.abs_diff(sector) > SEEK && (rotational || sectors < SHORT)
}

impl BfqQueue {
    pub(super) fn is_busy(&self) -> bool {
        self.own.entity.is_busy()
    }

    /// Records a queue's first request.
    pub(super) fn begin(&mut self, now: Nanos, budget: u64) {
        self.own.budget = budget;
        self.own.made_at = now;
        self.own.raised_at = now;
        self.own.io_since = now;
        self.own.last_done = now;
    }

    /// Records a new request that is not yet in the queue.
    pub(super) fn learn(
        &mut self,
        now: Nanos,
        sector: u64,
        sectors: u64,
        slice_idle: Nanos,
        rotational: bool,
    ) {
        let (quiet, busy) = (self.requests.is_empty() && self.with_device == 0, self.is_busy());
        let own = &mut self.own;
        if self.sync {
            if self.with_device == 0 && !busy {
                own.think.add((now - own.last_done).0.min(2 * slice_idle.0), 128);
            }
            if slice_idle > Nanos::ZERO {
                own.thinks_briefly = own.think.believed().is_none_or(|think| think <= slice_idle.0 / 2);
            }
            let total = now - own.io_since;
            if quiet {
                own.io_idle += now - own.last_done;
            }
            if total >= IO_LEAST {
                own.io_bound = own.io_idle.0.saturating_mul(5) <= total.0;
                if total > IO_WINDOW {
                    own.io_since = Nanos(now.0 - total.0 / 2);
                    own.io_idle.0 /= 2;
                }
            }
        }
        own.seeks = own.seeks << 1 | u32::from(seeks(own.last_end, sector, sectors, rotational));
        own.last_end = sector + sectors;
    }

    /// Records a completion.
    pub(super) fn done(&mut self, now: Nanos) {
        self.own.last_done = now;
        if self.with_device == 0 && !self.is_busy() {
            self.own.quiet_since = Some(now);
        }
    }

    /// Time of the last completion.
    pub(super) fn last_done(&self) -> Nanos {
        self.own.last_done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::IoClass;

    fn queue() -> BfqQueue {
        let mut queue = BfqQueue::new(true, IoClass::BestEffort, Budgeted::new(4));
        queue.begin(Nanos::ZERO, 1000);
        queue
    }

    fn learn(queue: &mut BfqQueue, millis: u64, sector: u64, sectors: u64, rotational: bool) {
        queue.learn(Nanos::from_millis(millis), sector, sectors, Nanos::from_millis(8), rotational);
    }

    #[test]
    fn a_queue_seeks_when_most_of_its_last_requests_were_far_away() {
        let mut queue = queue();
        (1..20).for_each(|n| learn(&mut queue, 0, n * 100_000, 8, true));
        assert!(!queue.own.is_seeky(), "a first one, 18 seeks");
        learn(&mut queue, 0, 100, 8, true);
        assert!(queue.own.is_seeky());
        (0..24).for_each(|n| learn(&mut queue, 0, 108 + 800 * n, 8, true));
        assert!(!queue.own.is_seeky(), "800 sectors are not far");
    }

    #[test]
    fn long_requests_are_no_seeks_where_nothing_rotates() {
        assert!(seeks(8, 100_000, 64, true) && !seeks(8, 100_000, 64, false) && seeks(8, 100_000, 63, false));
        assert!(!seeks(0, 100_000, 8, true), "nobody has been anywhere");
    }

    #[test]
    fn who_thinks_longer_than_half_of_the_idle_time_is_not_worth_a_pause() {
        let mut queue = queue();
        for n in 1..5 {
            queue.done(Nanos::from_millis(20 * n));
            learn(&mut queue, 20 * n + 3, 8 * n, 8, true);
        }
        assert!(queue.own.thinks_briefly && queue.own.is_worth_a_pause());
        for n in 5..12 {
            queue.done(Nanos::from_millis(20 * n));
            learn(&mut queue, 20 * n + 7, 8 * n, 8, true);
        }
        assert!(!queue.own.thinks_briefly && !queue.own.is_worth_a_pause());
    }

    #[test]
    fn who_pauses_a_fifth_of_the_time_is_not_bound_by_io() {
        let mut queue = queue();
        queue.done(Nanos::from_millis(90));
        learn(&mut queue, 100, 8, 8, true);
        assert!(queue.own.io_bound, "10 of 100 ms");
        queue.done(Nanos::from_millis(130));
        learn(&mut queue, 150, 16, 8, true);
        assert!(queue.own.io_bound, "30 of 150 ms");
        queue.done(Nanos::from_millis(160));
        learn(&mut queue, 200, 24, 8, true);
        assert!(!queue.own.io_bound, "70 of 200 ms");
    }
}
