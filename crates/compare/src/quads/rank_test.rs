//! The exact stratified rank test on quads (van Elteren's test with equal strata): the probability that the random order of runs alone
//! gives a difference this large. It assumes nothing about the noise and uses no random numbers.
//! U counts, of the four pairs in a quad, those in which B is above A. Ties count one half, so sums are in half units. The null
//! distribution of the sum is the convolution of the six relabellings of every quad: in integers up to 40 quads, in f64 beyond.

use super::Quad;
use std::cell::RefCell;

/// Half units per quad: four pairs.
const QUAD_STEPS: usize = 8;
/// Labellings of one quad.
const LABELLINGS: u128 = 6;
/// 6^40 is well inside u128; beyond that, probabilities are summed instead of counts.
const MOST_COUNTED: usize = 40;

/// The null distribution of U, in half units.
#[derive(Clone, Debug, PartialEq)]
pub struct NullDistribution {
    /// Probability of each sum, indexed by half units.
    shares: Vec<f64>,
    /// The same as counts of labellings, if they fit.
    counts: Option<Vec<u128>>,
}

impl NullDistribution {
    /// For quads without ties.
    #[must_use]
    pub fn untied(quads: usize) -> Self {
        Self::convolved(std::iter::repeat_n([1, 0, 1, 0, 2, 0, 1, 0, 1], quads))
    }

    /// For these quads: where a quad has ties, its own six relabellings are enumerated.
    #[must_use]
    pub fn of(quads: &[Quad]) -> Self {
        Self::convolved(quads.iter().map(relabellings))
    }

    fn convolved(strata: impl ExactSizeIterator<Item = [u8; QUAD_STEPS + 1]> + Clone) -> Self {
        let counts = if strata.len() <= MOST_COUNTED { counted(strata.clone()) } else { None };
        let shares = match &counts {
            Some(counts) => {
                let all = LABELLINGS.pow(strata.len() as u32) as f64;
                counts.iter().map(|n| *n as f64 / all).collect()
            }
            None => shared(strata),
        };
        Self { shares, counts }
    }

    /// Number of labellings per sum, by half units; `None` beyond 40 quads.
    #[must_use]
    pub fn counts(&self) -> Option<&[u128]> {
        self.counts.as_deref()
    }

    /// P(U <= u), u in half units.
    #[must_use]
    pub fn at_most(&self, half_units: usize) -> f64 {
        let upto = half_units.min(self.shares.len() - 1);
        match &self.counts {
            Some(counts) => counts[..=upto].iter().sum::<u128>() as f64 / counts.iter().sum::<u128>() as f64,
            None => self.shares[..=upto].iter().sum::<f64>().min(1.0),
        }
    }

    /// P(U = u), u in half units.
    #[must_use]
    pub fn exactly(&self, half_units: usize) -> f64 {
        self.shares.get(half_units).copied().unwrap_or(0.0)
    }

    /// Two-sided p of a sum, in half units. The distribution is symmetric: swapping the labels of a quad mirrors it.
    #[must_use]
    pub fn two_sided(&self, half_units: usize) -> f64 {
        let largest = self.shares.len() - 1;
        let extreme = half_units.min(largest.saturating_sub(half_units));
        (2.0 * self.at_most(extreme)).min(1.0)
    }
}

/// In integers; `None` if they do not fit.
fn counted(strata: impl Iterator<Item = [u8; QUAD_STEPS + 1]>) -> Option<Vec<u128>> {
    let mut sums = vec![1u128];
    for stratum in strata {
        let mut next = vec![0u128; sums.len() + QUAD_STEPS];
        for (u, n) in sums.iter().enumerate() {
            for (step, times) in stratum.iter().enumerate() {
                next[u + step] = next[u + step].checked_add(n.checked_mul(u128::from(*times))?)?;
            }
        }
        sums = next;
    }
    Some(sums)
}

/// In probabilities.
fn shared(strata: impl Iterator<Item = [u8; QUAD_STEPS + 1]>) -> Vec<f64> {
    let mut sums = vec![1.0];
    for stratum in strata {
        let mut next = vec![0.0; sums.len() + QUAD_STEPS];
        for (u, share) in sums.iter().enumerate() {
            for (step, times) in stratum.iter().enumerate() {
                next[u + step] += share * f64::from(*times) / LABELLINGS as f64;
            }
        }
        sums = next;
    }
    sums
}

/// U of one quad in half units.
#[must_use]
pub fn half_units(quad: &Quad) -> usize {
    let pair = |a: f64, b: f64| if b > a { 2 } else { usize::from(b == a) };
    quad.a.iter().map(|a| quad.b.iter().map(|b| pair(*a, *b)).sum::<usize>()).sum()
}

/// Number of the six labellings of a quad's four figures that give each U.
fn relabellings(quad: &Quad) -> [u8; QUAD_STEPS + 1] {
    let [v0, v1, v2, v3] = quad.values();
    let mut counts = [0; QUAD_STEPS + 1];
    for (a, b) in [([v0, v1], [v2, v3]), ([v0, v2], [v1, v3]), ([v0, v3], [v1, v2])] {
        let quad = Quad { a, b };
        counts[half_units(&quad)] += 1;
        counts[half_units(&quad.swapped())] += 1;
    }
    counts
}

/// Result of the rank test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTest {
    /// Number of pairs within quads with B above A, of `4 * quads`; ties count one half.
    pub u: f64,
    /// Number of quads.
    pub quads: usize,
    /// Two-sided p-value, exact.
    pub p: f64,
}

/// Runs the test; without quads U = 0 and p = 1.
#[must_use]
pub fn rank_test(quads: &[Quad]) -> RankTest {
    let sum: usize = quads.iter().map(half_units).sum();
    let p = match quads.iter().all(is_untied) {
        true => of_untied(quads.len(), |null| null.two_sided(sum)),
        false => NullDistribution::of(quads).two_sided(sum),
    };
    RankTest { u: sum as f64 / 2.0, quads: quads.len(), p }
}

fn is_untied(quad: &Quad) -> bool {
    let mut values = quad.values();
    values.sort_by(f64::total_cmp);
    values.windows(2).all(|w| w[0] < w[1])
}

thread_local! {
    /// Cache: the cells of a matrix have the same number of quads.
    static LAST_UNTIED: RefCell<Option<(usize, NullDistribution)>> = const { RefCell::new(None) };
}

/// Queries the distribution for this number of quads without ties.
pub(super) fn of_untied<T>(quads: usize, ask: impl FnOnce(&NullDistribution) -> T) -> T {
    LAST_UNTIED.with_borrow_mut(|last| {
        if last.as_ref().is_none_or(|l| l.0 != quads) {
            *last = None;
        }
        ask(&last.get_or_insert_with(|| (quads, NullDistribution::untied(quads))).1)
    })
}

#[cfg(test)]
#[path = "rank_test_tests.rs"]
mod tests;
