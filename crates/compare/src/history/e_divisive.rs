//! E-divisive: splits a series where the energy distance between both sides is largest, tests the split by permuting the series, then
//! repeats in both parts.
//!
//! At a split t of a segment of length T, `Q(t) = t (T-t) / T (2 mean|x-y| - mean|x-x'| - mean|y-y'|)`, means over pairs. All splits of
//! one order cost O(T log T) (`energy`). If neighbours are correlated (lag-1 autocorrelation of the residuals above 0.2, in short series
//! above 1.28 / root of n), permuting single points would mistake drift for change, so blocks of points are permuted. Where there are too
//! few blocks for any step to pass (`chance`), changes found with single points are kept and marked as doubtful.
//!
//! Work is bounded: a segment of more than [`POINTS_PERMUTED`] / permutations points gets fewer permutations, at least 199. With these
//! the rates of false and found changes equal those of 999 (the test of the rates in `history` runs with 199). In long segments only
//! those permutations are computed that `ceiling` cannot bound below the observed Q.

use super::ceiling::Ceiling;
use super::energy::{Distances, Workspace};
use crate::numbers::mean;
use crate::seeded::RandomStream;
use crate::series::lag1;
use crate::unusable::{Unusable, finite};
use std::ops::Range;

/// Budget of permuted points per segment over all permutations, unless its minimum of 199 needs more: 999 permutations for up to 1000
/// points.
pub const POINTS_PERMUTED: usize = 1_000_000;
/// Minimum number of permutations for segments of any length.
const FEWEST_PERMUTATIONS: usize = 199;
/// Below this length computing Q is as fast as bounding it.
const LONG: usize = 500;

/// Settings of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Minimum segment length, points.
    pub min_segment: usize,
    /// Level of the permutation test.
    pub alpha: f64,
    /// Permutations per segment.
    pub permutations: usize,
    /// Budget of permuted points per segment; longer segments get fewer permutations. `usize::MAX` means no limit.
    pub most_permuted: usize,
    /// Points per block where blocks are permuted.
    pub block: usize,
    /// Seed; stored with the result.
    pub seed: u64,
}

impl Search {
    /// Segments of at least three points, 999 permutations, alpha 0.01.
    #[must_use]
    pub const fn seeded(seed: u64) -> Self {
        Self {
            min_segment: 3,
            alpha: 0.01,
            permutations: 999,
            most_permuted: POINTS_PERMUTED,
            block: 5,
            seed,
        }
    }

    /// Permutations for a segment of `points` points.
    #[must_use]
    pub fn permutations_of(&self, points: usize) -> usize {
        let affordable = self.most_permuted / points.max(1);
        self.permutations.min(affordable.max(FEWEST_PERMUTATIONS))
    }
}

/// Autocorrelation of residuals above which blocks are permuted.
const ALIKE: f64 = 0.2;
/// Multiple of 1 / sqrt(n) that white noise exceeds once in ten; it is above [`ALIKE`] below 41 points. With [`ALIKE`] alone a fifth of
/// short quiet histories would be called drifting.
const BY_CHANCE: f64 = 1.2816;

/// A change that passed the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// Index of the first point of the new level, from 0.
    pub index: usize,
    /// The statistic.
    pub q: f64,
    /// `(1 + permutations with as large a Q) / (1 + permutations)`.
    pub p: f64,
    /// Number of permutations of the split segment.
    pub permutations: usize,
    /// Neighbours are correlated, and there are too few blocks to distinguish a step from drift: `p` is that of single points, which
    /// drift makes too small.
    pub doubtful: bool,
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Splits {
    /// Splits in order of their index.
    pub splits: Vec<Split>,
    /// Whether blocks were permuted.
    pub blocks: bool,
}

/// Searches a series; one too short for two segments has no splits.
pub fn search(values: &[f64], how: &Search) -> Result<Splits, Unusable> {
    finite(values)?;
    let how = Search { min_segment: how.min_segment.max(2), block: how.block.max(1), ..*how };
    let by_points = recursed(values, |segment, draws| tested(values, segment, &how, 1, draws), &how);
    if !alike(values, &by_points) {
        return Ok(Splits { splits: by_points, blocks: false });
    }
    // A separate stream, so that the splits found above with single points are found again whatever the blocks drew.
    let mut of_points = RandomStream::from_seed(how.seed);
    let splits = recursed(
        values,
        |segment, draws| tested_by_blocks(values, segment, &how, draws, &mut of_points),
        &how,
    );
    Ok(Splits { splits, blocks: true })
}

