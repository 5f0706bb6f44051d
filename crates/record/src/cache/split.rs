//! One direction of a phase against the counters: what was requested, what the file system's own device moved for us, and how
//! far the layers below confirm that.
//!
//! A device that is itself a file (a loop device) is believed only as far as the layers below moved the bytes too, since that file may
//! be in the page cache. Other layers (RAID, LVM) are believed as they are: mirrors and parity legitimately change the numbers below
//! them. A compressing file system moves fewer bytes than requested; there, the pages in memory show what came from the device.

use super::{ReadTruth, WriteTruth};
use crate::origin::{MOST_READ_AHEAD, regime_of};
use crate::physical::{DEEPEST, LOOP, RAM};
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

    /// All bytes the device moved in this direction.
    pub fn of(self, device: &DeviceDelta) -> u64 {
        match self {
            Self::Read => device.read_bytes,
            Self::Write => device.write_bytes,
        }
    }

    /// Bytes the file system's own device moved in this direction, for us and within the timed interval.
    fn for_us(self, physical: &Physical, device: &DeviceDelta) -> u64 {
        let bound = match self {
            // Our own accounting covers the pages that *we* had fetched, so a neighbour's reads do not turn a cached phase into
            // a device phase; the device's own counter bounds it from above.
            Self::Read => physical.own_read_bytes,
            // Only what the device had written when the clock stopped can be in the rate. An fsync outside the timed interval
            // moves the rest untimed, and would make a cache number look like a device number.
            Self::Write => physical.written_in_clock_bytes,
        };
        bound.unwrap_or(u64::MAX).min(self.of(device))
    }
}

/// One direction of a phase.
pub(crate) struct DirectionTraffic {
    pub direction: Direction,
    pub asked: u64,
    /// Bytes the file system's own device moved for us within the timed interval.
    pub at_top: u64,
    /// The same, as far as the layers below confirm it.
    pub moved: u64,
    pub cached: Option<CachedBelow>,
    /// The part of the stack that is main memory, if it took bytes that the rest did not.
    pub ram: Option<RamPart>,
    /// Bytes the device wrote after the clock stopped.
    pub later: u64,
    /// Whether the device is a file and its location is unknown.
    pub bottomless: bool,
    /// O_DIRECT was requested, but the page cache was filled all the same.
    pub through_cache: bool,
    /// Whether the device is a file, which may be read through the page cache below.
    pub through_image: bool,
    /// Requested bytes that came from or reached a device although fewer bytes moved, because the file system compresses.
    pub unpacked: Option<u64>,
    /// Whether a program in user space read the bytes for us.
    pub is_served: bool,
    /// Whether the file system lives in memory.
    memory: bool,
    /// Bytes read from holes.
    pub holes: u64,
    /// Bytes that the device had to read in a phase that only writes, such as the rest of pages; 0 if too few to matter.
    pub fetched: u64,
    /// Written bytes that still wait in memory at the end.
    waits: Option<u64>,
}

