//! Zones: draws a zone by its share of the operations, then any record in it.

use super::alias::{Alias, Range};
use crate::Zone;

/// The table of the zones over `n` records (at least 1); `None` if there are no zones or their shares are invalid. Borders lie at the
/// rounded cumulative shares, moved as far as needed to give every zone a record; with fewer records than zones, the last zones share the
/// last record.
pub(super) fn table(zones: &[Zone], n: u64) -> Option<Alias> {
    Alias::new(&parts(zones, n)?)
}

fn parts(zones: &[Zone], n: u64) -> Option<Vec<(Range, f64)>> {
    let whole: f64 = zones.iter().map(|z| z.region_percent).sum();
    let sound = whole > 0.0 && whole.is_finite() && zones.iter().all(|z| z.region_percent >= 0.0);
    if !sound {
        return None;
    }
    let (mut start, mut share) = (0, 0.0);
    let parts = zones.iter().enumerate().map(|(i, zone)| {
        share += zone.region_percent / whole;
        let after = (zones.len() - 1 - i) as u64;
        let border = if after == 0 { n } else { (share * n as f64).round() as u64 };
        let end = border.min(n.saturating_sub(after)).max(start + 1).min(n);
        let range = Range { start: start.min(n - 1), len: end.saturating_sub(start).max(1) };
        start = end;
        (range, zone.operations_percent)
    });
    Some(parts.collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::chi_square;
    use super::*;
    use proptest::prelude::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng as _;

    fn zones(shares: &[(f64, f64)]) -> Vec<Zone> {
        shares
            .iter()
            .map(|&(operations_percent, region_percent)| Zone { operations_percent, region_percent })
            .collect()
    }

    #[test]
    fn zones_come_by_their_shares_and_records_uniformly() {
        let zones = zones(&[(60.0, 10.0), (30.0, 20.0), (8.0, 30.0), (2.0, 40.0)]);
        for n in [10u64, 1000, 1 << 36] {
            let table = table(&zones, n).unwrap();
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
            let mut counts = [0u32; 10];
            for _ in 0..200_000 {
                let (_, record) = table.draw(&mut rng);
                counts[(u128::from(record) * 10 / u128::from(n)) as usize] += 1;
            }
            let expected = [0.6, 0.15, 0.15, 0.08 / 3.0, 0.08 / 3.0, 0.08 / 3.0, 0.005, 0.005, 0.005, 0.005];
            chi_square(&counts, &expected);
        }
    }

    #[test]
    fn a_zone_without_operations_is_left_alone() {
        let table = table(&zones(&[(60.0, 12.5), (40.0, 25.0), (0.0, 62.5)]), 4096).unwrap();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
        assert!((0..100_000).all(|_| table.draw(&mut rng).1 < 1536));
    }

    #[test]
    fn no_zone_is_left_without_a_record() {
        let zones = zones(&[(50.0, 0.1), (25.0, 99.8), (25.0, 0.1)]);
        let ranges = |n| -> Vec<(u64, u64)> {
            parts(&zones, n).unwrap().iter().map(|(range, _)| (range.start, range.len)).collect()
        };
        assert_eq!(ranges(100), [(0, 1), (1, 98), (99, 1)]);
        assert_eq!(ranges(3), [(0, 1), (1, 1), (2, 1)]);
        assert_eq!(ranges(2), [(0, 1), (1, 1), (1, 1)]);
        assert_eq!(ranges(1), [(0, 1), (0, 1), (0, 1)]);
    }

    proptest! {
        #[test]
        fn zones_follow_each_other_from_the_first_to_the_last_record(
            shares in prop::collection::vec((0.001f64..100.0, 0.001f64..100.0), 1..12), n in 1u64..i64::MAX as u64
        ) {
            let parts = parts(&zones(&shares), n).unwrap();
            prop_assume!(n >= parts.len() as u64);
            let mut at = 0;
            for (range, _) in parts {
                prop_assert_eq!(range.start, at);
                prop_assert!(range.len > 0);
                at += range.len;
            }
            prop_assert_eq!(at, n);
        }
    }
}
