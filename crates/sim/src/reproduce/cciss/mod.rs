//! The cciss table of 2008: one to three IOzone writers on ext2 behind a SmartArray 6i, through the page cache and past it, under a kernel
//! whose page allocator hands pages out in ascending order and one in which it hands them out in descending order. The command lines
//! are those of the mail's logs, read by whoever calls this.
//!
//! The mail cannot decide why the controller takes the one kind of request into its cache and not the other, so each cell is simulated under
//! two hypotheses. [`published`] has the numbers, `freedom` what was chosen, and after which look at them.

mod ablation;
mod checks;
mod freedom;
pub mod published;
mod run;
mod text;

pub use ablation::{Ablation, VARIANTS, ablated, heads as ablation_heads};
pub use checks::Tolerances;
pub use freedom::FREEDOM;

use super::{Check, side_by_side};
use crate::devices;
use crate::host;
use crate::simulation::SimError;
use fathom_workload::Workload;
use published::{CELLS, KERNELS, TESTS};
use run::{Change, One, one};
use serde::Serialize;

/// Why some commands go past the controller's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Hypothesis {
    /// Its short name.
    pub name: &'static str,
    /// The profile of the array under it.
    pub device: &'static str,
    /// What it says.
    pub says: &'static str,
}

/// Both.
pub const HYPOTHESES: [Hypothesis; 2] = [
    Hypothesis {
        name: "H1",
        device: "smartarray-6i-h1",
        says: "a command longer than something between 124 and 256 KiB goes past the cache",
    },
    Hypothesis {
        name: "H2",
        device: "smartarray-6i-h2",
        says: "commands go past the cache while more is outstanding than its share for writes",
    },
];

/// Requests of one length in so many segments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Segments {
    /// Entries of the scatter list.
    pub segments: u16,
    /// Share of all bytes, %.
    pub percent_of_bytes: f64,
}

/// What a cell came to under one hypothesis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// H1 or H2.
    pub hypothesis: &'static str,
    /// Initial writers together, KB/s of 1024 bytes as IOzone prints them.
    pub write_kb_s: f64,
    /// Against the published figure, %.
    pub write_error_percent: f64,
    /// Rewriters together, KB/s.
    pub rewrite_kb_s: f64,
    /// Against the published figure, %.
    pub rewrite_error_percent: f64,
    /// The slowest and the fastest of the initial writers, KB/s.
    pub least_kb_s: f64,
    /// See `least_kb_s`.
    pub most_kb_s: f64,
    /// The request that moves most bytes, KiB.
    pub request_kib: f64,
    /// What such requests move in so many segments each.
    pub segments: Vec<Segments>,
    /// Requests in a row that follow each other on the device, on average.
    pub run: f64,
    /// Share of the commands that the controller's cache did not take, %.
    pub past_percent: f64,
}

/// A cell of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// As in the mail.
    pub test: &'static str,
    /// rc8, or rc8* for rc8 with the commit reverted.
    pub kernel: &'static str,
    /// Writers.
    pub writers: u32,
    /// Whether past the page cache.
    pub direct: bool,
    /// "fitted", "cached", "collapse" (seen before a structure was chosen) or "open".
    pub kind: &'static str,
    /// The mail's table, MB/s.
    pub published_mb_s: f64,
    /// The logs: initial writers, KB/s.
    pub published_write_kb_s: f64,
    /// The logs: rewriters, KB/s.
    pub published_rewrite_kb_s: f64,
    /// Ours, under each hypothesis.
    pub outcomes: Vec<Outcome>,
}

/// The table.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// The hypotheses.
    pub hypotheses: Vec<Hypothesis>,
    /// Every cell, in the order of the mail.
    pub rows: Vec<Row>,
    /// Every stated tolerance.
    pub checks: Vec<Check>,
    /// The cells that are not explained, and others that are off by more than the cached cells may be, in words.
    pub misses: Vec<String>,
    /// What cached cells may be off, %.
    pub cached_percent: f64,
    /// Under each hypothesis: initial writers of 2x1.5GB under rc8 and rc8* in KB/s with nothing fitted: commands past the cache joined up
    /// to 8 MiB, the first guess, bios of 31 pages and 512 commands at once, from the sources of kernel and driver. Nothing else of the
    /// table is of that.
    pub joined: Vec<(f64, f64)>,
    /// What was fitted, guessed and chosen.
    pub freedom: Vec<&'static str>,
    /// Where the values of the profiles come from: (data sheet, measured, fitted, guessed); the array under H1, its disk, the host.
    pub sources: [u32; 4],
    /// What changing things does, if that was asked for.
    pub ablations: Vec<Ablation>,
}