/// Splits recursively until no test passes.
fn recursed(
    values: &[f64],
    mut tested: impl FnMut(Range<usize>, &mut RandomStream) -> Option<Split>,
    how: &Search,
) -> Vec<Split> {
    let mut draws = RandomStream::from_seed(how.seed);
    let mut splits = Vec::new();
    let mut left = Vec::from([Range { start: 0, end: values.len() }]);
    while let Some(segment) = left.pop() {
        if let Some(split) = tested(segment.clone(), &mut draws) {
            left.push(split.index..segment.end);
            left.push(segment.start..split.index);
            splits.push(split);
        }
    }
    splits.sort_by_key(|s| s.index);
    splits
}

/// Whether neighbours are correlated after the found levels are removed. Each removed mean lowers r1 by about (1 + 3 r1) / n, which is
/// added back; otherwise false changes would hide the drift that causes them.
fn alike(values: &[f64], splits: &[Split]) -> bool {
    let bounds: Vec<usize> =
        std::iter::once(0).chain(splits.iter().map(|s| s.index)).chain([values.len()]).collect();
    let levels = bounds.windows(2).map(|b| &values[b[0]..b[1]]);
    let of_level = |level: &[f64]| {
        // Computed once per level, which may be the whole series.
        let mean = mean(level);
        level.iter().map(|v| v - mean).collect::<Vec<f64>>()
    };
    let residuals: Vec<f64> = levels.flat_map(of_level).collect();
    let taken_out = (bounds.len() - 1) as f64 / values.len() as f64;
    lag1(&residuals).is_ok_and(|l| {
        l.r1 + (1.0 + 3.0 * l.r1) * taken_out > ALIKE.max(BY_CHANCE / (values.len() as f64).sqrt())
    })
}

/// The best split of a segment by blocks; where blocks cannot decide, by single points and marked doubtful.
fn tested_by_blocks(
    values: &[f64],
    segment: Range<usize>,
    how: &Search,
    draws: &mut RandomStream,
    of_points: &mut RandomStream,
) -> Option<Split> {
    let part = &values[segment.clone()];
    let order: Vec<u32> = (0..part.len() as u32).collect();
    let (t, _) = Distances::of(part).best(&order, how.min_segment, &mut Workspace::default())?;
    if how.blocks_can_tell(t, part.len()) {
        return tested(values, segment, how, how.block, draws);
    }
    let split = tested(values, segment, how, 1, of_points)?;
    Some(Split { doubtful: true, ..split })
}

/// The best split of a segment, if its test passes.
fn tested(
    values: &[f64],
    segment: Range<usize>,
    how: &Search,
    block: usize,
    draws: &mut RandomStream,
) -> Option<Split> {
    let part = &values[segment.clone()];
    if part.len() < 2 * how.min_segment {
        return None;
    }
    let distances = Distances::of(part);
    let mut workspace = Workspace::default();
    let mut order: Vec<u32> = (0..part.len() as u32).collect();
    let (t, q) = distances.best(&order, how.min_segment, &mut workspace)?;
    let mut pieces: Vec<u32> = (0..part.len().div_ceil(block) as u32).collect();
    // A sum in another order may differ in its last digits.
    let limit = q - q.abs() * 1e-9;
    let ceiling = (part.len() >= LONG).then(|| Ceiling::of(&distances, limit, how.min_segment)).flatten();
    let permutations = how.permutations_of(part.len());
    // Stops as soon as the test can no longer pass.
    let most = (how.alpha * (permutations + 1) as f64 + 1e-9) as usize;
    let mut as_large = 0;
    for _ in 0..permutations {
        draws.shuffle(&mut pieces);
        arrange(&pieces, block, &mut order);
        if ceiling.as_ref().is_some_and(|c| c.holds(&order, &mut workspace.counts)) {
            continue;
        }
        let permuted = distances.best(&order, how.min_segment, &mut workspace);
        as_large += usize::from(permuted.is_some_and(|(_, q)| q >= limit));
        if as_large + 1 > most {
            return None;
        }
    }
    let p = (1 + as_large) as f64 / (permutations + 1) as f64;
    Some(Split { index: segment.start + t, q, p, permutations, doubtful: false })
}

