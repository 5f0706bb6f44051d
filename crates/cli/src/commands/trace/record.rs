//! `fathom trace record`: copies events of a device from the kernel's ring to an event log, until a signal, a time
//! limit or the end of a command. Nothing is analysed meanwhile: each event is a few bytes in a file, flushed ten times
//! a second.

use super::options::Record;
use super::{target, writer};
use crate::exit::{self, Usage};
use crate::output::Patient;
use crate::{console, output};
use anyhow::Context as _;
use fathom_dialects::trace;
use fathom_engine::interrupted_by;
use fathom_engine::ledger::REPLACED;
use fathom_observe::block::{
    Detail, Instance, Watch, WatchResult, Watched, Who, availability, queue_settings,
};
use fathom_record::BlockEvent;
use fathom_record::block::BlockAction;
use fathom_record::block::log::{LogClock, LogDevice, LogEnd, LogFile, LogHeader, LogWriter};
use fathom_report::text;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval for flushing the log, and for checking signals and the command.
const STEP: Duration = Duration::from_millis(100);
/// The request rate is unknown beforehand; rings are sized for this many a second.
const EXPECTED_IOPS: u64 = 100_000;

/// The log being written. A full disk stops writing and is reported at the end.
struct Recording {
    log: LogWriter<LogFile<Patient>>,
    failed: Option<io::Error>,
}

impl Recording {
    fn put(&mut self, event: &BlockEvent, who: &Who) {
        if self.failed.is_some() {
            return;
        }
        // The task that submitted the request matters more than the one that ran when the driver got it.
        let event = if event.action == BlockAction::Issue { who.put_into(event) } else { *event };
        self.failed = self.log.event(&event).err();
    }

    fn flush(&mut self) {
        if self.failed.is_none() {
            self.failed = self.log.flush().err();
        }
    }
}

enum End {
    Time,
    Command(i32),
    Signal(i32),
    Full,
}

pub fn run(options: &Record) -> anyhow::Result<ExitCode> {
    if let Err(why) = availability().events {
        return Err(Usage(format!("trace record needs the kernel's block events: {why}")).into());
    }
    let devices = target::devices(&options.target)?;
    let devices: Vec<Watched> = devices.into_iter().map(Watched::for_a_bystander).collect();
    let path = options.output.clone().unwrap_or_else(|| default_name(&devices));
    let file = output::begin_now(&path, options.force).map_err(|e| cannot_create(&path, e))?;
    let made = Made { path: &path, file: plain_file(file.file()), keep: false };
    let file = LogFile::new(file, &path).map_err(|e| cannot_create(&path, e))?;
    let failed = || format!("cannot write {}", path.display());
    let mut log = LogWriter::new(file, &header(options.full)).with_context(failed)?;
    for device in &devices {
        log.device(&log_device(device)).with_context(failed)?;
    }
    let recording = Arc::new(Mutex::new(Recording { log, failed: None }));
    let sink = {
        let recording = recording.clone();
        move |event: &BlockEvent, who: &Who| lock(&recording).put(event, who)
    };
    fathom_engine::watch_signals();
    let detail = if options.full { Detail::Full } else { Detail::Requests };
    let instance = Instance::new()?;
    let watch = Watch::start(&instance, &devices, detail, EXPECTED_IOPS, sink)?;
    tell_begin(&devices, &path, options);
    let mut child = match start(&options.command) {
        Ok(child) => child,
        Err(e) => {
            watch.stop()?;
            return Err(e);
        }
    };
    let end = wait(&mut child, options.seconds, &recording);
    let WatchResult { sink, lost, observer_cpu_ns, started_ns, stopped_ns, ring_kib, notes, .. } =
        watch.stop()?;
    drop(sink);
    drop(instance);
    let recording = Arc::into_inner(recording).context("the observer still holds the log")?;
    let Recording { log, failed: broken } = recording.into_inner().unwrap_or_else(PoisonError::into_inner);
    let events = log.events();
    let trailer = LogEnd { start_ns: started_ns, end_ns: stopped_ns, observer_cpu_ns, ..LogEnd::default() };
    let finished = broken.map_or_else(|| finish(log, lost, &notes, &trailer), Err);
    let finished = finished.and_then(|()| made.must_be_there());
    if let Err(e) = finished {
        if child.is_some() {
            console::warning(&format!("{}: {e}; the command goes on without being recorded", failed()));
        }
        let _ = with_the_command(child, end);
        // Of the events handed over, counts those that reached the disk.
        let held = if made.is_there() { events_in(&path) } else { 0 };
        if held == 0 {
            return Err(e).with_context(failed);
        }
        made.keep();
        let message = || format!("{}; it holds the first {}", failed(), text::block::events(held));
        return Err(e).with_context(message);
    }
    made.keep();
    tell_end(
        &path,
        &Cost { events, lost, ring_kib, cpu_ns: observer_cpu_ns, ns: stopped_ns.saturating_sub(started_ns) },
    );
    notes.iter().for_each(|note| console::note(note));
    Ok(code(&with_the_command(child, end)?, options))
}

