//! `noop` of 2.6: a list, served in the order of arrival, with merging and no sorting. A bio is merged with the request that grew last; to
//! 2.6.11 else, scanning from the tail, with the first that it touches; later with one that ends where it begins.

use super::{Elevator, Order, Pick};
use crate::bio::Bio;
use crate::limits::Limits;
use crate::list::List;
use crate::merge::{Candidate, MergeKind, touches};
use crate::request::{Requests, Slot};
use crate::time::Nanos;

/// What a bio is held against beside the request that grew last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// 2.6.0 to 2.6.11: every request from the tail on, at both ends.
    Scan,
    /// Later: requests that end where it begins (the block layer's hash of ends).
    Ends,
}

/// First come, first served, with merging.
#[derive(Clone, Debug)]
pub struct Noop {
    list: List,
    search: Search,
}

impl Noop {
    /// An empty one.
    #[must_use]
    pub fn new(search: Search) -> Self {
        Self { list: List::default(), search }
    }
}

impl Elevator for Noop {
    fn name(&self) -> &'static str {
        match self.search {
            Search::Scan => "noop@2.6.0",
            Search::Ends => "noop@2.6.12",
        }
    }

    fn touched(&self, requests: &Requests, bio: &Bio) -> Candidate {
        let wanted = |kind: &MergeKind| self.search == Search::Scan || *kind == MergeKind::Back;
        let touched =
            |slot| touches(requests, slot, bio).filter(wanted).map(|kind| Candidate::of(slot, kind));
        self.list.iter_back(requests).find_map(touched).unwrap_or(Candidate::None)
    }

    fn order(&self, _requests: &Requests, _slot: Slot) -> Order<'_> {
        Order::List(&self.list)
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
    use crate::elevator::testing::Bench;

    #[test]
    fn later_kernels_find_front_merges_with_the_last_request_only() {
        for (name, order) in [("noop@2.6.6", vec![100, 292]), ("noop@3.10", vec![100, 300, 292])] {
            let mut bench = Bench::new(name);
            bench.read(100);
            bench.read(300);
            bench.read(108);
            // 100 has grown last; that 292 ends where 300 begins is seen by those who scan.
            bench.read(292);
            assert_eq!(bench.order(), order, "{name}");
        }
    }
}
