//! Ranks with a convex, falling probability: Zipf and Pareto. Drawn exactly, without computing a power per draw.
//!
//! The first ranks are separate parts; the rest are grouped into geometrically growing ranges, so that even 2^40 ranks take only some
//! hundred parts of an [`Alias`] table. Inside a range every rank has at least the probability of the last one: that much is a separate
//! part and needs no test. The remainder, a wedge of about 2 % of the whole, is drawn from an enclosing triangle with rejection; a
//! parabola below the true curve accepts nearly all draws, so that a power is computed less than once in a thousand draws.

use super::alias::{Alias, Range};
use super::below;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng as _;

/// Number of first ranks with separate parts.
const SINGLES: u64 = 256;
/// Ranges per doubling of the rank.
const RANGES_PER_DOUBLING: u32 = 16;

/// A distribution over the ranks 0, 1, 2 ..., unbounded and not normalised.
pub(in crate::ops) trait Weights {
    /// Weight of a rank. As a function of a real rank it must be falling and convex.
    fn weight(&self, rank: u64) -> f64;
    /// Sum of the weights of the ranks in `from..to`.
    fn mass(&self, from: u64, to: u64) -> f64;
    /// Upper bound of the second derivative of the weight from this rank (above 0) on.
    fn curvature(&self, rank: u64) -> f64;
}

/// A generator of ranks.
pub(in crate::ops) struct Falling<W> {
    weights: W,
    table: Alias,
    /// Parts from this index on are wedges.
    first_wedge: usize,
    wedges: Box<[Wedge]>,
}

/// The part of a range above the weight of its last rank.
struct Wedge {
    range: Range,
    /// 1 / (number of ranks - 1).
    per_rank: f64,
    least: f64,
    /// Weight of the first rank minus that of the last.
    fall: f64,
    /// The curve lies at most `bend * t * (1 - t)` below its chord, in units of `fall`, with t from 0 to 1.
    bend: f64,
}

impl<W: Weights> Falling<W> {
    /// A generator of the ranks below `n`; `None` if the weights are invalid.
    pub(super) fn new(weights: W, n: u64) -> Option<Self> {
        Self::with_parts(weights, n, SINGLES, RANGES_PER_DOUBLING)
    }

    fn with_parts(weights: W, n: u64, singles: u64, per_doubling: u32) -> Option<Self> {
        let mut parts: Vec<(Range, f64)> =
            (0..n.min(singles)).map(|start| (Range { start, len: 1 }, weights.weight(start))).collect();
        let (mut wedges, mut wedge_parts) = (Vec::new(), Vec::new());
        let mut start = n.min(singles);
        while start < n {
            let end = grown(start, per_doubling).min(n);
            let range = Range { start, len: end - start };
            let (most, least) = (weights.weight(start), weights.weight(end - 1));
            let flat = least * range.len as f64;
            parts.push((range, flat));
            let (fall, span) = (most - least, (range.len - 1) as f64);
            if fall > 0.0 && span > 0.0 {
                wedge_parts.push((range, (weights.mass(start, end) - flat).max(0.0)));
                let bend = weights.curvature(start) * span * span / (2.0 * fall);
                wedges.push(Wedge { range, per_rank: 1.0 / span, least, fall, bend });
            }
            start = end;
        }
        let first_wedge = parts.len();
        parts.extend(wedge_parts);
        Some(Self { weights, table: Alias::new(&parts)?, first_wedge, wedges: wedges.into() })
    }

    #[inline]
    pub(super) fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        let (part, rank) = self.table.draw(rng);
        if part < self.first_wedge { rank } else { self.draw_above(part - self.first_wedge, rng) }
    }

    #[cold]
    fn draw_above(&self, number: usize, rng: &mut Xoshiro256PlusPlus) -> u64 {
        let Wedge { range, per_rank, least, fall, bend } = &self.wedges[number];
        loop {
            let mut step = below(rng, range.len);
            let mut height = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            let mut chord = 1.0 - step as f64 * per_rank;
            // Above the chord: use the mirrored point, which is below it.
            if height > chord {
                step = range.len - 1 - step;
                height = 1.0 - height;
                chord = 1.0 - step as f64 * per_rank;
            }
            let rank = range.start + step;
            if height < chord - bend * chord * (1.0 - chord)
                || height * fall + least < self.weights.weight(rank)
            {
                return rank;
            }
        }
    }
}

