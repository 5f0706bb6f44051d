//! Zones one after the other: a zone is left when so many bytes were moved in it.

use super::tiles::Tiles;
use super::{Place, Region};

/// Where it is, in bytes from the start of the region.
pub(super) struct Zones {
    range: u64,
    period: u64,
    moved: u64,
    unit: u64,
    length: u64,
    start: u64,
    done: u64,
    inside: Inside,
}

/// The order inside a zone.
enum Inside {
    /// A cursor of the reads and one of the writes.
    InOrder([u64; 2]),
    /// Anywhere that nothing was on this visit.
    Random(Tiles),
}

impl Zones {
    /// Zones of `range` bytes with `gap` bytes between them. `None` if a zone has nothing, or no room for a unit at random.
    pub fn new(
        (range, gap, moved): (u64, u64, u64),
        unit: u64,
        length: u64,
        random: Option<(u64, Place)>,
    ) -> Option<Self> {
        let inside = match random {
            None => Inside::InOrder([0; 2]),
            Some((seed, place)) => {
                let zone = Region { start: 0, length: range.min(length) };
                Inside::Random(Tiles::anywhere(unit, zone, seed, place)?)
            }
        };
        let period = range.checked_add(gap)?;
        (range > 0 && moved > 0).then_some(Self {
            range,
            period,
            moved,
            unit,
            length,
            start: 0,
            done: 0,
            inside,
        })
    }

    /// The place of the next record that is read or written (kind 0 or 1), and its size: at most `size`.
    pub fn next(&mut self, kind: usize, size: u32) -> (u64, u32) {
        if self.done >= self.moved {
            self.enter(self.start.saturating_add(self.period));
        }
        if self.left(kind) == 0 {
            self.enter(0);
        }
        if let Inside::InOrder(cursors) = &mut self.inside
            && cursors[kind] >= self.range
        {
            cursors[kind] = 0;
        }
        let left = self.left(kind);
        let (inside, size) = match &mut self.inside {
            Inside::InOrder(cursors) => {
                let size = u32::try_from(left).map_or(size, |left| left.min(size));
                cursors[kind] += u64::from(size);
                (cursors[kind] - u64::from(size), size)
            }
            Inside::Random(tiles) => {
                let (offset, free) = tiles.next(size);
                // What had its turn on this visit cuts a record short, and so does the end of the region; the end of the zone does not.
                let ends_zone = offset + u64::from(free) == self.range.min(left) / self.unit * self.unit;
                let most = u32::try_from(left - offset).unwrap_or(u32::MAX);
                (offset, if ends_zone { size.min(most) } else { free })
            }
        };
        self.done += u64::from(size);
        (self.start + inside, size)
    }

    /// Bytes from the next place to the end of the region, in whole units. In order the last zone may be cut by that end.
    fn left(&self, kind: usize) -> u64 {
        let from = match &self.inside {
            Inside::InOrder(cursors) => self.start.saturating_add(cursors[kind] % self.range),
            Inside::Random(_) if self.start.saturating_add(self.range) > self.length && self.start > 0 => {
                return 0;
            }
            Inside::Random(_) => self.start,
        };
        self.length.saturating_sub(from) / self.unit * self.unit
    }

    fn enter(&mut self, start: u64) {
        (self.start, self.done) = (start, 0);
        match &mut self.inside {
            Inside::InOrder(cursors) => *cursors = [0; 2],
            Inside::Random(tiles) => tiles.renew(self.length.min(self.range)),
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
        // What was moved on this visit is not moved again.
        for pair in found.windows(2).filter(|pair| pair[0].0 >> 15 == pair[1].0 >> 15) {
            let [(first, size), (second, next)] = pair else { continue };
            assert!(first + u64::from(*size) <= *second || second + u64::from(*next) <= *first, "{pair:?}");
        }
    }

    /// Offsets in KiB of so many records.
    fn places(zones: &mut Zones, count: usize, size: u32) -> Vec<u64> {
        (0..count).map(|_| zones.next(0, size << 10).0 >> 10).collect()
    }

    fn zones(range: u64, gap: u64, moved: u64, unit: u64, length: u64, random: bool) -> Zones {
        let [range, gap, moved, unit, length] = [range, gap, moved, unit, length].map(|kib| kib << 10);
        Zones::new((range, gap, moved), unit, length, random.then_some((1, Place::default()))).unwrap()
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
