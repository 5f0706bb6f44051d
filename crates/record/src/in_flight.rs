//! How full a worker's queue was, and how much its calls submitted and reaped: counts by powers of two. As in fio, a completion
//! is reaped when its slot is needed or when everything is waited for; until then it counts as in flight.

use serde::{Deserialize, Serialize};

/// Histograms of queue depth, submission batch and completion batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlight {
    /// Operations by the number in flight when their call was made, its own included: 1, from 2, from 4, 8, 16, 32, from 64.
    pub depth: [u64; 7],
    /// Calls by the number of operations submitted: none, up to 4, 8, 16, 32, 64, more.
    pub submit: [u64; 7],
    /// Calls by the number of completions reaped afterwards, likewise.
    pub complete: [u64; 7],
}

impl InFlight {
    /// Records a call that submitted `n` operations, after which `busy` were in flight.
    #[inline]
    pub fn submitted(&mut self, n: usize, busy: usize) {
        if n == 0 {
            return;
        }
        self.submit[of_call(n)] += 1;
        self.depth[level(busy)] += n as u64;
    }

    /// Records that `n` completions were reaped at once.
    #[inline]
    pub fn completed(&mut self, n: usize) {
        if n > 0 {
            self.complete[of_call(n)] += 1;
        }
    }

    /// Adds another worker's counts.
    pub fn add(&mut self, other: &Self) {
        let ours = [&mut self.depth, &mut self.submit, &mut self.complete];
        for (sums, more) in ours.into_iter().zip([other.depth, other.submit, other.complete]) {
            sums.iter_mut().zip(more).for_each(|(sum, n)| *sum = sum.saturating_add(n));
        }
    }
}

/// Index of the largest power of two not above `depth`, at most 6.
#[inline]
fn level(depth: usize) -> usize {
    (depth.max(1).ilog2() as usize).min(6)
}

#[inline]
fn of_call(n: usize) -> usize {
    if n <= 4 { usize::from(n > 0) } else { (usize::BITS - (n - 1).leading_zeros() - 1).min(6) as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_and_calls_are_counted_by_powers_of_two() {
        let mut counts = InFlight::default();
        counts.submitted(0, 5);
        counts.submitted(5, 5);
        counts.submitted(1, 64);
        counts.submitted(3, 15);
        assert_eq!(counts.depth, [0, 0, 5, 3, 0, 0, 1]);
        assert_eq!(counts.submit, [0, 2, 1, 0, 0, 0, 0]);
        [0, 1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 1000].iter().for_each(|n| counts.completed(*n));
        assert_eq!(counts.complete, [0, 2, 2, 2, 2, 2, 2]);
        let mut sum = counts;
        sum.add(&counts);
        assert_eq!(sum.depth, [0, 0, 10, 6, 0, 0, 2]);
    }
}
