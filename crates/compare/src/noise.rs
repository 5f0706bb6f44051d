//! Scatter of single runs and its consequences: the noise within quads, the smallest detectable change, the number of quads for a change,
//! and the gate that an A/A comparison (the baseline against itself) must pass.

use crate::levels::{Levels, two_levels};
use crate::numbers::{logs, squares};
use crate::quads::Quad;
use crate::quads::rank_test::{RankTest, rank_test};
use crate::series::{Lag1, lag1};
use crate::unusable::{Unusable, positive};

/// Normal quantiles of a two-sided test at 1 %, and of 95 % power.
const Z_ALPHA: f64 = 2.575829;
const Z_POWER: f64 = 1.644854;

/// Efficiency of ranks within strata of four, relative to a t-test on normal noise: 3/pi for ranks times 4/5 for strata of four.
const EFFICIENCY: f64 = 0.764;

/// Noise levels (coefficients of variation) and changes of the table below.
const NOISES: [f64; 6] = [0.005, 0.01, 0.02, 0.03, 0.05, 0.10];
const CHANGES: [f64; 5] = [0.02, 0.03, 0.05, 0.10, 0.20];

/// Quads for 95 % power at alpha 0.01 with a threshold of 1 %, by simulation of 4000 sessions of normal noise each; 0 is "beyond 30".
const QUADS: [[u32; 5]; 6] = [
    [3, 3, 3, 3, 3],
    [8, 4, 3, 3, 3],
    [26, 12, 6, 3, 3],
    [0, 25, 10, 4, 3],
    [0, 0, 24, 8, 3],
    [0, 0, 0, 23, 7],
];

/// Threshold used for the table.
const TABLE_THRESHOLD: f64 = 0.01;

/// Coefficient of variation of single runs within quads if both sides are the same: the root of the mean variance of ln x over quads,
/// three degrees of freedom each. Figures must be positive.
pub fn within_quads(quads: &[Quad]) -> Result<f64, Unusable> {
    if quads.is_empty() {
        return Err(Unusable::NotQuads { a: 0, b: 0 });
    }
    positive(&quads.iter().flat_map(Quad::values).collect::<Vec<f64>>())?;
    Ok(within(quads, 0.0, 3.0 * quads.len() as f64))
}

/// The same for sides that differ by `shift` (in ln), which costs one degree of freedom.
pub(crate) fn within_shifted(quads: &[Quad], shift: f64) -> f64 {
    within(quads, shift, 3.0 * quads.len() as f64 - 1.0)
}

fn within(quads: &[Quad], shift: f64, degrees: f64) -> f64 {
    let of_quad = |q: &Quad| squares(&[q.a[0].ln(), q.a[1].ln(), q.b[0].ln() - shift, q.b[1].ln() - shift]);
    (quads.iter().map(of_quad).sum::<f64>() / degrees).sqrt()
}

/// The smallest change (0.01 is 1 %) detected in 95 of 100 sessions with this many runs per side, by the normal formula.
#[must_use]
pub fn smallest_change(cv: f64, runs_per_side: usize) -> f64 {
    ((Z_ALPHA + Z_POWER) * cv * (2.0 / runs_per_side as f64).sqrt()).exp_m1()
}

/// Runs per side by the normal formula, for a two-sided test at 1 % with 95 % power. The rank test on quads needs more:
/// [`quads_needed`].
#[must_use]
pub fn runs_needed(cv: f64, change: f64) -> f64 {
    2.0 * ((Z_ALPHA + Z_POWER) * cv / change.abs().ln_1p()).powi(2)
}

/// Quads for 95 % power at alpha 0.01 to detect a change (0.03 is 3 %) against a threshold: interpolated from the simulated table,
/// outside it the formula divided by the efficiency of the test. `None` if the change is not above the threshold, because no number of
/// runs settles it.
///
/// Only the ratios of noise, change and threshold matter, so for thresholds other than the table's 1 % all three are scaled.
#[must_use]
pub fn quads_needed(cv: f64, change: f64, threshold: f64) -> Option<u32> {
    let (change, threshold) = (change.abs().ln_1p(), threshold.ln_1p());
    if change <= threshold || !cv.is_finite() || cv < 0.0 {
        return None;
    }
    let scale = if threshold > 0.0 { TABLE_THRESHOLD.ln_1p() / threshold } else { 1.0 };
    let (cv, change) = (cv * scale, (change * scale).exp_m1());
    if cv > NOISES[5] || !(CHANGES[0]..=CHANGES[4]).contains(&change) {
        return Some(by_formula(cv, change));
    }
    let (row, down) = between(&NOISES, cv);
    let (column, right) = between(&CHANGES, change);
    let at = |i: usize, j: usize| f64::from(in_table(i, j)).ln();
    let mix = |a: f64, b: f64, t: f64| a + (b - a) * t;
    let upper = mix(at(row, column), at(row, column + 1), right);
    let lower = mix(at(row + 1, column), at(row + 1, column + 1), right);
    Some((mix(upper, lower, down).exp() - 1e-9).ceil() as u32)
}

