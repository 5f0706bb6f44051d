//! One sentence that says whose number it is, for a reader unfamiliar with page caches.

use super::split::{self, Direction, DirectionTraffic};
use super::{ReadTruth, WriteTruth};
use crate::origin::{bytes_words, regime_of};
use crate::physical::{JOURNAL, LOOP, SERVER};
use crate::{DeviceDelta, Origin, Phase, Physical, Regime, Repetition};

/// Less than this fraction (one part in 20) of the requested bytes is not mentioned.
const WORTH_SAYING: u64 = 20;

pub(super) fn of(
    phase: &Phase,
    repetition: &Repetition,
    origin: &Origin,
    traffic: &[DirectionTraffic],
) -> String {
    let physical = &repetition.physical;
    let server = physical.devices.first().is_some_and(|d| d.kind == SERVER);
    let head = match origin.regime {
        Regime::PageCache if physical.is_served() => "This is memory's number",
        Regime::PageCache => "This is a page-cache number",
        Regime::Device if server => "This is the server's number",
        Regime::Device => "This is a device number",
        Regime::Mixed if split::part_holes(traffic) => "This number is only partly the device's",
        Regime::Mixed => "This number is partly memory's, partly the device's",
        Regime::Holes => "This is neither a device's nor the page cache's number",
        Regime::Memory => {
            // Others than a RAM disk's pages can be swapped out.
            let swap = if origin.evidence.contains(" is a tmpfs") {
                " If pages of it were swapped out, those came back from the swap device."
            } else {
                ""
            };
            return format!("This is main memory's number: {}.{swap}", origin.evidence);
        }
        Regime::NoIo => {
            return format!("This is neither memory's number nor a device's: {}.", origin.evidence);
        }
        Regime::Unknown => {
            return format!(
                "It is unknown whether this is memory's number or a device's: {}.",
                origin.evidence.trim_end_matches('.')
            );
        }
    };
    if traffic.is_empty() {
        return format!("{head}: {}.", origin.evidence);
    }
    let parts: Vec<String> = traffic
        .iter()
        .filter(|w| w.asked > 0)
        .filter_map(|traffic| {
            let device = moved_by(physical, traffic.direction);
            match traffic.direction {
                Direction::Read => Some(read(phase, traffic, &traffic.read_truth()?, &device)),
                Direction::Write => {
                    Some(written(phase, repetition, traffic, &traffic.write_truth()?, &device))
                }
            }
        })
        .collect();
    let aside = if split::through_cache(phase, repetition) {
        " O_DIRECT was requested, but the files entered the page cache: the file system reads them through it, or another program read them."
    } else if split::written_through_cache(phase, repetition) {
        " O_DIRECT was requested, but what was written went through the page cache: the file system writes these files through it (btrfs does for its checksums), or another program wrote them."
    } else {
        ""
    };
    format!("{head}: {}.{aside}", parts.join("; "))
}

/// The file system's own device; of several, those that moved something.
fn moved_by(physical: &Physical, direction: Direction) -> String {
    if let Some(part) = physical.part_memory() {
        let moved: Vec<&DeviceDelta> = part.storage.iter().copied().filter(|d| direction.of(d) > 0).collect();
        return split::names(if moved.is_empty() { &part.storage } else { &moved });
    }
    let own = physical.devices.iter().skip(1).filter(|d| d.level == 0 && d.kind != JOURNAL);
    let moved: Vec<&DeviceDelta> = own.filter(|d| direction.of(d) > 0).collect();
    let first = || physical.devices.first().map_or_else(|| "the device".into(), |d| d.name.clone());
    if moved.is_empty() { first() } else { split::names(&moved) }
}

