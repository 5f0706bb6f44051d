//! Tracks the ranges in flight, so that no operation starts on bytes that another is still working on. A list, since it holds at
//! most queue-depth entries; it stays empty for streams that do not request this.

use fathom_workload::ops::{Op, OpCode};

/// Ranges in flight of a stream whose operations must not overlap.
#[derive(Default)]
pub(super) struct BusyRanges(Vec<Span>);

struct Span {
    number: u32,
    file: u32,
    begin: u64,
    end: u64,
}

impl Span {
    fn of(number: u32, op: &Op) -> Self {
        let end = op.offset.saturating_add(u64::from(op.bytes));
        Self { number, file: op.file, begin: op.offset, end }
    }
}

impl BusyRanges {
    /// Whether an operation overlaps one in flight.
    pub fn overlaps(&self, op: &Op) -> bool {
        let new = Span::of(0, op);
        self.0.iter().any(|old| old.file == new.file && old.begin < new.end && new.begin < old.end)
    }

    /// Adds an operation by its number among those in flight. A sync has no range.
    pub fn begins(&mut self, number: u32, op: &Op) {
        if !matches!(op.kind, OpCode::Sync { .. }) {
            self.0.push(Span::of(number, op));
        }
    }

    /// Removes the operation with this number.
    pub fn ends(&mut self, number: u32) {
        if let Some(at) = self.0.iter().position(|span| span.number == number) {
            self.0.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_overlaps_waits_until_the_other_is_done() {
        let op = |file, offset, bytes| Op { kind: OpCode::Write, file, offset, bytes, think_ns: 0 };
        let mut busy = BusyRanges::default();
        assert!(!busy.overlaps(&op(0, 0, 4096)));
        busy.begins(3, &op(0, 4096, 8192));
        busy.begins(5, &op(1, 0, 4096));
        for (file, offset, bytes, overlaps) in [
            (0, 0, 4096, false),
            (0, 0, 4097, true),
            (0, 12287, 1, true),
            (0, 12288, 4096, false),
            (1, 0, 1, true),
        ] {
            assert_eq!(busy.overlaps(&op(file, offset, bytes)), overlaps, "{file} {offset} {bytes}");
        }
        busy.ends(3);
        assert!(!busy.overlaps(&op(0, 4096, 8192)) && busy.overlaps(&op(1, 0, 4096)));
        busy.begins(3, &Op { kind: OpCode::Sync { data_only: false }, ..op(0, 0, 0) });
        assert_eq!(busy.0.len(), 1);
    }
}
