//! Plain streams: operations of one kind and one size, in an order that needs only a few registers of state. Nearly all streams are
//! plain, and an executor can compile its loop for them: the kind is a constant, nothing is looked up per operation.
//!
//! A plain stream yields what [`StreamOps`] yields for the same stream, operation by operation; a test checks this.

use super::feistel::Feistel;
use super::order::{FOR_ORDER, below};
use super::{Done, Extent, Op, OpCode, Place, Region, StreamOps, derive_seed};
use crate::{Access, Direction, Pace, Record, Stream};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

/// What a read must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Anything: the read is not checked.
    Anything,
    /// The stream's data.
    Written,
    /// Zeros, because the block was trimmed.
    Zeros,
}

/// A source of operations for an executor.
pub trait Source {
    /// The next operation, or `None` when the amount is done. `done` counts what has been completed.
    fn next(&mut self, done: &Done) -> Option<Op>;
    /// Resets the amount; the order continues where it is. An operation that was drawn but not yet done is part of the new amount.
    fn refill(&mut self, drawn: Option<&Op>);
    /// A drawn operation has completed.
    #[inline(always)]
    fn completed(&mut self, _op: &Op) {}
    /// A drawn operation has failed and moved nothing; the stream goes on.
    #[inline(always)]
    fn failed(&mut self, op: &Op) {
        self.completed(op);
    }
    /// What a read should find, if the stream checks at all. Asked before the operation counts as done.
    #[inline(always)]
    fn expected(&self, _op: &Op) -> Expected {
        Expected::Written
    }
    /// Whether a pause may come before a drawn operation, or be counted by it. Asked before it counts as done.
    #[inline(always)]
    fn pauses(&self, _op: &Op) -> bool {
        true
    }
    /// Extents written and not yet read back, in read-back order; `None` if writes are not remembered.
    fn left_to_read(&mut self) -> Option<Vec<Extent>> {
        None
    }
}

/// For rare sources, so that the executor's loop is not compiled for each of them.
impl Source for &mut (dyn Source + '_) {
    fn next(&mut self, done: &Done) -> Option<Op> {
        (**self).next(done)
    }

    fn refill(&mut self, drawn: Option<&Op>) {
        (**self).refill(drawn);
    }

    fn completed(&mut self, op: &Op) {
        (**self).completed(op);
    }

    fn failed(&mut self, op: &Op) {
        (**self).failed(op);
    }

    fn expected(&self, op: &Op) -> Expected {
        (**self).expected(op)
    }

    fn pauses(&self, op: &Op) -> bool {
        (**self).pauses(op)
    }

    fn left_to_read(&mut self) -> Option<Vec<Extent>> {
        (**self).left_to_read()
    }
}

impl Source for StreamOps {
    #[inline]
    fn next(&mut self, done: &Done) -> Option<Op> {
        StreamOps::next(self, done)
    }

    fn refill(&mut self, drawn: Option<&Op>) {
        StreamOps::refill(self, drawn);
    }
}

/// A plain stream by its order.
#[derive(Clone)]
pub enum Plain {
    /// In ascending order.
    Sequential(PlainOps<Ascending>),
    /// Uniformly, with repeats.
    Uniform(PlainOps<Anywhere>),
    /// Each record once a pass.
    Permuted(PlainOps<OnceEach>),
}

/// The operations of a plain stream. They are all reads or all writes: the executor decides with [`PlainOps::reads`].
#[derive(Clone)]
pub struct PlainOps<O> {
    order: O,
    records: u64,
    start: u64,
    bytes: u32,
    left: u64,
    amount: u64,
}

/// Ascending order.
#[derive(Clone)]
pub struct Ascending {
    next: u64,
}

/// Any record.
#[derive(Clone)]
pub struct Anywhere {
    rng: Xoshiro256PlusPlus,
}

/// A new permutation for each pass.
#[derive(Clone)]
pub struct OnceEach {
    map: Feistel,
    at: u64,
    pass: u64,
    key: u64,
}

/// An order of records.
pub trait Draw {
    /// The next record, below `records`.
    fn draw(&mut self, records: u64) -> u64;
}

impl Draw for Ascending {
    #[inline(always)]
    fn draw(&mut self, records: u64) -> u64 {
        let record = self.next;
        self.next = if record + 1 == records { 0 } else { record + 1 };
        record
    }
}

impl Draw for Anywhere {
    #[inline(always)]
    fn draw(&mut self, records: u64) -> u64 {
        below(&mut self.rng, records)
    }
}

impl Draw for OnceEach {
    #[inline(always)]
    fn draw(&mut self, records: u64) -> u64 {
        if self.at == records {
            self.at = 0;
            self.pass += 1;
            self.map = Feistel::new(records, self.key.wrapping_add(self.pass));
        }
        self.at += 1;
        self.map.at(self.at - 1)
    }
}

