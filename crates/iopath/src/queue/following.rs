//! Making a queue follow a real kernel step by step: what the kernel merged, inserted and issued is done here too, whatever this queue
//! would have done. To compare, ask a clone first.

use super::{Queue, Submitted};
use crate::bio::Bio;
use crate::elevator::Elevator;
use crate::merge::MergeKind;
use crate::request::{Request, RequestId, Slot, Stage};
use crate::time::Nanos;

impl Queue {
    /// The device starts this request, whatever the elevator would have chosen: for replaying the trace of a real kernel step by step
    /// (clone the queue and ask the clone's [`Queue::next`] first, to compare). Returns false, without effect, if no such request waits.
    /// A plug of its task is flushed first, and the queue's plug opens.
    pub fn follow(&mut self, now: Nanos, id: RequestId) -> bool {
        if let Some(request) = self.requests.get(id).filter(|request| request.stage() == Stage::Plugged) {
            self.flush(now, request.task());
        }
        self.plugged_until = None;
        match self.requests.get(id).map(Request::stage) {
            None | Some(Stage::Free | Stage::Plugged | Stage::Started) => return false,
            Some(Stage::Waiting | Stage::Parked) => {}
        }
        match self.parked.take() {
            Some(parked) if parked == id.slot => {}
            other => {
                if let Some(parked) = other {
                    self.put_back(now, parked);
                }
                self.elevator.taken(now, &mut self.requests, id.slot);
            }
        }
        self.requests.set_stage(id.slot, Stage::Started);
        self.started += 1;
        true
    }

    /// Returns the parked request to the elevator: for a kernel that has not parked it, as a merge with it shows.
    pub fn unpark(&mut self, now: Nanos) {
        if let Some(parked) = self.parked.take() {
            self.put_back(now, parked);
        }
    }

    /// The request that was picked before the device had a tag for it.
    pub fn parked(&self) -> Option<RequestId> {
        self.parked.map(|slot| self.requests.id(slot))
    }

    /// Returns a parked request to the elevator as if it were new, because the real kernel parked another one.
    fn put_back(&mut self, now: Nanos, slot: Slot) {
        self.elevator.returned(now, &mut self.requests, slot);
        self.requests.set_stage(slot, Stage::Waiting);
        self.requests[slot].private = Default::default();
        self.elevator.insert(now, &mut self.requests, slot);
    }

    /// Takes a bio as a separate request, whatever it touches.
    pub fn submit_apart(&mut self, now: Nanos, bio: Bio) -> Submitted {
        if !self.takes(&bio) {
            return Submitted::TooLarge;
        }
        match self.make(now, bio) {
            Some(slot) => {
                self.enter(now, bio.task(), slot, false);
                Submitted::Queued(self.requests.id(slot))
            }
            None => Submitted::Full,
        }
    }

    /// Merges a bio into this request, whatever the elevator would decide. If that is impossible (no such request, or it would be too
    /// long), the bio becomes a separate request.
    pub fn submit_to(
        &mut self,
        now: Nanos,
        bio: Bio,
        request: Option<RequestId>,
        kind: MergeKind,
    ) -> Submitted {
        let stage = request.and_then(|id| self.requests.get(id)).map(Request::stage);
        let merged = match (request, stage) {
            (Some(id), Some(Stage::Plugged)) => self.grow_in_plug(id.slot, &bio, kind),
            (Some(id), Some(Stage::Waiting)) => self.grow(now, id.slot, &bio, kind),
            _ => None,
        };
        merged.unwrap_or_else(|| self.submit_apart(now, bio))
    }

    /// A request leaves its task's plug for the elevator before the others of that plug. `joins`: it may become the tail of another.
    pub fn insert_plugged(&mut self, now: Nanos, id: RequestId, joins: bool) {
        let plugged = self.requests.get(id).filter(|request| request.stage() == Stage::Plugged);
        if let Some(task) = plugged.map(Request::task) {
            self.plugs.remove(&mut self.requests, task, id.slot);
            self.requests.set_stage(id.slot, Stage::Waiting);
            self.insert(now, id.slot, joins);
        }
    }

    /// Records that a request has as many segments as the device takes. Returns false, without effect, if that was known or the request
    /// is gone.
    pub fn fill(&mut self, id: RequestId) -> bool {
        let most = self.rules.limits.max_segments;
        let room = self.requests.get(id).is_some_and(|request| request.segments() < most);
        if room {
            self.requests.fill(id.slot, most);
        }
        room
    }
}
