//! The run loop: executes a workload phase by phase and records it. Reads kernel counters and page cache residency
//! around each phase, and stores the phase before the next one starts, so that no measurement is lost.

mod compressibility;
mod described;
mod places;

use described::as_far_as_counted;
pub use described::described;
pub use places::meets_a_device;

use crate::common::Common;
use crate::observing::{Observer, PhaseWatch};
use crate::prepare::{self, Ready};
use crate::run_store::{self, RunStore};
use crate::script::{InOrder, Script};
use crate::{cold, console, flows, sampled, small};
use compressibility::{compressed_share, laid_out, left_of, writer_of};
use fathom_engine::{Engine, EngineError, Moments, interrupted_by};
use fathom_observe::cache::ImagePages;
use fathom_observe::cache::bypass_check::CacheBypassCheck;
use fathom_observe::cache::cold::Reach;
use fathom_observe::cache::course::Sampler;
use fathom_observe::counters::{Counters, Meanwhile, Snapshot};
use fathom_observe::device::DeviceStack;
use fathom_observe::doubts::DoubtInputs;
use fathom_observe::findings::WorkloadTraits;
use fathom_observe::{cache, device, doubts, environment, residency, trust, written};
use fathom_record::{CacheTruth, Phase, Repetition, Residency, Run, Status};
use fathom_workload::{
    Access, Act, Action, Advice, Backend, CacheState, Direction, FlowOp, OpenSync, Pick, Program, Stream,
    Workload,
};
use places::{MeasuredFileSystem, places_of};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Name and place of a run.
pub struct Head {
    pub label: String,
    pub dialect: String,
    pub argv: Vec<String>,
    /// The directory whose file system is measured.
    pub directory: PathBuf,
    pub started: jiff::Zoned,
}

/// Follows every phase as it begins and ends.
pub trait Listener {
    /// A phase begins, before its clock starts.
    fn begins(&mut self, _phase: &fathom_workload::Phase, _repetition: u32) {}
    /// All workers are prepared; the phase starts now.
    fn starts(&mut self) {}
    /// The start time if ranks on other hosts start together: CLOCK_MONOTONIC, ns.
    fn release_at(&mut self) -> Option<u64> {
        None
    }
    /// Called regularly while the phase runs.
    fn looks(&mut self) {}
    /// Maximum interval between these calls, ns.
    fn look_every_ns(&self) -> u64 {
        u64::MAX
    }
    /// Whether another rank's worker has ended counting for all; `here`: one of this rank's workers has.
    fn first_done(&mut self, _here: bool) -> bool {
        false
    }
    /// The last worker's clock has stopped.
    fn stopped(&mut self) {}
    /// Whether [`Listener::state`] should be called now.
    fn wants_state(&mut self) -> bool {
        false
    }
    /// What the running phase has counted so far.
    fn state(&mut self, _so_far: Phase) {}
    /// An interval of the phase has ended.
    fn interval(&mut self, _interval: &fathom_record::Interval) {}
    /// Whether [`Listener::rows`] should be called.
    fn wants_rows(&self) -> bool {
        false
    }
    /// What every operation of every flow did until the end of an interval; `counted_ns` is the time since counting
    /// began.
    fn rows(&mut self, _counted_ns: u64, _rows: Vec<fathom_record::Row>) {}
    /// A flow prints a message.
    fn said(&mut self, _said: &fathom_engine::Said<'_>) {}
    /// A phase has ended; the record holds the repetitions done so far.
    fn ends(&mut self, _phase: &Phase) {}
}

/// A finished run, and its location in the store if it was stored.
pub struct Finished {
    pub run: Run,
    pub stored: bool,
    /// What ended the run early, if not a signal.
    pub failure: Option<Failure>,
    pub signal: Option<i32>,
}

/// What ended a run early.
pub enum Failure {
    /// An operation failed; it is in the record.
    Operation(Box<fathom_record::OpError>),
    /// The engine could not go on.
    Engine(EngineError),
    /// The measured directory is no longer on the file system it was on at the start.
    Gone(PathBuf),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Operation(e) => write!(f, "{} (after {} operations)", e.message, e.after_ops),
            Self::Engine(e) => write!(f, "{e}"),
            Self::Gone(path) => write!(
                f,
                "{} is no longer on the file system that was measured: its mount has gone, or the directory was removed. Bring it back and repeat",
                path.display()
            ),
        }
    }
}

