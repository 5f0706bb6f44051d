//! The hot loops: draw an operation, do it between two readings of the clock, record it. [`one_by_one`] does one after the other,
//! [`in_flight`] keeps several in flight. Each is compiled for every back-end, for plain streams and others
//! (`fathom_workload::ops::Plain`), and with and without the rare features, so that a stream pays for nothing it does not use.
//!
//! The loops do not allocate, lock or format, and make no system call besides the I/O. The data touched per operation is kept on
//! few cache lines: after a system call little of the program is left in the first-level cache, and every line costs more than an
//! instruction. `cargo xtask bench engine` prints the cost beside that of a minimal loop.

mod depth;
pub(crate) mod in_flight;
mod limits;
pub(crate) mod one_by_one;
mod overlap;
mod passed;
mod pauses;
mod priority;
pub(crate) mod rare;
pub(crate) mod ratio;
pub(crate) mod trim;
mod written_back;

use crate::calls::{Noted, WorkerLog};
use crate::clock::Clock;
use crate::contents::Contents;
use crate::kind_stats::KindStats;
use crate::punctual::Punctual;
use crate::shared::{Control, Figures, Live, STOP_FIRST_DONE, STOP_INTERRUPT, add_and_wake};
use crate::spool::{Does, Operation, Spool};
use crate::usage::{ProcessorWait, Usage};
use fathom_record::{OpKind, OpLogEntry};
use fathom_workload::drive::WarmUp;
use fathom_workload::ops::{Done, Op, OpCode};
use fathom_workload::{PassOver, WhenStopped};
use rare::Rare;
use std::sync::atomic::Ordering;

/// Why a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Completed,
    /// A stop rule of the phase.
    Stopped,
    Interrupted,
}

/// Everything a loop works on. Fields that every operation touches come first.
#[repr(C, align(64))]
pub(crate) struct Hot<'a> {
    pub clock: Clock,
    pub control: &'a Control,
    pub live: &'a Live,
    pub stats: &'a KindStats,
    /// Tick at which the phase's time ends; `u64::MAX` if it has no limit.
    pub deadline: u64,
    /// Tick at which the last operation returned.
    pub last: u64,
    /// Whether operations are counted, that is, the warm-up is over.
    pub counting: bool,
    pub done: Done,
    /// One set of buffers for each operation in flight.
    pub memory: Vec<Contents>,
    /// Size of each file where the region spans several files in a row; 0 for a single file.
    pub file_bytes: u64,
    pub figures: &'a mut Figures,
    pub log: Option<&'a mut [OpLogEntry]>,
    /// File for an unlimited operation log, if requested.
    pub spool: Option<Spool>,
    /// Where calls are noted, if requested.
    pub call_log: Option<WorkerLog<'a>>,
    /// Tick at which the worker was released.
    pub released: u64,
    /// Tick from which it counts: the end of the warm-up.
    pub start: u64,
    /// Length of the counted part, in ticks; `u64::MAX`: no limit.
    pub time: u64,
    /// The uncounted part before it.
    pub warm_up: Option<WarmUp<'a>>,
    /// The thread's usage when counting began.
    pub used_before: Usage,
    /// Time before the last operation that is not counted, ns.
    pub excluded_ns: u64,
    /// The same since the last operation; excluded once another operation follows.
    pub paused_ns: u64,
    pub rare: Option<Rare<'a>>,
    /// How it waits for a tick.
    pub sleeps: Punctual,
    pub pass_over: &'a PassOver,
    /// An operation that was drawn but not issued.
    pub pending: Option<Op>,
    pub trimmed: trim::Last,
    /// I/O priority of the operation to be noted next; 0: the thread's.
    pub priority: u16,
    /// Number of workers in the phase that search for a queue depth.
    pub searching: u32,
    /// The counted part is over and the rest of the amount is being completed; only an interrupt stops that.
    pub finishing: bool,
}

/// The warm-up of a worker, if it has one; its time ends at this tick.
pub(crate) fn warm_up<'a>(
    plan: &crate::stream_plan::StreamPlan<'_>,
    shared: &'a crate::shared::Shared,
    until: u64,
) -> Option<WarmUp<'a>> {
    if plan.ramp_ns == 0 && plan.ramp_bytes == 0 {
        return None;
    }
    let word = |worker: usize| &shared.live(worker).warmed;
    let company = plan.company.as_deref().filter(|_| plan.ramp_together).unwrap_or_default();
    let others = company.iter().filter(|worker| **worker != plan.index).map(|worker| word(*worker)).collect();
    Some(WarmUp::new(until, plan.ramp_bytes, word(plan.index), others))
}

