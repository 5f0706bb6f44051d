//! One direction of a phase against the counters: what was asked for, what the file system's own device moved for us, and how far
//! what lies below bears that out.
//!
//! A device that is itself a file (a loop device) is only believed as far as what lies below it moved the bytes, too; that file may
//! lie in the page cache. Other layers (RAID, LVM) are believed as they are: mirrors and parity make the numbers below them differ
//! for good reasons. A file system that compresses moves fewer bytes than were asked for; there the pages that were and are in memory
//! tell what came from the device.

use super::{ReadTruth, WriteTruth};
use crate::origin::regime_of;
use crate::physical::LOOP;
use crate::{DeviceDelta, OpKind, Phase, Physical, Regime, Repetition, Residency};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Direction {
    Read,
    Write,
}

impl Direction {
    pub fn words(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
        }
    }

    /// All that a device moved this way.
    fn of(self, device: &DeviceDelta) -> u64 {
        match self {
            Self::Read => device.read_bytes,
            Self::Write => device.write_bytes,
        }
    }

    /// What the file system's own device moved this way for us and while the clock ran.
    fn for_us(self, physical: &Physical, device: &DeviceDelta) -> u64 {
        let bound = match self {
            // Our own accounting names the pages that *we* had fetched, so a neighbour's reads do not turn a cached phase into
            // a device phase; the device's own counter bounds it from above.
            Self::Read => physical.own_read_bytes,
            // Only what the device had written when the clock stopped can be in the rate. An fsync outside the clock moves the
            // rest without being timed, and would make a cache number look like a device number.
            Self::Write => physical.written_in_clock_bytes,
        };
        bound.unwrap_or(u64::MAX).min(self.of(device))
    }
}

/// One direction of a phase.
pub(crate) struct Way {
    pub direction: Direction,
    pub asked: u64,
    /// What the file system's own device moved for us while the clock ran.
    pub at_top: u64,
    /// The same as far as what is below it bears it out.
    pub moved: u64,
    pub cached: Option<CachedBelow>,
    /// What the device wrote after the clock had stopped.
    pub later: u64,
    /// Whether the device is a file and nothing is known of where that lies.
    pub bottomless: bool,
    /// O_DIRECT was asked for, and the page cache was filled all the same.
    pub through_cache: bool,
    /// Of what was asked for, what came from or reached a device although fewer bytes moved: the file system compresses.
    pub unpacked: Option<u64>,
    /// Whether the file system lives in memory.
    memory: bool,
    /// Holes among what was read.
    pub holes: u64,
    /// Of what was written, what still waits in memory at the end.
    waits: Option<u64>,
}

/// The directions a phase has, each with its own bytes; empty where it has both and it is not recorded how much was which, and where
/// there are no counters.
pub(crate) fn ways(phase: &Phase, repetition: &Repetition) -> Vec<Way> {
    let physical = &repetition.physical;
    if !physical.is_memory() && physical.devices.is_empty() {
        return Vec::new();
    }
    let of = |direction, asked| Way::of(direction, asked, phase, repetition);
    match (phase.reads, phase.writes) {
        (true, true) => {
            let both = [Direction::Read, Direction::Write].map(|d| of(d, asked_for(repetition, d)));
            both.into_iter().filter(|w| w.asked > 0).collect()
        }
        // What is written uncounted after the clock has stopped is in neither figure.
        (false, true) if physical.written_in_clock_bytes.is_some() && repetition.bytes() > 0 => {
            vec![of(Direction::Write, repetition.bytes())]
        }
        (false, true) => vec![of(Direction::Write, all_asked(repetition))],
        _ => vec![of(Direction::Read, all_asked(repetition))],
    }
}

/// File data of all workers, counted or not.
pub(crate) fn all_asked(repetition: &Repetition) -> u64 {
    let each = |w: &crate::Worker| w.bytes.saturating_add(w.uncounted_bytes);
    repetition.workers.iter().fold(0u64, |sum, w| sum.saturating_add(each(w)))
}

/// Bytes one direction was asked for in a phase of both.
fn asked_for(repetition: &Repetition, direction: Direction) -> u64 {
    let op = match direction {
        Direction::Read => OpKind::Read,
        Direction::Write => OpKind::Write,
    };
    let stats = repetition.workers.iter().flat_map(|w| &w.stats).filter(|s| s.op == op);
    stats.fold(0, |sum, s| sum.saturating_add(s.bytes))
}