/// Executes the workload and returns its record, complete or not.
pub fn execute(
    engine: &mut Engine,
    workload: &Workload,
    head: Head,
    common: &Common,
    listener: &mut dyn Listener,
) -> Result<Finished, EngineError> {
    execute_script(engine, &mut InOrder::of(workload), head, common, listener)
}

/// Executes the phases that a script selects, and returns the record, complete or not.
pub fn execute_script(
    engine: &mut Engine,
    script: &mut dyn Script,
    head: Head,
    common: &Common,
    listener: &mut dyn Listener,
) -> Result<Finished, EngineError> {
    let workload = script.workload();
    let reach = cold::wanted(common).map_err(cold::refused)?;
    engine.check(workload)?;
    let device = meets_a_device(workload, &head.directory);
    let mut observer = Observer::new(common.observe, engine, device, small::is_small(workload))
        .map_err(|e| EngineError::Unsupported { place: "--observe".into(), message: e.to_string() })?;
    let planned = workload.phases.len();
    // Both are slow and independent.
    let (environment, store) = std::thread::scope(|scope| {
        let captured = scope.spawn(|| environment::capture(&head.directory));
        let store = run_store::reach(common);
        (captured.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), store)
    });
    let mut run = begin(engine, workload, &head, environment);
    if let (Some(reach), Some(environment)) = (reach, run.environment.as_object_mut()) {
        environment.insert("cold".into(), reach.word().into());
    }
    if let Some(mark) = &common.mark {
        mark.apply(&mut run);
    }
    let mut run_store = RunStore::begin(store, common, &mut run);
    let mut failure = None;
    let place = MeasuredFileSystem::of(&head.directory);
    let mut seen = first_seen(workload);
    let mut checked = workload.phases.len();
    while interrupted_by().is_none() {
        let Some((number, repetition)) = script.next(&run) else { break };
        let workload = script.workload();
        if workload.phases.len() > checked {
            checked = workload.phases.len();
            if let Err(e) = engine.check(workload) {
                failure.get_or_insert(Failure::Engine(e));
                break;
            }
        }
        let turn = PhaseRepetition { number, repetition, reach };
        let (at, outcome) = one_phase(engine, workload, turn, &mut run, (&mut seen, &mut observer), listener);
        let outcome = outcome.and_then(|()| place.still_there());
        if let Some(at) = at {
            // Stored before it is printed: what the screen shows is in the store, whatever happens next.
            run_store.phase(&run.id, &run.phases[at]);
            listener.ends(&run.phases[at]);
        }
        if let Err(f) = outcome {
            // A failure that the script tolerates is in the phase's record; the rest is still measured.
            if matches!(&f, Failure::Operation(error) if script.bears(error)) {
                continue;
            }
            let goes_on = matches!(f, Failure::Operation(_)) && goes_on(&workload.phases[number]);
            failure.get_or_insert(f);
            if !goes_on {
                break;
            }
        }
    }
    let workload = script.workload();
    if checked > planned {
        run.workload = workload.to_toml().unwrap_or_else(|e| format!("# {e}"));
    }
    observer.leave();
    if let Err(e) = engine.keep(workload) {
        console::warning(&format!("files that were to be kept are removed: {e}"));
    }
    for path in engine.clean_up() {
        console::warning(&format!(
            "{} could not be removed; the next run of fathom will try again",
            path.display()
        ));
    }
    let signal = interrupted_by();
    run.status = match (&failure, signal) {
        (_, Some(_)) => Status::Interrupted,
        (Some(_), None) => Status::Failed,
        (None, None) => Status::Completed,
    };
    run.error = failure.as_ref().map(ToString::to_string);
    run.ended_at = rfc3339(&fathom_observe::local_time::now());
    run.clock = engine.describe_clock();
    judge(workload, &mut run, seen);
    if let Some(mark) = &common.mark {
        mark.finish(&mut run);
    }
    cold::say(&run, reach.is_some());
    let stored = run_store.close(&run);
    Ok(Finished { run, stored, failure, signal })
}

/// What is known of the data before any is written.
pub fn first_seen(workload: &Workload) -> DoubtInputs {
    DoubtInputs { compressed_share: compressed_share(workload), ..DoubtInputs::default() }
}

