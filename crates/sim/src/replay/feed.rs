//! Which arrival is handed in next, and when: the three ways of replaying. Arrivals come from a reader of the caller's, one at a time;
//! the engine asks, takes, and tells what is done.

use super::arrival::Arrival;
use super::ring::Ring;
use super::{Mode, Scale};

/// Arrivals on their way in.
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

    /// Reads what is wanted next.
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

    /// When the next one is due, if that is known; `under_way` are not done yet. A closed replay has no times to be late for: now.
    #[inline]
    pub fn due(&self, now: u64, under_way: u32) -> Option<u64> {
        match &self.way {
            Way::Open { head, scale, .. } => head.as_ref().map(|a| scale.of(a.time_ns)),
            Way::Closed { head, depth, .. } => head.as_ref().filter(|_| under_way < *depth).map(|_| now),
            Way::Dependent(ring) => ring.due(),
        }
    }

    /// Takes it, with its number in the trace.
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

    /// An arrival is done.
    #[inline]
    pub fn done(&mut self, number: u64, now: u64) {
        if let Way::Dependent(ring) = &mut self.way {
            ring.done(number, now);
        }
    }
}