impl Hot<'_> {
    /// Accounts for a stop seen at the tick `now`. Idle time of a schedule counts as used.
    pub fn stopped_at(&mut self, now: u64) {
        let paced = self.rare.as_ref().is_some_and(|r| r.pace.schedule.is_some());
        if now >= self.deadline {
            // The time was used up, pauses included.
            self.excluded_ns += std::mem::take(&mut self.paused_ns);
            // Drained operations may have ended after the deadline.
            self.last = self.last.max(self.deadline);
        } else if paced {
            self.excluded_ns += std::mem::take(&mut self.paused_ns);
            self.last = self.last.max(now);
        }
    }

    /// Clears what the warm-up recorded and returns its number of operations.
    pub fn forget_warm_up(&mut self) -> u64 {
        let ops = self.stats.data_ops();
        self.stats.reset();
        ops
    }

    /// Starts counting at the tick `now`.
    pub fn begin_counting(&mut self, now: u64) {
        self.counting = true;
        self.live.counting_at.store(now, Ordering::Release);
        if now > self.released {
            // The parent reads the counters that belong to the counted part.
            add_and_wake(&self.control.event);
            self.figures.processor_wait = ProcessorWait::begin();
        }
        self.start = now;
        self.last = now;
        self.excluded_ns = 0;
        self.paused_ns = 0;
        self.figures.start_ticks = now;
        self.deadline = now.saturating_add(self.time);
        self.used_before = Usage::now();
    }

    /// Notes the thread's usage since counting began; the clock has run for `clocked_ns`. Inlined, so that no call takes the
    /// address of values that the loop holds in registers, which would slow down every operation.
    #[inline(always)]
    pub fn note_usage(&mut self, clocked_ns: u64) {
        self.figures.used = Some(used_since(self.used_before, clocked_ns));
    }

    /// What the stop flag means for a stream with this rule.
    #[inline(always)]
    pub fn stopped(&self, when_stopped: WhenStopped) -> Option<Outcome> {
        match self.control.stop_of(self.live) {
            0 => None,
            STOP_INTERRUPT => Some(Outcome::Interrupted),
            _ if self.finishing => None,
            STOP_FIRST_DONE if when_stopped == WhenStopped::Ignore => None,
            _ => Some(Outcome::Stopped),
        }
    }

    /// Position of an operation in the region; the written contents depend on it.
    #[inline(always)]
    pub fn position(&self, op: &Op) -> u64 {
        op.offset.wrapping_add(u64::from(op.file).wrapping_mul(self.file_bytes))
    }

    /// Where only one kind of a mix has a rate: tells the source whether that kind is early, before it draws the next operation.
    fn look_what_is_early(&mut self) {
        let (clock, released) = (self.clock, self.released);
        self.done.early =
            self.rare.as_mut().and_then(|rare| rare.pace.early(clock, released, || clock.now()));
    }

    /// Notes the call, to be joined with the requests that reached the device.
    fn note_call(&self, op: &Op, begun: u64, ended: u64) {
        let Some(log) = &self.call_log else { return };
        let kind = match op.kind {
            OpCode::Read => OpKind::Read,
            OpCode::Write => OpKind::Write,
            OpCode::Sync { .. } => OpKind::Sync,
            // These move no data that could be joined with a request.
            OpCode::Trim | OpCode::Evict => return,
        };
        let bytes = if kind == OpKind::Sync { 0 } else { u64::from(op.bytes) };
        let file = (0, if self.file_bytes > 0 { op.file as usize } else { 0 });
        log.note(&Noted { op: kind, offset: op.offset, bytes, file, begun, ended });
    }

    /// Adds an operation to the log, if there is one; syncs are only noted as calls. `given`: the submission time.
    fn log_operation(&mut self, op: &Op, begun: u64, given: u64, ended: u64) {
        self.note_call(op, begun, ended);
        if matches!(op.kind, OpCode::Sync { .. }) {
            return;
        }
        let latency_ns = self.clock.between(begun, ended);
        let start_ns = self.clock.between(self.start, begun);
        if let Some(spool) = &mut self.spool {
            spool.note(&Operation {
                does: match op.kind {
                    OpCode::Write => Does::Write,
                    OpCode::Trim => Does::Trim,
                    _ => Does::Read,
                },
                start_ns,
                latency_ns,
                submission_ns: self.clock.between(begun, given),
                file: if self.file_bytes > 0 { op.file } else { 0 },
                offset: op.offset,
                bytes: op.bytes,
                priority: self.priority,
            });
        }
        if let Some(log) = &mut self.log
            && let Some(entry) = log.get_mut(self.figures.logged as usize)
        {
            *entry = OpLogEntry { offset: op.offset, bytes: op.bytes, latency_ns, start_ns };
            self.figures.logged += 1;
        }
    }
}

#[cold]
#[inline(never)]
fn used_since(before: Usage, clocked_ns: u64) -> Usage {
    Usage::now().since(before).within(clocked_ns)
}