/// Adds the doubts to a finished run.
pub fn judge(workload: &Workload, run: &mut Run, mut seen: DoubtInputs) {
    let by_flows: Vec<Stream> = flows::written_data(workload).into_iter().map(writer_of).collect();
    let written = workload.phases.iter().flat_map(fathom_workload::Phase::streams).chain(&by_flows);
    seen.sampled_share = sampled::share(workload, written);
    seen.laid_out_share =
        laid_out(workload, run).into_iter().filter_map(|data| left_of(workload, data)).reduce(f64::min);
    run.doubts = doubts::of(run, &run.environment, &seen);
    run.trust = trust::of(run, &run.environment, &seen);
}

/// What is known before the first phase.
pub fn begin(engine: &Engine, workload: &Workload, head: &Head, environment: serde_json::Value) -> Run {
    Run {
        id: fathom_record::store::new_run_id(head.started.timestamp(), std::process::id()),
        label: head.label.clone(),
        dialect: head.dialect.clone(),
        started_at: rfc3339(&head.started),
        status: Status::Running,
        version: env!("CARGO_PKG_VERSION").into(),
        argv: crate::secrets::masked(&head.argv),
        directory: head.directory.display().to_string(),
        seed: workload.seed.0,
        // Dialects note their command line in it.
        workload: crate::secrets::masked_in(
            workload.to_toml().unwrap_or_else(|e| format!("# {e}")),
            &head.argv,
        ),
        environment,
        clock: engine.describe_clock(),
        ..Run::default()
    }
}

pub fn rfc3339(time: &jiff::Zoned) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// A phase, its repetition, and how far to make its files cold.
pub struct PhaseRepetition {
    pub number: usize,
    pub repetition: u32,
    pub reach: Option<Reach>,
}

/// One repetition of one phase with everything around it. Returns the phase's index in the record, if anything was
/// measured, and the outcome.
pub fn one_phase(
    engine: &mut Engine,
    workload: &Workload,
    turn: PhaseRepetition,
    run: &mut Run,
    (seen, observer): (&mut DoubtInputs, &mut Observer),
    listener: &mut dyn Listener,
) -> (Option<usize>, Result<(), Failure>) {
    let PhaseRepetition { number, repetition, .. } = turn;
    let phase = &workload.phases[number];
    listener.begins(phase, repetition);
    for action in &phase.before {
        if let Err(e) = engine.act(workload, action) {
            return (None, Err(Failure::Engine(e)));
        }
        if interrupted_by().is_some() {
            return (None, Ok(()));
        }
    }
    let ready = match prepare::ready(engine, workload, phase, turn.reach) {
        Ok(_) if interrupted_by().is_some() => return (None, Ok(())),
        Ok(ready) => ready,
        Err(e) => return (None, Err(Failure::Engine(e))),
    };
    // A drop-in fails as its program does. Files that did not exist when the run began can be examined now.
    if run.dialect == "native"
        && let Err(e) = engine.check_direct(workload, phase)
    {
        return (None, Err(Failure::Engine(e)));
    }
    let turn = (number, repetition, ready);
    let done = measure(engine, workload, turn, &run.environment, (seen, observer), listener);
    let mut measured = match done {
        Ok(measured) => measured,
        Err(e) => return (None, Err(Failure::Engine(e))),
    };
    let error = measured.error().cloned();
    let at = run.phases.iter().position(|p| p.seq == number as u32).unwrap_or_else(|| {
        run.phases.push(described(phase, number));
        run.phases.len() - 1
    });
    measured.truth = CacheTruth::of(&run.phases[at], &measured);
    run.phases[at].repetitions.push(measured);
    if error.is_some() && !goes_on(phase) {
        return (Some(at), failed(error));
    }
    for action in &phase.after {
        if let Err(e) = engine.act(workload, action) {
            return (Some(at), Err(Failure::Engine(e)));
        }
    }
    (Some(at), failed(error))
}

/// Converts the first failed operation of a phase to a failure.
fn failed(error: Option<fathom_record::OpError>) -> Result<(), Failure> {
    error.map_or(Ok(()), |e| Err(Failure::Operation(Box::new(e))))
}

/// Whether later phases run although an operation of this one failed.
fn goes_on(phase: &fathom_workload::Phase) -> bool {
    phase.stop.failed != fathom_workload::Failed::Run
}

