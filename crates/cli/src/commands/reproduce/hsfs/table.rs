//! The table: every published figure beside ours, and the results of the runs in the report's formats.

use super::cases::{COLUMNS, CaseOutcome, Column, DEADLINES, Job, jobs, run};
use super::host::{DEVICE, IostatInterval};
use super::published::{self, Pair, SUMMARIES};
use super::reading::{REQUEST_NS, cpu_ns};
use super::texts::TEXTS;
use super::walks::{WalkOrder, WalkedTree};
use super::{Scale, checks, flows, freedom, text};
use fathom_sim::reproduce::{Check, side_by_side};
use fathom_sim::{SimError, devices};
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct TableRow {
    pub case: String,
    /// Its name and unit.
    pub figure: &'static str,
    /// Before and after the rework.
    pub published: [f64; 2],
    /// Baseline, enhanced, modern.
    pub simulated: [f64; 3],
    /// Deviation from the published values, %.
    pub error_percent: [f64; 2],
    pub tolerance: [String; 2],
    /// Whether each is within tolerance; `None` if none was stated.
    pub holds: [Option<bool>; 2],
    #[serde(skip)]
    pub decimals: usize,
}

/// A row of S16.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct LockRow {
    /// The elevator's deadline.
    pub deadline_ms: u64,
    /// Operations/s if single reads wait with the lock held.
    pub held_ops_per_s: f64,
    /// Operations/s if they release the lock first.
    pub released_ops_per_s: f64,
}

/// Filebench output of a test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct FlowopText {
    pub test: &'static str,
    pub policy: &'static str,
    /// The published `IO Summary`, if there is one.
    pub published: Option<&'static str>,
    /// Our output in the format of that version.
    pub text: String,
}

/// Requests of dd: issuers and sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct DdRequests {
    pub policy: &'static str,
    /// (bytes, count) issued by dd itself.
    pub by_dd: Vec<(u64, u64)>,
    /// The same by the read-ahead pool.
    pub by_pool: Vec<(u64, u64)>,
    /// iostat rows a quarter, half and three quarters through the run.
    pub iostat: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Table {
    /// Profile of the drive.
    pub device: &'static str,
    /// Origins of its values: (data sheet, measured, fitted, guessed).
    pub sources: [u32; 4],
    pub rows: Vec<TableRow>,
    /// Holding the lock while waiting.
    pub lock: Vec<LockRow>,
    pub dd: Vec<DdRequests>,
    pub flowops: Vec<FlowopText>,
    /// Every stated tolerance over several figures.
    pub checks: Vec<Check>,
    /// What was fitted, guessed and chosen.
    pub freedom: Vec<&'static str>,
}

impl Table {
    /// Whether every stated tolerance holds.
    pub(crate) fn holds(&self) -> bool {
        let figures = self.rows.iter().flat_map(|row| row.holds.iter().flatten()).all(|&holds| holds);
        figures && self.checks.iter().all(|check| check.holds)
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text::write(self, f)
    }
}

/// Outcomes of all runs.
pub(super) struct CaseOutcomes {
    jobs: Vec<Job>,
    done: Vec<CaseOutcome>,
}

impl CaseOutcomes {
    pub(super) fn of(&self, job: Job) -> &CaseOutcome {
        static NONE: std::sync::LazyLock<CaseOutcome> = std::sync::LazyLock::new(CaseOutcome::default);
        self.jobs.iter().position(|known| *known == job).map_or(&NONE, |at| &self.done[at])
    }

    /// A figure of a job in every column.
    pub(super) fn each(&self, job: impl Fn(Column) -> Job, figure: impl Fn(&CaseOutcome) -> f64) -> [f64; 3] {
        COLUMNS.map(|column| figure(self.of(job(column))))
    }
}

/// Column names; the first two are the report's.
pub(super) const NAMES: [&str; 3] = ["BASELINE", "ENHANCED", "MODERN"];

pub(super) fn simulate(scale: &Scale) -> Result<Table, SimError> {
    let failed = |e: &dyn std::fmt::Display| SimError::Unsupported(e.to_string());
    let tree = WalkedTree::new(scale).ok_or_else(|| failed(&"sizes of files cannot be drawn"))?;
    let jobs = jobs();
    let done = side_by_side(&jobs, |&job| run(job, scale, &tree)).into_iter().collect::<Result<_, _>>()?;
    let runs = CaseOutcomes { jobs, done };
    let tally = devices::by_name(DEVICE).map_err(|e| failed(&e))?.tally;
    Ok(Table {
        device: DEVICE,
        sources: [tally.datasheet, tally.measured, tally.fitted, tally.guessed],
        rows: rows(&runs, scale),
        lock: lock(&runs),
        dd: dd(&runs),
        flowops: flowops(&runs),
        checks: checks::all(&runs),
        freedom: freedom::FREEDOM.to_vec(),
    })
}