/// Recording ended before the command: its further requests are not recorded, but it is still waited for.
fn with_the_command(child: Option<Child>, end: End) -> anyhow::Result<End> {
    let Some(mut running) = child else { return Ok(end) };
    loop {
        let ended = running.try_wait().context("the command cannot be waited for")?;
        if let Some(status) = ended {
            return Ok(End::Command(code_of(status)));
        }
        if let Some(signal) = interrupted_by() {
            return Ok(End::Signal(signal));
        }
        std::thread::sleep(STEP);
    }
}

/// Writes the end of a log.
fn finish(mut log: LogWriter<LogFile<Patient>>, lost: u64, notes: &[String], end: &LogEnd) -> io::Result<()> {
    log.lost(lost)?;
    notes.iter().try_for_each(|note| log.note(note))?;
    log.finish(end)?.end()
}

/// Number of readable events in a possibly truncated log.
fn events_in(path: &Path) -> u64 {
    let Ok(file) = std::fs::File::open(path) else { return 0 };
    let trace = trace::open(&path.display().to_string(), Box::new(file), None);
    trace.map_or(0, |trace| trace.take_while(Result::is_ok).count() as u64)
}

fn lock(recording: &Mutex<Recording>) -> std::sync::MutexGuard<'_, Recording> {
    recording.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file until it has content: a recording that could not start leaves none.
struct Made<'p> {
    path: &'p Path,
    /// Device and inode of a regular file.
    file: Option<(u64, u64)>,
    keep: bool,
}

fn plain_file(file: &std::fs::File) -> Option<(u64, u64)> {
    file.metadata().ok().filter(std::fs::Metadata::is_file).map(|about| (about.dev(), about.ino()))
}

impl Made<'_> {
    fn keep(mut self) {
        self.keep = true;
    }

    /// Pipes and devices leave nothing under a name.
    fn must_be_there(&self) -> io::Result<()> {
        if self.file.is_none() || self.is_there() { Ok(()) } else { Err(io::Error::other(REPLACED)) }
    }

    /// Whether the path still leads to the opened file.
    fn is_there(&self) -> bool {
        let about = self.path.symlink_metadata().ok().filter(std::fs::Metadata::is_file);
        self.file.is_some() && about.map(|about| (about.dev(), about.ino())) == self.file
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        if !self.keep && self.is_there() {
            let _ = std::fs::remove_file(self.path);
        }
    }
}

fn cannot_create(path: &Path, error: io::Error) -> anyhow::Error {
    let shown = path.display();
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Usage(format!("{shown} exists; name another file, or add --force to overwrite it")).into();
    }
    anyhow::Error::from(error).context(format!("cannot write {shown}"))
}

fn default_name(devices: &[Watched]) -> PathBuf {
    let device = devices.first().map_or("device", |d| d.name.as_str()).replace('/', "-");
    let now = fathom_observe::local_time::now().strftime("%Y%m%d-%H%M%S").to_string();
    PathBuf::from(format!("fathom-trace-{device}-{now}.fbl"))
}

fn log_device(device: &Watched) -> LogDevice {
    let Watched { number, level, bio_based, name, .. } = device;
    let queue = queue_settings(*number);
    LogDevice { number: *number, level: *level, bio_based: *bio_based, name: name.clone(), queue }
}

fn header(full: bool) -> LogHeader {
    let kernel = |name: &str| {
        let text = std::fs::read_to_string(Path::new("/proc/sys/kernel").join(name)).unwrap_or_default();
        text.trim().to_owned()
    };
    let machine = [kernel("ostype"), kernel("osrelease"), std::env::consts::ARCH.into(), kernel("hostname")];
    LogHeader {
        clock: LogClock::Monotonic,
        wall_ns: wall_of_monotonic_zero(),
        queueing: full,
        arrivals_only: false,
        source: "tracefs".into(),
        machine: machine.join(" "),
        writer: writer(),
    }
}

