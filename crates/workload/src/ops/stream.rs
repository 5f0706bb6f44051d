//! The op stream of a [`Stream`]: kind, offset and size of each operation of one worker.

mod by_kind;

use self::by_kind::ByKind;
use super::order::{FOR_MIX, FOR_SHARE, FOR_SIZE, Order, below, of_preconditioning};
use super::tiles::Tiles;
use super::zones::Zones;
use super::{Place, derive_seed};
use crate::{Access, Amount, Direction, Does, ListedOp, Mix, Record, Stream};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Its kind.
    pub kind: OpCode,
    /// Which file of the set, for a stream over all of them; else 0.
    pub file: u32,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u32,
    /// Time to compute before it, ns; not part of the operation.
    pub think_ns: u64,
}

/// What an executor does next in a stream. What it has done is counted by the record's `OpKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpCode {
    /// Read a record.
    Read,
    /// Write a record.
    Write,
    /// fsync (or fdatasync).
    Sync {
        /// fdatasync instead of fsync.
        data_only: bool,
    },
    /// Trim a record; offset and bytes give the range.
    Trim,
    /// Drop the clean page cache pages of a range. It is not an operation of the program: it is neither counted nor timed. It waits for
    /// operations in flight; with 0 bytes that is all it does.
    Evict,
}

impl OpCode {
    /// Whether it is one of the stream's own operations. The others are inserted between them and run alone.
    #[must_use]
    pub fn is_data(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Trim)
    }
}

/// Completions so far; some mixes depend on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Completed reads.
    pub reads: u64,
    /// Completed writes.
    pub writes: u64,
    /// Kind that is ahead of its rate: the other kind is drawn instead.
    pub early: Option<Early>,
}

/// The kind of operations of a mix that has its own rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Early {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
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
    ByKind(Box<ByKind>),
}

impl Sizes {
    #[inline]
    fn draw(&mut self) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Between { unit, count, rng } => *unit * (below(rng, *count) as u32 + 1),
            Self::Split { cumulative, rng } => drawn(cumulative, rng),
            // A size per kind cannot contain another.
            Self::ByKind(_) => 0,
        }
    }
}

enum Positions {
    Order(Order),
    /// Sequential with varying sizes: a byte cursor.
    Cursor(u64),
    /// Sequential by kind: one byte cursor for reads and one for writes.
    Cursors {
        read: u64,
        write: u64,
    },
    /// Operations left in a run, and the record it has reached.
    Runs {
        order: Order,
        at: u64,
        left: u64,
        operations: u64,
        same: bool,
    },
    /// Records that follow the last of their kind, mixed with drawn ones.
    PartlyRandom(Box<PartlyRandom>),
    Striped(Stripes),
    Tiles(Tiles),
    Zones(Box<Zones>),
    /// Stripes for each kind.
    StripedByKind {
        read: Stripes,
        write: Stripes,
    },
    List {
        list: Vec<ListedOp>,
        at: usize,
    },
}

/// A byte cursor for reads and one for writes, and the percentage of each that is drawn.
struct PartlyRandom {
    order: Order,
    percent: [u8; 2],
    cursors: [u64; 2],
    rng: Xoshiro256PlusPlus,
}

