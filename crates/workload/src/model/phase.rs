//! A phase: what runs between two barriers, and what ends it.

use super::{Action, Criterion, Group, Program, SteadyGroups, Stream, is_default};
use crate::{Bytes, Duration};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// The field's standard term for what it measures: "write", "random read", ...
    pub name: String,
    /// Its coordinates in a table or on a surface.
    #[serde(default, skip_serializing_if = "is_default")]
    pub axes: Axes,
    /// Steps before the barrier, outside every clock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Action>,
    /// Steps after the last worker is gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Action>,
    /// Page cache contents of its files when it begins.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cache: CacheState,
    /// How holes and unwritten extents of files to be read are treated: reading them moves nothing at a device.
    #[serde(default, skip_serializing_if = "is_default")]
    pub holes: Holes,
    /// Warm-up after the release, not counted. Amounts, stop rules and the interval series begin after it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ramp: Duration,
    /// Rules that end it before its programs are done.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stop: Stop,
    /// Gap between the release of one worker and the next; 0 releases all at one agreed time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stagger: Duration,
    /// Width of the interval series; 0 takes none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interval: Duration,
    /// Also keep the interval series of every worker.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interval_by_worker: bool,
    /// Rate of the phase's event generator, in events per second, for the limiting operations of flows; `None`: they do not limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events_per_s: Option<f64>,
    /// The groups that run.
    #[serde(default, rename = "group", skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
}

/// Coordinates of a phase; those that do not apply are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axes {
    /// Size of each worker's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Bytes>,
    /// Record size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Bytes>,
    /// Streams running at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<u32>,
    /// Further coordinates by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

/// Desired page cache contents of a phase's files when it begins. The actual state is measured and recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// Whatever earlier phases left.
    #[default]
    AsFound,
    /// Nothing: written back, then dropped (fadvise).
    Cold,
    /// All: read once.
    Warm,
}

/// Treatment of holes and unwritten extents in files to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holes {
    /// Filled with data first, in files that fathom created; in others they are counted and reported.
    #[default]
    Fill,
    /// Left, counted and reported.
    Leave,
}

/// What ends a phase early. Several rules may be given; the first one met ends it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Time since the release, or since the end of the warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Duration>,
    /// Counted operations of all workers together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Counted bytes of all workers together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Steady state, or the maximum number of rounds to wait for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<Steady>,
    /// Groups that end on their own when they are steady. For streams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steady_groups: Vec<SteadyGroups>,
    /// The first worker to finish ends the others' counting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_done: Option<Stonewall>,
    /// What a failed operation ends.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failed: Failed,
    /// What happens when an operation of a flow finds no file to work on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exhausted: Exhausted,
    /// What happens when a flow reaches its own end (`finish-on-count`, `finish-on-bytes`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub finished: Finished,
}

/// What a failed operation ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failed {
    /// The phase and with it the run: the results of the others are meaningless without it.
    #[default]
    Run,
    /// The phase; later phases still run.
    Phase,
    /// Its worker only. The others, and later phases, still run.
    Worker,
}

/// What happens when an operation of a flow finds no file to work on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exhausted {
    /// The phase ends and is reported as having ended too early.
    #[default]
    Early,
    /// The phase ends as planned.
    Phase,
    /// The worker ends; the phase ends when all have.
    Worker,
}

/// What happens when a flow reaches its own end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finished {
    /// The phase ends.
    #[default]
    Phase,
    /// The worker ends; the phase ends when all have.
    Worker,
}

/// Steady state as the Solid State Storage Performance Test Specification of SNIA defines it: over the last `window` rounds, the largest
/// figure exceeds the smallest by at most `range_percent` of the mean, and the fitted line changes by at most `slope_percent` of the mean
/// from the first round to the last. Rounds begin after the warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Steady {
    /// The figure that must be steady.
    pub of: SteadyFigure,
    /// Length of a round.
    pub round: Duration,
    /// Number of rounds looked at.
    pub window: u32,
    /// Rounds after which waiting is given up; the record says so.
    pub most_rounds: u32,
    /// Maximum range (largest minus smallest), in percent of the mean.
    pub range_percent: f64,
    /// Maximum change of the fitted line over the window, in percent of the mean.
    pub slope_percent: f64,
    /// Criterion used instead of these two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criterion: Option<Criterion>,
    /// Delay of the first round after the warm-up.
    #[serde(skip_serializing_if = "is_default")]
    pub after: Duration,
}

impl Phase {
    /// Its streams; flows are skipped.
    pub fn streams(&self) -> impl Iterator<Item = &Stream> {
        self.groups.iter().flat_map(|g| &g.threads).filter_map(|thread| match &thread.program {
            Program::Stream(stream) => Some(&**stream),
            Program::Flow(_) => None,
        })
    }

    /// The same, for changes.
    pub(crate) fn streams_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.groups.iter_mut().flat_map(|g| &mut g.threads).filter_map(|thread| match &mut thread.program {
            Program::Stream(stream) => Some(&mut **stream),
            Program::Flow(_) => None,
        })
    }

    /// The longest warm-up of its groups, ns. Where bytes end the warm-up only the workers know when: `began` is when each began to
    /// count, in ns after the first release.
    #[must_use]
    pub fn longest_ramp_ns(&self, began: impl Iterator<Item = u64>) -> u64 {
        let by_time = self.groups.iter().map(|g| g.ramp(self).0).max().unwrap_or(self.ramp.0);
        let by_bytes = self.groups.iter().any(|g| g.times.ramp_bytes.0 > 0);
        by_time.max(began.filter(|_| by_bytes).max().unwrap_or(0))
    }
}

impl Default for Steady {
    fn default() -> Self {
        Self {
            of: SteadyFigure::default(),
            round: Duration(60_000_000_000),
            window: 5,
            most_rounds: 25,
            range_percent: 20.0,
            slope_percent: 10.0,
            criterion: None,
            after: Duration(0),
        }
    }
}

/// The figure that must be steady.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyFigure {
    /// Operations per second.
    #[default]
    Operations,
    /// Bytes per second.
    Bytes,
    /// Mean latency.
    Latency,
}

impl SteadyFigure {
    /// Its name in texts and records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Operations => "operations",
            Self::Bytes => "bytes",
            Self::Latency => "latency",
        }
    }
}

/// The rule "the first to finish stops the clock of all".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stonewall {
    /// When the first worker raises the flag.
    #[serde(default)]
    pub raise: Raise,
}

/// When a worker counts as finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Raise {
    /// Right after its last operation, before its own fsync and close.
    AfterLastOp,
    /// After its fsync and close, as far as they are inside the clock.
    #[default]
    AfterFinish,
}
