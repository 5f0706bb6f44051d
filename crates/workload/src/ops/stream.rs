//! The op stream of a [`Stream`]: kind, offset and size of one operation after the other, for one worker.

use super::order::{FOR_MIX, FOR_SIZE, Order, below};
use super::{Place, derive_seed};
use crate::{Access, Amount, Direction, Does, ListedOp, Mix, Record, Stream};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// What is done.
    pub kind: OpKind,
    /// Which file of the set, for a stream over all of them; else 0.
    pub file: u32,
    /// Where, in bytes from the start of the file.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u32,
    /// Time to compute before it, ns; not part of the operation.
    pub think_ns: u64,
}

/// Kinds of operations in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// Read a record.
    Read,
    /// Write a record.
    Write,
    /// fsync (or fdatasync).
    Sync {
        /// fdatasync.
        data_only: bool,
    },
}

/// What has been completed so far; some mixes depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Completed reads.
    pub reads: u64,
    /// Completed writes.
    pub writes: u64,
}

/// The part of a file that a stream works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First byte.
    pub start: u64,
    /// Length in bytes.
    pub length: u64,
}

enum Sizes {
    Fixed(u32),
    Between { unit: u32, count: u64, rng: Box<Xoshiro256PlusPlus> },
    Split { cumulative: Vec<(f64, u32)>, rng: Box<Xoshiro256PlusPlus> },
}

enum Source {
    Order(Order),
    /// Sequential with changing sizes: a byte cursor.
    Cursor(u64),
    /// Sequential for each kind: a byte cursor of the reads and one of the writes.
    Cursors {
        read: u64,
        write: u64,
    },
    /// So many more operations of a run that has come to a record.
    Runs {
        order: Order,
        at: u64,
        left: u64,
        operations: u64,
        same: bool,
    },
    Striped(Stripes),
    List {
        list: Vec<ListedOp>,
        at: usize,
    },
}

/// Records in rows, with gaps between them.
struct Stripes {
    next: u64,
    records: u64,
    in_a_row: u64,
    period: u64,
}

impl Stripes {
    fn new(record: u64, run: u64, gap: u64, length: u64) -> Option<Self> {
        let (in_a_row, period) = (run / record.max(1), run.checked_add(gap).filter(|&p| p > 0)?);
        let rest = (length % period).min(run) / record.max(1);
        let records = (length / period).checked_mul(in_a_row)?.checked_add(rest).filter(|&n| n > 0)?;
        (in_a_row > 0).then_some(Self { next: 0, records, in_a_row, period })
    }

    #[inline]
    fn next(&mut self, record: u64) -> u64 {
        let n = self.next;
        self.next = if n + 1 == self.records { 0 } else { n + 1 };
        n / self.in_a_row * self.period + n % self.in_a_row * record
    }
}

#[derive(Clone, Copy)]
enum Left {
    Operations(u64),
    Bytes(u64),
    Endless,
}

/// Iterates over the operations of one worker's stream. `next` allocates nothing.
pub struct StreamOps {
    source: Source,
    sizes: Sizes,
    records: u64,
    unit: u64,
    /// What offsets of records that are drawn are multiples of, and how many such offsets there are.
    step: u64,
    places: u64,
    region: Region,
    direction: Direction,
    mix: Xoshiro256PlusPlus,
    /// Handed out so far.
    issued: Done,
    left: Left,
    amount: Left,
    sync_after: u64,
    writes_until_sync: u64,
    data_only: bool,
    /// No sync after the last write.
    only_between: bool,
}

