//! Decides which arrival is submitted next, and when, in the three modes. Arrivals come one at a time from the caller's reader; the
//! engine polls, takes, and reports completions.

use super::arrival::Arrival;
use super::ring::Ring;
use super::{Mode, Scale};

/// Arrivals waiting to be submitted.
pub(super) struct Feed<S> {
    source: S,
    ended: bool,
    way: Way,
}

enum Way {
    Open { head: Option<Arrival>, scale: Scale, next: u64 },
    Closed { head: Option<Arrival>, depth: u32, next: u64 },
    Dependent(Box<Ring>),
}

impl<E, S: FnMut() -> Result<Option<Arrival>, E>> Feed<S> {
    pub fn new(mode: Mode, source: S) -> Self {
        let way = match mode {
            Mode::Open(scale) => Way::Open { head: None, scale, next: 0 },
            Mode::Closed(depth) => Way::Closed { head: None, depth: depth.get(), next: 0 },
            Mode::Dependent(scale) => Way::Dependent(Box::new(Ring::new(scale))),
        };
        Self { source, ended: false, way }
    }

    /// Reads the next arrival if needed.
    #[inline]
    pub fn fill(&mut self) -> Result<(), E> {
        while !self.ended {
            match &mut self.way {
                Way::Open { head, .. } | Way::Closed { head, .. } => {
                    if head.is_some() {
                        break;
                    }
                    *head = (self.source)()?;
                    self.ended = head.is_none();
                }
                Way::Dependent(ring) => {
                    if !ring.has_room() {
                        break;
                    }
                    match (self.source)()? {
                        Some(arrival) => ring.put(arrival),
                        None => self.ended = true,
                    }
                }
            }
        }
        Ok(())
    }

    /// Time of the next arrival, if known; `under_way` are in flight. A closed replay keeps no schedule: it returns `now`.
    #[inline]
    pub fn due(&self, now: u64, under_way: u32) -> Option<u64> {
        match &self.way {
            Way::Open { head, scale, .. } => head.as_ref().map(|a| scale.of(a.time_ns)),
            Way::Closed { head, depth, .. } => head.as_ref().filter(|_| under_way < *depth).map(|_| now),
            Way::Dependent(ring) => ring.due(),
        }
    }

    /// Takes the next arrival, with its number in the trace.
    #[inline]
    pub fn take(&mut self, now: u64) -> Option<(u64, Arrival)> {
        match &mut self.way {
            Way::Open { head, next, .. } | Way::Closed { head, next, .. } => {
                let arrival = head.take()?;
                *next += 1;
                Some((*next - 1, arrival))
            }
            Way::Dependent(ring) => ring.take(now),
        }
    }

    /// Completes an arrival.
    #[inline]
    pub fn done(&mut self, number: u64, now: u64) {
        if let Way::Dependent(ring) = &mut self.way {
            ring.done(number, now);
        }
    }
}
