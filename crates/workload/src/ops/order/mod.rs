//! The order in which records are visited. One enum and one match per operation: a few nanoseconds.

mod alias;
mod cycle;
mod falling;
mod normal;
mod pareto;
mod preconditioning;
mod rising;
mod skipping;
mod zipf;
mod zoned;

use self::alias::Alias;
use self::cycle::Cycle;
use self::falling::Falling;
use self::normal::Normal;
use self::pareto::Pareto;
use self::preconditioning::Preconditioning;
use self::rising::Rising;
use self::skipping::Skipping;
use self::zipf::Zipf;
use super::feistel::Feistel;
use super::{Mt19937_64, Place, derive_seed};
use crate::Access;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

pub(crate) use self::normal::WIDEST_PERCENT;
pub(super) use self::preconditioning::operations as of_preconditioning;
pub(crate) use self::preconditioning::{MOST_ROUNDS, amplification};

/// Purposes of derived seeds; a new purpose gets a new number so that existing streams do not change.
pub(super) const FOR_ORDER: u64 = 1;
pub(super) const FOR_MIX: u64 = 2;
pub(super) const FOR_SIZE: u64 = 3;
pub(super) const FOR_FILES: u64 = 5;
pub(super) const FOR_TURNS: u64 = 6;
pub(super) const FOR_WRITE_SIZE: u64 = 7;
pub(super) const FOR_SHARE: u64 = 8;
/// All purposes in use.
pub const PURPOSES: std::ops::RangeInclusive<u64> = FOR_ORDER..=FOR_SHARE;

pub(super) enum Order {
    Sequential { next: u64 },
    Backward { done: u64 },
    Same(u64),
    Strided { p: u64, lap: u64, step: u64 },
    Shuffled { list: Vec<u64>, at: usize },
    Permuted { map: Feistel, at: u64, pass: u64, key: u64 },
    Uniform { rng: Xoshiro256PlusPlus },
    Zipf { rng: Xoshiro256PlusPlus, ranks: Box<Falling<Zipf>>, map: Feistel },
    Pareto { rng: Xoshiro256PlusPlus, ranks: Box<Falling<Pareto>>, map: Feistel },
    Rising { rng: Xoshiro256PlusPlus, ranks: Rising, map: Feistel },
    Normal { rng: Xoshiro256PlusPlus, bell: Normal },
    Zoned { rng: Xoshiro256PlusPlus, zones: Alias },
    Around { order: Box<Order>, by: u64 },
    Cycle(Cycle),
    Skipping(Skipping),
    Preconditioning(Box<Preconditioning>),
}

impl Order {
    /// `n` is the number of records. `None` for a list of operations, which has no order of records, and for parameters out of range.
    pub(super) fn new(access: &Access, n: u64, seed: u64, place: Place) -> Option<Self> {
        let key = derive_seed(seed, place, FOR_ORDER);
        let rng = Xoshiro256PlusPlus::seed_from_u64;
        Some(match access {
            Access::Sequential => Self::Sequential { next: 0 },
            Access::Backward => Self::Backward { done: 0 },
            Access::Same(record) => Self::Same(*record % n),
            Access::Strided { step } => Self::Strided { p: 0, lap: 0, step: *step },
            Access::Shuffled { key } => Self::Shuffled { list: shuffled(n, key), at: 0 },
            Access::Permuted => Self::Permuted { map: Feistel::new(n, key), at: 0, pass: 0, key },
            Access::Uniform => Self::Uniform { rng: rng(key) },
            Access::Zipf { theta } => Self::Zipf {
                rng: rng(key),
                ranks: Box::new(Falling::new(Zipf::new(*theta)?, n)?),
                map: Feistel::new(n, key),
            },
            Access::Pareto { h } if *h >= 0.5 => {
                Self::Rising { rng: rng(key), ranks: Rising::new(*h)?, map: Feistel::new(n, key) }
            }
            Access::Pareto { h } => Self::Pareto {
                rng: rng(key),
                ranks: Box::new(Falling::new(Pareto::new(*h)?, n)?),
                map: Feistel::new(n, key),
            },
            Access::Normal { deviation_percent } => {
                Self::Normal { rng: rng(key), bell: Normal::new(*deviation_percent, n)? }
            }
            Access::Zoned(zones) => Self::Zoned { rng: rng(key), zones: zoned::table(zones, n)? },
            Access::Around { order, centre } => {
                let order = Self::new(order, n, seed, place)?;
                let at = ((centre * n as f64) as u64).min(n - 1);
                let by = (u128::from(at) + u128::from(n) - u128::from(order.favourite(n)?)) % u128::from(n);
                Self::Around { order: Box::new(order), by: by as u64 }
            }
            Access::Cycle { records, advancing } => Self::Cycle(Cycle::new(records, *advancing)?),
            Access::Skipping { records } => Self::Skipping(Skipping::new(*records)),
            Access::Preconditioning { spare, rounds, apart } => {
                Self::Preconditioning(Box::new(Preconditioning::new(n, *spare, *rounds, *apart, key)?))
            }
            // These have no single order of records; positions of a scaled access are drawn in `pool`.
            Access::Listed(_) | Access::SequentialByKind | Access::Scaled(_) => return None,
            // `stream` implements these on top of an order, or in bytes.
            Access::Runs { .. }
            | Access::Striped { .. }
            | Access::ZonesInTurn { .. }
            | Access::PartlyRandom { .. } => return None,
        })
    }

