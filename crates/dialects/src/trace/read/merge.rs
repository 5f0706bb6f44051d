//! Merges the heads of several streams in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub(super) struct Heads<T> {
    heap: BinaryHeap<Reverse<Head<T>>>,
}

struct Head<T> {
    time_ns: u64,
    stream: usize,
    what: T,
}

impl<T> Default for Heads<T> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new() }
    }
}

impl<T> PartialEq for Head<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Head<T> {}

impl<T> PartialOrd for Head<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Head<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.time_ns, self.stream).cmp(&(other.time_ns, other.stream))
    }
}

impl<T> Heads<T> {
    pub(super) fn put(&mut self, time_ns: u64, stream: usize, what: T) {
        self.heap.push(Reverse(Head { time_ns, stream, what }));
    }

    /// Removes the earliest head. Returns it with its stream, whose next item must be inserted.
    pub(super) fn take(&mut self) -> Option<(usize, T)> {
        self.heap.pop().map(|Reverse(head)| (head.stream, head.what))
    }
}
