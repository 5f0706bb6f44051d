//! A run: one invocation's complete record.

use crate::{Doubt, Phase, Simulation, Source, Trust};
use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Still going, or killed without warning: what is there counts, the end is missing.
    #[default]
    Running,
    /// Everything asked for was done.
    Completed,
    /// A signal ended it; what was measured is kept.
    Interrupted,
    /// An error ended it; what was measured is kept.
    Failed,
}

impl Status {
    /// The word in the store and in lists.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

/// The engine's clock, as checked at the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// "tsc" or "clock_gettime".
    pub source: String,
    /// Ticks per second after calibration (1e9 for clock_gettime).
    pub hz: f64,
    /// Median cost of one reading, ns.
    pub cost_ns: f64,
    /// Smallest step seen between two different readings, ns.
    pub resolution_ns: f64,
    /// Drift against CLOCK_MONOTONIC over the run, parts per million; `None` until the end.
    pub drift_ppm: Option<f64>,
}

/// One invocation: what was asked, where it ran, what happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Time-sortable, unique: "20261121T210531-1a2b3c".
    pub id: String,
    /// A name given by the user, or the command's.
    pub label: String,
    /// Language the workload was written in: "survey", "iozone", "native".
    pub dialect: String,
    /// RFC 3339 with offset.
    pub started_at: String,
    /// The same; empty while running.
    pub ended_at: String,
    /// How it ended.
    pub status: Status,
    /// fathom's version.
    pub version: String,
    /// The command line as typed.
    pub argv: Vec<String>,
    /// Directory it ran in.
    pub directory: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// The executed workload in the native format.
    pub workload: String,
    /// Environment document (see docs/formats/environment.md).
    pub environment: serde_json::Value,
    /// The clock.
    pub clock: Clock,
    /// Phases in order of execution.
    pub phases: Vec<Phase>,
    /// Reasons for doubt.
    pub doubts: Vec<Doubt>,
    /// Every check that was made, passed or not.
    #[serde(default)]
    pub trust: Vec<Trust>,
    /// The error that ended the run, if one did.
    pub error: Option<String>,
    /// The text it was imported from; `None` of a run that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The model that its figures follow from; `None` of a run that was measured or imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulation: Option<Simulation>,
}