/// Executes the phase between two readings of the kernel's counters.
fn measure(
    engine: &mut Engine,
    workload: &Workload,
    (number, repetition, ready): (usize, u32, Ready),
    environment: &serde_json::Value,
    (seen, observer): (&mut DoubtInputs, &mut Observer),
    listener: &mut dyn Listener,
) -> Result<Repetition, EngineError> {
    let paths = engine.paths(workload, &workload.phases[number]);
    let phase = &workload.phases[number];
    let writes = phase.streams().any(|s| s.direction != Direction::Read) || flows::write(phase);
    let nearest = observer.layers(number, &paths, writes).unwrap_or_else(|| places_of(&paths));
    let stack = device::stack_of_all(&nearest);
    let stack = if writes { stack.for_writes() } else { stack };
    let course = Sampler::new(&stack);
    // On a network file system, looking would be work for the server.
    let passing = (writes && described(phase, number).direct && stack.method == "diskstats")
        .then(|| CacheBypassCheck::of(&paths));
    let watch = observer.phase(&stack, &paths, writes && phase.cache != CacheState::Cold);
    let mut readings = Readings {
        stack: &stack,
        paths: &paths,
        writes,
        start: None,
        stop: None,
        began: Instant::now(),
        window: Duration::ZERO,
        course,
        passing,
        below: (None, None),
        images: (None, None),
        listener,
        watch,
        phase: (phase, number),
    };
    let mut measured = engine.execute(workload, number, repetition, &mut readings)?;
    ready.note_in(&mut measured);
    measured.steady = measured.steady.take().or_else(|| trust::judge_steadiness(&measured));
    let later = Counters::read(&stack);
    let watched = readings.watch.end();
    let Some((counters, before)) = readings.start else { return Ok(measured) };
    measured.physical = as_far_as_counted(phase, counters.until(&later));
    let meanwhile = Meanwhile {
        allowed_busy_ns: readings.stop.as_ref().and_then(|(now, _)| counters.allowed_busy_ns(now)),
        ..counters.meanwhile(&later)
    };
    measured.physical.machine_cpu_ns = readings.stop.as_ref().and_then(|(now, _)| counters.busy_ns(now));
    // The observer threads belong to this process; part of their time is system time, and so subtracted once too often.
    let own_user_ns =
        measured.workers.iter().map(|w| w.cpu_user_ns).fold(watched.observer_cpu_ns(), u64::saturating_add);
    let crowd = readings.stop.as_ref().and_then(|(now, _)| counters.crowd(now, own_user_ns));
    let every = synced_every(phase, paths.len());
    let waits = |residency: Residency| {
        written::since_last_sync(written::without_rest_of_folios(residency, &measured), &measured, every)
    };
    let at_stop = readings.stop.as_ref().and_then(|(_, at_stop)| *at_stop).map(waits);
    let after = residency::of(&paths);
    let waits_after = after.map(waits);
    let about = described(phase, number);
    measured.physical.image_cached_bytes = match (readings.images, &readings.stop) {
        ((Some(before), Some(at_stop)), Some((now, _))) => {
            before.gained_until(at_stop, counters.meanwhile(now).evictions)
        }
        _ => None,
    };
    measured.physical.written_in_clock_bytes = readings.stop.and_then(|(now, _)| {
        let (below_before, below_at_stop) = readings.below;
        let ends = written::Ends { before, at_stop, below_before, below_at_stop, window: readings.window };
        written::in_clock(&about, &measured, &counters.until(&now), ends)
    });
    if let Some(crowd) = crowd {
        seen.crowds.push((number as u32, crowd));
    }
    if let Some(steal) = counters.steal_share(&later) {
        seen.steal.push((number as u32, steal));
    }
    measured.resident_before = before;
    measured.resident_after = after;
    let passed = readings.passing.map_or(0, |p| p.finish(&measured));
    measured.physical.waiting = cache::waiting(&paths, &stack, before, at_stop, waits_after, passed);
    measured.physical.compression = stack.compression();
    measured.course = readings.course.finish();
    watched.explain(
        (&about, &asked(phase)),
        environment,
        &mut measured,
        engine.take_calls(),
        meanwhile,
        (&paths, &stack),
    );
    Ok(measured)
}

/// Readings at both ends of the clock: just before the first worker starts, when earlier dirty pages have been written
/// back, and just after the last worker's clock has stopped, before an fsync outside the clock moves anything.
struct Readings<'a> {
    stack: &'a DeviceStack,
    paths: &'a [PathBuf],
    writes: bool,
    start: Option<(Snapshot, Option<Residency>)>,
    stop: Option<(Snapshot, Option<Residency>)>,
    /// When the start counters were read, and the time from then to the stop counters.
    began: Instant,
    window: Duration,
    course: Sampler,
    passing: Option<CacheBypassCheck>,
    /// Page cache residency of files that back disks, if anything is written.
    below: (Option<Residency>, Option<Residency>),
    /// Pages of the images behind loop devices, if nothing is written.
    images: (Option<ImagePages>, Option<ImagePages>),
    listener: &'a mut dyn Listener,
    watch: PhaseWatch<'a>,
    phase: (&'a fathom_workload::Phase, usize),
}

