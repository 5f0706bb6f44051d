//! Turns jobs into the workload: jobs that run together form a phase, and every clone of a job is a group with one worker. One file
//! per subject: `direction`, `io_type` (order, sizes, amount), `files`, `names` and `parts`, `engine`, `pace`, `data`, `report`,
//! `logs`, `replay` (iologs). Several of them share `job_files`, `stretch` and `amounts`.

mod align;
mod amounts;
mod append;
mod backward;
mod blocks;
mod calls;
mod cmdprio;
mod commands;
mod cpus;
mod data;
mod dedupe;
mod direction;
mod donor;
mod engine;
pub mod errors;
mod existing_files;
mod files;
mod fio_warnings;
mod groups;
mod io_type;
mod job_files;
mod latency;
mod layout;
mod limits;
mod logs;
mod loops;
mod merge_traces;
mod mixes;
mod multi_file;
mod names;
mod pace;
mod parse_notes;
mod parts;
mod passes;
mod pattern;
mod phases;
mod ranges;
mod read_back;
mod replay;
mod report;
mod sequence;
mod sets;
mod shared;
mod sprandom;
pub mod state;
pub mod steady;
mod steps;
mod stretch;
mod verify_options;
mod write_iolog;
mod zbd;
mod zones;

pub use commands::Commands;
pub use direction::{Rw, Trims};
pub use engine::Priority;
pub use job_files::{Make, Memory};
pub use logs::{Logs, WindowStatistic};
pub use merge_traces::Merged;
pub use parts::FilePart;
pub use report::{JobReport, Unified};
pub(super) use verify_options::family as verify_family;

use super::general::General;
use super::settings::{Level, Settings};
use super::table::FioSupport;
use super::{Spot, UsageError, World};
use fathom_workload::{Access, Amount, Data, Stream, Verify, Workload};
use std::path::{Path, PathBuf};

/// Jobs and the workload made from them.
#[derive(Debug)]
pub struct Plan {
    /// General options, which belong to no job.
    pub general: General,
    /// The jobs in order of appearance.
    pub jobs: Vec<Job>,
    /// The workload to run.
    pub workload: Workload,
    /// Deviations from fio and options accepted without effect: whole sentences for stderr.
    pub notes: Vec<String>,
    /// Names of options accepted without effect.
    pub ignored: Vec<String>,
    /// Command-line arguments.
    pub arguments: Vec<String>,
}

/// One job with its clones.
#[derive(Debug)]
pub struct Job {
    /// Name as reported.
    pub name: String,
    /// All settings that apply to it.
    pub settings: Settings,
    /// Reporting group.
    pub group: u32,
    /// Step number; jobs of the same step run together.
    pub step: u32,
    /// Whether it waits for the previous step by name (`wait_for`) rather than by a stonewall.
    pub waits: bool,
    /// Number of clones.
    pub clones: u32,
    /// Work of a clone; files and start offset differ by clone.
    pub stream: Stream,
    /// Direction and order in fio's terms.
    pub rw: Rw,
    /// File paths by clone.
    pub files: Vec<Vec<PathBuf>>,
    /// Part of the files for each clone.
    pub parts: Vec<FilePart>,
    /// File sizes in bytes by clone, if a clone has several files; for one file see `parts`.
    pub sizes: Vec<Vec<u64>>,
    /// Preparation and cleanup.
    pub ready: job_files::Ready,
    /// Donor file that its files swap blocks with.
    pub donor: Option<donor::Donor>,
    /// Kinds of errors that it counts instead of ending.
    pub errors: errors::Counted,
    /// Whether an error in it ends the other jobs.
    pub error_ends_all: bool,
    /// Whether it has a phase that reads back and verifies its writes.
    pub reads_back: bool,
    /// Whether the read-back follows a list made before the start.
    pub reads_listed: bool,
    /// By clone, the writes that it would have made, for a list that only reads back.
    pub unwritten: Vec<read_back::Unwritten>,
    /// Limit on the operations of a clone with varying block sizes; whether it is reached depends on the clone.
    pub at_most: Option<u64>,
    /// Writes to verify for each clone, as saved by an earlier run; empty: all.
    pub up_to: Vec<u64>,
    /// Whether and how it saves its progress for later runs.
    pub saves: Option<state::Saves>,
    /// Whether it reads back while it writes.
    pub backlog: bool,
    /// Whether it only reads back.
    pub only_reads_back: bool,
    /// Niceness and I/O priority.
    pub priority: engine::Priority,
    /// Memory that each clone locks, in bytes.
    pub locked_memory: fathom_workload::Bytes,
    /// User and group to run as.
    pub run_as: fathom_workload::RunAs,
    /// Whether it only lays out its files.
    pub only_lays_out: bool,
    /// Phase in which it is prepared.
    pub begins_in: Option<u32>,
    /// Shell commands before and after it.
    pub commands: Commands,
    /// The merged trace that it replays.
    pub merged: Option<Merged>,
    /// Reporting options.
    pub report: JobReport,
    /// Start delay, warm-up and runtime.
    pub times: pace::Times,
    /// Steady-state rule that ends it.
    pub steady: Option<fathom_workload::Steady>,
    /// CPU affinity.
    pub cpus: cpus::Cpus,
    /// Phases of the workload with its workers: the first entry is the job itself, the second its read-back.
    pub places: Vec<JobPlace>,
}

