//! Disk number or cache number? Answered only here, from the bytes requested, the bytes the device moved in that time, this
//! program's own I/O accounting, and the page-cache residency before the phase. A rate served from memory is never called a
//! disk's.
//!
//! Each direction is judged against its own bytes: a device that writes more than was requested (a journal, a neighbour) does
//! not make up for reads that never reached it. `cache::split` separates the bytes.

use crate::cache::{self, Direction, DirectionTraffic};
use crate::{DeviceDelta, Phase, Physical, Repetition};
use serde::{Deserialize, Serialize};

/// Where the data came from (reads) or had reached when the clock stopped (writes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Regime {
    /// At least 95 % of the requested bytes were moved by the device inside the phase.
    Device,
    /// At most 5 % were moved by the device.
    PageCache,
    /// Between the two.
    Mixed,
    /// At least 95 % of the bytes read were holes or unwritten extents, and the device moved at most 5 %: zeros made by the
    /// kernel, which say nothing about a device or the page cache.
    Holes,
    /// There is no block device below (tmpfs), or it is main memory itself (zram): memory by construction.
    Memory,
    /// Nothing was read or written: the back-end makes no call.
    NoIo,
    /// The kernel does not say.
    Unknown,
}

impl Regime {
    /// The words used in reports.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::PageCache => "page cache",
            Self::Mixed => "page cache and device",
            Self::Holes => "holes",
            Self::Memory => "memory file system",
            Self::NoIo => "no I/O",
            Self::Unknown => "unknown",
        }
    }
}

/// The verdict on one repetition, with the figures that prove it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The verdict.
    pub regime: Regime,
    /// Device bytes per requested byte, in the phase's own direction; may exceed 1 (read-ahead, metadata, other programs). In a
    /// phase of both directions, device bytes beyond one direction's own bytes are not counted.
    pub device_share: Option<f64>,
    /// One sentence with the figures.
    pub evidence: String,
}

/// At or above this share the device served the phase; at or below 1 minus this share the cache did.
const MOSTLY: f64 = 0.95;

/// What reads more than this times what was requested (a FUSE server, a loop device's file) reads ahead, or for others: bytes
/// then do not tell how much was for us.
pub(crate) const MOST_READ_AHEAD: f64 = 1.25;

const NO_IO: &str = "the back-end null makes no call, so nothing was read or written";

const PASSTHROUGH: &str =
    "every operation was an NVMe command to the device, past the page cache and past the kernel's counters";

impl Origin {
    /// Without a repetition or figures.
    #[must_use]
    pub fn unknown() -> Self {
        Self { regime: Regime::Unknown, device_share: None, evidence: "no counters were read".into() }
    }

    /// Judges a phase by all repetitions that moved data. Its figures are their medians, which are of what served most of them.
    pub(crate) fn of_phase(phase: &Phase) -> Self {
        let all = Self::of_repetitions(phase);
        let Some(last) = all.last() else {
            return phase.repetitions.last().map_or_else(Self::unknown, |r| Self::of(phase, r));
        };
        let Some(served) = served_differently(&all) else { return last.clone() };
        let with = |regime: Regime| all.iter().filter(move |origin| origin.regime == regime);
        let most =
            all.iter().map(|origin| origin.regime).find(|regime| with(*regime).count() * 2 > all.len());
        let regime = most.unwrap_or_else(|| without_majority(&all));
        let example = with(regime).next_back();
        let evidence = format!("{}; repetitions differ: {served}", example.unwrap_or(last).evidence);
        let device_share = example.map_or_else(|| mean_share(&all), |origin| origin.device_share);
        Self { regime, device_share, evidence }
    }

    /// The verdict on each repetition that moved data.
    pub(crate) fn of_repetitions(phase: &Phase) -> Vec<Self> {
        let moved = |r: &&Repetition| cache::all_asked(r) > 0;
        phase.repetitions.iter().filter(moved).map(|r| Self::of(phase, r)).collect()
    }

