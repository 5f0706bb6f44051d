//! A stream's pace: what happens before and after an operation.

use super::{Bursts, Schedule, SerialPauses, Timeline};
use crate::ops::{Early, Op, OpCode, Place};
use crate::{RateOf, Stream};
use std::sync::atomic::AtomicU64;

/// The pace of a worker with one operation at a time. With several in flight, [`Pauses`](super::Pauses) handles the pauses.
pub struct Pacing<'a> {
    /// Pauses between operations.
    pub think: SerialPauses,
    /// Schedule of operations, with a rate.
    pub schedule: Option<Schedule<'a>>,
    /// Bursts with a pause after each.
    pub bursts: Bursts,
    /// Syncs are scheduled as well, as in a list.
    pub syncs_are_due: bool,
    /// The scheduled kinds of operations.
    rate_of: RateOf,
    /// Only one kind of a mix is scheduled; while it waits, the other kind proceeds.
    gives_way: bool,
    /// Trims are scheduled. Those of a stream that trims what it wrote (`keep_written.trim`) are not: they are issued at once.
    trims_are_due: bool,
    /// The current operation is issued without pauses, whenever it comes.
    at_once: bool,
}

impl<'a> Pacing<'a> {
    /// The pace of the worker at `place`. `common`: the next start of a rate shared by all workers.
    #[must_use]
    pub fn of(stream: &Stream, seed: u64, place: Place, common: Option<&'a AtomicU64>) -> Self {
        Self {
            think: SerialPauses::new(stream.pace.think),
            schedule: Schedule::of(stream, seed, place, common),
            bursts: Bursts::new(stream.pace.burst),
            syncs_are_due: stream.access.is_timed(),
            rate_of: stream.rate_of(),
            gives_way: stream.pace.rate_of != RateOf::All,
            trims_are_due: stream.keep_written.is_none(),
            at_once: false,
        }
    }

    /// Announces the next operation; `pauses` is the source's answer to whether it pauses.
    pub fn comes(&mut self, pauses: bool) {
        self.at_once = !pauses;
    }

    /// Whether a schedule applies to the current operation. A sync is scheduled only in a list.
    #[must_use]
    pub fn is_due_by_schedule(&self, op: &Op) -> bool {
        match op.kind {
            _ if self.at_once => false,
            OpCode::Sync { .. } | OpCode::Evict => self.syncs_are_due,
            OpCode::Read => self.rate_of != RateOf::Writes,
            OpCode::Write => self.rate_of != RateOf::Reads,
            OpCode::Trim => self.trims_are_due && self.rate_of != RateOf::Reads,
        }
    }

    /// The kind of a mix that is ahead of its rate, where only that kind has one.
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
