//! `deadline` of the single-queue kernels, 2.6.0 to 4.20, in two generations.

use super::turns::Turns;
use super::{CLASSIC, FIFO_BATCH, FRONT_MERGES, READ, READ_EXPIRE, WRITE, WRITE_EXPIRE, WRITES_STARVED};
use crate::bio::Bio;
use crate::elevator::sorted::{self, Lane};
use crate::elevator::{Elevator, Order, Pick};
use crate::limits::Limits;
use crate::merge::{Candidate, MergeKind};
use crate::request::{Requests, Slot};
use crate::time::Nanos;
use crate::tunable::{Tunables, View};

/// The kernels whose rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// 2.6.0 to 2.6.23: a request that does not start where the last one ended ends the batch, and a direction without a successor
    /// restarts at its lowest sector. Under mixed random load: lowest first, not a sweep.
    V2_6_0,
    /// 2.6.24 to 4.20: batches in sector order; without a successor it restarts at the oldest request.
    V2_6_24,
    /// The same rules under the name of mq-deadline, 4.11 to 5.13.
    Mq4_11,
}

/// The `deadline` elevator.
#[derive(Clone, Debug)]
pub struct Deadline {
    generation: Generation,
    tunables: Tunables<5>,
    lanes: [Lane; 2],
    /// Successor of the last request of each direction.
    following: [Option<Slot>; 2],
    /// End of the last request.
    last_end: u64,
    turns: Turns,
}

impl Deadline {
    /// An empty elevator with the rules of a generation.
    pub fn new(generation: Generation) -> Self {
        Self {
            generation,
            tunables: Tunables::new(&CLASSIC),
            lanes: Default::default(),
            following: [None; 2],
            last_end: 0,
            turns: Turns::default(),
        }
    }

    fn lane_of(&self, requests: &Requests, slot: Slot) -> usize {
        requests[slot].op().direction()
    }

    /// Called before a request leaves its lane without being served: its successor takes its place as the next one.
    fn forget(&mut self, requests: &Requests, slot: Slot) {
        let way = self.lane_of(requests, slot);
        if self.following[way] == Some(slot) {
            self.following[way] = self.lanes[way].tree.after(requests, slot);
        }
    }

    /// The request that continues the batch, if the batch is not over.
    fn continued(&mut self, requests: &Requests) -> Option<Slot> {
        let slot = self.following[WRITE].or(self.following[READ])?;
        let batch = self.tunables[FIFO_BATCH];
        if self.generation == Generation::V2_6_0 && requests[slot].sector() != self.last_end {
            // Not reset before a new batch begins: from here on every request chooses the direction again.
            self.turns.batching = self.turns.batching.saturating_add(batch);
        }
        (self.turns.batching < batch).then_some(slot)
    }

    /// The first request of a batch.
    fn begun(&mut self, now: Nanos, requests: &Requests, way: usize) -> Option<Slot> {
        let expired = self.lanes[way].expired(requests, now);
        self.turns.expired += u64::from(expired);
        let following = self.following[way].filter(|_| !expired);
        if following.is_some() && self.generation == Generation::V2_6_0 {
            return following; // the batch's count goes on
        }
        self.turns.begin();
        if expired || self.generation != Generation::V2_6_0 {
            return following.or(self.lanes[way].oldest());
        }
        self.lanes[way].tree.first(requests)
    }

    fn take(&mut self, requests: &mut Requests, slot: Slot) {
        let way = self.lane_of(requests, slot);
        self.following = [None; 2];
        self.following[way] = self.lanes[way].tree.after(requests, slot);
        self.last_end = requests[slot].end();
        self.turns.batching += 1;
        self.lanes[way].remove(requests, slot);
    }
}

impl Elevator for Deadline {
    fn name(&self) -> &'static str {
        match self.generation {
            Generation::V2_6_0 => "deadline@2.6.0",
            Generation::V2_6_24 => "deadline@2.6.24",
            Generation::Mq4_11 => "mq-deadline@4.11",
        }
    }

    fn tunables(&self) -> View<'_> {
        self.tunables.view()
    }

    fn set_row(&mut self, row: usize, value: u64) {
        self.tunables.set(row, value);
    }

    fn touched(&self, requests: &Requests, bio: &Bio) -> Candidate {
        let tree = &self.lanes[bio.op().direction()].tree;
        sorted::candidate(tree, requests, bio, self.tunables[FRONT_MERGES] != 0)
    }

    fn merged(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot, kind: MergeKind) {
        let way = self.lane_of(requests, slot);
        self.lanes[way].merged(requests, slot, kind);
    }

    fn order(&self, requests: &Requests, slot: Slot) -> Order<'_> {
        Order::Tree(&self.lanes[self.lane_of(requests, slot)].tree)
    }

    fn joined(&mut self, _now: Nanos, requests: &mut Requests, kept: Slot, gone: Slot) {
        self.forget(requests, gone);
        let way = self.lane_of(requests, gone);
        self.lanes[way].joined(requests, kept, gone);
    }

    fn joins_on_insert(&self) -> bool {
        self.generation == Generation::Mq4_11
    }

    fn insert(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let way = self.lane_of(requests, slot);
        let expire = self.tunables[if way == READ { READ_EXPIRE } else { WRITE_EXPIRE }];
        self.lanes[way].insert(requests, slot, now + Nanos::from_millis(expire));
    }

    fn next(&mut self, now: Nanos, requests: &mut Requests, _limits: &Limits, _free_tags: u32) -> Pick {
        let chosen = match self.continued(requests) {
            Some(slot) => Some(slot),
            None => {
                let way = self.turns.direction(&self.lanes, self.tunables[WRITES_STARVED]);
                way.and_then(|way| self.begun(now, requests, way))
            }
        };
        let Some(slot) = chosen else { return Pick::Nothing };
        self.take(requests, slot);
        Pick::Request(slot)
    }

    fn taken(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        let way = self.lane_of(requests, slot);
        if self.continued(requests) != Some(slot) {
            self.turns.begin_in(way, &self.lanes);
        }
        self.take(requests, slot);
    }

    fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        self.following = [None; 2];
        self.lanes.iter_mut().find_map(|lane| lane.drain(requests))
    }

    fn waiting(&self) -> usize {
        self.lanes.iter().map(Lane::len).sum()
    }

    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot)) {
        self.lanes.iter().for_each(|lane| lane.tree.iter(requests).for_each(&mut *each));
    }

    fn counters(&self, each: &mut dyn FnMut(&'static str, u64)) {
        each("batches", self.turns.batches);
        each("expired", self.turns.expired);
    }
}

