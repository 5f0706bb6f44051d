//! The runs behind the table: each is a machine under a policy with its readers. They share nothing and run in
//! parallel.

use super::Scale;
use super::flows::{ReaderState, Total};
use super::host::IostatInterval;
use super::machine::Machine;
use super::reading::{Reader, Requests};
use super::texts::{TEXTS, TextKind};
use super::walks::{Metadata, Walk, WalkOrder, WalkedTree, file};
use fathom_isofs::format::section::Extents;
use fathom_isofs::reader::Policy;
use fathom_sim::SimError;
use std::sync::Arc;

const NS: f64 = 1e9;
/// Memory of the laptop for cached pages: more than a 1 GiB file, since the report's streams reread theirs from it.
const CACHE_BYTES: u64 = 1536 << 20;
/// Index of the text with random reads of 1 MiB.
pub(super) const LARGE: usize = 4;
/// The default cache of a mount; also used for walks, which read everything once.
const MOUNT_CACHE_BYTES: u64 = 64 << 20;
const FIRST_BLOCK: u64 = 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Baseline,
    Enhanced,
    Modern,
}

pub(super) const COLUMNS: [Column; 3] = [Column::Baseline, Column::Enhanced, Column::Modern];

/// How the baseline handles a page fault: page by page, or its whole 8 KiB window. The report's figures match the
/// former for one process and the latter for several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Page,
    Window,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Job {
    /// dd of a 1 GiB file.
    Dd(Column),
    /// The same with 512 KiB windows.
    DdWide,
    /// A Filebench text by index.
    Text(usize, Column),
    /// The first text under the rework: deadline in ms, and whether single reads wait without holding the lock.
    Lock(u64, bool),
    Cpio(Column),
    Tar(Column, WalkOrder),
}

/// Deadlines in the lock table, ms.
pub(super) const DEADLINES: [u64; 3] = [5, 500, 5000];

/// Every run, longest first.
pub(super) fn jobs() -> Vec<Job> {
    use Column::{Baseline, Enhanced, Modern};
    let mut all = vec![
        Job::Tar(Baseline, WalkOrder::Listed),
        Job::Cpio(Baseline),
        Job::Tar(Enhanced, WalkOrder::Listed),
        Job::Cpio(Enhanced),
        Job::Tar(Modern, WalkOrder::Listed),
        Job::Tar(Modern, WalkOrder::Disc),
        Job::Cpio(Modern),
        Job::DdWide,
    ];
    all.extend(COLUMNS.map(Job::Dd));
    // Streams before random reads: they take longer.
    for text in (5..TEXTS.len()).chain(0..5) {
        all.extend(COLUMNS.map(|column| Job::Text(text, column)));
    }
    all.extend(DEADLINES.iter().flat_map(|&ms| [false, true].map(|free| Job::Lock(ms, free))));
    all
}

#[derive(Clone, Debug, Default)]
pub(super) struct CaseOutcome {
    /// Duration in seconds.
    pub seconds: f64,
    /// Figures by operation of a Filebench text.
    pub rows: Vec<(String, Total)>,
    pub requests: Requests,
    /// What iostat would have shown.
    pub intervals: Vec<IostatInterval>,
    /// Maximum number of requests the elevator had dispatched at once.
    pub deepest: u32,
}

impl CaseOutcome {
    /// Operations of all rows.
    pub(super) fn ops(&self) -> u64 {
        self.rows.iter().map(|(_, total)| total.ops).sum()
    }

    /// The row of that name.
    pub(super) fn row(&self, name: &str) -> Total {
        self.rows.iter().find(|(known, _)| known == name).map(|row| row.1).unwrap_or_default()
    }

    pub(super) fn ms(&self, name: &str) -> f64 {
        let row = self.row(name);
        row.total_ns as f64 / 1e6 / (row.ops as f64).max(1.0)
    }

    pub(super) fn mean_ms(&self) -> f64 {
        let ns: u64 = self.rows.iter().map(|(_, total)| total.total_ns).sum();
        ns as f64 / 1e6 / (self.ops() as f64).max(1.0)
    }

    pub(super) fn per_s(&self) -> f64 {
        self.ops() as f64 / self.seconds
    }
}