impl Table {
    /// Whether every stated tolerance holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|c| c.holds)
    }
}

/// Simulates the table: a workload for each of [`TESTS`], in their order. `ablation` also changes things, one at a time.
///
/// # Errors
/// A workload is missing or cannot be simulated.
pub fn reproduce(workloads: &[Workload], ablation: bool) -> Result<Table, SimError> {
    if workloads.len() != TESTS.len() {
        let what = format!("the table has {} command lines; {} were read", TESTS.len(), workloads.len());
        return Err(SimError::Unsupported(what));
    }
    let jobs: Vec<(usize, usize)> =
        (0..CELLS.len()).flat_map(|cell| (0..HYPOTHESES.len()).map(move |h| (cell, h))).collect();
    let change = Change::default();
    let done: Vec<One> = side_by_side(&jobs, |&(cell, h)| one(workloads, cell, h, &change))
        .into_iter()
        .collect::<Result<_, _>>()?;
    let rows: Vec<Row> = done.chunks(HYPOTHESES.len()).enumerate().map(|(at, of)| row(at, of)).collect();
    let tolerances = Tolerances::default();
    let mut table = Table {
        hypotheses: HYPOTHESES.to_vec(),
        misses: checks::misses(&rows, &tolerances),
        cached_percent: tolerances.cached_percent,
        joined: joined(workloads)?,
        rows,
        checks: Vec::new(),
        freedom: FREEDOM.to_vec(),
        sources: sources()?,
        ablations: if ablation { ablation::all(workloads)? } else { Vec::new() },
    };
    table.checks = checks::all(&table.rows, &table.joined, &tolerances);
    Ok(table)
}

/// The cells of two buffered writers without a number that was fitted.
fn joined(workloads: &[Workload]) -> Result<Vec<(f64, f64)>, SimError> {
    let change = ablation::unfitted();
    let two: Vec<usize> = (0..CELLS.len())
        .filter(|&c| TESTS[CELLS[c].test].writers == 2 && !TESTS[CELLS[c].test].direct)
        .collect();
    let jobs: Vec<(usize, usize)> =
        (0..HYPOTHESES.len()).flat_map(|h| two.iter().map(move |&cell| (cell, h))).collect();
    let done: Vec<One> = side_by_side(&jobs, |&(cell, h)| one(workloads, cell, h, &change))
        .into_iter()
        .collect::<Result<_, _>>()?;
    Ok(done.chunks_exact(2).map(|of| (of[0].write_kb_s, of[1].write_kb_s)).collect())
}

fn sources() -> Result<[u32; 4], SimError> {
    let failed = |e: &dyn std::fmt::Display| SimError::Unsupported(e.to_string());
    let array = devices::by_name(HYPOTHESES[0].device).map_err(|e| failed(&e))?.tally;
    let all = array + host::shipped(run::HOST).map_err(|e| failed(&e))?.tally;
    Ok([all.datasheet, all.measured, all.fitted, all.guessed])
}

fn row(at: usize, done: &[One]) -> Row {
    let cell = &CELLS[at];
    let test = &TESTS[cell.test];
    let percent = |ours: f64, published: f64| (ours / published - 1.0) * 100.0;
    let outcome = |(one, hypothesis): (&One, &Hypothesis)| Outcome {
        hypothesis: hypothesis.name,
        write_kb_s: one.write_kb_s,
        write_error_percent: percent(one.write_kb_s, cell.write_kb_s),
        rewrite_kb_s: one.rewrite_kb_s,
        rewrite_error_percent: percent(one.rewrite_kb_s, cell.rewrite_kb_s),
        least_kb_s: one.least_kb_s,
        most_kb_s: one.most_kb_s,
        request_kib: f64::from(one.typical.sectors) / 2.0,
        segments: one
            .typical
            .segments
            .iter()
            .map(|&(segments, share)| Segments { segments, percent_of_bytes: share * 100.0 })
            .collect(),
        run: one.run,
        past_percent: one.past * 100.0,
    };
    Row {
        test: test.name,
        kernel: KERNELS[cell.kernel].name,
        writers: test.writers,
        direct: test.direct,
        kind: cell.kind.word(),
        published_mb_s: cell.mb_s,
        published_write_kb_s: cell.write_kb_s,
        published_rewrite_kb_s: cell.rewrite_kb_s,
        outcomes: done.iter().zip(&HYPOTHESES).map(outcome).collect(),
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text::write(self, f)
    }
}