impl StreamOps {
    /// The stream of the worker at `place`, over `region`; `None` if not one record fits into the region.
    #[must_use]
    pub fn new(stream: &Stream, region: Region, seed: u64, place: Place) -> Option<Self> {
        let unit = stream.record.unit().0.max(1);
        let largest = stream.record.largest().0.max(1);
        let listed = matches!(stream.access, Access::Listed(_));
        if region.length < largest && !listed {
            return None;
        }
        // Offsets are multiples of the unit such that the largest record still fits.
        let records = if listed { 1 } else { (region.length - largest) / unit + 1 };
        // Where they are multiples of something else, a pass moves as much.
        let step = if stream.align.0 == 0 { unit } else { stream.align.0 };
        let places = if listed { 1 } else { (region.length - largest) / step + 1 };
        let sizes = sizes_of(&stream.record, seed, place)?;
        let source = match (&stream.access, &sizes) {
            (Access::Listed(list), _) => Source::List { list: list.clone(), at: 0 },
            (Access::Sequential, Sizes::Between { .. } | Sizes::Split { .. }) => Source::Cursor(0),
            (Access::Runs { order, operations, same }, _) => Source::Runs {
                order: Order::new(order, records, seed, place)?,
                at: 0,
                left: 0,
                operations: *operations,
                same: *same,
            },
            (Access::Striped { run, gap }, _) => {
                Source::Striped(Stripes::new(largest, run.0, gap.0, region.length)?)
            }
            (Access::SequentialByKind, _) => Source::Cursors { read: 0, write: 0 },
            (access, _) => Source::Order(Order::new(access, places, seed, place)?),
        };
        let one_pass = match &stream.access {
            Access::Listed(list) => Left::Operations(list.len() as u64),
            _ if matches!(sizes, Sizes::Fixed(_)) => Left::Operations(records),
            // What is less than a unit is never touched.
            Access::Sequential | Access::SequentialByKind => Left::Bytes(region.length / unit * unit),
            _ => Left::Bytes(region.length),
        };
        let left = match (stream.amount, one_pass) {
            (Amount::Pass, pass) => pass,
            (Amount::Passes(n), Left::Operations(ops)) => Left::Operations(ops.saturating_mul(n)),
            (Amount::Passes(n), Left::Bytes(bytes)) => Left::Bytes(bytes.saturating_mul(n)),
            (Amount::Passes(_), Left::Endless) | (Amount::Endless, _) => Left::Endless,
            (Amount::Operations(n), _) => Left::Operations(n),
            (Amount::Bytes(b), _) => Left::Bytes(b.0),
        };
        Some(Self {
            source,
            sizes,
            records,
            unit,
            step,
            places,
            region,
            direction: stream.direction,
            mix: Xoshiro256PlusPlus::seed_from_u64(derive_seed(seed, place, FOR_MIX)),
            issued: Done::default(),
            left,
            amount: left,
            sync_after: stream.sync_every.map_or(0, |s| s.writes),
            writes_until_sync: stream.sync_every.map_or(u64::MAX, |s| s.writes),
            data_only: stream.sync_every.is_some_and(|s| s.data_only),
            only_between: stream.sync_every.is_some_and(|s| s.between),
        })
    }

    /// Begins the amount anew, as after a warm-up; the order goes on where it is. An operation that was drawn already and is still to
    /// be done is part of it.
    pub fn refill(&mut self, drawn: Option<&Op>) {
        self.left = self.amount;
        let drawn = drawn.filter(|op| !matches!(op.kind, OpKind::Sync { .. }));
        if let Some(op) = drawn {
            match &mut self.left {
                Left::Operations(n) => *n = n.saturating_sub(1),
                Left::Bytes(b) => *b = b.saturating_sub(u64::from(op.bytes)),
                Left::Endless => {}
            }
        }
    }

