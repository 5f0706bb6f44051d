//! What a stream's pace asks for before and after an operation.

use super::{Bursts, Schedule, Thinking, Timeline};
use crate::ops::{Early, Op, OpKind, Place};
use crate::{RateOf, Stream};
use std::sync::atomic::AtomicU64;

/// The pace of a worker that does one operation after the other. With several in flight its pauses are those of
/// [`Pauses`](super::Pauses).
pub struct Pacing<'a> {
    /// Pauses between operations.
    pub think: Thinking,
    /// When operations are due, with a rate.
    pub schedule: Option<Schedule<'a>>,
    /// Bursts with a pause after each.
    pub bursts: Bursts,
    /// Syncs have due times, too: those of a list.
    pub syncs_are_due: bool,
    /// The operations that have due times.
    rate_of: RateOf,
    /// Only one kind of a mix has due times; while it waits, the other kind goes on.
    gives_way: bool,
    /// Trims have due times: those of a stream that gives back what it wrote (`keep_written.trim`) are done at once.
    trims_are_due: bool,
    /// The operation in hand is done without pauses, and so whenever it comes.
    at_once: bool,
}

impl<'a> Pacing<'a> {
    /// The pace of the worker at `place`. `common`: what is due next, of a rate of all workers.
    #[must_use]
    pub fn of(stream: &Stream, seed: u64, place: Place, common: Option<&'a AtomicU64>) -> Self {
        Self {
            think: Thinking::new(stream.pace.think),
            schedule: Schedule::of(stream, seed, place, common),
            bursts: Bursts::new(stream.pace.burst),
            syncs_are_due: stream.access.is_timed(),
            rate_of: stream.rate_of(),
            gives_way: stream.pace.rate_of != RateOf::All,
            trims_are_due: stream.keep_written.is_none(),
            at_once: false,
        }
    }

    /// An operation comes, of which the source says whether it pauses.
    pub fn comes(&mut self, pauses: bool) {
        self.at_once = !pauses;
    }

    /// Whether the schedule, if there is one, says when this operation is due, which came last. A sync is due only in a list.
    #[must_use]
    pub fn is_due_by_schedule(&self, op: &Op) -> bool {
        match op.kind {
            _ if self.at_once => false,
            OpKind::Sync { .. } | OpKind::Evict => self.syncs_are_due,
            OpKind::Read => self.rate_of != RateOf::Writes,
            OpKind::Write => self.rate_of != RateOf::Reads,
            OpKind::Trim => self.trims_are_due && self.rate_of != RateOf::Reads,
        }
    }

    /// The kind of a mix that is not due yet, where only that kind has a rate.
    pub fn early<T: Timeline>(&mut self, time: T, released: u64, now: impl FnOnce() -> u64) -> Option<Early> {
        if !self.gives_way {
            return None;
        }
        let kind = match self.rate_of {
            RateOf::All => return None,
            RateOf::Reads => Early::Reads,
            RateOf::Writes => Early::Writes,
        };
        (self.schedule.as_mut()?.due(time, released) > now()).then_some(kind)
    }
}