    /// Judges one repetition of a phase.
    #[must_use]
    pub fn of(phase: &Phase, repetition: &Repetition) -> Self {
        let physical = &repetition.physical;
        if physical.no_io() {
            return Self { regime: Regime::NoIo, device_share: None, evidence: NO_IO.into() };
        }
        if physical.is_passthrough() {
            return Self { regime: Regime::Device, device_share: None, evidence: PASSTHROUGH.into() };
        }
        if physical.is_memory() {
            return Self { regime: Regime::Memory, device_share: None, evidence: memory_words(physical) };
        }
        let Some(device) = physical.devices.first() else {
            if cache::held_all(phase, repetition) {
                return Self { regime: Regime::PageCache, device_share: None, evidence: HELD_ALL.into() };
            }
            let why = physical.note.clone();
            let why = why.unwrap_or_else(|| "no block device is known below this file system".into());
            return Self { regime: Regime::Unknown, device_share: None, evidence: why };
        };
        let all = cache::all_asked(repetition);
        if physical.is_served() && device.read_bytes as f64 > MOST_READ_AHEAD * all as f64 {
            let evidence = format!(
                "the program that serves the files read {} from storage, ahead or for others, too, while {} were requested",
                bytes_words(device.read_bytes),
                bytes_words(all)
            );
            return Self { regime: Regime::Unknown, device_share: None, evidence };
        }
        let traffic = cache::traffic(phase, repetition);
        match traffic.as_slice() {
            _ if all == 0 => Self {
                regime: Regime::Unknown,
                device_share: None,
                evidence: "no file data was moved".into(),
            },
            [] => undivided(all, phase, repetition, device),
            [one] => Self {
                regime: match one.regime() {
                    _ if one.is_holes() => Regime::Holes,
                    Regime::PageCache if one.fetched > 0 => Regime::Mixed,
                    other => other,
                },
                device_share: Some(one.share()),
                evidence: words(one, device) + &cached_words(repetition),
            },
            several => {
                let first = several[0].regime();
                let agree = several.iter().all(|w| w.regime() == first);
                let words: Vec<String> = several
                    .iter()
                    .map(|w| format!("{}: {}", w.direction.words(), words(w, device)))
                    .collect();
                let moved: f64 = several.iter().map(|w| w.device_part() as f64).sum();
                let asked: f64 = several.iter().map(|w| w.asked as f64).sum();
                Self {
                    regime: if agree { first } else { Regime::Mixed },
                    device_share: Some(moved / asked),
                    evidence: words.join("; ") + &cached_words(repetition),
                }
            }
        }
    }
}

/// Of repetitions none of whose regimes is that of most.
fn without_majority(repetitions: &[Origin]) -> Regime {
    let any = |wanted: &[Regime]| repetitions.iter().any(|origin| wanted.contains(&origin.regime));
    let by_share = |o: &Origin| o.device_share.is_some_and(|share| regime_of(share) == o.regime);
    match mean_share(repetitions) {
        _ if any(&[Regime::Unknown, Regime::NoIo]) => Regime::Unknown,
        _ if !any(&[Regime::Device, Regime::Mixed]) => Regime::PageCache,
        Some(mean) if repetitions.iter().all(by_share) => regime_of(mean),
        _ => Regime::Mixed,
    }
}

fn mean_share(repetitions: &[Origin]) -> Option<f64> {
    let shares: Option<Vec<f64>> = repetitions.iter().map(|o| Some(o.device_share?.min(1.0))).collect();
    shares.map(|shares| shares.iter().sum::<f64>() / shares.len() as f64)
}

/// "2 of 3 page cache, 1 of 3 device"; `None` if all repetitions were served by the same.
pub(crate) fn served_differently(repetitions: &[Origin]) -> Option<String> {
    let mut regimes: Vec<Regime> = Vec::new();
    for origin in repetitions {
        if !regimes.contains(&origin.regime) {
            regimes.push(origin.regime);
        }
    }
    let words = |regime: &Regime| {
        let count = repetitions.iter().filter(|origin| origin.regime == *regime).count();
        format!("{count} of {} {}", repetitions.len(), regime.words())
    };
    (regimes.len() > 1).then(|| regimes.iter().map(words).collect::<Vec<_>>().join(", "))
}

/// What is known without a device.
const HELD_ALL: &str = "all of the files were in this machine's page cache before and after, so nothing below it had to supply them";

