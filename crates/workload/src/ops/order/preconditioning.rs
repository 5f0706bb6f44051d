//! The records in random order, in rounds; a round begins by rewriting some records of an earlier round. One pass thus leaves an SSD in
//! the state that long random writing would.
//!
//! In that state garbage collection finds `1 / WAF` of an erase block overwritten and has to move the rest; WAF, the write amplification,
//! is taken to be 0.5 / spare + 0.7. That share of the first round's records is rewritten, less of each following round's, and none of the
//! last one's.

use super::below;
use crate::ops::feistel::Feistel;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;
use std::collections::VecDeque;

/// Largest number of rounds.
pub(crate) const MOST_ROUNDS: u32 = 1 << 20;

/// Write amplification: device writes per host write in the steady state of random writes; 1 or less means none.
pub(crate) fn amplification(spare: f64) -> f64 {
    0.5 / spare + 0.7
}

/// How a pass over a number of records is divided.
struct PassShape {
    /// Operations of a pass.
    operations: u64,
    /// Operations of a round.
    round: u64,
    /// Number of records of each round to be rewritten.
    again: Vec<u64>,
}

impl PassShape {
    /// `None` if a round has no operation or the parameters are out of range.
    fn new(n: u64, spare: f64, rounds: u32, apart: u32) -> Option<Self> {
        let rounds_are_few = (1..=MOST_ROUNDS).contains(&rounds);
        let known = spare >= 0.0 && amplification(spare) > 1.0;
        if !known || !rounds_are_few || apart == 0 {
            return None;
        }
        // A product that should be whole may come out slightly larger in binary.
        let most = (n as f64 * (1.0 + spare) * (1.0 - 1e-12)).ceil() as u64;
        let round = Some(most / u64::from(rounds)).filter(|&operations| operations > 0)?;
        let again: Vec<u64> =
            shares(spare, rounds).map(|share| (share * round as f64).round() as u64).collect();
        // The pass ends when each record had its turn, or when the spare blocks are used up.
        let (mut begun, mut fresh) = (0, 0);
        for number in 0.. {
            let repeated = (number as usize).checked_sub(apart as usize).and_then(|from| again.get(from));
            let repeated = repeated.map_or(0, |&operations| operations);
            if fresh + round - repeated >= n {
                begun += repeated + n - fresh;
                break;
            }
            (begun, fresh) = (begun + round, fresh + round - repeated);
            if begun >= most {
                break;
            }
        }
        Some(Self { operations: begun.min(most), round, again })
    }
}

/// The share of each round that is rewritten, from the first to the last.
///
/// The shares that stay valid fall linearly; each is repeated for as long as records with that validity exist.
fn shares(spare: f64, rounds: u32) -> impl Iterator<Item = f64> {
    let count = rounds as usize;
    let last = if spare > 0.0 { 1.0 - 1.0 / amplification(spare) } else { 1.0 };
    let step = |from: f64, to: f64, i: usize| from + (to - from) * i as f64 / (count - 1).max(1) as f64;
    let valid: Vec<f64> = (0..count).map(|i| step(1.0, last, i)).collect();
    let mut sum = 0.0;
    let stay: Vec<f64> = valid
        .iter()
        .map(|share| {
            sum += 1.0 / share;
            sum
        })
        .collect();
    let mut at = 0;
    let mut taken: Vec<f64> = (0..count)
        .map(|i| {
            let x = step(1.0, sum, i);
            while at + 2 < count && stay[at + 1] < x {
                at += 1;
            }
            match (stay.get(at + 1), valid.get(at + 1)) {
                (Some(&to), Some(&share)) => {
                    valid[at] + (share - valid[at]) * ((x - stay[at]) / (to - stay[at])).clamp(0.0, 1.0)
                }
                _ => valid[at],
            }
        })
        .collect();
    taken.reverse();
    taken.into_iter().map(|share| 1.0 - share)
}

/// Operations of a pass over `n` records.
pub(in crate::ops) fn operations(n: u64, spare: f64, rounds: u32, apart: u32) -> Option<u64> {
    PassShape::new(n, spare, rounds, apart).map(|shape| shape.operations)
}

/// Position in a pass.
pub(in crate::ops) struct Preconditioning {
    shape: PassShape,
    map: Feistel,
    key: u64,
    pass: u64,
    rng: Xoshiro256PlusPlus,
    /// Operations of the pass so far, and records that had their turn.
    done: u64,
    fresh: u64,
    /// Index of the round, and operations of it so far.
    number: usize,
    of_round: u64,
    /// Records to rewrite in this round, and in those that follow.
    due: Vec<u64>,
    coming: VecDeque<Vec<u64>>,
}

impl Preconditioning {
    /// `None` if no such order exists; see [`PassShape::new`].
    pub(super) fn new(n: u64, spare: f64, rounds: u32, apart: u32, key: u64) -> Option<Self> {
        let shape = PassShape::new(n, spare, rounds, apart)?;
        let most = shape.again.iter().copied().max().unwrap_or(0) as usize;
        Some(Self {
            shape,
            map: Feistel::new(n, key),
            key,
            pass: 0,
            rng: Xoshiro256PlusPlus::seed_from_u64(key),
            done: 0,
            fresh: 0,
            number: 0,
            of_round: 0,
            due: Vec::with_capacity(most),
            coming: (0..apart).map(|_| Vec::with_capacity(most)).collect(),
        })
    }

