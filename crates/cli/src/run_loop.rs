//! The run loop: executes a workload phase by phase and makes the record of it. Around each phase it reads what the kernel
//! counted and what lay in the page cache, and stores the phase before the next one starts, so that nothing measured is lost.

use crate::line::Common;
use crate::observing::{Observer, PhaseWatch};
use crate::{cold, console, flows, sampled, small, state};
use fathom_engine::{Engine, EngineError, Moments, interrupted_by};
use fathom_observe::cache::cold::Reach;
use fathom_observe::cache::course::Sampler;
use fathom_observe::counters::{Counters, Snapshot};
use fathom_observe::device::DeviceStack;
use fathom_observe::doubts::Seen;
use fathom_observe::{cache, device, doubts, environment, residency, trust, written};
use fathom_record::{Axes, CacheTruth, Phase, Repetition, Residency, Run, Status, Store};
use fathom_workload::{Access, Action, Backend, Bytes, Data, Direction, MapFlush, Program, Stream, Workload};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What a run is called and where it happens.
pub struct Head {
    pub label: String,
    pub dialect: String,
    pub argv: Vec<String>,
    /// The directory whose file system is measured.
    pub directory: PathBuf,
    pub started: jiff::Zoned,
}

/// Hears of every phase as it begins and ends.
pub trait Listener {
    /// A phase begins (outside its clock).
    fn begins(&mut self, _phase: &fathom_workload::Phase, _repetition: u32) {}
    /// All workers of the phase are prepared: it starts now.
    fn starts(&mut self) {}
    /// Whether [`Listener::state`] is to be told now.
    fn wants_state(&mut self) -> bool {
        false
    }
    /// What the phase that runs has counted so far.
    fn state(&mut self, _so_far: Phase) {}
    /// An interval of the phase is over.
    fn interval(&mut self, _interval: &fathom_record::Interval) {}
    /// Whether [`Listener::rows`] is to be told.
    fn wants_rows(&self) -> bool {
        false
    }
    /// What every operation of every flow did until the end of an interval, so long after counting began.
    fn rows(&mut self, _counted_ns: u64, _rows: Vec<fathom_record::Row>) {}
    /// A flow says something to the user.
    fn said(&mut self, _said: &fathom_engine::Said<'_>) {}
    /// A phase has ended; the record holds the repetitions done so far.
    fn ends(&mut self, _phase: &Phase) {}
}

/// A run that is over, and the run's place in the store if it was kept.
pub struct Finished {
    pub run: Run,
    pub stored: bool,
    /// What ended the run early, if not a signal.
    pub failure: Option<Failure>,
    pub signal: Option<i32>,
}

/// What ended a run early.
pub enum Failure {
    /// An operation failed; the record holds it.
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
    let reach = cold::wanted(common).map_err(cold::refused)?;
    engine.check(workload)?;
    let device = meets_a_device(workload, &head.directory);
    let mut observer = Observer::new(common.observe, engine, device, small::is_small(workload))
        .map_err(|e| EngineError::Unsupported { place: "--observe".into(), message: e.to_string() })?;
    let mut run = begin(engine, workload, &head);
    if let (Some(reach), Some(environment)) = (reach, run.environment.as_object_mut()) {
        environment.insert("cold".into(), reach.word().into());
    }
    if let Some(mark) = &common.mark {
        mark.put_on(&mut run);
    }
    let mut keeper = Keeper::open(common, &run);
    let mut failure = None;
    let place = Place::of(&head.directory);
    let mut seen = Seen { compressed_share: compressed_share(workload), ..Seen::default() };
    'rounds: for repetition in 0..workload.repetitions {
        for number in 0..workload.phases.len() {
            if interrupted_by().is_some() {
                break 'rounds;
            }
            let (at, outcome) = one_phase(
                engine,
                workload,
                Turn { number, repetition, reach },
                &mut run,
                (&mut seen, &mut observer),
                listener,
            );
            let outcome = outcome.and_then(|()| place.still_there());
            if let Some(at) = at {
                // Stored before it is told: what stands on the screen is in the store, whatever happens next.
                keeper.phase(&run.id, &run.phases[at]);
                listener.ends(&run.phases[at]);
            }
            if let Err(f) = outcome {
                let goes_on = matches!(f, Failure::Operation(_)) && goes_on(&workload.phases[number]);
                failure.get_or_insert(f);
                if !goes_on {
                    break 'rounds;
                }
            }
        }
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
    run.ended_at = rfc3339(&jiff::Zoned::now());
    run.clock = engine.describe_clock();
    let by_flows: Vec<Stream> = flows::written_data(workload).into_iter().map(writer_of).collect();
    let written = streams(workload.phases.iter()).chain(&by_flows);
    seen.sampled_share = sampled::share(workload, written);
    seen.laid_out_share =
        laid_out(workload, &run).into_iter().filter_map(|data| left_of(workload, data)).reduce(f64::min);
    run.doubts = doubts::of(&run, &run.environment, &seen);
    run.trust = trust::of(&run, &run.environment, &seen);
    if let Some(mark) = &common.mark {
        mark.close(&mut run);
    }
    cold::say(&run, reach.is_some());
    let stored = keeper.close(&run);
    Ok(Finished { run, stored, failure, signal })
}

fn begin(engine: &Engine, workload: &Workload, head: &Head) -> Run {
    Run {
        id: fathom_record::store::new_run_id(head.started.timestamp(), std::process::id()),
        label: head.label.clone(),
        dialect: head.dialect.clone(),
        started_at: rfc3339(&head.started),
        status: Status::Running,
        version: env!("CARGO_PKG_VERSION").into(),
        argv: head.argv.clone(),
        directory: head.directory.display().to_string(),
        seed: workload.seed.0,
        workload: workload.to_toml().unwrap_or_else(|e| format!("# {e}")),
        environment: environment::capture(&head.directory),
        clock: engine.describe_clock(),
        ..Run::default()
    }
}

pub fn rfc3339(time: &jiff::Zoned) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// Which phase, which time, and how far its files are to be made cold.
struct Turn {
    number: usize,
    repetition: u32,
    reach: Option<Reach>,
}

/// One repetition of one phase with everything around it. Gives the position of the phase in the record, if something of it was
/// measured, and how it went.
fn one_phase(
    engine: &mut Engine,
    workload: &Workload,
    turn: Turn,
    run: &mut Run,
    (seen, observer): (&mut Seen, &mut Observer),
    listener: &mut dyn Listener,
) -> (Option<usize>, Result<(), Failure>) {
    let Turn { number, repetition, .. } = turn;
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
    let ready = match crate::readying::ready(engine, workload, phase, turn.reach) {
        Ok(_) if interrupted_by().is_some() => return (None, Ok(())),
        Ok(ready) => ready,
        Err(e) => return (None, Err(Failure::Engine(e))),
    };
    // A drop-in fails as its program does. Files that were not there when the run began can be asked now.
    if run.dialect == "native"
        && let Err(e) = engine.check_direct(workload, phase)
    {
        return (None, Err(Failure::Engine(e)));
    }
    let mut measured = match measure(engine, workload, (number, repetition), (seen, observer), listener) {
        Ok(measured) => measured,
        Err(e) => return (None, Err(Failure::Engine(e))),
    };
    ready.note_in(&mut measured);
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

/// What becomes of the first operation that failed in a phase.
fn failed(error: Option<fathom_record::OpError>) -> Result<(), Failure> {
    error.map_or(Ok(()), |e| Err(Failure::Operation(Box::new(e))))
}

/// Whether the phases after one whose operation failed are executed all the same.
fn goes_on(phase: &fathom_workload::Phase) -> bool {
    phase.stop.failed != fathom_workload::Failed::Run
}

/// Executes the phase between two readings of the kernel's counters.
fn measure(
    engine: &mut Engine,
    workload: &Workload,
    (number, repetition): (usize, u32),
    (seen, observer): (&mut Seen, &mut Observer),
    listener: &mut dyn Listener,
) -> Result<Repetition, EngineError> {
    let paths = engine.paths(workload, &workload.phases[number]);
    let nearest: Vec<PathBuf> = places_of(&paths);
    let stack = device::stack_of_all(&nearest);
    let phase = &workload.phases[number];
    let writes =
        streams(std::iter::once(phase)).any(|s| s.direction != Direction::Read) || flows::write(phase);
    let course = Sampler::new(&stack);
    let watch = observer.phase(&stack);
    let mut readings = Readings {
        stack: &stack,
        paths: &paths,
        writes,
        start: None,
        stop: None,
        course,
        listener,
        watch,
        phase: (phase, number),
    };
    let mut measured = engine.execute(workload, number, repetition, &mut readings)?;
    measured.steady = measured.steady.take().or_else(|| trust::judge_steadiness(&measured));
    let later = Counters::read(&stack);
    let watched = readings.watch.end();
    let Some((counters, before)) = readings.start else { return Ok(measured) };
    measured.physical = counters.until(&later);
    if flows::want_cpu_time(phase) {
        measured.physical.machine_cpu_ns = readings.stop.as_ref().and_then(|(now, _)| counters.busy_ns(now));
    }
    let at_stop = readings.stop.as_ref().and_then(|(_, at_stop)| *at_stop);
    measured.physical.written_in_clock_bytes = readings.stop.and_then(|(now, at_stop)| {
        let in_clock = counters.until(&now);
        let device = written::to_storage(&in_clock)?;
        Some(device.min(written::ours_at_most(&measured, before, at_stop)))
    });
    if let Some(steal) = counters.steal_share(&later) {
        seen.steal.push((number as u32, steal));
    }
    measured.resident_before = before;
    measured.resident_after = residency::of(&paths);
    measured.physical.waiting = cache::waiting(&paths, &stack, before, at_stop, measured.resident_after);
    measured.physical.compression = stack.compression();
    measured.course = readings.course.finish();
    watched.explain(&described(phase, number), in_order(phase), &mut measured, engine.take_calls(), &stack);
    Ok(measured)
}

/// What is read at the two ends of the clock: right before the first worker starts, when earlier dirty pages have been written back,
/// and right after the last one's clock has stopped, before an fsync outside the clock moves anything.
struct Readings<'a> {
    stack: &'a DeviceStack,
    paths: &'a [PathBuf],
    writes: bool,
    start: Option<(Snapshot, Option<Residency>)>,
    stop: Option<(Snapshot, Option<Residency>)>,
    course: Sampler,
    listener: &'a mut dyn Listener,
    watch: PhaseWatch<'a>,
    phase: (&'a fathom_workload::Phase, usize),
}

impl Moments for Readings<'_> {
    fn ready(&mut self) {
        self.watch.begin();
        let resident = residency::of(self.paths);
        self.start = Some((Counters::read(self.stack), resident));
        self.course.start();
        self.listener.starts();
    }

    fn look(&mut self) {
        self.course.look();
    }

    fn counting(&mut self) {
        self.watch.counting();
        // What the warm-up moved belongs to nothing that is counted, and what it left in the cache is what counting begins with.
        let resident = residency::of(self.paths);
        self.start = Some((Counters::read(self.stack), resident));
        self.course.start();
    }

    fn wants_state(&mut self) -> bool {
        self.listener.wants_state()
    }

    fn state(&mut self, so_far: Repetition) {
        let (phase, number) = self.phase;
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
        self.stop = Some((counted, self.writes.then(|| residency::of(self.paths)).flatten()));
    }
}

/// What compression would leave of the written data, from the rule it is made by: the least of all that write.
fn compressed_share(workload: &Workload) -> Option<f64> {
    streams(workload.phases.iter())
        .filter(|s| s.direction != Direction::Read && s.backend != Backend::Null)
        .map(|s| &s.data)
        .chain(flows::written_data(workload))
        .map(share_by_rule)
        .reduce(f64::min)
}

fn share_by_rule(data: &Data) -> f64 {
    match data {
        Data::Unique | Data::Positioned { .. } | Data::Checksummed { .. } => 1.0,
        Data::Sealed(sealed) => {
            if sealed.pattern.is_empty() {
                1.0
            } else {
                0.0
            }
        }
        Data::Zero | Data::Byte(_) | Data::Repeated { .. } => 0.0,
        Data::Marked { stride, length, .. } => length.0 as f64 / stride.0.max(1) as f64,
        Data::Reducible { compressible_percent, duplicate_percent, .. } => {
            f64::from(100 - compressible_percent) * f64::from(100 - duplicate_percent) / 1e4
        }
    }
}

/// The data with which fathom laid out files (prepared them, or filled their holes) that a phase reads.
fn laid_out<'w>(workload: &'w Workload, run: &Run) -> Vec<&'w Data> {
    let mut prepared: Vec<&str> = Vec::new();
    let mut found: Vec<&Data> = Vec::new();
    for (phase, seq) in workload.phases.iter().zip(0u32..) {
        prepared.extend(phase.before.iter().filter_map(|action| match action {
            Action::Prepare(set) => Some(set.as_str()),
            _ => None,
        }));
        let of_phase = run.phases.iter().find(|p| p.seq == seq);
        let filled = of_phase
            .is_some_and(|p| p.repetitions.iter().any(|r| r.extents.is_some_and(|e| e.filled_bytes > 0)));
        let reads = streams(std::iter::once(phase))
            .filter(|s| s.direction != Direction::Write && s.backend != Backend::Null);
        let sets = reads.filter(|s| filled || prepared.contains(&s.fileset.as_str()));
        for data in
            sets.filter_map(|s| workload.filesets.iter().find(|f| f.name == s.fileset)).map(|f| &f.data)
        {
            if !found.contains(&data) {
                found.push(data);
            }
        }
    }
    found
}

