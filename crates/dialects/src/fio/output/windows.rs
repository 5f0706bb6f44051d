//! A worker's activity in windows of one width, from its interval series, which is as fine as the finest request.

use fathom_record::{OpKind, Worker};
use std::collections::BTreeMap;

/// One window of a worker, or of several combined.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// Its length in ns; the last one may be shorter.
    pub width_ns: u64,
    /// Operations, bytes and the sum of latencies of each kind.
    moved: Vec<(OpKind, [u64; 3])>,
}

impl Window {
    /// Operations, bytes and the sum of latencies of a kind.
    #[must_use]
    pub fn of(&self, kind: OpKind) -> [u64; 3] {
        self.moved.iter().find(|m| m.0 == kind).map_or([0; 3], |m| m.1)
    }

    fn add(&mut self, kind: OpKind, more: [u64; 3]) {
        let at = self.moved.iter().position(|m| m.0 == kind).unwrap_or_else(|| {
            self.moved.push((kind, [0; 3]));
            self.moved.len() - 1
        });
        self.moved[at].1.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }

    /// Adds another worker's activity in the same window.
    pub fn join(&mut self, other: &Self) {
        self.width_ns = self.width_ns.max(other.width_ns);
        other.moved.iter().for_each(|(kind, more)| self.add(*kind, *more));
    }
}

/// The windows of a worker by number.
#[must_use]
pub fn of(worker: &Worker, width_ns: u64) -> BTreeMap<u64, Window> {
    let mut windows: BTreeMap<u64, Window> = BTreeMap::new();
    let begin_ns = worker.intervals.first().map_or(0, |first| first.end_ns.saturating_sub(first.width_ns));
    for interval in &worker.intervals {
        // Intervals end slightly late, so the middle determines the window.
        let middle_ns = interval.end_ns.saturating_sub(begin_ns).saturating_sub(interval.width_ns / 2);
        let window = windows.entry(middle_ns / width_ns.max(1)).or_default();
        window.width_ns += interval.width_ns;
        for moved in &interval.moved {
            window.add(moved.op, [moved.ops, moved.bytes, moved.sum_ns]);
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::{OpTotal, WorkerInterval};

    #[test]
    fn intervals_belong_where_their_middle_lies() {
        let interval = |end_ms: u64, width_ms: u64, ops: u64| WorkerInterval {
            end_ns: end_ms * 1_000_000,
            width_ns: width_ms * 1_000_000,
            moved: vec![OpTotal { op: OpKind::Read, ops, bytes: ops * 512, sum_ns: ops * 7 }],
        };
        let intervals = vec![
            interval(1101, 101, 1),
            interval(1200, 99, 2),
            interval(1302, 102, 4),
            interval(1350, 48, 8),
        ];
        let worker = Worker { intervals, ..Worker::default() };
        let found = of(&worker, 200_000_000);
        let read: Vec<(u64, u64, [u64; 3])> =
            found.iter().map(|(n, w)| (*n, w.width_ns / 1_000_000, w.of(OpKind::Read))).collect();
        assert_eq!(read, [(0, 200, [3, 1536, 21]), (1, 150, [12, 6144, 84])]);
        assert_eq!(found[&0].of(OpKind::Write), [0; 3]);
    }
}
