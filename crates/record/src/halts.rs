//! How long the measured threads did not run because somebody stopped them.

use serde::{Deserialize, Serialize};

/// Sums over all measured threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Halts {
    /// Time stopped by a signal (SIGSTOP), ns.
    pub stopped_ns: u64,
    /// Time frozen by a control group, ns.
    pub frozen_ns: u64,
}
