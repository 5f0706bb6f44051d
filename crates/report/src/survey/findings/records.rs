//! Which record size a test needs for its best rate, from the cells of the surface's largest file.

use super::{finding, proof};
use crate::survey::facts::of_stage;
use crate::units::{bytes, percent, rate};
use fathom_record::{Finding, Phase, Run};

/// Share of the best rate that counts as nearly the best.
const NEARLY: f64 = 0.9;

/// The record size from which on a test has nine tenths of its best rate, in the largest file; or that the rates fluctuate.
pub(super) fn record_size(run: &Run, test: &str) -> Option<Finding> {
    let cells: Vec<&Phase> = of_stage(run, "surface").into_iter().filter(|p| p.name == test).collect();
    let largest = cells.iter().filter_map(|p| p.axes.file_bytes).max()?;
    let of_largest = cells.iter().filter(|p| p.axes.file_bytes == Some(largest));
    let mut points: Vec<(u64, f64)> =
        of_largest.filter_map(|p| Some((p.axes.record_bytes?, p.bytes_per_s()?))).collect();
    points.sort_by_key(|p| p.0);
    if points.len() < 3 {
        return None;
    }
    let first = points.first()?;
    let best = points.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let good = |p: &(u64, f64)| p.1 >= best.1 * NEARLY;
    // All sizes from there on must be good and none before: one good cell before a bad one is not worth recommending.
    let below = points.iter().rposition(|p| !good(p));
    let enough = below.map(|at| points.get(at + 1).filter(|_| !points.iter().take(at).any(good)));
    let sentence = match enough {
        None => format!(
            "{test} of {}: every record from {} on gets {} or nearly that.",
            bytes(largest),
            bytes(first.0),
            rate(best.1)
        ),
        Some(Some(enough)) => format!(
            "{test} of {}: {} with records of {} or more; {} get {} of it.",
            bytes(largest),
            rate(best.1),
            bytes(enough.0),
            bytes(first.0),
            percent(first.1 / best.1)
        ),
        Some(None) => {
            let least = points.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
            format!(
                "{test} of {}: the rate goes up and down with the record: {} with {}, {} with {}.",
                bytes(largest),
                rate(best.1),
                bytes(best.0),
                rate(least.1),
                bytes(least.0)
            )
        }
    };
    let evidence =
        points.iter().map(|p| proof(&format!("records of {}", bytes(p.0)), p.1, "bytes/s")).collect();
    Some(finding("record-size", sentence, evidence))
}
