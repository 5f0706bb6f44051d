//! The life of one worker, from opening its file to its last figure. The order of the steps is the model's: what is inside the
//! clock stands between the two lines that set `start` and `elapsed_ns`.

use crate::backend::{
    Aio, AsyncBackend, AsyncNull, Backend, Handle, Many, Mmap, Null, Psync, Pvsync2, Stdio, Uring,
};
use crate::clock::Clock;
use crate::contents::Contents;
use crate::flow;
use crate::hot::rare::{Quota, Rare, punctual_sleeps};
use crate::hot::{Hot, Outcome, one_by_one, several};
use crate::pools::Pool;
use crate::settle;
use crate::shared::{
    Call, End, FINAL_SYNC, Figures, KINDS, KindStat, READ, READ_COMPLETION, READ_SUBMISSION, RESPONSE,
    STOP_FIRST_DONE, STOP_INTERRUPT, SYNC, Shared, WRITE, WRITE_COMPLETION, WRITE_SUBMISSION, add_and_wake,
    futex_wait,
};
use crate::spool::Spool;
use fathom_workload::ops::{Done, Place, Plain, PoolOps, Region, Source, StreamOps, TurnOps};
use fathom_workload::{Backend as Kind, Direction, Lock, Open, Raise, Stream, Verify, WhenStopped};
use rustix::fd::{AsRawFd as _, BorrowedFd};
use rustix::io::Errno;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// What one worker is to do.
#[derive(Clone)]
pub(crate) struct Plan<'a> {
    pub group: String,
    pub index: usize,
    pub stream: &'a Stream,
    pub path: PathBuf,
    /// Number of the file in its set.
    pub file: u32,
    /// Permission bits, should the open create the file.
    pub mode: u32,
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
    /// Best-effort I/O priority.
    pub io_priority: Option<u8>,
    pub time_ns: Option<u64>,
    /// The time is that of its group alone.
    pub own_time: bool,
    pub ramp_ns: u64,
    /// Workers of the phase that look for a queue depth.
    pub searching: u32,
    /// What all workers of the phase may do together.
    pub quota: Quota,
    pub raise: Option<Raise>,
    /// For a stream over all files of its set.
    pub pool: Option<Pool<'a>>,
    /// Where its operations are written down instead of in the record, and how many workers do so.
    pub spool: Option<(&'a std::fs::File, usize)>,
}

impl Plan<'_> {
    /// Operations that can be in flight at once: no more than there are.
    pub fn depth(&self) -> u32 {
        if self.pool.is_some() {
            return self.stream.queue_depth.max(1);
        }
        let all = StreamOps::new(self.stream, self.region, self.seed, self.place)
            .and_then(|o| o.remaining_operations());
        all.and_then(|n| u32::try_from(n).ok()).unwrap_or(u32::MAX).clamp(1, self.stream.queue_depth.max(1))
    }
}

/// An operation that failed, as numbers: it has to go through shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub call: Call,
    /// 0 if it was not the kernel that refused.
    pub errno: i32,
    pub offset: u64,
    /// Bytes (or, for a failed check, the byte) expected.
    pub expected: u64,
    pub found: u64,
    /// Which of several files.
    pub file: u32,
}

impl Fault {
    pub fn of(call: Call, errno: Errno, offset: u64) -> Self {
        Self { call, errno: errno.raw_os_error(), offset, expected: 0, found: 0, file: 0 }
    }

    /// Something fell short without an error of the kernel.
    pub fn short(call: Call, offset: u64, expected: u64, found: u64) -> Self {
        Self { call, errno: 0, offset, expected, found, file: 0 }
    }

    /// The same of one of several files.
    pub fn in_file(self, file: u32) -> Self {
        Self { file, ..self }
    }
}

