//! The bios of requests: each request has a chain of them in sector order, in a common slab. A bio's length and segments are added to its
//! request when the bio is added.

use super::{Request, Requests};
use crate::bio::{Bio, PageSpan};
use crate::limits::Limits;
use crate::slot::Slot;

/// A bio in its chain.
#[derive(Clone, Debug)]
pub(super) struct Node {
    bio: Bio,
    next: Option<Slot>,
}

impl Requests {
    /// The bios of a request in sector order.
    pub fn bios(&self, slot: Slot) -> impl Iterator<Item = &Bio> {
        let mut at = self[slot].first_bio;
        std::iter::from_fn(move || {
            let node = &self.nodes[at?.index()];
            at = node.next;
            Some(&node.bio)
        })
    }

    /// Adds a bio after the last one of a request.
    pub(crate) fn append(&mut self, slot: Slot, bio: Bio, limits: &Limits) {
        let node = self.node(bio);
        if let Some(last) = self[slot].last_bio {
            self.nodes[last.index()].next = Some(node);
        }
        let request = &mut self[slot];
        request.last_bio = Some(node);
        request.sectors += bio.sectors();
        request.span = request.span.merge(bio.span(), limits);
        request.bios += 1;
    }

    /// Adds a bio before the first one of a request.
    pub(crate) fn prepend(&mut self, slot: Slot, bio: Bio, limits: &Limits) {
        let node = self.node(bio);
        self.nodes[node.index()].next = self[slot].first_bio;
        let request = &mut self[slot];
        request.first_bio = Some(node);
        request.sector = bio.sector();
        request.sectors += bio.sectors();
        request.span = bio.span().merge(request.span, limits);
        request.bios += 1;
    }

    /// Sets the number of segments of a request, at unknown addresses.
    pub(crate) fn fill(&mut self, slot: Slot, segments: u16) {
        self[slot].span = PageSpan::scattered(segments);
    }

    /// Physical segments of a request followed by a bio, or of the bio followed by the request.
    pub(crate) fn span_with(&self, slot: Slot, bio: &Bio, behind: bool, limits: &Limits) -> PageSpan {
        let (span, more) = (self[slot].span, bio.span());
        if behind { span.merge(more, limits) } else { more.merge(span, limits) }
    }

    /// Physical segments of one request followed by another.
    pub(crate) fn span_of_both(&self, first: Slot, second: Slot, limits: &Limits) -> PageSpan {
        self[first].span.merge(self[second].span, limits)
    }

    /// Appends the bios of `gone` to those of `kept` and frees the slot of `gone`. Called by elevators that gather requests on dispatch
    /// (`kept` then holds the pool slots of both), after removing `gone` from their lists.
    pub fn gather(&mut self, kept: Slot, gone: Slot, limits: &Limits) {
        let places = self[gone].places;
        self.join(kept, gone, limits);
        self[kept].places += places;
    }

    pub(crate) fn join(&mut self, kept: Slot, gone: Slot, limits: &Limits) {
        debug_assert_ne!(kept, gone, "a request cannot join itself");
        let Request { first_bio, last_bio, sectors, span, bios, queued_at, .. } = self[gone];
        if let Some(last) = self[kept].last_bio {
            self.nodes[last.index()].next = first_bio;
        }
        let request = &mut self[kept];
        request.last_bio = last_bio;
        request.sectors += sectors;
        request.span = request.span.merge(span, limits);
        request.bios += bios;
        request.queued_at = request.queued_at.min(queued_at);
        self.release(gone);
    }

    /// Passes the bios of a request to `each` in sector order and frees its slot.
    pub(crate) fn finish(&mut self, slot: Slot, mut each: impl FnMut(Bio)) {
        let mut at = self[slot].first_bio;
        while let Some(node) = at {
            let Node { bio, next } = self.nodes[node.index()];
            each(bio);
            self.nodes[node.index()].next = self.free_node;
            self.free_node = Some(node);
            at = next;
        }
        self.release(slot);
    }

    pub(super) fn node(&mut self, bio: Bio) -> Slot {
        if let Some(node) = self.free_node {
            self.free_node = self.nodes[node.index()].next;
            self.nodes[node.index()] = Node { bio, next: None };
            return node;
        }
        self.nodes.push(Node { bio, next: None });
        Slot::of(self.nodes.len() - 1)
    }
}
