//! Elevators that do not sort: `noop` of 2.6 in two generations, and `none` of today's block layer. A list served in arrival order; they
//! differ in which waiting request a bio is merged with.

use super::{Elevator, Order, Pick};
use crate::bio::Bio;
use crate::limits::Limits;
use crate::list::List;
use crate::merge::{Candidate, MergeKind, touches};
use crate::request::{Requests, Slot};
use crate::time::Nanos;

/// The requests a bio is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// `noop`, 2.6.0 to 2.6.11: the last-merged request, then every one from the tail on, at both ends.
    Scan,
    /// Later `noop`: the last-merged request, then those that end where the bio begins (the block layer's hash of ends).
    Ends,
    /// `none`: the last eight of the same CPU, newest first. Neighbours are not joined.
    LastOfCpu,
}

/// Number of requests of a software queue that are examined, newest first.
const LOOKED_AT: usize = 8;

/// The first of a list's last eight requests, from its end, that a bio of the same CPU touches.
pub(super) fn among_the_last(list: &List, requests: &Requests, bio: &Bio) -> Candidate {
    let own = list.iter_back(requests).filter(|&slot| requests[slot].cpu() == bio.cpu());
    let touched = |slot| touches(requests, slot, bio).map(|kind| Candidate::of(slot, kind));
    own.take(LOOKED_AT).find_map(touched).unwrap_or(Candidate::None)
}

/// First come, first served, with merging.
#[derive(Clone, Debug)]
pub struct Fifo {
    list: List,
    search: Search,
}

impl Fifo {
    /// An empty elevator.
    #[must_use]
    pub fn new(search: Search) -> Self {
        Self { list: List::default(), search }
    }
}

impl Elevator for Fifo {
    fn name(&self) -> &'static str {
        match self.search {
            Search::Scan => "noop@2.6.0",
            Search::Ends => "noop@2.6.12",
            Search::LastOfCpu => "none@4.11",
        }
    }

    fn touched(&self, requests: &Requests, bio: &Bio) -> Candidate {
        if self.search == Search::LastOfCpu {
            return among_the_last(&self.list, requests, bio);
        }
        let wanted = |kind: &MergeKind| self.search == Search::Scan || *kind == MergeKind::Back;
        let touched =
            |slot| touches(requests, slot, bio).filter(wanted).map(|kind| Candidate::of(slot, kind));
        self.list.iter_back(requests).find_map(touched).unwrap_or(Candidate::None)
    }

    fn uses_last_merge(&self) -> bool {
        self.search != Search::LastOfCpu
    }

    fn order(&self, _requests: &Requests, _slot: Slot) -> Order<'_> {
        if self.search == Search::LastOfCpu { Order::None } else { Order::List(&self.list) }
    }

    fn joined(&mut self, _now: Nanos, requests: &mut Requests, _kept: Slot, gone: Slot) {
        self.list.remove(requests, gone);
    }

    fn insert(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        self.list.push_back(requests, slot);
    }

    fn next(&mut self, _now: Nanos, requests: &mut Requests, _limits: &Limits, _free_tags: u32) -> Pick {
        self.list.pop_front(requests).map_or(Pick::Nothing, Pick::Request)
    }

    fn taken(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        self.list.remove(requests, slot);
    }

    fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        self.list.pop_front(requests)
    }

    fn waiting(&self) -> usize {
        self.list.len()
    }

    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot)) {
        self.list.iter(requests).for_each(each);
    }
}

#[cfg(test)]
mod tests {
    use crate::bio::{Bio, Op};
    use crate::elevator::testing::Bench;

    #[test]
    fn later_kernels_find_front_merges_with_the_last_request_only() {
        for (name, order) in [("noop@2.6.6", vec![100, 292]), ("noop@3.10", vec![100, 300, 292])] {
            let mut bench = Bench::new(name);
            bench.read(100);
            bench.read(300);
            bench.read(108);
            // 100 has grown last; only the scan sees that 292 ends where 300 begins.
            bench.read(292);
            assert_eq!(bench.order(), order, "{name}");
        }
    }

    #[test]
    fn the_order_of_arrival_is_kept_and_neighbours_are_not_joined() {
        let mut bench = Bench::new("none");
        for sector in [500, 100, 900, 116, 108] {
            bench.read(sector);
        }
        assert_eq!(bench.merged(), (0, 1));
        assert_eq!(bench.order(), [500, 100, 900, 108]);
    }

    #[test]
    fn only_the_last_eight_of_the_same_cpu_are_looked_at() {
        let mut bench = Bench::new("none");
        for n in 0..9 {
            bench.read(1000 * n);
        }
        bench.read(8);
        assert_eq!(bench.merged(), (0, 0));
        bench.read(2008);
        assert_eq!(bench.merged(), (1, 0));
        bench.submit(Bio::new(Op::Read, 2016, 8).on(1));
        assert_eq!(bench.merged(), (1, 0));
    }
}
