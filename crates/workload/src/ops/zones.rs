//! Zones one after the other: a zone is left once a given number of bytes were moved in it.

use super::order::{FOR_SHARE, Order, below};
use super::tiles::Tiles;
use super::{Place, Region, derive_seed};
use crate::Access;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

/// Position in the region, in bytes from its start.
pub(super) struct Zones {
    range: u64,
    period: u64,
    moved: u64,
    unit: u64,
    length: u64,
    start: u64,
    done: u64,
    /// Offsets in the zone of the next sequential read and write.
    cursors: [u64; 2],
    drawn: Option<Drawn>,
}

/// The operations that are drawn rather than sequential.
struct Drawn {
    places: Places,
    /// Percentage of the reads and of the writes that are drawn.
    percent: [u8; 2],
    rng: Xoshiro256PlusPlus,
}

enum Places {
    /// Any place not yet used on this visit.
    OnceEach(Tiles),
    /// Over this number of units.
    WithRepeats(Order, u64),
}

impl Drawn {
    /// `None` if a zone is smaller than a unit; `Some(None)` if nothing is drawn.
    fn new(inside: &Access, unit: u64, zone: Region, seed: u64, place: Place) -> Option<Option<Self>> {
        let (order, percent) = match inside {
            Access::Sequential => return Some(None),
            Access::PartlyRandom { order, reads_percent, writes_percent } => {
                (&**order, [*reads_percent, *writes_percent])
            }
            order => (order, [100; 2]),
        };
        let units = zone.length.checked_div(unit).filter(|&units| units > 0)?;
        let places = match order {
            Access::Permuted => Places::OnceEach(Tiles::anywhere(unit, zone, seed, place)?),
            order => Places::WithRepeats(Order::new(order, units, seed, place)?, units),
        };
        let rng = Xoshiro256PlusPlus::seed_from_u64(derive_seed(seed, place, FOR_SHARE));
        Some(Some(Self { places, percent, rng }))
    }

    /// Whether the next operation of a kind is drawn.
    fn draws(&mut self, kind: usize) -> bool {
        self.percent[kind] >= 100 || below(&mut self.rng, 100) < u64::from(self.percent[kind])
    }
}

impl Zones {
    /// Zones of `range` bytes with `gap` bytes between them. `None` if a zone is empty, or smaller than a unit where offsets are drawn.
    pub fn new(
        (range, gap, moved): (u64, u64, u64),
        unit: u64,
        length: u64,
        inside: &Access,
        (seed, place): (u64, Place),
    ) -> Option<Self> {
        let zone = Region { start: 0, length: range.min(length) };
        let drawn = Drawn::new(inside, unit, zone, seed, place)?;
        let period = range.checked_add(gap)?;
        (range > 0 && moved > 0).then_some(Self {
            range,
            period,
            moved,
            unit,
            length,
            start: 0,
            done: 0,
            cursors: [0; 2],
            drawn,
        })
    }

    /// Offset of the next record to read or write (kind 0 or 1), and its size: at most `size`.
    pub fn next(&mut self, kind: usize, size: u32) -> (u64, u32) {
        if self.done >= self.moved {
            self.enter(self.start.saturating_add(self.period));
        }
        let is_drawn = self.drawn.as_mut().is_some_and(|drawn| drawn.draws(kind));
        if self.left(kind, is_drawn) == 0 {
            self.enter(0);
        }
        if self.cursors[kind] >= self.range {
            self.cursors[kind] = 0;
        }
        let left = self.left(kind, is_drawn);
        let most = |offset: u64| u32::try_from(left - offset).unwrap_or(u32::MAX);
        let (inside, size) = match self.drawn.as_mut().filter(|_| is_drawn).map(|drawn| &mut drawn.places) {
            None => (self.cursors[kind], size.min(most(0))),
            Some(Places::WithRepeats(order, units)) => {
                let offset = order.next(*units) * self.unit;
                (offset, size.min(most(offset)))
            }
            Some(Places::OnceEach(tiles)) => {
                let (offset, free) = tiles.next(size);
                // A record is cut short at data used on this visit and at the end of the region, but not at the end of the zone.
                let ends_zone = offset + u64::from(free) == self.range.min(left) / self.unit * self.unit;
                (offset, if ends_zone { size.min(most(offset)) } else { free })
            }
        };
        self.cursors[kind] = inside + u64::from(size);
        self.done += u64::from(size);
        (self.start + inside, size)
    }

    /// Bytes from the next offset to the end of the region, in whole units. The last zone may be cut short by the end when sequential.
    fn left(&self, kind: usize, is_drawn: bool) -> u64 {
        let from = match is_drawn {
            false => self.start.saturating_add(self.cursors[kind] % self.range),
            true if self.start.saturating_add(self.range) > self.length && self.start > 0 => return 0,
            true => self.start,
        };
        self.length.saturating_sub(from) / self.unit * self.unit
    }

