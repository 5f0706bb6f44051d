//! An order with a step from the end of each record to the next.

/// A record, then the one `skip` records after its end.
pub(in crate::ops) struct Skipping {
    skip: i128,
    next: u64,
}

impl Skipping {
    /// Starts at record 0.
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
}
