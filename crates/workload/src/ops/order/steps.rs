//! Orders that go on from where they are: with a step from the end of each record to the next, and strip by strip with gaps between them.

use crate::ops::feistel::Feistel;

/// A record, and then the one that lies a skip behind its end.
pub(in crate::ops) struct Skipping {
    skip: i128,
    next: u64,
}

impl Skipping {
    /// Begins with record 0.
    pub(super) fn new(skip: i64) -> Self {
        Self { skip: i128::from(skip), next: 0 }
    }

    /// The next record, below `n`.
    #[inline]
    pub(super) fn next(&mut self, n: u64) -> u64 {
        let record = self.next;
        let behind = i128::from(record) + 1 + self.skip;
        let begin = if self.skip < 0 { (i128::from(n) + self.skip).max(0) } else { 0 };
        let inside = (0..i128::from(n)).contains(&behind);
        self.next = u64::try_from(if inside { behind } else { begin }).unwrap_or(0);
        record
    }
}

/// Strips of records with gaps between them, one after the other.
pub(in crate::ops) struct Strips {
    records: u64,
    period: u64,
    operations: u64,
    /// Key of the permutations, if the order inside a strip is random.
    key: Option<u64>,
    strip: u64,
    done: u64,
    visits: u64,
    map: Option<Feistel>,
}

impl Strips {
    /// Strips of so many records, so far apart, with so many operations a visit.
    pub(super) fn new(records: u64, gap: u64, operations: u64, key: Option<u64>) -> Self {
        let records = records.max(1);
        Self {
            records,
            period: records.saturating_add(gap),
            operations: operations.max(1),
            key,
            strip: 0,
            done: 0,
            visits: 0,
            map: None,
        }
    }

    /// The next record, below `n`.
    #[inline]
    pub(super) fn next(&mut self, n: u64) -> u64 {
        if self.done == self.operations {
            self.done = 0;
            self.visits = self.visits.wrapping_add(1);
            self.map = None;
            self.strip = self.strip.saturating_add(self.period);
        }
        // The last strip may be cut by the end of the region.
        let held = match n.saturating_sub(self.strip) {
            0 => {
                self.strip = 0;
                self.records.min(n)
            }
            left => self.records.min(left),
        };
        let inside = match self.key {
            None => self.done % held,
            Some(key) => {
                let visits = self.visits;
                let map = self.map.get_or_insert_with(|| Feistel::new(held, key.wrapping_add(visits)));
                map.at(self.done % held)
            }
        };
        self.done += 1;
        // What a strip lacks at the end of the region is not made up for in it.
        if held < self.records && self.done.is_multiple_of(held) {
            self.done = self.operations;
        }
        self.strip + inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(count: usize, mut next: impl FnMut() -> u64) -> Vec<u64> {
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn skips_go_round_and_back() {
        let of = |skip, n, count| {
            let mut order = Skipping::new(skip);
            first(count, || order.next(n))
        };
        assert_eq!(of(1, 8, 8), [0, 2, 4, 6, 0, 2, 4, 6]);
        assert_eq!(of(3, 16, 5), [0, 4, 8, 12, 0]);
        assert_eq!(of(-2, 8, 10), [0, 6, 5, 4, 3, 2, 1, 0, 6, 5]);
        assert_eq!(of(-3, 8, 8), [0, 5, 3, 1, 5, 3, 1, 5]);
        assert_eq!(of(-4, 16, 7), [0, 12, 9, 6, 3, 0, 12]);
        assert_eq!(of(-1, 8, 3), [0, 0, 0]);
        for skip in [i64::MIN, i64::MAX] {
            assert_eq!(of(skip, 8, 3), [0, 0, 0]);
        }
    }

    #[test]
    fn strips_follow_each_other_with_gaps() {
        let of = |records, gap, operations, n, count| {
            let mut order = Strips::new(records, gap, operations, None);
            first(count, || order.next(n))
        };
        assert_eq!(of(2, 2, 2, 16, 10), [0, 1, 4, 5, 8, 9, 12, 13, 0, 1]);
        assert_eq!(of(4, 1, 2, 16, 8), [0, 1, 5, 6, 10, 11, 15, 0]);
        assert_eq!(of(2, 1, 4, 16, 9), [0, 1, 0, 1, 3, 4, 3, 4, 6]);
        assert_eq!(of(20, 0, 20, 4, 5), [0, 1, 2, 3, 0]);
    }

    #[test]
    fn a_strip_at_random_has_no_record_twice_a_visit() {
        let mut order = Strips::new(8, 8, 8, Some(5));
        let all = first(64, || order.next(64));
        for (visit, records) in all.chunks(8).enumerate() {
            let from = visit as u64 % 4 * 16;
            let mut sorted = records.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, (from..from + 8).collect::<Vec<_>>());
        }
        assert_ne!(all[..8], all[32..40], "another order the next time");
    }
}
