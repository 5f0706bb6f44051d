//! Disk number or cache number? The answer is computed here and nowhere else, from the bytes asked for, the bytes the device
//! moved meanwhile, this program's own I/O accounting, and the page-cache residency before the phase. A rate that was
//! served from memory is never called a disk's.

use crate::{Phase, Repetition};
use serde::{Deserialize, Serialize};

/// Where the data came from (reads) or had reached when the clock stopped (writes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Regime {
    /// At least 95 % of the bytes asked for were moved by the device inside the phase.
    Device,
    /// At most 5 % were.
    PageCache,
    /// Something between.
    Mixed,
    /// There is no block device below (tmpfs): it is memory by construction.
    Memory,
    /// The kernel did not tell.
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
            Self::Memory => "memory file system",
            Self::Unknown => "unknown",
        }
    }
}

/// The verdict on one repetition, with the figures that prove it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The verdict.
    pub regime: Regime,
    /// Device bytes per byte asked for, in the phase's own direction; may exceed 1 (read-ahead, metadata, other programs).
    pub device_share: Option<f64>,
    /// One sentence with the figures.
    pub evidence: String,
}

/// At and above this share the device served the phase; at and below 1 minus this share the cache did.
const MOSTLY: f64 = 0.95;

impl Origin {
    /// No repetition, or no figures.
    #[must_use]
    pub fn unknown() -> Self {
        Self { regime: Regime::Unknown, device_share: None, evidence: "no counters were read".into() }
    }

    /// Judges one repetition of a phase.
    #[must_use]
    pub fn of(phase: &Phase, repetition: &Repetition) -> Self {
        let physical = &repetition.physical;
        if physical.devices.is_empty() {
            let why = physical
                .note
                .clone()
                .unwrap_or_else(|| "no block device is known below this file system".into());
            let memory = physical.method == "memory";
            let regime = if memory { Regime::Memory } else { Regime::Unknown };
            return Self { regime, device_share: None, evidence: why };
        }
        let asked: u64 = repetition.workers.iter().map(|w| w.bytes + w.uncounted_bytes).sum();
        if asked == 0 {
            return Self {
                regime: Regime::Unknown,
                device_share: None,
                evidence: "no file data was moved".into(),
            };
        }
        let only_writes = phase.writes && !phase.reads;
        let device = &physical.devices[0];
        // Reads: our own accounting names the pages that *we* had fetched, so a neighbour's reads do not turn a cached phase
        // into a device phase; the device's own counter bounds it from above. Both directions are added for a mixed phase.
        let read = physical.own_read_bytes.map_or(device.read_bytes, |own| own.min(device.read_bytes));
        // Writes: only what the device had written when the clock stopped can be in the rate. An fsync outside the clock moves
        // the rest without being timed, and would make a cache number look like a device number.
        let written = physical.written_in_clock_bytes.unwrap_or(device.write_bytes).min(device.write_bytes);
        let moved = match (phase.reads, phase.writes) {
            (true, true) => read.saturating_add(written),
            (false, true) => written,
            _ => read,
        };
        let share = moved as f64 / asked as f64;
        let regime = if share >= MOSTLY {
            Regime::Device
        } else if share <= 1.0 - MOSTLY {
            Regime::PageCache
        } else {
            Regime::Mixed
        };
        let verb = if only_writes { "written to" } else { "moved by" };
        let mut evidence = format!(
            "{} asked for, {} {verb} {} while the clock ran ({:.0} %)",
            bytes_words(asked),
            bytes_words(moved),
            device.name,
            share * 100.0
        );
        if phase.writes && device.write_bytes - written > asked / 20 {
            let later = bytes_words(device.write_bytes - written);
            evidence += &format!(", {later} more after the clock had stopped");
        }
        if let Some(cached) = repetition.resident_before.and_then(|r| r.cached_share()) {
            evidence += &format!(", {:.0} % of the file was cached before", cached * 100.0);
        }
        Self { regime, device_share: Some(share), evidence }
    }
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
    use crate::{Axes, DeviceDelta, Physical, Worker};

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
    fn half_and_half_is_mixed() {
        assert_eq!(
            phase(true, false, 1 << 20, disk(1 << 19, 0, Some(1 << 19))).origin().regime,
            Regime::Mixed
        );
    }

    #[test]
    fn sizes_read_naturally() {
        assert_eq!(bytes_words(65536), "64 KiB");
        assert_eq!(bytes_words(1_610_612_736), "1.5 GiB");
        assert_eq!(bytes_words(0), "0 B");
    }
}