/// The verdict for a share.
pub(crate) fn regime_of(share: f64) -> Regime {
    if share >= MOSTLY {
        Regime::Device
    } else if share <= 1.0 - MOSTLY {
        Regime::PageCache
    } else {
        Regime::Mixed
    }
}

/// The requested and moved bytes, as part of a sentence.
fn words(traffic: &DirectionTraffic, device: &DeviceDelta) -> String {
    let verb = if traffic.direction == Direction::Write { "written to" } else { "moved by" };
    let percent = traffic.share() * 100.0;
    let mut words = format!(
        "{} requested, {} {verb} {}",
        bytes_words(traffic.asked),
        bytes_words(traffic.at_top),
        traffic.ram.as_ref().map_or(&device.name, |ram| &ram.storage)
    );
    match (&traffic.cached, traffic.unpacked) {
        (None, Some(of_files)) => {
            words += &format!(
                " while the clock ran, compressed: {} of the files ({percent:.0} %)",
                bytes_words(of_files)
            );
        }
        (None, None) => words += &format!(" while the clock ran ({percent:.0} %)"),
        (Some(c), _) => {
            // A loop device other than the file system's own has to be named.
            let whose = if c.above == device.name { "it".to_string() } else { c.above.clone() };
            let (about, rest) = match c.read_ahead {
                true => ("about ", "read-ahead had brought the rest into the page cache"),
                false => ("", "its backing file lies in the page cache"),
            };
            words += &format!(
                ", of which {about}{} reached {} below {whose}: {rest} ({percent:.0} %)",
                bytes_words(c.bytes.min(traffic.at_top)),
                c.below
            );
        }
    }
    if let Some(ram) = &traffic.ram {
        words += &format!(", {} {verb} {}, which is main memory", bytes_words(ram.moved), ram.memory);
    }
    if traffic.is_holes() {
        words += &format!(", {} of it holes or unwritten extents", bytes_words(traffic.holes));
    }
    if traffic.later > traffic.asked / 20 {
        words += &format!(", {} more after the clock had stopped", bytes_words(traffic.later));
    }
    if traffic.bottomless {
        words += &format!(", what lies below {} is not known", device.name);
    }
    words
}

/// A phase of both directions that did not record the bytes of each: if hardly anything was moved, the cache served both; else
/// nothing can be said.
fn undivided(asked: u64, phase: &Phase, repetition: &Repetition, device: &DeviceDelta) -> Origin {
    let traffic =
        [Direction::Read, Direction::Write].map(|d| DirectionTraffic::of(d, asked, phase, repetition));
    let moved = traffic.iter().fold(0u64, |sum, w| sum.saturating_add(w.moved));
    let share = moved as f64 / asked as f64;
    let cached = regime_of(share) == Regime::PageCache;
    Origin {
        regime: if cached { Regime::PageCache } else { Regime::Unknown },
        device_share: Some(share),
        evidence: format!(
            "{} requested, {} moved by {} while the clock ran ({:.0} %), reads and writes together; how much of it was read is not recorded",
            bytes_words(asked),
            bytes_words(moved),
            device.name,
            share * 100.0
        ),
    }
}

fn cached_words(repetition: &Repetition) -> String {
    let share = repetition.resident_before.and_then(|r| r.cached_share());
    share.map_or(String::new(), |s| format!(", {:.0} % of the file was cached before", s * 100.0))
}

fn memory_words(physical: &Physical) -> String {
    let note = physical.note.clone();
    if physical.devices.is_empty() {
        return note.unwrap_or_else(|| "the file system lives in memory".into());
    }
    let is_ram = |devices: &[&DeviceDelta]| devices.iter().all(|d| d.kind == crate::physical::RAM);
    let lowest = physical.level(physical.lowest_level());
    let named = if is_ram(&lowest) { lowest } else { physical.level(0) };
    let why = note.map_or(String::new(), |n| format!(" ({n})"));
    format!("{} is main memory that serves as a disk{why}", cache::names(&named))
}