    /// The most frequent record, if some are more frequent than others.
    fn favourite(&self, n: u64) -> Option<u64> {
        match self {
            Self::Zipf { map, .. } | Self::Pareto { map, .. } => Some(map.at(0)),
            Self::Rising { map, .. } => Some(map.at(n - 1)),
            Self::Normal { .. } => Some(n / 2),
            _ => None,
        }
    }

    /// The next record, below `n`.
    #[inline]
    pub(super) fn next(&mut self, n: u64) -> u64 {
        match self {
            Self::Sequential { next } => {
                let record = *next;
                *next = if record + 1 == n { 0 } else { record + 1 };
                record
            }
            Self::Backward { done } => {
                let record = n - 1 - *done;
                *done = if *done + 1 == n { 0 } else { *done + 1 };
                record
            }
            Self::Same(record) => *record,
            Self::Strided { p, lap, step } => {
                let record = *p;
                if step.saturating_add(*p + 1) >= n - 1 {
                    *lap += 1;
                    *p = if n <= *step { 0 } else { *lap % n };
                } else {
                    *p += *step;
                }
                record
            }
            Self::Shuffled { list, at } => {
                let record = list[*at];
                *at = if *at + 1 == list.len() { 0 } else { *at + 1 };
                record
            }
            Self::Permuted { map, at, pass, key } => {
                if *at == n {
                    *at = 0;
                    *pass += 1;
                    *map = Feistel::new(n, key.wrapping_add(*pass));
                }
                *at += 1;
                map.at(*at - 1)
            }
            Self::Uniform { rng } => below(rng, n),
            Self::Zipf { rng, ranks, map } => map.at(ranks.draw(rng)),
            Self::Pareto { rng, ranks, map } => map.at(ranks.draw(rng)),
            Self::Rising { rng, ranks, map } => map.at(ranks.draw(n, rng)),
            Self::Normal { rng, bell } => bell.draw(n, rng),
            Self::Zoned { rng, zones } => zones.draw(rng).1,
            Self::Around { order, by } => {
                ((u128::from(order.next(n)) + u128::from(*by)) % u128::from(n)) as u64
            }
            Self::Cycle(cycle) => cycle.next(n),
            Self::Skipping(order) => order.next(n),
            Self::Preconditioning(order) => order.next(n),
        }
    }
}

/// A uniform value below `n` by multiply-high (Lemire 2019, without the rejection step: for n < 2^40 the bias is below 2^-24).
#[inline]
pub(super) fn below(rng: &mut Xoshiro256PlusPlus, n: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(n)) >> 64) as u64
}