/// What compression leaves of it, by its rule or of a sample, whichever is less.
fn left_of(workload: &Workload, data: &Data) -> Option<f64> {
    let sample = sampled::share(workload, std::iter::once(&writer_of(data)));
    Some(sample.unwrap_or(1.0).min(share_by_rule(data)))
}

/// A stream that writes it.
fn writer_of(data: &Data) -> Stream {
    Stream { data: data.clone(), ..Stream::new("", Direction::Write, Bytes(1 << 20)) }
}

/// The streams of phases; flows are no streams.
pub fn streams<'a>(
    phases: impl Iterator<Item = &'a fathom_workload::Phase>,
) -> impl Iterator<Item = &'a Stream> {
    phases.flat_map(|p| &p.groups).flat_map(|g| &g.threads).filter_map(|t| match &t.program {
        Program::Stream(s) => Some(&**s),
        Program::Flow(_) => None,
    })
}

/// Whether every thread of the phase works through its file in order.
fn in_order(phase: &fathom_workload::Phase) -> bool {
    let mut threads = phase.groups.iter().flat_map(|g| &g.threads).peekable();
    threads.peek().is_some()
        && threads
            .all(|t| matches!(&t.program, Program::Stream(stream) if stream.access == Access::Sequential))
}

/// Whether anything of the workload can reach a block device: most of what tests the machine itself cannot.
fn meets_a_device(workload: &Workload, directory: &Path) -> bool {
    let threads = || workload.phases.iter().flat_map(|p| &p.groups).flat_map(|g| &g.threads);
    let moves = threads().any(|t| match &t.program {
        Program::Stream(stream) => stream.backend != Backend::Null,
        Program::Flow(_) => true,
    });
    moves && !device::stack_of(&nearest_existing(directory)).devices.is_empty()
}

