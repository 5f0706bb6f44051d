//! The op stream of a stream whose files take turns (`pick = "all"` with `turns`): every file has its own order, as if it were alone, and
//! the next file is drawn. A file that is done drops out until all are; then the next pass begins. With popular files none drops out: a
//! finished file starts over.

use super::order::{FOR_FILES, FOR_TURNS, Order};
use super::{Done, Op, OpCode, Place, Region, Source, StreamOps, derive_seed};
use crate::{Access, Amount, Direction, Record, Stream};

/// Draws that hit an empty slot before the next occupied one is taken.
const MOST_DRAWS: u32 = 64;
/// An endless amount. Counted down, it lasts for centuries.
const NO_END: u64 = u64::MAX;
/// A slot whose file is done, with no other to follow it.
const EMPTY: usize = usize::MAX;

/// Iterates over the operations of one worker whose files take turns. `next` allocates nothing.
pub struct TurnOps {
    files: Vec<StreamOps>,
    /// The files taking turns now, by slot.
    places: Vec<usize>,
    /// Number of empty slots.
    empty: usize,
    /// Files that have joined in this pass.
    entered: usize,
    /// Maximum number of files that take turns at once.
    most: usize,
    next: Next,
    /// Files drop out when they are done.
    drop_out: bool,
    /// Each trim is followed by its write, in the same turn.
    pairs: bool,
    /// Operations of a turn.
    turn: u64,
    /// The file whose turn it is, its slot, and what is left of the turn.
    file: usize,
    place: usize,
    turn_left: u64,
    left: TurnsLeft,
    /// The initial amount.
    amount: TurnsLeft,
    sync_after: u64,
    writes_until_sync: u64,
    data_only: bool,
    only_between: bool,
}

/// Selection of the next slot.
enum Next {
    /// Round robin; the next slot.
    InTurn(usize),
    Drawn(Box<Order>),
}

/// What is left to do: passes after this one, operations, bytes.
#[derive(Clone, Copy)]
struct TurnsLeft {
    passes: u64,
    operations: u64,
    bytes: u64,
}

impl TurnOps {
    /// The operations of the worker at `place`; `regions` are the parts of its files. `None` if the stream's files take no turns, or one
    /// of the parts is smaller than a record.
    #[must_use]
    pub fn new(stream: &Stream, regions: &[Region], seed: u64, place: Place) -> Option<Self> {
        let turns = stream.turns.as_ref()?;
        let seed = stream.seed_or(seed);
        let alone =
            Stream { amount: Amount::Pass, sync_every: None, turns: None, seed: None, ..stream.clone() };
        let files: Option<Vec<StreamOps>> = (0u64..)
            .zip(regions)
            .map(|(file, region)| {
                let own = derive_seed(seed, place, FOR_FILES).wrapping_add(file);
                StreamOps::new(&alone, *region, own, place)
            })
            .collect();
        let files = files.filter(|files| !files.is_empty())?;
        let most = match turns.open {
            0 => files.len(),
            open => files.len().min(open as usize),
        };
        let next = match &turns.order {
            Access::Sequential => Next::InTurn(0),
            order => {
                let own = derive_seed(seed, place, FOR_TURNS);
                Next::Drawn(Box::new(Order::new(order, most as u64, own, place)?))
            }
        };
        let drop_out = turns.drop_out();
        let left = amount_of(stream, regions, &files, drop_out);
        let every = stream.sync_every.filter(|sync| !sync.inside);
        Some(Self {
            places: (0..most).collect(),
            files,
            empty: 0,
            entered: most,
            most,
            next,
            drop_out,
            pairs: stream.direction == Direction::TrimWrite,
            turn: if turns.operations == 0 { NO_END } else { turns.operations },
            file: 0,
            place: 0,
            turn_left: 0,
            left,
            amount: left,
            sync_after: every.map_or(0, |sync| sync.writes),
            writes_until_sync: every.map_or(u64::MAX, |sync| sync.writes),
            data_only: every.is_some_and(|sync| sync.data_only),
            only_between: every.is_some_and(|sync| sync.between),
        })
    }

    /// Whether every file of the pass is done.
    fn pass_is_over(&self) -> bool {
        self.empty == self.places.len()
    }

    /// Whether the amount is done.
    fn is_over(&self) -> bool {
        self.left.operations == 0 || self.left.bytes == 0 || (self.pass_is_over() && self.left.passes == 0)
    }

    /// Starts all files again.
    fn begin_pass(&mut self) {
        self.files.iter_mut().for_each(|file| file.refill(None));
        self.places.clear();
        // Does not allocate: it held this many before.
        self.places.extend(0..self.most);
        self.empty = 0;
        self.entered = self.most;
        self.turn_left = 0;
        if let Next::InTurn(place) = &mut self.next {
            *place = 0;
        }
    }

