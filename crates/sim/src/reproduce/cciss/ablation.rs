//! Effects of replacing one mechanism or guess on some cells, to show what the agreement depends on.

use super::super::side_by_side;
use super::HYPOTHESES;
use super::published::CELLS;
use super::run::{CcissChange, CellResult, one};
use crate::simulation::SimError;
use fathom_workload::Workload;
use serde::Serialize;

/// Positions of the cells: one, two and three writers under rc8, and two under rc8*.
pub(super) const COLUMNS: [usize; 4] = [0, 4, 8, 5];

/// Names of the variants.
pub const VARIANTS: [&str; 14] = [
    "base",
    "bios of 31 pages, as the kernel's bio_get_nr_vecs has it",
    "noop",
    "deadline",
    "anticipatory",
    "one CPU",
    "files laid out alternately in runs of 1027 blocks (windows of ext2)",
    "commands past the cache: joined up to 8 MiB",
    "commands past the cache: all at once",
    "controller takes 16 commands, as CFQ of 2.6.24 would have it",
    "parts of stripes by reading the rest of them",
    "stripe unit of 32 KiB",
    "stripe unit of 128 KiB",
    "nothing fitted: joined up to 8 MiB, bios of 31 pages, 512 commands",
];

/// A row: KB/s of the initial writers in the cells of the columns, under each hypothesis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CcissAblation {
    /// Name of the variant.
    pub variant: &'static str,
    /// H1 or H2.
    pub hypothesis: &'static str,
    /// Throughput per column, KB/s.
    pub write_kb_s: Vec<f64>,
    /// Length of the requests that move most bytes in the first column, KiB.
    pub request_kib: f64,
}

/// Without fitted numbers: joining past the cache as first guessed; bios that end at 31 pages, as in `bio_get_nr_vecs` of that kernel for
/// this controller; and 512 commands at once, the number of the driver for this board (mail of 6 November 2006 to linux-kernel, "cciss:
/// increase number of commands on controller").
pub(super) fn unfitted() -> CcissChange {
    CcissChange {
        host: Some(|h| h.block.write_bio_pages.value = 31),
        device: &[("bypass", "coalesce_kib", "8192"), ("controller", "outstanding", "512")],
        ..CcissChange::default()
    }
}

fn change(variant: usize) -> CcissChange {
    let base = CcissChange::default();
    match variant {
        1 => CcissChange { host: Some(|h| h.block.write_bio_pages.value = 31), ..base },
        2 => CcissChange { elevator: Some("noop"), ..base },
        3 => CcissChange { elevator: Some("deadline@2.6.24"), ..base },
        4 => CcissChange { elevator: Some("as"), ..base },
        5 => CcissChange { host: Some(|h| h.cpu.cpus.value = 1), ..base },
        6 => CcissChange { host: Some(|h| h.filesystem.interleave_blocks.value = 1027), ..base },
        7 => CcissChange { device: &[("bypass", "coalesce_kib", "8192")], ..base },
        8 => CcissChange { device: &[("bypass", "commands_at_once", "0")], ..base },
        9 => CcissChange { device: &[("controller", "outstanding", "16")], ..base },
        10 => CcissChange { device: &[("controller", "reconstruct", "true")], ..base },
        11 => CcissChange { device: &[("layout", "unit_kib", "32")], ..base },
        12 => CcissChange { device: &[("layout", "unit_kib", "128")], ..base },
        13 => unfitted(),
        _ => base,
    }
}

/// Simulates every variant.
pub(super) fn all(workloads: &[Workload]) -> Result<Vec<CcissAblation>, SimError> {
    let rows: Vec<(usize, usize)> =
        (0..VARIANTS.len()).flat_map(|variant| (0..HYPOTHESES.len()).map(move |h| (variant, h))).collect();
    let jobs: Vec<(usize, usize, usize)> =
        rows.iter().flat_map(|&(variant, h)| COLUMNS.map(|cell| (variant, h, cell))).collect();
    let done = side_by_side(&jobs, |&(variant, h, cell)| one(workloads, cell, h, &change(variant)))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let rows = done.chunks(COLUMNS.len()).zip(rows);
    let row = |(cells, (variant, h)): (&[CellResult], (usize, usize))| CcissAblation {
        variant: VARIANTS[variant],
        hypothesis: HYPOTHESES[h].name,
        write_kb_s: cells.iter().map(|c| c.write_kb_s).collect(),
        request_kib: cells.first().map_or(0.0, |c| f64::from(c.typical.sectors) / 2.0),
    };
    Ok(rows.map(row).collect())
}

/// Headings of the columns.
#[must_use]
pub fn heads() -> Vec<String> {
    let head = |at: &usize| {
        let cell = &CELLS[*at];
        format!("{}x {}", super::TESTS[cell.test].writers, super::KERNELS[cell.kernel].name)
    };
    COLUMNS.iter().map(head).collect()
}

/// One figure, KB/s, by the names of variant, hypothesis and column. Lets tests compare published sentences with the simulation.
///
/// # Errors
/// There is no such row or column, or a workload cannot be simulated.
/// There is no such row or column, or a workload cannot be simulated.
pub fn ablated(workloads: &[Workload], variant: &str, hypothesis: &str, head: &str) -> Result<f64, SimError> {
    let variant_at = VARIANTS.iter().position(|v| *v == variant);
    let hypothesis_at = HYPOTHESES.iter().position(|h| h.name == hypothesis);
    let column_at = heads().iter().position(|h| h == head);
    let (Some(variant), Some(h), Some(column)) = (variant_at, hypothesis_at, column_at) else {
        return Err(SimError::Unsupported(format!("no figure {variant}, {hypothesis}, {head}")));
    };
    one(workloads, COLUMNS[column], h, &change(variant)).map(|one| one.write_kb_s)
}
