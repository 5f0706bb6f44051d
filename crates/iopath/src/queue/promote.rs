//! Queue operations for readers, besides taking the next request: finding the one that holds a sector, promoting one that is now waited
//! for, and taking the following one as well if only a small gap lies between.

use super::Queue;
use crate::bio::Op;
use crate::elevator::Elevator;
use crate::request::{Request, RequestId, Slot, Stage};
use crate::task::IoClass;
use crate::time::Nanos;
use std::ops::Range;

impl Queue {
    /// The request with the elevator that holds a sector. Scans all waiting requests.
    pub fn holding(&self, sector: u64) -> Option<RequestId> {
        let mut found = None;
        self.elevator.each_waiting(&self.requests, &mut |slot| {
            let request = &self.requests[slot];
            if (request.sector()..request.end()).contains(&sector) {
                found = Some(slot);
            }
        });
        found.map(|slot| self.requests.id(slot))
    }

    /// The requests with the elevator that hold a sector of some runs. Neither starts nor ends of the runs may decrease. Scans all
    /// waiting requests once for all runs.
    pub fn holding_any(&self, runs: &[Range<u64>]) -> Vec<RequestId> {
        let mut found = Vec::new();
        self.elevator.each_waiting(&self.requests, &mut |slot| {
            let request = &self.requests[slot];
            let begun = runs.partition_point(|run| run.start < request.end());
            if runs[..begun].last().is_some_and(|run| run.end > request.sector()) {
                found.push(self.requests.id(slot));
            }
        });
        found
    }

    /// Promotes a request with the elevator to this class. No effect on elevators without classes.
    pub fn promote(&mut self, now: Nanos, id: RequestId, class: IoClass) {
        if self.requests.get(id).map(Request::stage) == Some(Stage::Waiting) {
            self.elevator.on_promote(now, &mut self.requests, id.slot, class);
        }
    }

    /// Starts, together with a request that ends at `end`, the next read behind it: if at most `gap` sectors lie between, and its end is
    /// at most `room` sectors after `end`. Scans all waiting requests.
    pub fn next_within(&mut self, now: Nanos, end: u64, gap: u64, room: u64) -> Option<RequestId> {
        let mut best: Option<(u64, Slot)> = None;
        self.elevator.each_waiting(&self.requests, &mut |slot| {
            let request = &self.requests[slot];
            let begins = request.sector();
            let near = begins >= end && begins - end <= gap && request.end() - end <= room;
            if near && request.op() == Op::Read && best.is_none_or(|(other, _)| begins < other) {
                best = Some((begins, slot));
            }
        });
        let (_, slot) = best?;
        self.elevator.taken(now, &mut self.requests, slot);
        self.requests.set_stage(slot, Stage::Started);
        self.started += 1;
        Some(self.requests.id(slot))
    }
}

#[cfg(test)]
mod tests {
    use crate::elevator::testing::Bench;

    #[test]
    fn requests_are_found_by_any_of_their_sectors() {
        for name in ["sweep", "mq-deadline", "noop", "none"] {
            let mut bench = Bench::new(name);
            for sector in [200, 100, 124, 1000] {
                bench.read(sector);
            }
            let found = |runs: &[std::ops::Range<u64>]| {
                let ids = bench.queue.holding_any(runs);
                let mut sectors: Vec<u64> = ids.into_iter().map(|id| bench.sector(id)).collect();
                sectors.sort_unstable();
                sectors
            };
            assert_eq!(found(&[107..109, 131..132, 208..300, 900..1001]), [100, 124, 1000], "{name}");
            assert_eq!(found(&[0..2000, 1100..2000]), [100, 124, 200, 1000], "{name}: one in the other");
            assert!(found(&[]).is_empty(), "{name}");
        }
    }

    #[test]
    fn the_next_read_behind_a_small_hole_is_taken_along() {
        for name in ["sweep", "mq-deadline", "noop", "none"] {
            let mut bench = Bench::new(name);
            for sector in [200, 100, 124, 1000] {
                bench.read(sector);
            }
            let now = bench.now;
            let first = bench.queue.holding(100).unwrap();
            assert!(bench.queue.follow(now, first));
            assert_eq!(bench.queue.next_within(now, 108, 15, 100), None, "{name}: 16 sectors lie between");
            assert_eq!(bench.queue.next_within(now, 108, 16, 23), None, "{name}: too long together");
            let second = bench.queue.next_within(now, 108, 16, 24).unwrap();
            assert_eq!(bench.sector(second), 124, "{name}");
            assert_eq!(bench.queue.holding(124), None, "{name}: it is with the device");
            bench.done(first);
            bench.done(second);
            let mut left = bench.order();
            left.sort_unstable();
            assert_eq!(left, [200, 1000], "{name}");
        }
    }
}
