//! Records of varying sizes that tile a region: each begins where no other of the pass lies and ends before the next one begins. So every
//! unit belongs to one record of a pass, whatever sizes are drawn; a bitmap with one bit per unit tracks this.

use super::order::Order;
use super::{Place, Region};
use crate::Access;

/// The tiling of a region.
pub(super) struct Tiles {
    order: Order,
    /// Bytes per unit, and number of units.
    unit: u64,
    units: u64,
    /// Bit set: the unit belongs to a record of this pass.
    taken: Vec<u64>,
    left: u64,
}

impl Tiles {
    /// Records of multiples of `unit`; `None` if the region is smaller than one unit.
    pub fn new(unit: u64, region: Region, seed: u64, place: Place) -> Option<Self> {
        Self::drawn(&Access::Permuted, unit, region, seed, place)
    }

    /// The same, in an order without passes.
    pub fn anywhere(unit: u64, region: Region, seed: u64, place: Place) -> Option<Self> {
        Self::drawn(&Access::Uniform, unit, region, seed, place)
    }

    fn drawn(access: &Access, unit: u64, region: Region, seed: u64, place: Place) -> Option<Self> {
        let units = region.length.checked_div(unit).filter(|&units| units > 0)?;
        let order = Order::new(access, units, seed, place)?;
        let words = usize::try_from(units.div_ceil(64)).ok()?;
        Some(Self { order, unit, units, taken: vec![0; words], left: units })
    }

    /// Starts over with `length` bytes, at most the initial length.
    pub fn renew(&mut self, length: u64) {
        self.units = length / self.unit;
        self.left = self.units;
        self.taken.fill(0);
    }

    /// Offset of the next record in the region, and its size: at most `size`.
    pub fn next(&mut self, size: u32) -> (u64, u32) {
        if self.left == 0 {
            self.taken.fill(0);
            self.left = self.units;
        }
        let drawn = self.order.next(self.units);
        // At least one unit is free: take the first one at or after the drawn position.
        let at = self.free_from(drawn).or_else(|| self.free_from(0)).unwrap_or(drawn);
        let wanted = u64::from(size) / self.unit;
        let mut end = at;
        while end < self.units && end - at < wanted.max(1) && !self.is_taken(end) {
            self.take(end);
            end += 1;
        }
        let bytes = (end - at) * self.unit;
        (at * self.unit, u32::try_from(bytes).unwrap_or(size))
    }

    /// The first free unit at or after `unit`.
    fn free_from(&self, unit: u64) -> Option<u64> {
        let first = (unit / 64) as usize;
        let before = (1u64 << (unit % 64)) - 1;
        let words = self.taken.iter().enumerate().skip(first);
        let found = words
            .map(|(n, word)| (n, if n == first { word | before } else { *word }))
            .find(|(_, word)| *word != u64::MAX)?;
        let free = found.0 as u64 * 64 + u64::from(found.1.trailing_ones());
        (free < self.units).then_some(free)
    }

    fn is_taken(&self, unit: u64) -> bool {
        self.taken.get((unit / 64) as usize).is_none_or(|word| word >> (unit % 64) & 1 == 1)
    }

    fn take(&mut self, unit: u64) {
        if let Some(word) = self.taken.get_mut((unit / 64) as usize) {
            *word |= 1 << (unit % 64);
            self.left = self.left.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_unit_belongs_to_one_record_of_a_pass(
            seed in any::<u64>(),
            units in 1u64..300,
            sizes in prop::collection::vec(1u32..20, 1..50),
        ) {
            let region = Region { start: 0, length: units * 512 + 100 };
            let mut tiles = Tiles::new(512, region, seed, Place::default()).unwrap();
            let mut sizes = sizes.into_iter().cycle();
            for _ in 0..3 {
                let mut found = Vec::new();
                while (found.len() as u64) < units {
                    let size = sizes.next().unwrap() * 512;
                    let (offset, bytes) = tiles.next(size);
                    prop_assert!(offset % 512 == 0 && bytes >= 512 && bytes <= size);
                    found.extend((0..u64::from(bytes) / 512).map(|n| offset / 512 + n));
                }
                found.sort_unstable();
                prop_assert_eq!(found, (0..units).collect::<Vec<_>>());
            }
        }
    }
}
