//! Arrivals that wait for completions: a window of at most the next 8192 of the trace, each with what it waits for, and as many past
//! ones. Anything further back is long done; an arrival that depends on it keeps the replay's current offset from the trace.

use super::Scale;
use super::arrival::Arrival;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const PLACES: u64 = 1 << 14;
/// Arrivals from the oldest in flight to the newest read.
const SPAN: u64 = PLACES / 2;
const NONE: u64 = u64::MAX;

#[derive(Clone, Copy)]
struct RingSlot {
    number: u64,
    done_at: Option<u64>,
    arrival: Option<Arrival>,
    /// The first arrival that waits for this one, and the next that waits for the same arrival as this one.
    first: u64,
    next: u64,
}

const EMPTY: RingSlot = RingSlot { number: NONE, done_at: None, arrival: None, first: NONE, next: NONE };

pub(super) struct DependencyRing {
    places: Vec<RingSlot>,
    oldest: u64,
    next: u64,
    ready: BinaryHeap<Reverse<(u64, u64)>>,
    scale: Scale,
    /// How far the replay is behind the trace, and ahead of it, ns.
    behind: (u64, u64),
}

impl DependencyRing {
    pub fn new(scale: Scale) -> Self {
        Self {
            places: vec![EMPTY; PLACES as usize],
            oldest: 0,
            next: 0,
            ready: BinaryHeap::new(),
            scale,
            behind: (0, 0),
        }
    }

    fn at(&mut self, number: u64) -> &mut RingSlot {
        &mut self.places[(number % PLACES) as usize]
    }

    pub fn has_room(&self) -> bool {
        self.next - self.oldest < SPAN
    }

    /// Adds the next arrival of the trace.
    pub fn put(&mut self, arrival: Arrival) {
        let number = self.next;
        self.next += 1;
        *self.at(number) = RingSlot { number, arrival: Some(arrival), ..EMPTY };
        let known = arrival.after.filter(|after| self.at(after.number).number == after.number);
        let Some(after) = known else {
            let (late, early) = self.behind;
            let at = self.scale.of(arrival.time_ns).saturating_add(late).saturating_sub(early);
            return self.ready.push(Reverse((at, number)));
        };
        let before = self.at(after.number);
        match before.done_at {
            Some(at) => {
                let at = at.saturating_add(self.scale.of(after.gap_ns));
                self.ready.push(Reverse((at, number)));
            }
            None => {
                let others = std::mem::replace(&mut before.first, number);
                self.at(number).next = others;
            }
        }
    }

    pub fn due(&self) -> Option<u64> {
        self.ready.peek().map(|Reverse((at, _))| *at)
    }

    pub fn take(&mut self, now: u64) -> Option<(u64, Arrival)> {
        let Reverse((_, number)) = self.ready.pop()?;
        let arrival = self.at(number).arrival.take()?;
        let planned = self.scale.of(arrival.time_ns);
        self.behind = (now.saturating_sub(planned), planned.saturating_sub(now));
        Some((number, arrival))
    }

    /// Completes an arrival: those that waited for it get their times.
    pub fn done(&mut self, number: u64, now: u64) {
        let place = self.at(number);
        place.done_at = Some(now);
        let mut waits = std::mem::replace(&mut place.first, NONE);
        while waits != NONE {
            let scale = self.scale;
            let place = self.at(waits);
            let gap = place.arrival.and_then(|a| a.after).map_or(0, |after| after.gap_ns);
            let next = place.next;
            self.ready.push(Reverse((now.saturating_add(scale.of(gap)), waits)));
            waits = next;
        }
        while self.oldest < self.next && self.at(self.oldest).done_at.is_some() {
            self.oldest += 1;
        }
    }
}
