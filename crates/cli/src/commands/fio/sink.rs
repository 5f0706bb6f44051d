//! Where the output goes, and the progress shown while jobs run: files being laid out, and on a terminal a status line.

use crate::console;
use crate::output::{self, Patient};
use crate::run_loop::Listener;
use fathom_dialects::fio::output::{formats, normal, results, status};
use fathom_dialects::fio::plan::Make;
use fathom_dialects::fio::{Format, Plan};
use fathom_record::Interval;
use fathom_workload::Phase;
use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Intervals sometimes end this much early.
const LITTLE: Duration = Duration::from_millis(100);

pub struct Sink {
    file: Option<(Patient, PathBuf)>,
    name: String,
    failed: Option<String>,
}

impl Sink {
    /// Opens it, truncating an existing file as fio does.
    pub fn open(path: Option<&Path>) -> Result<Self, String> {
        let Some(path) = path else { return Ok(Self { file: None, name: String::new(), failed: None }) };
        let name = path.display().to_string();
        let file = output::open_now(path).map_err(|e| format!("{name} cannot be written: {e}"))?;
        Ok(Self { file: Some((file, path.to_owned())), name, failed: None })
    }

    /// Writes a text; an error is reported at the end.
    pub fn write(&mut self, text: &str) {
        match &mut self.file {
            None => console::out_raw(text),
            Some((file, _)) => {
                if let Err(error) = file.write_all(text.as_bytes()) {
                    self.failed = Some(format!("{} cannot be written: {error}", self.name));
                }
            }
        }
    }

    /// Fails if anything could not be written, or the file was moved.
    pub fn finish(&mut self) -> Result<(), String> {
        match (self.failed.take(), &self.file) {
            (Some(error), _) => Err(error),
            (None, Some((file, path))) if !file.is_at(path) => {
                Err(format!("{} cannot be written: something else lies there now", self.name))
            }
            _ => Ok(()),
        }
    }
}

/// Prints progress.
pub struct LiveJobs<'a> {
    plan: &'a Plan,
    sink: &'a mut Sink,
    phase: u32,
    next: u32,
    status: bool,
    /// It goes to a standard output that is not a terminal: `--eta=always`.
    piped: bool,
    shown: bool,
    /// Last time it was written, and last time one was left on the screen.
    written: Option<Instant>,
    stood: Instant,
    /// When the results so far are next printed, if requested at intervals.
    told_at: Option<Instant>,
    /// Finished phases, for reports in the middle of a run.
    over: Vec<fathom_record::Phase>,
    /// Start of each phase, Unix time in ms.
    began_ms: BTreeMap<u32, u64>,
    /// Warm-up of the phase, which logs do not count.
    ramp_ms: u64,
}

impl<'a> LiveJobs<'a> {
    pub fn new(plan: &'a Plan, sink: &'a mut Sink) -> Self {
        let status = plan.general.eta.unwrap_or_else(|| std::io::stderr().is_terminal());
        let asked = plan.general.eta == Some(true) && formats(plan).contains(&Format::Normal);
        let piped = asked && !std::io::stdout().is_terminal();
        Self {
            plan,
            sink,
            phase: 0,
            next: 0,
            status,
            piped,
            shown: false,
            written: None,
            stood: Instant::now(),
            told_at: None,
            over: Vec::new(),
            began_ms: BTreeMap::new(),
            ramp_ms: 0,
        }
    }

    /// Start of each phase, Unix time in ms.
    pub fn began_ms(self) -> BTreeMap<u32, u64> {
        self.began_ms
    }

    /// Erases the status line.
    pub fn leave(&mut self) {
        match (std::mem::take(&mut self.shown), self.piped) {
            (false, _) => {}
            (true, true) => console::out_raw("\n"),
            (true, false) => console::erase_line(),
        }
    }
}

impl Listener for LiveJobs<'_> {
    fn begins(&mut self, phase: &Phase, _repetition: u32) {
        self.phase = self.next;
        self.ramp_ms = phase.ramp.0 / 1_000_000;
        self.next += 1;
        if !formats(self.plan).contains(&Format::Normal) {
            return;
        }
        let phase = self.phase;
        let begin = |job: &&fathom_dialects::fio::Job| job.begins_in == Some(phase);
        for job in self.plan.jobs.iter().filter(begin) {
            if matches!(job.ready.make, Make::Write | Make::Reserve | Make::ReserveBehind | Make::Extend) {
                self.sink.write(&normal::laying_out(job, Path::exists));
            }
        }
    }

    fn starts(&mut self) {
        let now = u64::try_from(super::moment().unix_ms).unwrap_or(0);
        self.began_ms.insert(self.phase, now + self.ramp_ms);
        self.stood = Instant::now();
        let every = self.plan.general.status_interval_ns.map(Duration::from_nanos);
        self.told_at = every.and_then(|every| Instant::now().checked_add(every));
    }

    fn interval(&mut self, interval: &Interval) {
        let general = &self.plan.general;
        let least = Duration::from_nanos(general.eta_interval_ns);
        // An interval that ends slightly early still counts as complete.
        let early = |since: Instant| since.elapsed() + LITTLE < least;
        if !self.status || self.written.is_some_and(early) {
            return;
        }
        self.written = Some(Instant::now());
        let line = status::line(self.plan, self.phase, interval);
        let stays = |every: u64| self.stood.elapsed() + LITTLE >= Duration::from_nanos(every);
        let stays = general.eta_newline_ns.is_some_and(stays);
        if stays {
            self.stood = Instant::now();
        }
        self.shown = !stays;
        if self.piped {
            // As fio writes it: a pipe's reader wants no escape sequences.
            console::out_raw(&format!("{line}{}", if stays { '\n' } else { '\r' }));
        } else {
            console::error_raw(&format!("\r\u{1b}[K{line}{}", if stays { "\n" } else { "" }));
        }
    }

    /// Whether SIGUSR1 or `--status-interval` requests a report.
    fn wants_state(&mut self) -> bool {
        let asked = fathom_engine::state_wanted();
        let every = self.plan.general.status_interval_ns.map(Duration::from_nanos);
        let Some((at, every)) = self.told_at.zip(every).filter(|(at, _)| Instant::now() >= *at) else {
            return asked;
        };
        self.told_at = at.checked_add(every);
        true
    }

    fn state(&mut self, so_far: fathom_record::Phase) {
        self.leave();
        let phases = self.over.iter().cloned().chain([so_far]).collect();
        let run = fathom_record::Run { phases, ..fathom_record::Run::default() };
        self.sink.write(&results(self.plan, &run, &super::moment()));
    }

    fn ends(&mut self, phase: &fathom_record::Phase) {
        self.leave();
        self.over.push(phase.clone());
    }
}
