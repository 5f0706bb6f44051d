//! What many ranks (processes on many hosts that execute the same workload together) share, and in which order they work. With one
//! rank nothing of it changes anything.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a workload is divided among ranks. What is not named here belongs to each rank alone: its files bear its number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ranks {
    /// File sets whose files are the same for all ranks, and which part of them a rank's streams work on. The first rank makes and removes
    /// them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub shared: BTreeMap<String, Layout>,
    /// Names of phases in which every rank works on what a rank of the next host has made, so that nothing is read from the memory of
    /// who wrote it. They only read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reordered: Vec<String>,
    /// Names of phases with a stop after a time, after which every rank goes on, not counted, until it has done as much as the one that
    /// had done most: later phases find files of one size.
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
    /// One piece: the region is cut into as many as there are ranks.
    Segmented,
    /// Every so many-th record: rank after rank has its turn.
    Strided,
}
