//! Exact request sizes, counted as events pass. Sizes are multiples of 512 bytes, and reads and writes seldom exceed a few MiB,
//! so a table by sectors covers nearly all; discards are larger and rarer and go into a map.

use super::super::activity::SizeCount;
use super::super::event::SECTOR_BYTES;
use std::collections::BTreeMap;

/// Largest size in the table, in sectors: 4 MiB.
const TABLE_SECTORS: usize = 8192;
/// Maximum number of distinct sizes above that.
const LARGE_MAX: usize = 4096;

/// Counts by size in sectors.
#[derive(Default)]
pub(super) struct Sizes {
    table: Vec<u64>,
    large: BTreeMap<u32, u64>,
}

impl Sizes {
    /// Counts a request of this size; empty ones are ignored.
    #[inline]
    pub(super) fn add(&mut self, sectors: u32) {
        let n = sectors as usize;
        if let Some(count) = self.table.get_mut(n) {
            *count += 1;
        } else if n <= TABLE_SECTORS {
            self.table.resize((n + 1).next_power_of_two().min(TABLE_SECTORS + 1), 0);
            self.table[n] += 1;
        } else {
            self.add_large(sectors);
        }
    }

    /// Once there are too many distinct sizes, a new one counts as the power of two below it. Only a trace made for the purpose
    /// gets there.
    fn add_large(&mut self, sectors: u32) {
        let known = self.large.len() < LARGE_MAX || self.large.contains_key(&sectors);
        let key = if known { sectors } else { 1 << sectors.ilog2() };
        *self.large.entry(key).or_default() += 1;
    }

    /// Removes a request of this size that has grown.
    pub(super) fn remove(&mut self, sectors: u32) {
        let count = self.table.get_mut(sectors as usize).or_else(|| self.large.get_mut(&sectors));
        if let Some(count) = count {
            *count = count.saturating_sub(1);
        }
    }

    /// Sizes and their counts, ascending.
    pub(super) fn counts(&self) -> Vec<SizeCount> {
        let table = (0u64..).zip(self.table.iter().copied()).skip(1);
        let large = self.large.iter().map(|(&sectors, &count)| (u64::from(sectors), count));
        let all = table.chain(large).filter(|&(_, count)| count > 0);
        all.map(|(sectors, count)| SizeCount { bytes: sectors * SECTOR_BYTES, count }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_exact_until_there_are_too_many() {
        let mut sizes = Sizes::default();
        for sectors in [8, 1, 8192, 8193, 8, 0, u32::MAX, 8193] {
            sizes.add(sectors);
        }
        sizes.remove(1);
        let got: Vec<_> = sizes.counts().iter().map(|s| (s.bytes, s.count)).collect();
        assert_eq!(got, [(4096, 2), (4_194_304, 1), (4_194_816, 2), (u64::from(u32::MAX) * 512, 1)]);
        for odd in 0..100_000 {
            sizes.add(1_000_000 + odd);
        }
        let counts = sizes.counts();
        assert!(counts.len() <= LARGE_MAX + 40, "{}", counts.len());
        assert_eq!(counts.iter().map(|s| s.count).sum::<u64>(), 100_006);
    }
}
