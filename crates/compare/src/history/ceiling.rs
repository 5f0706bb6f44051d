//! An upper bound on Q over all splits of an order, at a fraction of the cost of every split's energy distance. Where the found split is
//! clear, most permutations cannot reach its Q, and only the others are computed. The result is unchanged, because the bound is strict.
//!
//! With c(x) of the first t of n points at or below x, and H the distribution of all, `S = c - t H`, and Q(t) is at most `2 n / (t
//! (n-t))` times the integral of S^2 over x (with pairs counted over all t^2 instead of t (t-1), which makes it larger). Points are
//! counted in bins of ranks: between the edges of a bin, S lies within the limits that its counts allow. One more point p changes the
//! root of the integral by at most its `reach`, the root of the integral of (1[p <= x] - H)^2, so evaluating the bound at a few t covers
//! those after them. Splits past the middle are handled from the other end.

use super::energy::Distances;

/// Points per bin, as a multiple of the square root of the number of points beyond it: the uncertainty of the counts is then half of the
/// chance variation.
const BIN: f64 = 0.5;
/// Evaluating the bound costs one step per bin, computing Q about sixty such steps per point; evaluations stop at half of that.
const STEPS_OF_A_POINT: usize = 30;
/// Relative margin for the rounding of sums: values this close to the limit are never called below it.
const ROUNDING: f64 = 1e-6;

/// The bound for the orders of one segment.
#[derive(Clone, Debug)]
pub struct Ceiling {
    /// Bin of each point.
    bin_of: Vec<u16>,
    bins: Vec<Bin>,
    /// Points of the segment.
    points: usize,
    /// Q must stay below this.
    limit: f64,
    /// Minimum length of each side.
    min_segment: usize,
}

/// Points of neighbouring ranks.
#[derive(Clone, Copy, Debug)]
struct Bin {
    /// Shares of all points at or below the bin's first, last but one and last point.
    first: f64,
    last_but_one: f64,
    last: f64,
    /// Distance from its first point to its last.
    inside: f64,
    /// Distance from its last point to the next bin's first.
    beyond: f64,
    /// The largest reach of its points.
    reach: f64,
}

impl Ceiling {
    /// `None` if the limit is not positive, or the bins are too many to number.
    #[must_use]
    pub fn of(distances: &Distances, limit: f64, min_segment: usize) -> Option<Self> {
        let points = distances.values.len();
        let mut ascending = vec![0.0; points];
        let mut reach = vec![0.0; points];
        let n = points as f64;
        let half_of_all = distances.pairs / (n * n);
        for (point, rank) in distances.ranks.iter().enumerate() {
            let at = *rank as usize - 1;
            ascending[at] = distances.values[point];
            reach[at] = (distances.to_all[point] / n - half_of_all).max(0.0).sqrt();
        }
        let mut bin_of_rank = vec![0; points];
        let mut bins = Vec::new();
        let mut from = 0;
        while from < points {
            let beyond = from.min(points - from);
            // Symmetric from both ends: the last bin before the middle may be cut there.
            let most = if from < points / 2 { points / 2 } else { points };
            let size = ((BIN * (beyond as f64).sqrt()) as usize).max(1);
            let to = (from + size).min(most);
            bin_of_rank[from..to].fill(u16::try_from(bins.len()).ok()?);
            bins.push(Bin {
                first: (from + 1) as f64 / n,
                last_but_one: (to - 1) as f64 / n,
                last: to as f64 / n,
                inside: ascending[to - 1] - ascending[from],
                beyond: ascending.get(to).map_or(0.0, |next| next - ascending[to - 1]),
                reach: reach[from..to].iter().copied().fold(0.0, f64::max),
            });
            from = to;
        }
        let bin_of = distances.ranks.iter().map(|rank| bin_of_rank[*rank as usize - 1]).collect();
        let limit = limit * (1.0 - ROUNDING);
        (limit > 0.0).then_some(Self { bin_of, bins, points, limit, min_segment })
    }

    /// Whether Q of every split of this order is certainly below the limit; `counts` is scratch memory.
    #[must_use]
    pub fn holds(&self, order: &[u32], counts: &mut Vec<f64>) -> bool {
        self.holds_from(order.iter(), counts) && self.holds_from(order.iter().rev(), counts)
    }