    /// The file whose turn it is.
    #[inline]
    fn take_turn(&mut self) -> usize {
        if self.pass_is_over() {
            self.left.passes = self.left.passes.saturating_sub(1);
            self.begin_pass();
        }
        if self.turn_left == 0 {
            self.place = self.choose();
            self.file = self.places[self.place];
            self.turn_left = self.turn;
        }
        self.turn_left -= 1;
        self.file
    }

    /// The write of the record just trimmed: it takes neither a turn nor part of the amount.
    fn paired_write(&mut self) -> Option<Op> {
        if !self.pairs {
            return None;
        }
        let file = self.file;
        let write = self.files[file].take_paired()?;
        if self.files[file].is_done() {
            self.file_is_done();
        }
        if self.sync_after > 0 {
            self.writes_until_sync -= 1;
        }
        Some(Op { file: file as u32, ..write })
    }

    /// The next occupied slot; there is one.
    fn choose(&mut self) -> usize {
        let count = self.places.len();
        let mut place = 0;
        match &mut self.next {
            Next::InTurn(next) => place = *next % count,
            Next::Drawn(order) => {
                for _ in 0..MOST_DRAWS {
                    place = order.next(count as u64) as usize;
                    if self.places[place] != EMPTY {
                        break;
                    }
                }
            }
        }
        while self.places[place] == EMPTY {
            place = (place + 1) % count;
        }
        if let Next::InTurn(next) = &mut self.next {
            *next = place + 1;
        }
        place
    }

    /// The current file has done its part of the pass.
    fn file_is_done(&mut self) {
        if !self.drop_out {
            self.files[self.file].refill(None);
            return;
        }
        self.turn_left = 0;
        if self.entered < self.files.len() {
            self.places[self.place] = self.entered;
            self.entered += 1;
            return;
        }
        self.places[self.place] = EMPTY;
        self.empty += 1;
        // Compacting must not cost more than the skipped empty slots saved.
        if let Next::InTurn(next) = &mut self.next
            && self.empty * 2 > self.places.len()
            && self.empty < self.places.len()
        {
            *next = self.places.iter().take(*next).filter(|file| **file != EMPTY).count();
            self.places.retain(|file| *file != EMPTY);
            self.empty = 0;
        }
    }
}

/// The amount of a stream. Where no file drops out there are no passes: they are counted in operations or bytes.
fn amount_of(stream: &Stream, regions: &[Region], files: &[StreamOps], drop_out: bool) -> TurnsLeft {
    let endless = TurnsLeft { passes: NO_END, operations: NO_END, bytes: NO_END };
    let passes = match stream.amount {
        Amount::Pass => 1,
        Amount::Passes(n) => n,
        Amount::Operations(n) => return TurnsLeft { operations: n, ..endless },
        Amount::Bytes(bytes) => return TurnsLeft { bytes: bytes.0, ..endless },
        Amount::Endless => return endless,
    };
    if drop_out {
        return TurnsLeft { passes: passes.saturating_sub(1), ..endless };
    }
    match stream.record {
        Record::Fixed(_) => {
            let all = files.iter().map(StreamOps::records).fold(0, u64::saturating_add);
            TurnsLeft { operations: all.saturating_mul(passes), ..endless }
        }
        _ => {
            let all = regions.iter().map(|region| region.length).fold(0, u64::saturating_add);
            TurnsLeft { bytes: all.saturating_mul(passes), ..endless }
        }
    }
}

impl TurnsLeft {
    fn take(&mut self, op: &Op) {
        if self.operations != NO_END {
            self.operations = self.operations.saturating_sub(1);
        }
        if self.bytes != NO_END {
            self.bytes = self.bytes.saturating_sub(u64::from(op.bytes));
        }
    }
}

impl Source for TurnOps {
    /// A sync takes a turn, too: programs with such turns choose the file before the operation.
    #[inline]
    fn next(&mut self, done: &Done) -> Option<Op> {
        let over = self.is_over();
        if self.writes_until_sync == 0 && !(self.only_between && over) {
            self.writes_until_sync = self.sync_after;
            let file = if over { self.file } else { self.take_turn() };
            let kind = OpCode::Sync { data_only: self.data_only };
            return Some(Op { kind, file: file as u32, offset: 0, bytes: 0, think_ns: 0 });
        }
        if let Some(write) = self.paired_write() {
            return Some(write);
        }
        if over {
            return None;
        }
        let file = self.take_turn();
        let op = self.files[file].next(done)?;
        self.left.take(&op);
        if self.files[file].is_done() {
            self.file_is_done();
        }
        if self.sync_after > 0 && op.kind == OpCode::Write {
            self.writes_until_sync -= 1;
        }
        Some(Op { file: file as u32, ..op })
    }