    /// Whether no read or write is left.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.left, Left::Operations(0) | Left::Bytes(0))
    }

    /// Number of whole records in the region.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Reads and writes still to come, if that is known.
    #[must_use]
    pub fn remaining_operations(&self) -> Option<u64> {
        match (&self.left, &self.sizes, &self.source) {
            (Left::Operations(n), ..) => Some(*n),
            (Left::Bytes(_), _, Source::List { .. }) => None,
            (Left::Bytes(b), Sizes::Fixed(size), _) => Some(b.div_ceil(u64::from(*size))),
            _ => None,
        }
    }

    /// The next operation, or `None` when the amount is done. `done` counts what has been completed.
    #[inline]
    pub fn next(&mut self, done: &Done) -> Option<Op> {
        let done_with_it = self.is_done();
        if self.writes_until_sync == 0 && !(self.only_between && done_with_it) {
            self.writes_until_sync = self.sync_after;
            return Some(Op {
                file: 0,
                kind: OpKind::Sync { data_only: self.data_only },
                offset: 0,
                bytes: 0,
                think_ns: 0,
            });
        }
        if done_with_it {
            return None;
        }
        if let Source::List { list, at } = &mut self.source {
            let op = list.get(*at).copied()?;
            *at = if *at + 1 == list.len() { 0 } else { *at + 1 };
            return Some(self.listed(&op, done));
        }
        // Each has random numbers of its own, so neither depends on which is drawn first.
        let read = self.next_is_read(done);
        let (offset, bytes, think_ns) = self.next_extent(read);
        match &mut self.left {
            Left::Operations(n) => *n -= 1,
            Left::Bytes(b) => *b = b.saturating_sub(u64::from(bytes)),
            Left::Endless => {}
        }
        let kind = if read {
            OpKind::Read
        } else {
            if self.sync_after > 0 {
                self.writes_until_sync -= 1;
            }
            OpKind::Write
        };
        Some(Op { kind, file: 0, offset, bytes, think_ns })
    }

    #[inline]
    fn next_extent(&mut self, read_next: bool) -> (u64, u32, u64) {
        let size = match &mut self.sizes {
            Sizes::Fixed(size) => *size,
            Sizes::Between { unit, count, rng } => *unit * (below(rng, *count) as u32 + 1),
            Sizes::Split { cumulative, rng } => drawn(cumulative, rng),
        };
        match &mut self.source {
            Source::Order(order) => (self.region.start + order.next(self.places) * self.step, size, 0),
            Source::Runs { order, at, left, operations, same } => {
                if *left > 0 && (*same || *at + 1 < self.records) {
                    *left -= 1;
                    *at += u64::from(!*same);
                } else {
                    *at = order.next(self.records);
                    *left = operations.saturating_sub(1);
                }
                (self.region.start + *at * self.unit, size, 0)
            }
            Source::Striped(stripes) => (self.region.start + stripes.next(size.into()), size, 0),
            Source::Cursor(at) => {
                let (offset, size) = advance(at, size, self.unit, self.region.length);
                (self.region.start + offset, size, 0)
            }
            Source::Cursors { read, write } => {
                let at = if read_next { read } else { write };
                let (offset, size) = advance(at, size, self.unit, self.region.length);
                (self.region.start + offset, size, 0)
            }
            // What is listed was handed out before anything is drawn.
            Source::List { .. } => (0, size, 0),
        }
    }

    /// A listed operation, as it is handed out.
    fn listed(&mut self, op: &ListedOp, done: &Done) -> Op {
        let kind = match op.does {
            Some(Does::Read) => OpKind::Read,
            Some(Does::Write) => OpKind::Write,
            Some(Does::Sync) => OpKind::Sync { data_only: false },
            Some(Does::DataSync) => OpKind::Sync { data_only: true },
            None if self.next_is_read(done) => OpKind::Read,
            None => OpKind::Write,
        };
        let bytes = if matches!(kind, OpKind::Sync { .. }) { 0 } else { op.bytes };
        match &mut self.left {
            Left::Operations(n) => *n -= 1,
            Left::Bytes(b) => *b = b.saturating_sub(u64::from(bytes)),
            Left::Endless => {}
        }
        if kind == OpKind::Write && self.sync_after > 0 {
            self.writes_until_sync -= 1;
        }
        Op { kind, file: op.file, offset: op.offset, bytes, think_ns: op.think.0 }
    }

    #[inline]
    fn next_is_read(&mut self, done: &Done) -> bool {
        match self.direction {
            Direction::Read => true,
            Direction::Write => false,
            Direction::Mix(Mix::ReadPercent(p)) => below(&mut self.mix, 100) < u64::from(p),
            Direction::Mix(Mix::ReadsPerWrite(ratio)) => {
                (done.reads + 1) as f64 / ((done.writes + 1) as f64) < ratio
            }
            Direction::Mix(Mix::ReadsPerWriteIssued(ratio)) => {
                let read = (self.issued.reads + 1) as f64 / ((self.issued.writes + 1) as f64) < ratio;
                self.issued.reads += u64::from(read);
                self.issued.writes += u64::from(!read);
                read
            }
        }
    }
}

