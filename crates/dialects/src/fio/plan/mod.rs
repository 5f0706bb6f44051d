//! From jobs to the workload: jobs that run together are a phase, every clone of a job is a group with one worker. What belongs to one
//! subject is in a file of its own: `what` (direction, order, sizes, amount), `files`, `names` and `parts` (of them), `engine`, `pace`, `data`, `report`, `logs`, `replay` and `logged` (iologs).

mod align;
mod backlog;
mod blocks;
mod cpus;
mod data;
mod engine;
mod files;
mod logged;
mod logs;
mod names;
mod pace;
mod parts;
mod pattern;
mod phases;
mod replay;
mod report;
mod sequence;
mod sets;
mod several;
mod steps;
mod strips;
mod verified;
mod what;

pub use backlog::Backlog;
pub use files::{Make, Memory};
pub use logs::{Logs, Value};
pub use parts::Part;
pub use report::Report;
pub use what::Direction as Rw;

use super::general::General;
use super::settings::{Level, Settings};
use super::table::{self, State};
use super::{Spot, World, Wrong};
use fathom_workload::{Data, Stream, Verify, Workload};
use std::path::PathBuf;

/// Jobs as they will run.
#[derive(Debug)]
pub struct Plan {
    /// Options of the program.
    pub general: General,
    /// The jobs in their order.
    pub jobs: Vec<Job>,
    /// What is to be done.
    pub workload: Workload,
    /// What fathom does of itself in another way, and what was accepted without effect: whole sentences for stderr.
    pub notes: Vec<String>,
    /// Options that were accepted without effect.
    pub ignored: Vec<String>,
    /// The words of the command line.
    pub arguments: Vec<String>,
}

/// One job with its clones.
#[derive(Debug)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// All its settings.
    pub settings: Settings,
    /// Group in reports.
    pub group: u32,
    /// Jobs of one step run together.
    pub step: u32,
    /// It waits for those of the step before by name, not behind a stonewall.
    pub waits: bool,
    /// Number of clones.
    pub clones: u32,
    /// What a clone does; its files and its start differ by clone.
    pub stream: Stream,
    /// What it does in the words of fio.
    pub rw: Rw,
    /// Files of each clone.
    pub files: Vec<Vec<PathBuf>>,
    /// The part of them that each clone works on.
    pub parts: Vec<Part>,
    /// Bytes of each of several files, by clone; of one, the part has them.
    pub sizes: Vec<Vec<u64>>,
    /// How it is made ready and ended.
    pub ready: files::Ready,
    /// An error of it ends the others.
    pub error_ends_all: bool,
    /// The reading back of a job that writes and verifies.
    pub reads_back: bool,
    /// Just what it wrote, as it did not write all, or not once each.
    pub reads_listed: bool,
    /// It reads back while it writes.
    pub backlog: Option<backlog::Backlog>,
    /// Only the reading back.
    pub only_reads_back: bool,
    /// Niceness and I/O priority.
    pub priority: (i32, Option<u8>),
    /// What is printed of it.
    pub report: Report,
    /// Its times.
    pub times: pace::Times,
    /// Its CPUs.
    pub cpus: cpus::Cpus,
    /// Workers of this job in the phases of the workload: phase, first worker. The second is that of the reading back.
    pub places: Vec<Place>,
}

/// Where the workers of a job are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of the phase.
    pub phase: u32,
    /// The first worker; those of the other clones follow.
    pub worker: u32,
}

/// Makes the workload of the jobs of a command line.
///
/// # Errors
/// The first thing that is wrong, or not supported.
pub fn make(
    general: General,
    settings: Vec<Settings>,
    args: &[String],
    world: &World<'_>,
) -> Result<Plan, Wrong> {
    let mut notes = Notes::default();
    for (name, why) in &general.ignored {
        notes.ignore(name, why);
    }
    let mut jobs: Vec<Job> = Vec::new();
    for settings in settings {
        let job = job(settings, &jobs, &general, world, &mut notes)?;
        jobs.push(job);
    }
    jobs.iter().try_for_each(|job| steps::ends(job, &jobs).and_then(|()| written_whole(job, &jobs)))?;
    let seed = seed(&jobs, world)?;
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
        return Err(Wrong::nowhere(format!("what the jobs come to cannot be done: {first}")));
    }
    Ok(Plan { general, jobs, workload, notes: notes.said, ignored: notes.ignored, arguments: args.to_vec() })
}

