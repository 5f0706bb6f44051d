//! The requests of one process by sector and by age, with the best one for the head cached: the per-queue state of CFQ since 2.6.9 and of
//! BFQ.

use super::sorted::{self, BackSeek, Lane};
use crate::merge::MergeKind;
use crate::request::{Requests, Slot};
use crate::time::Nanos;

/// A lane and its best request.
#[derive(Clone, Debug, Default)]
pub(crate) struct BestLane {
    pub(crate) lane: Lane,
    best: Option<Slot>,
}

impl BestLane {
    /// The request nearest to the head at the time it was chosen.
    pub(crate) fn best(&self) -> Option<Slot> {
        self.best
    }

    /// Makes this request the next, whatever its sector.
    pub(crate) fn prefer(&mut self, slot: Slot) {
        self.best = Some(slot);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lane.is_empty()
    }

    pub(crate) fn insert(
        &mut self,
        requests: &mut Requests,
        slot: Slot,
        due: Nanos,
        head: u64,
        back: BackSeek,
    ) {
        self.lane.insert(requests, slot, due);
        self.best = sorted::nearer(requests, head, back, self.best, Some(slot));
    }

    pub(crate) fn remove(&mut self, requests: &mut Requests, slot: Slot, head: u64, back: BackSeek) {
        self.forget(requests, slot, head, back);
        self.lane.remove(requests, slot);
    }

    pub(crate) fn merged(
        &mut self,
        requests: &mut Requests,
        slot: Slot,
        kind: MergeKind,
        head: u64,
        back: BackSeek,
    ) {
        if kind == MergeKind::Front {
            self.forget(requests, slot, head, back);
            self.lane.merged(requests, slot, kind);
            self.best = sorted::nearer(requests, head, back, self.best, Some(slot));
        }
    }

    /// The same for growth that keeps the best request unchanged.
    pub(crate) fn merged_in_place(
        &mut self,
        requests: &mut Requests,
        slot: Slot,
        kind: MergeKind,
        head: u64,
        back: BackSeek,
    ) {
        self.lane.merged(requests, slot, kind);
        if kind == MergeKind::Front {
            self.best = sorted::nearer(requests, head, back, self.best, Some(slot));
        }
    }

    pub(crate) fn joined(
        &mut self,
        requests: &mut Requests,
        kept: Slot,
        gone: Slot,
        head: u64,
        back: BackSeek,
    ) {
        self.forget(requests, gone, head, back);
        self.lane.joined(requests, kept, gone);
    }

    pub(crate) fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        self.best = None;
        self.lane.drain(requests)
    }

    /// Called before a request leaves: one of its neighbours becomes the best.
    fn forget(&mut self, requests: &Requests, slot: Slot, head: u64, back: BackSeek) {
        if self.best == Some(slot) {
            self.best = sorted::next_of(&self.lane.tree, requests, slot, head, back);
        }
    }
}