fn policy(column: Column, fault: Fault) -> Policy {
    let cached = |policy| Policy { cache_bytes: CACHE_BYTES, ..policy };
    match (column, fault) {
        (Column::Baseline, Fault::Page) => cached(Policy::baseline()),
        (Column::Baseline, Fault::Window) => {
            cached(Policy { read_ahead: "hsfs,max=0".into(), ..Policy::baseline() })
        }
        (Column::Enhanced, _) => cached(Policy::seed()),
        // M6: an optical drive gets one request at a time; the elevator sorts the waiting ones. The column keeps the
        // elevator its figures were made with and no later policy changes, as the other two columns do.
        (Column::Modern, _) => cached(Policy {
            depth: 1,
            scheduler: "mq-deadline".into(),
            attach: false,
            promote: false,
            drop_ahead: false,
            ..Policy::modern()
        }),
    }
}

fn files(bytes: u64) -> Vec<Arc<Extents>> {
    (0..3).map(|n| file(FIRST_BLOCK + n * bytes.div_ceil(2048), bytes)).collect()
}

pub(super) fn run(job: Job, scale: &Scale, tree: &WalkedTree) -> Result<CaseOutcome, SimError> {
    let wide = || Policy { read_ahead: "modern,max=128".into(), ..policy(Column::Modern, Fault::Page) };
    match job {
        Job::Dd(column) => dd(&policy(column, Fault::Page), scale),
        Job::DdWide => dd(&wide(), scale),
        Job::Text(at, column) => {
            let alone = matches!(TEXTS[at].kind, TextKind::Single(_));
            let mut policy = policy(column, if alone { Fault::Page } else { Fault::Window });
            if column == Column::Modern && !alone {
                // A larger cache would hold the whole file after some minutes, and no drive would be measured.
                policy.cache_bytes = MOUNT_CACHE_BYTES;
            }
            flows(at, &policy, scale)
        }
        Job::Lock(deadline, free) => {
            let scheduler = format!("clook-hsfs,deadline={deadline},unlock_single={}", u8::from(free));
            flows(0, &Policy { scheduler, ..policy(Column::Enhanced, Fault::Window) }, scale)
        }
        Job::Cpio(column) => walk(column, &tree.walk(metadata(column, 1), WalkOrder::Listed)),
        Job::Tar(column, order) => walk(column, &tree.walk(metadata(column, scale.tar_trips), order)),
    }
}

fn metadata(column: Column, trips: u64) -> Metadata {
    if column == Column::Modern { Metadata::AtMount } else { Metadata::Trips(trips) }
}

fn machine(policy: &Policy, scale: &Scale) -> Result<Machine, SimError> {
    Machine::new(policy, scale.interval_s * 1_000_000_000)
}

fn outcome(machine: Machine, seconds: f64) -> CaseOutcome {
    CaseOutcome {
        seconds,
        rows: Vec::new(),
        intervals: machine.host.intervals().to_vec(),
        deepest: machine.core.counters().deepest,
        requests: machine.requests,
    }
}

fn dd(policy: &Policy, scale: &Scale) -> Result<CaseOutcome, SimError> {
    let mut machine = machine(policy, scale)?;
    let mut reader = Walk::new(files(scale.file_bytes).into_iter().take(1));
    machine.run(vec![&mut reader], u64::MAX);
    let seconds = reader.ended_ns as f64 / NS;
    Ok(outcome(machine, seconds))
}

fn walk(column: Column, files: &[Arc<Extents>]) -> Result<CaseOutcome, SimError> {
    let policy = Policy { cache_bytes: MOUNT_CACHE_BYTES, ..policy(column, Fault::Page) };
    let mut machine = Machine::new(&policy, 1_000_000_000_000)?;
    let mut reader = Walk::new(files.iter().cloned());
    machine.run(vec![&mut reader], u64::MAX);
    let seconds = reader.ended_ns as f64 / NS;
    Ok(outcome(machine, seconds))
}

fn flows(text: usize, policy: &Policy, scale: &Scale) -> Result<CaseOutcome, SimError> {
    let stage = ReaderState::new(&TEXTS[text], scale, &files(scale.file_bytes))?;
    let mut machine = machine(policy, scale)?;
    let mut readers = stage.readers()?;
    let all = readers.iter_mut().map(|reader| reader as &mut dyn Reader).collect();
    machine.run(all, scale.seconds * 1_000_000_000);
    if let Some(why) = readers.iter().find_map(|reader| reader.wrong()) {
        return Err(SimError::Unsupported(format!("{}: {why}", TEXTS[text].name)));
    }
    let rows = stage.totals(&readers);
    Ok(CaseOutcome { rows, ..outcome(machine, scale.seconds as f64) })
}