impl Readings<'_> {
    /// Writes enter the images' page cache, too, and would pass for reads.
    fn images(&self) -> Option<ImagePages> {
        if self.writes { None } else { ImagePages::of(self.stack) }
    }

    fn waiting_below(&self) -> Option<Residency> {
        self.writes.then(|| cache::waiting_below(self.stack)).flatten()
    }
}

impl Moments for Readings<'_> {
    fn ready(&mut self) {
        self.watch.begin();
        let resident = residency::of(self.paths);
        self.below.0 = self.waiting_below();
        self.images.0 = self.images();
        self.start = Some((Counters::read(self.stack), resident));
        self.passing.iter_mut().for_each(|p| p.start(resident));
        self.began = Instant::now();
        self.course.start();
        self.listener.starts();
    }

    fn look(&mut self) {
        self.course.look();
        self.passing.iter_mut().for_each(CacheBypassCheck::look);
        self.listener.looks();
    }

    fn gives_up(&mut self) {
        console::error(
            "the storage does not answer: I/O calls hang, and the run ends without them. Complete phases are stored; the next fathom command removes the files",
        );
    }

    fn release_at(&mut self) -> Option<u64> {
        self.listener.release_at()
    }

    fn first_done(&mut self, here: bool) -> bool {
        self.listener.first_done(here)
    }

    fn look_every_ns(&self) -> u64 {
        self.listener.look_every_ns()
    }

    fn counting(&mut self) {
        self.watch.counting();
        // The warm-up's transfers do not count, and what it left in the cache is the initial state. The workers already
        // count, so the counters are read before the cache is inspected, to miss as little as possible.
        let counters = Counters::read(self.stack);
        self.images.0 = self.images();
        self.began = Instant::now();
        self.start = Some((counters, residency::of(self.paths)));
        self.course.start();
        self.passing.iter_mut().for_each(CacheBypassCheck::restart);
        self.below.0 = self.waiting_below();
    }

    fn wants_state(&mut self) -> bool {
        self.listener.wants_state()
    }

    fn state(&mut self, mut so_far: Repetition) {
        let (phase, number) = self.phase;
        if let Some((counters, _)) = &self.start {
            so_far.physical = counters.until(&Counters::read(self.stack));
        }
        self.listener.state(Phase { repetitions: vec![so_far], ..described(phase, number) });
    }

    fn interval(&mut self, interval: &fathom_record::Interval) {
        self.listener.interval(interval);
    }

    fn wants_rows(&self) -> bool {
        self.listener.wants_rows()
    }

    fn rows(&mut self, counted_ns: u64, rows: Vec<fathom_record::Row>) {
        self.listener.rows(counted_ns, rows);
    }

    fn said(&mut self, said: &fathom_engine::Said<'_>) {
        self.listener.said(said);
    }

    fn clocks_stopped(&mut self) {
        let counted = Counters::read(self.stack);
        self.window = self.began.elapsed();
        self.stop = Some((counted, self.writes.then(|| residency::of(self.paths)).flatten()));
        self.below.1 = self.waiting_below();
        self.images.1 = self.images();
        self.listener.stopped();
    }
}

/// Whether a flow operation waits for time to pass, or for a rate limit.
fn pauses(ops: &[FlowOp]) -> bool {
    use Act::{Delay, LimitBandwidth, LimitEvents, LimitIops, LimitOps};
    let waits = |act| matches!(act, Delay | LimitBandwidth | LimitEvents | LimitIops | LimitOps);
    ops.iter().any(|op| waits(op.act) || pauses(&op.ops))
}