    fn refill(&mut self, drawn: Option<&Op>) {
        self.begin_pass();
        self.left = self.amount;
        // Operations left from the previous pass come first.
        let Some(op) = drawn.filter(|op| !matches!(op.kind, OpCode::Sync { .. })) else { return };
        if self.pairs && op.kind == OpCode::Write {
            // Counted with its trim.
            return;
        }
        self.left.take(op);
        let file = op.file as usize;
        let Some(ops) = self.files.get_mut(file) else { return };
        ops.refill(Some(op));
        if let (true, Some(place)) = (ops.is_done(), self.places.iter().position(|at| *at == file)) {
            (self.file, self.place) = (file, place);
            self.file_is_done();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, Bytes, SyncEvery, Turns};

    const BLOCK: u64 = 4096;

    fn stream(order: Access, operations: u64) -> Stream {
        Stream {
            pick: crate::Pick::All,
            turns: Some(Turns { order, operations, open: 0 }),
            ..Stream::new("f", Direction::Write, Bytes(BLOCK))
        }
    }

    fn source(stream: &Stream, blocks: &[u64]) -> TurnOps {
        let region = |blocks: &u64| Region { start: 0, length: blocks * BLOCK };
        let regions: Vec<Region> = blocks.iter().map(region).collect();
        TurnOps::new(stream, &regions, 1, Place::default()).unwrap()
    }

    /// "0.1" is the second block of the first file, "s2" a sync of the third.
    fn listed(ops: &mut TurnOps, most: usize) -> String {
        let words = std::iter::from_fn(|| ops.next(&Done::default())).take(most).map(|op| match op.kind {
            OpCode::Sync { .. } => format!("s{}", op.file),
            OpCode::Trim => format!("t{}", op.file),
            _ => format!("{}.{}", op.file, op.offset / BLOCK),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn all(stream: &Stream, blocks: &[u64]) -> String {
        listed(&mut source(stream, blocks), 99)
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
            listed(
                &mut source(&Stream { amount: Amount::Endless, ..stream(Access::Sequential, 1) }, &[1]),
                5
            ),
            "0.0 0.0 0.0 0.0 0.0"
        );
    }

    #[test]
    fn only_so_many_are_open_at_once() {
        // fio 3.33: nrfiles=4 openfiles=2.
        let of = |open, blocks: &[u64]| {
            let turns = Some(Turns { open, ..Turns::default() });
            all(&Stream { turns, ..stream(Access::Sequential, 1) }, blocks)
        };
        assert_eq!(of(2, &[2; 4]), "0.0 1.0 0.1 1.1 2.0 3.0 2.1 3.1");
        assert_eq!(of(1, &[2, 1]), "0.0 0.1 1.0");
        assert_eq!(of(9, &[1, 1]), "0.0 1.0");
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
        for order in [Access::Uniform, Access::Permuted, Access::Backward] {
            let random = Stream { access: Access::Permuted, ..stream(order.clone(), 3) };
            let listed = all(&random, &[5; 16]);
            let mut words: Vec<&str> = listed.split(' ').collect();
            words.sort_unstable();
            words.dedup();
            assert_eq!(words.len(), 80, "{order:?}: {listed}");
        }
    }

    #[test]
    fn popular_files_do_not_drop_out() {
        // fio 3.33 with file_service_type=zipf:1.2: one file over and over, others never.
        let listed = all(&stream(Access::Zipf { theta: 3.0 }, 1), &[2; 8]);
        let words: Vec<&str> = listed.split(' ').collect();
        let most = (0..8).map(|f| words.iter().filter(|w| w.starts_with(&format!("{f}."))).count()).max();
        assert_eq!(words.len(), 16);
        assert!(most > Some(4), "{listed}");
    }

    #[test]
    fn every_file_has_an_order_of_its_own() {
        let random = Stream { access: Access::Permuted, ..stream(Access::Sequential, 0) };
        let listed = all(&random, &[20, 20]);
        let of = |file: &str| -> Vec<String> {
            listed.split(' ').filter_map(|w| w.strip_prefix(file)).map(str::to_owned).collect()
        };
        assert_ne!(of("0."), of("1."));
    }

    #[test]
    fn the_amount_restarts_after_a_warm_up() {
        let mut ops = source(&stream(Access::Sequential, 1), &[2, 2]);
        assert_eq!(listed(&mut ops, 1), "0.0");
        let drawn = ops.next(&Done::default()).unwrap();
        ops.refill(Some(&drawn));
        // The operation already drawn is part of the amount of four.
        assert_eq!(listed(&mut ops, 99).split(' ').count(), 3);
    }

    #[test]
    fn a_part_smaller_than_a_record_has_no_stream() {
        let regions = [Region { start: 0, length: BLOCK }, Region { start: 0, length: 100 }];
        let of = |stream: &Stream| TurnOps::new(stream, &regions, 1, Place::default()).is_some();
        assert!(!of(&stream(Access::Sequential, 1)));
        assert!(!of(&Stream { turns: None, ..stream(Access::Sequential, 1) }));
    }
}
