//! Shapes of the requests sent to the device: their length, their number of memory segments, and how many directly follow the one before.
//! Recorded by the block layer when it starts them, to explain the load on a controller.

use crate::devices::Command;
use std::collections::BTreeMap;

/// Shapes of write requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shapes {
    /// Number of requests by (sectors, segments).
    counts: BTreeMap<(u32, u16), u64>,
    /// Requests that do not start at the end of the previous one.
    jumps: u64,
    end: u64,
}

/// The request length that moves most bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Typical {
    /// Length in sectors of 512 bytes.
    pub sectors: u32,
    /// Share of all bytes moved by requests of this length, per segment count, ascending.
    pub segments: Vec<(u16, f64)>,
}

impl Shapes {
    /// Records a request sent to the device.
    pub(crate) fn note(&mut self, command: &Command) {
        if !command.write {
            return;
        }
        *self.counts.entry((command.sectors, command.segments)).or_default() += 1;
        self.jumps += u64::from(command.sector != self.end);
        self.end = command.end();
    }

    /// Every shape as (sectors, segments, number of requests).
    pub fn all(&self) -> impl Iterator<Item = (u32, u16, u64)> + '_ {
        self.counts.iter().map(|(&(sectors, segments), &count)| (sectors, segments, count))
    }

    /// Number of requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.counts.values().sum()
    }

    /// The length that moves most bytes; among equals the longest.
    #[must_use]
    pub fn typical(&self) -> Typical {
        let mut lengths: BTreeMap<u32, u64> = BTreeMap::new();
        for (sectors, _, count) in self.all() {
            *lengths.entry(sectors).or_default() += u64::from(sectors) * count;
        }
        let Some((&sectors, _)) = lengths.iter().max_by_key(|(_, moved)| **moved) else {
            return Typical::default();
        };
        let moved: u64 = lengths.values().sum();
        let share = |count: u64| (u64::from(sectors) * count) as f64 / moved as f64;
        let of_length = self.all().filter(|shape| shape.0 == sectors);
        Typical {
            sectors,
            segments: of_length.map(|(_, segments, count)| (segments, share(count))).collect(),
        }
    }

    /// Average number of consecutive requests that are contiguous on the device.
    #[must_use]
    pub fn run(&self) -> f64 {
        self.requests() as f64 / (self.jumps as f64).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_counted_and_the_length_that_moves_most_is_typical() {
        let mut shapes = Shapes::default();
        assert_eq!((shapes.typical(), shapes.run()), (Typical::default(), 0.0));
        let write = |sector, sectors, segments| Command { tag: 0, write: true, sector, sectors, segments };
        for command in [write(0, 512, 4), write(512, 512, 5), write(1024, 8, 1), write(9000, 512, 4)] {
            shapes.note(&command);
        }
        shapes.note(&Command { write: false, ..write(0, 99, 1) });
        let typical = Typical { sectors: 512, segments: vec![(4, 1024.0 / 1544.0), (5, 512.0 / 1544.0)] };
        assert_eq!(shapes.typical(), typical);
        assert_eq!((shapes.requests(), shapes.run()), (4, 4.0));
    }
}