/// The end of a range: at least one rank on, at most 2^(1 / per_doubling) times as far.
fn grown(start: u64, per_doubling: u32) -> u64 {
    let factor = (std::f64::consts::LN_2 / f64::from(per_doubling)).exp_m1();
    start.saturating_add(((start as f64 * factor) as u64).max(1))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::tests::chi_square;
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng as _;

    /// Draws ranks and compares their frequencies with their weights: each of the first 300, and beyond them cells whose borders differ
    /// from those of the ranges. Once as in production, once with parts so coarse that every second draw is from a wedge.
    pub(in super::super) fn matches_its_weights<W: Weights>(weights: impl Fn() -> W, n: u64) {
        for (singles, per_doubling) in [(SINGLES, RANGES_PER_DOUBLING), (1, 1)] {
            let falling = Falling::with_parts(weights(), n, singles, per_doubling).unwrap();
            let mut ends: Vec<u64> = (1..=n.min(300)).collect();
            while ends.last().is_some_and(|&end| end < n) {
                let last = ends[ends.len() - 1];
                ends.push((last + last / 7).min(n));
            }
            let w = weights();
            let total = w.mass(0, n);
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let expected: Vec<f64> =
                starts.zip(&ends).map(|(start, &end)| w.mass(start, end) / total).collect();
            let mut counts = vec![0u32; ends.len()];
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
            for _ in 0..200_000 {
                let rank = falling.draw(&mut rng);
                assert!(rank < n);
                counts[ends.partition_point(|&end| end <= rank)] += 1;
            }
            chi_square(&counts, &expected);
        }
    }

    /// Checks that the masses are the sums of the weights.
    pub(in super::super) fn sums_its_weights(weights: &impl Weights) {
        for (from, to) in
            [(0, 1), (0, 10), (3, 4), (5, 700), (1, 3000), (3000, 300_000), (1 << 40, (1 << 40) + 5000)]
        {
            let sum: f64 = (from..to).rev().map(|rank| weights.weight(rank)).sum();
            let mass = weights.mass(from, to);
            assert!((mass / sum - 1.0).abs() < 1e-12, "{from}..{to}: {mass} against {sum}");
        }
        let (whole, halves) =
            (weights.mass(0, 1 << 50), weights.mass(0, 12345) + weights.mass(12345, 1 << 50));
        assert!((whole / halves - 1.0).abs() < 1e-12);
    }

    /// Checks that the parabola of the quick test lies below the true curve.
    pub(in super::super) fn is_bounded_by_its_curvature<W: Weights>(weights: impl Fn() -> W) {
        for per_doubling in [1, RANGES_PER_DOUBLING] {
            let falling = Falling::with_parts(weights(), 1 << 20, 1, per_doubling).unwrap();
            assert!(!falling.wedges.is_empty());
            for wedge in &falling.wedges {
                for step in (0..wedge.range.len).step_by((wedge.range.len / 50).max(1) as usize) {
                    let chord = 1.0 - step as f64 * wedge.per_rank;
                    let true_height =
                        (falling.weights.weight(wedge.range.start + step) - wedge.least) / wedge.fall;
                    let quick = chord - wedge.bend * chord * (1.0 - chord);
                    assert!(
                        quick <= true_height + 1e-6,
                        "{:?} + {step}: {quick} > {true_height}",
                        wedge.range
                    );
                    assert!(true_height <= chord + 1e-6, "not convex: {:?} + {step}", wedge.range);
                }
            }
        }
    }

    #[test]
    fn ranges_grow_and_end() {
        assert_eq!(grown(1, 16), 2);
        assert_eq!(grown(256, 16), 267);
        assert!(grown(u64::MAX - 1, 1) == u64::MAX);
    }
}
