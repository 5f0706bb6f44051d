//! Scheduled start times of operations, and how late they were issued.

use super::Timeline;
use crate::ops::{Arrivals, Place};
use crate::{Rate, Stream};
use std::sync::atomic::{AtomicU64, Ordering};

/// The schedule of a stream's operations.
pub struct Schedule<'a> {
    arrivals: Arrivals,
    /// With a rate shared by all workers: the next start, in ns after the release, and the last value of `arrivals`, of which only the
    /// gaps are used.
    common: Option<&'a AtomicU64>,
    last_ns: u64,
    /// No start time is held: the next one is taken on request, so the first free worker gets it.
    open: bool,
    /// Release time of the stream.
    epoch: u64,
    /// Start of the next operation.
    due: u64,
    /// Lateness from which the stream counts as behind, ns: some mean gaps, but no less than ordinary scheduler delays.
    grace_ns: u64,
    /// Start time of the first in the current run of late operations; `None` while the stream keeps up.
    behind_since: Option<u64>,
}

const LEAST_GRACE_NS: u64 = 1_000_000;
const GRACE_GAPS: f64 = 10.0;

impl<'a> Schedule<'a> {
    /// From a rate or a list of operations; `None` if there is neither. `common`: the next start of a rate shared by all workers.
    #[must_use]
    pub fn of(stream: &Stream, seed: u64, place: Place, common: Option<&'a AtomicU64>) -> Option<Self> {
        match &stream.pace.rate {
            Some(rate) => {
                let arrivals = Arrivals::new(rate, stream.seed_or(seed), place);
                Some(Self::new(arrivals, grace_ns(rate), common.filter(|_| rate.common)))
            }
            None => Some(Self::new(Arrivals::listed(&stream.access)?, LEAST_GRACE_NS, None)),
        }
    }

    fn new(arrivals: Arrivals, grace_ns: u64, common: Option<&'a AtomicU64>) -> Self {
        Self { arrivals, common, last_ns: 0, open: true, epoch: 0, due: 0, grace_ns, behind_since: None }
    }

    fn next_due_ns(&mut self) -> u64 {
        let due_ns = self.arrivals.next_due_ns();
        let Some(common) = self.common else { return due_ns };
        let gap_ns = due_ns.saturating_sub(std::mem::replace(&mut self.last_ns, due_ns));
        common.fetch_add(gap_ns, Ordering::Relaxed).saturating_add(gap_ns)
    }

    /// Start of the next operation, of a stream released at `released`.
    pub fn due<T: Timeline>(&mut self, time: T, released: u64) -> u64 {
        if self.open {
            self.epoch = released;
            self.open = false;
            self.due = released.saturating_add(time.ticks(self.next_due_ns()));
        }
        self.due
    }

    /// Shifts all following starts by a number of ticks: a pause delayed them, and they are not caught up on.
    pub fn postpone(&mut self, ticks: u64) {
        if !self.open {
            self.epoch = self.epoch.saturating_add(ticks);
            self.due = self.due.saturating_add(ticks);
            self.behind_since = self.behind_since.map(|since| since.saturating_add(ticks));
        }
    }

    /// The next scheduled operation, of `bytes`, is issued. Returns how long operations have been late without a break, ns. Late
    /// operations are issued at once and not dropped; the schedule does not shift.
    pub fn issued<T: Timeline>(&mut self, time: T, now: u64, bytes: u64) -> u64 {
        self.arrivals.moves(bytes);
        let behind_ns = if time.between(self.due, now) <= self.grace_ns {
            self.behind_since = None;
            0
        } else {
            time.between(*self.behind_since.get_or_insert(self.due), now)
        };
        if self.common.is_some() {
            self.open = true;
        } else {
            self.due = self.epoch.saturating_add(time.ticks(self.next_due_ns()));
        }
        behind_ns
    }
}

fn grace_ns(rate: &Rate) -> u64 {
    ((GRACE_GAPS * 1e9 / rate.operations_per_s) as u64).max(LEAST_GRACE_NS)
}

#[cfg(test)]
mod tests {
    use super::super::Nanoseconds;
    use super::*;
    use crate::{Bytes, Direction};

    const MS: u64 = 1_000_000;

    fn stream(operations_per_s: f64, common: bool) -> Stream {
        let mut stream = Stream::new("f", Direction::Read, Bytes(4096));
        stream.pace.rate =
            Some(Rate { operations_per_s, arrivals: crate::Gaps::Even, per: Bytes(0), common });
        stream
    }

    #[test]
    fn late_operations_do_not_move_the_schedule() {
        let stream = stream(1000.0, false);
        let mut schedule = Schedule::of(&stream, 1, Place::default(), None).expect("a rate");
        assert_eq!(schedule.due(Nanoseconds, 5 * MS), 5 * MS);
        assert_eq!(schedule.issued(Nanoseconds, 5 * MS, 4096), 0);
        assert_eq!(schedule.due(Nanoseconds, 5 * MS), 6 * MS);
        // Ten mean gaps late are within the grace, eleven are not.
        assert_eq!(schedule.issued(Nanoseconds, 16 * MS, 4096), 0);
        assert_eq!(schedule.issued(Nanoseconds, 18 * MS, 4096), 11 * MS);
        assert_eq!(schedule.due(Nanoseconds, 5 * MS), 8 * MS);
        assert_eq!(schedule.issued(Nanoseconds, 20 * MS, 4096), 13 * MS, "the row began at 7 ms");
        assert_eq!(schedule.issued(Nanoseconds, 9 * MS, 4096), 0);
    }

    #[test]
    fn a_postponed_schedule_continues_at_its_rate() {
        let stream = stream(1000.0, false);
        let mut schedule = Schedule::of(&stream, 1, Place::default(), None).expect("a rate");
        assert_eq!(schedule.due(Nanoseconds, 0), 0);
        schedule.issued(Nanoseconds, 0, 4096);
        schedule.postpone(200 * MS);
        for due in [201 * MS, 202 * MS] {
            assert_eq!(schedule.due(Nanoseconds, 0), due);
            assert_eq!(schedule.issued(Nanoseconds, due, 4096), 0);
        }
    }

    #[test]
    fn workers_with_a_common_rate_take_the_next_scheduled_operation() {
        let stream = stream(1000.0, true);
        let next = AtomicU64::new(0);
        let of = |worker| {
            let place = Place { worker, ..Place::default() };
            Schedule::of(&stream, 1, place, Some(&next)).expect("a rate")
        };
        let mut workers = [of(0), of(1)];
        let dues = [0, 0, 1, 0, 0].map(|worker| {
            let due = workers[worker].due(Nanoseconds, 0);
            workers[worker].issued(Nanoseconds, 0, 4096);
            due
        });
        assert_eq!(dues, [0, MS, MS, 2 * MS, 3 * MS], "the first of each worker has no gap before it");
    }
}