/// What one worker executes.
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

    /// Files that it may have open at once.
    pub fn files(&self) -> u64 {
        match self {
            Self::Stream(plan) => plan.pool.as_ref().map_or(1, |pool| pool.paths.len() as u64),
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
    let mut clocks = ClockStop { shared, reported: false };
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match job {
        Job::Stream(plan) => {
            settle::settle(plan.cpu, plan.among, plan.nice)?;
            if let Some(priority) = plan.io_priority {
                settle::io_priority(priority)?;
            }
            stream(plan, shared, slot, clock, &mut ready, &mut clocks)
        }
        Job::Flow(plan) => {
            settle::settle(plan.cpu, plan.among, plan.nice)?;
            let mut starting = Starting { ready: &mut ready, clocks: &mut clocks };
            flow::live(plan, shared, slot, clock, &mut starting)
        }
    }));
    let end = match result.unwrap_or(Err(Fault::short(Call::Panic, 0, 0, 0))) {
        Ok(end) => end,
        Err(fault) => {
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
    reported: bool,
}

impl ClockStop<'_> {
    fn report(&mut self) {
        if !self.reported {
            self.reported = true;
            let control = self.shared.control();
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
    fn run<S: Source>(
        hot: &mut Hot,
        handle: &mut H,
        source: &mut S,
        stream: &Stream,
    ) -> Result<Outcome, Fault>;
    fn finish<S: Source>(hot: &mut Hot, handle: &mut H, source: &mut S, stream: &Stream)
    -> Result<(), Fault>;
}

/// One operation after the other.
struct OneByOne;

impl<B: Backend> Drive<B> for OneByOne {
    fn run<S: Source>(
        hot: &mut Hot,
        handle: &mut B,
        source: &mut S,
        stream: &Stream,
    ) -> Result<Outcome, Fault> {
        one_by_one::run(hot, handle, source, stream.when_stopped)
    }

    fn finish<S: Source>(hot: &mut Hot, handle: &mut B, source: &mut S, _: &Stream) -> Result<(), Fault> {
        one_by_one::finish(hot, handle, source)
    }
}

/// Several in flight.
struct Several;

impl<B: AsyncBackend> Drive<B> for Several {
    fn run<S: Source>(
        hot: &mut Hot,
        handle: &mut B,
        source: &mut S,
        stream: &Stream,
    ) -> Result<Outcome, Fault> {
        several::run(hot, handle, source, stream, batch(stream))
    }

    fn finish<S: Source>(
        hot: &mut Hot,
        handle: &mut B,
        source: &mut S,
        stream: &Stream,
    ) -> Result<(), Fault> {
        several::finish(hot, handle, source, batch(stream))
    }
}

fn batch(stream: &Stream) -> u32 {
    match stream.backend {
        Kind::Uring(options) => options.batch,
        Kind::Aio { batch } => batch,
        _ => 0,
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
    let rare = Rare::of(plan, shared.calls().is_some())?;
    let mut ops = Operations::of(plan, rare.is_some()).ok_or(Fault::short(
        Call::Nothing,
        0,
        plan.largest as u64,
        plan.region.length,
    ))?;
    let stats = shared.stats(plan.index);
    touch(stats, plan);
    if stream.pace.rate.is_some() || stream.access.is_timed() {
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
        ramp: clock.ticks(plan.ramp_ns),
        time: plan.time_ns.map_or(u64::MAX, |ns| clock.ticks(ns)),
        cpu_before: (0, 0),
        excluded_ns: 0,
        rare,
        paused_ns: 0,
        pending: None,
        searching: plan.searching,
        finishing: false,
    };
    if plan.ramp_ns == 0 && stream.adaptive_depth.is_none() {
        hot.begin_counting(start);
    }
    let mut backend = match backend {
        Some(b) => b,
        None => open::<B>(plan, hot.figures, clock, &mut hot.memory)?,
    };
    lock_file(plan, &hot, &backend)?;
    let outcome = ops.run::<B, D>(&mut hot, &mut backend, stream);
    if !hot.counting {
        // It ended in the warm-up: whatever was recorded was not to be counted.
        hot.figures.ramp_ops += hot.forget_warm_up();
        hot.begin_counting(hot.last);
        if stream.adaptive_depth.is_some() && hot.figures.settled_depth == 0 {
            // Nobody is to wait for its search any more.
            control.settled.fetch_add(1, Ordering::AcqRel);
        }
    }
    let start = hot.start;
    hot.figures.last_op_ns = clock.between(start, hot.last);
    // Whatever happens next, what was done so far has a length.
    hot.figures.elapsed_ns = hot.figures.last_op_ns.saturating_sub(hot.excluded_ns);
    let outcome = outcome?;
    // Whose own time is over is done, too.
    let timed_out = plan.own_time && outcome == Outcome::Stopped && control.stop.load(Ordering::Relaxed) == 0;
    let raise_first = |when: Raise| {
        if (outcome == Outcome::Completed || timed_out) && plan.raise == Some(when) {
            let _ = control.stop.compare_exchange(0, STOP_FIRST_DONE, Ordering::AcqRel, Ordering::Relaxed);
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
            hot.figures.elapsed_ns = clock.between(start, clock.now()).saturating_sub(not_counted_ns);
        }
    }
    raise_first(Raise::AfterFinish);
    clocks.report();
    let spent = thread_cpu_ns();
    hot.figures.cpu_user_ns = spent.0.saturating_sub(hot.cpu_before.0);
    hot.figures.cpu_system_ns = spent.1.saturating_sub(hot.cpu_before.1);

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
    finish_outside_clock(plan, shared, hot.figures, clock, start, open_still)?;
    Ok(match outcome {
        Outcome::Completed => End::Completed,
        Outcome::Stopped => End::Stopped,
        Outcome::Interrupted => End::Interrupted,
    })
}

/// Where a stream's operations come from. The loop is compiled for each.
enum Operations<'a> {
    /// Of one kind and size; whether they read.
    Plain(Plain, bool),
    /// Any others on one file.
    Any(Box<StreamOps>),
    /// On all files of a set.
    Pool(Box<PoolOps<'a>>),
    /// On all files of a set, in turns.
    Turns(Box<TurnOps>),
}

impl<'a> Operations<'a> {
    /// The operations of a plan; `None` if not one record fits into its region. Who may have to finish the amount uncounted draws
    /// from one source to the end.
    fn of(plan: &Plan<'a>, rare: bool) -> Option<Self> {
        let stream = plan.stream;
        let listed = matches!(stream.access, fathom_workload::Access::Listed(_));
        if let Some(p) = plan.pool.as_ref().filter(|_| stream.turns.is_some()) {
            return TurnOps::new(stream, p.parts, plan.seed, plan.place)
                .map(|ops| Self::Turns(Box::new(ops)));
        }
        if let Some(p) = plan.pool.as_ref().filter(|_| !listed) {
            let ops = PoolOps::new(stream, p.files, plan.seed, plan.place, p.common, p.busy.clone())?;
            return Some(Self::Pool(Box::new(ops)));
        }
        if !rare
            && stream.when_stopped != WhenStopped::FinishUncounted
            && stream.verify == Verify::No
            && let Some(plain) = Plain::of(stream, plan.region, plan.seed, plan.place)
        {
            return Some(Self::Plain(plain, stream.direction == Direction::Read));
        }
        StreamOps::new(stream, plan.region, plan.seed, plan.place).map(|ops| Self::Any(Box::new(ops)))
    }

    fn run<B: Handle, D: Drive<B>>(
        &mut self,
        hot: &mut Hot,
        backend: &mut B,
        stream: &Stream,
    ) -> Result<Outcome, Fault> {
        match self {
            Self::Any(ops) => D::run(hot, backend, &mut **ops, stream),
            Self::Pool(ops) => D::run(hot, backend, &mut **ops, stream),
            Self::Turns(ops) => D::run(hot, backend, &mut **ops, stream),
            Self::Plain(plain, reads) => match (plain.clone(), *reads) {
                (Plain::Sequential(p), true) => D::run(hot, backend, &mut p.reads(), stream),
                (Plain::Sequential(p), false) => D::run(hot, backend, &mut p.writes(), stream),
                (Plain::Uniform(p), true) => D::run(hot, backend, &mut p.reads(), stream),
                (Plain::Uniform(p), false) => D::run(hot, backend, &mut p.writes(), stream),
                (Plain::Permuted(p), true) => D::run(hot, backend, &mut p.reads(), stream),
                (Plain::Permuted(p), false) => D::run(hot, backend, &mut p.writes(), stream),
            },
        }
    }

    /// The uncounted rest after a stop; a plain stream has none.
    fn finish<B: Handle, D: Drive<B>>(
        &mut self,
        hot: &mut Hot,
        backend: &mut B,
        stream: &Stream,
    ) -> Result<(), Fault> {
        match self {
            Self::Any(ops) => D::finish(hot, backend, &mut **ops, stream),
            Self::Pool(ops) => D::finish(hot, backend, &mut **ops, stream),
            Self::Turns(ops) => D::finish(hot, backend, &mut **ops, stream),
            Self::Plain(..) => Ok(()),
        }
    }
}

/// Touches the counters that the stream will use.
fn touch(stats: &[KindStat; KINDS], plan: &Plan) {
    let stream = plan.stream;
    let asynchronous = matches!(stream.backend, Kind::Uring(_) | Kind::Aio { .. }) || stream.queue_depth > 1;
    let mut used = Vec::new();
    for (does, kinds) in [
        (crate::files::reads(stream), [READ, READ_SUBMISSION, READ_COMPLETION]),
        (crate::files::writes(stream), [WRITE, WRITE_SUBMISSION, WRITE_COMPLETION]),
    ] {
        if does {
            used.extend(&kinds[..if asynchronous { 3 } else { 1 }]);
        }
    }
    if stream.pace.rate.is_some() || stream.access.is_timed() {
        used.push(RESPONSE);
    }
    if stream.sync_series.is_some() {
        used.extend([SYNC, FINAL_SYNC]);
    }
    used.into_iter().for_each(|kind| stats[kind].touch());
    // Every kind is asked at the end of a warm-up whether it holds anything.
    std::hint::black_box(stats.iter().map(KindStat::ops).sum::<u64>());
}

fn open<B: Handle>(
    plan: &Plan,
    slot: &mut Figures,
    clock: Clock,
    memory: &mut [Contents],
) -> Result<B, Fault> {
    let from = clock.now();
    let mut backend = B::open(plan)?;
    slot.open_call_ns = clock.between(from, clock.now());
    backend.register(memory)?;
    Ok(backend)
}

/// Takes the lock on the whole file, if the stream wants it. Others may hold it for their whole phase, so this comes after the
/// start, and a stop that concerns the stream ends the waiting.
fn lock_file<B: Handle>(plan: &Plan, hot: &Hot, backend: &B) -> Result<(), Fault> {
    let Some(file) = backend.descriptor().filter(|_| plan.stream.lock == Lock::File) else { return Ok(()) };
    let kind = if crate::files::writes(plan.stream) { libc::F_WRLCK } else { libc::F_RDLCK };
    loop {
        match fcntl_lock(file, 0, 0, kind, libc::F_OFD_SETLK) {
            Err(fault) if matches!(fault.errno, libc::EAGAIN | libc::EACCES) => {}
            other => return other,
        }
        if hot.stopped(plan.stream.when_stopped).is_some() {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
}

fn prologue<B: Handle>(plan: &Plan, backend: &mut B) -> Result<(), Fault> {
    if plan.stream.sync_before {
        for file in 0..backend.files() {
            backend.select(file);
            backend.sync(false).map_err(|f| f.in_file(file))?;
        }
    }
    if plan.stream.warm_first_record {
        let mut buffer = crate::buffer::Buffer::new(plan.largest)?;
        backend.read_now(plan.region.start, &mut buffer.all_mut()[..plan.largest])?;
    }
    Ok(())
}

/// Waits for the start. Until shortly before it the worker is bound to a CPU of its own: the kernel may otherwise have woken two
/// workers on one CPU, and the first would be done with a short phase before the second has begun. Then it is free again, and
/// spins to the agreed time.
///
/// Who is `delayed` waits no longer once anything has ended the phase: there will be nothing to do.
fn wait_for_release(
    (index, delayed): (usize, bool),
    start_cpu: Option<usize>,
    shared: &Shared,
    clock: Clock,
) {
    const FREE_BEFORE_NS: u64 = 30_000;
    let control = shared.control();
    let home = start_cpu.and_then(|cpu| {
        let home = rustix::thread::sched_getaffinity(None).ok()?;
        settle::bind(cpu).then_some(home)
    });
    if shared.workers() < std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
        // With a CPU to spare for the parent, stay awake: a CPU that has just slept is slow for the first milliseconds, which are
        // all of a short phase.
        const AWAKE_NS: u64 = 1_000_000;
        let until = clock.now() + clock.ticks(AWAKE_NS);
        while control.go.load(Ordering::Acquire) == 0 && clock.now() < until {
            std::hint::spin_loop();
        }
    }
    while control.go.load(Ordering::Acquire) == 0 {
        futex_wait(&control.go, 0, 100_000_000);
    }
    let start_at = shared.live(index).start_at.load(Ordering::Acquire);
    let stopped = || {
        let stop = control.stop.load(Ordering::Relaxed);
        stop == STOP_INTERRUPT || delayed && stop != 0
    };
    let left_ns = || clock.between(clock.now(), start_at);
    while left_ns() > FREE_BEFORE_NS && !stopped() {
        if left_ns() > 300_000 {
            std::thread::sleep(std::time::Duration::from_nanos((left_ns() - 200_000).min(50_000_000)));
        } else {
            // With more workers than CPUs the others must get to this point, too.
            rustix::thread::sched_yield();
        }
    }
    if let Some(home) = home {
        let _ = rustix::thread::sched_setaffinity(None, &home);
    }
    while left_ns() > 0 && !stopped() {
        std::hint::spin_loop();
    }
}

fn finish_in_clock<B: Handle>(
    plan: &Plan,
    slot: &mut Figures,
    stats: &[KindStat; KINDS],
    clock: Clock,
    start: u64,
    backend: &mut Option<B>,
) -> Result<(), Fault> {
    if plan.stream.timed.fsync
        && let Some(b) = backend
    {
        sync_and_mark(syncs_data_only(plan.stream), slot, &stats[last_sync(plan.stream)], clock, start, b)?;
    }
    if plan.stream.timed.close
        && let Some(b) = backend.take()
    {
        close_and_mark(slot, clock, start, b)?;
    }
    Ok(())
}

fn finish_outside_clock<B: Handle>(
    plan: &Plan,
    shared: &Shared,
    slot: &mut Figures,
    clock: Clock,
    start: u64,
    backend: Option<B>,
) -> Result<(), Fault> {
    let Some(mut b) = backend else { return Ok(()) };
    if plan.stream.sync_after {
        // Who holds a lock does not wait for those that want it.
        if plan.stream.lock == Lock::No {
            wait_until_seen(shared);
        }
        sync_and_mark(
            syncs_data_only(plan.stream),
            slot,
            &shared.stats(plan.index)[last_sync(plan.stream)],
            clock,
            start,
            &mut b,
        )?;
    }
    close_and_mark(slot, clock, start, b)
}

/// Others may still be timed: what is written back now would fall into their clocks, and slow them. And the parent is to read its
/// counters before anything is written back. It tells when it has, also if a worker was killed.
fn wait_until_seen(shared: &Shared) {
    const NAP_NS: u64 = 20_000_000;
    // Once all clocks stand, the parent has this many naps to wake up.
    let mut patience = 50;
    let control = shared.control();
    while control.seen.load(Ordering::Acquire) == 0
        && control.stop.load(Ordering::Relaxed) != STOP_INTERRUPT
        && patience > 0
    {
        futex_wait(&control.seen, 0, NAP_NS);
        if control.clocked.load(Ordering::Acquire) as usize >= shared.workers() {
            patience -= 1;
        }
    }
}

fn sync_and_mark<B: Handle>(
    data_only: bool,
    slot: &mut Figures,
    syncs: &KindStat,
    clock: Clock,
    start: u64,
    backend: &mut B,
) -> Result<(), Fault> {
    // The same call as the syncs of the stream itself, if it has any.
    for file in 0..backend.files() {
        backend.select(file);
        let from = clock.now();
        backend.sync(data_only).map_err(|f| f.in_file(file))?;
        let now = clock.now();
        syncs.record(clock.between(from, now), 0);
        slot.fsync_ns = clock.between(start, now);
    }
    Ok(())
}

/// As what the sync at the end is recorded: who looks at the syncs of a series wants those alone.
fn last_sync(stream: &Stream) -> usize {
    if stream.sync_series.is_some() { FINAL_SYNC } else { SYNC }
}

/// Whether the sync at the end is an fdatasync: like those of a series.
fn syncs_data_only(stream: &Stream) -> bool {
    stream.sync_series.is_some_and(|s| s.data_only)
}

fn close_and_mark<B: Handle>(slot: &mut Figures, clock: Clock, start: u64, backend: B) -> Result<(), Fault> {
    let from = clock.now();
    backend.close()?;
    let now = clock.now();
    slot.close_call_ns = clock.between(from, now);
    slot.close_ns = clock.between(start, now);
    Ok(())
}

/// Waits for a lock on a part of the file. The lock belongs to the open file, so threads of one process exclude each other, too.
pub(crate) fn lock(file: BorrowedFd<'_>, offset: u64, length: u64, exclusive: bool) -> Result<(), Fault> {
    let kind = if exclusive { libc::F_WRLCK } else { libc::F_RDLCK };
    fcntl_lock(file, offset, length, kind, libc::F_OFD_SETLKW)
}

/// Gives a lock back.
pub(crate) fn unlock(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<(), Fault> {
    fcntl_lock(file, offset, length, libc::F_UNLCK, libc::F_OFD_SETLK)
}

fn fcntl_lock(
    file: BorrowedFd<'_>,
    offset: u64,
    length: u64,
    kind: libc::c_int,
    command: libc::c_int,
) -> Result<(), Fault> {
    // SAFETY: a zeroed flock is valid; all fields that matter are set below.
    let mut request: libc::flock = unsafe { std::mem::zeroed() };
    request.l_type = kind as libc::c_short;
    request.l_whence = libc::SEEK_SET as libc::c_short;
    request.l_start = offset as libc::off_t;
    request.l_len = length as libc::off_t;
    // SAFETY: the descriptor is open and the struct lives through the call.
    if unsafe { libc::fcntl(file.as_raw_fd(), command, &raw const request) } == 0 {
        return Ok(());
    }
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    Err(Fault::of(Call::Lock, Errno::from_raw_os_error(errno), offset))
}

/// CPU time of the calling thread in user mode and in the kernel, ns. The sum is exact; the kernel splits it by what its ticks
/// happened to see, so the split of less than some ten milliseconds means little.
pub(crate) fn thread_cpu_ns() -> (u64, u64) {
    // SAFETY: getrusage fills the struct it is given.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    let total = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let total = total.tv_sec as u64 * 1_000_000_000 + total.tv_nsec as u64;
    let user =
        (usage.ru_utime.tv_sec as u64 * 1_000_000_000 + usage.ru_utime.tv_usec as u64 * 1_000).min(total);
    (user, total - user)
}