/// Expands a permutation of blocks of `block` points; the last block may be short.
fn arrange(pieces: &[u32], block: usize, order: &mut [u32]) {
    if block == 1 {
        return order.copy_from_slice(pieces);
    }
    let points = order.len();
    let of_piece = |piece: &u32| {
        let first = *piece as usize * block;
        first..(first + block).min(points)
    };
    for (place, point) in order.iter_mut().zip(pieces.iter().flat_map(of_piece)) {
        *place = point as u32;
    }
}

/// (t, Q) of every split that leaves both sides long enough; empty if there is none.
#[must_use]
pub fn statistics(values: &[f64], min_segment: usize) -> Vec<(usize, f64)> {
    let order: Vec<u32> = (0..values.len() as u32).collect();
    let mut found = Vec::new();
    Distances::of(values)
        .each_split(&order, min_segment.max(2), &mut Workspace::default(), |t, q| found.push((t, q)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EXAMPLE: [f64; 12] = [100.0, 101.0, 99.0, 100.0, 102.0, 100.0, 97.0, 96.0, 98.0, 97.0, 96.0, 97.0];

    #[test]
    fn the_statistic_of_the_example() {
        let found = statistics(&EXAMPLE, 3);
        let expected = [2.791667, 5.476190, 9.972222, 14.8, 9.972222, 5.476190, 5.541667];
        assert_eq!(found.len(), 7);
        for ((t, q), (at, expected)) in found.iter().zip((3..).zip(expected)) {
            assert!(*t == at && (q - expected).abs() < 5e-7, "{t} {q} instead of {expected}");
        }
        let split = search(&EXAMPLE, &Search::seeded(3)).expect("12 points");
        assert_eq!(split.splits.len(), 1);
        assert!(split.splits[0].index == 6 && split.splits[0].p <= 0.01 && !split.blocks, "{split:?}");
    }

    #[test]
    fn two_of_924_relabellings_reach_it() {
        let observed = 14.8 - 1e-9;
        let (mut reached, mut all) = (0, 0);
        for code in 0u32..1 << 12 {
            if code.count_ones() == 6 {
                all += 1;
                let side = |wanted: u32| {
                    (0..12).filter(move |i| code >> i & 1 == wanted).map(|i| EXAMPLE[i as usize])
                };
                let relabelled: Vec<f64> = side(1).chain(side(0)).collect();
                reached += i32::from(statistics(&relabelled, 6)[0].1 >= observed);
            }
        }
        assert_eq!((reached, all), (2, 924));
        assert!((f64::from(reached) / f64::from(all) - 0.002165).abs() < 5e-7);
    }

    #[test]
    fn several_levels_are_found_and_the_seed_repeats() {
        let series: Vec<f64> =
            (0..60).map(|i| f64::from(i * 7 % 5) + [0.0, 20.0, 5.0][i as usize / 20]).collect();
        let found = search(&series, &Search::seeded(5)).expect("60 points");
        assert_eq!(found.splits.iter().map(|s| s.index).collect::<Vec<_>>(), [20, 40]);
        assert_eq!(found, search(&series, &Search::seeded(5)).expect("60 points"));
        assert!(search(&series[..5], &Search::seeded(5)).expect("5 points").splits.is_empty());
        assert!(search(&[f64::NAN; 20], &Search::seeded(5)).is_err());
    }

    #[test]
    fn a_wave_is_drift_and_not_change() {
        let wave: Vec<f64> = (0..60).map(|i| (f64::from(i) / 4.0).sin()).collect();
        let found = search(&wave, &Search::seeded(5)).expect("60 points");
        assert!(found.blocks && found.splits.is_empty(), "{found:?}");
    }

    #[test]
    fn long_segments_get_fewer_permutations() {
        let how = Search::seeded(1);
        let of = [6, 2000, 4000, 10_000, 1_000_000].map(|points| how.permutations_of(points));
        assert_eq!(of, [999, 500, 250, 199, 199]);
        let unbounded = Search { most_permuted: usize::MAX, ..how };
        assert_eq!(unbounded.permutations_of(1_000_000), 999);
        assert_eq!(Search { permutations: 99, ..how }.permutations_of(1_000_000), 99);
    }

    /// The reference method: every permutation is computed.
    fn all_computed(values: &[f64], how: &Search, block: usize, draws: &mut RandomStream) -> Option<Split> {
        let distances = Distances::of(values);
        let mut workspace = Workspace::default();
        let places: Vec<u32> = (0..values.len() as u32).collect();
        let (index, q) = distances.best(&places, how.min_segment, &mut workspace)?;
        let mut pieces: Vec<&[u32]> = places.chunks(block).collect();
        let permutations = how.permutations_of(values.len());
        let mut as_large = 0;
        for _ in 0..permutations {
            draws.shuffle(&mut pieces);
            let permuted = distances.best(&pieces.concat(), how.min_segment, &mut workspace)?;
            as_large += usize::from(permuted.1 >= q - q.abs() * 1e-9);
            if as_large + 1 > (how.alpha * (permutations + 1) as f64 + 1e-9) as usize {
                return None;
            }
        }
        let p = (1 + as_large) as f64 / (permutations + 1) as f64;
        Some(Split { index, q, p, permutations, doubtful: false })
    }

    #[test]
    fn a_ceiling_spares_work_and_changes_nothing() {
        let mut draws = RandomStream::from_seed(11);
        let how = Search { permutations: 199, ..Search::seeded(4) };
        let mut passed = 0;
        for (turn, step) in [0.0, 0.15, 0.25, 0.4, 1.0, 9.0].into_iter().cycle().take(18).enumerate() {
            let points = LONG + 7 * turn;
            let mut drift = 0.0;
            let mut point = |i: usize| {
                // A third of the series drifts, a third has outliers, a third has ties.
                drift = if turn < 6 { 0.5 * drift } else { 0.0 } + draws.normal();
                let far = if (6..12).contains(&turn) && i.is_multiple_of(97) { 300.0 } else { 0.0 };
                let value = drift + far + if i > points / 3 { step } else { 0.0 };
                if turn < 12 { value } else { value.round() }
            };
            let values: Vec<f64> = (0..points).map(&mut point).collect();
            for block in [1, 5] {
                let (mut one, mut two) =
                    (RandomStream::from_seed(turn as u64), RandomStream::from_seed(turn as u64));
                let found = tested(&values, 0..points, &how, block, &mut one);
                assert_eq!(found, all_computed(&values, &how, block, &mut two), "{turn} {step} {block}");
                assert_eq!(one.below(1 << 40), two.below(1 << 40), "as much chance was drawn");
                passed += usize::from(found.is_some());
            }
        }
        assert!((10..30).contains(&passed), "{passed} of 36: some pass, and some do not");
    }

    proptest! {
        #[test]
        fn running_sums_are_the_definition(values in prop::collection::vec(-9.0..9.0f64, 6..20)) {
            let spread = |x: &[f64], y: &[f64]| x.iter().flat_map(|a| y.iter().map(move |b| (a - b).abs())).sum::<f64>();
            for (t, q) in statistics(&values, 3) {
                let (x, y) = values.split_at(t);
                let (m, n) = (x.len() as f64, y.len() as f64);
                let within = |v: &[f64], n: f64| spread(v, v) / (n * (n - 1.0));
                let plain = m * n / (m + n) * (2.0 * spread(x, y) / (m * n) - within(x, m) - within(y, n));
                prop_assert!((plain - q).abs() < 1e-9 * (1.0 + plain.abs()));
            }
        }

        #[test]
        fn unit_and_sign_do_not_matter(values in prop::collection::vec(-9i32..9, 6..24), step in 0i32..30) {
            // Whole numbers and powers of two keep every sum exact, so both searches see the same.
            let half = values.len() / 2;
            let series: Vec<f64> = values.iter().enumerate().map(|(i, v)| f64::from(v + if i < half { 0 } else { step })).collect();
            let moved: Vec<f64> = series.iter().map(|v| 64.0 - 4.0 * v).collect();
            let how = Search { permutations: 99, alpha: 0.05, ..Search::seeded(2) };
            let places = |v: &[f64]| search(v, &how).expect("finite").splits.iter().map(|s| (s.index, s.p)).collect::<Vec<_>>();
            let found = places(&series);
            prop_assert!(found.iter().all(|(_, p)| *p > 0.0 && *p <= 0.05));
            prop_assert_eq!(found, places(&moved));
        }
    }
}
