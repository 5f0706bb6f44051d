//! The life of one worker, from opening its file to its last figure. The order of the steps is the model's: what is inside the
//! clock stands between the two lines that set `start` and `elapsed_ns`.

mod beginning;
mod ending;
mod fault;
mod locks;
mod operations;

pub(crate) use fault::Fault;
pub(crate) use locks::{lock, unlock};

use crate::backend::{
    Aio, AsyncBackend, AsyncNull, Backend, Computing, Exchange, Extents, Handle, Many, Mmap, Names, Null,
    Posix, Psync, Pvsync2, Running, Splice, Stdio, Uring,
};
use crate::buffer::Buffer;
use crate::clock::Clock;
use crate::contents::Contents;
use crate::flow;
use crate::hot::rare::{Rare, punctual_sleeps};
use crate::hot::ratio::turn;
use crate::hot::{Hot, Outcome, one_by_one, several};
use crate::kept;
use crate::pools::Pool;
use crate::settle;
use crate::shared::{Call, End, Figures, STOP_INTERRUPT, STOP_RULE, Shared, add_and_wake, futex_wait};
use crate::spool::Spool;
use crate::usage::{ProcessorWait, Usage};
use beginning::{open, prologue, touch, wait_for_release};
use ending::{finish_in_clock, finish_outside_clock};
use fathom_workload::drive::{AWAY, Quota, in_flight};
use fathom_workload::ops::{Done, Place, ReadBack, Region, Source};
use fathom_workload::{Backend as Kind, FileCall, Open, Raise, Stream, Thread, WhenStopped};
use locks::lock_file;
use operations::Operations;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// What one worker is to do.
#[derive(Clone)]
pub(crate) struct Plan<'a> {
    pub group: String,
    pub index: usize,
    pub stream: &'a Stream,
    /// Which files are ours.
    pub ledger: &'a crate::Ledger,
    pub path: PathBuf,
    /// Number of the file in its set.
    pub file: u32,
    /// Permission bits, should the open create the file.
    pub mode: u32,
    /// The file that its extents change places with.
    pub donor: Option<Donor>,
    pub region: Region,
    /// Largest record in bytes.
    pub largest: usize,
    pub seed: u64,
    pub place: Place,
    /// CPU it is bound to for all its life.
    pub cpu: Option<usize>,
    /// CPUs that it may use, if not all.
    pub among: &'a [u32],
    /// It begins so long after the release that a stop may come before.
    pub delayed: bool,
    /// CPU it waits for the start on.
    pub start_cpu: Option<usize>,
    pub nice: i32,
    /// Its I/O priority, whom it runs as, the memory that it keeps locked.
    pub thread: &'a Thread,
    pub time_ns: Option<u64>,
    /// The time is that of its group alone.
    pub own_time: bool,
    pub ramp_ns: u64,
    /// Bytes that end its warm-up, or that of its company; 0: its time does.
    pub ramp_bytes: u64,
    pub ramp_together: bool,
    /// Workers of the phase that look for a queue depth.
    pub searching: u32,
    /// Workers that it keeps a ratio with, itself included; and whether the time of all is over together.
    pub peers: std::sync::Arc<[usize]>,
    pub peers_end_together: bool,
    /// What all workers of the phase may do together.
    pub quota: Quota,
    pub raise: Option<Raise>,
    /// Workers of its company, itself included, if it is in one; and whether it ends those only.
    pub company: Option<std::sync::Arc<[usize]>>,
    pub ends_company: bool,
    /// For a stream over all files of its set.
    pub pool: Option<Pool<'a>>,
    /// Where its operations are written down instead of in the record, and how many workers do so.
    pub spool: Option<(&'a std::fs::File, usize)>,
    /// Where it leaves what it remembers to have written.
    pub keeps: Option<&'a std::fs::File>,
    /// Where what it reads back was left.
    pub reads_back: Option<&'a std::fs::File>,
}

/// A file that gives its blocks away.
#[derive(Clone)]
pub(crate) struct Donor {
    pub path: PathBuf,
    /// Bytes that are allocated to it at once; `None`: those of each operation.
    pub bytes: Option<u64>,
}

impl Plan<'_> {
    /// Operations that can be in flight at once: no more than there are.
    pub fn depth(&self) -> u32 {
        in_flight(self.stream, self.pool.is_some(), self.region, self.seed, self.place)
    }
}

