//! The life of one worker, from opening its file to its last figure. The order of the steps follows the workload model:
//! everything between the lines that set `start` and `elapsed_ns` is inside the clock.

mod beginning;
mod ending;
mod operations;

use crate::backend::{
    Aio, AsyncBackend, AsyncNull, Backend, Computing, Exchange, Extents, Handle, Many, Mmap, NameCalls, Null,
    Nvme, Posix, Psync, Pvsync2, RunningProgram, Splice, Stdio, Uring,
};
use crate::buffer::Buffer;
use crate::clock::Clock;
use crate::contents::Contents;
use crate::fault::{FailedCall, Fault};
use crate::flow;
use crate::hot::rare::Rare;
use crate::hot::ratio::turn;
use crate::hot::{Hot, Outcome, in_flight, one_by_one};
use crate::job::Job;
use crate::kept;
use crate::punctual::{Punctual, punctual_sleeps};
use crate::settle;
use crate::shared::{End, Figures, STOP_INTERRUPT, STOP_RULE, Shared, add_and_wake};
use crate::spool::Spool;
use crate::start::{ClockStop, Ready, Starting, wait_for_release};
use crate::stream_plan::StreamPlan;
use crate::usage::{ProcessorWait, Usage};
use beginning::{lock_file, open, prologue, touch};
use ending::{finish_in_clock, finish_outside_clock};
use fathom_workload::drive::AWAY;
use fathom_workload::ops::{Done, Place, ReadBack, Source};
use fathom_workload::{Backend as Kind, FileCall, Open, Raise, Stream, WhenStopped};
use operations::OperationSource;
use std::sync::atomic::Ordering;

/// Runs a worker to its end. All failures are reported through its slot.
pub(crate) fn work(job: &Job, shared: &Shared, clock: Clock, own_process: bool) {
    crate::interrupt::leave_signals_to_the_parent(own_process);
    // SAFETY: this worker is the only writer of its slot and this is the only call.
    let slot = unsafe { shared.figures_mut(job.index()) };
    let mut ready = Ready { shared, reported: false };
    let mut clocks = ClockStop { shared, worker: job.index(), reported: false };
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _locked = Buffer::locked(job.locked_bytes())?;
        match job {
            Job::Stream(plan) => {
                settle::settle(plan.cpu, plan.among, plan.nice)?;
                if let Some(priority) = plan.thread.io_priority_number() {
                    settle::io_priority(priority)?;
                }
                crate::numa::settle(plan.stream.buffers.node)
                    .map_err(|e| Fault::of(FailedCall::Memory, e, 0))?;
                // Last, because the other settings may need privileges that are dropped here.
                settle::run_as(plan.thread.run_as).map_err(|e| Fault::of(FailedCall::RunAs, e, 0))?;
                stream(plan, shared, slot, clock, &mut ready, &mut clocks)
            }
            Job::Flow(plan) => {
                settle::settle(plan.cpu, plan.among, plan.nice)?;
                let mut starting = Starting { ready: &mut ready, clocks: &mut clocks };
                flow::live(plan, shared, slot, clock, &mut starting)
            }
        }
    }));
    let end = match result.unwrap_or(Err(Fault::short(FailedCall::Panic, 0, 0, 0))) {
        Ok(end) => end,
        Err(fault) => {
            // No other worker may wait for it.
            shared.live(job.index()).progress.store(AWAY, Ordering::Release);
            slot.fault_call = fault.call;
            slot.fault_errno = fault.errno;
            slot.fault_offset = fault.offset;
            slot.fault_file = fault.file;
            slot.fault_expected = fault.expected;
            slot.fault_found = fault.found;
            // Without this worker the results of the others are meaningless: they stop too, unless the workload says otherwise.
            if shared.control().fail_alone.load(Ordering::Relaxed) == 0 {
                shared.control().stop.fetch_max(STOP_INTERRUPT, Ordering::AcqRel);
            }
            End::Failed
        }
    };
    shared.live(job.index()).end.store(end as u32, Ordering::Release);
    shared.control().done.fetch_add(1, Ordering::AcqRel);
    ready.report();
    clocks.report();
    add_and_wake(&shared.control().event);
}

