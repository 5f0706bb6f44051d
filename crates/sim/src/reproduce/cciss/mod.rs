//! The cciss table of 2008: one to three IOzone writers on ext2 behind a SmartArray 6i, buffered and direct, under a kernel whose page
//! allocator returns pages in ascending order and one that returns them in descending order. The command lines are those of the mail's
//! logs; the caller parses them.
//!
//! The mail does not show why the controller caches some requests and not others, so each cell is simulated under two hypotheses.
//! [`published`] has the numbers; `freedom` lists the choices, and which results were known when they were made.

mod ablation;
mod checks;
mod freedom;
pub mod published;
mod run;
mod text;

pub use ablation::{CcissAblation, VARIANTS, ablated, heads as ablation_heads};
pub use checks::CcissTolerances;
pub use freedom::FREEDOM;

use super::{Check, side_by_side};
use crate::devices;
use crate::host;
use crate::simulation::SimError;
use fathom_workload::Workload;
use published::{CELLS, KERNELS, TESTS};
use run::{CcissChange, CellResult, one};
use serde::Serialize;

/// Why some commands bypass the controller's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Hypothesis {
    /// Its short name.
    pub name: &'static str,
    /// Name of the array's profile under it.
    pub device: &'static str,
    /// The hypothesis as text.
    pub says: &'static str,
}

/// Both hypotheses.
pub const HYPOTHESES: [Hypothesis; 2] = [
    Hypothesis {
        name: "H1",
        device: "smartarray-6i-h1",
        says: "commands longer than a limit between 124 and 256 KiB bypass the cache",
    },
    Hypothesis {
        name: "H2",
        device: "smartarray-6i-h2",
        says: "commands bypass the cache while more is outstanding than its share for writes",
    },
];

/// Requests of one length with this number of segments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Segments {
    /// Number of scatter-list entries.
    pub segments: u16,
    /// Share of all bytes, %.
    pub percent_of_bytes: f64,
}

/// Result of a cell under one hypothesis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HypothesisResult {
    /// H1 or H2.
    pub hypothesis: &'static str,
    /// Throughput of all initial writers, KB/s of 1024 bytes as IOzone prints them.
    pub write_kb_s: f64,
    /// Error against the published figure, %.
    pub write_error_percent: f64,
    /// Throughput of all rewriters, KB/s.
    pub rewrite_kb_s: f64,
    /// Error against the published figure, %.
    pub rewrite_error_percent: f64,
    /// Throughput of the slowest initial writer, KB/s.
    pub least_kb_s: f64,
    /// Throughput of the fastest initial writer, KB/s.
    pub most_kb_s: f64,
    /// Length of the requests that move most bytes, KiB.
    pub request_kib: f64,
    /// Share of all bytes moved by such requests, by number of segments.
    pub segments: Vec<Segments>,
    /// Average number of consecutive requests that are contiguous on the device.
    pub run: f64,
    /// Share of the commands that the controller's cache did not accept, %.
    pub past_percent: f64,
}

/// A cell of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CcissRow {
    /// Name in the mail.
    pub test: &'static str,
    /// rc8, or rc8* for rc8 with the commit reverted.
    pub kernel: &'static str,
    /// Number of writers.
    pub writers: u32,
    /// Whether it uses direct I/O.
    pub direct: bool,
    /// "fitted", "cached", "collapse" (seen before a structure was chosen) or "open".
    pub kind: &'static str,
    /// Figure of the mail's table, MB/s.
    pub published_mb_s: f64,
    /// Initial writers in the mail's logs, KB/s.
    pub published_write_kb_s: f64,
    /// Rewriters in the mail's logs, KB/s.
    pub published_rewrite_kb_s: f64,
    /// Simulated results under each hypothesis.
    pub outcomes: Vec<HypothesisResult>,
}

/// The reproduced table.
#[derive(Clone, Debug, Serialize)]
pub struct CcissTable {
    /// Both hypotheses.
    pub hypotheses: Vec<Hypothesis>,
    /// Every cell, in the mail's order.
    pub rows: Vec<CcissRow>,
    /// Every stated tolerance.
    pub checks: Vec<Check>,
    /// The unexplained cells, and others that are off by more than cached cells may be, as text.
    pub misses: Vec<String>,
    /// Tolerance for cached cells, %.
    pub cached_percent: f64,
    /// Under each hypothesis: initial writers of 2x1.5GB under rc8 and rc8*, KB/s, without fitted numbers: bypassing commands joined up
    /// to 8 MiB (the first guess), bios of 31 pages and 512 commands at once (from the sources of kernel and driver). Nothing else in the
    /// table uses these.
    pub joined: Vec<(f64, f64)>,
    /// Fitted, guessed and chosen values.
    pub freedom: Vec<&'static str>,
    /// Values of the profiles by source (data sheet, measured, fitted, guessed); for the array under H1, its disk and the host.
    pub sources: [u32; 4],
    /// Ablations, if requested.
    pub ablations: Vec<CcissAblation>,
}

impl CcissTable {
    /// Whether every stated tolerance holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|c| c.holds)
    }
}

/// Simulates the table: a workload for each of [`TESTS`], in their order. `ablation` adds the ablations, one change at a time.
///
/// # Errors
/// A workload is missing or cannot be simulated.
pub fn reproduce(workloads: &[Workload], ablation: bool) -> Result<CcissTable, SimError> {
    if workloads.len() != TESTS.len() {
        let what = format!("the table has {} command lines; {} were read", TESTS.len(), workloads.len());
        return Err(SimError::Unsupported(what));
    }
    let jobs: Vec<(usize, usize)> =
        (0..CELLS.len()).flat_map(|cell| (0..HYPOTHESES.len()).map(move |h| (cell, h))).collect();
    let change = CcissChange::default();
    let done: Vec<CellResult> = side_by_side(&jobs, |&(cell, h)| one(workloads, cell, h, &change))
        .into_iter()
        .collect::<Result<_, _>>()?;
    let rows: Vec<CcissRow> = done.chunks(HYPOTHESES.len()).enumerate().map(|(at, of)| row(at, of)).collect();
    let tolerances = CcissTolerances::default();
    let mut table = CcissTable {
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

/// The cells of two buffered writers without fitted numbers.
fn joined(workloads: &[Workload]) -> Result<Vec<(f64, f64)>, SimError> {
    let change = ablation::unfitted();
    let two: Vec<usize> = (0..CELLS.len())
        .filter(|&c| TESTS[CELLS[c].test].writers == 2 && !TESTS[CELLS[c].test].direct)
        .collect();
    let jobs: Vec<(usize, usize)> =
        (0..HYPOTHESES.len()).flat_map(|h| two.iter().map(move |&cell| (cell, h))).collect();
    let done: Vec<CellResult> = side_by_side(&jobs, |&(cell, h)| one(workloads, cell, h, &change))
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

fn row(at: usize, done: &[CellResult]) -> CcissRow {
    let cell = &CELLS[at];
    let test = &TESTS[cell.test];
    let percent = |ours: f64, published: f64| (ours / published - 1.0) * 100.0;
    let outcome = |(one, hypothesis): (&CellResult, &Hypothesis)| HypothesisResult {
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
    CcissRow {
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

impl std::fmt::Display for CcissTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text::write(self, f)
    }
}
