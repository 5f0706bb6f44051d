//! One phase as executed by many ranks on many hosts: their shares are joined to one repetition, pairwise, so that a tree of
//! ranks can do it and no process holds more than the result. Histograms are added bucket by bucket, never averaged.
//! [`RankTimes`] keeps start, end and work of every rank.
//!
//! All times of a share count from the release that the ranks agreed on, so they need no shifting.

mod join;
mod summary;
#[cfg(test)]
mod tests;

pub use summary::{Summary, by_host, summary};

use crate::{Finding, Phase, Worker};
use serde::{Deserialize, Serialize};

/// Rules of findings about a whole host, not about the requests of one phase.
const SLOWS_A_HOST: [&str; 5] = ["io-limit", "cpu-quota", "memory-limit", "held-back", "busy-processors"];

/// When a rank was working in a phase. Times in ns after the agreed release.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankTimes {
    /// Number of the rank.
    pub rank: u32,
    /// The host it ran on.
    pub host: String,
    /// Start of its first operation.
    pub first_ns: u64,
    /// When its last worker finished, including the fsync and close inside the timed interval.
    pub done_ns: u64,
    /// Counted operations.
    pub ops: u64,
    /// Counted bytes.
    pub bytes: u64,
    /// Bytes written in the wear-out.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub wear_bytes: u64,
    /// End of its wear-out; 0 if it had none.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub wear_done_ns: u64,
    /// Its longest stall, if that is worth a mention: the process was stopped or got no CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stood_still_ns: Option<u64>,
    /// What the observation of its host found that slows every process there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The error it failed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// It did not reach the end of the phase; the figures are what it had done so far.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub partial: bool,
}

/// One rank's part of a phase, or several ranks' parts joined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The phase with one repetition.
    phase: Phase,
    /// The ranks in it, in ascending order.
    ranks: Vec<RankTimes>,
}

/// The rank that executed a share.
#[derive(Clone, Copy, Debug)]
pub struct RankIdentity<'a> {
    /// Number of the rank.
    pub rank: u32,
    /// The host it ran on.
    pub host: &'a str,
    /// Whether this rank reports its machine's counters; one rank per machine does.
    pub reports_machine_counters: bool,
    /// Whether it is the only rank.
    pub alone: bool,
}

impl Share {
    /// The share of one rank. `phase` must hold exactly the repetition in question.
    #[must_use]
    pub fn of(rank_identity: RankIdentity<'_>, mut phase: Phase) -> Self {
        let mut times =
            RankTimes { rank: rank_identity.rank, host: rank_identity.host.into(), ..RankTimes::default() };
        for repetition in &mut phase.repetitions {
            times.first_ns = repetition.workers.iter().map(|w| w.start_ns).min().unwrap_or(0);
            times.done_ns = repetition.workers.iter().map(done_ns).max().unwrap_or(0);
            (times.ops, times.bytes) = (repetition.ops(), repetition.bytes());
            times.stood_still_ns = repetition.stood_still_ns();
            let slows = |f: &&Finding| SLOWS_A_HOST.contains(&f.rule.as_str());
            times.cause = repetition.findings.iter().find(slows).map(|f| f.sentence.clone());
            times.error = repetition.error().map(|e| e.message.clone());
            let ended_early =
                |w: &Worker| matches!(w.ending, crate::Ending::Interrupted | crate::Ending::Failed(_));
            times.partial = repetition.workers.iter().any(ended_early);
            if !rank_identity.alone {
                join::mark(repetition, rank_identity);
            }
        }
        Self { phase, ranks: vec![times] }
    }

    /// Records what a rank wrote after the stop to bring its files to the common size.
    pub fn wore_out(&mut self, bytes: u64, done_ns: u64) {
        for times in &mut self.ranks {
            (times.wear_bytes, times.wear_done_ns) = (bytes, done_ns);
        }
        if let Some(worker) = self.phase.repetitions.iter_mut().flat_map(|r| &mut r.workers).next() {
            worker.uncounted_bytes = worker.uncounted_bytes.saturating_add(bytes);
        }
    }

    /// Adds the shares of other ranks. A rank already present is not replaced.
    pub fn join(&mut self, other: Self) {
        let here = |rank: u32| self.ranks.binary_search_by_key(&rank, |r| r.rank).is_ok();
        if other.ranks.iter().any(|r| here(r.rank)) {
            return;
        }
        self.ranks.extend(other.ranks);
        self.ranks.sort_by_key(|r| r.rank);
        for theirs in other.phase.repetitions {
            match self.phase.repetitions.first_mut() {
                Some(ours) => join::join(ours, theirs),
                None => self.phase.repetitions.push(theirs),
            }
        }
    }

    /// Times and work of each rank.
    #[must_use]
    pub fn ranks(&self) -> &[RankTimes] {
        &self.ranks
    }

    /// The phase as executed by all of them.
    #[must_use]
    pub fn finish(mut self) -> (Phase, Vec<RankTimes>) {
        let many = self.ranks.len() > 1;
        if many {
            let factor = self.ranks.len() as u64;
            self.phase.axes.streams = self.phase.axes.streams.map(|n| n.saturating_mul(factor));
            let first = self.phase.repetitions.first_mut();
            first.into_iter().for_each(join::number);
            let head = Phase { repetitions: Vec::new(), ..self.phase.clone() };
            for repetition in &mut self.phase.repetitions {
                repetition.truth = crate::CacheTruth::of(&head, repetition);
            }
        }
        (self.phase, self.ranks)
    }
}

/// When a worker finished, including what is inside its timed interval.
fn done_ns(worker: &Worker) -> u64 {
    worker.start_ns.saturating_add(worker.elapsed_ns.max(worker.marks.last_op_ns))
}

/// The name of a rank's group in a joined record.
#[must_use]
pub fn group_of(rank: u32, group: &str) -> String {
    format!("rank {rank}: {group}")
}

/// Splits such a name into rank and group.
#[must_use]
pub fn rank_of(name: &str) -> Option<(u32, &str)> {
    let (rank, group) = name.strip_prefix("rank ")?.split_once(": ")?;
    Some((rank.parse().ok()?, group))
}
