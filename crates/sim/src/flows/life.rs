//! Life of a worker that executes a flow, from its release to its final figures, and its progress through the steps.

use super::aio::AioSlots;
use super::rows;
use super::runner::{Break, FlowRunner};
use super::state::FlowState;
use crate::block::Submitter;
use crate::machine::Machine;
use crate::threads::{PhaseControl, WorkerResult};
use fathom_record::{Ending, OpError};
use fathom_workload::flow::{FlatOp, FlowThread, NextStep, Numbers, Walk, Wanted, Wrong};
use fathom_workload::ops::Place as At;
use fathom_workload::{Act, Exhausted, Finished};

/// Time charged to a pass that did nothing, ns; without it an endless flow would never end.
const EMPTY_PASS_NS: u64 = 100;

/// Runs a worker that is released at `first_ns` plus its stagger.
pub(crate) async fn live(
    machine: &Machine,
    state: &FlowState<'_>,
    worker: usize,
    together: &PhaseControl,
    flights: &AioSlots,
    first_ns: u64,
) -> WorkerResult {
    let who = Submitter::worker(worker);
    machine.own_cpu(who);
    machine.sleep_until(first_ns.saturating_add(state.phase.stagger.0.saturating_mul(worker as u64))).await;
    let released_ns = machine.now();
    let Some(place) = state.cast.places.get(worker).and_then(Option::as_ref) else {
        return WorkerResult::default();
    };
    let program = &state.cast.programs[place.program];
    let group = if place.thread.is_empty() { &place.group } else { &place.thread };
    let worked = WorkerResult::of(group.clone(), worker, released_ns);
    let at = At { phase: state.number as u32, worker: worker as u32, repetition: state.repetition };
    // Impossible variables were refused before.
    let numbers = Numbers::new(&state.variables, place, program.offsets, state.workload, at);
    let Some(numbers) = numbers else { return worked };
    let member = (place.process, place.memory);
    let mut runner = FlowRunner {
        machine,
        state,
        together,
        place,
        program,
        worker,
        who,
        thread: FlowThread::new(&program.ops, &state.sets, numbers, state.supply.as_ref(), member),
        flights,
        worked,
        deadline_ns: u64::MAX,
        alarm_ns: released_ns.saturating_add(state.phase.ramp.0),
        counting: false,
        released_ns,
        start_ns: released_ns,
        last_ns: released_ns,
        last_tick_ns: u64::MAX,
        cpu_from_ns: 0,
        at_offset: 0,
    };
    if state.phase.ramp.0 == 0 {
        runner.begin_counting(released_ns);
    }
    let mut at_op = 0;
    let outcome = runner.go(&mut at_op).await;
    runner.end(outcome, at_op).await
}

impl FlowRunner<'_, '_> {
    /// Runs the steps until they or the phase end. `at` receives the index of the current operation.
    async fn go(&mut self, at: &mut usize) -> Result<(), Break> {
        let program = self.program;
        let mut walk = Walk::new(program);
        let mut before = self.last_ns;
        loop {
            match walk.next(program, &mut self.thread.numbers) {
                NextStep::Do(op) => {
                    *at = op;
                    self.perform(&program.ops[op]).await?;
                }
                NextStep::Again => self.tick().await?,
                NextStep::Through => {
                    if self.last_ns == before {
                        // A pass without a counted operation has not checked the clock.
                        self.tick().await?;
                    }
                    before = self.last_ns;
                }
                NextStep::Over => return Ok(()),
            }
        }
    }

    /// Checks the clock where nothing else does. An endless loop of operations that take no time would stop the clock, so the second
    /// check at the same time takes some.
    async fn tick(&mut self) -> Result<(), Break> {
        if self.machine.now() == self.last_tick_ns {
            self.machine.compute(EMPTY_PASS_NS).await;
        }
        self.last_tick_ns = self.machine.now();
        self.look(self.last_tick_ns)
    }

    async fn perform(&mut self, op: &FlatOp) -> Result<(), Break> {
        self.thread.at_file = None;
        self.cpu_from_ns = self.machine.cpu_of(self.who);
        match op.act {
            Act::Read => self.read(op).await,
            Act::Write => self.write(op).await,
            Act::ReadWholeFile => self.read_whole_file(op).await,
            Act::WriteWholeFile => self.write_whole_file(op).await,
            Act::Append | Act::AppendRandomLength => self.append(op).await,
            Act::Open => self.open_existing(op).await,
            Act::Create => self.create(op).await,
            Act::Close => self.close(op).await,
            Act::Delete => self.delete(op).await,
            Act::Stat => self.stat(op).await,
            Act::Sync => self.sync(op).await,
            Act::SyncSet => self.sync_set(op).await,
            Act::MakeDirectory => self.leaf_directory(op, Wanted::Missing).await,
            Act::RemoveDirectory => self.leaf_directory(op, Wanted::Existing).await,
            Act::ListDirectory => self.list_directory(op).await,
            Act::AsyncWrite => self.async_write(op).await,
            Act::AsyncWait => self.async_wait(op).await,
            Act::Block => self.block(op).await,
            Act::Wake => self.wake(op).await,
            Act::SemaphoreWait => self.semaphore_wait(op).await,
            Act::SemaphorePost => self.semaphore_post(op).await,
            Act::Spin => self.spin(op).await,
            Act::Delay => self.delay(op).await,
            Act::LimitEvents | Act::LimitIops | Act::LimitOps | Act::LimitBandwidth => self.limit(op).await,
            Act::FinishOnCount | Act::FinishOnBytes => self.finish(op).await,
            Act::Say => {
                self.machine.call_log.borrow_mut().say(&op.text);
                self.tick().await
            }
            Act::Draw => {
                self.thread.numbers.of(op.value);
                self.tick().await
            }
            Act::Sequence => Ok(()),
        }
    }