/// Position of a job's workers in the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobPlace {
    /// Phase number.
    pub phase: u32,
    /// Number of the first worker; the other clones follow.
    pub worker: u32,
}

/// Makes the workload for the jobs of a command line.
///
/// # Errors
/// The first thing that is invalid or not supported.
pub fn make(
    general: General,
    settings: Vec<Settings>,
    args: &[String],
    world: &World<'_>,
) -> Result<Plan, UsageError> {
    let mut notes = Notes::default();
    for (name, why) in &general.ignored {
        notes.ignore(name, why);
    }
    let mut jobs: Vec<Job> = Vec::new();
    for settings in settings {
        let job = job(settings, &jobs, &general, world, &mut notes)?;
        jobs.push(job);
    }
    shared::read_back_at_the_end(&mut jobs)?;
    steps::exit_all(&mut jobs)?;
    jobs.iter().try_for_each(|job| steps::ends(job, &jobs))?;
    jobs.iter().try_for_each(|job| steps::ends_with_io(job, &jobs))?;
    let partly: Vec<bool> = jobs.iter().map(|job| may_leave_out(job, &jobs)).collect();
    for (job, _) in jobs.iter_mut().zip(partly).filter(|(_, partly)| *partly) {
        remember(job)?;
    }
    state::load(&mut jobs, &general, world)?;
    dedupe::share(&mut jobs);
    let seed = seed(&mut jobs, world)?;
    let mut workload = Workload {
        name: "fio".into(),
        note: format!("fio {}", args.join(" ")),
        seed: fathom_workload::Seed(seed),
        repetitions: 1,
        ..Workload::default()
    };
    phases::fill(&mut workload, &mut jobs);
    if let Err(errors) = workload.check() {
        let first = errors.first().map_or_else(String::new, ToString::to_string);
        return Err(UsageError::nowhere(format!("what the jobs come to cannot be done: {first}")));
    }
    Ok(Plan { general, jobs, workload, notes: notes.said, ignored: notes.ignored, arguments: args.to_vec() })
}