/// The file system that is measured. When its mount goes, its path leads to what lies below the mount point: files would be made
/// there, and another disk measured under this one's name.
struct Place {
    directory: PathBuf,
    device: Option<u64>,
}

impl Place {
    fn of(directory: &Path) -> Self {
        Self { directory: directory.into(), device: Self::device_at(directory) }
    }

    fn device_at(directory: &Path) -> Option<u64> {
        directory.metadata().ok().map(|m| m.dev())
    }

    fn still_there(&self) -> Result<(), Failure> {
        if self.device.is_some() && self.device != Self::device_at(&self.directory) {
            return Err(Failure::Gone(self.directory.clone()));
        }
        Ok(())
    }
}

/// Where the files are or will be, each directory once: a set of a million files is not a million places.
fn places_of(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut parents: Vec<&Path> = Vec::new();
    let mut places = Vec::new();
    for path in paths {
        let parent = path.parent().unwrap_or(path);
        // A file may be a mount point or a link of its own; more than a few in one directory are not looked at singly.
        if parents.last() != Some(&parent) && !parents.contains(&parent) {
            parents.push(parent);
            places.push(nearest_existing(path));
        }
        if places.len() >= MOST_PLACES {
            break;
        }
    }
    places
}

/// More directories than this are not asked for their devices.
const MOST_PLACES: usize = 64;

