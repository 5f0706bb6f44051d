//! The op stream of a stream that tolerates errors (`pass_over`) and needs a number of successful operations (`enough`): a failed
//! operation does not count, and another replaces it as long as the amount has any.

use super::{Done, Expected, Extent, Op, OpCode, Source, WAIT};

/// The operations of another source, until enough of them have succeeded.
pub struct UntilSucceeded<'a> {
    inner: Box<dyn Source + 'a>,
    enough: u64,
    /// Operations still to hand out, if none of those in flight fails.
    left: u64,
    /// Operations handed out whose outcome is unknown.
    in_flight: u64,
}

impl<'a> UntilSucceeded<'a> {
    /// Limits `inner` to `enough` successful operations.
    #[must_use]
    pub fn new(inner: Box<dyn Source + 'a>, enough: u64) -> Self {
        Self { inner, enough, left: enough, in_flight: 0 }
    }

    fn counts(op: &Op) -> bool {
        matches!(op.kind, OpCode::Read | OpCode::Write | OpCode::Trim)
    }

    fn known(&mut self, op: &Op, failed: bool) {
        if Self::counts(op) {
            self.in_flight = self.in_flight.saturating_sub(1);
            self.left += u64::from(failed);
        }
    }
}

impl Source for UntilSucceeded<'_> {
    fn next(&mut self, done: &Done) -> Option<Op> {
        if self.left == 0 {
            // Whether this is the end shows when all operations in flight are done.
            return (self.in_flight > 0).then_some(WAIT);
        }
        let op = self.inner.next(done)?;
        if Self::counts(&op) {
            self.left -= 1;
            self.in_flight += 1;
        }
        Some(op)
    }

    fn refill(&mut self, drawn: Option<&Op>) {
        let own = drawn.filter(|op| **op != WAIT);
        self.left = self.enough.saturating_sub(u64::from(own.is_some_and(Self::counts)));
        self.inner.refill(own);
    }

    fn completed(&mut self, op: &Op) {
        self.known(op, false);
        self.inner.completed(op);
    }

    fn failed(&mut self, op: &Op) {
        self.known(op, true);
        self.inner.failed(op);
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
    use crate::ops::{Place, Region, StreamOps};
    use crate::{Amount, Bytes, Direction, Stream};

    fn eight(enough: u64) -> UntilSucceeded<'static> {
        let mut stream = Stream::new("f", Direction::Read, Bytes(4096));
        stream.amount = Amount::Pass;
        let region = Region { start: 0, length: 8 * 4096 };
        let ops = StreamOps::new(&stream, region, 1, Place::default()).expect("a record fits");
        UntilSucceeded::new(Box::new(ops), enough)
    }

    /// Number of successful operations of eight, of which the third to the fifth fail.
    fn done(enough: u64) -> usize {
        let mut ops = eight(enough);
        let mut count = 0;
        while let Some(op) = ops.next(&Done::default()) {
            count += 1;
            if (3..=5).contains(&count) { ops.failed(&op) } else { ops.completed(&op) }
        }
        count
    }

    #[test]
    fn failed_operations_do_not_count() {
        // Counts of fio 3.42 with number_ios.
        for (enough, all) in [(1, 1), (2, 2), (3, 6), (4, 7), (5, 8), (6, 8), (100, 8)] {
            assert_eq!(done(enough), all, "{enough}");
        }
    }

    #[test]
    fn the_last_ones_in_flight_are_waited_for() {
        let mut ops = eight(2);
        let next = |ops: &mut UntilSucceeded<'_>| ops.next(&Done::default());
        let (first, second) = (next(&mut ops).unwrap(), next(&mut ops).unwrap());
        assert_eq!(next(&mut ops), Some(WAIT));
        ops.completed(&first);
        assert_eq!(next(&mut ops), Some(WAIT));
        ops.failed(&second);
        let third = next(&mut ops).unwrap();
        assert_eq!(third.offset, 8192);
        ops.completed(&third);
        assert_eq!(next(&mut ops), None);
    }

    #[test]
    fn a_warm_up_does_not_count() {
        let mut ops = eight(2);
        let first = ops.next(&Done::default()).unwrap();
        ops.completed(&first);
        let second = ops.next(&Done::default()).unwrap();
        ops.refill(Some(&second));
        ops.completed(&second);
        let third = ops.next(&Done::default()).unwrap();
        ops.completed(&third);
        assert_eq!(ops.next(&Done::default()), None);
    }
}