/// Executes a stream through its back-end.
fn stream(
    plan: &StreamPlan,
    shared: &Shared,
    slot: &mut Figures,
    clock: Clock,
    ready: &mut Ready,
    clocks: &mut ClockStop,
) -> Result<End, Fault> {
    let pooled = plan.pool.is_some();
    match plan.stream.backend {
        Kind::Null if plan.stream.queue_depth > 1 => {
            live::<AsyncNull, Several>(plan, shared, slot, clock, ready, clocks)
        }
        Kind::Null => live::<Null, OneByOne>(plan, shared, slot, clock, ready, clocks),
        Kind::Psync(_) if pooled => live::<Many<Psync>, OneByOne>(plan, shared, slot, clock, ready, clocks),
        Kind::Pvsync2(_) if pooled => {
            live::<Many<Pvsync2>, OneByOne>(plan, shared, slot, clock, ready, clocks)
        }
        Kind::Stdio { .. } if pooled => {
            live::<Many<Stdio>, OneByOne>(plan, shared, slot, clock, ready, clocks)
        }
        Kind::Mmap { .. } if pooled => live::<Many<Mmap>, OneByOne>(plan, shared, slot, clock, ready, clocks),
        Kind::Psync(_) => live::<Psync, OneByOne>(plan, shared, slot, clock, ready, clocks),
        Kind::Pvsync2(_) => live::<Pvsync2, OneByOne>(plan, shared, slot, clock, ready, clocks),
        Kind::Stdio { .. } => live::<Stdio, OneByOne>(plan, shared, slot, clock, ready, clocks),
        Kind::Mmap { .. } => live::<Mmap, OneByOne>(plan, shared, slot, clock, ready, clocks),
        Kind::Uring(_) => live::<Uring, Several>(plan, shared, slot, clock, ready, clocks),
        Kind::Aio { .. } => live::<Aio, Several>(plan, shared, slot, clock, ready, clocks),
        Kind::Nvme(_) => live::<Nvme, Several>(plan, shared, slot, clock, ready, clocks),
        Kind::Posix => live::<Posix, Several>(plan, shared, slot, clock, ready, clocks),
        Kind::Splice if pooled => live::<Many<Splice>, OneByOne>(plan, shared, slot, clock, ready, clocks),
        Kind::Splice => live::<Splice, OneByOne>(plan, shared, slot, clock, ready, clocks),
        Kind::Calls(call) if call.is_by_name() => {
            live::<NameCalls, OneByOne>(plan, shared, slot, clock, ready, clocks)
        }
        Kind::Calls(FileCall::MoveExtents) if pooled => {
            live::<Many<Exchange>, OneByOne>(plan, shared, slot, clock, ready, clocks)
        }
        Kind::Calls(FileCall::MoveExtents) => {
            live::<Exchange, OneByOne>(plan, shared, slot, clock, ready, clocks)
        }
        Kind::Calls(_) if pooled => live::<Many<Extents>, OneByOne>(plan, shared, slot, clock, ready, clocks),
        Kind::Calls(_) => live::<Extents, OneByOne>(plan, shared, slot, clock, ready, clocks),
        Kind::Compute(_) => live::<Computing, OneByOne>(plan, shared, slot, clock, ready, clocks),
        Kind::Beside => live::<RunningProgram, OneByOne>(plan, shared, slot, clock, ready, clocks),
    }
}

/// How a stream's operations are driven through an open file.
trait Drive<H: Handle> {
    fn run<S: Source, const PLAIN: bool>(
        hot: &mut Hot,
        handle: &mut H,
        source: &mut S,
        stream: &Stream,
    ) -> Result<Outcome, Fault>;
    fn finish(hot: &mut Hot, handle: &mut H, source: &mut dyn Source, stream: &Stream) -> Result<(), Fault>;
}

/// One operation at a time.
struct OneByOne;

impl<B: Backend> Drive<B> for OneByOne {
    fn run<S: Source, const PLAIN: bool>(
        hot: &mut Hot,
        handle: &mut B,
        source: &mut S,
        stream: &Stream,
    ) -> Result<Outcome, Fault> {
        one_by_one::run::<B, S, PLAIN>(hot, handle, source, stream.when_stopped)
    }

    fn finish(hot: &mut Hot, handle: &mut B, source: &mut dyn Source, _: &Stream) -> Result<(), Fault> {
        one_by_one::finish(hot, handle, source)
    }
}

/// Several in flight.
struct Several;