/// Where a record goes that was drawn with `size`, and how long it is: the last before the end has what is left, in whole units, and the
/// next begins anew. The cursor stands behind it.
fn advance(at: &mut u64, size: u32, unit: u64, length: u64) -> (u64, u32) {
    let left = |at: u64| length.saturating_sub(at) / unit * unit;
    if left(*at) == 0 {
        *at = 0;
    }
    let offset = *at;
    let size = u32::try_from(left(offset)).map_or(size, |left| left.min(size));
    *at += u64::from(size);
    (offset, size)
}

fn sizes_of(record: &Record, seed: u64, place: Place) -> Option<Sizes> {
    let rng = || Box::new(Xoshiro256PlusPlus::seed_from_u64(derive_seed(seed, place, FOR_SIZE)));
    Some(match record {
        Record::Fixed(b) => Sizes::Fixed(u32::try_from(b.0).ok()?),
        Record::Between { min, max } => {
            let unit = u32::try_from(min.0).ok()?;
            Sizes::Between { unit, count: (max.0 / min.0.max(1)).max(1), rng: rng() }
        }
        Record::Split(sizes) => {
            let total: f64 = sizes.iter().map(|s| s.1).sum();
            let mut running = 0.0;
            let mut cumulative = Vec::with_capacity(sizes.len());
            for (size, weight) in sizes {
                running += weight / total;
                cumulative.push((running, u32::try_from(size.0).ok()?));
            }
            Sizes::Split { cumulative, rng: rng() }
        }
    })
}

