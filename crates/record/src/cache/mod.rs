//! Memory or device? For each direction of a repetition: how many of the bytes asked for came from or reached a device while the clock
//! ran, how many the page cache served or held, what followed later, and one sentence for a person. Beside it how the cache went over
//! time, and what was done to make it cold.
//!
//! Pure: from the counters, residencies and sizes that the repetition holds (`split`), to shares (here) and words (`statement`). The
//! verdict in one word is [`Origin`](crate::Origin); it rests on the same split.

mod cold;
mod course;
mod split;
mod statement;

pub use cold::{Cold, ColdStep};
pub use course::{CacheCourse, CacheSample};
pub(crate) use split::{Direction, Way, all_asked, held_all, names, ways};

use crate::{Origin, Phase, Repetition};
use serde::{Deserialize, Serialize};

/// What became of the bytes of one repetition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheTruth {
    /// What was read; `None` where nothing was, or nobody told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<ReadTruth>,
    /// What was written; likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<WriteTruth>,
    /// All of it in one sentence for a person.
    pub statement: String,
}

/// Where the bytes that were read came from. The three sources add up to what was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadTruth {
    /// File data the program asked for and got.
    pub asked_bytes: u64,
    /// Of it, what a device moved while the clock ran.
    pub device_bytes: u64,
    /// Of it, what lay in memory: the page cache, or that of a file which serves as a disk.
    pub cache_bytes: u64,
    /// Of it, holes and unwritten extents, for which no device is asked.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub hole_bytes: u64,
    /// What the device moved for us beyond that: read-ahead, metadata, the rest of pages.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub excess_bytes: u64,
}

/// What the bytes that were written had reached. `in_clock_bytes`, `later_bytes`, `dirty_bytes` and `lost_bytes` add up to what was
/// asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteTruth {
    /// File data the program wrote inside the clock.
    pub asked_bytes: u64,
    /// Of it, what had reached the device when the clock stopped.
    pub in_clock_bytes: u64,
    /// Of it, what followed outside the clock, while the end of the phase was watched.
    pub later_bytes: u64,
    /// Of it, what was in memory only at the end; `None` where the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<u64>,
    /// Of it, what is in none of the three: overwritten or deleted in memory before a device saw it; where `dirty_bytes` is not known,
    /// it may be dirty as well.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub lost_bytes: u64,
    /// What the device wrote beyond that: journal, metadata, other programs.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub excess_bytes: u64,
}

/// What of the measured files waited in memory to be written (dirty and under write-back), bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// When the clock started.
    pub before_bytes: u64,
    /// When it stopped.
    pub at_stop_bytes: u64,
    /// At the end of the phase, after an fsync or close outside the clock.
    pub after_bytes: u64,
    /// The same of the files that serve as disks below (the backing files of loop devices), at the end.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub below_bytes: u64,
    /// The most that was seen while the clock ran of what was written with O_DIRECT; 0 unless that went through the page cache, and
    /// where nobody looked.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub meanwhile_bytes: u64,
}

impl ReadTruth {
    /// Share that came from a device, 0..=1; `None` if nothing was read.
    #[must_use]
    pub fn device_share(&self) -> Option<f64> {
        share(self.device_bytes, self.asked_bytes)
    }

    /// Share that came from memory, 0..=1.
    #[must_use]
    pub fn cache_share(&self) -> Option<f64> {
        share(self.cache_bytes, self.asked_bytes)
    }
}

impl WriteTruth {
    /// Share that had reached the device when the clock stopped, 0..=1; `None` if nothing was written.
    #[must_use]
    pub fn in_clock_share(&self) -> Option<f64> {
        share(self.in_clock_bytes, self.asked_bytes)
    }

    /// Share that followed outside the clock.
    #[must_use]
    pub fn later_share(&self) -> Option<f64> {
        share(self.later_bytes, self.asked_bytes)
    }

    /// Share that was still only in memory at the end; `None` also where nobody tells.
    #[must_use]
    pub fn dirty_share(&self) -> Option<f64> {
        share(self.dirty_bytes?, self.asked_bytes)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl CacheTruth {
    /// Splits one repetition of a phase; `None` if no file data was moved in it.
    #[must_use]
    pub fn of(phase: &Phase, repetition: &Repetition) -> Option<Self> {
        if all_asked(repetition) == 0 {
            return None;
        }
        let origin = Origin::of(phase, repetition);
        let ways = ways(phase, repetition);
        let moved = |d| ways.iter().filter(move |w| w.direction == d).find(|w| w.asked > 0);
        let read = moved(Direction::Read).and_then(Way::read_truth);
        let written = moved(Direction::Write).and_then(Way::write_truth);
        let statement = statement::of(phase, repetition, &origin, &ways);
        Some(Self { read, written, statement })
    }
}

#[cfg(test)]
mod tests;