/// Outside the table, at its threshold: enough runs for the test to reject and for the estimate to pass the threshold.
fn by_formula(cv: f64, change: f64) -> u32 {
    let to_pass = 2.0 * (Z_POWER * cv / (change.ln_1p() - TABLE_THRESHOLD.ln_1p())).powi(2);
    // A quad has two runs of each side.
    (runs_needed(cv, change).max(to_pass) / 2.0 / EFFICIENCY).ceil().clamp(3.0, f64::from(u32::MAX)) as u32
}

fn in_table(row: usize, column: usize) -> u32 {
    match QUADS[row][column] {
        0 => by_formula(NOISES[row], CHANGES[column]).max(31),
        quads => quads,
    }
}

/// The grid interval that contains a value, and the position in it, in logarithms; smaller values are clamped to the edge.
fn between(grid: &[f64], value: f64) -> (usize, f64) {
    let value = value.max(grid[0]);
    let step = grid.iter().rposition(|g| *g <= value).unwrap_or(0).min(grid.len() - 2);
    (step, (value / grid[step]).ln() / (grid[step + 1] / grid[step]).ln())
}

/// Requirements of the gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateRules {
    /// Quads available for the comparison.
    pub budget_quads: u32,
    /// The change that the user wants to detect.
    pub change: f64,
    /// Threshold of verdicts.
    pub threshold: f64,
    /// Level of the A/A tests of all cells together.
    pub alpha: f64,
    /// Number of cells in A/A tests: each gets its share of the level.
    pub cells: usize,
}

impl Default for GateRules {
    fn default() -> Self {
        Self { budget_quads: 5, change: 0.03, threshold: 0.01, alpha: 0.01, cells: 1 }
    }
}

/// Why verdicts are withheld.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GateFailure {
    /// The baseline differs from itself.
    DiffersFromItself {
        /// p of the A/A test.
        p: f64,
    },
    /// The runs lie on two levels, further apart than skew alone explains.
    TwoLevels(Levels),
    /// The noise requires more quads than the budget.
    TooNoisy {
        /// Quads needed for the change; `None` if it is not above the threshold.
        needed: Option<u32>,
        /// Available quads.
        budget: u32,
    },
}

/// The noise of a machine, from quads of A against A.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseGate {
    /// Coefficient of variation of single runs within quads.
    pub cv: f64,
    /// The smallest change detectable with this number of runs per side.
    pub smallest_change: f64,
    /// Total number of runs.
    pub runs: usize,
    /// The rank test of A against A.
    pub test: RankTest,
    /// Lag-1 autocorrelation over the whole session: drift between quads.
    pub drift: Lag1,
    /// Empty if verdicts may be given.
    pub failures: Vec<GateFailure>,
}

impl NoiseGate {
    /// Whether verdicts may be given.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

/// Judges A/A quads. `in_order` holds the same runs in run order.
pub fn noise_gate(quads: &[Quad], in_order: &[f64], rules: &GateRules) -> Result<NoiseGate, Unusable> {
    let cv = within_quads(quads)?;
    if in_order.len() != 4 * quads.len() {
        return Err(Unusable::Unequal {
            what: "the noise gate",
            first: 4 * quads.len(),
            second: in_order.len(),
        });
    }
    positive(in_order)?;
    let test = rank_test(quads);
    let mut failures = Vec::new();
    if test.p <= rules.alpha / rules.cells.max(1) as f64 {
        failures.push(GateFailure::DiffersFromItself { p: test.p });
    }
    if let Some(levels) = two_levels(in_order)?.filter(Levels::beyond_skew) {
        failures.push(GateFailure::TwoLevels(levels));
    }
    let needed = quads_needed(cv, rules.change, rules.threshold);
    if needed.is_none_or(|n| n > rules.budget_quads) {
        failures.push(GateFailure::TooNoisy { needed, budget: rules.budget_quads });
    }
    let drift = lag1(&logs(in_order))?;
    let smallest_change = smallest_change(cv, 2 * quads.len());
    Ok(NoiseGate { cv, smallest_change, runs: in_order.len(), test, drift, failures })
}

#[cfg(test)]
#[path = "noise_tests.rs"]
mod tests;
