//! Compares sampling with measuring every cell: for a run that measured all cells of its surfaces twice, the sampler is given the first
//! measurement and compared with the second, and the difference between the two measurements is shown beside the result.

use super::lattice::Lattice;
use crate::section::stage;
use crate::units::percent;
use fathom_compare::adaptive::agreement;
use fathom_compare::summary::median;
use fathom_record::{Phase, Run};
use std::fmt::Write as _;

/// Maximum share of the time that the sampler may use.
const SHARE: f64 = 0.25;
/// The tolerance that a survey uses.
const TOLERANCE: f64 = 0.1;

/// A text table, one line per test.
#[must_use]
pub fn dense(run: &Run) -> String {
    let mut out = format!(
        "{:<16}{:>10}{:>9}{:>12}{:>10}{:>10}{:>16}{:>10}\n",
        "test", "cells", "of", "time share", "median", "p95", "two measured:", "p95"
    );
    let mut tests: Vec<&str> = Vec::new();
    for phase in run.phases.iter().filter(|p| stage(p) == Some("surface")) {
        if !tests.contains(&phase.name.as_str()) {
            tests.push(&phase.name);
        }
    }
    for test in tests {
        let line = line(run, test).unwrap_or_else(|| format!("{test}: not every cell was measured twice"));
        let _ = writeln!(out, "{line}");
    }
    out
}

fn line(run: &Run, test: &str) -> Option<String> {
    let cells: Vec<&Phase> =
        run.phases.iter().filter(|p| stage(p) == Some("surface") && p.name == test).collect();
    let lattice = Lattice::of(cells.iter().filter_map(|p| p.axes.file_bytes).max()?)?;
    let (mut seen, mut whole, mut times) = (Vec::new(), Vec::new(), Vec::new());
    for file in &lattice.rows {
        for record in &lattice.columns {
            let here = |p: &&&Phase| p.axes.file_bytes == Some(*file) && p.axes.record_bytes == Some(*record);
            let phase = cells.iter().find(here)?;
            let [first, second] = phase.repetitions.as_slice() else { return None };
            seen.push(first.bytes_per_s()?);
            whole.push(second.bytes_per_s()?);
            times.push(first.elapsed_ns as f64);
        }
    }
    let found = agreement(&mut lattice.sampler(TOLERANCE)?, &seen, &whole, &times, SHARE)?;
    let mut apart: Vec<f64> = seen.iter().zip(&whole).map(|(a, b)| (a / b).ln().abs().exp_m1()).collect();
    apart.sort_by(f64::total_cmp);
    Some(format!(
        "{test:<16}{:>10}{:>9}{:>12}{:>10}{:>10}{:>16}{:>10}",
        found.measured,
        found.cells,
        percent(found.time_share),
        percent(found.median_error),
        percent(found.p95_error),
        percent(median(&apart)?),
        percent(*apart.get(apart.len() * 95 / 100)?)
    ))
}