fn job(
    settings: Settings,
    before: &[Job],
    general: &General,
    world: &World<'_>,
    notes: &mut Notes,
) -> Result<Job, UsageError> {
    for (_, setting) in settings.all() {
        if let FioSupport::Harmless(why) = &setting.row.state {
            notes.ignore(setting.row.name, why);
        }
    }
    let s = &settings;
    let clones = s.count("numjobs", 1, 1)?;
    if clones > MOST_CLONES {
        return Err(s.wrong("numjobs", format!("numjobs={clones}: at most {MOST_CLONES} are expected")));
    }
    loops::check(s)?;
    let steps::JobPosition { group, step, waits } = steps::position(s, before)?;
    let replay = replay::of(s, clones, world, notes)?;
    let rw = replay.as_ref().map_or_else(|| direction::direction(s), |replay| Ok(replay.rw))?;
    let mut stream = replay.as_ref().map_or_else(|| io_type::stream(s, rw), |replay| Ok(replay.stream()))?;
    if replay.is_none() {
        sequence::apply(s, rw, &mut stream, notes)?;
        align::apply(s, rw, &mut stream, notes)?;
        zbd::apply(s, rw, &mut stream, notes)?;
        sprandom::order(s, rw, &mut stream)?;
    }
    engine::apply(s, &mut stream, rw, notes)?;
    cmdprio::apply(s, &mut stream)?;
    cpus::memory(s, &mut stream.buffers, world)?;
    calls::until_full(s, &mut stream, rw)?;
    let mut laid = match &replay {
        Some(replay) => replay.lay(s, &stream, clones, general, world)?,
        None => {
            let made = existing_files::Made::by(before);
            let find = |path: &Path| made.found(path, (world.find)(path));
            let later = World { find: &find, ..*world };
            files::lay(s, &mut stream, rw, clones, general, &later, notes)
                .map_err(|wrong| existing_files::explained(wrong, s, before))?
        }
    };
    let donor = donor::of(s, &stream, &laid, general, world)?;
    zones::apply(s, rw, &mut stream, &mut laid.parts)?;
    sprandom::amount(s, &stream, &mut laid, world, notes)?;
    loops::sync_the_last(s, &mut stream, &laid)?;
    append::check(s, &laid, replay.is_some(), before)?;
    let mut times = pace::times(s, &mut stream, notes)?;
    pace::apply(s, &mut stream, rw)?;
    engine::takes(s, &mut stream)?;
    limits::apply(s, &mut stream, rw)?;
    calls::pause(s, &mut stream)?;
    latency::apply(s, &mut stream, &mut times, notes)?;
    let checks = data::apply(s, &mut stream, rw, &mut laid, (world, general.version), notes)?;
    if stream.until_full && checks.reads_back {
        return Err(s
            .wrong("fill_device", "fill_device: reading back needs to know what was written, and where the space ends is not known")
            .hint("do_verify=0, and a later job with rw=read that verifies"));
    }
    let counted = errors::apply(s, &mut stream, checks.reads_back || checks.backlog, notes)?;
    let sealed = matches!(stream.data, Data::Sealed(_));
    align::check(s, &stream, sealed || checks.reads_back || stream.verify != Verify::No)?;
    // Handled after the run.
    let _ = s.text("write_iolog");
    // Control groups and devices are looked at right before the run.
    groups::check(s)?;
    let _ = (s.on("allow_mounted_write", false), s.text("ioscheduler"));
    let mut report = report::read(s, general.version)?;
    // Calls by name have no preparation, so fio measures the call alone.
    report.lat &= !stream.backend.is_by_name();
    cmdprio::check(s, &stream)?;
    parse_notes::warn(s, notes);
    let mut job = Job {
        name: s.report_name().to_owned(),
        group,
        step,
        waits,
        clones,
        rw,
        files: laid.files,
        parts: laid.parts,
        sizes: laid.sizes,
        ready: laid.ready,
        donor,
        errors: counted,
        error_ends_all: s.on("exitall_on_error", false),
        reads_back: checks.reads_back,
        reads_listed: checks.listed,
        unwritten: Vec::new(),
        up_to: Vec::new(),
        at_most: loops::at_most(s, &stream)?.filter(|_| stream.amount != Amount::Endless),
        saves: state::saves(s, rw, verify_options::family(s) != "0" && !checks.only),
        backlog: checks.backlog,
        only_reads_back: checks.only,
        only_lays_out: false,
        begins_in: None,
        commands: commands::read(s, general, clones, notes)?,
        merged: replay.and_then(|replay| replay.merged),
        priority: engine::priority(s)?,
        run_as: engine::run_as(s)?,
        locked_memory: fathom_workload::Bytes(s.number("lockmem")?.unwrap_or(0)),
        report,
        times,
        steady: steady::read(s, notes)?,
        cpus: cpus::of(s, world)?,
        places: Vec::new(),
        stream,
        settings,
    };
    layout::apply(&mut job, notes)?;
    if general.read_only && job.merged.is_some() {
        return Err(job
            .settings
            .wrong("merge_blktrace_file", "it is written, and --readonly allows no writing"));
    }
    if general.read_only && job.stream.backend.has_files() && !job.rw.writes() && job.stream.changes_files() {
        return Err(job
            .settings
            .wrong("ioengine", "it changes its files, and --readonly allows none of that"));
    }
    if general.read_only && (job.rw.writes() && !job.only_reads_back) {
        return Err(job.settings.wrong("rw", "it writes, and --readonly allows no writing").fio(format!(
            "fio: job <{}> has write or trim bit set, but fio is in read-only mode\n",
            job.name
        )));
    }
    Ok(job)
}

