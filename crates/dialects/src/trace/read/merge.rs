//! Merges the heads of several streams in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub(super) struct Heads<T> {
    heap: BinaryHeap<Reverse<NextEvent<T>>>,
}

struct NextEvent<T> {
    time_ns: u64,
    stream: usize,
    what: T,
}

impl<T> Default for Heads<T> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new() }
    }
}

impl<T> PartialEq for NextEvent<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for NextEvent<T> {}

impl<T> PartialOrd for NextEvent<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for NextEvent<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.time_ns, self.stream).cmp(&(other.time_ns, other.stream))
    }
}

impl<T> Heads<T> {
    pub(super) fn put(&mut self, time_ns: u64, stream: usize, what: T) {
        self.heap.push(Reverse(NextEvent { time_ns, stream, what }));
    }

    /// Removes the earliest head. Returns it with its stream, whose next item must be inserted.
    pub(super) fn take(&mut self) -> Option<(usize, T)> {
        self.heap.pop().map(|Reverse(head)| (head.stream, head.what))
    }
}
