//! The op stream of a stream whose files take turns (`pick = "all"` with `turns`): every file has an order of its own, as if it were
//! alone, and what is drawn is which file comes next. A file that is done drops out until all are; then the next pass begins.

use super::order::{FOR_FILES, FOR_TURNS, Order};
use super::{Done, Op, OpKind, Place, Region, Source, StreamOps, derive_seed};
use crate::{Amount, Stream};

/// Draws of a file that is done already, before the next one that is not is taken.
const MOST_DRAWS: u32 = 64;
/// An amount without an end. Counted down it lasts for centuries.
const NO_END: u64 = u64::MAX;

/// Iterates over the operations of one worker whose files take turns. `next` allocates nothing.
pub struct TurnOps {
    files: Vec<StreamOps>,
    /// Whether a file has done its part of the pass.
    is_done: Vec<bool>,
    /// How many have not.
    open: usize,
    order: Order,
    /// Operations of a turn.
    turn: u64,
    /// Whose turn it is, and what is left of it.
    at: usize,
    turn_left: u64,
    /// Passes that are still to begin.
    passes: u64,
    operations: u64,
    bytes: u64,
    /// What an amount begins with: passes after the first, operations, bytes.
    amount: (u64, u64, u64),
    sync_after: u64,
    writes_until_sync: u64,
    data_only: bool,
    only_between: bool,
}

impl TurnOps {
    /// The operations of the worker at `place`; `regions` are the parts of its files. `None` if the stream's files take no turns, or
    /// not one record fits into one of the parts.
    #[must_use]
    pub fn new(stream: &Stream, regions: &[Region], seed: u64, place: Place) -> Option<Self> {
        let turns = stream.turns.as_ref()?;
        let count = u64::try_from(regions.len()).ok().filter(|&n| n > 0)?;
        let alone = Stream { amount: Amount::Pass, sync_every: None, turns: None, ..stream.clone() };
        let files: Option<Vec<StreamOps>> = (0u64..)
            .zip(regions)
            .map(|(file, region)| {
                let own = derive_seed(seed, place, FOR_FILES).wrapping_add(file);
                StreamOps::new(&alone, *region, own, place)
            })
            .collect();
        let order = Order::new(&turns.order, count, derive_seed(seed, place, FOR_TURNS), place)?;
        let amount = match stream.amount {
            Amount::Pass => (0, NO_END, NO_END),
            Amount::Passes(n) => (n.saturating_sub(1), NO_END, NO_END),
            Amount::Operations(n) => (NO_END, n, NO_END),
            Amount::Bytes(bytes) => (NO_END, NO_END, bytes.0),
            Amount::Endless => (NO_END, NO_END, NO_END),
        };
        let every = stream.sync_every.filter(|sync| !sync.inside);
        Some(Self {
            files: files?,
            is_done: vec![false; regions.len()],
            open: regions.len(),
            order,
            turn: if turns.operations == 0 { NO_END } else { turns.operations },
            at: 0,
            turn_left: 0,
            passes: amount.0,
            operations: amount.1,
            bytes: amount.2,
            amount,
            sync_after: every.map_or(0, |sync| sync.writes),
            writes_until_sync: every.map_or(u64::MAX, |sync| sync.writes),
            data_only: every.is_some_and(|sync| sync.data_only),
            only_between: every.is_some_and(|sync| sync.between),
        })
    }

    /// Whether the amount is done.
    fn is_over(&self) -> bool {
        self.operations == 0 || self.bytes == 0 || (self.open == 0 && self.passes == 0)
    }

    /// All files once more.
    fn begin_pass(&mut self) {
        self.files.iter_mut().for_each(|file| file.refill(None));
        self.is_done.fill(false);
        self.open = self.files.len();
    }

