//! A doubly linked list of requests with its links inside the requests: FIFOs and dispatch lists without allocation. A request is on one
//! list at a time.

use crate::request::{Requests, Slot};

/// The links in a request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ListLinks {
    pub(crate) next: Option<Slot>,
    prev: Option<Slot>,
}

/// Head, tail and length of a list.
#[derive(Clone, Debug, Default)]
pub struct List {
    head: Option<Slot>,
    tail: Option<Slot>,
    len: usize,
}

impl List {
    /// The first request.
    pub const fn first(&self) -> Option<Slot> {
        self.head
    }

    /// The last request.
    pub const fn last(&self) -> Option<Slot> {
        self.tail
    }

    /// Number of requests.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the list is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The request after a member.
    pub fn after(&self, requests: &Requests, member: Slot) -> Option<Slot> {
        requests[member].list.next
    }

    /// The request before a member.
    pub fn before(&self, requests: &Requests, member: Slot) -> Option<Slot> {
        requests[member].list.prev
    }

    /// Appends a request.
    pub fn push_back(&mut self, requests: &mut Requests, slot: Slot) {
        self.link(requests, self.tail, slot, None);
    }

    /// Prepends a request.
    pub fn push_front(&mut self, requests: &mut Requests, slot: Slot) {
        self.link(requests, None, slot, self.head);
    }

    /// Inserts a request after a member.
    pub fn insert_after(&mut self, requests: &mut Requests, member: Slot, slot: Slot) {
        let next = requests[member].list.next;
        self.link(requests, Some(member), slot, next);
    }

    /// Inserts a request before a member.
    pub fn insert_before(&mut self, requests: &mut Requests, member: Slot, slot: Slot) {
        let prev = requests[member].list.prev;
        self.link(requests, prev, slot, Some(member));
    }

    fn link(&mut self, requests: &mut Requests, prev: Option<Slot>, slot: Slot, next: Option<Slot>) {
        requests[slot].list = ListLinks { next, prev };
        match prev {
            Some(prev) => requests[prev].list.next = Some(slot),
            None => self.head = Some(slot),
        }
        match next {
            Some(next) => requests[next].list.prev = Some(slot),
            None => self.tail = Some(slot),
        }
        self.len += 1;
    }

    /// Removes a member.
    pub fn remove(&mut self, requests: &mut Requests, member: Slot) {
        let ListLinks { next, prev } = std::mem::take(&mut requests[member].list);
        match prev {
            Some(prev) => requests[prev].list.next = next,
            None => {
                debug_assert_eq!(self.head, Some(member), "a request is taken out of the list that it is on");
                self.head = next;
            }
        }
        match next {
            Some(next) => requests[next].list.prev = prev,
            None => self.tail = prev,
        }
        self.len -= 1;
    }

    /// Removes and returns the first request.
    pub fn pop_front(&mut self, requests: &mut Requests) -> Option<Slot> {
        let first = self.head?;
        self.remove(requests, first);
        Some(first)
    }

    /// Iterates from first to last.
    pub fn iter<'a>(&self, requests: &'a Requests) -> impl Iterator<Item = Slot> + use<'a> {
        let mut at = self.head;
        std::iter::from_fn(move || {
            let slot = at?;
            at = requests[slot].list.next;
            Some(slot)
        })
    }

    /// Iterates from last to first.
    pub fn iter_back<'a>(&self, requests: &'a Requests) -> impl Iterator<Item = Slot> + use<'a> {
        let mut at = self.tail;
        std::iter::from_fn(move || {
            let slot = at?;
            at = requests[slot].list.prev;
            Some(slot)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bio::{Bio, Op};
    use crate::time::Nanos;

    #[test]
    fn members_stay_in_order_wherever_they_enter_and_leave() {
        let mut requests = Requests::new(8);
        let slots: Vec<Slot> =
            (0..5).map(|n| requests.make(Nanos::ZERO, Bio::new(Op::Read, n, 1)).unwrap()).collect();
        let mut list = List::default();
        list.push_back(&mut requests, slots[2]);
        list.push_front(&mut requests, slots[0]);
        list.insert_after(&mut requests, slots[0], slots[1]);
        list.push_back(&mut requests, slots[4]);
        list.insert_before(&mut requests, slots[4], slots[3]);
        assert_eq!(list.iter(&requests).collect::<Vec<_>>(), slots);
        let mut back: Vec<Slot> = list.iter_back(&requests).collect();
        back.reverse();
        assert_eq!(back, slots);
        list.remove(&mut requests, slots[2]);
        list.remove(&mut requests, slots[4]);
        assert_eq!(list.pop_front(&mut requests), Some(slots[0]));
        assert_eq!(list.iter(&requests).collect::<Vec<_>>(), [slots[1], slots[3]]);
        assert_eq!((list.len(), list.first(), list.last()), (2, Some(slots[1]), Some(slots[3])));
        assert_eq!(list.after(&requests, slots[1]), Some(slots[3]));
        assert_eq!(list.before(&requests, slots[1]), None);
        list.remove(&mut requests, slots[1]);
        list.remove(&mut requests, slots[3]);
        assert!(list.is_empty() && list.first().is_none() && list.last().is_none());
    }
}