/// Limit on the total number of clones, each of which is a worker.
const MOST_CLONES: u32 = 4096;

/// Whether a job may leave writes out: it may be ended early, or it ignores failed writes.
fn may_leave_out(job: &Job, jobs: &[Job]) -> bool {
    let passed = &job.stream.pass_over;
    !passed.writes.is_empty() || passed.enough > 0 || may_be_ended(job, jobs)
}

/// Whether a job may be ended by another job beside it, by one of its clones, or by a steady state.
fn may_be_ended(job: &Job, jobs: &[Job]) -> bool {
    jobs.iter().any(|other| {
        let beside = other.step == job.step && !other.only_reads_back;
        let ends_others = other.times.exit_all && (job.clones > 1 || !std::ptr::eq(other, job));
        beside && (ends_others || other.steady.is_some())
    })
}

/// Makes a job that may leave writes out remember them for the read-back.
fn remember(job: &mut Job) -> Result<(), UsageError> {
    if job.only_reads_back || !(job.reads_back || job.backlog) {
        return Ok(());
    }
    if job.reads_listed || matches!(job.stream.access, Access::Listed(_)) {
        return Err(job
            .settings
            .wrong("verify", "reading back what an iolog says needs all of it to be written, and exitall may end it anywhere, or errors that are passed over leave something out")
            .hint("leave out exitall, continue_on_error and ignore_error, or set do_verify=0"));
    }
    if job.stream.keep_written.is_none() {
        job.stream.keep_written = Some(read_back::kept(&job.settings, &job.stream)?);
    }
    job.reads_back = true;
    Ok(())
}

/// The seed of the workload, taken from the first job; jobs with another seed keep theirs.
fn seed(jobs: &mut [Job], world: &World<'_>) -> Result<u64, UsageError> {
    /// fio's default seed.
    const DEFAULT: u64 = 0x89;
    let mut first = None;
    for job in jobs {
        let s = &job.settings;
        let repeated = s.on("randrepeat", true);
        // An explicit seed applies whatever randrepeat says, as in fio 3.42.
        let own = s.number("randseed")?.unwrap_or(if repeated { DEFAULT } else { world.clock_seed });
        if *first.get_or_insert(own) != own {
            job.stream.seed = Some(fathom_workload::Seed(own));
        }
    }
    Ok(first.unwrap_or(DEFAULT))
}

/// Notes for the user, without duplicates.
#[derive(Debug, Default)]
pub(super) struct Notes {
    said: Vec<String>,
    ignored: Vec<String>,
}

impl Notes {
    pub fn say(&mut self, sentence: String) {
        if !self.said.contains(&sentence) {
            self.said.push(sentence);
        }
    }

    fn ignore(&mut self, name: &str, why: &str) {
        if !self.ignored.iter().any(|i| i == name) {
            self.ignored.push(name.into());
            self.say(format!("{name} has no effect here: {why}"));
        }
    }
}

impl Job {
    /// The origin of a setting, in words.
    #[must_use]
    pub fn origin(&self, name: &'static str) -> Option<String> {
        let (level, setting) = self.settings.last(name)?;
        Some(origin(*level, &setting.spot))
    }

    /// The directories that contain its files.
    #[must_use]
    pub fn directories(&self) -> Vec<PathBuf> {
        names::directories(&self.settings)
    }

    /// Whether all data read is verified.
    #[must_use]
    pub fn verifies(&self) -> bool {
        self.reads_back || self.backlog || self.stream.verify != Verify::No
    }
}

/// The origin of a setting, in words.
#[must_use]
pub fn origin(level: Level, spot: &Spot) -> String {
    match level {
        Level::CommandLine => "command line, for all jobs".into(),
        Level::Global => format!("{}, global", spot.place()),
        Level::Own => spot.place(),
    }
}
