//! The path of a bio into a queue: merged in its task's plug, merged with a request of the elevator, or a new request that goes into the
//! plug or to the elevator.

use super::{PlugRule, Queue, Submitted};
use crate::bio::Bio;
use crate::elevator::Elevator;
use crate::merge::{self, MergeKind};
use crate::request::{RequestId, Slot, Stage};
use crate::task::TaskId;
use crate::time::Nanos;

impl Queue {
    /// Submits a bio.
    pub fn submit(&mut self, now: Nanos, bio: Bio) -> Submitted {
        if !self.takes(&bio) {
            return Submitted::TooLarge;
        }
        if let Some(merged) = self.merge_in_plug(&bio).or_else(|| self.merge_in_elevator(now, &bio)) {
            return merged;
        }
        let Some(slot) = self.make(now, bio) else { return Submitted::Full };
        match self.enter(now, bio.task(), slot, true) {
            kept if kept == slot => Submitted::Queued(self.requests.id(slot)),
            // Joined at once: the request tried first could not take it, but the one before it can.
            kept => Submitted::Merged { request: self.requests.id(kept), kind: MergeKind::Back },
        }
    }

    /// Whether the device takes a bio in one request.
    pub(super) fn takes(&self, bio: &Bio) -> bool {
        bio.sectors() > 0 && self.rules.limits.allow(u64::from(bio.sectors()), bio.span().segments())
    }

    /// A new request for a bio, if there is room for it.
    pub(super) fn make(&mut self, now: Nanos, bio: Bio) -> Option<Slot> {
        let may = self.elevator.may_queue(now, &self.requests, &bio, self.pool.held());
        if !self.pool.take(now, bio.op(), bio.task(), may) {
            self.flush(now, bio.task());
            self.unplug(now);
            return None;
        }
        let slot = self.requests.make(now, bio);
        if slot.is_none() {
            self.pool.give_back(bio.op(), 1);
        }
        slot
    }

    /// A task begins to gather its requests. No effect where the queue has the plug.
    pub fn start_plug(&mut self, task: TaskId) {
        if matches!(self.rules.plug, PlugRule::Task { .. }) {
            self.plugs.start(task);
        }
    }

    /// A task stops gathering, or is about to sleep: its requests go to the elevator.
    pub fn finish_plug(&mut self, now: Nanos, task: TaskId) {
        self.flush(now, task);
        self.plugs.stop(task);
    }

    fn merge_in_plug(&mut self, bio: &Bio) -> Option<Submitted> {
        let slot = self.plugs.open(bio.task())?.list.last()?;
        let kind = merge::touches(&self.requests, slot, bio)?;
        self.grow_in_plug(slot, bio, kind)
    }

    /// Adds a bio to a request of a plug.
    pub(super) fn grow_in_plug(&mut self, slot: Slot, bio: &Bio, kind: MergeKind) -> Option<Submitted> {
        self.add(slot, bio, kind)?;
        match kind {
            MergeKind::Back => self.counts.plug_back += 1,
            MergeKind::Front => self.counts.plug_front += 1,
        }
        Some(Submitted::Merged { request: self.requests.id(slot), kind })
    }

    fn merge_in_elevator(&mut self, now: Nanos, bio: &Bio) -> Option<Submitted> {
        if self.last_merge_is_like(bio) {
            self.elevator.comes(now, &self.requests, bio);
        }
        let (slot, kind) = match self.last_merge_touches(bio) {
            Some(hint) => hint,
            None => {
                let limits = &self.rules.limits;
                self.elevator.merge_candidate(&self.requests, limits, bio).parts()?
            }
        };
        if !self.elevator.allows(&self.requests, slot, bio) {
            return None;
        }
        debug_assert_eq!(
            merge::touches(&self.requests, slot, bio),
            Some(kind),
            "a candidate touches the bio"
        );
        self.grow(now, slot, bio, kind)
    }

    /// Adds a bio to a request of the elevator.
    pub(super) fn grow(&mut self, now: Nanos, slot: Slot, bio: &Bio, kind: MergeKind) -> Option<Submitted> {
        self.add(slot, bio, kind)?;
        match kind {
            MergeKind::Back => self.counts.back += 1,
            MergeKind::Front => self.counts.front += 1,
        }
        self.elevator.merged(now, &mut self.requests, slot, kind);
        let kept = self.join_with_neighbour(now, slot, kind).unwrap_or(slot);
        let request = self.requests.id(kept);
        self.last_merge = Some(request);
        Some(Submitted::Merged { request, kind })
    }

    /// Whether the last-merged request matches the bio's operation and sync class: if so, the kernel asks the elevator whether the two
    /// belong together before it compares their sectors.
    fn last_merge_is_like(&self, bio: &Bio) -> bool {
        let last = self.last_merge.and_then(|id| self.requests.get(id));
        last.is_some_and(|request| {
            request.stage() == Stage::Waiting
                && request.op() == bio.op()
                && request.is_sync() == bio.is_sync()
        })
    }

