//! The energy distance at every split of one order of a segment's points, in O(T log T). Sums of distances to earlier points come from
//! counts and sums below a rank (a binary indexed tree); a point's total distance to all others is the same in every order. A permutation
//! of 10 000 points takes 0.3 ms, instead of fifty with all pairs.

/// The points of a segment and the values that permutations do not change. Points are numbered from 0 in the given order.
#[derive(Clone, Debug)]
pub struct Distances {
    /// Value of each point relative to the middle one, so that sums of large numbers do not lose small steps.
    pub(super) values: Vec<f64>,
    /// Rank of each point in ascending order, from 1.
    pub(super) ranks: Vec<u32>,
    /// Sum of each point's distances to all others.
    pub(super) to_all: Vec<f64>,
    /// Sum of the distances of all pairs.
    pub(super) pairs: f64,
}

/// Scratch memory reused by every permutation.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    tree: Vec<RankSums>,
    /// Number of points per bin, for `ceiling`.
    pub(super) counts: Vec<f64>,
}

/// Number of points up to a rank, and the sum of their values.
#[derive(Clone, Copy, Debug, Default)]
struct RankSums {
    count: f64,
    sum: f64,
}

impl Distances {
    /// Builds the distances; the values must be finite.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let n = values.len();
        let mut ascending: Vec<u32> = (0..n as u32).collect();
        ascending.sort_by(|i, j| values[*i as usize].total_cmp(&values[*j as usize]));
        let middle = ascending.get(n / 2).map_or(0.0, |i| values[*i as usize]);
        let values: Vec<f64> = values.iter().map(|v| v - middle).collect();
        let all: f64 = values.iter().sum();
        let (mut ranks, mut to_all) = (vec![0; n], vec![0.0; n]);
        let mut below = RankSums::default();
        for (rank, i) in ascending.into_iter().enumerate() {
            let value = values[i as usize];
            ranks[i as usize] = rank as u32 + 1;
            to_all[i as usize] = below.distance(value, RankSums { count: n as f64, sum: all });
            below.add(value);
        }
        let pairs = to_all.iter().sum::<f64>() / 2.0;
        Self { values, ranks, to_all, pairs }
    }

    /// Calls `see(t, Q)` for every split of this order with at least `min_segment` (at least 2) points on both sides.
    pub fn each_split(
        &self,
        order: &[u32],
        min_segment: usize,
        workspace: &mut Workspace,
        mut see: impl FnMut(usize, f64),
    ) {
        let n = order.len();
        if n < 2 * min_segment || min_segment < 2 {
            return;
        }
        let tree = workspace.cleared(n);
        let mut seen = RankSums::default();
        let (mut left, mut right, mut between) = (0.0, self.pairs, 0.0);
        for (t, point) in (1..=n - min_segment).zip(order) {
            let (value, rank) = (self.values[*point as usize], self.ranks[*point as usize]);
            let to_earlier = upto(tree, rank).distance(value, seen);
            let to_later = self.to_all[*point as usize] - to_earlier;
            enter(tree, rank, value);
            seen.add(value);
            // Point t - 1 of the order moves to the left side.
            left += to_earlier;
            right -= to_later;
            between += to_later - to_earlier;
            if t >= min_segment {
                let (m, k) = (t as f64, (n - t) as f64);
                let pairs = |n: f64| n * (n - 1.0) / 2.0;
                let distance = 2.0 * between / (m * k) - left / pairs(m) - right / pairs(k);
                see(t, m * k / (m + k) * distance);
            }
        }
    }

    /// The split with the largest Q; among equals the first.
    #[must_use]
    pub fn best(&self, order: &[u32], min_segment: usize, workspace: &mut Workspace) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        self.each_split(order, min_segment, workspace, |t, q| {
            if best.is_none_or(|(_, most)| q > most) {
                best = Some((t, q));
            }
        });
        best
    }
}

impl RankSums {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
    }

    /// Sum of the distances of `value` to `all` points, of which `self` are those at or below it.
    fn distance(self, value: f64, all: Self) -> f64 {
        let above = Self { count: all.count - self.count, sum: all.sum - self.sum };
        value * self.count - self.sum + (above.sum - value * above.count)
    }
}

impl Workspace {
    fn cleared(&mut self, points: usize) -> &mut [RankSums] {
        self.tree.clear();
        self.tree.resize(points + 1, RankSums::default());
        &mut self.tree
    }
}

/// The points entered so far with this rank or a lower one.
fn upto(tree: &[RankSums], rank: u32) -> RankSums {
    let mut below = RankSums::default();
    let mut at = rank as usize;
    while at > 0 {
        below.count += tree[at].count;
        below.sum += tree[at].sum;
        at &= at - 1;
    }
    below
}

fn enter(tree: &mut [RankSums], rank: u32, value: f64) {
    let mut at = rank as usize;
    while at < tree.len() {
        tree[at].add(value);
        at += at & at.wrapping_neg();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_order_has_the_sums_of_its_pairs(values in prop::collection::vec(-9i32..9, 4..24), turn in 0usize..24) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let mut order: Vec<u32> = (0..values.len() as u32).collect();
            order.rotate_left(turn % values.len());
            let spread = |x: &[f64], y: &[f64]| x.iter().flat_map(|a| y.iter().map(move |b| (a - b).abs())).sum::<f64>();
            let permuted: Vec<f64> = order.iter().map(|i| values[*i as usize]).collect();
            let mut splits = 0;
            Distances::of(&values).each_split(&order, 2, &mut Workspace::default(), |t, q| {
                splits += 1;
                let (x, y) = permuted.split_at(t);
                let (m, n) = (x.len() as f64, y.len() as f64);
                let within = |v: &[f64], n: f64| spread(v, v) / (n * (n - 1.0));
                let plain = m * n / (m + n) * (2.0 * spread(x, y) / (m * n) - within(x, m) - within(y, n));
                assert!((plain - q).abs() < 1e-9 * (1.0 + plain.abs()), "{t}: {q} instead of {plain}");
            });
            prop_assert_eq!(splits, values.len() - 3);
        }
    }

    #[test]
    fn large_values_keep_small_steps() {
        let values: Vec<f64> =
            (0..40).map(|i| 1e9 + f64::from(i % 3) + if i < 20 { 0.0 } else { 9.0 }).collect();
        let order: Vec<u32> = (0..40).collect();
        assert_eq!(Distances::of(&values).best(&order, 3, &mut Workspace::default()).map(|b| b.0), Some(20));
        assert_eq!(Distances::of(&[]).best(&[], 3, &mut Workspace::default()), None);
    }
}
