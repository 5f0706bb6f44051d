//! The mark that a comparison leaves on each run it makes: the plan (level of the last look, threshold, figure, noise found
//! beforehand) and the run's position in the design, so that a later reader of the runs reaches the same verdict.

use fathom_record::Run;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Key of the mark in a run's environment.
pub const KEY: &str = "comparison";

/// The purpose of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionPart {
    /// The discarded first run of a side.
    WarmUp,
    /// The baseline against itself, before the comparison.
    Noise,
    /// The comparison itself.
    Quads,
}

/// The mark on a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionMark {
    /// Id of the comparison.
    pub id: String,
    /// The purpose of the run.
    pub part: SessionPart,
    /// "A" or "B"; for the baseline against itself, both are the baseline.
    pub side: String,
    /// Number of the run within the comparison, from 1.
    pub run: u64,
    /// Number of its quad, from 1; 0 for none.
    pub quad: u64,
    /// Its position in the quad, 1 to 4; 0 for none.
    pub place: u64,
    /// The order of its quad, such as "ABBA".
    pub order: String,
    /// Seed of the orders.
    pub seed: u64,
    /// The settings it ran under, by name.
    pub settings: BTreeMap<String, String>,
    /// The settings as read back from the kernel.
    pub read_back: serde_json::Value,
    /// The comparison's plan.
    pub plan: Plan,
}

/// Decided before the first run that counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Names of the sides.
    pub sides: [String; 2],
    /// The figure that decides when to stop; `None`: the headline figures.
    pub figure: Option<String>,
    /// The change to be detected: 0.03 is 3 %.
    pub effect: f64,
    /// Changes below this give no verdict.
    pub threshold: f64,
    /// The stopping rule.
    pub stopping: Stopping,
    /// Results of the baseline against itself, if requested.
    pub noise: Option<Noise>,
}

/// A stopping rule fixed beforehand; evaluated once per finished quad.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum Stopping {
    /// Stops early only for a very small p; the last look tests at almost the full level.
    Spending {
        /// Maximum number of quads.
        most_quads: u64,
        /// Level of the early looks.
        early: f64,
        /// Level of the last look.
        last: f64,
    },
    /// Stops when the interval is narrow enough, then tests once.
    Precision {
        /// Maximum number of quads.
        most_quads: u64,
        /// Half-width of the interval: 0.01 is 1 %.
        half_width: f64,
        /// Level of the test.
        level: f64,
    },
}

/// Figures of the baseline against itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Orders of the quads.
    pub orders: Vec<String>,
    /// Maximum number of quads the comparison may take.
    pub most_quads: u32,
    /// Each watched figure.
    pub figures: Vec<NoiseOf>,
}

/// One figure of the baseline against itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseOf {
    /// The cell in words.
    pub cell: String,
    /// Its operation.
    pub operation: String,
    /// The figure.
    pub metric: String,
    /// Every run's value, in the order of the runs.
    pub values: Vec<f64>,
}

impl SessionMark {
    /// The mark of a run; `None` if it was not made by a comparison.
    #[must_use]
    pub fn of(run: &Run) -> Option<Self> {
        serde_json::from_value(run.environment.get(KEY)?.clone()).ok()
    }
}

impl Stopping {
    /// Maximum number of quads.
    #[must_use]
    pub fn most_quads(&self) -> u64 {
        match self {
            Self::Spending { most_quads, .. } | Self::Precision { most_quads, .. } => *most_quads,
        }
    }

    /// The level at which the verdict is given.
    #[must_use]
    pub fn level(&self) -> f64 {
        match self {
            Self::Spending { last, .. } => *last,
            Self::Precision { level, .. } => *level,
        }
    }
}
