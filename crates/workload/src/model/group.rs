//! Who runs: groups of processes with threads, each executing a program.

use super::{Backend, Flow, IoClass, Phase, Raise, Stream, is_default};
use crate::{Bytes, Duration};
use serde::{Deserialize, Serialize};

/// `instances` processes that each hold the same threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Name in results.
    pub name: String,
    /// Number of processes; with [`Isolation::Thread`], how many times the threads are started in fathom's own process.
    #[serde(default = "super::one", skip_serializing_if = "super::is_one")]
    pub instances: u32,
    /// Separate processes, or threads of fathom's process.
    #[serde(default, skip_serializing_if = "is_default")]
    pub isolation: Isolation,
    /// Scheduling niceness added to each process.
    #[serde(default, skip_serializing_if = "is_default")]
    pub nice: i32,
    /// CPU pinning.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pinning: Pinning,
    /// Times that differ from the phase's. For streams.
    #[serde(default, skip_serializing_if = "is_default")]
    pub times: Times,
    /// The threads of each process.
    #[serde(rename = "thread")]
    pub threads: Vec<Thread>,
}

/// Times of a group of streams in addition to, or instead of, those of its phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Times {
    /// Delay of its workers' start after the release. All their clocks start then.
    #[serde(skip_serializing_if = "is_default")]
    pub delay: Duration,
    /// Warm-up instead of the phase's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ramp: Option<Duration>,
    /// Its warm-up also lasts until each worker has read, written or trimmed this much.
    #[serde(skip_serializing_if = "is_default")]
    pub ramp_bytes: Bytes,
    /// `ramp_bytes` is the total of its company.
    #[serde(skip_serializing_if = "is_default")]
    pub ramp_together: bool,
    /// Time limit instead of that of the phase's stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// With the stop `first_done`: neither finished workers nor an expired time limit of this group end the others. The others still end
    /// it.
    #[serde(rename = "ends_nobody", skip_serializing_if = "is_default")]
    pub never_ends_others: bool,
    /// Groups with the same number are a company.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub company: Option<u32>,
    /// With the stop `first_done`: its finished workers or expired time limit end only its company. It is ended by its company and by
    /// groups that end everyone.
    #[serde(skip_serializing_if = "is_default")]
    pub ends_company: bool,
    /// It ends when all streams of other groups that do I/O are done: all except those with the back-end `compute`.
    #[serde(skip_serializing_if = "is_default")]
    pub ends_with_io: bool,
}

impl Group {
    /// Whether one of its threads does I/O that groups with `ends_with_io` wait for.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        let computes = |thread: &Thread| match &thread.program {
            Program::Stream(stream) => matches!(stream.backend, Backend::Compute(_)),
            Program::Flow(_) => false,
        };
        !self.times.ends_with_io && !self.threads.iter().all(computes)
    }

    /// Length of its warm-up in a phase.
    #[must_use]
    pub fn ramp(&self, phase: &Phase) -> Duration {
        self.times.ramp.unwrap_or(phase.ramp)
    }

    /// Whether it has a warm-up, which is not counted, in a phase.
    #[must_use]
    pub fn warms_up(&self, phase: &Phase) -> bool {
        self.ramp(phase).0 > 0 || self.times.ramp_bytes.0 > 0
    }

    /// Its time limit in a phase.
    #[must_use]
    pub fn time(&self, phase: &Phase) -> Option<Duration> {
        self.times.stop.or(phase.stop.time)
    }

    /// When one of its workers ends the others of a phase; `None`: never.
    #[must_use]
    pub fn raise(&self, phase: &Phase) -> Option<Raise> {
        phase.stop.first_done.filter(|_| !self.times.never_ends_others).map(|rule| rule.raise)
    }
}

/// `instances` threads that run the same program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thread {
    /// Name in results; empty if the group's name suffices.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Number of threads in each process.
    #[serde(default = "super::one", skip_serializing_if = "super::is_one")]
    pub instances: u32,
    /// Size of the thread's I/O buffer area; 0: one record.
    #[serde(default, skip_serializing_if = "is_default")]
    pub memory: Bytes,
    /// Memory that it keeps locked, unused, while it lives: it leaves less for the page cache.
    #[serde(default, skip_serializing_if = "is_default")]
    pub locked_memory: Bytes,
    /// I/O priority level, 0 (highest) to 7; without level and class, the process's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_priority: Option<u8>,
    /// I/O priority class; best effort where only a level is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_class: Option<IoClass>,
    /// Device hint in its I/O priority, 0 (none) to 1023; best effort where neither class nor level is given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub io_hint: u16,
    /// User and group that it switches to before it opens its files. For streams.
    #[serde(default, skip_serializing_if = "is_default")]
    pub run_as: RunAs,
    /// What it does.
    pub program: Program,
}

/// Numeric user and group; `None` keeps the process's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunAs {
    /// Number of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<u32>,
    /// Number of the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
}

impl Thread {
    /// The kernel's encoding of its I/O priority, if it has its own: see [`IoClass::with_hint`].
    #[must_use]
    pub fn io_priority_number(&self) -> Option<u16> {
        let class = self.io_class.unwrap_or(IoClass::BestEffort);
        (self.io_priority.is_some() || self.io_class.is_some() || self.io_hint > 0)
            .then(|| class.with_hint(self.io_priority.unwrap_or(0), self.io_hint))
    }
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
    /// One process each.
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
    /// Every worker runs on any of these CPUs, and on no other.
    Among(Vec<u32>),
}
