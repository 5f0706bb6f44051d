//! Limits that tie a stream to other streams or to a bound: operations in a ratio to other streams', a minimum rate, a maximum latency.

use super::is_default;
use crate::Duration;
use serde::{Deserialize, Serialize};

/// Reads and writes in proportion to those of the other workers of the same ratio group: no worker begins one while another has done
/// fewer relative to its weight. A worker that ends stops holding up the others; one that starts later joins at their level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// Workers of a phase with the same number wait for each other.
    #[serde(default, skip_serializing_if = "is_default")]
    pub group: u32,
    /// Operations of this worker for every one of a worker with the weight 1.
    pub weight: u32,
    /// Sleep between checks for its turn; 0: it polls, and sleeps only when that takes long.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sleep: Duration,
}

/// A minimum rate: a worker that falls below it ends with an error. A bound of 0 is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Least {
    /// Bytes read per second.
    #[serde(skip_serializing_if = "is_default")]
    pub read_bytes_per_s: u64,
    /// Bytes written per second.
    #[serde(skip_serializing_if = "is_default")]
    pub write_bytes_per_s: u64,
    /// Reads per second.
    #[serde(skip_serializing_if = "is_default")]
    pub reads_per_s: u64,
    /// Writes per second.
    #[serde(skip_serializing_if = "is_default")]
    pub writes_per_s: u64,
    /// Length of the window the rate is averaged over. It is checked when an operation ends.
    pub window: Duration,
    /// Time from the start of counting to the first window.
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

/// A maximum latency: the first counted operation that exceeds it ends its worker with an error. 0: no limit.
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
