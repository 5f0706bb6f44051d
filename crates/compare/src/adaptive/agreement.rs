//! Error of an interpolated surface against a full measurement, and the share of the time that it took.

use super::Sampler;
use crate::summary::median;

/// Comparison of a sampled surface with the full one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// Cells of the full surface.
    pub cells: usize,
    /// Cells measured by the sampler.
    pub measured: usize,
    /// Time of the measured cells relative to that of all.
    pub time_share: f64,
    /// Median over all cells of the relative error of the interpolation (0.05 is 5 %).
    pub median_error: f64,
    /// 95th percentile of the relative error.
    pub p95_error: f64,
    /// The cell with the largest error.
    pub largest_error: f64,
}

/// Lets a sampler choose cells of a fully measured surface until it is content or has used this share of the time. `seen` are the values
/// it receives, row by row; `whole` are those it is compared with (another measurement, so that noise shows); `times` is the cost of each
/// cell. `None` if their lengths do not fit the lattice.
#[must_use]
pub fn agreement(
    sampler: &mut Sampler,
    seen: &[f64],
    whole: &[f64],
    times: &[f64],
    most_time_share: f64,
) -> Option<Agreement> {
    let cells = sampler.known.len();
    if [seen.len(), whole.len(), times.len()] != [cells; 3] {
        return None;
    }
    let all: f64 = times.iter().sum();
    let mut spent = 0.0;
    while let Some(node) = sampler.next_node() {
        let at = sampler.place(node);
        let cost = times.get(at)?;
        // The first cells are always measured, since no error can be estimated before.
        if spent + cost > all * most_time_share && sampler.expected_error().is_some() {
            break;
        }
        spent += cost;
        sampler.tell(node, *seen.get(at)?);
    }
    let columns = sampler.x.len();
    let error = |at: usize| {
        let here = sampler.at((at % columns, at / columns))?;
        Some((here / whole.get(at)?).ln().abs().exp_m1())
    };
    let mut errors: Vec<f64> = (0..cells).filter_map(error).filter(|e| e.is_finite()).collect();
    errors.sort_by(f64::total_cmp);
    let p95 = errors.get((errors.len() * 95).div_ceil(100).saturating_sub(1))?;
    Some(Agreement {
        cells,
        measured: sampler.measured(),
        time_share: if all > 0.0 { spent / all } else { 0.0 },
        median_error: median(&errors)?,
        p95_error: *p95,
        largest_error: *errors.last()?,
    })
}
