//! The op stream of a stream with `evict_passes`: between two passes, the page cache of its part of each file is dropped.

use super::{Done, Expected, Extent, Op, OpCode, Region, Source};
use crate::Stream;
use std::collections::VecDeque;

/// Largest operation: sizes are 32 bits, and this is a multiple of any page size.
const MOST: u64 = 1 << 30;

/// The operations of another source, with evictions before every pass but the first.
pub struct Passes<'a> {
    inner: Box<dyn Source + 'a>,
    /// One operation per part, more for large ones.
    evictions: Vec<Op>,
    /// Bytes per pass, and bytes left in this one.
    pass: u64,
    left: u64,
    /// The first operation of a pass, already drawn.
    first: Option<Op>,
    /// Evictions still to come before it.
    before: VecDeque<Op>,
}

impl<'a> Passes<'a> {
    /// `parts`: the part of each file, by file number.
    #[must_use]
    pub fn new(inner: Box<dyn Source + 'a>, stream: &Stream, parts: &[Region]) -> Self {
        let evictions = (0u32..).zip(parts).flat_map(|(file, part)| of_part(file, *part)).collect();
        let pass = bytes_of_a_pass(stream, parts);
        Self { inner, evictions, pass, left: pass, first: None, before: VecDeque::new() }
    }
}

/// Bytes of a pass over these parts.
#[must_use]
pub fn bytes_of_a_pass(stream: &Stream, parts: &[Region]) -> u64 {
    let unit = stream.record.unit().0.max(1);
    parts.iter().map(|part| part.length / unit * unit).sum::<u64>().max(1)
}

fn of_part(file: u32, part: Region) -> impl Iterator<Item = Op> {
    (0..part.length.div_ceil(MOST)).map(move |n| {
        let from = n * MOST;
        let bytes = (part.length - from).min(MOST) as u32;
        Op { kind: OpCode::Evict, file, offset: part.start + from, bytes, think_ns: 0 }
    })
}

impl Source for Passes<'_> {
    fn next(&mut self, done: &Done) -> Option<Op> {
        if let Some(op) = self.before.pop_front() {
            return Some(op);
        }
        let op = match self.first.take() {
            Some(op) => op,
            None => self.inner.next(done)?,
        };
        if !matches!(op.kind, OpCode::Read | OpCode::Write) {
            return Some(op);
        }
        if self.left == 0 {
            self.left = self.pass;
            self.first = Some(op);
            self.before.extend(&self.evictions);
            return self.next(done);
        }
        self.left = self.left.saturating_sub(u64::from(op.bytes));
        Some(op)
    }

    fn refill(&mut self, drawn: Option<&Op>) {
        let drawn = drawn.filter(|op| op.kind != OpCode::Evict);
        self.inner.refill(drawn.or(self.first.as_ref()));
    }

    fn completed(&mut self, op: &Op) {
        if op.kind != OpCode::Evict {
            self.inner.completed(op);
        }
    }

    fn failed(&mut self, op: &Op) {
        if op.kind != OpCode::Evict {
            self.inner.failed(op);
        }
    }

    fn expected(&self, op: &Op) -> Expected {
        self.inner.expected(op)
    }

    fn pauses(&self, op: &Op) -> bool {
        self.inner.pauses(op)
    }

    fn left_to_read(&mut self) -> Option<Vec<Extent>> {
        self.inner.left_to_read()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{Place, StreamOps};
    use crate::{Access, Amount, Bytes, Direction};

    fn drawn(amount: Amount, parts: &[Region]) -> Vec<Op> {
        let mut stream = Stream::new("f", Direction::Read, Bytes(4096));
        (stream.access, stream.amount) = (Access::Permuted, amount);
        let ops = StreamOps::new(&stream, parts[0], 1, Place::default()).expect("a record fits");
        let mut passes = Passes::new(Box::new(ops), &stream, parts);
        std::iter::from_fn(|| passes.next(&Done::default())).collect()
    }

    fn kinds(ops: &[Op]) -> String {
        ops.iter().map(|op| if op.kind == OpCode::Evict { 'E' } else { 'r' }).collect()
    }

    #[test]
    fn the_cache_is_evicted_between_two_passes() {
        let part = [Region { start: 8192, length: 16384 }];
        let ops = drawn(Amount::Passes(3), &part);
        assert_eq!(kinds(&ops), "rrrrErrrrErrrr");
        assert_eq!((ops[4].offset, ops[4].bytes), (8192, 16384));
        assert_eq!(kinds(&drawn(Amount::Bytes(Bytes(20480)), &part)), "rrrrEr");
        assert_eq!(kinds(&drawn(Amount::Pass, &part)), "rrrr");
    }

    #[test]
    fn each_file_goes_and_a_large_one_in_pieces() {
        let part = |length| Region { start: 0, length };
        let parts = [part(MOST + MOST / 2), part(MOST / 2)];
        let stream =
            Stream { amount: Amount::Operations(5), ..Stream::new("f", Direction::Read, Bytes(MOST / 2)) };
        let ops = StreamOps::new(&stream, part(2 * MOST), 1, Place::default()).expect("a record fits");
        let mut passes = Passes::new(Box::new(ops), &stream, &parts);
        let ops: Vec<Op> = std::iter::from_fn(|| passes.next(&Done::default())).collect();
        assert_eq!(kinds(&ops), "rrrrEEEr");
        let evicted: Vec<_> = ops[4..7].iter().map(|op| (op.file, op.offset, u64::from(op.bytes))).collect();
        assert_eq!(evicted, [(0, 0, MOST), (0, MOST, MOST / 2), (1, 0, MOST / 2)]);
    }

    #[test]
    fn a_restarted_amount_includes_the_operations_drawn() {
        let part = Region { start: 0, length: 8192 };
        let mut stream = Stream::new("f", Direction::Read, Bytes(4096));
        stream.amount = Amount::Operations(4);
        let ops = StreamOps::new(&stream, part, 1, Place::default()).expect("a record fits");
        let mut passes = Passes::new(Box::new(ops), &stream, &[part]);
        let done = Done::default();
        passes.next(&done);
        passes.next(&done);
        let evict = passes.next(&done).expect("a second pass");
        assert_eq!(evict.kind, OpCode::Evict);
        // The read behind it was already drawn and is one of the four.
        passes.refill(Some(&evict));
        let rest: Vec<Op> = std::iter::from_fn(|| passes.next(&done)).collect();
        assert_eq!(kinds(&rest), "rrErr");
    }
}