impl<B: AsyncBackend> Drive<B> for Several {
    fn run<S: Source, const PLAIN: bool>(
        hot: &mut Hot,
        handle: &mut B,
        source: &mut S,
        stream: &Stream,
    ) -> Result<Outcome, Fault> {
        in_flight::run::<B, S, PLAIN>(hot, handle, source, stream, stream.backend.batch())
    }

    fn finish(hot: &mut Hot, handle: &mut B, source: &mut dyn Source, stream: &Stream) -> Result<(), Fault> {
        in_flight::finish(hot, handle, source, stream.backend.batch())
    }
}

/// Buffers for every operation that may be in flight.
fn memory(plan: &StreamPlan) -> Result<Vec<Contents>, Fault> {
    let depth = plan.depth();
    // The data depend on the file: two workers on one file write the same at the same offset.
    let place = Place { worker: plan.file, ..plan.place };
    let making = crate::buffer::Making::of(plan.stream.buffers, &plan.path);
    (0..depth)
        .map(|n| Contents::of_several(plan.stream, making, plan.largest, plan.seed, place, n, depth))
        .collect()
}

fn live<B: Handle, D: Drive<B>>(
    plan: &StreamPlan,
    shared: &Shared,
    slot: &mut Figures,
    clock: Clock,
    ready: &mut Ready,
    clocks: &mut ClockStop,
) -> Result<End, Fault> {
    let stream = plan.stream;
    let mut memory = memory(plan)?;
    let file_bytes = plan.pool.as_ref().map_or(0, |p| p.files.file_bytes);
    if file_bytes > 0 {
        memory.iter_mut().for_each(|m| m.in_files_of(file_bytes));
    }
    let mut rare = Rare::of(plan, shared.calls().is_some())?;
    if let Some(rare) = &mut rare {
        rare.turn = turn(plan, shared);
    }
    let too_small = Fault::short(FailedCall::Nothing, 0, plan.largest as u64, plan.region.length);
    let mut ops = match plan.reads_back {
        Some(place) => OperationSource::Wrapped(Box::new(ReadBack::new(kept::read(place)?))),
        None => OperationSource::of(plan, rare.is_some()).ok_or(too_small)?,
    };
    let stats = shared.stats(plan.index);
    touch(stats, plan);
    if stream.pace.rate.is_some() || stream.pace.ratio.is_some() || stream.access.is_timed() {
        punctual_sleeps();
    }
    let mut backend = None;
    if !stream.timed.open {
        backend = Some(open::<B>(plan, slot, clock, &mut memory)?);
    }
    if let Some(b) = &mut backend {
        prologue(plan, b)?;
    }
    ready.report();
    wait_for_release((plan.index, plan.delayed), plan.start_cpu, shared, clock);
    if let Some(turn) = rare.as_mut().and_then(|rare| rare.turn.as_mut()) {
        turn.join();
    }
    slot.processor_wait = ProcessorWait::begin();

    let start = clock.now();
    // A worker delayed on purpose says nothing about how closely the others were released.
    slot.released_ticks = if plan.delayed { 0 } else { start };
    let log = (stream.log_operations && plan.spool.is_none()).then(|| {
        // SAFETY: this worker is the only writer of its log; the entries are plain numbers, initially zero.
        unsafe { std::slice::from_raw_parts_mut(shared.log_pointer(plan.index), shared.log_entries()) }
    });
    let control = shared.control();
    let mut hot = Hot {
        clock,
        control,
        live: shared.live(plan.index),
        stats,
        deadline: u64::MAX,
        last: start,
        counting: false,
        done: Done::default(),
        memory,
        file_bytes,
        figures: slot,
        log,
        spool: plan.spool.map(|(file, workers)| Spool::new(file, workers)),
        call_log: shared.call_log(plan.index),
        released: start,
        start,
        warm_up: crate::hot::warm_up(plan, shared, start.saturating_add(clock.ticks(plan.ramp_ns))),
        time: plan.time_ns.map_or(u64::MAX, |ns| clock.ticks(ns)),
        used_before: Usage::default(),
        excluded_ns: 0,
        rare,
        sleeps: Punctual::new(),
        pass_over: &stream.pass_over,
        paused_ns: 0,
        pending: None,
        trimmed: None,
        priority: 0,
        searching: plan.searching,
        finishing: false,
    };
    let found_first = stream.adaptive_depth.is_some_and(|how| !how.goes_on);
    if hot.warm_up.is_none() && !found_first {
        hot.begin_counting(start);
    }
    let mut backend = match backend {
        Some(b) => b,
        None => open::<B>(plan, hot.figures, clock, &mut hot.memory)?,
    };
    lock_file(plan, &hot, &backend)?;
    let outcome = match ops.run::<B, D>(&mut hot, &mut backend, stream) {
        Err(fault) if stream.until_full && fault.errno == libc::ENOSPC => Ok(Outcome::Completed),
        outcome => outcome,
    };
    // What follows its operations is not part of the ratio. But where all share one time limit, it ends slightly earlier for
    // some: late workers would continue without the others, and faster than before.
    let timed_out_together =
        plan.peers_end_together && matches!(outcome, Ok(Outcome::Stopped)) && control.stop_of(hot.live) == 0;
    if !timed_out_together {
        hot.live.progress.store(AWAY, Ordering::Release);
    }
    if !hot.counting {
        // It ended in the warm-up: nothing recorded counts.
        hot.figures.ramp_ops += hot.forget_warm_up();
        hot.begin_counting(hot.last);
        if found_first && hot.figures.settled_depth == 0 {
            // No other worker may wait for its search.
            control.settled.fetch_add(1, Ordering::AcqRel);
        }
    }
    let start = hot.start;
    hot.figures.last_op_ns = clock.between(start, hot.last);
    // Set early, so that the work so far has a duration whatever happens next.
    hot.figures.elapsed_ns = hot.figures.last_op_ns.saturating_sub(hot.excluded_ns);
    // Before other workers are notified and woken, which is not part of the stream's usage.
    hot.note_usage(hot.figures.last_op_ns);
    let outcome = outcome?;
    // A worker past its group's time limit also counts as done, as does one that was ended alone because it is steady.
    let alone = hot.live.stop.load(Ordering::Acquire) == STOP_RULE;
    let own_time = plan.own_time && control.stop_of(hot.live) == 0;
    let timed_out = outcome == Outcome::Stopped && (own_time || alone);
    let raise_first = |when: Raise| {
        if (outcome == Outcome::Completed || timed_out) && plan.raise == Some(when) {
            match plan.company.as_ref().filter(|_| plan.ends_company) {
                Some(company) => shared.end_company(company),
                None => control.raise_first_done(),
            }
        }
    };
    raise_first(Raise::AfterLastOp);
    let excluded_ns = hot.excluded_ns;
    let goes_on = outcome == Outcome::Stopped && stream.when_stopped == WhenStopped::FinishUncounted;
    let mut open_still = Some(backend);
    if outcome != Outcome::Interrupted {
        finish_in_clock(plan, hot.figures, stats, clock, start, &mut open_still)?;
        if stream.timed.fsync || stream.timed.close {
            // A pause after the last operation precedes the fsync: it is part of this time but must not be counted.
            let not_counted_ns = excluded_ns + hot.paused_ns;
            let ended_ns = clock.between(start, clock.now());
            hot.figures.elapsed_ns = ended_ns.saturating_sub(not_counted_ns);
            hot.note_usage(ended_ns);
        }
    }
    raise_first(Raise::AfterFinish);
    clocks.report();
    hot.figures.processor_wait.end();

    if goes_on {
        // From here on only an interrupt ends it, also while it waits for the lock.
        hot.finishing = true;
        let mut b = match open_still.take() {
            Some(b) => {
                // The stop may have ended the first wait for the lock.
                lock_file(plan, &hot, &b)?;
                b
            }
            None => {
                // Do not truncate what was written.
                let open = Open { create: false, truncate: false, ..stream.open };
                let as_it_is = Stream { open, ..stream.clone() };
                let mut b = B::open(&StreamPlan { stream: &as_it_is, ..plan.clone() })?;
                b.register(&mut hot.memory)?;
                lock_file(plan, &hot, &b)?;
                b
            }
        };
        ops.finish::<B, D>(&mut hot, &mut b, stream)?;
        open_still = Some(b);
    }
    if let (Some(place), Some(left)) = (plan.keeps, ops.left_to_read()) {
        kept::leave(place, &left)?;
    }
    finish_outside_clock(plan, shared, hot.figures, clock, start, open_still)?;
    Ok(match outcome {
        Outcome::Completed => End::Completed,
        Outcome::Stopped => End::Stopped,
        Outcome::Interrupted => End::Interrupted,
    })
}
