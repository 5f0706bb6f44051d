//! A phase: what runs between two barriers, and what ends it.

use super::{Action, Group, is_default};
use crate::{Bytes, Duration};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// The field's standard term for what it measures: "write", "random read", ...
    pub name: String,
    /// Where it stands in a table or on a surface.
    #[serde(default, skip_serializing_if = "is_default")]
    pub axes: Axes,
    /// Steps before the barrier, outside every clock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Action>,
    /// Steps after the last worker is gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Action>,
    /// What ends it before its programs are done.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stop: Stop,
    /// Gap between the release of one worker and the next; 0 releases all at one agreed time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stagger: Duration,
    /// Width of the interval series; 0 takes none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interval: Duration,
    /// Who runs.
    #[serde(default, rename = "group", skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
}

/// Coordinates of a phase; what does not apply is left out.
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

/// What ends a phase early. Several may be given; the first to come true ends it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Time since the release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Duration>,
    /// The first worker that is done ends the others' counting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_done: Option<Stonewall>,
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