    /// The next record, below `n`.
    pub(super) fn next(&mut self, n: u64) -> u64 {
        if self.done == self.shape.operations {
            self.pass += 1;
            self.map = Feistel::new(n, self.key.wrapping_add(self.pass));
            (self.done, self.fresh, self.number, self.of_round) = (0, 0, 0, 0);
            self.coming.iter_mut().for_each(Vec::clear);
        }
        if self.of_round == 0 {
            self.due.clear();
            // The oldest kept records are rewritten now; their slot takes what this round keeps.
            self.coming.rotate_left(1);
            if let Some(kept) = self.coming.back_mut() {
                std::mem::swap(&mut self.due, kept);
            }
        }
        let record = match self.due.get(self.of_round as usize) {
            Some(&record) => record,
            None => {
                self.fresh += 1;
                self.map.at(self.fresh - 1)
            }
        };
        self.keep(record);
        (self.done, self.of_round) = (self.done + 1, self.of_round + 1);
        if self.of_round == self.shape.round {
            (self.number, self.of_round) = (self.number + 1, 0);
        }
        record
    }

    /// Decides whether a record of this round is kept for rewriting: any of them, up to the round's number.
    fn keep(&mut self, record: u64) {
        let (Some(&again), Some(kept)) = (self.shape.again.get(self.number), self.coming.back_mut()) else {
            return;
        };
        let wanted = again - (kept.len() as u64).min(again);
        if wanted > 0 && below(&mut self.rng, self.shape.round - self.of_round) < wanted {
            kept.push(record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    fn pass(n: u64, spare: f64, rounds: u32, apart: u32) -> (PassShape, Vec<u64>) {
        let mut order = Preconditioning::new(n, spare, rounds, apart, 7).unwrap();
        let records = (0..order.shape.operations).map(|_| order.next(n)).collect();
        (order.shape, records)
    }

    #[test]
    fn shares_are_those_of_fio() {
        // --debug=sprandom of fio 3.42.
        let of =
            |spare: f64, rounds| shares(spare, rounds).map(|s| (s * 1e4).round() / 1e4).collect::<Vec<_>>();
        assert_eq!(of(0.15, 4), [0.2479, 0.173, 0.0906, 0.0]);
        for (spare, first) in [(0.01, 0.0197), (0.1, 0.1754), (0.25, 0.3704), (0.5, 0.5882), (1.0, 0.8333)] {
            assert_eq!(of(spare, 100)[0], first, "{spare}");
        }
        assert_eq!((of(0.15, 1), of(0.0, 3)), (vec![0.0], vec![0.0; 3]));
    }

    #[test]
    fn a_pass_writes_the_records_and_the_spare_share() {
        // fio 3.42 decides at random, for every write, whether to repeat it; each range holds its numbers of writes with a dozen seeds.
        for (n, spare, rounds, written) in [
            (8192, 0.1, 50, 8970..=9012),
            (102_400, 0.15, 100, 117_585..=117_760),
            (256, 0.15, 4, 284..=295),
            (102_400, 0.5, 100, 153_600..=153_600),
        ] {
            let operations = operations(n, spare, rounds, 1).unwrap();
            assert!(written.contains(&operations), "{n}: {operations}");
        }
        assert_eq!((operations(256, 0.15, 1, 1), operations(256, 0.0, 4, 1)), (Some(256), Some(256)));
        for (n, spare, rounds, apart) in
            [(256, 0.15, 295, 1), (7, 1.5, 3, 2), (1, 0.1, 1, 9), (5000, 0.9, 40, 2)]
        {
            let (shape, records) = pass(n, spare, rounds, apart);
            assert!(records.iter().all(|&record| record < n), "{n} {spare}");
            assert!(records.len() as f64 <= n as f64 * (1.0 + spare) + 1.0);
            assert_eq!(records.len() as u64, shape.operations);
        }
        for (n, spare, rounds, apart) in [
            (256, 0.15, 296, 1),
            (256, 2.0, 4, 1),
            (256, -0.1, 4, 1),
            (256, f64::NAN, 4, 1),
            (256, 0.1, 0, 1),
            (9, 0.1, 4, 0),
        ] {
            assert_eq!(operations(n, spare, rounds, apart), None, "{n} {spare} {rounds} {apart}");
        }
    }

    #[test]
    fn each_round_begins_with_records_of_an_earlier_one() {
        for apart in [1, 2] {
            let (shape, records) = pass(4000, 0.25, 10, apart);
            let round = shape.round as usize;
            let mut at: HashMap<u64, usize> = HashMap::new();
            for (number, records) in records.chunks(round).enumerate() {
                let from = number.checked_sub(apart as usize);
                let again = from.and_then(|from| shape.again.get(from)).map_or(0, |&n| n as usize);
                let (repeated, fresh) = records.split_at(again.min(records.len()));
                assert!(repeated.iter().all(|record| at[record] == number - apart as usize), "{number}");
                assert!(fresh.iter().all(|record| !at.contains_key(record)), "{number}");
                assert_eq!(records.iter().collect::<HashSet<_>>().len(), records.len());
                at.extend(records.iter().map(|&record| (record, number)));
            }
        }
    }

    #[test]
    fn passes_differ_and_each_is_whole() {
        let mut order = Preconditioning::new(500, 0.05, 5, 1, 7).unwrap();
        let mut next = || (0..order.shape.operations).map(|_| order.next(500)).collect::<Vec<_>>();
        let two = [next(), next()];
        assert_ne!(two[0], two[1]);
        for pass in two {
            assert!(pass.iter().collect::<HashSet<_>>().len() > 495);
        }
    }
}
