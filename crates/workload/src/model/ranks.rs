//! What many ranks (processes on many hosts that execute the same workload together) share, and in which order they work. With one rank
//! none of it has any effect.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a workload is divided among ranks. File sets not named here are private to each rank: the file names contain its number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ranks {
    /// File sets shared by all ranks, and the part of them a rank's streams work on. The first rank creates and removes them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub shared: BTreeMap<String, Layout>,
    /// Phases in which every rank reads the files made by a rank of the next host, so that the writer's page cache does not serve the
    /// reads. These phases only read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reordered: Vec<String>,
    /// Phases with a time limit after which every rank continues, uncounted, until it has done as much as the fastest one: later phases
    /// find files of one size.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wear_out: Vec<String>,
}

/// Which part of a shared file a rank's streams work on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// All of it.
    #[default]
    Whole,
    /// One piece: the region is cut into one piece per rank.
    Segmented,
    /// Every n-th record, n being the number of ranks: the ranks' records alternate.
    Strided,
}
