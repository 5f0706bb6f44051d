//! A synthetic trace, generated on the fly: three of four arrivals read 4 KiB anywhere on the device, every fourth writes the next 4 KiB
//! in sequence; eight tasks take turns. For benchmarking the replay itself and for a first look at a scheduler.

use super::arrival::Arrival;
use crate::random::{Entity, Stream};
use fathom_iopath::Op;

/// Sectors per arrival.
const SECTORS: u32 = 8;
const TASKS: u64 = 8;

/// The remaining arrivals. They have no times, so they need a closed replay.
#[derive(Clone, Debug)]
pub struct Synthetic {
    left: u64,
    blocks: u64,
    next_write: u64,
    chance: Stream,
}

impl Synthetic {
    /// `count` arrivals for a device of `capacity_sectors`, drawn from `seed`.
    #[must_use]
    pub fn new(count: u64, capacity_sectors: u64, seed: u64) -> Self {
        let blocks = (capacity_sectors / u64::from(SECTORS)).saturating_sub(1).max(1);
        Self { left: count, blocks, next_write: 0, chance: Stream::new(seed, Entity::System) }
    }
}

impl Iterator for Synthetic {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        self.left = self.left.checked_sub(1)?;
        let write = self.left.is_multiple_of(4);
        let block = if write { self.next_write } else { self.chance.below(self.blocks) };
        if write {
            self.next_write = (self.next_write + 1) % self.blocks;
        }
        Some(Arrival {
            time_ns: 0,
            op: if write { Op::Write } else { Op::Read },
            sync: false,
            sector: block * u64::from(SECTORS),
            sectors: SECTORS,
            pid: 1 + (self.left % TASKS) as u32,
            cpu: 0,
            task: [0; 16],
            flush_before: false,
            flush_behind: false,
            after: None,
        })
    }
}
