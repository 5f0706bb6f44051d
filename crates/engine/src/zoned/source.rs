//! Operations of a stream on a zoned device: those of another source, with each write moved to the write pointer of its zone and each
//! read to where something is written.

use super::table::{Placed, ZoneTable, ZoneWriter};
use fathom_workload::ops::{Done, Expected, Extent, Op, OpCode, Region, Source};
use std::time::{Duration, Instant};

/// Waits for all operations in flight, as [`OpCode::Evict`] that drops nothing.
const WAIT: Op = Op { kind: OpCode::Evict, file: 0, offset: 0, bytes: 0, think_ns: 0 };
/// A zone that other workers hold for longer is not waited for: the device says what is wrong.
const PATIENCE: Duration = Duration::from_secs(10);

/// The operations of another source on a zoned device.
pub(crate) struct ZonedOps<'a> {
    inner: Box<dyn Source + 'a>,
    table: &'a ZoneTable,
    writer: ZoneWriter,
    read_beyond: bool,
    unit: u64,
    /// A write that could not be placed yet, and since when nothing was in flight meanwhile.
    waiting: Option<(Op, Option<Instant>)>,
    in_flight: u32,
}

impl<'a> ZonedOps<'a> {
    pub(super) fn new(
        inner: Box<dyn Source + 'a>,
        table: &'a ZoneTable,
        writer: ZoneWriter,
        (read_beyond, unit): (bool, u64),
    ) -> Self {
        Self { inner, table, writer, read_beyond, unit, waiting: None, in_flight: 0 }
    }

    fn region(&self) -> Region {
        self.writer.region
    }

    /// The place of a write; `None`: it is left out.
    fn placed(&mut self, op: Op, since: Option<Instant>) -> Option<Op> {
        match self.table.place(&op, &mut self.writer) {
            Ok(Placed::At(offset)) => {
                self.in_flight += 1;
                Some(Op { offset, ..op })
            }
            Ok(Placed::Full) => None,
            Ok(Placed::Busy) if since.is_none_or(|since| since.elapsed() < PATIENCE) => {
                let idle = self.in_flight == 0;
                if idle {
                    std::thread::sleep(Duration::from_micros(50));
                }
                self.waiting = Some((op, idle.then(|| since.unwrap_or_else(Instant::now))));
                Some(WAIT)
            }
            // The zone could not be reset, or does not become free: the device refuses the write and says why.
            Ok(Placed::Busy) | Err(_) => {
                self.table.place_anyway(&op, &self.writer);
                self.in_flight += 1;
                Some(op)
            }
        }
    }
}

impl Source for ZonedOps<'_> {
    fn next(&mut self, done: &Done) -> Option<Op> {
        let mut left_out = 0;
        // Where nothing is readable or writable in the whole region, it ends.
        while left_out <= self.region().length {
            let (op, since) = match self.waiting.take() {
                Some(waiting) => waiting,
                None => (self.inner.next(done)?, None),
            };
            let moved = match op.kind {
                OpCode::Read if self.read_beyond => Some(op),
                OpCode::Read => self
                    .table
                    .readable(&op, self.region(), self.writer.random, self.unit)
                    .map(|offset| Op { offset, ..op }),
                OpCode::Write => self.placed(op, since),
                _ => Some(op),
            };
            if moved.is_some() {
                return moved;
            }
            left_out += u64::from(op.bytes);
        }
        None
    }

    fn refill(&mut self, drawn: Option<&Op>) {
        let drawn = drawn.filter(|op| op.kind != OpCode::Evict);
        self.inner.refill(drawn.or(self.waiting.as_ref().map(|(op, _)| op)));
    }

    fn completed(&mut self, op: &Op) {
        if op.kind == OpCode::Write {
            self.in_flight -= 1;
            self.table.written(op, false);
        }
        if op.kind != OpCode::Evict {
            self.inner.completed(op);
        }
    }

    fn failed(&mut self, op: &Op) {
        if op.kind == OpCode::Write {
            self.in_flight -= 1;
            self.table.written(op, true);
        }
        if op.kind != OpCode::Evict {
            self.inner.failed(op);
        }
    }

    fn expected(&self, op: &Op) -> Expected {
        self.inner.expected(op)
    }

    fn pauses(&self, op: &Op) -> bool {
        op.kind != OpCode::Evict && self.inner.pauses(op)
    }

    fn left_to_read(&mut self) -> Option<Vec<Extent>> {
        self.inner.left_to_read()
    }
}
