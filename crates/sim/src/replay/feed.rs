//! Decides which arrival is submitted next, and when, in the three modes. Arrivals come one at a time from the caller's reader; the
//! engine polls, takes, and reports completions.

use super::arrival::Arrival;
use super::ring::DependencyRing;
use super::{Mode, Scale};

/// Arrivals waiting to be submitted.
pub(super) struct Feed<S> {
    source: S,
    ended: bool,
    mode: FeedMode,
}

enum FeedMode {
    Open { head: Option<Arrival>, scale: Scale, next: u64 },
    Closed { head: Option<Arrival>, depth: u32, next: u64 },
    Dependent(Box<DependencyRing>),
}

impl<E, S: FnMut() -> Result<Option<Arrival>, E>> Feed<S> {
    pub fn new(mode: Mode, source: S) -> Self {
        let mode = match mode {
            Mode::Open(scale) => FeedMode::Open { head: None, scale, next: 0 },
            Mode::Closed(depth) => FeedMode::Closed { head: None, depth: depth.get(), next: 0 },
            Mode::Dependent(scale) => FeedMode::Dependent(Box::new(DependencyRing::new(scale))),
        };
        Self { source, ended: false, mode }
    }

    /// Reads the next arrival if needed.
    #[inline]
    pub fn fill(&mut self) -> Result<(), E> {
        while !self.ended {
            match &mut self.mode {
                FeedMode::Open { head, .. } | FeedMode::Closed { head, .. } => {
                    if head.is_some() {
                        break;
                    }
                    *head = (self.source)()?;
                    self.ended = head.is_none();
                }
                FeedMode::Dependent(ring) => {
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
        match &self.mode {
            FeedMode::Open { head, scale, .. } => head.as_ref().map(|a| scale.of(a.time_ns)),
            FeedMode::Closed { head, depth, .. } => head.as_ref().filter(|_| under_way < *depth).map(|_| now),
            FeedMode::Dependent(ring) => ring.due(),
        }
    }

    /// Takes the next arrival, with its number in the trace.
    #[inline]
    pub fn take(&mut self, now: u64) -> Option<(u64, Arrival)> {
        match &mut self.mode {
            FeedMode::Open { head, next, .. } | FeedMode::Closed { head, next, .. } => {
                let arrival = head.take()?;
                *next += 1;
                Some((*next - 1, arrival))
            }
            FeedMode::Dependent(ring) => ring.take(now),
        }
    }

    /// Completes an arrival.
    #[inline]
    pub fn done(&mut self, number: u64, now: u64) {
        if let FeedMode::Dependent(ring) = &mut self.mode {
            ring.done(number, now);
        }
    }
}
