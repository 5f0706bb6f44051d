//! Memory or device? For each direction of a repetition: how many of the requested bytes came from or reached a device within
//! the timed interval, how many the page cache served or held, what followed later, and one sentence for the user. Also the
//! course of the cache over time, and what was done to make it cold.
//!
//! Pure: from the repetition's counters, residencies and sizes (`split`) to shares (here) and words (`statement`).
//! [`Origin`](crate::Origin) is the one-word verdict; it rests on the same split.

mod aspects;
mod cold;
mod course;
mod split;
mod statement;

pub use cold::{Cold, ColdStep};
pub use course::{CacheCourse, CacheSample};
pub(crate) use split::{Direction, DirectionTraffic, all_asked, held_all, names, traffic};

use crate::{Origin, Phase, Repetition};
use serde::{Deserialize, Serialize};

/// What became of the bytes of one repetition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheTruth {
    /// Reads; `None` if nothing was read or it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<ReadTruth>,
    /// Writes; likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<WriteTruth>,
    /// All of it in one sentence for the user.
    pub statement: String,
}

/// Where the read bytes came from. The three sources add up to the requested bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadTruth {
    /// File data that the program requested and got.
    pub asked_bytes: u64,
    /// Part of it that a device moved within the timed interval.
    pub device_bytes: u64,
    /// Part of it that was in memory: in the page cache, or in that of a file used as a disk.
    pub cache_bytes: u64,
    /// Part of it in holes and unwritten extents, which need no device.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub hole_bytes: u64,
    /// What the device moved for us beyond that: read-ahead, metadata, the rest of pages.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub excess_bytes: u64,
}

/// What the written bytes had reached. `in_clock_bytes`, `later_bytes`, `dirty_bytes` and `lost_bytes` add up to the requested bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteTruth {
    /// File data that the program wrote within the timed interval.
    pub asked_bytes: u64,
    /// Part of it that had reached the device when the clock stopped.
    pub in_clock_bytes: u64,
    /// Part of it that followed after the clock stopped, before the end of the phase.
    pub later_bytes: u64,
    /// Part of it only in memory at the end; `None` if the kernel does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<u64>,
    /// Part of it in none of these: overwritten or deleted in memory before a device saw it; if `dirty_bytes` is unknown, it
    /// may also be dirty.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub lost_bytes: u64,
    /// What the device wrote beyond that: journal, metadata, other programs.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub excess_bytes: u64,
}

/// Data of the measured files waiting in memory to be written (dirty and under write-back), bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnwrittenData {
    /// When the clock started.
    pub before_bytes: u64,
    /// When it stopped.
    pub at_stop_bytes: u64,
    /// At the end of the phase, after an fsync or close outside the timed interval.
    pub after_bytes: u64,
    /// The same at the end, for files used as disks below (the backing files of loop devices).
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub below_bytes: u64,
    /// The maximum seen within the timed interval for O_DIRECT writes; 0 unless they went through the page cache, and if it was
    /// not watched.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub meanwhile_bytes: u64,
}

impl ReadTruth {
    /// Whether a notable part was holes and hardly anything came from memory.
    #[must_use]
    pub fn is_part_holes(&self) -> bool {
        self.hole_bytes > self.asked_bytes / 20 && self.cache_bytes <= self.asked_bytes / 20
    }

    /// Share that came from a device, 0..=1; `None` if nothing was read.
    #[must_use]
    pub fn device_share(&self) -> Option<f64> {
        (self.asked_bytes > 0).then(|| self.device_bytes as f64 / self.asked_bytes as f64)
    }
}

impl CacheTruth {
    /// Splits one repetition of a phase; `None` if it moved no file data.
    #[must_use]
    pub fn of(phase: &Phase, repetition: &Repetition) -> Option<Self> {
        if all_asked(repetition) == 0 {
            return None;
        }
        let origin = Origin::of(phase, repetition);
        let traffic = traffic(phase, repetition);
        let moved = |d| traffic.iter().filter(move |w| w.direction == d).find(|w| w.asked > 0);
        let read = moved(Direction::Read).and_then(DirectionTraffic::read_truth);
        let written = moved(Direction::Write).and_then(DirectionTraffic::write_truth);
        let statement = statement::of(phase, repetition, &origin, &traffic);
        Some(Self { read, written, statement })
    }
}

#[cfg(test)]
mod tests;