/// "64 KiB", "1.5 GiB": at most one decimal, powers of two.
#[must_use]
pub fn bytes_words(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 || value >= 100.0 || (value - value.round()).abs() < 0.05 {
        format!("{value:.0} {}", UNITS[unit])
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axes, DeviceDelta, Histogram, OpKind, OpStat, Physical, Worker};

    fn phase(reads: bool, writes: bool, asked: u64, physical: Physical) -> Phase {
        let worker = Worker { bytes: asked, elapsed_ns: 1, ..Worker::default() };
        let repetition = Repetition { workers: vec![worker], physical, ..Repetition::default() };
        Phase {
            seq: 0,
            name: "p".into(),
            axes: Axes::default(),
            reads,
            writes,
            sync_in_clock: false,
            direct: false,
            repetitions: vec![repetition],
        }
    }

    fn disk(read: u64, write: u64, own_read: Option<u64>) -> Physical {
        let d = DeviceDelta {
            name: "vda".into(),
            read_bytes: read,
            write_bytes: write,
            ..DeviceDelta::default()
        };
        Physical {
            method: "diskstats".into(),
            devices: vec![d],
            own_read_bytes: own_read,
            ..Physical::default()
        }
    }

    #[test]
    fn a_read_that_moved_nothing_is_a_page_cache_number() {
        assert_eq!(phase(true, false, 1 << 30, disk(0, 0, Some(0))).origin().regime, Regime::PageCache);
    }

    #[test]
    fn a_read_that_moved_everything_is_a_device_number() {
        let o = phase(true, false, 1 << 20, disk(1 << 20, 0, Some(1 << 20))).origin();
        assert_eq!(o.regime, Regime::Device);
        assert_eq!(o.device_share, Some(1.0));
    }

    #[test]
    fn a_neighbours_reads_do_not_make_it_a_device_number() {
        assert_eq!(phase(true, false, 1 << 20, disk(1 << 24, 0, Some(0))).origin().regime, Regime::PageCache);
    }

    #[test]
    fn a_buffered_write_not_yet_written_back_is_a_page_cache_number() {
        assert_eq!(phase(false, true, 1 << 30, disk(0, 4096, None)).origin().regime, Regime::PageCache);
    }

    #[test]
    fn what_an_fsync_outside_the_clock_moves_is_not_in_the_rate() {
        let mut physical = disk(0, 1 << 30, None);
        physical.written_in_clock_bytes = Some(1 << 20);
        let o = phase(false, true, 1 << 30, physical).origin();
        assert_eq!(o.regime, Regime::PageCache);
        assert!(o.evidence.contains("1023 MiB more after the clock had stopped"), "{}", o.evidence);
    }

    #[test]
    fn most_repetitions_decide_what_served_a_phase() {
        let all = |moved: &[u64]| {
            let of = |moved: u64| phase(true, false, 100 * MIB, disk(moved * MIB, 0, Some(moved * MIB)));
            let mut all = of(0);
            all.repetitions = moved.iter().flat_map(|moved| of(*moved).repetitions).collect();
            all.origin()
        };
        let last_from_device = all(&[0, 0, 100]);
        assert_eq!((last_from_device.regime, last_from_device.device_share), (Regime::PageCache, Some(0.0)));
        let evidence = last_from_device.evidence;
        assert!(evidence.starts_with("100 MiB requested, 0 B moved by vda"), "{evidence}");
        assert!(evidence.ends_with("; repetitions differ: 2 of 3 page cache, 1 of 3 device"), "{evidence}");
        assert_eq!(all(&[100, 0, 100]).regime, Regime::Device);
        assert_eq!(all(&[0, 100]).regime, Regime::Mixed);
        assert_eq!(all(&[0, 50, 100]).regime, Regime::Mixed);
        assert_eq!(all(&[100, 94]).regime, Regime::Device, "97 % on average");
        assert_eq!(all(&[300, 0]).device_share, Some(0.5), "read-ahead of one does not count for the other");
    }

    #[test]
    fn repetitions_without_data_or_device_are_judged_for_what_they_are() {
        let read = || phase(true, false, 100 * MIB, disk(100 * MIB, 0, Some(100 * MIB)));
        let mut interrupted = read();
        let nothing = Repetition { physical: disk(0, 0, Some(0)), ..Repetition::default() };
        interrupted.repetitions.push(nothing);
        assert_eq!(interrupted.origin().regime, Regime::Device, "the last one moved nothing");
        let mut blind = read();
        blind.repetitions.push(phase(true, false, 100 * MIB, Physical::default()).repetitions.remove(0));
        assert_eq!(blind.origin().regime, Regime::Unknown);
        assert!(
            blind.origin().evidence.starts_with("no block device is known"),
            "{}",
            blind.origin().evidence
        );
        let mut holes = phase(true, false, 100 * MIB, disk(0, 0, Some(0)));
        holes.repetitions.push(holes.repetitions[0].clone());
        let extents = crate::Extents { bytes: MIB, hole_bytes: MIB, ..crate::Extents::default() };
        holes.repetitions[0].extents = Some(extents);
        assert_eq!(holes.origin().regime, Regime::PageCache, "no device had a part in it");
    }

    #[test]
    fn half_and_half_is_mixed() {
        assert_eq!(
            phase(true, false, 1 << 20, disk(1 << 19, 0, Some(1 << 19))).origin().regime,
            Regime::Mixed
        );
    }

    const MIB: u64 = 1 << 20;

    /// A device of the stack that moved the given bytes both ways.
    fn device(name: &str, kind: &str, level: u32, bytes: u64) -> DeviceDelta {
        DeviceDelta {
            name: name.into(),
            kind: kind.into(),
            level,
            read_bytes: bytes,
            write_bytes: bytes,
            ..DeviceDelta::default()
        }
    }

    fn stack(devices: Vec<DeviceDelta>) -> Physical {
        Physical { method: "diskstats".into(), devices, ..Physical::default() }
    }

    #[test]
    fn a_loop_device_whose_file_is_cached_gives_a_page_cache_number() {
        let cached = || stack(vec![device("loop0", "loop", 0, 135 * MIB), device("vda", "disk", 1, 0)]);
        let o = phase(true, false, 135 * MIB, cached()).origin();
        assert_eq!((o.regime, o.device_share), (Regime::PageCache, Some(0.0)));
        let wanted = "135 MiB moved by loop0, of which 0 B reached vda below it: its backing file lies in the page cache";
        assert!(o.evidence.contains(wanted), "{}", o.evidence);
        let o = phase(false, true, 135 * MIB, cached()).origin();
        assert_eq!(o.regime, Regime::PageCache, "{}", o.evidence);
    }

    #[test]
    fn a_loop_device_whose_file_is_read_from_the_disk_gives_a_device_number() {
        for below in [100, 300, 60] {
            let p = stack(vec![device("loop0", "loop", 0, 100 * MIB), device("vda", "disk", 1, below * MIB)]);
            assert_eq!(phase(true, false, 100 * MIB, p).origin().regime, Regime::Device, "{below}");
        }
    }

    #[test]
    fn a_loop_device_that_is_partly_cached_gives_a_mixed_number() {
        let p = stack(vec![
            device("loop0", "loop", 0, 100 * MIB),
            device("vda1", "partition", 1, 30 * MIB),
            device("vda", "disk", 2, 30 * MIB),
        ]);
        let o = phase(true, false, 100 * MIB, p).origin();
        assert_eq!((o.regime, o.device_share), (Regime::Mixed, Some(0.3)), "{}", o.evidence);
    }

    #[test]
    fn a_crypt_on_a_loop_device_is_judged_below_the_loop() {
        let p = stack(vec![
            device("dm-0", "device-mapper", 0, 100 * MIB),
            device("loop0", "loop", 1, 100 * MIB),
            device("vda", "disk", 2, 0),
        ]);
        let o = phase(false, true, 100 * MIB, p).origin();
        assert_eq!(o.regime, Regime::PageCache);
        assert!(o.evidence.contains("of which 0 B reached vda below loop0"), "{}", o.evidence);
    }

    #[test]
    fn mirrors_and_parity_change_nothing() {
        // A read from a mirror comes from one half; a write to RAID 5 moves more below; LVM on a cache may move less.
        let raid = |below: u64| {
            stack(vec![
                device("md0", "md", 0, 100 * MIB),
                device("sda", "disk", 1, below * MIB),
                device("sdb", "disk", 1, below * MIB),
            ])
        };
        for below in [0, 10, 50, 100, 400] {
            assert_eq!(phase(false, true, 100 * MIB, raid(below)).origin().regime, Regime::Device, "{below}");
            assert_eq!(phase(true, false, 100 * MIB, raid(below)).origin().regime, Regime::Device, "{below}");
        }
    }

    #[test]
    fn main_memory_at_the_bottom_is_memory() {
        let zram = stack(vec![device("zram0", "ram", 0, 100 * MIB)]);
        let o = phase(false, true, 100 * MIB, zram).origin();
        assert_eq!((o.regime, o.device_share), (Regime::Memory, None));
        assert!(o.evidence.contains("zram0 is main memory"), "{}", o.evidence);
        let deep = stack(vec![device("loop0", "loop", 0, MIB), device("ram0", "ram", 1, MIB)]);
        assert_eq!(phase(true, false, MIB, deep).origin().regime, Regime::Memory);
        // A journal in memory does not turn a disk into memory.
        let journal = stack(vec![
            device("sda1", "partition", 0, MIB),
            device("ram0", "ram", 0, MIB),
            device("sda", "disk", 1, MIB),
        ]);
        assert_eq!(phase(true, false, MIB, journal).origin().regime, Regime::Device);
    }

    #[test]
    fn a_loop_device_on_nothing_known_says_so() {
        let o = phase(true, false, MIB, stack(vec![device("loop0", "loop", 0, MIB)])).origin();
        assert!(o.evidence.contains("what lies below loop0 is not known"), "{}", o.evidence);
    }

    #[test]
    fn below_a_loop_the_clock_still_bounds_the_writes() {
        let mut p = stack(vec![device("loop0", "loop", 0, 100 * MIB), device("vda", "disk", 1, 100 * MIB)]);
        p.written_in_clock_bytes = Some(MIB);
        assert_eq!(phase(false, true, 100 * MIB, p).origin().regime, Regime::PageCache);
    }

    fn both(read: u64, written: u64, physical: Physical) -> Phase {
        let mut phase = phase(true, true, read + written, physical);
        let stat = |op, bytes| OpStat { op, ops: 1, bytes, latency: Histogram::default() };
        phase.repetitions[0].workers[0].stats =
            vec![stat(OpKind::Read, read), stat(OpKind::Write, written), stat(OpKind::Sync, 0)];
        phase
    }

    #[test]
    fn written_bytes_do_not_make_up_for_cached_reads() {
        // The journal doubles the writes; the reads never leave the cache.
        let o = both(64 * MIB, 64 * MIB, disk(0, 128 * MIB, Some(0))).origin();
        assert_eq!((o.regime, o.device_share), (Regime::Mixed, Some(0.5)));
        for part in ["reads: 64 MiB requested, 0 B", "writes: 64 MiB requested, 128 MiB"] {
            assert!(o.evidence.contains(part), "{}", o.evidence);
        }
        let device = both(64 * MIB, 32 * MIB, disk(64 * MIB, 32 * MIB, Some(64 * MIB))).origin();
        assert_eq!((device.regime, device.device_share), (Regime::Device, Some(1.0)));
        assert_eq!(both(64 * MIB, 32 * MIB, disk(0, 0, Some(0))).origin().regime, Regime::PageCache);
    }

    #[test]
    fn a_direction_without_bytes_is_not_judged() {
        assert_eq!(both(64 * MIB, 0, disk(64 * MIB, 0, Some(64 * MIB))).origin().regime, Regime::Device);
    }

    #[test]
    fn both_directions_without_their_bytes_are_the_caches_or_unknown() {
        let o = phase(true, true, 64 * MIB, disk(0, 64 * MIB, Some(0))).origin();
        assert_eq!(o.regime, Regime::Unknown, "{}", o.evidence);
        assert_eq!(phase(true, true, 64 * MIB, disk(0, 0, Some(0))).origin().regime, Regime::PageCache);
    }

    #[test]
    fn sizes_read_naturally() {
        assert_eq!(bytes_words(65536), "64 KiB");
        assert_eq!(bytes_words(1_610_612_736), "1.5 GiB");
        assert_eq!(bytes_words(0), "0 B");
    }
}
