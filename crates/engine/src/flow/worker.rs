//! A worker that executes a flow: the state of its operations, and how they are counted. Each family of operations adds its
//! methods in a separate file.
//!
//! An operation still in flight at the end of the phase is not counted; all others are.

use super::FlowPlan;
use super::aio::AsyncWrites;
use super::memory::Memory;
use super::setting::{RowStat, Setting, SharedWords, kind};
use crate::calls::{Noted, WorkerLog};
use crate::clock::Clock;
use crate::fault::{FailedCall, Fault};
use crate::hot::Outcome;
use crate::kind_stats::KindStats;
use crate::shared::{Control, Live, STOP_INTERRUPT, Shared, Tally, add_and_wake};
use crate::usage::{ProcessorWait, Usage};
use fathom_record::OpKind;
use fathom_workload::flow::{Class, FlatOp, FlowThread, Kind, Member, PATIENCE_NS, Wrong};
use rustix::fd::OwnedFd;
use std::sync::atomic::Ordering;

/// Why a worker leaves its steps early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    Fault(Fault),
    /// No file or directory is left to work on.
    Exhausted,
    /// One of the finishing operations.
    Finished,
    /// The phase's time is over.
    TimeOver,
    /// A stop rule or an interrupt.
    Stop(Outcome),
    /// The phase's shared amount is used up.
    Enough,
}

impl From<Wrong> for Break {
    #[cold]
    fn from(wrong: Wrong) -> Self {
        let (call, expected, found) = match wrong {
            Wrong::Exhausted => return Self::Exhausted,
            Wrong::OpenSlot(slot) => (FailedCall::OpenSlot, 0, slot),
            Wrong::ClosedSlot(slot) => (FailedCall::ClosedSlot, 0, slot),
            Wrong::UnknownSlot(slot) => (FailedCall::UnknownSlot, 0, slot),
            Wrong::ForeignSlot(slot) => (FailedCall::ForeignSlot, 0, slot),
            Wrong::Range { bytes, range } => (FailedCall::Range, bytes, range),
            Wrong::Area { bytes, area } => (FailedCall::Area, bytes, area),
            Wrong::Empty => (FailedCall::Empty, 0, 0),
            Wrong::Patience => (FailedCall::Patience, PATIENCE_NS, PATIENCE_NS),
        };
        Self::Fault(Fault::short(call, 0, expected, found))
    }
}

impl From<Fault> for Break {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A worker executing a flow. Fields that every operation touches come first.
pub(crate) struct FlowWorker<'a> {
    pub clock: Clock,
    pub control: &'a Control,
    pub rows: &'a [RowStat],
    pub stats: &'a KindStats,
    pub tally: &'a Tally,
    /// Tick at which the phase's time ends; `u64::MAX` if it has no limit.
    pub deadline: u64,
    /// The next tick at which something other than the next operation must be done.
    pub alarm: u64,
    /// The interpreter's state of the thread.
    pub thread: FlowThread<'a, SharedWords, OwnedFd>,
    pub memory: Memory,
    /// How it waits for a tick.
    pub sleeps: crate::punctual::Punctual,
    pub setting: &'a Setting,
    pub place: &'a Member,
    pub shared: &'a Shared,
    pub worker: usize,
    pub live: &'a Live,
    pub plan: &'a FlowPlan<'a>,
    pub async_writes: AsyncWrites,
    /// Log of single calls, if requested. `at_offset` is the file offset of the current call.
    pub call_log: Option<WorkerLog<'a>>,
    pub at_offset: u64,
    /// The operation that ended the flow, its set and file; each plus one.
    pub ended_by: (u32, u32, u32),
    /// Whether the phase has a shared amount.
    pub limited: bool,
    pub cpu_time: bool,
    /// CPU time of the thread at the start of the operation.
    pub cpu_from: u64,
    pub counting: bool,
    /// Ticks: release, start of counting, end of the last operation.
    pub released: u64,
    pub start: u64,
    pub last: u64,
    pub used_before: Usage,
    pub processor_wait: ProcessorWait,
    pub ramp_ops: u64,
}