#[cfg(test)]
mod tests {
    use crate::elevator::testing::Bench;

    fn random_reads(version: &str) -> Bench {
        let mut bench = Bench::new(version);
        for sector in [5000, 1000, 9000, 3000, 7000] {
            bench.read(sector);
        }
        bench
    }

    #[test]
    fn v2_6_0_starts_at_the_lowest_sector_and_v2_6_24_at_the_oldest() {
        assert_eq!(random_reads("deadline@2.6.0").order(), [1000, 3000, 5000, 7000, 9000]);
        assert_eq!(random_reads("deadline@2.6.24").order(), [5000, 7000, 9000, 1000, 3000]);
    }

    #[test]
    fn v2_6_0_ends_a_batch_at_the_first_jump_and_goes_back_to_the_lowest() {
        let mut bench = random_reads("deadline@2.6.0");
        for sector in [2000, 4000, 6000] {
            bench.write(sector);
        }
        // Two reads, one write, and each change of direction restarts at the lowest sector.
        assert_eq!(bench.order(), [1000, 3000, 2000, 5000, 7000, 4000, 9000, 6000]);
    }

    #[test]
    fn v2_6_0_goes_on_while_requests_follow_on() {
        let mut bench = Bench::new("deadline@2.6.0");
        bench.write(500);
        // Adjacent, but merging would exceed the length limit: separate, yet in sequence.
        for n in 0..4 {
            bench.submit(crate::Bio::new(crate::Op::Read, 10_000 + 2560 * n, 2560));
        }
        let order = bench.order();
        assert_eq!(order, [10_000, 12_560, 15_120, 17_680, 500], "a batch though a write waits");
    }

    #[test]
    fn v2_6_24_batches_in_the_order_of_sectors() {
        let mut bench = Bench::new("deadline@2.6.24,fifo_batch=3");
        for sector in [500, 400, 300, 200, 100] {
            bench.read(sector);
        }
        for sector in [50, 60] {
            bench.write(sector * 10);
        }
        // 500 is the oldest; nothing above it; 400 is then the oldest, and so on: three times, as reads win twice.
        assert_eq!(bench.order(), [500, 400, 500, 600, 300, 200, 100]);
        let mut bench = Bench::new("deadline@2.6.24,fifo_batch=3");
        for sector in [100, 200, 300, 400] {
            bench.read(sector);
        }
        bench.write(50);
        assert_eq!(bench.serve_n(3), [100, 200, 300]);
        assert_eq!(bench.order(), [400, 50], "the batch is over, reads have won once");
    }

    #[test]
    fn an_expired_request_goes_first() {
        for version in ["deadline@2.6.0", "deadline@2.6.24"] {
            let mut bench = Bench::new(version);
            bench.read(9000);
            bench.after(499).read(100);
            if version == "deadline@2.6.0" {
                assert_eq!(bench.serve(), Some(100), "not expired yet");
                bench.read(50);
            }
            bench.after(1);
            assert_eq!(bench.serve(), Some(9000), "{version}");
            if version == "deadline@2.6.0" {
                assert_eq!(bench.counter("expired"), 1);
            }
        }
    }

    #[test]
    fn front_merges_can_be_switched_off_but_not_for_the_request_that_grew_last() {
        let mut bench = Bench::new("deadline@2.6.24,front_merges=0");
        bench.read(100);
        bench.read(500);
        bench.read(492);
        assert_eq!(bench.merged(), (0, 0));
        bench.read(92);
        assert_eq!(bench.merged(), (0, 1), "the hint is asked before the switch, as in the kernel");
    }

    #[test]
    fn a_request_that_joins_is_followed_by_its_successor() {
        let mut bench = Bench::new("deadline@2.6.24");
        for sector in [100, 200, 216, 300] {
            bench.read(sector);
        }
        assert_eq!(bench.serve(), Some(100));
        bench.read(208);
        assert_eq!(bench.queue.merges().joined, 1);
        assert_eq!(bench.order(), [200, 300]);
    }
}
