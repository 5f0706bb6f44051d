//! Effects of leaving out or replacing one mechanism on some cells, to show what the agreement depends on.

use super::super::{mean, side_by_side};
use super::published::CELLS;
use super::{SysbenchChange, one};
use crate::host::{JournalRule, Threads};
use crate::simulation::SimError;
use fathom_workload::Workload;
use serde::Serialize;

/// Positions of the cells.
const COLUMNS: [usize; 6] = [0, 1, 2, 4, 6, 7];

/// Names of the variants.
pub const VARIANTS: [&str; 9] = [
    "base",
    "no reads of indirect blocks",
    "2.4's commit rule everywhere",
    "write cache that sorts (32 commands, shortest first)",
    "write cache, first in first out",
    "no look-ahead of the drive",
    "CFQ keyed by thread",
    "everything under deadline@2.6.24",
    "everything under 2.4's elevator",
];

/// A row: seconds in the cells of `COLUMNS`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SysbenchAblation {
    /// Name of the variant.
    pub variant: &'static str,
    /// Mean over the seeds, s.
    pub seconds: Vec<f64>,
}

fn change(variant: usize) -> SysbenchChange {
    let base = SysbenchChange::default();
    match variant {
        1 => SysbenchChange { indirect_in_memory: true, ..base },
        2 => SysbenchChange { host: Some(|h| h.filesystem.journal.value = JournalRule::Linux24), ..base },
        3 => SysbenchChange {
            device: &[("write_cache", "kib", "2048"), ("write_cache", "order", "\"shortest-first\"")],
            ..base
        },
        4 => SysbenchChange {
            device: &[("write_cache", "kib", "2048"), ("write_cache", "order", "\"fifo\"")],
            ..base
        },
        5 => SysbenchChange { device: &[("buffer", "look_ahead", "false")], ..base },
        6 => SysbenchChange { host: Some(|h| h.cpu.threads.value = Threads::Linuxthreads), ..base },
        7 => SysbenchChange { elevator: Some("deadline@2.6.24"), ..base },
        8 => SysbenchChange { elevator: Some("linus24"), ..base },
        _ => base,
    }
}

/// Headings of the columns; "p-" means with the patch.
#[must_use]
pub fn heads() -> Vec<String> {
    let head = |at: &usize| {
        let patch = if CELLS[*at].kernel.ends_with("patch") { "p-" } else { "" };
        let name = match CELLS[*at].scheduler {
            "anticipatory" => "AS",
            "deadline" => "dl",
            other => other,
        };
        format!("{patch}{name}")
    };
    COLUMNS.iter().map(head).collect()
}

/// Simulates every variant.
pub(super) fn all(workload: &Workload, seeds: u32) -> Result<Vec<SysbenchAblation>, SimError> {
    let mut jobs = Vec::new();
    for variant in 0..VARIANTS.len() {
        for cell in COLUMNS {
            jobs.extend((1..=seeds).map(|seed| (variant, cell, seed)));
        }
    }
    let seconds: Vec<f64> = side_by_side(&jobs, |&(variant, cell, seed)| {
        one(workload, &CELLS[cell], seed, &change(variant)).map(|o| o.seconds)
    })
    .into_iter()
    .collect::<Result<_, _>>()?;
    let cells: Vec<f64> = seconds.chunks(seeds as usize).map(mean).collect();
    let rows = cells.chunks(COLUMNS.len()).zip(VARIANTS);
    Ok(rows.map(|(seconds, variant)| SysbenchAblation { variant, seconds: seconds.to_vec() }).collect())
}

/// One figure, s, by the names of variant and column. Lets tests compare published sentences with the simulation.
///
/// # Errors
/// There is no such row or column, or the workload cannot be simulated.
pub fn ablated(workload: &Workload, seeds: u32, variant: &str, head: &str) -> Result<f64, SimError> {
    let variant_at = VARIANTS.iter().position(|v| *v == variant);
    let column_at = heads().iter().position(|h| h == head);
    let (Some(variant), Some(column)) = (variant_at, column_at) else {
        return Err(SimError::Unsupported(format!("no figure {variant}, {head}")));
    };
    let jobs: Vec<u32> = (1..=seeds.max(1)).collect();
    let change = change(variant);
    let seconds: Vec<f64> =
        side_by_side(&jobs, |&seed| one(workload, &CELLS[COLUMNS[column]], seed, &change).map(|o| o.seconds))
            .into_iter()
            .collect::<Result<_, _>>()?;
    Ok(mean(&seconds))
}

/// Published figures of the columns, s.
#[must_use]
pub fn published_seconds() -> Vec<f64> {
    COLUMNS.iter().map(|at| CELLS[*at].published_s).collect()
}
