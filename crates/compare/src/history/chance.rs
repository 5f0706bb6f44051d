//! Which changes no search can find, however clean the step: the share of orders that keep both sides together and so reach the same Q.
//! Where that share is above the level, the test cannot pass. `e_divisive` marks such positions, and a history reports how many runs are
//! needed.

use super::e_divisive::Search;

/// A clean step whose share is half of the level passes with nearly every draw of the permutations; at the level itself, every other
/// time.
const OF_LEVEL: f64 = 0.5;

impl Search {
    /// The shortest series in which any change can pass the test: for a clean step at t only the orders that keep both sides together
    /// reach its Q, 2 of C(n, t). `None` if there are too few permutations for the level.
    #[must_use]
    pub fn fewest_points(&self) -> Option<usize> {
        if 1.0 / (self.permutations + 1) as f64 > self.alpha + 1e-12 {
            return None;
        }
        let shortest = self.shortest_level();
        // C(n, n/2) is the maximum; beyond 64 points any level that permutations can reach is reached.
        (2 * shortest..=64).find(|n| clean(n / 2, *n) <= self.alpha).or(Some(64.max(2 * shortest)))
    }

    /// The fewest points of a new level at the end of a series of `points` for any change to pass; `None` if even a change in the middle
    /// cannot.
    #[must_use]
    pub fn fewest_new(&self, points: usize) -> Option<usize> {
        (self.shortest_level()..=points / 2).find(|t| clean(*t, points) <= self.alpha)
    }

    /// Whether a clean step at `t` of a segment of `points` points can pass when blocks are permuted. Blocks are cut from the start; the
    /// last may be short. If t is a block boundary with a of b blocks before it, 2 of C(b, a) orders keep both sides together. If t is
    /// inside a block, that block must keep its position: a! c! / (a + 1 + c)!.
    #[must_use]
    pub fn blocks_can_tell(&self, t: usize, points: usize) -> bool {
        let block = self.block.max(1);
        let (blocks, before) = (points.div_ceil(block), t / block);
        let share = if t.is_multiple_of(block) {
            clean(before, blocks)
        } else {
            1.0 / (orders(blocks - 1, before) * blocks as f64)
        };
        share <= self.alpha * OF_LEVEL
    }

    fn shortest_level(&self) -> usize {
        self.min_segment.max(2)
    }
}

/// Share of the orders of n points in which the first t stay together at an end.
fn clean(t: usize, n: usize) -> f64 {
    2.0 / orders(n, t)
}

/// C(n, t).
fn orders(n: usize, t: usize) -> f64 {
    (1..=t).map(|i| (n - t + i) as f64 / i as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::e_divisive::search;

    #[test]
    fn the_fewest_points_can_just_show_a_clean_step() {
        let how = Search { permutations: 9999, most_permuted: usize::MAX, ..Search::seeded(1) };
        let step = |n: usize| (0..n).map(|i| f64::from(u8::from(i >= n / 2))).collect::<Vec<f64>>();
        let found = |n: usize| search(&step(n), &how).expect("points").splits.len();
        let fewest = how.fewest_points().expect("permutations enough");
        assert_eq!((fewest, found(fewest - 1), found(fewest)), (10, 0, 1));
        assert_eq!(Search { min_segment: 7, ..how }.fewest_points(), Some(14));
        assert_eq!(Search { permutations: 50, ..how }.fewest_points(), None);
        assert_eq!(Search { permutations: 99, ..how }.fewest_points(), Some(10));
    }

    #[test]
    fn a_new_level_needs_more_points_where_there_are_few() {
        let how = Search::seeded(1);
        let of = [9, 10, 11, 12, 24, 200, 201].map(|n| how.fewest_new(n));
        assert_eq!(of, [None, Some(4), Some(4), Some(3), Some(3), Some(3), Some(3)]);
        assert_eq!(Search { min_segment: 2, ..how }.fewest_new(21), Some(2), "2 of 210");
        assert_eq!(Search { min_segment: 7, ..how }.fewest_new(30), Some(7));
    }

    #[test]
    fn few_blocks_leave_the_change_in_doubt() {
        let how = Search::seeded(1);
        let tell = |t: usize, n: usize| how.blocks_can_tell(t, n);
        // Between blocks: 2 of C(10, 5) = 252, then of C(11, 5) = 462.
        assert_eq!((tell(25, 50), tell(25, 51)), (false, true));
        // Within one: 3! 3! / 7! is 0.7 %, 3! 4! / 8! is 0.36 %.
        assert_eq!((tell(17, 35), tell(17, 36)), (false, true));
        assert!((3..=17).all(|t| !tell(t, 20)) && (3..=21).all(|t| !tell(t, 24)));
        assert!(!tell(57, 60) && !tell(55, 60) && tell(40, 60));
        assert!(Search { block: 1, ..how }.blocks_can_tell(6, 12), "single points");
    }

    /// The shares equal those counted over all orders.
    #[test]
    fn shares_are_counted() {
        let how = |alpha: f64| Search { block: 2, alpha: 2.0 * alpha, ..Search::seeded(1) };
        for (t, n, of_720) in
            [(6, 12, 2.0 * 36.0), (4, 12, 2.0 * 48.0), (5, 12, 2.0 * 6.0), (5, 11, 2.0 * 6.0)]
        {
            let (mut reached, mut all) = (0.0, 0.0);
            let blocks: Vec<Vec<usize>> =
                (0..n).collect::<Vec<_>>().chunks(2).map(<[usize]>::to_vec).collect();
            permutations(&blocks, &mut Vec::new(), &mut |order| {
                let of_old = |p: &usize| *p < t;
                let (left, right) = order.split_at(t);
                let (other, rest) = order.split_at(n - t);
                all += 1.0;
                let apart = left.iter().all(of_old) && !right.iter().any(of_old);
                let turned = rest.iter().all(of_old) && !other.iter().any(of_old);
                reached += f64::from(u8::from(apart || turned));
            });
            assert_eq!((reached, all), (of_720, 720.0), "{t} of {n}");
            let share = of_720 / 720.0;
            assert!(how(share * 1.001).blocks_can_tell(t, n) && !how(share * 0.999).blocks_can_tell(t, n));
        }
    }

    fn permutations(left: &[Vec<usize>], taken: &mut Vec<usize>, see: &mut impl FnMut(&[usize])) {
        if left.is_empty() {
            see(taken);
        }
        for (i, block) in left.iter().enumerate() {
            let mut rest = left.to_vec();
            rest.remove(i);
            taken.extend(block);
            permutations(&rest, taken, see);
            taken.truncate(taken.len() - block.len());
        }
    }
}