impl FlowWorker<'_> {
    /// Counts an operation that began at tick `from` and ends now. One in flight at the end of the phase is not counted.
    #[inline(always)]
    pub(super) fn done(&mut self, op: &FlatOp, from: u64, bytes: u64) -> Result<(), Break> {
        let now = self.clock.now();
        self.done_at(op, from, now, bytes)
    }

    /// The same for an operation that ended at a given tick.
    #[inline(always)]
    pub(super) fn done_at(&mut self, op: &FlatOp, from: u64, now: u64, bytes: u64) -> Result<(), Break> {
        if now >= self.alarm || self.control.stop.load(Ordering::Relaxed) != 0 {
            self.look(now)?;
        }
        if self.limited {
            self.take(op, bytes)?;
        }
        if let (Some(log), Some(of)) = (self.call_log, op.kind) {
            self.note_call(log, of, (from, now), bytes);
        }
        let ns = self.clock.between(from, now);
        let row = &self.rows[op.row];
        row.times.record(ns, bytes);
        match op.kind {
            Some(Kind::Read) => {
                self.stats[OpKind::Read].record(ns, bytes);
                self.tally.count();
            }
            Some(Kind::Write) => {
                self.stats[OpKind::Write].record(ns, bytes);
                self.tally.count();
            }
            other => self.count_other(op.class, other, ns, bytes),
        }
        if self.cpu_time {
            let cpu = cpu_ns();
            row.cpu_ns.fetch_add(cpu.saturating_sub(self.cpu_from), Ordering::Relaxed);
            self.cpu_from = cpu;
        }
        self.last = now;
        Ok(())
    }

    /// Notes a call, to be joined with the requests that reached the device.
    #[cold]
    fn note_call(&self, log: WorkerLog<'_>, of: Kind, (begun, ended): (u64, u64), bytes: u64) {
        let Some(file) = self.thread.at_file else { return };
        log.note(&Noted { op: kind(of), offset: self.at_offset, bytes, file, begun, ended });
    }

    fn count_other(&mut self, class: Class, of: Option<Kind>, ns: u64, bytes: u64) {
        if of == Some(Kind::Sync) {
            self.stats[OpKind::Sync].record(ns, bytes);
        }
        if class.is_io() { self.tally.count_io(bytes) } else { self.tally.count() }
    }

    /// Takes an I/O operation from the phase's shared amount.
    #[cold]
    fn take(&self, op: &FlatOp, bytes: u64) -> Result<(), Break> {
        if !op.class.is_io() {
            return Ok(());
        }
        let is = self.plan.quota.take_bytes(&self.control.taken, bytes);
        if is { Ok(()) } else { Err(Break::Enough) }
    }

    /// Whether the phase's shared amount is used up.
    pub(super) fn amount_is_used_up(&self) -> bool {
        self.plan.quota.is_used_up(&self.control.taken)
    }

    /// Whether the phase continues at a tick; also handles the end of the warm-up.
    #[cold]
    pub(super) fn look(&mut self, now: u64) -> Result<(), Break> {
        if let Some(stop) = self.stopped() {
            return Err(stop);
        }
        if now >= self.alarm && !self.counting {
            self.forget_warm_up();
            self.begin_counting(now);
            self.last = now;
            return Ok(());
        }
        if now >= self.deadline { Err(Break::TimeOver) } else { Ok(()) }
    }

    /// Evaluates the stop flag.
    pub(super) fn stopped(&self) -> Option<Break> {
        match self.control.stop.load(Ordering::Relaxed) {
            0 => None,
            STOP_INTERRUPT => Some(Break::Stop(Outcome::Interrupted)),
            _ => Some(Break::Stop(Outcome::Stopped)),
        }
    }

    pub(super) fn begin_counting(&mut self, now: u64) {
        self.counting = true;
        self.live.counting_at.store(now, Ordering::Release);
        if now > self.released {
            add_and_wake(&self.control.event);
            self.processor_wait = ProcessorWait::begin();
        }
        (self.start, self.last) = (now, now);
        self.deadline = self.plan.time_ns.map_or(u64::MAX, |ns| now.saturating_add(self.clock.ticks(ns)));
        self.alarm = self.deadline;
        self.used_before = Usage::now();
    }

    pub(super) fn forget_warm_up(&mut self) {
        self.ramp_ops += self.shared.totals(self.worker).0;
        for row in self.rows.iter().filter(|r| r.times.ops() > 0) {
            row.times.reset();
            row.cpu_ns.store(0, Ordering::Relaxed);
        }
        self.stats.reset();
        self.tally.reset();
        self.thread.forget();
    }

    /// Notes which operation ended the flow, and its target.
    #[cold]
    pub(super) fn note(&mut self, op: &FlatOp) {
        let at = self.thread.at_file;
        let set = at.map(|f| f.0).or(op.set).or(self.thread.slots.last_set);
        self.ended_by = (op.row as u32 + 1, plus_one(set), plus_one(at.map(|f| f.1)));
    }
}

fn plus_one(number: Option<usize>) -> u32 {
    number.map_or(0, |n| u32::try_from(n + 1).unwrap_or(0))
}

/// CPU time of the calling thread, ns.
pub(super) fn cpu_ns() -> u64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}