impl PartlyRandom {
    /// The position of the next operation of a kind, if it is drawn.
    fn draws(&mut self, kind: usize, places: u64) -> Option<u64> {
        (below(&mut self.rng, 100) < u64::from(self.percent[kind])).then(|| self.order.next(places))
    }
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
    source: Positions,
    sizes: Sizes,
    records: u64,
    unit: u64,
    /// Alignment of drawn offsets, and the number of such offsets.
    step: u64,
    places: u64,
    region: Region,
    direction: Direction,
    /// The write that follows a trim.
    paired: Option<Op>,
    mix: Xoshiro256PlusPlus,
    /// Operations handed out so far.
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
    /// The stream of the worker at `place`, over `region`; `None` if not even one record fits into the region.
    #[must_use]
    pub fn new(stream: &Stream, region: Region, seed: u64, place: Place) -> Option<Self> {
        let seed = stream.seed_or(seed);
        let unit = stream.record.unit().0.max(1);
        let largest = stream.record.largest().0.max(1);
        let listed = matches!(stream.access, Access::Listed(_));
        if region.length < stream.least_region().0 && !listed {
            return None;
        }
        // Offsets are multiples of the unit at which the largest record still fits.
        let records = if listed { 1 } else { region.length.saturating_sub(largest) / unit + 1 };
        // Another alignment does not change the bytes of a pass.
        let step = if stream.align.0 == 0 { unit } else { stream.align.0 };
        let places = match by_kind::places(&stream.record, region.length) {
            _ if listed => 1,
            Some(places) => places,
            None => region.length.saturating_sub(largest) / step + 1,
        };
        let sizes = sizes_of(&stream.record, FOR_SIZE, seed, place)?;
        let source = match (&stream.access, &sizes) {
            (Access::Listed(list), _) => Positions::List { list: list.clone(), at: 0 },
            (Access::Sequential, Sizes::Between { .. } | Sizes::Split { .. } | Sizes::ByKind(_)) => {
                Positions::Cursor(0)
            }
            (Access::Runs { order, operations, same }, _) => Positions::Runs {
                order: Order::new(order, records, seed, place)?,
                at: 0,
                left: 0,
                operations: *operations,
                same: *same,
            },
            (Access::Striped { run, gap, by_kind }, _) => {
                let stripes = || Stripes::new(largest, run.0, gap.0, region.length);
                if *by_kind {
                    Positions::StripedByKind { read: stripes()?, write: stripes()? }
                } else {
                    Positions::Striped(stripes()?)
                }
            }
            (Access::ZonesInTurn { range, gap, moved, inside }, _) => {
                let zone = (range.0, gap.0, moved.0);
                Positions::Zones(Box::new(Zones::new(zone, unit, region.length, inside, (seed, place))?))
            }
            (Access::PartlyRandom { order, reads_percent, writes_percent }, _) => {
                Positions::PartlyRandom(Box::new(PartlyRandom {
                    order: Order::new(order, places, seed, place)?,
                    percent: [*reads_percent, *writes_percent],
                    cursors: [0; 2],
                    rng: Xoshiro256PlusPlus::seed_from_u64(derive_seed(seed, place, FOR_SHARE)),
                }))
            }
            (Access::SequentialByKind, _) => Positions::Cursors { read: 0, write: 0 },
            _ if stream.fills() => Positions::Tiles(Tiles::new(unit, region, seed, place)?),
            (access, _) => Positions::Order(Order::new(access, places, seed, place)?),
        };
        let one_pass = match &stream.access {
            Access::Listed(list) => Left::Operations(list.len() as u64),
            Access::Preconditioning { spare, rounds, apart } => {
                Left::Operations(of_preconditioning(places, *spare, *rounds, *apart)?)
            }
            _ if matches!(sizes, Sizes::Fixed(_)) => Left::Operations(records),
            // A remainder smaller than a unit is never touched.
            Access::Sequential | Access::SequentialByKind => Left::Bytes(region.length / unit * unit),
            _ if stream.fills() => Left::Bytes(region.length / unit * unit),
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
            paired: None,
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

    /// Resets the amount, as after a warm-up; the order continues where it is. An operation already drawn but not yet done is part of the
    /// new amount.
    pub fn refill(&mut self, drawn: Option<&Op>) {
        self.left = self.amount;
        let counts = |kind: OpCode| match kind {
            OpCode::Sync { .. } | OpCode::Evict => false,
            // It was counted with its trim, which belongs to the old amount.
            OpCode::Write => self.direction != Direction::TrimWrite,
            OpCode::Read | OpCode::Trim => true,
        };
        if let Some(op) = drawn.filter(|op| counts(op.kind)) {
            match &mut self.left {
                Left::Operations(n) => *n = n.saturating_sub(1),
                Left::Bytes(b) => *b = b.saturating_sub(u64::from(op.bytes)),
                Left::Endless => {}
            }
        }
    }

    /// Whether only a sync may be left.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.paired.is_none() && matches!(self.left, Left::Operations(0) | Left::Bytes(0))
    }

    /// Number of whole records in the region.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Operations still to come, without syncs; `None` if unknown.
    #[must_use]
    pub fn remaining_operations(&self) -> Option<u64> {
        let records = self.remaining_records()?;
        Some(match self.direction {
            Direction::TrimWrite => {
                records.saturating_mul(2).saturating_add(u64::from(self.paired.is_some()))
            }
            _ => records,
        })
    }

    fn remaining_records(&self) -> Option<u64> {
        match (&self.left, &self.sizes, &self.source) {
            (Left::Operations(n), ..) => Some(*n),
            (Left::Bytes(_), _, Positions::List { .. }) => None,
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
                kind: OpCode::Sync { data_only: self.data_only },
                offset: 0,
                bytes: 0,
                think_ns: 0,
            });
        }
        if done_with_it {
            return None;
        }
        if let Some(write) = self.paired.take() {
            self.count_write();
            return Some(write);
        }
        if let Positions::List { list, at } = &mut self.source {
            let op = list.get(*at).copied()?;
            *at = if *at + 1 == list.len() { 0 } else { *at + 1 };
            return Some(self.listed(&op, done));
        }
        // Each kind has its own random numbers, so neither depends on which is drawn first.
        let read = self.next_is_read(done);
        let (offset, bytes, think_ns) = self.next_extent(read);
        match &mut self.left {
            Left::Operations(n) => *n -= 1,
            Left::Bytes(b) => *b = b.saturating_sub(u64::from(bytes)),
            Left::Endless => {}
        }
        let kind = if read {
            OpCode::Read
        } else if self.direction.trims() {
            if self.direction == Direction::TrimWrite {
                self.paired = Some(Op { kind: OpCode::Write, file: 0, offset, bytes, think_ns: 0 });
            }
            OpCode::Trim
        } else {
            self.count_write();
            OpCode::Write
        };
        Some(Op { kind, file: 0, offset, bytes, think_ns })
    }

    /// The write of the last trimmed record, if it is still to come.
    pub(super) fn take_paired(&mut self) -> Option<Op> {
        self.paired.take()
    }

    #[inline]
    fn count_write(&mut self) {
        if self.sync_after > 0 {
            self.writes_until_sync -= 1;
        }
    }

    #[inline]
    fn next_extent(&mut self, read_next: bool) -> (u64, u32, u64) {
        if let Sizes::ByKind(_) = self.sizes {
            return self.extent_by_kind(read_next);
        }
        let size = self.sizes.draw();
        match &mut self.source {
            Positions::Order(order) => (self.region.start + order.next(self.places) * self.step, size, 0),
            Positions::Runs { order, at, left, operations, same } => {
                if *left > 0 && (*same || *at + 1 < self.records) {
                    *left -= 1;
                    *at += u64::from(!*same);
                } else {
                    *at = order.next(self.records);
                    *left = operations.saturating_sub(1);
                }
                (self.region.start + *at * self.unit, size, 0)
            }
            Positions::PartlyRandom(partly) => {
                let kind = usize::from(!read_next);
                let (offset, size) = match partly.draws(kind, self.places) {
                    Some(n) => {
                        let offset = n * self.step;
                        partly.cursors[kind] = offset + u64::from(size);
                        (offset, size)
                    }
                    None => advance(
                        &mut partly.cursors[kind],
                        (size, &mut self.sizes),
                        self.unit,
                        self.region.length,
                    ),
                };
                (self.region.start + offset, size, 0)
            }
            Positions::Tiles(tiles) => {
                let (offset, size) = tiles.next(size);
                (self.region.start + offset, size, 0)
            }
            Positions::Zones(zones) => {
                let (offset, size) = zones.next(usize::from(!read_next), size);
                (self.region.start + offset, size, 0)
            }
            Positions::Striped(stripes) => (self.region.start + stripes.next(size.into()), size, 0),
            Positions::StripedByKind { read, write } => {
                let stripes = if read_next { read } else { write };
                (self.region.start + stripes.next(size.into()), size, 0)
            }
            Positions::Cursor(at) => {
                let (offset, size) = advance(at, (size, &mut self.sizes), self.unit, self.region.length);
                (self.region.start + offset, size, 0)
            }
            Positions::Cursors { read, write } => {
                let at = if read_next { read } else { write };
                let (offset, size) = advance(at, (size, &mut self.sizes), self.unit, self.region.length);
                (self.region.start + offset, size, 0)
            }
            // Listed operations are handed out before anything is drawn.
            Positions::List { .. } => (0, size, 0),
        }
    }

    fn listed(&mut self, op: &ListedOp, done: &Done) -> Op {
        let kind = match op.does {
            Some(Does::Read) => OpCode::Read,
            Some(Does::Write) => OpCode::Write,
            Some(Does::Sync) => OpCode::Sync { data_only: false },
            Some(Does::DataSync) => OpCode::Sync { data_only: true },
            Some(Does::Trim) => OpCode::Trim,
            None if self.next_is_read(done) => OpCode::Read,
            None if self.direction == Direction::Trim => OpCode::Trim,
            None => OpCode::Write,
        };
        let bytes = if matches!(kind, OpCode::Sync { .. }) { 0 } else { op.bytes };
        match &mut self.left {
            Left::Operations(n) => *n -= 1,
            Left::Bytes(b) => *b = b.saturating_sub(u64::from(bytes)),
            Left::Endless => {}
        }
        if kind == OpCode::Write {
            self.count_write();
        }
        Op { kind, file: op.file, offset: op.offset, bytes, think_ns: op.think.0 }
    }

    #[inline]
    fn next_is_read(&mut self, done: &Done) -> bool {
        match self.direction {
            Direction::Read => true,
            Direction::Write | Direction::Trim | Direction::TrimWrite => false,
            Direction::Mix(_) if done.early.is_some() => done.early == Some(Early::Writes),
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

/// Sizes drawn for the last position of a pass before the smallest is taken.
const MOST_DRAWN: u32 = 64;

/// Offset and length of a record drawn with `size`. If it would cross the end, other sizes are drawn, and the next record wraps around.
/// The cursor moves past the record.
fn advance(at: &mut u64, (mut size, sizes): (u32, &mut Sizes), unit: u64, length: u64) -> (u64, u32) {
    let left = |at: u64| length.saturating_sub(at) / unit * unit;
    if left(*at) == 0 {
        *at = 0;
    }
    let offset = *at;
    let left = u32::try_from(left(offset)).unwrap_or(u32::MAX);
    let mut drawn = 0;
    while size > left && drawn < MOST_DRAWN {
        size = sizes.draw();
        drawn += 1;
    }
    if size > left {
        // The smallest size always fits.
        size = u32::try_from(unit).unwrap_or(left).min(left);
    }
    *at += u64::from(size);
    (offset, size)
}

fn sizes_of(record: &Record, purpose: u64, seed: u64, place: Place) -> Option<Sizes> {
    let rng = || Box::new(Xoshiro256PlusPlus::seed_from_u64(derive_seed(seed, place, purpose)));
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
        Record::ByKind { read, write } => Sizes::ByKind(Box::new(ByKind::new(read, write, seed, place)?)),
    })
}

fn drawn(cumulative: &[(f64, u32)], rng: &mut Xoshiro256PlusPlus) -> u32 {
    let u = below(rng, 1 << 53) as f64 / (1u64 << 53) as f64;
    cumulative.iter().find(|c| u < c.0).or(cumulative.last()).map_or(0, |c| c.1)
}

#[cfg(test)]
mod tests;
