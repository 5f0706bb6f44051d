//! What holds a stream to others or to a limit: operations in a ratio to those of other streams, a least rate, a longest latency.

use super::is_default;
use crate::Duration;
use serde::{Deserialize, Serialize};

/// Reads and writes in proportion to those of the other workers of the same group of ratios: nobody begins one while another has done
/// less for his weight. Who ends leaves the others to themselves; who begins later begins where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// Workers of a phase with the same number wait for each other.
    #[serde(default, skip_serializing_if = "is_default")]
    pub group: u32,
    /// Operations of this worker for every one of a worker with the weight 1.
    pub weight: u32,
    /// How long it sleeps before it looks again whether it is its turn; 0: it looks all the time, and sleeps when that takes long.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sleep: Duration,
}

/// A rate that is to be reached: a worker that falls below it ends with an error. Of what is 0 nothing is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Least {
    /// Bytes read in a second.
    #[serde(skip_serializing_if = "is_default")]
    pub read_bytes_per_s: u64,
    /// Bytes written in a second.
    #[serde(skip_serializing_if = "is_default")]
    pub write_bytes_per_s: u64,
    /// Reads in a second.
    #[serde(skip_serializing_if = "is_default")]
    pub reads_per_s: u64,
    /// Writes in a second.
    #[serde(skip_serializing_if = "is_default")]
    pub writes_per_s: u64,
    /// The rate is that of so long a time. It is looked at when an operation ends.
    pub window: Duration,
    /// So long after counting began the first of these times begins.
    #[serde(skip_serializing_if = "is_default")]
    pub grace: Duration,
}

impl Default for Least {
    fn default() -> Self {
        Self {
            read_bytes_per_s: 0,
            write_bytes_per_s: 0,
            reads_per_s: 0,
            writes_per_s: 0,
            window: Duration(1_000_000_000),
            grace: Duration(0),
        }
    }
}

/// A latency that no counted operation may exceed: the first that does ends its worker with an error. 0: there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Longest {
    /// Of reads.
    #[serde(skip_serializing_if = "is_default")]
    pub read: Duration,
    /// Of writes.
    #[serde(skip_serializing_if = "is_default")]
    pub write: Duration,
}