fn read(phase: &Phase, traffic: &DirectionTraffic, truth: &ReadTruth, device: &str) -> String {
    let asked = bytes_words(truth.asked_bytes);
    let from_device = percent(truth.device_bytes, truth.asked_bytes);
    let from_cache = percent(truth.cache_bytes, truth.asked_bytes);
    let moved = bytes_words(traffic.at_top);
    let mut words = match (&traffic.cached, regime_of(traffic.share())) {
        (Some(c), Regime::PageCache | Regime::Mixed) if c.read_ahead => format!(
            "about {from_cache} of the {asked} read came from memory: {} is a file, and read-ahead from {} had brought that data into the page cache",
            c.above, c.below,
        ),
        (Some(c), Regime::PageCache | Regime::Mixed) => format!(
            "{from_cache} of the {asked} read came from memory: {} moved {moved}, but it is a file, of which only {} came from {} below",
            c.above,
            bytes_words(c.bytes),
            c.below,
        ),
        (_, Regime::Device) => {
            let direct =
                phase.direct && !traffic.through_cache && !traffic.is_served && !traffic.through_image;
            let past = if direct { ", past the page cache (O_DIRECT)" } else { "" };
            format!("{from_device} of the {asked} read came from {device}{past}")
        }
        (_, Regime::Mixed) if truth.cache_bytes > 0 => {
            let which =
                if traffic.unpacked.is_none() { format!(", which moved {moved}") } else { String::new() };
            format!(
                "of the {asked} read {from_cache} came from memory and {from_device} from {device}{which}"
            )
        }
        (_, Regime::Mixed) => format!("of the {asked} read {from_device} came from {device}"),
        _ if !traffic.is_holes() && (truth.cache_bytes > 0 || truth.hole_bytes == 0) => {
            let which = if traffic.is_shrunk() { String::new() } else { format!("; {device} moved {moved}") };
            format!("{from_cache} of the {asked} read came from memory{which}")
        }
        _ => format!("{device} moved {moved} for the {asked} read"),
    };
    if let Some(ram) = &traffic.ram {
        words += &format!("; {} moved {}, but is main memory", ram.memory, bytes_words(ram.moved));
    }
    if worth(truth.hole_bytes, truth) {
        let holes = percent(truth.hole_bytes, truth.asked_bytes);
        words += &format!("; {holes} are holes, which read as zeros without any device");
    }
    if traffic.is_shrunk() {
        words += &format!("; the file system compresses, so {device} moved {moved} for it");
    } else if worth(truth.excess_bytes, truth) {
        let it = if traffic.ram.is_some() { device } else { "it" };
        words += &format!(
            "; {it} moved {} more than was requested (read-ahead, metadata, parts of pages)",
            bytes_words(truth.excess_bytes)
        );
    }
    words + &not_known_below(traffic, device)
}

fn worth(bytes: u64, truth: &ReadTruth) -> bool {
    bytes > truth.asked_bytes / WORTH_SAYING
}

