//! The same few records over and over, optionally advanced by a fixed number of records each round.

/// Position in a cycle.
pub(in crate::ops) struct Cycle {
    records: Vec<u64>,
    highest: u64,
    at: usize,
    base: u64,
    /// Added to the numbers each round.
    step: u64,
}

impl Cycle {
    /// `None` if the cycle is empty.
    pub(super) fn new(records: &[u64], advancing: bool) -> Option<Self> {
        let highest = *records.iter().max()?;
        let step = if advancing { records.len() as u64 } else { 0 };
        Some(Self { records: records.to_vec(), highest, at: 0, base: 0, step })
    }

    /// The next record, below `n`.
    #[inline]
    pub(super) fn next(&mut self, n: u64) -> u64 {
        let record = self.base.wrapping_add(self.records[self.at]) % n;
        self.at += 1;
        if self.at == self.records.len() {
            self.at = 0;
            self.base = self.base.saturating_add(self.step);
            if self.base.saturating_add(self.highest) >= n {
                self.base = 0;
            }
        }
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(records: &[u64], advancing: bool, n: u64, count: usize) -> Vec<u64> {
        let mut cycle = Cycle::new(records, advancing).unwrap();
        (0..count).map(|_| cycle.next(n)).collect()
    }

    #[test]
    fn it_comes_again_or_further_on() {
        assert_eq!(first(&[2, 0, 1], false, 12, 7), [2, 0, 1, 2, 0, 1, 2]);
        assert_eq!(first(&[2, 0, 1], true, 12, 13), [2, 0, 1, 5, 3, 4, 8, 6, 7, 11, 9, 10, 2]);
        assert_eq!(first(&[2, 0, 1], true, 7, 7), [2, 0, 1, 5, 3, 4, 2]);
        assert_eq!(first(&[9], true, 7, 2), [2, 2]);
        assert!(Cycle::new(&[], true).is_none());
    }
}