fn row(
    case: impl Into<String>,
    figure: &'static str,
    decimals: usize,
    pair: &Pair,
    ours: [f64; 3],
) -> TableRow {
    let (published, [before, after]) = (pair.published, pair.tolerance);
    let error = |at: usize| (ours[at] / published[at] - 1.0) * 100.0;
    TableRow {
        case: case.into(),
        figure,
        published,
        simulated: ours,
        error_percent: [error(0), error(1)].map(|percent| if percent.is_finite() { percent } else { 0.0 }),
        tolerance: [before.word(), after.word()],
        holds: [before.holds(published[0], ours[0]), after.holds(published[1], ours[1])],
        decimals,
    }
}

fn rows(runs: &CaseOutcomes, scale: &Scale) -> Vec<TableRow> {
    let dd = |figure: &dyn Fn(&CaseOutcome) -> f64| runs.each(Job::Dd, figure);
    let calls = scale.file_bytes / 8192;
    let cpu_s = |o: &CaseOutcome| (calls * cpu_ns(8192) + o.requests.count() * REQUEST_NS) as f64 / 1e9;
    let iostat = |figure: fn(&IostatInterval) -> f64| dd(&|o| figure(&IostatInterval::sum(&o.intervals)));
    let mut rows = vec![
        row("dd, 1 GiB by 8 KiB", "s", 1, &published::DD, dd(&|o| o.seconds)),
        row("", "s of CPU", 2, &published::DD_CPU, dd(&cpu_s)),
        row("", "requests", 0, &published::REQUESTS, dd(&|o| o.requests.count() as f64)),
        row("iostat of it", "r/s", 1, &published::READS_PER_S, iostat(IostatInterval::reads_per_s)),
        row("", "kr/s", 1, &published::KIB_PER_S, iostat(IostatInterval::kib_per_s)),
        row("", "wait", 2, &published::WAIT, iostat(IostatInterval::wait)),
        row("", "asvc_t, ms", 2, &published::SERVICE, iostat(IostatInterval::service_ms)),
        row("", "%b", 1, &published::BUSY, iostat(IostatInterval::busy_percent)),
        row("cp of 1 GiB (as dd)", "s", 1, &published::CP, dd(&|o| o.seconds)),
    ];
    for (at, pair) in published::OPS.iter().enumerate() {
        let text = |column| Job::Text(at, column);
        rows.push(row(TEXTS[at].name, "ops", 0, pair, runs.each(text, |o| o.ops() as f64)));
        if at == 0 {
            let ms = runs.each(text, CaseOutcome::mean_ms);
            rows.push(row("", "ms/op", 1, &published::RANDOM_2K_MS, ms));
        }
    }
    for (at, (name, what, pair)) in published::MIXED.iter().enumerate() {
        let case = if at == 0 { TEXTS[11].name } else { "" };
        rows.push(row(case, what, 1, pair, runs.each(|column| Job::Text(11, column), |o| o.ms(name))));
    }
    rows.push(row("cpio of a DVD", "s", 0, &published::CPIO, runs.each(Job::Cpio, |o| o.seconds)));
    let tar = runs.each(|column| Job::Tar(column, WalkOrder::Listed), |o| o.seconds);
    rows.push(row("tar of it", "s", 0, &published::TAR, tar));
    rows
}

fn lock(runs: &CaseOutcomes) -> Vec<LockRow> {
    let per_s = |ms, free| runs.of(Job::Lock(ms, free)).per_s();
    let row = |deadline_ms| LockRow {
        deadline_ms,
        held_ops_per_s: per_s(deadline_ms, false),
        released_ops_per_s: per_s(deadline_ms, true),
    };
    DEADLINES.map(row).to_vec()
}

fn dd(runs: &CaseOutcomes) -> Vec<DdRequests> {
    let of = |(column, policy): (Column, &'static str)| {
        let outcome = runs.of(Job::Dd(column));
        let quarters = [1, 2, 3].map(|quarter| outcome.intervals.get(outcome.intervals.len() * quarter / 4));
        DdRequests {
            policy,
            by_dd: outcome.requests.by_readers.clone().into_iter().collect(),
            by_pool: outcome.requests.by_pool.clone().into_iter().collect(),
            iostat: quarters.into_iter().flatten().map(ToString::to_string).collect(),
        }
    };
    COLUMNS.into_iter().zip(NAMES).map(of).collect()
}

fn flowops(runs: &CaseOutcomes) -> Vec<FlowopText> {
    let mut all = Vec::new();
    for (at, test) in TEXTS.iter().enumerate() {
        for (number, column) in COLUMNS.into_iter().enumerate() {
            let outcome = runs.of(Job::Text(at, column));
            all.push(FlowopText {
                test: test.name,
                policy: NAMES[number],
                published: SUMMARIES[at].get(number).copied(),
                text: flows::printed(&outcome.rows, outcome.seconds),
            });
        }
    }
    all
}
