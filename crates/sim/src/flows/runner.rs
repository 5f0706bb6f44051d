//! A worker executing a flow, and how its operations are counted, by the rules of the engine: every operation counts except those in
//! flight when the phase ends.

use super::aio::AioSlots;
use super::rows::{RowStat, kind};
use super::state::{FlowState, Words};
use crate::block::Submitter;
use crate::call_log::LoggedCall;
use crate::calls::Handle;
use crate::files::GrowError;
use crate::machine::Machine;
use crate::threads::{LEAST_NS, PhaseControl, WorkerResult};
use fathom_record::OpKind;
use fathom_workload::drive::Quota;
use fathom_workload::flow::{Counts, FlatOp, FlatProgram, FlowThread, Member, Totals, Wrong};
use std::cell::RefCell;

/// A thread's open file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    pub handle: Handle,
    /// Opened with O_SYNC: data is on the device before write returns.
    pub sync: bool,
}

/// Why a worker leaves its steps early.
#[derive(Clone, Debug)]
pub(super) enum Break {
    /// An error caused by earlier operations of the flow.
    Wrong(Wrong),
    /// The device is full.
    Full(GrowError),
    /// It waits to be woken, all other workers do too, and no timeout will end it.
    Deadlocked,
    /// A finishing operation.
    Finished,
    /// The phase's time is over.
    TimeOver,
    /// A stop rule, or another worker's failure.
    Stop,
    /// The phase's common amount is used up.
    Enough,
}

impl From<Wrong> for Break {
    fn from(wrong: Wrong) -> Self {
        Self::Wrong(wrong)
    }
}

impl From<GrowError> for Break {
    fn from(full: GrowError) -> Self {
        Self::Full(full)
    }
}

pub(super) struct FlowRunner<'s, 'a> {
    pub machine: &'s Machine,
    pub state: &'s FlowState<'a>,
    pub together: &'s PhaseControl,
    pub place: &'s Member,
    pub program: &'s FlatProgram,
    pub worker: usize,
    pub who: Submitter,
    /// State that its operations work on.
    pub thread: FlowThread<'s, Words, Opened>,
    pub flights: &'s AioSlots,
    pub worked: WorkerResult,
    /// End of the phase's time; `u64::MAX` if it has none.
    pub deadline_ns: u64,
    /// Time of the next check beside the operations.
    pub alarm_ns: u64,
    pub counting: bool,
    pub released_ns: u64,
    pub start_ns: u64,
    pub last_ns: u64,
    /// Time of the last check by [`FlowRunner::tick`].
    pub last_tick_ns: u64,
    /// CPU time at the start of the operation.
    pub cpu_from_ns: u64,
    /// File offset at the start of the operation.
    pub at_offset: u64,
}

