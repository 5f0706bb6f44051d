//! The order in which the cells of an experiment run: in blocks, random within each, from a seed.
//!
//! A block of two rounds runs every cell twice, in random order. For any two cells A and B that is a quad: AABB ABAB ABBA BAAB BABA BBAA,
//! each with probability 1/6, because all arrangements of the block are equally likely. So drift of the machine affects all cells alike,
//! nothing periodic can stay in step with the order, and the exact rank test on strata of quads is valid for every pair of cells. An odd
//! number of rounds ends with a block of one.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// The blocks for `rounds` rounds over `cells` cells; each holds cell indices in run order.
#[must_use]
pub fn blocks(cells: usize, rounds: u32, seed: u64) -> Vec<Vec<usize>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut blocks = Vec::new();
    let mut left = rounds;
    while left > 0 && cells > 0 {
        let of_block = left.min(2);
        let mut block: Vec<usize> = (0..of_block).flat_map(|_| 0..cells).collect();
        shuffle(&mut block, &mut random);
        blocks.push(block);
        left -= of_block;
    }
    blocks
}

/// Fisher-Yates: every arrangement is equally likely.
fn shuffle(items: &mut [usize], random: &mut Xoshiro256PlusPlus) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last as u64 + 1, random) as usize);
    }
}

/// A uniform number below `n`; values that would bias the result are drawn again.
fn below(n: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
    let fair = u64::MAX - u64::MAX % n;
    loop {
        let drawn = random.next_u64();
        if drawn < fair {
            return drawn % n;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn two_cells_make_the_six_quads_equally_often() {
        let mut seen: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
        for block in blocks(2, 12_000, 7) {
            *seen.entry(block).or_default() += 1;
        }
        assert_eq!(seen.len(), 6);
        // 6000 blocks, 1000 each expected; the standard deviation is 29.
        assert!(seen.values().all(|n| (880..1120).contains(n)), "{seen:?}");
    }

    #[test]
    fn any_two_of_many_cells_make_quads_too() {
        let mut seen: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
        for block in blocks(8, 12_000, 3) {
            let pair: Vec<usize> = block.into_iter().filter(|c| [2, 5].contains(c)).collect();
            *seen.entry(pair).or_default() += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|n| (880..1120).contains(n)), "{seen:?}");
    }

    #[test]
    fn an_odd_number_ends_with_a_single_round() {
        let lengths: Vec<usize> = blocks(3, 5, 1).iter().map(Vec::len).collect();
        assert_eq!(lengths, [6, 6, 3]);
        assert_eq!(blocks(0, 5, 1).len() + blocks(5, 0, 1).len(), 0);
    }

    proptest! {
        #[test]
        fn every_cell_runs_once_a_round(cells in 1usize..20, rounds in 1u32..9, seed: u64) {
            let all = blocks(cells, rounds, seed);
            prop_assert_eq!(&all, &blocks(cells, rounds, seed));
            for cell in 0..cells {
                let times = all.iter().flatten().filter(|c| **c == cell).count();
                prop_assert_eq!(times, rounds as usize);
            }
        }
    }
}