    /// Records the worker's figures and how it ended, and informs the others; then closes everything, outside every clock.
    async fn end(mut self, outcome: Result<(), Break>, at_op: usize) -> WorkerResult {
        if !self.counting {
            // It ended during the warm-up.
            self.forget_warm_up();
            self.begin_counting(self.last_ns.max(self.released_ns));
        }
        let now = self.machine.now();
        let until = |end: u64| end.saturating_sub(self.start_ns);
        self.worked.elapsed_ns = match outcome {
            Err(Break::TimeOver) => self.state.phase.stop.time.map_or(0, |t| t.0),
            Err(Break::Stop) => until(now.min(self.deadline_ns)),
            _ => until(self.last_ns),
        };
        self.worked.last_ns = self.last_ns;
        self.worked.cpu_ns = self.machine.cpu_of(self.who);
        self.worked.ending = self.conclude(outcome, at_op);
        self.together.written_bytes.set(self.machine.block.written_bytes());
        self.flights.land(self.machine).await;
        for slot in 0..self.thread.slots.count() {
            if let Some(opened) = self.thread.take_out(slot) {
                self.closed(opened, self.thread.slots.get(slot).of).await;
            }
        }
        self.machine.block.has_exited(self.machine, self.who);
        let rows = rows::to_rows(&self.program.ops, self.rows());
        self.worked.more_stats = rows::of_kinds(&rows);
        self.worked.rows = rows;
        self.worked
    }

    fn conclude(&self, outcome: Result<(), Break>, at_op: usize) -> Ending {
        let completed = || {
            if self.state.phase.stop.first_done.is_some() {
                self.together.first_done.set(true);
            }
            Ending::Completed
        };
        let by_rule = || {
            self.together.rule.set(true);
            Ending::Completed
        };
        let failed = |call: &str, sentence: &dyn Fn(&FlatOp, &str, &str) -> String| {
            self.together.has_failed();
            Ending::Failed(self.error(at_op, call, sentence))
        };
        let stop = &self.state.phase.stop;
        match outcome {
            Ok(()) => completed(),
            Err(Break::Enough) => Ending::Completed,
            Err(Break::TimeOver | Break::Stop) => Ending::Stopped,
            Err(Break::Finished) if stop.finished == Finished::Phase => by_rule(),
            Err(Break::Finished) => completed(),
            Err(Break::Wrong(Wrong::Exhausted)) if stop.exhausted == Exhausted::Phase => by_rule(),
            Err(Break::Wrong(Wrong::Exhausted)) if stop.exhausted == Exhausted::Worker => completed(),
            Err(Break::Wrong(wrong)) => failed("flow", &|op, on, set| wrong.sentence(op, on, set)),
            Err(Break::Full(full)) => failed("write", &|_, on, _| format!("{full} ({on})")),
            Err(Break::Deadlocked) => failed("wait", &|_, _, _| {
                "waits for ever: every other thread waits too or has ended, so none can wake it".into()
            }),
        }
    }

    fn error(&self, at_op: usize, call: &str, sentence: &dyn Fn(&FlatOp, &str, &str) -> String) -> OpError {
        let op = &self.program.ops[at_op];
        let at = self.thread.at_file;
        let set = at.map(|f| f.0).or(op.set).or(self.thread.slots.last_set);
        let set = set.and_then(|set| self.state.workload.filesets.get(set)).map(|s| s.name.as_str());
        let set_name = set.unwrap_or("its file set");
        let on = match (at, set) {
            (Some((_, file)), Some(set)) => format!("file {file} of the set {set}"),
            (_, Some(set)) => format!("a file of {set}"),
            _ => "its file".into(),
        };
        let message = format!("operation {}: {}", op.name, sentence(op, &on, set_name));
        let path = if at.is_some() { on } else { set.unwrap_or_default().into() };
        let (after_ops, call) = (self.state.done[self.worker].get().io_ops, call.into());
        OpError { call, path, after_ops, message, ..OpError::default() }
    }
}
