//! Quantiles of merged histograms: counts of equal buckets are added; percentiles are never averaged. A quantile with fewer than ten
//! observations beyond it is refused. For the spread within one run, blocks of windows can be resampled.

use crate::bootstrap::{Bootstrap, Resampling, bootstrap_strata};
use crate::numbers::{place, sorted};
use crate::seeded::RandomStream;
use crate::unusable::{Unusable, enough};

/// Observations required beyond a quantile: p99.9 needs 10,000 in all.
const BEYOND: f64 = 10.0;

/// Sums the counts of parts (threads, seconds, hosts) with the same buckets.
pub fn merged(parts: &[&[u64]]) -> Result<Vec<u64>, Unusable> {
    let buckets = parts.first().map_or(0, |p| p.len());
    match parts.iter().find(|p| p.len() != buckets) {
        Some(odd) => Err(Unusable::Unequal { what: "merging histograms", first: buckets, second: odd.len() }),
        None => {
            Ok((0..buckets).map(|i| parts.iter().fold(0u64, |sum, p| sum.saturating_add(p[i]))).collect())
        }
    }
}

/// The bucket of quantile `q`: the first whose cumulative count reaches `ceil(q N)`. `None` without counts.
#[must_use]
pub fn bucket_of(counts: &[u64], q: f64) -> Option<usize> {
    let n = counts.iter().fold(0u64, |sum, c| sum.saturating_add(*c));
    if n == 0 {
        return None;
    }
    let wanted = place(q, n);
    let mut reached = 0u64;
    counts.iter().position(|c| {
        reached = reached.saturating_add(*c);
        reached >= wanted
    })
}

/// Number of observations that a quantile needs.
#[must_use]
pub fn needed_for(q: f64) -> u64 {
    let needed = BEYOND / (1.0 - q.clamp(0.0, 1.0));
    // 1 - 0.999 is not quite 0.001.
    (needed - needed * 1e-9).ceil() as u64
}

/// The quantile of merged counts; `values` are the buckets' values, ascending. Refused if fewer than ten observations lie beyond it.
pub fn quantile(values: &[f64], counts: &[u64], q: f64) -> Result<f64, Unusable> {
    if values.len() != counts.len() {
        return Err(Unusable::Unequal { what: "a quantile", first: values.len(), second: counts.len() });
    }
    let n = counts.iter().fold(0u64, |sum, c| sum.saturating_add(*c));
    let (needed, got) =
        (usize::try_from(needed_for(q)).unwrap_or(usize::MAX), usize::try_from(n).unwrap_or(usize::MAX));
    enough("a quantile with ten observations beyond it", needed, got)?;
    bucket_of(counts, q).map(|i| values[i]).ok_or(Unusable::TooFew { what: "a quantile", needed: 1, got: 0 })
}

