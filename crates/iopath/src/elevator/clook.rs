//! HSFS's read scheduler of 2007: a one-way sweep over block numbers with a deadline of 500 ms, joining directly adjacent reads into one
//! transfer on issue. Its callers run it under one lock: a joined read is waited for under the lock, so nothing else is issued; a single
//! read either too (the first version) or after the lock was dropped (`unlock_single`, the version that was measured). Two adjacent reads
//! are no chain yet and are issued separately (`join_least`).

use super::{Elevator, Pick};
use crate::elevator::sorted::Lane;
use crate::limits::Limits;
use crate::merge::may_join;
use crate::request::{Requests, Slot};
use crate::time::Nanos;
use crate::tunable::{Tunable, Tunables, Unit, View};

const DEADLINE: usize = 0;
const MAX_TRANSFER: usize = 1;
const UNLOCK_SINGLE: usize = 2;
const JOIN_LEAST: usize = 3;

static TABLE: [Tunable; 4] = [
    Tunable::millis("deadline", 500, "a read older than this is where the next sweep starts"),
    Tunable::count("max_transfer", Unit::KiB, 16, "longest joined read; 16 where the device does not tell")
        .at_least(1),
    Tunable::switch(
        "unlock_single",
        1,
        "1: a read that joined none is waited for without the lock, so that others can be issued",
    ),
    Tunable::count(
        "join_least",
        Unit::Number,
        3,
        "fewest adjacent reads that are joined; fewer are issued as they are, one after the other",
    )
    .at_least(2),
];

/// Set in a request's mark: it is waited for under the lock.
const LOCKED: u16 = 1;

/// HSFS's scheduler.
#[derive(Clone, Debug)]
pub struct ClookHsfs {
    tunables: Tunables<4>,
    lane: Lane,
    /// Start of the last issued request, or of the last one joined to it.
    last: Option<u64>,
    locked: bool,
    expired: u64,
}

impl Default for ClookHsfs {
    fn default() -> Self {
        let tunables = Tunables::new(&TABLE);
        Self { tunables, lane: Lane::default(), last: None, locked: false, expired: 0 }
    }
}

impl ClookHsfs {
    fn start(&mut self, now: Nanos, requests: &Requests) -> Option<Slot> {
        if self.lane.expired(requests, now) {
            self.expired += 1;
            return self.lane.oldest();
        }
        let above = self.last.and_then(|last| self.lane.tree.at_or_after(requests, last + 1));
        above.or_else(|| self.lane.tree.first(requests))
    }

    /// The request after `first`, if the two may be one transfer.
    fn adjacent(
        &self,
        requests: &Requests,
        first: Slot,
        next: Option<Slot>,
        limits: &Limits,
    ) -> Option<Slot> {
        let longest = self.tunables[MAX_TRANSFER] * 2;
        let short = |&next: &Slot| {
            u64::from(requests[first].sectors()) + u64::from(requests[next].sectors()) <= longest
        };
        next.filter(short).filter(|&next| may_join(requests, first, next, limits))
    }

    /// Whether enough reads follow directly on `first` to be joined.
    fn is_chain(&self, requests: &Requests, first: Slot, limits: &Limits) -> bool {
        let (least, longest) = (self.tunables[JOIN_LEAST], self.tunables[MAX_TRANSFER] * 2);
        let (mut last, mut sectors, mut reads) = (first, u64::from(requests[first].sectors()), 1);
        while reads < least {
            let Some(next) = self.lane.tree.after(requests, last) else { return false };
            sectors += u64::from(requests[next].sectors());
            if sectors > longest || !may_join(requests, last, next, limits) {
                return false;
            }
            (last, reads) = (next, reads + 1);
        }
        true
    }
}

