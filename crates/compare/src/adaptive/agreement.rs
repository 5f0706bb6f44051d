//! How far an interpolated surface lies from one that was measured in full, and what share of the time it took.

use super::Sampler;
use crate::summary::median;

/// A sampled surface beside the whole one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// Cells of the whole surface.
    pub cells: usize,
    /// Of those, measured by the sampler.
    pub measured: usize,
    /// Time of those over the time of all.
    pub time_share: f64,
    /// Median over all cells of how far the interpolation lies from the whole surface, as a share (0.05 is 5 %).
    pub median_error: f64,
    /// 95 % of the cells lie no farther.
    pub p95_error: f64,
    /// The cell that lies farthest.
    pub largest_error: f64,
}

/// Lets a sampler choose from a surface that was measured in full, until it is content or has used so large a share of the time. `seen` is
/// what it is told of each cell, row by row, `whole` what it is held against (another measurement of the same, so that noise is not
/// hidden), `times` what each cell cost. `None` where these do not fit the lattice.
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
        // The first cells are needed before anything can be said.
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
