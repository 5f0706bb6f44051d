//! Separate sizes for reads and writes, and the offsets of such records.
//!
//! Few streams have them, so they cost the others a single comparison.

use super::super::Place;
use super::super::order::{FOR_SIZE, FOR_WRITE_SIZE};
use super::{Positions, Sizes, StreamOps, advance, sizes_of};
use crate::Record;

/// Sizes of reads, and of writes.
pub(super) struct ByKind {
    read: Own,
    write: Own,
}

/// Sizes of one kind.
struct Own {
    sizes: Sizes,
    unit: u64,
    largest: u64,
}

impl ByKind {
    /// `None` if a kind contains kinds, or a size that no operation can have.
    pub(super) fn new(read: &Record, write: &Record, seed: u64, place: Place) -> Option<Self> {
        let own = |record: &Record, purpose: u64| {
            if matches!(record, Record::ByKind { .. }) {
                return None;
            }
            let sizes = sizes_of(record, purpose, seed, place)?;
            Some(Own { sizes, unit: record.unit().0.max(1), largest: record.largest().0.max(1) })
        };
        Some(Self { read: own(read, FOR_SIZE)?, write: own(write, FOR_WRITE_SIZE)? })
    }
}

impl Own {
    /// Maps the n-th of `places` positions to an offset for this kind: it has at most as many, and all of them get an equal share.
    fn offset(&self, n: u64, places: u64, length: u64) -> u64 {
        let own = places_of(self.unit, self.largest, length);
        let at = u128::from(n) * u128::from(own) / u128::from(places.max(1));
        at as u64 * self.unit
    }
}

/// Number of multiples of the unit at which the largest record still fits.
fn places_of(unit: u64, largest: u64, length: u64) -> u64 {
    length.saturating_sub(largest) / unit + 1
}

/// Number of positions to draw from where kinds have their own sizes: the larger of the two kinds' numbers.
pub(super) fn places(record: &Record, length: u64) -> Option<u64> {
    let Record::ByKind { read, write } = record else { return None };
    let of = |record: &Record| places_of(record.unit().0.max(1), record.largest().0.max(1), length);
    Some(of(read).max(of(write)))
}

