//! Random variables: a distribution, rounding, bounds, and a generator. They are drawn in [`crate::ops`]; this module has what a user may
//! write and the mean that follows from it.

use super::is_default;
use serde::{Deserialize, Serialize};

/// A number that is drawn each time it is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomVariable {
    /// Its distribution.
    pub shape: Shape,
    /// Where its random numbers come from.
    #[serde(default, skip_serializing_if = "is_default")]
    pub generator: Generator,
    /// Round to the nearest multiple; 0: do not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub round: u64,
    /// How ties between two equally near multiples are resolved.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ties: Ties,
    /// Lower bound, applied last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Upper bound, applied last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

/// Where random numbers come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Generator {
    /// fathom's own, seeded from the workload's seed; each worker has its own stream.
    #[default]
    Seeded,
    /// One drand48 stream for this variable, starting from this 48-bit state; all workers draw from it in turn.
    Rand48(u64),
    /// The drand48 stream of the drawing process: each starts from the state 0, and trees are drawn from the stream of the process that
    /// lays them out.
    ProcessRand48,
}

/// Which of two equally near multiples is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// The one farther from zero.
    #[default]
    AwayFromZero,
    /// The lower one. Fractions are truncated first, so 15.9 counts as halfway between 10 and 20.
    Down,
}

/// Distributions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Any value in low..high.
    Uniform {
        /// Lowest.
        low: f64,
        /// Upper bound, exclusive.
        high: f64,
    },
    /// Gamma with this shape and mean, counted from an offset.
    Gamma {
        /// Shape, above 0.
        shape: f64,
        /// Mean including the offset, not below the offset.
        mean: f64,
        /// Added to every value, so it is the lowest one.
        #[serde(default, skip_serializing_if = "is_default")]
        offset: f64,
    },
    /// Erlang: gamma with whole shape, given by its rate.
    Erlang {
        /// Shape, at least 1.
        shape: u32,
        /// Rate, above 0.
        rate: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean, above 0.
        mean: f64,
    },
    /// Normal.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation, not negative.
        sigma: f64,
    },
    /// Log-normal: exp of a normal.
    LogNormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Triangular.
    Triangular {
        /// Lowest.
        low: f64,
        /// Highest.
        high: f64,
        /// Maximum number of frequent.
        mode: f64,
    },
    /// Weibull.
    Weibull {
        /// Shape, above 0.
        shape: f64,
        /// Scale, above 0.
        scale: f64,
    },
    /// Rows of a table, uniform inside each.
    Table(Vec<Row>),
    /// A table that gives only the form: its rows are shifted and stretched to another lowest value and mean. It takes one random number
    /// per value: the hundredths choose the row, the remainder the position inside it.
    Stretched {
        /// Whole percents that add up to 100.
        rows: Vec<Row>,
        /// Mean after stretching; `None`: that of the rows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mean: Option<f64>,
        /// Lowest value after stretching.
        #[serde(default, skip_serializing_if = "is_default")]
        lowest: f64,
    },
}

/// One row of a table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Weight, percent by custom.
    pub percent: f64,
    /// Lowest value.
    pub low: f64,
    /// Upper bound, exclusive.
    pub high: f64,
}

impl RandomVariable {
    /// A variable with this distribution: no rounding, no bounds, fathom's own generator.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        Self { shape, generator: Generator::default(), round: 0, ties: Ties::default(), min: None, max: None }
    }

    /// Its mean before rounding and bounds.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match &self.shape {
            Shape::Uniform { low, high } => low + (high - low) / 2.0,
            Shape::Gamma { mean, .. } | Shape::Exponential { mean } | Shape::Normal { mean, .. } => *mean,
            Shape::Erlang { shape, rate } => f64::from(*shape) / rate,
            Shape::LogNormal { mu, sigma } => (mu + sigma * sigma / 2.0).exp(),
            Shape::Triangular { low, high, mode } => (low + high + mode) / 3.0,
            Shape::Weibull { shape, scale } => scale * gamma_function(1.0 + 1.0 / shape),
            Shape::Table(rows) => mean_of(rows),
            Shape::Stretched { rows, mean, .. } => mean.unwrap_or_else(|| mean_of(rows)),
        }
    }

    /// The variable with another mean and the same form. The lowest value stays in place where the distribution has one separate from its
    /// scale (uniform, triangular, gamma, stretched tables); other distributions are scaled as a whole, and a normal one is shifted.
    /// `None` if it cannot be scaled because its mean is 0.
    #[must_use]
    pub fn with_mean(&self, mean: f64) -> Option<Self> {
        let factor = mean / self.mean();
        let scaled = |value: f64| factor.is_finite().then_some(value * factor);
        let shape = match &self.shape {
            Shape::Uniform { low, .. } => Shape::Uniform { low: *low, high: low + 2.0 * (mean - low) },
            Shape::Gamma { shape, offset, .. } => Shape::Gamma { shape: *shape, mean, offset: *offset },
            Shape::Erlang { shape, .. } => Shape::Erlang { shape: *shape, rate: f64::from(*shape) / mean },
            Shape::Exponential { .. } => Shape::Exponential { mean },
            Shape::Normal { sigma, .. } => Shape::Normal { mean, sigma: *sigma },
            Shape::LogNormal { mu, sigma } => {
                factor.is_finite().then_some(Shape::LogNormal { mu: mu + factor.ln(), sigma: *sigma })?
            }
            Shape::Triangular { low, high, mode } => {
                let factor = (mean - low) / (self.mean() - low);
                let moved = |value: f64| low + (value - low) * factor;
                factor.is_finite().then(|| Shape::Triangular {
                    low: *low,
                    high: moved(*high),
                    mode: moved(*mode),
                })?
            }
            Shape::Weibull { shape, scale } => Shape::Weibull { shape: *shape, scale: scaled(*scale)? },
            Shape::Table(rows) => {
                let row =
                    |r: &Row| Some(Row { percent: r.percent, low: scaled(r.low)?, high: scaled(r.high)? });
                Shape::Table(rows.iter().map(row).collect::<Option<_>>()?)
            }
            Shape::Stretched { rows, lowest, .. } => {
                Shape::Stretched { rows: rows.clone(), mean: Some(mean), lowest: *lowest }
            }
        };
        Some(Self { shape, ..self.clone() })
    }
}

fn mean_of(rows: &[Row]) -> f64 {
    let total: f64 = rows.iter().map(|r| r.percent).sum();
    rows.iter().map(|r| r.percent * ((r.low + r.high) / 2.0)).sum::<f64>() / total
}

/// The gamma function for arguments above 0.5 (Lanczos, 1964, with g = 7 and nine coefficients), to 14 digits.
fn gamma_function(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let tail = (1u8..).zip(&COEFFICIENTS[1..]).map(|(i, c)| c / (x + f64::from(i)));
    let sum = COEFFICIENTS[0] + tail.sum::<f64>();
    let t = x + 7.5;
    (2.0 * std::f64::consts::PI).sqrt() * t.powf(x + 0.5) * (-t).exp() * sum
}