impl Way {
    pub fn of(direction: Direction, asked: u64, phase: &Phase, repetition: &Repetition) -> Self {
        let physical = &repetition.physical;
        let none = DeviceDelta::default();
        let device = physical.devices.first().unwrap_or(&none);
        let at_top = direction.for_us(physical, device);
        let cached = CachedBelow::of(physical, direction);
        let later = if direction == Direction::Write {
            written_to_storage(physical, device).saturating_sub(at_top)
        } else {
            0
        };
        let bottomless = device.kind == LOOP && physical.lowest_level() == 0;
        let moved = cached.as_ref().map_or(at_top, |c| at_top.min(c.bytes));
        let mut way = Self {
            direction,
            asked,
            at_top,
            moved,
            cached,
            later,
            bottomless,
            through_cache: through_cache(phase, repetition),
            unpacked: None,
            memory: physical.is_memory(),
            holes: if direction == Direction::Read { holes_in(asked, phase, repetition) } else { 0 },
            waits: physical.waiting.map(|w| w.after_bytes.saturating_add(w.below_bytes)),
        };
        if physical.compression.is_some() && moved > 0 {
            way.unpacked = way.unpacked_of(phase, repetition);
        }
        way
    }

    /// Bytes of files that a compressing file system moved, told by the pages that were in memory before and are waiting after.
    fn unpacked_of(&self, phase: &Phase, repetition: &Repetition) -> Option<u64> {
        let of_files = match self.direction {
            Direction::Write => {
                let waited = repetition.physical.waiting?.at_stop_bytes;
                self.asked.saturating_sub(waited)
            }
            Direction::Read if phase.direct && !self.through_cache => self.asked,
            Direction::Read => {
                let cached = repetition.resident_before.as_ref().and_then(Residency::cached_share)?;
                let wanted = self.asked.saturating_sub(self.holes);
                (wanted as f64 * (1.0 - cached.clamp(0.0, 1.0))).round() as u64
            }
        };
        Some(of_files.clamp(self.moved.min(self.asked), self.asked))
    }

    /// Device bytes per byte asked for; above 1 where the device moved more.
    pub fn share(&self) -> f64 {
        self.unpacked.unwrap_or(self.moved) as f64 / self.asked as f64
    }

    /// Whether next to nothing but holes was read, and no device moved more than that.
    pub fn is_holes(&self) -> bool {
        regime_of(self.share()) == Regime::PageCache
            && regime_of(self.holes as f64 / self.asked as f64) == Regime::Device
    }

    /// What came from or had reached a device, at most what was asked for.
    pub fn device_part(&self) -> u64 {
        self.unpacked.unwrap_or(self.moved).min(self.asked)
    }

    pub fn read_truth(&self) -> Option<ReadTruth> {
        let device_bytes = if self.memory { 0 } else { self.device_part() };
        let hole_bytes = self.holes.min(self.asked - device_bytes);
        Some(ReadTruth {
            asked_bytes: self.asked,
            device_bytes,
            cache_bytes: self.asked - device_bytes - hole_bytes,
            hole_bytes,
            excess_bytes: if self.memory { 0 } else { self.moved.saturating_sub(self.asked) },
        })
    }

    pub fn write_truth(&self) -> Option<WriteTruth> {
        if self.memory {
            // It stays where it is: in memory, and no device will ever see it.
            let dirty_bytes = Some(self.asked);
            return Some(WriteTruth { asked_bytes: self.asked, dirty_bytes, ..WriteTruth::default() });
        }
        let in_clock_bytes = self.device_part();
        let rest = self.asked - in_clock_bytes;
        let dirty_bytes = self.waits.map(|w| w.min(rest));
        let rest = rest - dirty_bytes.unwrap_or(0);
        // What compression saved of the rest cannot be counted: what no longer waits was written.
        let later_bytes = if self.unpacked.is_some() { rest } else { self.later.min(rest) };
        Some(WriteTruth {
            asked_bytes: self.asked,
            in_clock_bytes,
            later_bytes,
            dirty_bytes,
            lost_bytes: rest - later_bytes,
            excess_bytes: self
                .moved
                .saturating_sub(self.asked)
                .saturating_add(self.later - self.later.min(rest)),
        })
    }
}