impl StreamOps {
    /// Offset and length of the next operation, in a stream whose kinds have their own sizes.
    #[inline(never)]
    pub(super) fn extent_by_kind(&mut self, read_next: bool) -> (u64, u32, u64) {
        let Sizes::ByKind(kinds) = &mut self.sizes else { return (self.region.start, 0, 0) };
        let own = if read_next { &mut kinds.read } else { &mut kinds.write };
        let (size, length) = (own.sizes.draw(), self.region.length);
        let (offset, size) = match &mut self.source {
            Positions::Order(order) => (own.offset(order.next(self.places), self.places, length), size),
            Positions::Cursor(at) => advance(at, (size, &mut own.sizes), own.unit, length),
            Positions::Cursors { read, write } => {
                advance(if read_next { read } else { write }, (size, &mut own.sizes), own.unit, length)
            }
            Positions::PartlyRandom(partly) => {
                let kind = usize::from(!read_next);
                match partly.draws(kind, self.places) {
                    Some(n) => {
                        let offset = own.offset(n, self.places, length);
                        partly.cursors[kind] = offset + u64::from(size);
                        (offset, size)
                    }
                    None => advance(&mut partly.cursors[kind], (size, &mut own.sizes), own.unit, length),
                }
            }
            Positions::Tiles(tiles) => tiles.next(size),
            // Listed operations were handed out before; `check` requires a single size for the others.
            Positions::Runs { .. }
            | Positions::Striped(_)
            | Positions::StripedByKind { .. }
            | Positions::Zones(_)
            | Positions::List { .. } => (0, size),
        };
        (self.region.start + offset, size, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Done, Op, OpCode, Region};
    use super::*;
    use crate::{Access, Amount, Bytes, Direction, Mix, Stream};
    use std::collections::BTreeSet;

    const LENGTH: u64 = 1 << 20;

    fn ops(access: Access, read: Record, write: Record, amount: Amount) -> Vec<Op> {
        let stream = Stream {
            access,
            amount,
            record: Record::ByKind { read: Box::new(read), write: Box::new(write) },
            ..Stream::new("f", Direction::Mix(Mix::ReadPercent(50)), Bytes(1))
        };
        let region = Region { start: 4096, length: LENGTH };
        let mut source = StreamOps::new(&stream, region, 7, Place::default()).unwrap();
        let mut all = Vec::new();
        while let Some(op) = source.next(&Done::default()) {
            all.push(Op { offset: op.offset - 4096, ..op });
        }
        all
    }

    fn fixed(bytes: u64) -> Record {
        Record::Fixed(Bytes(bytes))
    }

    #[test]
    fn each_kind_has_its_sizes_at_its_own_multiples_all_over_the_region() {
        for access in [Access::Uniform, Access::Permuted] {
            let all = ops(access.clone(), fixed(4096), fixed(65536), Amount::Operations(20_000));
            for (kind, size) in [(OpCode::Read, 4096), (OpCode::Write, 65536)] {
                let own: Vec<&Op> = all.iter().filter(|op| op.kind == kind).collect();
                assert!(own.iter().all(|op| u64::from(op.bytes) == size), "{access:?}");
                assert!(own.iter().all(|op| op.offset.is_multiple_of(size)), "{access:?}");
                let places: BTreeSet<u64> = own.iter().map(|op| op.offset).collect();
                assert_eq!(places.len() as u64, LENGTH / size, "{access:?} {kind:?}");
                // The last position gets as much as any other.
                let last = own.iter().filter(|op| op.offset == LENGTH - size).count() as u64;
                let mean = own.len() as u64 * size / LENGTH;
                assert!(last > mean / 2 && last < mean * 2, "{access:?} {kind:?}: {last} of {mean}");
            }
        }
    }

    #[test]
    fn splits_and_ranges_are_those_of_their_kind() {
        let split = Record::Split(vec![(Bytes(65536), 40.0), (Bytes(131_072), 60.0)]);
        let range = Record::Between { min: Bytes(4096), max: Bytes(12288) };
        let all = ops(Access::Uniform, split, range, Amount::Operations(4000));
        let sizes = |kind: OpCode| -> BTreeSet<u32> {
            all.iter().filter(|op| op.kind == kind).map(|op| op.bytes).collect()
        };
        assert_eq!(sizes(OpCode::Read), BTreeSet::from([65536, 131_072]));
        assert_eq!(sizes(OpCode::Write), BTreeSet::from([4096, 8192, 12288]));
        assert!(all.iter().all(|op| op.offset + u64::from(op.bytes) <= LENGTH));
        let reads = all.iter().filter(|op| op.kind == OpCode::Read);
        assert!(reads.clone().all(|op| op.offset.is_multiple_of(65536)));
        let small = reads.clone().filter(|op| op.bytes == 65536).count() as f64 / reads.count() as f64;
        assert!((small - 0.4).abs() < 0.05, "{small}");
    }

    #[test]
    fn each_kind_goes_on_by_its_own_sizes() {
        let all = ops(Access::SequentialByKind, fixed(4096), fixed(49152), Amount::Pass);
        for kind in [OpCode::Read, OpCode::Write] {
            let mut end = 0;
            for op in all.iter().filter(|op| op.kind == kind) {
                assert_eq!(op.offset, end);
                end += u64::from(op.bytes);
            }
        }
        // A pass moves as many bytes as the region has, both kinds together.
        let moved: u64 = all.iter().map(|op| u64::from(op.bytes)).sum();
        assert!((LENGTH..LENGTH + 49152).contains(&moved), "{moved}");
    }
}
