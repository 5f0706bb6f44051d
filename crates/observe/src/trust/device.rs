//! How much of the requested I/O reached the device.

use super::{PhaseResult, summary};
use crate::words::{count, percent};
use fathom_record::origin::bytes_words;
use fathom_record::{DeviceDelta, Origin, Phase, Physical, Regime, Repetition, Run, Trust, Verdict};

/// Below this share the device's I/Os belong to other programs.
const OURS: f64 = 0.05;

pub(super) fn check(run: &Run) -> Trust {
    let found = run.phases.iter().filter_map(found).collect();
    summary(run, "device", found, (Verdict::Unknown, "no file data was moved"))
}

fn found(phase: &Phase) -> Option<PhaseResult<'_>> {
    let typical = phase.typical()?;
    let origin = Origin::of(phase, typical);
    let verdict = match phase.origin().regime {
        Regime::Device => Verdict::Good,
        Regime::PageCache | Regime::Mixed | Regime::Holes | Regime::Memory => Verdict::Doubtful,
        // A rate without I/O is neither a disk's nor a cache's, and says so.
        Regime::NoIo | Regime::Unknown => Verdict::Unknown,
    };
    let (words, weight) = match (origin.device_share, counted(&typical.physical).as_slice()) {
        _ if origin.regime == Regime::NoIo || typical.physical.is_passthrough() => (origin.evidence, 0.0),
        _ if origin.regime == Regime::Holes => ("holes were read, which reach no device".into(), 1.0),
        (Some(share), devices @ [_, ..]) if verdict != Verdict::Unknown => {
            (figures(phase, typical, share, devices), 1.0 - share)
        }
        (None, _) if origin.regime == Regime::PageCache => (origin.evidence, 1.0),
        _ if origin.regime == Regime::Memory => ("the file system is in memory".into(), 1.0),
        _ => (format!("not known: {}", origin.evidence), 1.0),
    };
    Some(PhaseResult { phase, verdict, weight, words })
}

/// The devices whose share is reported: the file system's own; for a loop device, the lowest ones below its file; where part of the stack
/// is main memory, those beside it.
fn counted(physical: &Physical) -> Vec<&DeviceDelta> {
    if let Some(part) = physical.part_memory() {
        return part.storage;
    }
    let top = physical.level(0);
    if physical.level(1).is_empty() || top.iter().any(|d| d.kind != "loop") {
        return top;
    }
    physical.level(physical.lowest_level())
}

/// "64 MiB of 64 MiB asked reached vda (100 %), in 52196 I/Os for 16384 operations".
fn figures(phase: &Phase, repetition: &Repetition, share: f64, devices: &[&DeviceDelta]) -> String {
    let asked = repetition.bytes();
    let reached = (asked as f64 * share.min(1.0)).round() as u64;
    let sum = |read: fn(&DeviceDelta) -> u64, write: fn(&DeviceDelta) -> u64| {
        let of = |d: &&DeviceDelta| {
            let parts = [(phase.reads, read(d)), (phase.writes, write(d))];
            parts.iter().filter(|(does, _)| *does).fold(0u64, |sum, (_, n)| sum.saturating_add(*n))
        };
        devices.iter().map(of).fold(0u64, u64::saturating_add)
    };
    let (moved, ios) = (sum(|d| d.read_bytes, |d| d.write_bytes), sum(|d| d.read_ios, |d| d.write_ios));
    let names = devices.iter().map(|d| d.name.as_str()).collect::<Vec<_>>().join("+");
    // The share leaves out writes that reach the device after the measured interval, but their I/Os are counted.
    let written = devices.iter().fold(0u64, |sum, d| sum.saturating_add(d.write_bytes));
    let in_clock = repetition.physical.written_in_clock_bytes.filter(|_| phase.writes);
    let later = in_clock.map_or(0, |timed| written.saturating_sub(timed));
    let beginning = format!("{} of {} asked reached {names}", bytes_words(reached), bytes_words(asked));
    // Compression moves fewer bytes than requested.
    let beginning = match &repetition.physical.compression {
        Some(_) if reached > 0 && moved < reached => {
            format!("{beginning} compressed, as {}", bytes_words(moved))
        }
        _ => beginning,
    };
    let asked_in = count(repetition.ops(), "operation");
    // A device's I/O count includes all programs: if almost none of our bytes reached it, its I/Os are not ours.
    let counted = !repetition.physical.is_served() && share >= OURS;
    let work = if !counted { asked_in } else { format!("{ios} I/Os for {asked_in}") };
    if later > asked / 20 {
        let later = bytes_words(later);
        return format!(
            "{beginning} while timed ({}); {later} more after, in {work}",
            percent(share.min(1.0))
        );
    }
    let more = if moved > asked.saturating_add(asked / 20) {
        format!("; it moved {} in all", bytes_words(moved))
    } else {
        String::new()
    };
    format!("{beginning} ({}), in {work}{more}", percent(share.min(1.0)))
}