/// The file, or the directory it will be made in.
fn nearest_existing(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
    absolute.ancestors().find(|p| p.exists()).map_or_else(|| PathBuf::from("/"), Path::to_path_buf)
}

/// The record's view of a planned phase.
pub fn described(phase: &fathom_workload::Phase, number: usize) -> Phase {
    let streams: Vec<&Stream> = streams(std::iter::once(phase)).collect();
    let synchronous = |s: &&Stream| {
        s.timed.fsync
            || s.sync_series.is_some_and(|series| series.requests == 1 || series.at_end)
            || s.sync_every.is_some_and(|e| e.writes == 1)
            || s.open.sync != fathom_workload::OpenSync::No
            || matches!(s.backend, Backend::Pvsync2(o) if o.dsync || o.sync)
            // What is left of more than one record is flushed when the file is closed.
            || matches!(s.backend, Backend::Mmap { flush: MapFlush::Sync, flush_every, .. } if flush_every == 1 || s.timed.close)
    };
    Phase {
        seq: number as u32,
        name: phase.name.clone(),
        axes: Axes {
            file_bytes: phase.axes.file.map(|b| b.0),
            record_bytes: phase.axes.record.map(|b| b.0),
            streams: phase.axes.streams.map(u64::from),
            queue_depth: streams.iter().map(|s| u64::from(s.queue_depth)).max().filter(|&d| d > 1),
            tags: phase.axes.tags.clone(),
        },
        reads: streams.iter().any(|s| s.direction != Direction::Write) || flows::read(phase),
        writes: streams.iter().any(|s| s.direction != Direction::Read) || flows::write(phase),
        sync_in_clock: (!streams.is_empty() && streams.iter().all(synchronous))
            || flows::write_synchronously(phase),
        direct: all_direct(&streams) || flows::go_direct(phase),
        repetitions: Vec::new(),
    }
}