impl Elevator for ClookHsfs {
    fn name(&self) -> &'static str {
        "clook-hsfs@2007"
    }

    fn tunables(&self) -> View<'_> {
        self.tunables.view()
    }

    fn set_row(&mut self, row: usize, value: u64) {
        self.tunables.set(row, value);
    }

    fn uses_last_merge(&self) -> bool {
        false
    }

    fn joined(&mut self, _now: Nanos, requests: &mut Requests, kept: Slot, gone: Slot) {
        self.lane.joined(requests, kept, gone);
    }

    fn insert(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        self.lane.insert(requests, slot, now + Nanos::from_millis(self.tunables[DEADLINE]));
    }

    fn next(&mut self, now: Nanos, requests: &mut Requests, limits: &Limits, _free_tags: u32) -> Pick {
        if self.locked {
            return Pick::Nothing;
        }
        let Some(first) = self.start(now, requests) else { return Pick::Nothing };
        self.last = Some(requests[first].sector());
        let mut following = self.lane.tree.after(requests, first);
        if !self.is_chain(requests, first, limits) {
            following = None;
        }
        self.lane.remove(requests, first);
        let mut joined = false;
        while let Some(next) = self.adjacent(requests, first, following, limits) {
            following = self.lane.tree.after(requests, next);
            self.last = Some(requests[next].sector());
            self.lane.remove(requests, next);
            requests.gather(first, next, limits);
            joined = true;
        }
        self.locked = joined || self.tunables[UNLOCK_SINGLE] == 0;
        requests[first].private.mark = if self.locked { LOCKED } else { 0 };
        Pick::Request(first)
    }

    fn taken(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        self.last = Some(requests[slot].sector());
        self.lane.remove(requests, slot);
    }

    fn completed(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        if requests[slot].private.mark == LOCKED {
            self.locked = false;
        }
    }

    fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        self.lane.drain(requests)
    }

    fn waiting(&self) -> usize {
        self.lane.len()
    }

    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot)) {
        self.lane.tree.iter(requests).for_each(each);
    }

    fn counters(&self, each: &mut dyn FnMut(&'static str, u64)) {
        each("expired", self.expired);
    }
}

#[cfg(test)]
mod tests {
    use crate::elevator::testing::Bench;

    #[test]
    fn it_sweeps_upward_and_starts_again_at_the_lowest() {
        let mut bench = Bench::new("clook-hsfs");
        for sector in [500, 100, 900] {
            bench.read(sector);
        }
        assert_eq!(bench.serve_n(2), [100, 500]);
        bench.read(300);
        assert_eq!(bench.order(), [900, 300]);
    }

    #[test]
    fn adjacent_reads_are_joined_when_issued_up_to_the_transfer() {
        let mut bench = Bench::new("clook-hsfs");
        for n in (0..7).rev() {
            bench.read(8 * n);
        }
        bench.read(1000);
        assert_eq!(bench.waiting().len(), 8, "nothing is merged before");
        let id = bench.start().unwrap();
        assert_eq!(bench.queue.request(id).map(|r| r.sectors()), Some(32), "16 KiB");
        assert_eq!(bench.start(), None, "a joined read is waited for");
        bench.done(id);
        assert_eq!(bench.order(), [32, 1000]);
        assert_eq!((bench.queue.merges().gathered, bench.merged()), (5, (0, 0)));
    }

    #[test]
    fn two_adjacent_reads_are_issued_as_they_are() {
        for (name, requests) in [("clook-hsfs", 2), ("clook-hsfs,join_least=2", 1)] {
            let mut bench = Bench::new(name);
            bench.read(0);
            bench.read(8);
            let ids: Vec<_> = std::iter::from_fn(|| bench.start()).collect();
            assert_eq!(ids.len(), requests, "{name}");
            assert_eq!(bench.waiting().len(), 0);
        }
    }

    #[test]
    fn single_reads_go_side_by_side_unless_told_otherwise() {
        for (name, together) in [("clook-hsfs", true), ("clook-hsfs,unlock_single=0", false)] {
            let mut bench = Bench::new(name);
            bench.read(0);
            bench.read(100);
            let id = bench.start().unwrap();
            assert_eq!(bench.start().is_some(), together, "{name}");
            bench.done(id);
        }
    }

    #[test]
    fn the_oldest_is_where_the_sweep_starts_once_it_is_due() {
        let mut bench = Bench::new("clook-hsfs");
        bench.read(100);
        bench.serve();
        bench.read(50);
        bench.after(300);
        bench.read(200);
        bench.after(200);
        assert_eq!(bench.order(), [50, 200]);
        assert_eq!(bench.counter("expired"), 1);
    }
}
