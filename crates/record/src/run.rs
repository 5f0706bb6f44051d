//! The complete record of one invocation, as it is stored and exported.

use crate::{Doubt, Phase, Simulation, Source, Trust};
use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Still running, or killed without warning: the data so far counts, the end is missing.
    #[default]
    Running,
    /// Everything requested was done.
    Completed,
    /// Ended by a signal; the measurements so far are kept.
    Interrupted,
    /// Ended by an error; the measurements so far are kept.
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
    /// Smallest step between two different readings, ns.
    pub resolution_ns: f64,
    /// Drift against CLOCK_MONOTONIC over the run, parts per million; `None` until the end.
    pub drift_ppm: Option<f64>,
}

/// One invocation: what was requested, where it ran, what happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Unique and sortable by time: "20261121T210531-1a2b3c".
    pub id: String,
    /// Name given by the user, or the command's.
    pub label: String,
    /// Language the workload was written in: "survey", "iozone", "native".
    pub dialect: String,
    /// RFC 3339 with offset.
    pub started_at: String,
    /// RFC 3339 with offset; empty while running.
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
    /// Every check made, passed or not.
    #[serde(default)]
    pub trust: Vec<Trust>,
    /// The error that ended the run, if one did.
    pub error: Option<String>,
    /// The text it was imported from; `None` for a measured run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The model behind its figures; `None` for a measured or imported run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulation: Option<Simulation>,
}
