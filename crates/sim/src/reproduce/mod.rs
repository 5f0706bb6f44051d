//! Published tables, simulated: the printed numbers next to ours, which of them were fitted or held out, and whether every tolerance
//! stated beforehand holds.

pub mod cciss;
pub mod ncsa;
pub mod sysbench;
pub mod text;

use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A tolerance, and whether it holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// The tolerance as stated.
    pub stated: String,
    /// The result.
    pub found: String,
    /// Whether it holds.
    pub holds: bool,
}

impl Check {
    /// Verdict as a word: a failed check is called a miss.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        if self.holds { "holds" } else { "MISS" }
    }
}

/// Runs every job on as many threads as there are CPUs. The results are in job order.
pub fn side_by_side<J: Sync, R: Send>(jobs: &[J], work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let threads =
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(jobs.len().max(1));
    let next = AtomicUsize::new(0);
    let take_turns = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else { return done };
            done.push((at, work(job)));
        }
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(take_turns)).collect();
        let mut all = take_turns();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_by_key(|r| r.0);
    all.into_iter().map(|r| r.1).collect()
}

/// Mean of some values; 0 if there are none.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / (values.len() as f64).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..100).collect();
        assert_eq!(side_by_side(&jobs, |n| n * n), jobs.iter().map(|n| n * n).collect::<Vec<_>>());
        assert!(side_by_side(&[], |n: &u64| *n).is_empty());
        assert_eq!(mean(&[1.0, 2.0]), 1.5);
    }
}
