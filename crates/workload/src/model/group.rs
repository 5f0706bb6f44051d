//! Who runs: groups of processes, each with threads, each with a program.

use super::{Backend, Flow, IoClass, Phase, Raise, Stream, is_default};
use crate::{Bytes, Duration};
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
    /// Where its times are others than those of the phase. For streams.
    #[serde(default, skip_serializing_if = "is_default")]
    pub times: Times,
    /// The threads of each process.
    #[serde(rename = "thread")]
    pub threads: Vec<Thread>,
}

/// Times of a group of streams beside, or instead of, those of its phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Times {
    /// Its workers begin so long after the release. All their clocks begin then.
    #[serde(skip_serializing_if = "is_default")]
    pub delay: Duration,
    /// Warm-up instead of the phase's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ramp: Option<Duration>,
    /// Its warm-up also lasts until each worker has read, written or trimmed this much.
    #[serde(skip_serializing_if = "is_default")]
    pub ramp_bytes: Bytes,
    /// `ramp_bytes` is what its company does together.
    #[serde(skip_serializing_if = "is_default")]
    pub ramp_together: bool,
    /// It ends after this time instead of that of the phase's stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// With the stop `first_done`: that its workers are done, or their own time is over, ends nobody. It is ended by the others all the same.
    #[serde(skip_serializing_if = "is_default")]
    pub ends_nobody: bool,
    /// Groups with the same number are a company.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub company: Option<u32>,
    /// With the stop `first_done`: that its workers are done, or their own time is over, ends its company only. It is ended by its company
    /// and by those that end all.
    #[serde(skip_serializing_if = "is_default")]
    pub ends_company: bool,
    /// It is ended when all streams of other groups are done that do I/O: all but those whose back-end is `compute`.
    #[serde(skip_serializing_if = "is_default")]
    pub ends_with_io: bool,
}

impl Group {
    /// Whether a thread of it does I/O that those wait for who end with it.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        let computes = |thread: &Thread| match &thread.program {
            Program::Stream(stream) => matches!(stream.backend, Backend::Compute(_)),
            Program::Flow(_) => false,
        };
        !self.times.ends_with_io && !self.threads.iter().all(computes)
    }

    /// Its warm-up in a phase.
    #[must_use]
    pub fn ramp(&self, phase: &Phase) -> Duration {
        self.times.ramp.unwrap_or(phase.ramp)
    }

    /// Whether what its workers do first is not counted in a phase.
    #[must_use]
    pub fn warms_up(&self, phase: &Phase) -> bool {
        self.ramp(phase).0 > 0 || self.times.ramp_bytes.0 > 0
    }

    /// The time after which it is stopped in a phase.
    #[must_use]
    pub fn time(&self, phase: &Phase) -> Option<Duration> {
        self.times.stop.or(phase.stop.time)
    }

    /// When one of its workers ends the others of a phase, if it does.
    #[must_use]
    pub fn raise(&self, phase: &Phase) -> Option<Raise> {
        phase.stop.first_done.filter(|_| !self.times.ends_nobody).map(|rule| rule.raise)
    }
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
    /// Memory that it keeps locked while it lives, and uses for nothing: so much less is left for the page cache.
    #[serde(default, skip_serializing_if = "is_default")]
    pub locked_memory: Bytes,
    /// Level of its I/O priority, 0 (first) to 7; without it, and without a class, the process's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_priority: Option<u8>,
    /// Class of its I/O priority; best effort where only a level is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_class: Option<IoClass>,
    /// Hint to the device with its I/O priority, 0 (none) to 1023; best effort where neither class nor level is given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub io_hint: u16,
    /// The user and the group that it changes to before it opens its files. For streams.
    #[serde(default, skip_serializing_if = "is_default")]
    pub run_as: RunAs,
    /// What it does.
    pub program: Program,
}

/// A user and a group by their numbers; without one it stays that of the process.
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
    /// Its I/O priority as the kernel has it, if it has one of its own: see [`IoClass::with_hint`].
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
    /// Every worker runs on any of these CPUs, and on no other.
    Among(Vec<u32>),
}
