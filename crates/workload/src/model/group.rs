//! Who runs: groups of processes, each with threads, each with a program.

use super::{Flow, Stream, is_default};
use crate::Bytes;
use serde::{Deserialize, Serialize};

/// `instances` processes that each hold the same threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Name in results.
    pub name: String,
    /// Number of processes; with [`Isolation::Thread`] number of times the threads are started in our own process.
    #[serde(default = "super::one", skip_serializing_if = "super::is_one")]
    pub instances: u32,
    /// Own processes, or threads of ours.
    #[serde(default, skip_serializing_if = "is_default")]
    pub isolation: Isolation,
    /// Scheduling niceness added to each process.
    #[serde(default, skip_serializing_if = "is_default")]
    pub nice: i32,
    /// Which CPUs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pinning: Pinning,
    /// The threads of each process.
    #[serde(rename = "thread")]
    pub threads: Vec<Thread>,
}

/// `instances` threads that run the same program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thread {
    /// Name in results; empty if the group's name says it all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Number of threads in each process.
    #[serde(default = "super::one", skip_serializing_if = "super::is_one")]
    pub instances: u32,
    /// Size of the thread's I/O buffer area; 0: one record.
    #[serde(default, skip_serializing_if = "is_default")]
    pub memory: Bytes,
    /// Best-effort I/O priority, 0 (first) to 7; without it the process's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_priority: Option<u8>,
    /// What it does.
    pub program: Program,
}

/// What a thread does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Program {
    /// One kind of I/O on one file.
    Stream(Box<Stream>),
    /// A list of operations, repeated.
    Flow(Flow),
}

/// Whether workers share an address space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Threads of this process.
    #[default]
    Thread,
    /// A process each.
    Process,
}

/// Which CPUs the workers may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pinning {
    /// The kernel decides.
    #[default]
    Free,
    /// Worker i runs on CPU (first + i) mod number of CPUs.
    From(u32),
}
