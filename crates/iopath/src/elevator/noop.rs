//! `noop` of 2.6: a list. A bio is merged with the request that grew last or, scanning from the tail, with the first that it touches;
//! everything else is served in the order of arrival. No sorting.

use super::{Elevator, Pick};
use crate::bio::Bio;
use crate::limits::Limits;
use crate::list::List;
use crate::merge::{Candidate, MergeKind, touches};
use crate::request::{Requests, Slot};
use crate::time::Nanos;

/// First come, first served, with merging.
#[derive(Clone, Debug, Default)]
pub struct Noop {
    list: List,
}

impl Elevator for Noop {
    fn name(&self) -> &'static str {
        "noop@2.6"
    }

    fn merge_candidate(
        &mut self,
        _now: Nanos,
        requests: &Requests,
        _limits: &Limits,
        bio: &Bio,
    ) -> Candidate {
        let touched = |slot| touches(requests, slot, bio).map(|kind| Candidate::of(slot, kind));
        self.list.iter_back(requests).find_map(touched).unwrap_or(Candidate::None)
    }

    fn neighbour(&self, requests: &Requests, slot: Slot, kind: MergeKind) -> Option<Slot> {
        match kind {
            MergeKind::Back => self.list.after(requests, slot),
            MergeKind::Front => self.list.before(requests, slot),
        }
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

    fn completed(&mut self, _now: Nanos, _requests: &mut Requests, _slot: Slot) {}

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
