//! How fast a stream goes: pauses, rates, bursts and limits.

use super::backend::{every, is_every};
use super::{Least, Longest, Ratio, is_default};
use crate::{Bytes, Duration};
use serde::{Deserialize, Serialize};

/// Pause and rate of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pace {
    /// Computing, or sleeping, before each read and write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<Think>,
    /// Upper limit of operations per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Which operations have the rate.
    #[serde(skip_serializing_if = "is_default")]
    pub rate_of: RateOf,
    /// After so many bytes, fsync and pause; the pause is not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<Burst>,
    /// In proportion to what other workers do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// Lower limit of what is done in a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<Least>,
    /// Upper limit of latencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest: Option<Longest>,
}

/// Computing between operations, or sleeping. There is none before a sync, which follows the write that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Think {
    /// How long.
    pub time: Duration,
    /// Whether it stays inside the clock; if not it is subtracted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub counted: bool,
    /// The CPU is given away meanwhile; otherwise it is a busy loop.
    #[serde(default, skip_serializing_if = "is_default")]
    pub asleep: bool,
    /// With `asleep`: it begins with a busy loop of this length.
    #[serde(default, skip_serializing_if = "is_default")]
    pub busy: Duration,
    /// Only before every so many operations: with 4, before the fourth, the eighth and so on.
    #[serde(default = "every", skip_serializing_if = "is_every")]
    pub every: u64,
    /// With several operations in flight: `every` counts those that were issued, not those that are done.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by_issue: bool,
    /// Also when so long a time has passed since the last pause, or the start, whichever comes first; 0: only by operations. With
    /// `every = 0` only then.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spell: Duration,
    /// With a rate: what is due is due later by the time of the pause. Without it, what was due meanwhile is made up for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub postpones: bool,
}

impl Default for Think {
    fn default() -> Self {
        Self {
            time: Duration(0),
            counted: false,
            asleep: false,
            busy: Duration(0),
            every: 1,
            by_issue: false,
            spell: Duration(0),
            postpones: false,
        }
    }
}

/// When operations are due, whether or not the ones before are done: an open loop. Late ones are issued at once and not dropped; their
/// response time counts from when they were due.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Operations per second and worker.
    pub operations_per_s: f64,
    /// How they are spaced.
    #[serde(default, skip_serializing_if = "is_default")]
    pub arrivals: Arrivals,
    /// So many bytes count as one operation: one that moves more or less takes its share of the time. 0: every operation is one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub per: Bytes,
    /// The rate is that of all workers together: who is free takes what is due next.
    #[serde(default, skip_serializing_if = "is_default")]
    pub common: bool,
}

/// Which operations of a stream have its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateOf {
    /// All.
    #[default]
    All,
    /// The reads of a mix. Where one is drawn and not due, a write is done instead.
    Reads,
    /// The writes of a mix, likewise.
    Writes,
}

/// Gaps between operations of a stream with a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// All the same.
    #[default]
    Even,
    /// Exponentially distributed, as of many independent users.
    Poisson,
}

/// Bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// Bytes of a burst.
    pub bytes: Bytes,
    /// Pause after it.
    pub pause: Duration,
}