    fn enter(&mut self, start: u64) {
        (self.start, self.done, self.cursors) = (start, 0, [0; 2]);
        if let Some(Drawn { places: Places::OnceEach(tiles), .. }) = &mut self.drawn {
            tiles.renew(self.length.min(self.range));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_at_random_may_end_beyond_the_zone() {
        // As fio 3.42: bsrange=4k-16k, zonesize=16k, zoneskip=16k.
        let mut order = zones(16, 16, 16, 4, 64, true);
        let found: Vec<(u64, u32)> = (0..200).map(|_| order.next(0, 12 << 10)).collect();
        assert!(found.iter().any(|(offset, size)| offset % (32 << 10) == 12 << 10 && *size == 12 << 10));
        assert!(found.iter().all(|(offset, size)| offset % (32 << 10) < 16 << 10 && offset + u64::from(*size) <= 64 << 10));
        // Data used on this visit are not used again.
        for pair in found.windows(2).filter(|pair| pair[0].0 >> 15 == pair[1].0 >> 15) {
            let [(first, size), (second, next)] = pair else { continue };
            assert!(first + u64::from(*size) <= *second || second + u64::from(*next) <= *first, "{pair:?}");
        }
    }

    /// Offsets in KiB of `count` records.
    fn places(zones: &mut Zones, count: usize, size: u32) -> Vec<u64> {
        (0..count).map(|_| zones.next(0, size << 10).0 >> 10).collect()
    }

    fn zones(range: u64, gap: u64, moved: u64, unit: u64, length: u64, random: bool) -> Zones {
        let [range, gap, moved, unit, length] = [range, gap, moved, unit, length].map(|kib| kib << 10);
        let inside = if random { Access::Permuted } else { Access::Sequential };
        Zones::new((range, gap, moved), unit, length, &inside, (1, Place::default())).unwrap()
    }

    #[test]
    fn inside_a_zone_places_are_drawn_from_any_distribution() {
        let zone = |operations_percent, region_percent| crate::Zone { operations_percent, region_percent };
        let mostly_first = Access::Zoned(vec![zone(90.0, 25.0), zone(10.0, 75.0)]);
        let of = |inside: &Access| {
            let [range, gap, moved, unit, length] = [16u64, 16, 16, 4, 64].map(|kib| kib << 10);
            let mut zones =
                Zones::new((range, gap, moved), unit, length, inside, (1, Place::default())).unwrap();
            places(&mut zones, 400, 4)
        };
        let found = of(&mostly_first);
        assert!(found.chunks(4).enumerate().all(|(n, visit)| visit.iter().all(|at| at / 32 == n as u64 % 2)));
        let first = found.iter().filter(|at| *at % 32 == 0).count();
        assert!((330..390).contains(&first) && found.iter().all(|at| at % 32 < 16), "{first}");
        // Sequential after the last one, wrapping around in the zone, except for the half that is drawn.
        let partly = |order, percent| Access::PartlyRandom {
            order: Box::new(order),
            reads_percent: percent,
            writes_percent: percent,
        };
        assert_eq!(of(&partly(Access::Permuted, 0))[..9], [0, 4, 8, 12, 32, 36, 40, 44, 0]);
        let found = of(&partly(Access::Uniform, 50));
        let follows =
            found.chunks(4).flat_map(|visit| visit.windows(2)).filter(|w| w[1] % 32 == (w[0] + 4) % 32 % 16);
        // Half of them, and a quarter of the others.
        assert!((170..205).contains(&follows.count()));
    }

    #[test]
    fn a_zone_is_left_when_enough_was_moved() {
        // As fio 3.42: bs=3k, zonesize=16k, zoneskip=16k.
        let mut order = zones(16, 16, 16, 3, 128, false);
        assert_eq!(places(&mut order, 8, 3), [0, 3, 6, 9, 12, 15, 32, 35]);
        assert_eq!(places(&mut order, 18, 3)[15..], [111, 0, 3]);
    }

    #[test]
    fn reads_and_writes_each_begin_with_the_zone() {
        let mut order = zones(16, 16, 16, 4, 128, false);
        let kinds = [0, 0, 0, 1, 0, 0, 1, 1, 1];
        let found = kinds.map(|kind| order.next(kind, 4096).0 >> 10);
        assert_eq!(found, [0, 4, 8, 0, 32, 36, 32, 36, 64]);
    }

    #[test]
    fn no_place_comes_twice_on_a_visit() {
        let mut order = zones(32, 16, 16, 4, 100, true);
        let mut found = places(&mut order, 8, 4);
        found[..4].sort_unstable();
        found[4..].sort_unstable();
        assert!(found[..4].windows(2).all(|w| w[0] < w[1]) && found[3] < 32, "{found:?}");
        assert!(found[4..].windows(2).all(|w| w[0] < w[1]) && found[4] >= 48 && found[7] < 80, "{found:?}");
        // No whole zone is left.
        assert!(places(&mut order, 1, 4)[0] < 32);
    }
}
