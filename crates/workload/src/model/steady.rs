//! Steady states by another measure than SNIA's, and of groups of a phase that end by themselves when they are steady.

use super::Steady;
use serde::{Deserialize, Serialize};

/// What is looked at in the rounds of the window, without its sign; it is to stay below the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// The largest distance of a round from the mean.
    Deviation(Limit),
    /// The change from one round to the next of the line fitted by least squares.
    Slope(Limit),
}

/// What it is to stay below.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// So many percent of the mean.
    Percent(f64),
    /// So much of the figure: operations or bytes per second, or nanoseconds.
    Absolute(f64),
}

impl Criterion {
    /// Its limit.
    #[must_use]
    pub fn limit(self) -> Limit {
        match self {
            Self::Deviation(limit) | Self::Slope(limit) => limit,
        }
    }

    /// Whether it is that of the fitted line.
    #[must_use]
    pub fn is_slope(self) -> bool {
        matches!(self, Self::Slope(_))
    }
}

impl Limit {
    /// The number of it.
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

/// Groups that end when they are steady together. The others of the phase go on, and so do these where it is given up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SteadyGroups {
    /// Their numbers in the phase.
    pub groups: Vec<u32>,
    /// When they are; with `most_rounds = 0` it is never given up.
    #[serde(default)]
    pub rule: Steady,
}