impl<'s> FlowRunner<'s, '_> {
    /// This worker's rows.
    pub fn rows(&self) -> &'s [RefCell<RowStat>] {
        let first = self.place.first_row;
        &self.state.rows[first..first + self.program.ops.len()]
    }

    /// Counts an operation that started at `from_ns` and ends now. Time must advance even on a host where nothing costs anything.
    pub async fn done(&mut self, op: &FlatOp, from_ns: u64, bytes: u64) -> Result<(), Break> {
        if self.machine.now() == from_ns {
            self.machine.sleep_until(from_ns + LEAST_NS).await;
        }
        self.count(op, from_ns, bytes)
    }

    fn count(&mut self, op: &FlatOp, from_ns: u64, bytes: u64) -> Result<(), Break> {
        let now = self.machine.now();
        self.look(now)?;
        self.take(op, bytes)?;
        self.note_call(op, bytes);
        let latency_ns = now - from_ns;
        let cpu_ns = self.machine.cpu_of(self.who);
        let spent_ns = if self.program.cpu_time { cpu_ns.saturating_sub(self.cpu_from_ns) } else { 0 };
        self.rows()[op.row].borrow_mut().record(latency_ns, bytes, spent_ns);
        self.cpu_from_ns = cpu_ns;
        self.add(op, now, latency_ns, bytes);
        self.last_ns = now;
        Ok(())
    }

    /// Adds an operation to the totals.
    fn add(&mut self, op: &FlatOp, now: u64, latency_ns: u64, bytes: u64) {
        let mut totals = self.state.done[self.worker].get();
        totals.all += 1;
        let of = op.kind.map(kind).filter(|k| matches!(k, OpKind::Read | OpKind::Write | OpKind::Sync));
        if let Some(of) = of {
            self.worked.record(of, latency_ns, bytes);
            if self.counting {
                self.together.counted(now, of, latency_ns, bytes);
            }
        }
        if op.class.is_io() {
            totals.io_ops += 1;
            totals.bytes += bytes;
            if matches!(of, Some(OpKind::Read | OpKind::Write)) {
                totals.ios += 1;
            } else {
                self.worked.other_io(bytes);
                if self.counting {
                    self.together.counted_other(now, bytes);
                }
            }
        }
        self.state.done[self.worker].set(totals);
    }

    /// Records a call for observers of the order of operations.
    fn note_call(&self, op: &FlatOp, bytes: u64) {
        let (Some(of), Some((set, file))) = (op.kind, self.thread.at_file) else { return };
        let mut calls = self.machine.call_log.borrow_mut();
        calls.note(|| LoggedCall {
            worker: self.worker as u32,
            op: kind(of),
            set: set as u32,
            file: file as u32,
            offset: self.at_offset,
            bytes,
        });
    }

    /// Takes an I/O operation from the phase's common amount.
    fn take(&self, op: &FlatOp, bytes: u64) -> Result<(), Break> {
        if !op.class.is_io() {
            return Ok(());
        }
        let is = Quota::of(&self.state.phase.stop).take_bytes(&self.together.taken, bytes);
        if is { Ok(()) } else { Err(Break::Enough) }
    }

    /// Whether the phase's common amount is used up.
    pub fn amount_is_used_up(&self) -> bool {
        Quota::of(&self.state.phase.stop).is_used_up(&self.together.taken)
    }

    /// Checks whether the phase continues at `now`; also ends the warm-up.
    pub fn look(&mut self, now: u64) -> Result<(), Break> {
        if self.together.is_over() {
            return Err(Break::Stop);
        }
        if now < self.alarm_ns {
            return Ok(());
        }
        if !self.counting {
            self.forget_warm_up();
            self.begin_counting(now);
            return Ok(());
        }
        if now >= self.deadline_ns { Err(Break::TimeOver) } else { Ok(()) }
    }

    /// Latest time of the next check: the end of the warm-up, if the measured time that ends the phase begins there, or the end of the
    /// phase.
    pub fn latest_ns(&self) -> u64 {
        let time_begins = !self.counting && self.state.phase.stop.time.is_some();
        if time_begins { self.alarm_ns } else { self.deadline_ns }
    }

    pub fn begin_counting(&mut self, now: u64) {
        self.counting = true;
        self.together.counting(now);
        (self.start_ns, self.last_ns) = (now, now);
        let time = self.state.phase.stop.time;
        self.deadline_ns = time.map_or(u64::MAX, |t| now.saturating_add(t.0));
        self.alarm_ns = self.deadline_ns;
        self.worked.start_ns = now;
        self.worked.cpu_before_ns = self.machine.cpu_of(self.who);
    }

    pub fn forget_warm_up(&mut self) {
        let done = self.state.done[self.worker].take();
        self.worked.ramp_ops += done.io_ops;
        self.worked.forget();
        self.rows().iter().for_each(|row| drop(row.take()));
        self.thread.forget();
    }

    /// The progress figures that the interpreter needs.
    pub fn so_far(&self) -> FlowProgress<'s> {
        let crew = &self.state.cast.crews[self.place.process];
        FlowProgress { rows: self.rows(), crew, done: &self.state.done }
    }
}

/// Progress of a worker and of its process.
pub(super) struct FlowProgress<'s> {
    rows: &'s [RefCell<RowStat>],
    crew: &'s [usize],
    done: &'s [std::cell::Cell<Totals>],
}

impl Counts for FlowProgress<'_> {
    fn of_row(&self, row: usize) -> (u64, u64) {
        self.rows[row].borrow().counts()
    }

    fn of_process(&self) -> Totals {
        self.crew.iter().map(|&worker| self.done[worker].get()).fold(Totals::default(), |sum, w| Totals {
            ios: sum.ios + w.ios,
            io_ops: sum.io_ops + w.io_ops,
            all: sum.all + w.all,
            bytes: sum.bytes + w.bytes,
        })
    }
}