/// Spread of a quantile within one run: blocks of `block` neighbouring windows are drawn with replacement until the number of windows is
/// reached, and merged. It says nothing about other runs. Blocks of one are enumerated up to six windows; otherwise eight windows are
/// needed, and blocks start anywhere, wrapping at the end.
pub fn within_run(
    values: &[f64],
    windows: &[&[u64]],
    q: f64,
    block: usize,
    how: Resampling,
) -> Result<Bootstrap, Unusable> {
    // Also checks that all windows have as many buckets as `values`, and that the whole run has enough observations.
    quantile(values, &merged(windows)?, q)?;
    let of = |drawn: &[usize]| {
        let parts: Vec<&[u64]> = drawn.iter().map(|w| windows[*w]).collect();
        let counts = merged(&parts).unwrap_or_default();
        bucket_of(&counts, q).map_or(f64::NAN, |i| values[i])
    };
    let n = windows.len();
    if block <= 1 {
        return bootstrap_strata(&[n], how, of);
    }
    enough("the block bootstrap", 8.max(2 * block), n)?;
    let mut draws = RandomStream::from_seed(how.seed);
    let mut resample = || {
        let mut drawn = Vec::with_capacity(n + block);
        while drawn.len() < n {
            let start = draws.below(n);
            drawn.extend((start..start + block).map(|w| w % n));
        }
        of(&drawn[..n])
    };
    let statistics: Vec<f64> =
        (0..how.resamples.max(1)).map(|_| resample()).filter(|v| v.is_finite()).collect();
    enough("the block bootstrap", 1, statistics.len())?;
    Ok(Bootstrap::of_drawn(sorted(&statistics)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_is_not_averaging() {
        let values = [100.0, 200.0, 10_000.0];
        let (one, two): (&[u64], &[u64]) = (&[9900, 100, 0], &[60, 0, 40]);
        let both = merged(&[one, two]).expect("equal buckets");
        let of = |q| quantile(&values, &both, q).expect("10,100 requests");
        assert_eq!((of(0.9), of(0.99), of(0.999)), (100.0, 200.0, 10_000.0));
        let single = |counts: &[u64], q| values[bucket_of(counts, q).expect("counts")];
        let average = |q| (single(one, q) + single(two, q)) / 2.0;
        assert_eq!((average(0.9), average(0.99), average(0.999)), (5050.0, 5050.0, 5100.0));
    }

    #[test]
    fn ten_must_lie_beyond() {
        assert_eq!((needed_for(0.5), needed_for(0.99), needed_for(0.999)), (20, 1000, 10_000));
        let refused = quantile(&[1.0, 2.0], &[9000, 999], 0.999).expect_err("9999 requests");
        assert_eq!(
            refused,
            Unusable::TooFew {
                what: "a quantile with ten observations beyond it",
                needed: 10_000,
                got: 9999
            }
        );
        assert_eq!(quantile(&[1.0, 2.0], &[9000, 1000], 0.999), Ok(2.0));
        assert_eq!((bucket_of(&[0, 0], 0.5), bucket_of(&[], 0.5)), (None, None));
        assert!(merged(&[&[1, 2], &[1]]).is_err());
    }

    const VALUES: [f64; 5] = [100.0, 200.0, 400.0, 800.0, 1600.0];
    const WINDOWS: [&[u64]; 4] =
        [&[900, 80, 15, 4, 1], &[880, 90, 20, 8, 2], &[700, 200, 60, 30, 10], &[890, 85, 18, 6, 1]];

    #[test]
    fn four_windows_are_enumerated() {
        assert_eq!(quantile(&VALUES, &merged(&WINDOWS).expect("equal"), 0.99), Ok(800.0));
        let each: Vec<f64> = WINDOWS.iter().map(|w| quantile(&VALUES, w, 0.99).expect("1000 each")).collect();
        assert_eq!(each, [400.0, 400.0, 800.0, 400.0]);
        let found = within_run(&VALUES, &WINDOWS, 0.99, 1, Resampling::seeded(0)).expect("4 windows");
        let at = |v: f64| found.values().iter().filter(|x| **x == v).count();
        assert_eq!((found.values().len(), at(400.0), at(800.0)), (256, 81, 175));
        assert_eq!(found.interval(0.95), [400.0, 800.0]);
    }

    #[test]
    fn blocks_keep_neighbours_together() {
        let (quick, slow): (&[u64], &[u64]) = (&[990, 5, 3, 1, 1], &[700, 200, 60, 30, 10]);
        let stretches: Vec<&[u64]> = (0..24).map(|w| if w / 6 % 2 == 0 { quick } else { slow }).collect();
        let spread = |block| {
            let found =
                within_run(&VALUES, &stretches, 0.9, block, Resampling::seeded(4)).expect("24 windows");
            assert_eq!(
                found,
                within_run(&VALUES, &stretches, 0.9, block, Resampling::seeded(4)).expect("24 windows")
            );
            found.deviation()
        };
        assert!(spread(6) > spread(1), "{} {}", spread(6), spread(1));
        assert!(within_run(&VALUES, &stretches[..7], 0.9, 2, Resampling::seeded(4)).is_err());
    }
}