fn written(
    phase: &Phase,
    repetition: &Repetition,
    traffic: &DirectionTraffic,
    truth: &WriteTruth,
    device: &str,
) -> String {
    // For a file in memory, the bytes that reached the device below count.
    let physical = &repetition.physical;
    let in_memory = in_image(traffic, physical).filter(|_| regime_of(traffic.share()) != Regime::Device);
    let device = in_memory.as_ref().map_or(device, |(_, below)| below.as_str());
    let asked = bytes_words(truth.asked_bytes);
    let share = |bytes| percent(bytes, truth.asked_bytes);
    let flushed = physical.part_memory().map_or_else(|| physical.level(0), |part| part.storage);
    let flushes: u64 = flushed.iter().map(|d| d.flush_ios).sum();
    let mut words = format!(
        "{} of the {asked} written had reached {device} when the clock stopped",
        share(truth.in_clock_bytes)
    );
    if phase.sync_in_clock && flushes > 0 {
        let many = if flushes == 1 { "flush" } else { "flushes" };
        words += &format!(", with {flushes} {many}");
    }
    if traffic.fetched > 0 {
        let top = physical.devices.first().map_or("the device", |d| d.name.as_str());
        words += &format!("; {} were read from {top} to do so", bytes_words(traffic.fetched));
    }
    if let Some(journal) = repetition.physical.journal().filter(|j| j.write_bytes > 0) {
        words += &journal_words(journal);
    }
    if let Some(ram) = &traffic.ram {
        words += &format!("; {} received {}, but is main memory", ram.memory, bytes_words(ram.moved));
    }
    let worth = |bytes: u64| bytes > truth.asked_bytes / WORTH_SAYING;
    if worth(truth.later_bytes) {
        words += &format!(
            "; {} followed after the clock stopped ({})",
            share(truth.later_bytes),
            bytes_words(truth.later_bytes)
        );
    }
    match truth.dirty_bytes {
        Some(dirty) if worth(dirty) => {
            words += &format!("; {} was only in memory at the end ({})", share(dirty), bytes_words(dirty));
        }
        None if worth(truth.lost_bytes) => {
            words +=
                &format!("; the kernel does not report where the other {} went", share(truth.lost_bytes));
        }
        _ => {}
    }
    if truth.dirty_bytes.is_some() && worth(truth.lost_bytes) && in_memory.is_none() {
        words += &format!(
            "; {} never reached it: overwritten or deleted in memory before ({})",
            share(truth.lost_bytes),
            bytes_words(truth.lost_bytes)
        );
    }
    if let Some((above, below)) = &in_memory {
        let given = physical.devices.first().map_or(0, |d| d.write_bytes);
        words += &format!(
            "; {above} received {}, but it is a file: what has not reached {below} is in memory or was overwritten there",
            bytes_words(given),
        );
    }
    if traffic.is_shrunk() {
        words += &format!(
            "; the file system compresses, so {device} wrote {} for it",
            bytes_words(traffic.at_top)
        );
    } else if worth(truth.excess_bytes) && in_memory.is_none() {
        // With a journal or memory named before, "it" would be that.
        let (it, what) = match (physical.journal(), &traffic.ram) {
            (Some(_), _) => (device, "metadata, other programs"),
            (None, Some(_)) => (device, "journal, metadata, other programs"),
            (None, None) => ("it", "journal, metadata, other programs"),
        };
        words += &format!("; {it} wrote {} more ({what})", bytes_words(truth.excess_bytes));
    }
    words + &not_known_below(traffic, device)
}

/// The loop device and the devices below its file, if written data waits in that file: the disk below moved less, or moved more
/// for others.
fn in_image(traffic: &DirectionTraffic, physical: &Physical) -> Option<(String, String)> {
    if let Some(cached) = &traffic.cached {
        return Some((cached.above.clone(), cached.below.clone()));
    }
    let (top, below) = (physical.devices.first()?, split::storage(physical, 1));
    let waits = physical.waiting.is_some_and(|w| w.below_bytes > 0);
    (top.kind == LOOP && waits && !below.is_empty()).then(|| (top.name.clone(), split::names(&below)))
}

/// Bytes that an external journal wrote by the end of the phase.
fn journal_words(journal: &DeviceDelta) -> String {
    let flushes = match journal.flush_ios {
        0 => String::new(),
        1 => " with 1 flush".into(),
        n => format!(" with {n} flushes"),
    };
    format!("; the journal on {} wrote {}{flushes}", journal.name, bytes_words(journal.write_bytes))
}

fn not_known_below(traffic: &DirectionTraffic, device: &str) -> String {
    if traffic.bottomless { format!("; {device} is a file at an unknown location") } else { String::new() }
}

/// A share in words; 0 % and 100 % only if exactly none or all.
fn percent(part: u64, whole: u64) -> String {
    if part == 0 || whole == 0 {
        return "0 %".into();
    }
    if part >= whole {
        return "100 %".into();
    }
    let share = part as f64 / whole as f64 * 100.0;
    if (1.0..=99.0).contains(&share) {
        format!("{share:.0} %")
    } else if share < 0.1 {
        "<0.1 %".into()
    } else if share > 99.9 {
        ">99.9 %".into()
    } else {
        format!("{share:.1} %")
    }
}