    /// The file whose turn it is.
    #[inline]
    fn take_turn(&mut self) -> usize {
        if self.open == 0 {
            self.passes = self.passes.saturating_sub(1);
            self.begin_pass();
        }
        if self.turn_left == 0 || self.is_done[self.at] {
            self.at = self.choose();
            self.turn_left = self.turn;
        }
        self.turn_left -= 1;
        self.at
    }

    /// The next file that is not done.
    fn choose(&mut self) -> usize {
        let count = self.files.len();
        let mut file = 0;
        for _ in 0..MOST_DRAWS {
            file = self.order.next(count as u64) as usize;
            if !self.is_done[file] {
                return file;
            }
        }
        // Only few are left.
        (1..=count).map(|step| (file + step) % count).find(|&other| !self.is_done[other]).unwrap_or(file)
    }
}

impl Source for TurnOps {
    /// A sync takes a turn, too: programs that take turns choose the file before they know what to do with it.
    #[inline]
    fn next(&mut self, done: &Done) -> Option<Op> {
        let over = self.is_over();
        if self.writes_until_sync == 0 && !(self.only_between && over) {
            self.writes_until_sync = self.sync_after;
            let file = if over { self.at } else { self.take_turn() };
            let kind = OpKind::Sync { data_only: self.data_only };
            return Some(Op { kind, file: file as u32, offset: 0, bytes: 0, think_ns: 0 });
        }
        if over {
            return None;
        }
        let file = self.take_turn();
        let op = self.files[file].next(done)?;
        if self.files[file].is_done() {
            self.is_done[file] = true;
            self.open -= 1;
        }
        if self.operations != NO_END {
            self.operations -= 1;
        }
        if self.bytes != NO_END {
            self.bytes = self.bytes.saturating_sub(u64::from(op.bytes));
        }
        if self.sync_after > 0 && op.kind == OpKind::Write {
            self.writes_until_sync -= 1;
        }
        Some(Op { file: file as u32, ..op })
    }