/// What one worker executes.
#[expect(clippy::large_enum_variant, reason = "there is one for each worker, made before the start")]
pub(crate) enum Job<'a> {
    Stream(Plan<'a>),
    Flow(flow::Plan<'a>),
}

impl<'a> Job<'a> {
    /// Its plan, if it is a stream.
    pub fn stream(&self) -> Option<&Plan<'a>> {
        match self {
            Self::Stream(plan) => Some(plan),
            Self::Flow(_) => None,
        }
    }

    pub fn index(&self) -> usize {
        match self {
            Self::Stream(plan) => plan.index,
            Self::Flow(plan) => plan.index,
        }
    }

    /// Memory that it keeps locked.
    pub fn locked_bytes(&self) -> u64 {
        match self {
            Self::Stream(plan) => plan.thread.locked_memory.0,
            Self::Flow(plan) => plan.locked_bytes,
        }
    }

    /// Files that it may have open at once.
    pub fn files(&self) -> u64 {
        match self {
            Self::Stream(plan) => {
                let files = plan.pool.as_ref().map_or(1, |pool| pool.paths.len() as u64);
                // Each has its donor open, too.
                if plan.donor.is_some() { files * 2 } else { files }
            }
            Self::Flow(plan) => plan.slots(),
        }
    }

    /// Name of its group, and the file or directory it works on.
    pub fn name(&self) -> (String, PathBuf) {
        match self {
            Self::Stream(plan) => (plan.group.clone(), plan.path.clone()),
            Self::Flow(plan) => (plan.group.clone(), plan.path.clone()),
        }
    }
}

/// Runs a worker to its end. Nothing that goes wrong leaves this function but through the slot.
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
                crate::numa::settle(plan.stream.buffers.node).map_err(|e| Fault::of(Call::Memory, e, 0))?;
                // Last: the others may need a right that is given up here.
                settle::run_as(plan.thread.run_as).map_err(|e| Fault::of(Call::RunAs, e, 0))?;
                stream(plan, shared, slot, clock, &mut ready, &mut clocks)
            }
            Job::Flow(plan) => {
                settle::settle(plan.cpu, plan.among, plan.nice)?;
                let mut starting = Starting { ready: &mut ready, clocks: &mut clocks };
                flow::live(plan, shared, slot, clock, &mut starting)
            }
        }
    }));
    let end = match result.unwrap_or(Err(Fault::short(Call::Panic, 0, 0, 0))) {
        Ok(end) => end,
        Err(fault) => {
            // Nobody is to wait for it.
            shared.live(job.index()).progress.store(AWAY, Ordering::Release);
            slot.fault_call = fault.call;
            slot.fault_errno = fault.errno;
            slot.fault_offset = fault.offset;
            slot.fault_file = fault.file;
            slot.fault_expected = fault.expected;
            slot.fault_found = fault.found;
            // Unless the workload says so, the others cannot give a result that means anything: they stop too.
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
    plan: &Plan,
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
        Kind::Posix => live::<Posix, Several>(plan, shared, slot, clock, ready, clocks),
        Kind::Splice if pooled => live::<Many<Splice>, OneByOne>(plan, shared, slot, clock, ready, clocks),
        Kind::Splice => live::<Splice, OneByOne>(plan, shared, slot, clock, ready, clocks),
        Kind::Calls(call) if call.is_by_name() => {
            live::<Names, OneByOne>(plan, shared, slot, clock, ready, clocks)
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
        Kind::Beside => live::<Running, OneByOne>(plan, shared, slot, clock, ready, clocks),
    }
}

/// The start and the end of a worker's clock, for whoever works.
pub(crate) struct Starting<'a, 'b> {
    ready: &'a mut Ready<'b>,
    clocks: &'a mut ClockStop<'b>,
}

impl Starting<'_, '_> {
    /// The worker is prepared, and waits for the start.
    pub fn wait_for_release(
        &mut self,
        index: usize,
        start_cpu: Option<usize>,
        shared: &Shared,
        clock: Clock,
    ) {
        self.ready.report();
        wait_for_release((index, false), start_cpu, shared, clock);
    }

    /// What the worker does from here on is in no rate.
    pub fn clock_stopped(&mut self) {
        self.clocks.report();
    }
}

/// Reports that the worker's clock has stopped, exactly once, also when it failed.
struct ClockStop<'a> {
    shared: &'a Shared,
    worker: usize,
    reported: bool,
}