/// Unix time of CLOCK_MONOTONIC 0, accurate to some µs: the clocks are read one after the other.
fn wall_of_monotonic_zero() -> Option<i64> {
    let read = |clock| {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `now` is a valid timespec, and the call writes nothing else.
        let done = unsafe { libc::clock_gettime(clock, &raw mut now) };
        (done == 0).then(|| now.tv_sec.checked_mul(1_000_000_000)?.checked_add(now.tv_nsec))?
    };
    read(libc::CLOCK_REALTIME)?.checked_sub(read(libc::CLOCK_MONOTONIC)?)
}

fn start(command: &[std::ffi::OsString]) -> anyhow::Result<Option<Child>> {
    let Some((program, arguments)) = command.split_first() else { return Ok(None) };
    let shown = Path::new(program).display();
    let child = Command::new(program).args(arguments).spawn();
    Ok(Some(child.map_err(|e| Usage(format!("the command {shown} cannot be started: {e}")))?))
}

/// Waits until recording should end. Ctrl-C also reaches the command, which is then waited for, so that its last
/// requests are recorded.
fn wait(child: &mut Option<Child>, seconds: Option<u32>, recording: &Mutex<Recording>) -> End {
    let begun = Instant::now();
    let limit = seconds.map(|s| Duration::from_secs(s.into()));
    loop {
        let left = limit.map_or(STEP, |l| l.saturating_sub(begun.elapsed()).min(STEP));
        std::thread::sleep(left);
        let mut recording = lock(recording);
        recording.flush();
        if recording.failed.is_some() {
            return End::Full;
        }
        drop(recording);
        if let Some(running) = child
            && let Ok(Some(status)) = running.try_wait()
        {
            *child = None;
            return interrupted_by().map_or(End::Command(code_of(status)), End::Signal);
        }
        if child.is_none()
            && let Some(signal) = interrupted_by()
        {
            return End::Signal(signal);
        }
        if limit.is_some_and(|l| begun.elapsed() >= l) {
            return End::Time;
        }
    }
}

fn code_of(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|s| 128 + s)).unwrap_or(1)
}

fn tell_begin(devices: &[Watched], path: &Path, options: &Record) {
    let names: Vec<&str> = devices.iter().map(|d| d.name.as_str()).collect();
    let until = match (options.command.is_empty(), options.seconds) {
        (true, None) => ", until Ctrl-C".into(),
        (true, Some(s)) => format!(", for {s} s"),
        (false, None) => ", while the command runs".into(),
        (false, Some(s)) => format!(", while the command runs, for {s} s at most"),
    };
    console::note(&format!("recording {} into {}{until}", names.join(", "), path.display()));
}

/// Results of a recording and its cost.
struct Cost {
    events: u64,
    lost: u64,
    ring_kib: u64,
    cpu_ns: u64,
    ns: u64,
}

fn tell_end(path: &Path, cost: &Cost) {
    let Cost { events, lost, ring_kib, .. } = *cost;
    let seconds = cost.ns as f64 / 1e9;
    let bytes = std::fs::metadata(path).map_or(0, |m| m.len());
    let each = if events > 0 { bytes as f64 / events as f64 } else { 0.0 };
    let cpu_us = cost.cpu_ns as f64 / 1e3;
    let per_event = if events > 0 { cpu_us / events as f64 } else { 0.0 };
    console::note(&format!(
        "recorded {} in {seconds:.1} s: {bytes} bytes ({each:.1} an event), lost {}; recording took {:.3} s of CPU \
         ({per_event:.2} us an event), without the kernel's time for each event",
        text::block::events(events),
        lost,
        cpu_us / 1e6
    ));
    if lost > 0 {
        console::warning(&format!(
            "{} events were lost because the kernel's rings ({} KiB for each CPU) were full: counts of this trace may be too low",
            lost, ring_kib
        ));
    }
    console::note(&format!("fathom trace summary {} summarises it", path.display()));
}

/// Passes on the command's own exit code; Ctrl-C is the normal end of a recording without a limit.
fn code(end: &End, options: &Record) -> ExitCode {
    let open_ended = options.command.is_empty() && options.seconds.is_none();
    ExitCode::from(match end {
        End::Time => exit::DONE,
        End::Signal(libc::SIGINT) if open_ended => exit::DONE,
        End::Signal(signal) => exit::of_signal(*signal),
        End::Command(code) => u8::try_from(*code).unwrap_or(exit::FAILED),
        End::Full => exit::FAILED,
    })
}
