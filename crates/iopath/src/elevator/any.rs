//! One enum for every elevator, so that dispatch is a jump instead of a virtual call, and a queue stays a plain value that can be cloned
//! to ask what it would do.

use super::anticipatory::Anticipatory;
use super::bfq::BfqLite;
use super::cfq::{Cfq1, Cfq2, Cfq3};
use super::clook::ClookHsfs;
use super::deadline::{Deadline, MqDeadline};
use super::fifo::Fifo;
use super::kyber::Kyber;
use super::linus24::Linus24;
use super::sweep::Sweep;
use super::{Elevator, Held, MayQueue, Order, Pick};
use crate::bio::Bio;
use crate::limits::Limits;
use crate::merge::{Candidate, MergeKind};
use crate::request::{Requests, Slot};
use crate::task::{IoClass, TaskId};
use crate::time::{Hz, Nanos};
use crate::tunable::{self, TunableError, View};

/// One of the elevators.
#[derive(Clone, Debug)]
pub enum AnyElevator {
    /// [`Linus24`].
    Linus24(Linus24),
    /// `noop`: [`Fifo`].
    Noop(Fifo),
    /// [`Deadline`].
    Deadline(Deadline),
    /// [`MqDeadline`].
    MqDeadline(MqDeadline),
    /// [`Anticipatory`].
    Anticipatory(Anticipatory),
    /// [`Cfq1`].
    Cfq1(Cfq1),
    /// [`Cfq2`].
    Cfq2(Cfq2),
    /// [`Cfq3`].
    Cfq3(Cfq3),
    /// [`ClookHsfs`].
    ClookHsfs(ClookHsfs),
    /// `none`, no scheduler: [`Fifo`].
    None(Fifo),
    /// [`Kyber`].
    Kyber(Kyber),
    /// [`BfqLite`].
    BfqLite(BfqLite),
    /// [`Sweep`].
    Sweep(Sweep),
}

macro_rules! each {
    ($any:expr, $one:ident => $call:expr) => {
        match $any {
            AnyElevator::Linus24($one) => $call,
            AnyElevator::Noop($one) => $call,
            AnyElevator::Deadline($one) => $call,
            AnyElevator::MqDeadline($one) => $call,
            AnyElevator::Anticipatory($one) => $call,
            AnyElevator::Cfq1($one) => $call,
            AnyElevator::Cfq2($one) => $call,
            AnyElevator::Cfq3($one) => $call,
            AnyElevator::ClookHsfs($one) => $call,
            AnyElevator::None($one) => $call,
            AnyElevator::Kyber($one) => $call,
            AnyElevator::BfqLite($one) => $call,
            AnyElevator::Sweep($one) => $call,
        }
    };
}

impl AnyElevator {
    /// Sets a tunable by name.
    ///
    /// # Errors
    /// The name is unknown or the value out of range.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), TunableError> {
        let row = tunable::check(self.name(), self.tunables().table, name, value)?;
        self.set_row(row, value);
        Ok(())
    }

    /// Whether this is no scheduler, so that requests take the driver's tags directly.
    pub const fn is_none(&self) -> bool {
        matches!(self, Self::None(_))
    }

    /// Value of a tunable by name.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.tunables().get(name)
    }
}

impl Elevator for AnyElevator {
    fn name(&self) -> &'static str {
        each!(self, one => one.name())
    }

    fn tunables(&self) -> View<'_> {
        each!(self, one => one.tunables())
    }

    fn set_row(&mut self, row: usize, value: u64) {
        each!(self, one => one.set_row(row, value));
    }

    fn set_hz(&mut self, hz: Hz) {
        each!(self, one => one.set_hz(hz));
    }

    fn raises_requests(&self) -> Option<u32> {
        each!(self, one => one.raises_requests())
    }

    fn joins_before(&self, requests: &Requests, slot: Slot) -> Option<Slot> {
        each!(self, one => one.joins_before(requests, slot))
    }

    fn comes(&mut self, now: Nanos, requests: &Requests, bio: &Bio) {
        each!(self, one => one.comes(now, requests, bio));
    }

    fn merge_candidate(&mut self, requests: &Requests, limits: &Limits, bio: &Bio) -> Candidate {
        each!(self, one => one.merge_candidate(requests, limits, bio))
    }

    fn touched(&self, requests: &Requests, bio: &Bio) -> Candidate {
        each!(self, one => one.touched(requests, bio))
    }

    fn uses_last_merge(&self) -> bool {
        each!(self, one => one.uses_last_merge())
    }

    fn allows(&self, requests: &Requests, slot: Slot, bio: &Bio) -> bool {
        each!(self, one => one.allows(requests, slot, bio))
    }

    fn merged(&mut self, now: Nanos, requests: &mut Requests, slot: Slot, kind: MergeKind) {
        each!(self, one => one.merged(now, requests, slot, kind));
    }

    fn order(&self, requests: &Requests, slot: Slot) -> Order<'_> {
        each!(self, one => one.order(requests, slot))
    }

    fn neighbour(&self, requests: &Requests, slot: Slot, kind: MergeKind) -> Option<Slot> {
        each!(self, one => one.neighbour(requests, slot, kind))
    }

    fn joined(&mut self, now: Nanos, requests: &mut Requests, kept: Slot, gone: Slot) {
        each!(self, one => one.joined(now, requests, kept, gone));
    }

    fn joins_on_insert(&self) -> bool {
        each!(self, one => one.joins_on_insert())
    }

    fn insert(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        each!(self, one => one.insert(now, requests, slot));
    }

    fn next(&mut self, now: Nanos, requests: &mut Requests, limits: &Limits, free_tags: u32) -> Pick {
        each!(self, one => one.next(now, requests, limits, free_tags))
    }

    fn taken(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        each!(self, one => one.taken(now, requests, slot));
    }

    fn completed(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        each!(self, one => one.completed(now, requests, slot));
    }

    fn returned(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        each!(self, one => one.returned(now, requests, slot));
    }

    fn on_promote(&mut self, now: Nanos, requests: &mut Requests, slot: Slot, class: IoClass) {
        each!(self, one => one.on_promote(now, requests, slot, class));
    }

    fn may_queue(&mut self, now: Nanos, requests: &Requests, bio: &Bio, held: Held) -> MayQueue {
        each!(self, one => one.may_queue(now, requests, bio, held))
    }

    fn task_began(&mut self, task: TaskId) {
        each!(self, one => one.task_began(task));
    }

    fn task_exited(&mut self, now: Nanos, requests: &mut Requests, task: TaskId) {
        each!(self, one => one.task_exited(now, requests, task));
    }

    fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        each!(self, one => one.drain(requests))
    }

    fn waiting(&self) -> usize {
        each!(self, one => one.waiting())
    }

    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot)) {
        each!(self, one => one.each_waiting(requests, each));
    }

    fn habits(&self, each: &mut dyn FnMut(TaskId, Nanos, u64)) {
        each!(self, one => one.habits(each));
    }

    fn counters(&self, each: &mut dyn FnMut(&'static str, u64)) {
        each!(self, one => one.counters(each));
    }
}