/// The phase's directions, each with its own bytes; empty if it has both but the bytes of each were not recorded, or if there
/// are no counters.
pub(crate) fn traffic(phase: &Phase, repetition: &Repetition) -> Vec<DirectionTraffic> {
    let physical = &repetition.physical;
    if !physical.is_memory() && physical.devices.is_empty() {
        return Vec::new();
    }
    let of = |direction, asked| DirectionTraffic::of(direction, asked, phase, repetition);
    match (phase.reads, phase.writes) {
        (true, true) => {
            let both = [Direction::Read, Direction::Write].map(|d| of(d, asked_for(repetition, d)));
            both.into_iter().filter(|w| w.asked > 0).collect()
        }
        // Uncounted writes after the clock stopped are in neither figure.
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

/// Requested bytes of one direction in a phase of both.
fn asked_for(repetition: &Repetition, direction: Direction) -> u64 {
    let op = match direction {
        Direction::Read => OpKind::Read,
        Direction::Write => OpKind::Write,
    };
    let stats = repetition.workers.iter().flat_map(|w| &w.stats).filter(|s| s.op == op);
    stats.fold(0, |sum, s| sum.saturating_add(s.bytes))
}

impl DirectionTraffic {
    pub fn of(direction: Direction, asked: u64, phase: &Phase, repetition: &Repetition) -> Self {
        let physical = &repetition.physical;
        let none = DeviceDelta::default();
        let device = physical.devices.first().unwrap_or(&none);
        let ram = RamPart::of(physical, direction);
        let outside = |bytes: u64| ram.as_ref().map_or(bytes, |ram| ram.outside(bytes));
        let at_top = outside(direction.for_us(physical, device));
        // What the file system's own page cache served did not reach the image.
        let share = at_top as f64 / asked.max(1) as f64;
        let from_device = match physical.compression {
            // However much a file shrank, pages that were not in memory came from the device.
            Some(_) if at_top > 0 => share.max(1.0 - cached_before(repetition).unwrap_or(0.0)),
            _ => share,
        };
        let from_cache = direction == Direction::Read && regime_of(from_device) == Regime::PageCache;
        let cached = CachedBelow::of(phase, physical, direction, at_top).filter(|_| !from_cache);
        let later = if direction == Direction::Write {
            outside(written_to_storage(physical, device)).saturating_sub(at_top)
        } else {
            0
        };
        let bottomless = device.kind == LOOP && physical.lowest_level() == 0;
        let moved = cached.as_ref().map_or(at_top, |c| at_top.min(c.bytes));
        let mut traffic = Self {
            direction,
            asked,
            at_top,
            moved,
            cached,
            ram,
            later,
            bottomless,
            through_cache: through_cache(phase, repetition),
            through_image: device.kind == LOOP,
            unpacked: None,
            is_served: physical.is_served(),
            memory: physical.is_memory(),
            holes: if direction == Direction::Read { holes_in(asked, phase, repetition) } else { 0 },
            fetched: if direction == Direction::Write { fetched_for(asked, phase, physical) } else { 0 },
            waits: physical.waiting.map(|w| w.after_bytes.saturating_add(w.below_bytes)),
        };
        if physical.compression.is_some() && moved > 0 {
            traffic.unpacked = traffic.unpacked_of(phase, repetition);
        }
        traffic
    }

    /// Bytes of files that a compressing file system moved, derived from the pages in memory before and those waiting after.
    fn unpacked_of(&self, phase: &Phase, repetition: &Repetition) -> Option<u64> {
        let of_files = match self.direction {
            Direction::Write => {
                let waited = repetition.physical.waiting?.at_stop_bytes;
                self.asked.saturating_sub(waited)
            }
            Direction::Read if phase.direct && !self.through_cache => self.asked,
            Direction::Read => {
                let cached = cached_before(repetition)?;
                let wanted = self.asked.saturating_sub(self.holes);
                let missing = (wanted as f64 * (1.0 - cached.clamp(0.0, 1.0))).round() as u64;
                missing.min(entered(repetition).unwrap_or(u64::MAX))
            }
        };
        // What the image's cache supplied did not come from a device, however much it shrank.
        let confirmed = self.moved as f64 / self.at_top.max(1) as f64;
        let of_files = (of_files as f64 * confirmed).round() as u64;
        Some(of_files.clamp(self.moved.min(self.asked), self.asked))
    }

    /// Device bytes per requested byte; above 1 if the device moved more.
    pub fn share(&self) -> f64 {
        self.unpacked.unwrap_or(self.moved) as f64 / self.asked as f64
    }

    /// Whether almost everything read was holes, and no device moved more than the rest.
    pub fn is_holes(&self) -> bool {
        regime_of(self.share()) == Regime::PageCache
            && regime_of(self.holes as f64 / self.asked as f64) == Regime::Device
    }

    /// The verdict for this direction.
    pub fn regime(&self) -> Regime {
        match regime_of(self.share()) {
            Regime::PageCache if self.ram.as_ref().is_some_and(|ram| ram.moved > self.asked / 20) => {
                Regime::Memory
            }
            regime => regime,
        }
    }

    /// Whether compression made the device move fewer bytes than the files have.
    pub fn is_shrunk(&self) -> bool {
        self.unpacked.is_some_and(|of_files| self.at_top < of_files)
    }

    /// Bytes that came from or had reached a device, at most the requested ones.
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
            // It stays in memory; no device will ever see it.
            let dirty_bytes = Some(self.asked);
            return Some(WriteTruth { asked_bytes: self.asked, dirty_bytes, ..WriteTruth::default() });
        }
        let in_clock_bytes = self.device_part();
        let rest = self.asked - in_clock_bytes;
        // What a disk in memory took stays there.
        let kept = self.ram.as_ref().map_or(0, |ram| self.asked.saturating_sub(ram.outside(self.asked)));
        let dirty_bytes = self.waits.map(|w| w.saturating_add(kept).min(rest));
        let rest = rest - dirty_bytes.unwrap_or(0);
        // The compression savings in the rest cannot be counted: what no longer waits was written.
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

/// Whether everything was read, and what no device supplied was holes, not memory.
pub(crate) fn part_holes(traffic: &[DirectionTraffic]) -> bool {
    let [one] = traffic else { return false };
    let Some(truth) = one.read_truth().filter(|_| one.direction == Direction::Read) else { return false };
    truth.is_part_holes()
}

/// Whether a phase only read, through the page cache, which held every page of the files at both ends.
pub(crate) fn held_all(phase: &Phase, repetition: &Repetition) -> bool {
    let full =
        |r: &Option<Residency>| r.is_some_and(|r| r.total_pages > 0 && r.cached_pages >= r.total_pages);
    let cached = full(&repetition.resident_before) && full(&repetition.resident_after);
    // Pages may have left and come back meanwhile.
    let brought_in = repetition.page_cache.as_ref().and_then(|e| e.pages.as_ref()).map_or(0, |p| p.own_bytes);
    let cached = cached && brought_in <= all_asked(repetition) / 20;
    cached && phase.reads && !phase.writes && !phase.direct && all_asked(repetition) > 0
}

/// Bytes of the files that entered the page cache for us, if known. What is read again is there already.
fn entered(repetition: &Repetition) -> Option<u64> {
    let seen = repetition.page_cache.as_ref().and_then(|e| e.pages.as_ref()).map(|pages| pages.own_bytes);
    let full = || {
        let (before, after) = (repetition.resident_before?, repetition.resident_after?);
        let kept = after.total_pages > 0 && after.cached_pages >= after.total_pages;
        let missing = after.total_pages.saturating_sub(before.cached_pages) as f64 / after.total_pages as f64;
        let files = repetition.extents.filter(|_| kept)?.bytes;
        Some((files as f64 * missing).round() as u64)
    };
    seen.or_else(full)
}

/// Whether O_DIRECT writes went through the page cache all the same. The pages are gone when a call returns, so they were
/// observed while calls were in progress.
pub(super) fn written_through_cache(phase: &Phase, repetition: &Repetition) -> bool {
    phase.direct && repetition.physical.waiting.is_some_and(|w| w.meanwhile_bytes > 0)
}

/// Whether a phase that only reads, with O_DIRECT, added a good part of its files to the page cache. Btrfs reads compressed
/// files like that. For writes see [`written_through_cache`].
pub(super) fn through_cache(phase: &Phase, repetition: &Repetition) -> bool {
    let (Some(before), Some(after)) = (&repetition.resident_before, &repetition.resident_after) else {
        return false;
    };
    let added = after.cached_pages.saturating_sub(before.cached_pages);
    let missing = after.total_pages.saturating_sub(before.cached_pages);
    let notable = added >= LEAST_PAGES && (added >= after.total_pages / 10 || added >= missing / 2);
    phase.direct && phase.reads && !phase.writes && notable
}

/// The share of the files that was in the page cache before.
fn cached_before(repetition: &Repetition) -> Option<f64> {
    repetition.resident_before.as_ref().and_then(Residency::cached_share)
}

/// O_DIRECT leaves a few pages, such as the last one of a file.
const LEAST_PAGES: u64 = 16;

/// All bytes the device wrote; for a loop device, at most what reached the devices below its file.
fn written_to_storage(physical: &Physical, device: &DeviceDelta) -> u64 {
    let below = physical.level(1);
    if device.kind != LOOP || below.is_empty() {
        return device.write_bytes;
    }
    device.write_bytes.min(below.iter().fold(0, |sum: u64, d| sum.saturating_add(d.write_bytes)))
}

/// Bytes read from the device for writes through the page cache, in a phase that only writes: the calls waited for them.
fn fetched_for(asked: u64, phase: &Phase, physical: &Physical) -> u64 {
    let Some(device) = physical.devices.first().filter(|_| !phase.reads && !phase.direct) else { return 0 };
    let fetched = physical.own_read_bytes.map_or(0, |own| own.min(device.read_bytes));
    if fetched >= LEAST_FETCHED && fetched > asked / 20 { fetched } else { 0 }
}

/// Less may be metadata, or a page of a program.
const LEAST_FETCHED: u64 = 256 << 10;

/// Read bytes without a block, if reads are spread evenly over the files or cover them.
fn holes_in(asked: u64, phase: &Phase, repetition: &Repetition) -> u64 {
    let Some(extents) = repetition.extents.filter(|e| e.bytes > 0 && phase.reads) else { return 0 };
    let none = extents.hole_bytes.saturating_add(extents.unwritten_bytes).min(extents.bytes);
    (u128::from(asked) * u128::from(none) / u128::from(extents.bytes)) as u64
}

/// The part of a stack that is main memory, such as one of several disks in a RAID.
pub(crate) struct RamPart {
    pub memory: String,
    /// Bytes that it moved.
    pub moved: u64,
    /// The devices beside it.
    pub storage: String,
    /// Bytes that the devices in `storage` moved; `top_moved` is the total of the file system's own device.
    storage_moved: u64,
    top_moved: u64,
}

impl RamPart {
    /// `None` if the rest moved all bytes too, as the other half of a mirror does.
    fn of(physical: &Physical, direction: Direction) -> Option<Self> {
        let part = physical.part_memory()?;
        let sum = |devices: &[&DeviceDelta]| {
            devices.iter().fold(0u64, |sum, d| sum.saturating_add(direction.of(d)))
        };
        let (moved, storage_moved) = (sum(&part.memory), sum(&part.storage));
        let top_moved = direction.of(physical.devices.first()?);
        (storage_moved < top_moved && moved > 0).then(|| Self {
            memory: names(&part.memory),
            moved,
            storage: names(&part.storage),
            storage_moved,
            top_moved,
        })
    }

    /// The part of the file system's `bytes` that the other devices moved, estimated by their share of all bytes.
    fn outside(&self, bytes: u64) -> u64 {
        let share = self.storage_moved as f64 / self.top_moved.max(1) as f64;
        (bytes as f64 * share).round() as u64
    }
}

/// A loop device and the devices below its file, if those moved so much less that the file must be in the page cache.
pub(crate) struct CachedBelow {
    pub above: String,
    pub below: String,
    pub bytes: u64,
    /// Whether read-ahead had brought the rest into the page cache; `bytes` is then an estimate.
    pub read_ahead: bool,
}

/// Requests below that are this much larger than those above are those of a stream.
const STREAM: f64 = 4.0;

impl CachedBelow {
    /// The lowest such figure of the stack.
    fn of(phase: &Phase, physical: &Physical, direction: Direction, at_top: u64) -> Option<Self> {
        let all = [
            Self::by_page_cache(physical, direction),
            Self::by_counters(physical, direction),
            Self::by_requests(phase, physical, direction, at_top),
        ];
        all.into_iter().flatten().min_by_key(|cached| cached.bytes)
    }

    /// For O_DIRECT reads at random places of an image that is read ahead: a request that finds nothing in memory sends one to
    /// the devices below, so about as many as those had waited for them. In a stream, one request below is for many above.
    fn by_requests(phase: &Phase, physical: &Physical, direction: Direction, at_top: u64) -> Option<Self> {
        let gained = physical.image_cached_bytes.filter(|_| direction == Direction::Read && phase.direct)?;
        let (top, below) = (storage(physical, 0), storage(physical, 1));
        let sum = |devices: &[&DeviceDelta], of: fn(&DeviceDelta) -> u64| {
            devices.iter().fold(0u64, |sum, d| sum.saturating_add(of(d))) as f64
        };
        let requests = |devices: &[&DeviceDelta]| sum(devices, |d| d.read_ios.saturating_add(d.read_merges));
        let read = |devices: &[&DeviceDelta]| sum(devices, |d| d.read_bytes);
        let size = |devices: &[&DeviceDelta]| read(devices) / requests(devices).max(1.0);
        let share = requests(&below) / requests(&top).max(1.0);
        let ahead = gained as f64 > MOST_READ_AHEAD * read(&top) && size(&below) < STREAM * size(&top);
        let alone = !below.is_empty() && ram_below(physical, 0, direction) == 0;
        (alone && ahead && regime_of(share) != Regime::Device && share < 1.0).then(|| Self {
            above: names(&top),
            below: names(&below),
            bytes: (at_top as f64 * share).round() as u64,
            read_ahead: true,
        })
    }

    /// For reads, by what the image files gained in the page cache: the counters below also have other programs' reads.
    fn by_page_cache(physical: &Physical, direction: Direction) -> Option<Self> {
        let gained = physical.image_cached_bytes.filter(|_| direction == Direction::Read)?;
        let (top, below) = (storage(physical, 0), storage(physical, 1));
        // Memory below supplied part of it.
        let others = below.iter().fold(0u64, |sum, d| sum.saturating_add(d.read_bytes));
        let gained_there = if ram_below(physical, 0, direction) > 0 { gained.min(others) } else { gained };
        let read = top.iter().fold(0u64, |sum, d| sum.saturating_add(d.read_bytes));
        let supplied = regime_of(gained as f64 / read.max(1) as f64) == Regime::Device;
        (!below.is_empty() && !supplied).then(|| Self {
            above: names(&top),
            below: names(&below),
            bytes: gained_there,
            read_ahead: false,
        })
    }

    /// The threshold is half, because the counters of two devices are never read at the same time, and a file system in between
    /// may compress.
    fn by_counters(physical: &Physical, direction: Direction) -> Option<Self> {
        let sum = |devices: &[&DeviceDelta]| {
            devices.iter().fold(0u64, |sum, d| sum.saturating_add(direction.of(d)))
        };
        let levels: Vec<Vec<&DeviceDelta>> =
            (0..=physical.lowest_level().min(DEEPEST)).map(|n| storage(physical, n)).collect();
        let pairs = levels.windows(2).zip(0..).filter_map(|(pair, level)| {
            let (above, below) = (pair.first()?, pair.last()?);
            let loops = !above.is_empty() && above.iter().all(|d| d.kind == LOOP);
            let bytes = sum(below);
            let with_ram = bytes.saturating_add(ram_below(physical, level, direction));
            let cached = loops && !below.is_empty() && with_ram < sum(above).div_ceil(2);
            cached.then(|| Self { above: names(above), below: names(below), bytes, read_ahead: false })
        });
        pairs.min_by_key(|c| c.bytes)
    }
}

/// Bytes that main memory below a level moved, less those that memory at the level itself passed on to it.
fn ram_below(physical: &Physical, level: u32, direction: Direction) -> u64 {
    let of = |level| {
        let ram = physical.parts(level).into_iter().filter(|d| d.kind == RAM);
        ram.fold(0u64, |sum, d| sum.saturating_add(direction.of(d)))
    };
    of(level + 1).saturating_sub(of(level))
}

/// The devices of a level that are not main memory.
pub(super) fn storage(physical: &Physical, level: u32) -> Vec<&DeviceDelta> {
    physical.parts(level).into_iter().filter(|d| d.kind != RAM).collect()
}

pub(crate) fn names(devices: &[&DeviceDelta]) -> String {
    devices.iter().map(|d| d.name.as_str()).collect::<Vec<_>>().join("+")
}
