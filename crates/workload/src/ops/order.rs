//! The order in which records are visited. One enum and one match per operation: a few nanoseconds.

use super::feistel::Feistel;
use super::{Mt19937_64, Place, derive_seed};
use crate::Access;
use rand_distr::Distribution as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Purposes of derived seeds; a new purpose gets a new number so that old streams stay as they are.
pub(super) const FOR_ORDER: u64 = 1;
pub(super) const FOR_MIX: u64 = 2;
pub(super) const FOR_SIZE: u64 = 3;

pub(super) enum Order {
    Sequential { next: u64 },
    Backward { done: u64 },
    Same(u64),
    Strided { p: u64, lap: u64, step: u64 },
    Shuffled { list: Vec<u64>, at: usize },
    Permuted { map: Feistel, at: u64, pass: u64, key: u64 },
    Uniform { rng: Xoshiro256PlusPlus },
    Zipf { rng: Xoshiro256PlusPlus, ranks: rand_distr::Zipf<f64>, map: Feistel },
}

impl Order {
    /// `n` is the number of records. A list of operations has no order of records: `None`.
    pub(super) fn new(access: &Access, n: u64, seed: u64, place: Place) -> Option<Self> {
        let key = derive_seed(seed, place, FOR_ORDER);
        Some(match access {
            Access::Sequential => Self::Sequential { next: 0 },
            Access::Backward => Self::Backward { done: 0 },
            Access::Same(record) => Self::Same(*record % n),
            Access::Strided { step } => Self::Strided { p: 0, lap: 0, step: *step },
            Access::Shuffled { key } => Self::Shuffled { list: shuffled(n, key), at: 0 },
            Access::Permuted => Self::Permuted { map: Feistel::new(n, key), at: 0, pass: 0, key },
            Access::Uniform => Self::Uniform { rng: Xoshiro256PlusPlus::seed_from_u64(key) },
            Access::Zipf { theta } => Self::Zipf {
                rng: Xoshiro256PlusPlus::seed_from_u64(key),
                ranks: rand_distr::Zipf::new(n as f64, *theta).ok()?,
                map: Feistel::new(n, key),
            },
            Access::Pareto { .. } | Access::Normal { .. } | Access::Zoned(_) | Access::Listed(_) => {
                return None;
            }
        })
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
            Self::Zipf { rng, ranks, map } => map.at((ranks.sample(rng) as u64).clamp(1, n) - 1),
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
mod tests {
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
        // The last reads of IOzone 3.489 under strace.
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

    #[test]
    fn zipf_prefers_few_records() {
        let draws = first(&Access::Zipf { theta: 1.1 }, 1000, 10_000);
        let mut counts = vec![0u32; 1000];
        for d in draws {
            counts[d as usize] += 1;
        }
        counts.sort_unstable_by(|a, b| b.cmp(a));
        assert!(counts[..10].iter().sum::<u32>() > 4000, "{:?}", &counts[..10]);
    }
}