    /// The same for splits that leave at most half of the points on the starting side.
    fn holds_from<'o>(&self, order: impl Iterator<Item = &'o u32>, counts: &mut Vec<f64>) -> bool {
        counts.clear();
        counts.resize(self.bins.len(), 0.0);
        let half = self.points / 2;
        let mut looks = (STEPS_OF_A_POINT * self.points / self.bins.len().max(1)).max(1);
        let mut room = 0.0;
        for (before, point) in (0..half).zip(order) {
            let bin = usize::from(self.bin_of[*point as usize]);
            if before >= self.min_segment {
                room -= self.bins[bin].reach;
                if room < 0.0 {
                    room = self.room(before, counts) - self.bins[bin].reach;
                    looks -= 1;
                    if room < 0.0 || looks == 0 {
                        return false;
                    }
                }
            }
            counts[bin] += 1.0;
        }
        // No bound was evaluated if the shortest side is the half.
        half > self.min_segment || self.room(half, counts) > 0.0
    }

    /// How much the root of the integral may grow before Q reaches the limit, for a split with `side` points on this side.
    fn room(&self, side: usize, counts: &[f64]) -> f64 {
        let (side, n) = (side as f64, self.points as f64);
        let mut below = 0.0;
        let mut integral = 0.0;
        for (bin, count) in self.bins.iter().zip(counts) {
            let upto = below + count;
            let most = (upto - side * bin.first).max(side * bin.last_but_one - below);
            let at_last = upto - side * bin.last;
            integral += bin.inside * most * most + bin.beyond * at_last * at_last;
            below = upto;
        }
        (self.limit * side * (n - side) / (2.0 * n)).sqrt() - integral.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::energy::Workspace;
    use crate::seeded::RandomStream;
    use proptest::prelude::*;

    proptest! {
        /// No order that reaches the limit is ever called below it; also near the ends, at ties and with far points.
        #[test]
        fn a_ceiling_that_holds_is_below_the_limit(
            values in prop::collection::vec(prop_oneof![-9.0..9.0f64, -900.0..900.0f64, (-3i32..3).prop_map(f64::from)], 6..90),
            step in 0.0..40.0f64, seed in 0u64..1000, share in 0.3..3.0f64,
        ) {
            let third = values.len() / 3;
            let values: Vec<f64> = values.iter().enumerate().map(|(i, v)| v + if i < third { step } else { 0.0 }).collect();
            let distances = Distances::of(&values);
            let mut order: Vec<u32> = (0..values.len() as u32).collect();
            let mut draws = RandomStream::from_seed(seed);
            for turn in 0..4 {
                let (_, q) = distances.best(&order, 3, &mut Workspace::default()).expect("six points");
                // Sometimes just above, and sometimes just below the actual value.
                let limit = if turn == 0 { q * (1.0 - 1e-9) } else { q * share };
                let holds = Ceiling::of(&distances, limit, 3).is_some_and(|c| c.holds(&order, &mut Vec::new()));
                prop_assert!(!holds || q < limit, "{q} {limit}");
                draws.shuffle(&mut order);
            }
        }
    }

    #[test]
    fn for_a_clear_step_nearly_all_permutations_are_below_the_ceiling() {
        let mut draws = RandomStream::from_seed(3);
        let values: Vec<f64> = (0..5000).map(|i| draws.normal() + if i < 2000 { 1.0 } else { 0.0 }).collect();
        let distances = Distances::of(&values);
        let mut order: Vec<u32> = (0..5000).collect();
        let (_, q) = distances.best(&order, 3, &mut Workspace::default()).expect("points");
        let ceiling = Ceiling::of(&distances, q, 3).expect("a limit");
        assert!(!ceiling.holds(&order, &mut Vec::new()), "its own order reaches it");
        let below = (0..100).filter(|_| {
            draws.shuffle(&mut order);
            ceiling.holds(&order, &mut Vec::new())
        });
        assert_eq!(below.count(), 100);
        assert!(Ceiling::of(&distances, 0.0, 3).is_none());
    }
}
