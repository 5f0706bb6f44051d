//! The workload model, one concept per file. Plain data that serialises as the native format; `check` validates it and other modules
//! execute it.

mod access;
mod action;
mod backend;
mod buffers;
mod calls;
mod data;
mod files;
mod flow;
mod group;
mod kept;
mod limits;
mod namespace;
mod nodes;
mod opening;
mod pace;
mod pass_over;
mod phase;
mod priority;
mod random;
mod ranks;
mod sealed;
mod steady;
mod stream;
mod syncs;
mod zoned_device;

pub use access::{Access, Does, ListedOp, Scaled, Zone};
pub use action::Action;
pub use backend::{Backend, MapFlush, Pvsync2, SyncCall, Uring};
pub use buffers::{Buffers, Node, Pages};
pub use calls::{Beside, Compute, Donor, FileCall, StatCall};
pub use data::{Data, Verify};
pub use files::{Existing, FileSet, Files, Share, Sizing, Tree};
pub use flow::{Act, Flow, FlowOp, Offsets, Value};
pub use group::{Group, Isolation, Pinning, Program, RunAs, Thread, Times};
pub use kept::{KeepWritten, TrimWritten, WrittenBy};
pub use limits::{Least, Longest, Ratio};
pub use namespace::{block_device_of, generic_name_of};
pub use nodes::Nodes;
pub use opening::{Advice, Open, OpenSync};
pub use pace::{Burst, Gaps, Pace, Rate, RateOf, Think};
pub use pass_over::{ErrorNumber, PassOver};
pub use phase::{
    Axes, CacheState, Exhausted, Failed, Finished, Holes, Phase, Raise, Steady, SteadyFigure, Stonewall, Stop,
};
pub use priority::{IoClass, PriorityShare};
pub use random::{Generator, RandomVariable, Row, Shape, Ties};
pub use ranks::{Layout, Ranks};
pub use sealed::{Header, Sealed, Sum};
pub use steady::{Criterion, Limit, SteadyGroups};
pub use stream::{
    AdaptiveDepth, Amount, DepthGoal, Direction, Lock, Mix, Pick, Record, Sequence, Stream, Timed, Turns,
    WhenStopped,
};
pub use syncs::{SyncEvery, SyncRange, SyncSeries};
pub use zoned_device::{CollectZones, ZonedDevice};

use crate::Seed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A complete workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// A short name for lists and reports.
    pub name: String,
    /// Description for people: what it is meant to show.
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
    /// How the work is divided among ranks on many hosts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ranks: Ranks,
    /// The files.
    #[serde(default, rename = "fileset", skip_serializing_if = "Vec::is_empty")]
    pub filesets: Vec<FileSet>,
    /// The phases, executed in order.
    #[serde(default, rename = "phase", skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
}

impl Workload {
    /// The file set with this name.
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

/// For `skip_serializing_if`: omits default values.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
