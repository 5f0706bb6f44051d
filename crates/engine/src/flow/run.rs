//! The life of a worker that executes a flow, from its buffers to its last figure, and the loop through the steps.

use super::FlowPlan;
use super::aio::AsyncWrites;
use super::memory::Memory;
use super::worker::{Break, FlowWorker, cpu_ns};
use crate::clock::Clock;
use crate::fault::{FailedCall, Fault};
use crate::hot::Outcome;
use crate::shared::{End, Figures, STOP_FIRST_DONE, STOP_RULE, Shared};
use crate::start::Starting;
use crate::usage::{ProcessorWait, Usage};
use fathom_record::OpKind;
use fathom_workload::drive::Quota;
use fathom_workload::flow::{FlatOp, FlatProgram, FlowThread, Member, NextStep, Numbers, Walk};
use fathom_workload::{Act, Exhausted, Finished, Raise};
use std::sync::atomic::Ordering;

/// Runs the flow of a plan.
pub(crate) fn live(
    plan: &FlowPlan,
    shared: &Shared,
    slot: &mut Figures,
    clock: Clock,
    starting: &mut Starting<'_, '_>,
) -> Result<End, Fault> {
    let setting = plan.setting;
    let place = setting.places[plan.index].as_ref().ok_or(Fault::short(FailedCall::Nothing, 0, 0, 0))?;
    let program = &setting.programs[place.program];
    let mut worker = prepare(plan, place, program, shared, clock)?;
    starting.wait_for_release(plan.index, plan.start_cpu, shared, clock);
    worker.processor_wait = ProcessorWait::begin();

    let start = clock.now();
    slot.released_ticks = start;
    worker.released = start;
    worker.alarm = start.saturating_add(clock.ticks(plan.ramp_ns));
    if plan.ramp_ns == 0 {
        worker.begin_counting(start);
    }
    let outcome = worker.go(program);
    if !worker.counting {
        // It ended in the warm-up.
        worker.forget_warm_up();
        worker.begin_counting(worker.last.max(start));
    }
    let now = clock.now();
    let until = |end: u64| clock.between(worker.start, end);
    slot.elapsed_ns = match outcome {
        // All of the time was used, in ns rather than ticks.
        Err(Break::TimeOver) => plan.time_ns.unwrap_or(0),
        Err(Break::Stop(_)) => until(now.min(worker.deadline)),
        _ => until(worker.last),
    };
    slot.start_ticks = worker.start;
    slot.ramp_ops = worker.ramp_ops;
    slot.last_op_ns = clock.between(worker.start, worker.last);
    let result = worker.conclude(outcome, slot);
    starting.clock_stopped();
    slot.used = Some(Usage::now().since(worker.used_before));
    worker.processor_wait.end();
    slot.processor_wait = worker.processor_wait;
    let left = worker.leave();
    let end = result?;
    left?;
    Ok(end)
}

fn prepare<'a>(
    plan: &'a FlowPlan,
    place: &'a Member,
    program: &'a FlatProgram,
    shared: &'a Shared,
    clock: Clock,
) -> Result<FlowWorker<'a>, Fault> {
    let setting = plan.setting;
    let seed = plan.workload.seed.0;
    let numbers = Numbers::new(&setting.variables, place, program.offsets, plan.workload, plan.place)
        .ok_or(Fault::short(FailedCall::Nothing, 0, 0, 0))?;
    let member = (place.process, place.memory);
    let thread = FlowThread::new(&program.ops, &setting.sets, numbers, setting.supply.as_ref(), member);
    let rows = setting.rows_of(place);
    rows.iter().for_each(|row| row.times.touch());
    let stats = shared.stats(plan.index);
    [OpKind::Read, OpKind::Write, OpKind::Sync].iter().for_each(|&kind| stats[kind].touch());
    if setting.supply.is_some() || program.ops.iter().any(|op| op.act == Act::Delay) {
        crate::punctual::punctual_sleeps();
    }
    if let Some(priority) = place.io_priority {
        crate::settle::io_priority(priority)?;
    }
    let asynchronous = program.ops.iter().any(|op| op.act == Act::AsyncWrite);
    Ok(FlowWorker {
        clock,
        control: shared.control(),
        rows,
        stats,
        tally: shared.tally(plan.index),
        deadline: u64::MAX,
        alarm: u64::MAX,
        thread,
        sleeps: crate::punctual::Punctual::new(),
        memory: Memory::new(program, setting, place.memory, seed, plan.place)?,
        setting,
        place,
        shared,
        worker: plan.index,
        live: shared.live(plan.index),
        plan,
        async_writes: AsyncWrites::new(asynchronous)?,
        call_log: shared.call_log(plan.index),
        at_offset: 0,
        ended_by: (0, 0, 0),
        cpu_time: program.cpu_time,
        cpu_from: 0,
        counting: false,
        released: 0,
        start: 0,
        last: 0,
        used_before: Usage::default(),
        processor_wait: ProcessorWait::default(),
        ramp_ops: 0,
        limited: plan.quota != Quota::default(),
    })
}