fn drawn(cumulative: &[(f64, u32)], rng: &mut Xoshiro256PlusPlus) -> u32 {
    let u = below(rng, 1 << 53) as f64 / (1u64 << 53) as f64;
    cumulative.iter().find(|c| u < c.0).or(cumulative.last()).map_or(0, |c| c.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bytes, SyncEvery, Zone};
    use proptest::prelude::*;

    fn ops(stream: &Stream, length: u64, seed: u64, limit: usize) -> Vec<Op> {
        let region = Region { start: 0, length };
        let mut s = StreamOps::new(stream, region, seed, Place::default()).unwrap();
        let mut done = Done::default();
        let mut out = Vec::new();
        while let Some(op) = s.next(&done) {
            match op.kind {
                OpKind::Read => done.reads += 1,
                OpKind::Write => done.writes += 1,
                OpKind::Sync { .. } => {}
            }
            out.push(op);
            if out.len() == limit {
                break;
            }
        }
        out
    }

    fn stream(direction: Direction, record: u64) -> Stream {
        Stream::new("f", direction, Bytes(record))
    }

    #[test]
    fn offsets_are_multiples_of_what_is_asked_for() {
        let drawn = |align: u64, record: Record| {
            let access = Access::Uniform;
            let s = Stream { align: Bytes(align), access, record, ..stream(Direction::Write, 512) };
            let found = ops(&s, 32 << 10, 7, usize::MAX);
            let offsets: std::collections::BTreeSet<u64> = found.iter().map(|op| op.offset).collect();
            (found.len(), offsets.into_iter().collect::<Vec<u64>>())
        };
        // As many as without, and the last record still fits.
        let (count, offsets) = drawn(4096, Record::Fixed(Bytes(512)));
        assert_eq!((count, offsets), (64, (0..8).map(|n| n * 4096).collect()));
        let split = Record::Split(vec![(Bytes(512), 50.0), (Bytes(24 << 10), 50.0)]);
        assert_eq!(drawn(4096, split).1.last().map(|last| *last <= 8192), Some(true));
        // Finer than the records.
        let (count, offsets) = drawn(512, Record::Fixed(Bytes(16 << 10)));
        assert_eq!(count, 2);
        assert!(offsets.iter().all(|o| o.is_multiple_of(512) && *o <= 16 << 10), "{offsets:?}");
    }

    #[test]
    fn a_trailing_part_smaller_than_a_record_is_not_touched() {
        let all = ops(&stream(Direction::Write, 64 << 10), 100 << 10, 1, 99);
        assert_eq!(all, [Op { kind: OpKind::Write, file: 0, offset: 0, bytes: 65536, think_ns: 0 }]);
    }

    #[test]
    fn a_region_smaller_than_a_record_has_no_stream() {
        let region = Region { start: 0, length: 100 };
        assert!(StreamOps::new(&stream(Direction::Read, 4096), region, 1, Place::default()).is_none());
    }

    #[test]
    fn reads_per_write_follow_completions() {
        let mut s = stream(Direction::Mix(Mix::ReadsPerWrite(1.5)), 4096);
        s.access = Access::Uniform;
        s.amount = Amount::Operations(10);
        let kinds: String =
            ops(&s, 1 << 20, 1, 99).iter().map(|o| if o.kind == OpKind::Read { 'R' } else { 'W' }).collect();
        assert_eq!(kinds, "RWRWRRWRWR");
    }

    #[test]
    fn syncs_come_after_every_so_many_writes() {
        let mut s = stream(Direction::Write, 4096);
        s.sync_every = Some(SyncEvery { writes: 2, data_only: true, ..SyncEvery::default() });
        let kinds: Vec<OpKind> = ops(&s, 5 * 4096, 1, 99).iter().map(|o| o.kind).collect();
        let sync = OpKind::Sync { data_only: true };
        let w = OpKind::Write;
        assert_eq!(kinds, [w, w, sync, w, w, sync, w]);
    }

    #[test]
    fn syncs_between_writes_do_not_follow_the_last() {
        let mut s = stream(Direction::Write, 4096);
        s.sync_every = Some(SyncEvery { writes: 32, between: true, ..SyncEvery::default() });
        let syncs = |s: &Stream, writes: u64| {
            let all = ops(s, writes * 4096, 1, 9999);
            all.iter().filter(|o| matches!(o.kind, OpKind::Sync { .. })).count()
        };
        assert_eq!((syncs(&s, 2048), syncs(&s, 2049)), (63, 64));
        s.sync_every = Some(SyncEvery { writes: 32, ..SyncEvery::default() });
        assert_eq!(syncs(&s, 2048), 64);
    }

    #[test]
    fn reads_and_writes_can_each_be_sequential() {
        let mut s = stream(Direction::Mix(Mix::ReadPercent(60)), 4096);
        s.access = Access::SequentialByKind;
        s.amount = Amount::Operations(500);
        let all = ops(&s, 64 * 4096, 7, 999);
        for kind in [OpKind::Read, OpKind::Write] {
            let offsets: Vec<u64> = all.iter().filter(|o| o.kind == kind).map(|o| o.offset).collect();
            let expected: Vec<u64> = (0..offsets.len() as u64).map(|i| i % 64 * 4096).collect();
            assert_eq!(offsets, expected);
        }
    }

    #[test]
    fn a_list_is_executed_as_written() {
        let mut s = stream(Direction::Read, 1);
        s.access = Access::Listed(vec![
            ListedOp { offset: 8192, bytes: 100, think: crate::Duration(5), ..ListedOp::default() },
            ListedOp { offset: 0, bytes: 4096, ..ListedOp::default() },
        ]);
        let all = ops(&s, 1 << 20, 1, 99);
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].offset, all[0].bytes, all[0].think_ns), (8192, 100, 5));
    }

    #[test]
    fn listed_operations_may_say_what_they_do_and_where() {
        let mut s = stream(Direction::Mix(Mix::ReadPercent(50)), 1);
        let op = |does, file, offset, bytes| ListedOp {
            does: Some(does),
            file,
            offset,
            bytes,
            ..ListedOp::default()
        };
        s.access = Access::Listed(vec![
            op(Does::Write, 1, 512, 100),
            op(Does::DataSync, 1, 0, 0),
            op(Does::Read, 0, 0, 7),
            op(Does::Sync, 0, 0, 0),
        ]);
        s.amount = Amount::Passes(2);
        let all = ops(&s, 1 << 20, 1, 99);
        let kinds: Vec<(OpKind, u32, u64, u32)> =
            all.iter().map(|o| (o.kind, o.file, o.offset, o.bytes)).collect();
        let pass = [
            (OpKind::Write, 1, 512, 100),
            (OpKind::Sync { data_only: true }, 1, 0, 0),
            (OpKind::Read, 0, 0, 7),
            (OpKind::Sync { data_only: false }, 0, 0, 0),
        ];
        assert_eq!(kinds, [pass, pass].concat());
    }

    fn access() -> impl Strategy<Value = Access> {
        prop_oneof![
            Just(Access::Sequential),
            Just(Access::SequentialByKind),
            Just(Access::Backward),
            Just(Access::Permuted),
            Just(Access::Uniform),
            (0.01f64..3.0).prop_map(|theta| Access::Zipf { theta }),
            (0.001f64..0.499).prop_map(|h| Access::Pareto { h }),
            (0.001f64..100.0).prop_map(|deviation_percent| Access::Normal { deviation_percent }),
            Just(Access::Zoned(vec![
                Zone { operations_percent: 90.0, region_percent: 10.0 },
                Zone { operations_percent: 10.0, region_percent: 90.0 },
            ])),
            Just(Access::Strided { step: 17 }),
            (1u64..9, any::<bool>()).prop_map(|(operations, same)| Access::Runs {
                order: Box::new(Access::Permuted),
                operations,
                same
            }),
            (1u64..9, 0u64..99_999)
                .prop_map(|(n, gap)| Access::Striped { run: Bytes(n * 4096), gap: Bytes(gap) }),
            any::<i64>().prop_map(|records| Access::Skipping { records }),
            (1u64..99, 0u64..99, 1u64..99, any::<bool>()).prop_map(|(records, gap, operations, random)| {
                Access::Strips { records, gap, operations, random }
            }),
            Just(Access::Shuffled { key: vec![1, 2] }),
        ]
    }

    proptest! {
        #[test]
        fn every_operation_lies_inside_its_region(a in access(), start in 0u64..1 << 40, length in 4096u64..1 << 22, seed in any::<u64>()) {
            let mut s = stream(Direction::Mix(Mix::ReadPercent(50)), 4096);
            s.access = a;
            s.amount = Amount::Operations(500);
            let region = Region { start, length };
            let mut o = StreamOps::new(&s, region, seed, Place::default()).unwrap();
            while let Some(op) = o.next(&Done::default()) {
                prop_assert!(op.offset >= start && op.offset + u64::from(op.bytes) <= start + length);
            }
        }

        #[test]
        fn sizes_of_a_range_stay_inside_it(seed in any::<u64>(), a in prop_oneof![Just(Access::Sequential), Just(Access::Uniform)]) {
            let mut s = stream(Direction::Read, 4096);
            s.access = a;
            s.record = Record::Between { min: Bytes(4096), max: Bytes(65536) };
            s.amount = Amount::Operations(200);
            for op in ops(&s, 1 << 20, seed, 999) {
                prop_assert!(op.bytes >= 4096 && op.bytes <= 65536 && op.bytes % 4096 == 0);
                prop_assert!(op.offset + u64::from(op.bytes) <= 1 << 20);
            }
        }

        #[test]
        fn a_pass_of_changing_sizes_comes_to_every_unit_once(
            seed in any::<u64>(),
            length in 65536u64..1 << 20,
            split in any::<bool>(),
        ) {
            let mut s = stream(Direction::Write, 4096);
            s.record = if split {
                Record::Split(vec![(Bytes(4096), 1.0), (Bytes(12288), 1.0), (Bytes(65536), 2.0)])
            } else {
                Record::Between { min: Bytes(4096), max: Bytes(65536) }
            };
            s.amount = Amount::Passes(2);
            let mut end = 0;
            let whole = length / 4096 * 4096;
            for op in ops(&s, length, seed, 9999) {
                prop_assert_eq!(op.offset, end % whole);
                prop_assert!(op.bytes > 0 && op.bytes % 4096 == 0);
                end += u64::from(op.bytes);
            }
            prop_assert_eq!(end, 2 * whole);
        }

        #[test]
        fn the_same_seed_gives_the_same_stream(a in access(), seed in any::<u64>()) {
            let mut s = stream(Direction::Mix(Mix::ReadPercent(30)), 4096);
            s.access = a;
            prop_assert_eq!(ops(&s, 1 << 20, seed, 300), ops(&s, 1 << 20, seed, 300));
        }
    }
}