    fn refill(&mut self, drawn: Option<&Op>) {
        self.begin_pass();
        (self.passes, self.operations, self.bytes) = self.amount;
        let Some(op) = drawn.filter(|op| !matches!(op.kind, OpKind::Sync { .. })) else { return };
        if self.operations != NO_END {
            self.operations = self.operations.saturating_sub(1);
        }
        if self.bytes != NO_END {
            self.bytes = self.bytes.saturating_sub(u64::from(op.bytes));
        }
        let file = op.file as usize;
        if let Some(ops) = self.files.get_mut(file) {
            ops.refill(Some(op));
            if ops.is_done() {
                self.is_done[file] = true;
                self.open -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, Bytes, Direction, SyncEvery, Turns};

    const BLOCK: u64 = 4096;

    fn stream(order: Access, operations: u64) -> Stream {
        Stream {
            pick: crate::Pick::All,
            turns: Some(Turns { order, operations }),
            ..Stream::new("f", Direction::Write, Bytes(BLOCK))
        }
    }

    fn source(stream: &Stream, blocks: &[u64]) -> TurnOps {
        let region = |blocks: &u64| Region { start: 0, length: blocks * BLOCK };
        let regions: Vec<Region> = blocks.iter().map(region).collect();
        TurnOps::new(stream, &regions, 1, Place::default()).unwrap()
    }

    /// "0.1" is the second block of the first file, "s2" a sync of the third.
    fn told(ops: &mut TurnOps, most: usize) -> String {
        let words = std::iter::from_fn(|| ops.next(&Done::default())).take(most).map(|op| match op.kind {
            OpKind::Sync { .. } => format!("s{}", op.file),
            _ => format!("{}.{}", op.file, op.offset / BLOCK),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn all(stream: &Stream, blocks: &[u64]) -> String {
        told(&mut source(stream, blocks), 99)
    }

    #[test]
    fn files_take_turns_and_drop_out_when_they_are_done() {
        // fio 3.33, nrfiles=3 with file_service_type=roundrobin, roundrobin:2 and sequential, from its iologs.
        assert_eq!(all(&stream(Access::Sequential, 1), &[2, 2, 2]), "0.0 1.0 2.0 0.1 1.1 2.1");
        assert_eq!(all(&stream(Access::Sequential, 2), &[4, 4]), "0.0 0.1 1.0 1.1 0.2 0.3 1.2 1.3");
        assert_eq!(all(&stream(Access::Sequential, 0), &[2, 2]), "0.0 0.1 1.0 1.1");
        assert_eq!(all(&stream(Access::Sequential, 1), &[1, 3, 2]), "0.0 1.0 2.0 1.1 2.1 1.2");
    }

    #[test]
    fn a_pass_ends_with_the_last_file() {
        let of = |amount| all(&Stream { amount, ..stream(Access::Sequential, 1) }, &[1, 2]);
        assert_eq!(of(Amount::Passes(2)), "0.0 1.0 1.1 0.0 1.0 1.1");
        assert_eq!(of(Amount::Operations(5)), "0.0 1.0 1.1 0.0 1.0");
        assert_eq!(of(Amount::Bytes(Bytes(4 * BLOCK))), "0.0 1.0 1.1 0.0");
        assert_eq!(
            told(&mut source(&Stream { amount: Amount::Endless, ..stream(Access::Sequential, 1) }, &[1]), 5),
            "0.0 0.0 0.0 0.0 0.0"
        );
    }

    #[test]
    fn a_sync_takes_a_turn() {
        // fio 3.33: nrfiles=3 fsync=2.
        let every = SyncEvery { writes: 2, between: true, ..SyncEvery::default() };
        let synced = Stream { sync_every: Some(every), ..stream(Access::Sequential, 1) };
        assert_eq!(all(&synced, &[2, 2, 2]), "0.0 1.0 s2 0.1 1.1 s2 2.0 2.1");
        let after = SyncEvery { writes: 2, ..SyncEvery::default() };
        let synced = Stream { sync_every: Some(after), ..stream(Access::Sequential, 1) };
        assert_eq!(all(&synced, &[1, 1]), "0.0 1.0 s1");
    }

    #[test]
    fn chance_leaves_nothing_out() {
        for order in [Access::Uniform, Access::Zipf { theta: 1.2 }, Access::Pareto { h: 0.1 }] {
            let random = Stream { access: Access::Permuted, ..stream(order.clone(), 3) };
            let told = all(&random, &[5; 16]);
            let mut words: Vec<&str> = told.split(' ').collect();
            assert_ne!(words.first(), words.get(1), "{order:?}");
            words.sort_unstable();
            words.dedup();
            assert_eq!(words.len(), 80, "{order:?}: {told}");
        }
    }

    #[test]
    fn every_file_has_an_order_of_its_own() {
        let random = Stream { access: Access::Permuted, ..stream(Access::Sequential, 0) };
        let told = all(&random, &[20, 20]);
        let of = |file: &str| -> Vec<String> {
            told.split(' ').filter_map(|w| w.strip_prefix(file)).map(str::to_owned).collect()
        };
        assert_ne!(of("0."), of("1."));
    }

    #[test]
    fn the_amount_begins_anew_after_a_warm_up() {
        let mut ops = source(&stream(Access::Sequential, 1), &[2, 2]);
        assert_eq!(told(&mut ops, 1), "0.0");
        let drawn = ops.next(&Done::default()).unwrap();
        ops.refill(Some(&drawn));
        // The operation in hand is part of the amount of four.
        assert_eq!(told(&mut ops, 99).split(' ').count(), 3);
    }

    #[test]
    fn a_part_smaller_than_a_record_has_no_stream() {
        let regions = [Region { start: 0, length: BLOCK }, Region { start: 0, length: 100 }];
        let of = |stream: &Stream| TurnOps::new(stream, &regions, 1, Place::default()).is_some();
        assert!(!of(&stream(Access::Sequential, 1)));
        assert!(!of(&Stream { turns: None, ..stream(Access::Sequential, 1) }));
    }
}
