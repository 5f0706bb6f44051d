//! The model, one noun a file: what a workload is made of. Plain data that serialises as the native format; what it means is
//! checked in `check` and executed elsewhere.

mod action;
mod data;
mod files;
mod flow;
mod group;
mod phase;
mod random;
mod sealed;
mod stream;

pub use action::Action;
pub use data::{Data, Verify};
pub use files::{Existing, FileSet, Files, Share, Sizing, Tree};
pub use flow::{Act, Flow, FlowOp, Offsets, Value};
pub use group::{Group, Isolation, Pinning, Program, Thread, Times};
pub use phase::{
    Axes, CacheState, Exhausted, Failed, Finished, Holes, Phase, Raise, Steady, SteadyFigure, Stonewall, Stop,
};
pub use random::{Generator, RandomVariable, Row, Shape, Ties};
pub use sealed::{Sealed, Sum};
pub use stream::{
    Access, AdaptiveDepth, Advice, Amount, Arrivals, Backend, Buffers, Burst, DepthGoal, Direction, Does,
    ListedOp, Lock, MapFlush, Mix, Node, Open, OpenSync, Pace, Pages, Pick, Pvsync2, Rate, Record, Scaled,
    Sequence, Stream, SyncCall, SyncEvery, SyncSeries, Think, Timed, Turns, Uring, WhenStopped, Zone,
};

use crate::Seed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that is to be done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// A short name for lists and reports.
    pub name: String,
    /// What it is meant to show, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Seed of every random choice.
    #[serde(default)]
    pub seed: Seed,
    /// Complete executions of all phases.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub repetitions: u32,
    /// Random variables by name; numbers in file sets and flows may refer to them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, RandomVariable>,
    /// The files.
    #[serde(default, rename = "fileset", skip_serializing_if = "Vec::is_empty")]
    pub filesets: Vec<FileSet>,
    /// The phases, executed in order.
    #[serde(default, rename = "phase", skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
}

impl Workload {
    /// The file set of that name.
    #[must_use]
    pub fn fileset(&self, name: &str) -> Option<&FileSet> {
        self.filesets.iter().find(|s| s.name == name)
    }
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's skip_serializing_if passes a reference")]
fn is_one(n: &u32) -> bool {
    *n == 1
}

/// For `skip_serializing_if`: leaves out what is as it is by default.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