/// Whether nothing went through the page cache: all streams that write, and where none does, all that read.
fn all_direct(streams: &[&Stream]) -> bool {
    let writes = |s: &&&Stream| s.direction != Direction::Read;
    let any_writes = streams.iter().any(|s| writes(&s));
    let mut concerned = streams.iter().filter(|s| !any_writes || writes(s)).peekable();
    concerned.peek().is_some() && concerned.all(|s| s.open.direct)
}

/// Keeps the run in the store, as far as that is wanted and possible. A store that fails is a warning: the measurement goes on.
struct Keeper(Option<Store>);

impl Keeper {
    fn open(common: &Common, run: &Run) -> Self {
        if common.no_store {
            return Self(None);
        }
        let opened = state::store(common.store.as_deref()).and_then(|mut store| {
            store.begin(run)?;
            Ok(store)
        });
        match opened {
            Ok(store) => Self(Some(store)),
            Err(e) => {
                console::warning(&format!("this run will not be kept: {e:#}"));
                Self(None)
            }
        }
    }

    fn phase(&mut self, run_id: &str, phase: &Phase) {
        if let Some(store) = &mut self.0
            && let Err(e) = store.append_phase(run_id, phase)
        {
            console::warning(&format!(
                "phase {} could not be stored; the store is given up: {e}",
                phase.name
            ));
            self.0 = None;
        }
    }

    /// Whether the run is in the store.
    fn close(self, run: &Run) -> bool {
        let Some(mut store) = self.0 else { return false };
        let done = run
            .doubts
            .iter()
            .try_for_each(|d| store.append_doubt(&run.id, d))
            .and_then(|()| run.trust.iter().try_for_each(|t| store.append_trust(&run.id, t)))
            .and_then(|()| store.finish(run))
            .and_then(|()| store.close());
        if let Err(e) = &done {
            console::warning(&format!("the end of this run could not be stored: {e}"));
        }
        done.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(direction: Direction, direct: bool) -> Stream {
        let mut stream = Stream::new("f", direction, Bytes(4096));
        stream.open.direct = direct;
        stream
    }

    #[test]
    fn a_phase_is_direct_if_all_that_write_in_it_are() {
        let of = |streams: &[Stream]| all_direct(&streams.iter().collect::<Vec<_>>());
        let (read, write) = (Direction::Read, Direction::Write);
        assert!(of(&[stream(write, true), stream(write, true), stream(read, false)]));
        assert!(!of(&[stream(write, true), stream(write, false)]));
        assert!(of(&[stream(read, true)]) && !of(&[stream(read, true), stream(read, false)]));
        assert!(!of(&[]));
    }

    #[test]
    fn data_that_was_laid_out_counts_where_it_is_read() {
        let workload = |steps: &str, direction: &str| {
            let text = format!(
                "name = \"w\"\nseed = 1\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"f\"] }}\nsize = {{ fixed = \"1MiB\" }}\n\
                 data = \"zero\"\n[[phase]]\nname = \"p\"\n{steps}\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
                 [phase.group.thread.program.stream]\nfileset = \"f\"\ndirection = \"{direction}\"\nrecord = {{ fixed = \"4KiB\" }}\n"
            );
            Workload::from_toml(&text).unwrap_or_else(|e| panic!("{e}"))
        };
        let prepared = workload("before = [{ prepare = \"f\" }]", "read");
        let data = laid_out(&prepared, &Run::default());
        assert_eq!(data, [&Data::Zero]);
        assert!(left_of(&prepared, data[0]).is_some_and(|s| s < 0.01));
        assert!(left_of(&prepared, &Data::Unique).is_some_and(|s| s > 0.99));
        let found = workload("", "read");
        assert!(laid_out(&found, &Run::default()).is_empty(), "found in place");
        assert!(laid_out(&workload("before = [{ prepare = \"f\" }]", "write"), &Run::default()).is_empty());
        let mut filled = described(&found.phases[0], 0);
        let extents = fathom_record::Extents { filled_bytes: 4096, ..Default::default() };
        filled.repetitions.push(Repetition { extents: Some(extents), ..Repetition::default() });
        assert_eq!(laid_out(&found, &Run { phases: vec![filled], ..Run::default() }), [&Data::Zero]);
    }
}