impl<'a> FlowWorker<'a> {
    /// Runs the steps until they or the phase end.
    fn go(&mut self, program: &'a FlatProgram) -> Result<(), Break> {
        let mut walk = Walk::new(program);
        let mut before = self.last;
        loop {
            match walk.next(program, &mut self.thread.numbers) {
                NextStep::Do(op) => self.perform(&program.ops[op])?,
                NextStep::Again => self.look(self.clock.now())?,
                NextStep::Through => {
                    if self.last == before {
                        // A pass that counted nothing has not checked the clock.
                        self.look(self.clock.now())?;
                    }
                    before = self.last;
                }
                NextStep::Over => return Ok(()),
            }
        }
    }

    #[inline(always)]
    fn perform(&mut self, op: &'a FlatOp) -> Result<(), Break> {
        if self.cpu_time {
            self.cpu_from = cpu_ns();
        }
        let result = match op.act {
            Act::Read => self.read(op),
            Act::Write => self.write(op),
            _ => self.perform_other(op),
        };
        if result.is_err() {
            self.note(op);
        }
        result
    }

    #[inline(never)]
    fn perform_other(&mut self, op: &'a FlatOp) -> Result<(), Break> {
        self.thread.at_file = None;
        match op.act {
            Act::Read => self.read(op),
            Act::Write => self.write(op),
            Act::ReadWholeFile => self.read_whole_file(op),
            Act::WriteWholeFile => self.write_whole_file(op),
            Act::Append | Act::AppendRandomLength => self.append(op),
            Act::Open => self.open_existing(op),
            Act::Create => self.create(op),
            Act::Close => self.close(op),
            Act::Delete => self.delete(op),
            Act::Stat => self.stat(op),
            Act::Sync => self.sync(op),
            Act::SyncSet => self.sync_set(op),
            Act::MakeDirectory => self.make_directory(op),
            Act::RemoveDirectory => self.remove_directory(op),
            Act::ListDirectory => self.list_directory(op),
            Act::AsyncWrite => self.async_write(op),
            Act::AsyncWait => self.async_wait(op),
            Act::Block => self.block(op),
            Act::Wake => self.wake(op),
            Act::SemaphoreWait => self.semaphore_wait(op),
            Act::SemaphorePost => self.semaphore_post(op),
            Act::Spin => self.spin(op),
            Act::Delay => self.delay(op),
            Act::LimitEvents | Act::LimitIops | Act::LimitOps | Act::LimitBandwidth => self.limit(op),
            Act::FinishOnCount | Act::FinishOnBytes => self.finish(op),
            Act::Say => self.say(op),
            Act::Draw => {
                self.thread.numbers.of(op.value);
                self.look(self.clock.now())
            }
            Act::Sequence => Ok(()),
        }
    }

    /// Consequences of the end for this worker and for the others.
    fn conclude(&self, outcome: Result<(), Break>, slot: &mut Figures) -> Result<End, Fault> {
        let stop = |why: u32| {
            self.control.stop.fetch_max(why, Ordering::AcqRel);
        };
        let completed = || {
            if self.plan.raise.is_some_and(|r| matches!(r, Raise::AfterLastOp | Raise::AfterFinish)) {
                let _ = self.control.stop.compare_exchange(
                    0,
                    STOP_FIRST_DONE,
                    Ordering::AcqRel,
                    Ordering::Relaxed,
                );
            }
            Ok(End::Completed)
        };
        (slot.fault_row, slot.fault_set, slot.fault_entry) = self.ended_by;
        match outcome {
            Ok(()) => completed(),
            Err(Break::Enough) => Ok(End::Completed),
            Err(Break::TimeOver | Break::Stop(Outcome::Stopped | Outcome::Completed)) => Ok(End::Stopped),
            Err(Break::Stop(Outcome::Interrupted)) => Ok(End::Interrupted),
            Err(Break::Finished) => {
                if self.setting.finished == Finished::Phase {
                    stop(STOP_RULE);
                    return Ok(End::Completed);
                }
                completed()
            }
            Err(Break::Exhausted) => match self.setting.exhausted {
                Exhausted::Early => Err(Fault::short(FailedCall::Pick, 0, 0, 0)),
                Exhausted::Phase => {
                    stop(STOP_RULE);
                    Ok(End::Completed)
                }
                Exhausted::Worker => completed(),
            },
            Err(Break::Fault(fault)) => Err(fault),
        }
    }

    /// Waits for operations in flight and closes open files, outside every clock.
    fn leave(&mut self) -> Result<(), Fault> {
        let drained = self.async_writes.drain();
        for slot in 0..self.thread.slots.count() {
            drop(self.thread.take_out(slot));
        }
        drained
    }
}
