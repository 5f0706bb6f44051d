//! Steady-state criteria other than SNIA's, and groups of a phase that end on their own when they are steady.

use super::Steady;
use serde::{Deserialize, Serialize};

/// The absolute value examined over the rounds of the window; it must stay below the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// The largest deviation of a round from the mean.
    Deviation(Limit),
    /// The change per round of the least-squares line.
    Slope(Limit),
}

/// Upper bound of a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// In percent of the mean.
    Percent(f64),
    /// In units of the figure: operations or bytes per second, or nanoseconds.
    Absolute(f64),
}

impl Criterion {
    /// Its bound.
    #[must_use]
    pub fn limit(self) -> Limit {
        match self {
            Self::Deviation(limit) | Self::Slope(limit) => limit,
        }
    }

    /// Whether it examines the slope of the fitted line.
    #[must_use]
    pub fn is_slope(self) -> bool {
        matches!(self, Self::Slope(_))
    }
}

impl Limit {
    /// Its value, in percent or in units of the figure.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            Self::Percent(number) | Self::Absolute(number) => number,
        }
    }

    /// Whether it is a share of the mean.
    #[must_use]
    pub fn is_percent(self) -> bool {
        matches!(self, Self::Percent(_))
    }
}

/// Groups that end when they are steady together. The others of the phase go on, and so do these if waiting is given up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SteadyGroups {
    /// Their numbers in the phase.
    pub groups: Vec<u32>,
    /// The steady-state rule; with `most_rounds = 0` waiting is never given up.
    #[serde(default)]
    pub rule: Steady,
}
