//! The tail of a phase's latencies compared with the machine's own stalls: a tail no longer than those says nothing about the
//! storage. Computed only here; checks and reports use it.

use crate::{Histogram, Jitter, OpKind, Phase, Regime};

/// The fraction beyond p99.9.
const ONE_IN: f64 = 0.001;
/// Fewer operations or sleeps than this have no p99.9.
const FEWEST: u64 = 1000;

/// The tail of a phase's latencies beside what stalls alone would do to operations that wait for nothing, ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// 99.9th percentile of the operations.
    pub p999_ns: u64,
    /// The slowest operation.
    pub max_ns: u64,
    /// The stall that one operation in a thousand would meet.
    pub machine_p999_ns: u64,
    /// The longest stall seen.
    pub machine_max_ns: u64,
    p50_ns: u64,
}

impl Tail {
    /// For the reads and writes of all repetitions; `None` if stalls were not watched, or too few operations or stalls were
    /// seen.
    #[must_use]
    pub fn of(phase: &Phase) -> Option<Self> {
        let jitter = jitter(phase)?;
        let mut latency = Histogram::default();
        for repetition in &phase.repetitions {
            latency.merge(&repetition.latency(OpKind::Read));
            latency.merge(&repetition.latency(OpKind::Write));
        }
        if latency.count() < FEWEST {
            return None;
        }
        // An operation that waits for a device sleeps once; one served from the page cache keeps its CPU.
        let sleeps = matches!(phase.origin().regime, Regime::Device | Regime::Mixed);
        // With too few sleeps watched, the CPU's stalls are a lower bound for sleepers too.
        let (machine_p999_ns, machine_max_ns) = if sleeps && jitter.wakes.count() >= FEWEST {
            (jitter.wakes.percentile_ns(99.9)?, jitter.wakes.max_ns())
        } else {
            (stall_ns(&jitter.gaps, jitter.watched_ns, latency.mean_ns()?)?, jitter.gaps.max_ns())
        };
        Some(Self {
            p999_ns: latency.percentile_ns(99.9)?,
            max_ns: latency.max_ns(),
            machine_p999_ns,
            machine_max_ns,
            p50_ns: latency.percentile_ns(50.0)?,
        })
    }

    /// Whether there is a tail and it is at most twice the machine's own.
    #[must_use]
    pub fn is_the_machines(&self) -> bool {
        self.p999_ns > self.p50_ns.saturating_mul(2) && self.p999_ns <= self.machine_p999_ns.saturating_mul(2)
    }
}

/// How long stalls were watched beside a phase, and the longest one: a fallback where [`Tail`] has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The longest stall seen, of a running CPU or a sleeper.
    pub longest_ns: u64,
    /// Watched time over all repetitions.
    pub watched_ns: u64,
}

impl Watched {
    /// For all repetitions; `None` if stalls were not watched.
    #[must_use]
    pub fn of(phase: &Phase) -> Option<Self> {
        let jitter = jitter(phase)?;
        Some(Self {
            longest_ns: jitter.gaps.max_ns().max(jitter.wakes.max_ns()),
            watched_ns: jitter.watched_ns,
        })
    }
}

fn jitter(phase: &Phase) -> Option<Jitter> {
    let mut all = Jitter::default();
    for jitter in phase.repetitions.iter().filter_map(|r| r.jitter.as_ref()) {
        all.gaps.merge(&jitter.gaps);
        all.wakes.merge(&jitter.wakes);
        all.watched_ns = all.watched_ns.saturating_add(jitter.watched_ns);
    }
    (all != Jitter::default()).then_some(all)
}

/// The stall that one in a thousand operations of this length meets: the longer an operation keeps its CPU, the likelier it
/// meets one. `None` if the watch was too short to see such a stall once.
fn stall_ns(gaps: &Histogram, watched_ns: u64, operation_ns: f64) -> Option<u64> {
    let wanted = ONE_IN * watched_ns as f64 / operation_ns.max(1.0);
    let buckets: Vec<(u64, u64, u64)> = gaps.buckets().collect();
    let mut met = 0u64;
    buckets.iter().rev().filter(|_| wanted >= 1.0).find_map(|&(low, _, n)| {
        met = met.saturating_add(n);
        (met as f64 >= wanted).then_some(low)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_operations_meet_longer_stalls() {
        // In one second: a thousand stalls of 5 us, ten of 1 ms, and the loop's own step of 20 ns.
        let gaps = Histogram::from_values(
            std::iter::repeat_n(20, 50_000)
                .chain(std::iter::repeat_n(5_000, 1000))
                .chain(std::iter::repeat_n(1_000_000, 10)),
        );
        let at = |operation_ns| stall_ns(&gaps, 1_000_000_000, operation_ns).map(|ns| ns / 1000);
        // One in a thousand operations of 100 us: ten in the second.
        assert!(at(100_000.0).is_some_and(|us| (980..=1000).contains(&us)), "{:?}", at(100_000.0));
        assert_eq!(at(1_000.0), Some(4), "a thousand in the second, in the bucket from 4.99 us");
        assert_eq!(at(100.0), Some(0), "ten thousand: the step of the loop");
        assert_eq!(at(10_000_000.0), None, "a tenth of one");
    }
}