fn shuffled(n: u64, key: &[u64]) -> Vec<u64> {
    let mut generator = Mt19937_64::from_key(key);
    let mut list: Vec<u64> = (0..n).collect();
    for i in 0..list.len() {
        let j = (generator.next_u64() % n) as usize;
        list.swap(i, j);
    }
    list
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn first(access: &Access, n: u64, count: usize) -> Vec<u64> {
        let mut order = Order::new(access, n, 7, Place::default()).unwrap();
        (0..count).map(|_| order.next(n)).collect()
    }

    const IOZONE_KEY: [u64; 4] = [0x12345, 0x23456, 0x34567, 0x45678];

    #[test]
    fn the_shuffle_is_iozones() {
        let access = Access::Shuffled { key: IOZONE_KEY.to_vec() };
        assert_eq!(first(&access, 100, 16), [31, 64, 18, 24, 58, 40, 43, 0, 1, 19, 87, 10, 9, 92, 81, 73]);
        assert_eq!(first(&access, 10, 10), [3, 5, 1, 9, 7, 4, 2, 0, 8, 6]);
    }

    #[test]
    fn the_stride_is_iozones() {
        let reads = first(&Access::Strided { step: 17 }, 100, 100);
        assert_eq!(reads[..8], [0, 17, 34, 51, 68, 85, 1, 18]);
        // The last reads of IOzone 3.489, from strace.
        assert_eq!(reads[92..], [83, 16, 33, 50, 67, 84, 17, 34]);
        assert_eq!(first(&Access::Strided { step: 17 }, 17, 17), [0; 17]);
        assert_eq!(first(&Access::Strided { step: u64::MAX }, 17, 3), [0; 3]);
    }

    #[test]
    fn backward_and_sequential_wrap() {
        assert_eq!(first(&Access::Backward, 3, 4), [2, 1, 0, 2]);
        assert_eq!(first(&Access::Sequential, 3, 4), [0, 1, 2, 0]);
        assert_eq!(first(&Access::Same(0), 3, 2), [0, 0]);
    }

    #[test]
    fn a_permutation_visits_each_record_once_a_pass_and_differs_by_pass() {
        let two = first(&Access::Permuted, 50, 100);
        for pass in [&two[..50], &two[50..]] {
            let mut sorted = pass.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..50).collect::<Vec<_>>());
        }
        assert_ne!(two[..50], two[50..]);
    }

    /// Fails if the counts differ from the probabilities by more than chance allows in one of a thousand samples. Cells with an expected
    /// count below ten are merged.
    pub(in crate::ops) fn chi_square(counts: &[u32], probabilities: &[f64]) {
        assert_eq!(counts.len(), probabilities.len());
        let sum: f64 = probabilities.iter().sum();
        assert!((sum - 1.0).abs() < 1e-6, "the probabilities add up to {sum}");
        let total = f64::from(counts.iter().sum::<u32>());
        let (mut cells, mut rest) = (Vec::new(), (0.0, 0.0));
        for (&count, probability) in counts.iter().zip(probabilities) {
            rest.0 += f64::from(count);
            rest.1 += probability * total;
            if rest.1 >= 10.0 {
                cells.push(std::mem::take(&mut rest));
            }
        }
        match cells.last_mut() {
            Some(last) => *last = (last.0 + rest.0, last.1 + rest.1),
            None => cells.push(rest),
        }
        let chi2: f64 = cells.iter().map(|(seen, expected)| (seen - expected).powi(2) / expected).sum();
        // Wilson and Hilferty's approximation of the 0.1 % point.
        let freedom = (cells.len() as f64 - 1.0).max(1.0);
        let spread = 2.0 / (9.0 * freedom);
        let limit = freedom * (1.0 - spread + 3.09 * spread.sqrt()).powi(3);
        assert!(chi2 < limit, "chi-square {chi2:.1} of {freedom} degrees of freedom, limit {limit:.1}");
    }

    #[test]
    fn hot_records_are_scattered_and_come_as_often_as_their_ranks() {
        const N: u64 = 1000;
        for (access, hottest) in [
            (Access::Zipf { theta: 1.0 }, 1.0 / 7.485_470_860_550_345),
            (Access::Pareto { h: 0.2 }, 0.001f64.powf(0.8f64.ln() / 0.2f64.ln())),
        ] {
            let map = Feistel::new(N, derive_seed(7, Place::default(), FOR_ORDER));
            let mut counts = vec![0u32; N as usize];
            for record in first(&access, N, 100_000) {
                counts[record as usize] += 1;
            }
            let seen = f64::from(counts[map.at(0) as usize]) / 100_000.0;
            assert!((seen / hottest - 1.0).abs() < 0.03, "{access:?}: {seen} against {hottest}");
            assert_eq!(counts.iter().max(), Some(&counts[map.at(0) as usize]));
            assert_ne!(map.at(0) + 1, map.at(1), "neighbours in rank are no neighbours in the file");
        }
    }

    #[test]
    fn popular_records_are_near_the_centre() {
        const N: u64 = 1000;
        for order in [
            Access::Zipf { theta: 1.2 },
            Access::Pareto { h: 0.1 },
            Access::Pareto { h: 0.9 },
            Access::Normal { deviation_percent: 5.0 },
        ] {
            let narrow = matches!(order, Access::Normal { .. });
            for (centre, at) in [(0.0, 0), (0.25, 250), (0.9999, 999)] {
                let mut counts = vec![0u32; N as usize];
                let access = Access::Around { order: Box::new(order.clone()), centre };
                first(&access, N, 50_000).iter().for_each(|record| counts[*record as usize] += 1);
                let distance = |a: u64, b: u64| a.abs_diff(b).min(N - a.abs_diff(b));
                if narrow {
                    let near =
                        (0..N).filter(|r| distance(*r, at) <= 100).map(|r| counts[r as usize]).sum::<u32>();
                    assert!(near > 46_000, "{access:?}: {near}");
                } else {
                    let most = (0..N).max_by_key(|r| counts[*r as usize]);
                    assert_eq!(most, Some(at), "{access:?}");
                }
            }
        }
        assert!(
            Order::new(
                &Access::Around { order: Box::new(Access::Uniform), centre: 0.5 },
                9,
                7,
                Place::default()
            )
            .is_none()
        );
    }

    #[test]
    fn a_table_of_many_records_is_made_at_once() {
        for access in [Access::Zipf { theta: 0.99 }, Access::Pareto { h: 0.1 }] {
            assert!(first(&access, 1 << 62, 100).iter().all(|&record| record < 1 << 62));
        }
    }

    #[test]
    fn parameters_outside_their_ranges_are_no_order() {
        let wrong = [
            Access::Zipf { theta: 0.0 },
            Access::Pareto { h: 1.0 },
            Access::Normal { deviation_percent: f64::NAN },
            Access::Zoned(vec![]),
            Access::Listed(vec![]),
        ];
        assert!(wrong.iter().all(|access| Order::new(access, 10, 1, Place::default()).is_none()));
    }
}