fn job(
    settings: Settings,
    before: &[Job],
    general: &General,
    world: &World<'_>,
    notes: &mut Notes,
) -> Result<Job, Wrong> {
    for (_, setting) in settings.all() {
        if let State::Harmless(why) = &setting.row.state {
            notes.ignore(setting.row.name, why);
        }
    }
    let s = &settings;
    let clones = s.count("numjobs", 1, 1)?;
    if clones > MOST_CLONES {
        return Err(s.wrong("numjobs", format!("numjobs={clones}: at most {MOST_CLONES} are expected")));
    }
    let steps::Stand { group, step, waits } = steps::stand(s, before)?;
    let replay = replay::of(s, clones, world, notes)?;
    let rw = replay.as_ref().map_or_else(|| what::direction(s), |replay| Ok(replay.rw))?;
    let mut stream = replay.as_ref().map_or_else(|| what::stream(s, rw), |replay| Ok(replay.stream()))?;
    if replay.is_none() {
        sequence::apply(s, rw, &mut stream)?;
        align::apply(s, rw, &mut stream, notes)?;
    }
    engine::apply(s, &mut stream, rw, notes)?;
    cpus::memory(s, &mut stream.buffers)?;
    let laid = match &replay {
        Some(replay) => replay.lay(s, &stream, clones, general, world)?,
        None => files::lay(s, &mut stream, rw, clones, general, world, notes)?,
    };
    let times = pace::times(s, &mut stream, notes)?;
    pace::apply(s, &mut stream, rw)?;
    let checks = data::apply(s, &mut stream, rw, &laid, world, notes)?;
    let sealed = matches!(stream.data, Data::Sealed(_));
    align::check(s, &stream, sealed || checks.reads_back || stream.verify != Verify::No)?;
    if replay.is_none() {
        logged::check(s, clones, &laid)?;
    }
    let report = report::read(s)?;
    logs::check(s, &report.logs, stream.turns.is_some())?;
    warn(s, notes);
    let job = Job {
        name: s.called().to_owned(),
        group,
        step,
        waits,
        clones,
        rw,
        files: laid.files,
        parts: laid.parts,
        sizes: laid.sizes,
        ready: laid.ready,
        error_ends_all: s.on("exitall_on_error", false),
        reads_back: checks.reads_back,
        reads_listed: checks.listed,
        backlog: checks.backlog,
        only_reads_back: checks.only,
        priority: engine::priority(s)?,
        report,
        times,
        cpus: cpus::of(s, world)?,
        places: Vec::new(),
        stream,
        settings,
    };
    if general.read_only && (job.rw.writes() && !job.only_reads_back) {
        return Err(job.settings.wrong("rw", "it writes, and --readonly allows no writing").fio(format!(
            "fio: job <{}> has write or trim bit set, but fio is in read-only mode\n",
            job.name
        )));
    }
    Ok(job)
}

/// Every clone is a worker.
const MOST_CLONES: u32 = 4096;

/// What is written in a way that fio reads otherwise than people do.
fn warn(s: &Settings, notes: &mut Notes) {
    for (_, setting) in s.all() {
        let text = matches!(setting.row.kind, table::Kind::Text | table::Kind::OptionalText);
        if let Some(value) =
            setting.value.as_deref().filter(|v| !text && super::number::has_bracket_left_over(v))
        {
            notes.say(format!(
                "{}={value}: as in fio, the bracket behind the number counts for nothing",
                setting.row.name
            ));
        }
        let bytes = matches!(
            setting.row.kind,
            table::Kind::Bytes
                | table::Kind::Range
                | table::Kind::Size
                | table::Kind::BytesTriple
                | table::Kind::RangeTriple
        );
        let Some(value) = setting.value.as_deref().filter(|_| bytes) else { continue };
        if s.kb_base() == 1024 && super::number::has_surprising_suffix(value) {
            notes.say(format!(
                "{}={value}: with kb_base=1024, fio takes kib, mib and gib for powers of ten; k, m and g are powers of two",
                setting.row.name
            ));
        }
    }
    // Asked for so that they count as read; the defaults are what fathom does.
    let _ = (s.text("name"), s.text("description"));
}

/// What a job reads back it has written whole: no other that runs beside it may end it.
fn written_whole(job: &Job, jobs: &[Job]) -> Result<(), Wrong> {
    let ends_it = |other: &Job| {
        let beside = other.step == job.step && !other.only_reads_back;
        beside && other.times.exit_all && (job.clones > 1 || !std::ptr::eq(other, job))
    };
    let checked = matches!(job.stream.data, Data::Sealed(_));
    match jobs.iter().find(|other| ends_it(other)) {
        Some(other) if checked && job.reads_back && !job.only_reads_back => Err(job
            .settings
            .wrong(
                "verify",
                format!("reading back needs to know what was written, and exitall of job {} may end it anywhere", other.name),
            )
            .hint("no exitall beside it; or do_verify=0, which writes what a later job with rw=read and verify can check")),
        _ => Ok(()),
    }
}

/// The seed of all jobs.
fn seed(jobs: &[Job], world: &World<'_>) -> Result<u64, Wrong> {
    /// fio's.
    const DEFAULT: u64 = 0x89;
    let mut first: Option<(u64, bool)> = None;
    for job in jobs {
        let s = &job.settings;
        let this = (s.number("randseed")?.unwrap_or(DEFAULT), s.on("randrepeat", true));
        if first.is_some_and(|f| f != this) {
            return Err(s
                .wrong("randseed", "randseed and randrepeat are the same for all jobs of a run")
                .hint("put them into [global], or run the jobs one by one"));
        }
        first = Some(this);
    }
    Ok(match first {
        Some((seed, true)) => seed,
        _ => world.clock_seed,
    })
}

/// What is to be said, each sentence once.
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
            self.say(format!("{name} changes nothing here: {why}"));
        }
    }
}

impl Job {
    /// Where a value comes from, in words.
    #[must_use]
    pub fn origin(&self, name: &'static str) -> Option<String> {
        let (level, setting) = self.settings.last(name)?;
        Some(origin(*level, &setting.spot))
    }

    /// The directories that its files are to lie in, or below.
    #[must_use]
    pub fn directories(&self) -> Vec<PathBuf> {
        names::directories(&self.settings)
    }

    /// Whether every byte that is read is checked.
    #[must_use]
    pub fn verifies(&self) -> bool {
        self.reads_back || self.backlog.is_some() || self.stream.verify != Verify::No
    }
}

/// Where a setting comes from, in words.
#[must_use]
pub fn origin(level: Level, spot: &Spot) -> String {
    match level {
        Level::CommandLine => "command line, for all jobs".into(),
        Level::Global => format!("{}, global", spot.place()),
        Level::Own => spot.place(),
    }
}
