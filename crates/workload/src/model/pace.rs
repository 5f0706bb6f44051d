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
    /// Operations subject to the rate.
    #[serde(skip_serializing_if = "is_default")]
    pub rate_of: RateOf,
    /// After each burst of bytes, fsync and pause; the pause is not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<Burst>,
    /// Keep in proportion to other workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// Minimum throughput per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<Least>,
    /// Maximum latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest: Option<Longest>,
}

/// Computing or sleeping between operations. There is none before a sync, which follows the write that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Think {
    /// How long.
    pub time: Duration,
    /// Whether it counts inside the clock; otherwise it is subtracted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub counted: bool,
    /// Sleep and release the CPU; otherwise a busy loop.
    #[serde(default, skip_serializing_if = "is_default")]
    pub asleep: bool,
    /// With `asleep`: it begins with a busy loop of this length.
    #[serde(default, skip_serializing_if = "is_default")]
    pub busy: Duration,
    /// Pause only before every n-th operation: with 4, before the fourth, the eighth and so on.
    #[serde(default = "every", skip_serializing_if = "is_every")]
    pub every: u64,
    /// With several operations in flight: `every` counts issued operations instead of completed ones.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by_issue: bool,
    /// Also pause when this much time has passed since the last pause or the start, whichever comes first; 0: by operations only. With
    /// `every = 0`, by time only.
    #[serde(rename = "spell", default, skip_serializing_if = "is_default")]
    pub interval: Duration,
    /// With a rate: the pause shifts the schedule by its length. Otherwise operations scheduled during the pause are caught up on.
    #[serde(rename = "postpones", default, skip_serializing_if = "is_default")]
    pub shifts_schedule: bool,
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
            interval: Duration(0),
            shifts_schedule: false,
        }
    }
}

/// When operations are scheduled, whether or not earlier ones are done: an open loop. Late ones are issued at once and not dropped; their
/// response time counts from the scheduled time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Operations per second and worker.
    pub operations_per_s: f64,
    /// How they are spaced.
    #[serde(default, skip_serializing_if = "is_default")]
    pub arrivals: Gaps,
    /// Bytes that count as one operation: larger or smaller ones take a proportional share of time. 0: every operation counts as one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub per: Bytes,
    /// One rate for all workers together: a free worker takes the next scheduled operation.
    #[serde(default, skip_serializing_if = "is_default")]
    pub common: bool,
}

/// Which operations of a stream are subject to its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateOf {
    /// All.
    #[default]
    All,
    /// The reads of a mix. Where a read is drawn before its scheduled time, a write is done instead.
    Reads,
    /// The writes of a mix, likewise.
    Writes,
}

/// Gaps between operations of a stream with a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gaps {
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