impl Plain {
    /// The stream as a plain one; `None` if it is not plain.
    #[must_use]
    pub fn of(stream: &Stream, region: Region, seed: u64, place: Place) -> Option<Self> {
        let seed = stream.seed_or(seed);
        let Record::Fixed(record) = stream.record else { return None };
        let bytes = u32::try_from(record.0).ok().filter(|&b| b > 0)?;
        if !matches!(stream.direction, Direction::Read | Direction::Write)
            || stream.sync_every.is_some()
            || stream.pace != Pace::default()
            || stream.align.0 > 0
        {
            return None;
        }
        let whole = StreamOps::new(stream, region, seed, place)?;
        let records = whole.records();
        let amount = whole.remaining_operations().unwrap_or(u64::MAX);
        let key = derive_seed(seed, place, FOR_ORDER);
        macro_rules! plain {
            ($order:expr) => {
                PlainOps { order: $order, records, start: region.start, bytes, left: amount, amount }
            };
        }
        Some(match stream.access {
            Access::Sequential => Self::Sequential(plain!(Ascending { next: 0 })),
            Access::Uniform => {
                Self::Uniform(plain!(Anywhere { rng: Xoshiro256PlusPlus::seed_from_u64(key) }))
            }
            Access::Permuted => {
                let map = Feistel::new(records, key);
                Self::Permuted(plain!(OnceEach { map, at: 0, pass: 0, key }))
            }
            _ => return None,
        })
    }
}

impl<O: Draw> PlainOps<O> {
    /// As a source of reads.
    #[must_use]
    pub fn reads(self) -> Only<O, true> {
        Only(self)
    }

    /// As a source of writes.
    #[must_use]
    pub fn writes(self) -> Only<O, false> {
        Only(self)
    }
}

/// A plain stream whose kind of operation is known at compile time.
pub struct Only<O, const READ: bool>(PlainOps<O>);

impl<O: Draw, const READ: bool> Source for Only<O, READ> {
    #[inline(always)]
    fn next(&mut self, _: &Done) -> Option<Op> {
        let ops = &mut self.0;
        // An endless amount is just a huge one: it lasts for centuries.
        ops.left = ops.left.checked_sub(1)?;
        let offset = ops.start + ops.order.draw(ops.records) * u64::from(ops.bytes);
        let kind = if READ { OpCode::Read } else { OpCode::Write };
        Some(Op { kind, file: 0, offset, bytes: ops.bytes, think_ns: 0 })
    }

    fn refill(&mut self, drawn: Option<&Op>) {
        self.0.left = self.0.amount.saturating_sub(u64::from(drawn.is_some()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_of_its_own_takes_the_place_of_the_workloads() {
        let mut stream = Stream::new("f", Direction::Read, crate::Bytes(1));
        stream.access = crate::Access::Permuted;
        let region = Region { start: 0, length: 1000 };
        let drawn = |stream: &Stream, seed| {
            let mut ops = StreamOps::new(stream, region, seed, Place::default()).unwrap();
            let mut next = || ops.next(&Done::default()).unwrap().offset;
            [next(), next(), next(), next()]
        };
        let (seventh, eighth) = (drawn(&stream, 7), drawn(&stream, 8));
        assert_ne!(seventh, eighth);
        stream.seed = Some(crate::Seed(7));
        assert_eq!(drawn(&stream, 8), seventh);
    }
    use crate::{Amount, Bytes};
    use proptest::prelude::*;

    fn drawn(source: &mut impl Source, most: usize) -> Vec<Op> {
        std::iter::from_fn(|| source.next(&Done::default())).take(most).collect()
    }

    proptest! {
        #[test]
        fn a_plain_stream_yields_what_the_whole_one_does(
            access in prop::sample::select(vec![Access::Sequential, Access::Uniform, Access::Permuted]),
            amount in prop_oneof![
                Just(Amount::Pass), Just(Amount::Passes(2)), (0u64..500).prop_map(Amount::Operations),
                (0u64..99_999).prop_map(|b| Amount::Bytes(Bytes(b))), Just(Amount::Endless)
            ],
            record in 1u64..5000, start in 0u64..9000, length in 5000u64..99_999, seed: u64, read: bool,
        ) {
            let direction = if read { Direction::Read } else { Direction::Write };
            let stream = Stream { access, amount, ..Stream::new("f", direction, Bytes(record)) };
            let region = Region { start, length };
            let mut whole = StreamOps::new(&stream, region, seed, Place::default()).unwrap();
            let plain = Plain::of(&stream, region, seed, Place::default()).unwrap();
            macro_rules! both {
                ($ops:expr) => {{
                    let ops = $ops;
                    if read { let mut s = ops.reads(); let first = drawn(&mut s, 3000); s.refill(first.last()); (first, drawn(&mut s, 9)) }
                    else { let mut s = ops.writes(); let first = drawn(&mut s, 3000); s.refill(first.last()); (first, drawn(&mut s, 9)) }
                }};
            }
            let (got, again) = match plain {
                Plain::Sequential(ops) => both!(ops),
                Plain::Uniform(ops) => both!(ops),
                Plain::Permuted(ops) => both!(ops),
            };
            prop_assert_eq!(&got, &drawn(&mut whole, 3000));
            Source::refill(&mut whole, got.last());
            prop_assert_eq!(again, drawn(&mut whole, 9));
        }
    }

    #[test]
    fn streams_with_more_state_are_not_plain() {
        let region = Region { start: 0, length: 1 << 20 };
        let plain = |s: &Stream| Plain::of(s, region, 1, Place::default()).is_some();
        let stream = Stream::new("f", Direction::Read, Bytes(4096));
        assert!(plain(&stream));
        assert!(!plain(&Stream { access: Access::Backward, ..stream.clone() }));
        assert!(!plain(&Stream { direction: Direction::Mix(crate::Mix::ReadPercent(50)), ..stream.clone() }));
        assert!(!plain(&Stream { record: Record::Between { min: Bytes(1), max: Bytes(2) }, ..stream }));
    }
}