/// Whether a phase only read, through the page cache, and that held every page of the files at both ends.
pub(crate) fn held_all(phase: &Phase, repetition: &Repetition) -> bool {
    let full =
        |r: &Option<Residency>| r.is_some_and(|r| r.total_pages > 0 && r.cached_pages >= r.total_pages);
    let cached = full(&repetition.resident_before) && full(&repetition.resident_after);
    cached && phase.reads && !phase.writes && !phase.direct && all_asked(repetition) > 0
}

/// Whether what was written with O_DIRECT went through the page cache all the same. The pages are gone when a call returns, so this was
/// seen while calls were under way.
pub(super) fn written_through_cache(phase: &Phase, repetition: &Repetition) -> bool {
    phase.direct && repetition.physical.waiting.is_some_and(|w| w.meanwhile_bytes > 0)
}

/// Whether a phase that only reads, with O_DIRECT, left a good part of its files in the page cache that was not there before. Btrfs
/// reads compressed files like that. Of writes see [`written_through_cache`].
pub(super) fn through_cache(phase: &Phase, repetition: &Repetition) -> bool {
    let (Some(before), Some(after)) = (&repetition.resident_before, &repetition.resident_after) else {
        return false;
    };
    let added = after.cached_pages.saturating_sub(before.cached_pages);
    let missing = after.total_pages.saturating_sub(before.cached_pages);
    let notable = added >= LEAST_PAGES && (added >= after.total_pages / 10 || added >= missing / 2);
    phase.direct && phase.reads && !phase.writes && notable
}

/// O_DIRECT leaves a page here and there, such as the last one of a file.
const LEAST_PAGES: u64 = 16;

/// What the device wrote in all; of a loop device no more than reached what its file lies on.
fn written_to_storage(physical: &Physical, device: &DeviceDelta) -> u64 {
    let below = physical.level(1);
    if device.kind != LOOP || below.is_empty() {
        return device.write_bytes;
    }
    device.write_bytes.min(below.iter().fold(0, |sum: u64, d| sum.saturating_add(d.write_bytes)))
}

/// Of what was read, what no block belongs to, if reads are spread evenly over the files or cover them.
fn holes_in(asked: u64, phase: &Phase, repetition: &Repetition) -> u64 {
    let Some(extents) = repetition.extents.filter(|e| e.bytes > 0 && phase.reads) else { return 0 };
    let none = extents.hole_bytes.saturating_add(extents.unwritten_bytes).min(extents.bytes);
    (u128::from(asked) * u128::from(none) / u128::from(extents.bytes)) as u64
}

/// A loop device above and what its file lies on, where that moved so much less that the file must be in the page cache.
pub(crate) struct CachedBelow {
    pub above: String,
    pub below: String,
    pub bytes: u64,
}

impl CachedBelow {
    /// The lowest such figure of the stack. Less than half is asked for, because the counters of two devices are never read at
    /// one moment, and a file system in between may compress.
    fn of(physical: &Physical, direction: Direction) -> Option<Self> {
        let sum = |devices: &[&DeviceDelta]| {
            devices.iter().fold(0u64, |sum, d| sum.saturating_add(direction.of(d)))
        };
        let levels: Vec<Vec<&DeviceDelta>> =
            (0..=physical.lowest_level().min(DEEPEST)).map(|n| physical.level(n)).collect();
        let pairs = levels.windows(2).filter_map(|pair| {
            let (above, below) = (pair.first()?, pair.last()?);
            let loops = !above.is_empty() && above.iter().all(|d| d.kind == LOOP);
            let bytes = sum(below);
            let cached = loops && !below.is_empty() && bytes < sum(above).div_ceil(2);
            cached.then(|| Self { above: names(above), below: names(below), bytes })
        });
        pairs.min_by_key(|c| c.bytes)
    }
}

/// No stack is deeper (`observe` follows no further); a record that says so is not worth the time.
const DEEPEST: u32 = 64;

pub(crate) fn names(devices: &[&DeviceDelta]) -> String {
    devices.iter().map(|d| d.name.as_str()).collect::<Vec<_>>().join("+")
}