    /// The last-merged request, if the bio touches it too. Kernels since 2.6 look there first.
    fn last_merge_touches(&self, bio: &Bio) -> Option<(Slot, MergeKind)> {
        let hint: RequestId = self.last_merge.filter(|_| self.elevator.uses_last_merge())?;
        self.requests.get(hint).filter(|request| request.stage() == Stage::Waiting)?;
        let kind = merge::touches(&self.requests, hint.slot, bio)?;
        self.elevator.allows(&self.requests, hint.slot, bio).then_some((hint.slot, kind))
    }

    /// Adds a bio to a request if the limits allow it.
    fn add(&mut self, slot: Slot, bio: &Bio, kind: MergeKind) -> Option<()> {
        let limits = &self.rules.limits;
        if !merge::fits(&self.requests, slot, bio, kind, limits) {
            self.counts.refused += 1;
            return None;
        }
        match kind {
            MergeKind::Back => self.requests.append(slot, *bio, limits),
            MergeKind::Front => self.requests.prepend(slot, *bio, limits),
        }
        Some(())
    }

    /// A request has grown at one end: joins it with its neighbour there if they now touch. Returns the remaining request.
    fn join_with_neighbour(&mut self, now: Nanos, slot: Slot, kind: MergeKind) -> Option<Slot> {
        let other = self.elevator.neighbour(&self.requests, slot, kind)?;
        let (kept, gone) = match kind {
            MergeKind::Back => (slot, other),
            MergeKind::Front => (other, slot),
        };
        self.join(now, kept, gone).then_some(kept)
    }

    fn join(&mut self, now: Nanos, kept: Slot, gone: Slot) -> bool {
        if !merge::may_join(&self.requests, kept, gone, &self.rules.limits) {
            return false;
        }
        self.elevator.joined(now, &mut self.requests, kept, gone);
        self.join_known(kept, gone);
        true
    }

    /// A request that the elevator no longer has, or never had, becomes the tail of another.
    fn join_known(&mut self, kept: Slot, gone: Slot) {
        let (op, places) = (self.requests[gone].op(), u32::from(self.requests[gone].places()));
        self.requests.join(kept, gone, &self.rules.limits);
        self.pool.give_back(op, places);
        self.counts.joined += 1;
    }

    /// Puts a new request into its task's plug or the elevator, where it may be joined with others if `joins` is set. Returns the request
    /// that it then is, or is part of.
    pub(super) fn enter(&mut self, now: Nanos, task: TaskId, slot: Slot, joins: bool) -> Slot {
        let PlugRule::Task { requests, sectors } = self.rules.plug else {
            return self.enter_plugged_queue(now, slot, joins);
        };
        let Some(plug) = self.plugs.open(task) else {
            return self.insert(now, slot, joins);
        };
        let long = plug.list.last().is_some_and(|last| self.requests[last].sectors() >= sectors);
        if long || plug.list.len() >= requests as usize {
            self.flush(now, task);
        }
        self.requests.set_stage(slot, Stage::Plugged);
        self.plugs.push(&mut self.requests, task, slot);
        slot
    }

    fn enter_plugged_queue(&mut self, now: Nanos, slot: Slot, joins: bool) -> Slot {
        let PlugRule::Queue { requests, after } = self.rules.plug else {
            return self.insert(now, slot, joins);
        };
        // A driver that takes one request at a time leaves it on the queue until it completes: the queue is not empty then.
        let served = self.started > 0 && !self.rules.parks;
        if self.elevator.waiting() == 0 && self.parked.is_none() && !served {
            self.plugged_until = Some(now + after);
        }
        let kept = self.insert(now, slot, joins);
        if requests > 0 && self.waiting() >= requests as usize {
            self.plugged_until = None;
        }
        kept
    }

    /// The requests of a task's plug go to the elevator, in creation order.
    pub(super) fn flush(&mut self, now: Nanos, task: TaskId) {
        while let Some(slot) = self.plugs.pop(&mut self.requests, task) {
            self.requests.set_stage(slot, Stage::Waiting);
            self.insert(now, slot, true);
        }
    }

    pub(super) fn insert(&mut self, now: Nanos, slot: Slot, joins: bool) -> Slot {
        if joins
            && let Some(before) = self.elevator.joins_before(&self.requests, slot)
            && merge::may_join(&self.requests, before, slot, &self.rules.limits)
        {
            self.join_known(before, slot);
            self.last_merge = Some(self.requests.id(before));
            return before;
        }
        self.elevator.insert(now, &mut self.requests, slot);
        if joins
            && self.elevator.joins_on_insert()
            && let Some(before) = self.elevator.neighbour(&self.requests, slot, MergeKind::Front)
            && self.join(now, before, slot)
        {
            self.last_merge = Some(self.requests.id(before));
            return before;
        }
        let stale =
            self.last_merge.and_then(|id| self.requests.get(id)).is_none_or(|r| r.stage() != Stage::Waiting);
        if stale {
            self.last_merge = Some(self.requests.id(slot));
        }
        slot
    }
}