impl ClockStop<'_> {
    fn report(&mut self) {
        if !self.reported {
            self.reported = true;
            let control = self.shared.control();
            self.shared.live(self.worker).clocked.store(1, Ordering::Release);
            let stopped = control.clocked.fetch_add(1, Ordering::AcqRel) as usize + 1;
            add_and_wake(&control.event);
            if stopped == self.shared.workers() {
                // The last one gives the parent time to read the counters: an fsync outside the clock would move them at once.
                // On a busy machine it may be late by many scheduler ticks; an fsync that starts before it has looked would
                // make a cache number a device number.
                const PATIENCE_NS: u64 = 1_000_000_000;
                futex_wait(&control.seen, 0, PATIENCE_NS);
            }
        }
    }
}

/// Reports readiness exactly once, also when preparing failed.
struct Ready<'a> {
    shared: &'a Shared,
    reported: bool,
}

impl Ready<'_> {
    fn report(&mut self) {
        if !self.reported {
            self.reported = true;
            add_and_wake(&self.shared.control().ready);
        }
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

/// One operation after the other.
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
        several::run::<B, S, PLAIN>(hot, handle, source, stream, stream.backend.batch())
    }

    fn finish(hot: &mut Hot, handle: &mut B, source: &mut dyn Source, stream: &Stream) -> Result<(), Fault> {
        several::finish(hot, handle, source, stream.backend.batch())
    }
}

/// Buffers for every operation that may be in flight.
fn memory(plan: &Plan) -> Result<Vec<Contents>, Fault> {
    let depth = plan.depth();
    // The data belong to the file: two workers on one file write the same at the same place.
    let place = Place { worker: plan.file, ..plan.place };
    let making = crate::buffer::Making::of(plan.stream.buffers, &plan.path);
    (0..depth)
        .map(|n| Contents::of_several(plan.stream, making, plan.largest, plan.seed, place, n, depth))
        .collect()
}

fn live<B: Handle, D: Drive<B>>(
    plan: &Plan,
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
    let too_small = Fault::short(Call::Nothing, 0, plan.largest as u64, plan.region.length);
    let mut ops = match plan.reads_back {
        Some(place) => Operations::Wrapped(Box::new(ReadBack::new(kept::read(place)?))),
        None => Operations::of(plan, rare.is_some()).ok_or(too_small)?,
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
    // Who begins later on purpose says nothing of how well the others were released together.
    slot.released_ticks = if plan.delayed { 0 } else { start };
    let log = (stream.log_operations && plan.spool.is_none()).then(|| {
        // SAFETY: this worker is the only writer of its log; the entries are plain numbers, zero at first.
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
        page: shared.page(plan.index),
        released: start,
        start,
        warm_up: crate::hot::warm_up(plan, shared, start.saturating_add(clock.ticks(plan.ramp_ns))),
        time: plan.time_ns.map_or(u64::MAX, |ns| clock.ticks(ns)),
        used_before: Usage::default(),
        excluded_ns: 0,
        rare,
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
    // What comes after its operations is no part of the ratio. But where the time of all is over, it is over for some a little earlier:
    // those who are late would go on without the others, and faster than ever.
    let timed_out_together =
        plan.peers_end_together && matches!(outcome, Ok(Outcome::Stopped)) && control.stop_of(hot.live) == 0;
    if !timed_out_together {
        hot.live.progress.store(AWAY, Ordering::Release);
    }
    if !hot.counting {
        // It ended in the warm-up: whatever was recorded was not to be counted.
        hot.figures.ramp_ops += hot.forget_warm_up();
        hot.begin_counting(hot.last);
        if found_first && hot.figures.settled_depth == 0 {
            // Nobody is to wait for its search any more.
            control.settled.fetch_add(1, Ordering::AcqRel);
        }
    }
    let start = hot.start;
    hot.figures.last_op_ns = clock.between(start, hot.last);
    // Whatever happens next, what was done so far has a length.
    hot.figures.elapsed_ns = hot.figures.last_op_ns.saturating_sub(hot.excluded_ns);
    // Before the others are told and woken: that is no work of the stream.
    hot.note_usage(hot.figures.last_op_ns);
    let outcome = outcome?;
    // Whose own time is over is done, too, and who was ended alone because it is steady.
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
            // A pause after the last operation lies before the fsync: it is in this time, and not to be counted.
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
        // From here on only an interruption ends it; that goes for waiting for the lock, too.
        hot.finishing = true;
        let mut b = match open_still.take() {
            Some(b) => {
                // The stop may have ended the first wait for it.
                lock_file(plan, &hot, &b)?;
                b
            }
            None => {
                // What was written is to stay.
                let open = Open { create: false, truncate: false, ..stream.open };
                let as_it_is = Stream { open, ..stream.clone() };
                let mut b = B::open(&Plan { stream: &as_it_is, ..plan.clone() })?;
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
