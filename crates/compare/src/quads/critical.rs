//! Critical values of the rank test and ranks of its interval, from the null distribution for any number of quads.

use super::rank_test::{NullDistribution, of_untied};

/// "Reject if U <= c or U >= 4K - c", with its attained level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CriticalValue {
    /// The largest rejecting U, in whole pairs.
    pub c: usize,
    /// The attained rate of false alarms.
    pub attained: f64,
}

/// The critical value at level `alpha`; `None` if this few quads cannot reach it.
#[must_use]
pub fn critical(quads: usize, alpha: f64) -> Option<CriticalValue> {
    let null = NullDistribution::untied(quads);
    let level = |c: usize| 2.0 * null.at_most(2 * c);
    let c = (0..2 * quads).take_while(|c| level(*c) <= alpha).last()?;
    Some(CriticalValue { c, attained: level(c) })
}

/// The order statistics that bound the interval: the (c+1)th from below and from above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalRank {
    /// Number of sorted pairs outside the interval on each side.
    pub c: usize,
    /// The confidence attained.
    pub confidence: f64,
}

/// The rank whose confidence is nearest to `level`; `None` without quads.
#[must_use]
pub fn interval_rank(quads: usize, level: f64) -> Option<IntervalRank> {
    of_untied(quads, |null| {
        let ranks = (0..2 * quads).map(|c| IntervalRank { c, confidence: 1.0 - 2.0 * null.at_most(2 * c) });
        ranks.min_by(|one, two| (one.confidence - level).abs().total_cmp(&(two.confidence - level).abs()))
    })
}

/// The smallest possible p with this number of quads.
#[must_use]
pub fn smallest_p(quads: usize) -> f64 {
    of_untied(quads, |null| null.two_sided(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_specification() {
        // Quads, c at 0.01, its level, c of the interval, its confidence, smallest p.
        let table = [
            (3, Some((0, 0.009259)), 1, 0.962963, 9.259e-3),
            (4, Some((1, 0.007716)), 2, 0.970679, 1.543e-3),
            (5, Some((2, 0.006687)), 4, 0.945730, 2.572e-4),
            (6, Some((3, 0.005144)), 5, 0.962834, 4.287e-5),
            (8, Some((6, 0.007634)), 8, 0.961948, 1.191e-6),
            (10, Some((9, 0.008773)), 11, 0.964221, 3.308e-8),
            (15, Some((16, 0.006174)), 20, 0.943405, 4.254e-12),
            (20, Some((24, 0.006684)), 28, 0.954323, 5.5e-16),
            (2, None, 0, 0.944444, 5.556e-2),
        ];
        for (quads, at_one_percent, c, confidence, smallest) in table {
            let found = critical(quads, 0.01);
            assert_eq!(found.map(|f| f.c), at_one_percent.map(|(c, _)| c), "{quads} quads");
            if let (Some(found), Some((_, level))) = (found, at_one_percent) {
                assert!((found.attained - level).abs() < 5e-7, "{quads} quads: {}", found.attained);
            }
            let rank = interval_rank(quads, 0.95).expect("quads");
            assert_eq!(rank.c, c, "{quads} quads");
            assert!((rank.confidence - confidence).abs() < 5e-7, "{quads} quads: {}", rank.confidence);
            assert!(
                (smallest_p(quads) / smallest - 1.0).abs() < 1e-2,
                "{quads} quads: {}",
                smallest_p(quads)
            );
        }
    }

    #[test]
    fn no_quads_have_no_interval() {
        assert_eq!((critical(0, 0.05), interval_rank(0, 0.95)), (None, None));
        assert_eq!(interval_rank(1, 0.95).map(|r| r.c), Some(0));
    }
}
