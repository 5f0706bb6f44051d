//! What no split of an order can exceed, at a fraction of the cost of every split's energy distance: where the split that was found is clear,
//! most permutations cannot reach it, and only the others are computed. The answer is the same, for the bound is one in the strict sense.
//!
//! With c(x) of the first t of n points at or below x, and H the distribution of all, `S = c - t H`, and Q(t) is at most
//! `2 n / (t (n-t))` times the integral of S^2 over x (with pairs counted over all t^2 instead of t (t-1), which makes it larger). Points are
//! counted in bins of ranks: between the edges of a bin, S lies between what its counts allow. One more point p moves the root of the
//! integral by no more than its `reach`, the root of the integral of (1[p <= x] - H)^2: so a look at few t bounds those after it. From the
//! middle on the same is done from the other end.

use super::energy::Distances;

/// A bin holds so many times the root of the number of points beyond it: what counts cannot tell is then half of what chance moves.
const BIN: f64 = 0.5;
/// Looks cost bins, computing costs some sixty such steps a point: more than half of that is not looked.
const STEPS_OF_A_POINT: usize = 30;
/// The sums are rounded; nothing nearer to the limit than this share is said to be below it.
const ROUNDING: f64 = 1e-6;

/// The bound for the orders of one segment.
#[derive(Clone, Debug)]
pub struct Ceiling {
    /// Bin of each point.
    bin_of: Vec<u16>,
    bins: Vec<Bin>,
    /// Points of the segment.
    points: usize,
    /// What Q is to be below.
    limit: f64,
    /// No side is shorter.
    min_segment: usize,
}

/// Points of neighbouring ranks.
#[derive(Clone, Copy, Debug)]
struct Bin {
    /// Shares of all points at or below its first and its last but one point, and its last.
    first: f64,
    last_but_one: f64,
    last: f64,
    /// From its first point to its last.
    inside: f64,
    /// From its last point to the next bin's first.
    beyond: f64,
    /// The largest reach of its points.
    reach: f64,
}

impl Ceiling {
    /// `None` if there is nothing to be below, or too much to number the bins.
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
            // From both ends alike: the last bin before the middle may be cut there.
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

    /// Whether Q of every split of this order is below the limit for sure; `counts` is memory that is used again.
    #[must_use]
    pub fn holds(&self, order: &[u32], counts: &mut Vec<f64>) -> bool {
        self.holds_from(order.iter(), counts) && self.holds_from(order.iter().rev(), counts)
    }

    /// The same of the splits that leave at most half of the points on the side where the order begins.
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
        // Nothing was looked at where the shortest side is the half.
        half > self.min_segment || self.room(half, counts) > 0.0
    }

    /// How far the root of the integral may rise before Q reaches the limit, with so many points on this side.
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
    use crate::seeded::Draws;
    use proptest::prelude::*;

    proptest! {
        /// Nothing that reaches the limit is said to be below it; near the ends, at ties and far points as well.
        #[test]
        fn what_holds_is_true(
            values in prop::collection::vec(prop_oneof![-9.0..9.0f64, -900.0..900.0f64, (-3i32..3).prop_map(f64::from)], 6..90),
            step in 0.0..40.0f64, seed in 0u64..1000, share in 0.3..3.0f64,
        ) {
            let third = values.len() / 3;
            let values: Vec<f64> = values.iter().enumerate().map(|(i, v)| v + if i < third { step } else { 0.0 }).collect();
            let distances = Distances::of(&values);
            let mut order: Vec<u32> = (0..values.len() as u32).collect();
            let mut draws = Draws::from_seed(seed);
            for turn in 0..4 {
                let (_, q) = distances.best(&order, 3, &mut Workspace::default()).expect("six points");
                // At times just above, and at times just below what there is.
                let limit = if turn == 0 { q * (1.0 - 1e-9) } else { q * share };
                let holds = Ceiling::of(&distances, limit, 3).is_some_and(|c| c.holds(&order, &mut Vec::new()));
                prop_assert!(!holds || q < limit, "{q} {limit}");
                draws.shuffle(&mut order);
            }
        }
    }

    #[test]
    fn of_a_clear_step_nearly_all_orders_are_seen_to_be_below() {
        let mut draws = Draws::from_seed(3);
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