/// What findings need to know about the workload.
fn asked(phase: &fathom_workload::Phase) -> WorkloadTraits {
    let threads = || phase.groups.iter().flat_map(|g| &g.threads);
    let all = |is: fn(&Stream) -> bool| {
        threads().next().is_some()
            && threads().all(|t| matches!(&t.program, Program::Stream(stream) if is(stream)))
    };
    let slow = |s: &Stream| {
        s.pace.rate.is_some() || s.pace.think.is_some() || s.pace.burst.is_some() || s.access.is_timed()
    };
    let is_slow = |program: &Program| match program {
        Program::Stream(stream) => slow(stream),
        Program::Flow(flow) => pauses(&flow.ops),
    };
    let readers = || phase.streams().filter(|s| s.direction != Direction::Write);
    // For a mapped file only madvise counts.
    let advised = |s: &Stream| s.open.advice == Advice::Random && !matches!(s.backend, Backend::Mmap { .. });
    WorkloadTraits {
        in_order: all(|s| s.access == Access::Sequential),
        paced: phase.events_per_s.is_some() || threads().any(|t| is_slow(&t.program)),
        all_paced: phase.events_per_s.is_some() || threads().all(|t| is_slow(&t.program)),
        one_file: one_file(phase),
        bound: bound(phase),
        aio: all(|s| matches!(s.backend, Backend::Aio { .. })),
        synced: phase.streams().any(|s| s.open.sync != OpenSync::No),
        all_synced: phase
            .streams()
            .filter(|s| s.direction != Direction::Read)
            .all(|s| s.open.sync != OpenSync::No),
        ranges: phase.streams().any(|s| s.sync_every.is_some_and(|every| every.range.is_some())),
        sets_io_class: threads().any(|t| t.io_priority_number().is_some()),
        keeps_pages: all(keeps_pages),
        advises_random: readers().next().is_some() && readers().all(advised),
        made_cold: phase.before.iter().any(|a| matches!(a, Action::Evict(_) | Action::Remount(_))),
        polling_rings: polling_rings(phase),
    }
}

/// Whether a stream goes through the page cache and leaves its pages there.
fn keeps_pages(stream: &Stream) -> bool {
    let drops = match &stream.backend {
        Backend::Pvsync2(options) => options.uncached,
        Backend::Mmap { advice, .. } => advice.is_some(),
        Backend::Psync(_)
        | Backend::Stdio { .. }
        | Backend::Uring(_)
        | Backend::Nvme(_)
        | Backend::Aio { .. }
        | Backend::Posix => false,
        Backend::Null | Backend::Splice | Backend::Calls(_) | Backend::Compute(_) | Backend::Beside => true,
    };
    !drops && !stream.open.direct && !stream.evict_passes
}

/// Number of workers of a phase whose requests a thread of the kernel picks up.
fn polling_rings(phase: &fathom_workload::Phase) -> u64 {
    let polls = |t: &&fathom_workload::Thread| {
        let Program::Stream(stream) = &t.program else { return false };
        stream.backend.ring().is_some_and(|options| options.submission_polling)
    };
    let of_group = |group: &fathom_workload::Group| {
        let threads: u64 = group.threads.iter().filter(polls).map(|t| u64::from(t.instances)).sum();
        u64::from(group.instances) * threads
    };
    phase.groups.iter().map(of_group).sum()
}

/// The processors of each worker of a phase, if it restricts any.
fn bound(phase: &fathom_workload::Phase) -> Vec<Option<Vec<u32>>> {
    let all = fathom_engine::cpus_of_workers(phase);
    if all.iter().all(Option::is_none) { Vec::new() } else { all }
}

/// Whether all streams of a phase use the same file.
fn one_file(phase: &fathom_workload::Phase) -> bool {
    let threads = || phase.groups.iter().flat_map(|g| &g.threads);
    let file = |thread: &fathom_workload::Thread| match &thread.program {
        Program::Stream(stream) => match stream.pick {
            Pick::One(file) => Some((stream.fileset.clone(), file)),
            _ => None,
        },
        Program::Flow(_) => None,
    };
    let first = threads().next().and_then(file);
    first.is_some() && threads().all(|thread| file(thread) == first)
}

/// After how many writes each stream of a phase syncs the one file that it writes; `None` if they differ or do not.
fn synced_every(phase: &fathom_workload::Phase, files: usize) -> Option<u64> {
    let threads = || phase.groups.iter().flat_map(|g| &g.threads);
    let every = |thread: &fathom_workload::Thread| match &thread.program {
        Program::Stream(stream) if files == 1 || matches!(stream.pick, Pick::One(_)) => {
            stream.sync_every.filter(|e| e.range.is_none() && !e.inside).map(|e| e.writes)
        }
        _ => None,
    };
    let first = threads().next().and_then(every)?;
    threads().all(|thread| every(thread) == Some(first)).then_some(first)
}
