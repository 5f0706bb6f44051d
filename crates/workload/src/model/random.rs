//! Random variables: a shape, a rounding, and bounds. They are drawn in [`crate::ops`].

use super::is_default;
use serde::{Deserialize, Serialize};

/// A number that is drawn anew each time it is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomVariable {
    /// Its distribution.
    pub shape: Shape,
    /// Round to the nearest multiple, halves away from zero; 0: do not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub round: u64,
    /// Lower bound, applied last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Upper bound, applied last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

/// Distributions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Any value in low..high.
    Uniform {
        /// Lowest.
        low: f64,
        /// Not reached.
        high: f64,
    },
    /// Gamma with this shape and mean.
    Gamma {
        /// Shape, above 0.
        shape: f64,
        /// Mean, above 0.
        mean: f64,
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
        /// Most frequent.
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
}

/// One row of a table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Weight, percent by custom.
    pub percent: f64,
    /// Lowest value.
    pub low: f64,
    /// Highest value, not reached.
    pub high: f64,
}
