//! Whether the written data was durable at the end of the measured time.

use super::{PhaseResult, summary};
use crate::ranges::Ranges;
use crate::words::count;
use fathom_record::origin::bytes_words;
use fathom_record::{DeviceDelta, OpKind, Origin, Phase, Regime, Repetition, Run, Trust, Verdict};

pub(super) fn check(run: &Run) -> Trust {
    let doubted = run.doubts.iter().find(|d| WITHOUT_EFFECT.contains(&d.code.as_str()));
    let ranges = Ranges::of(run);
    let found = run.phases.iter().filter(|p| p.writes).filter_map(|phase| {
        let mut found = found(phase, &ranges)?;
        // The doubt may be about other phases of the run, but they were on the same storage.
        if doubted.is_some()
            && found.verdict == Verdict::Good
            && phase.repetitions.last().is_some_and(|last| ranges.fsyncs(phase, last) > 0)
        {
            found.verdict = Verdict::Doubtful;
            found.words += ", but a power cut can lose what was synced";
        }
        Some(found)
    });
    let found = found.collect();
    summary(run, "sync", found, (Verdict::Good, "nothing was written"))
}

/// Doubts whether syncs make data durable.
const WITHOUT_EFFECT: [&str; 2] = ["unflushed-sync", "impossible-sync"];

fn found<'a>(phase: &'a Phase, ranges: &Ranges) -> Option<PhaseResult<'a>> {
    let last = phase.repetitions.last().filter(|r| r.bytes() > 0 && !r.physical.no_io())?;
    let dirty = last.physical.dirty_after_bytes;
    let left = dirty.map_or(String::new(), |b| format!("; {} dirty at the end", bytes_words(b)));
    let mut moving = last.workers.iter().filter(|w| w.bytes > 0);
    let after = moving.clone().all(|w| w.marks.fsync_ns > 0);
    let some_after = moving.any(|w| w.marks.fsync_ns > 0);
    let regime = Origin::of(phase, last).regime;
    let syncs = ranges.fsyncs_between(phase, last);
    let words = match (phase.sync_in_clock, after) {
        (false, _) if syncs > 0 && had_it_all(last) => {
            format!("{} inside the clock; the device had as much as was written", count(syncs, "fsync"))
        }
        (false, _) if syncs > 0 => {
            format!("{} inside the clock; other data may still be in memory{left}", count(syncs, "fsync"))
        }
        (true, _) => "fsync or synchronous writes inside the clock".to_string(),
        (false, true) => format!("fsync after the clock stopped, reported separately{left}"),
        (false, false) if some_after && !phase.direct => {
            format!("fsync by some of the workers at their end; other data may still be in memory{left}")
        }
        (false, false) if ranges.only_in(phase) => {
            let had = if regime == Regime::Device {
                "; the data reached the device in the measured time"
            } else {
                left.as_str()
            };
            format!("no fsync, only sync_file_range, which makes nothing durable{had}")
        }
        (false, false) if phase.direct => direct(last, regime),
        (false, false) if regime == Regime::Device => {
            "no fsync; the data reached the device in the measured time".to_string()
        }
        (false, false) => format!("no fsync: what was written may still be in memory{left}"),
    };
    let verdict = match regime {
        _ if phase.sync_in_clock || (syncs > 0 && had_it_all(last)) => Verdict::Good,
        Regime::PageCache | Regime::Mixed => Verdict::Doubtful,
        Regime::Unknown => Verdict::Unknown,
        _ => Verdict::Good,
    };
    // What is in memory alone is lost, whatever was synced.
    let part = last.physical.part_memory().filter(|_| regime != Regime::Device);
    // Not if the rest has everything too, as the other half of a mirror has.
    let written =
        |devices: &[&DeviceDelta]| devices.iter().fold(0u64, |sum, d| sum.saturating_add(d.write_bytes));
    let all = last.physical.device_write_bytes().unwrap_or(0);
    let lost = part.filter(|part| written(&part.memory) > 0 && written(&part.storage) < all);
    let (verdict, words) = match lost {
        Some(part) => {
            let names: Vec<&str> = part.memory.iter().map(|d| d.name.as_str()).collect();
            (
                Verdict::Doubtful,
                format!("{words}, but part went to {}, which is main memory", names.join("+")),
            )
        }
        None => (verdict, words),
    };
    let weight = if verdict == Verdict::Good { 0.0 } else { dirty.unwrap_or(0) as f64 };
    Some(PhaseResult { phase, verdict, weight, words })
}

/// Where O_DIRECT writes ended up.
fn direct(last: &Repetition, regime: Regime) -> String {
    let waiting = last.physical.waiting.unwrap_or_default();
    if waiting.below_bytes > 0 {
        let below = bytes_words(waiting.below_bytes);
        return format!(
            "no fsync; O_DIRECT, but the disk is a file, and {below} of its data are only in memory"
        );
    }
    if regime == Regime::Memory {
        return "no fsync; the file system is in memory".into();
    }
    if regime == Regime::Unknown {
        return "no fsync; O_DIRECT, but whether the layer below keeps it in memory is not known".into();
    }
    match (waiting.after_bytes, waiting.meanwhile_bytes) {
        (0, 0) => "no fsync; O_DIRECT left nothing in the page cache".into(),
        (0, _) => "no fsync; O_DIRECT went through the page cache and left nothing there".into(),
        (left, _) => {
            format!("no fsync; {} of it wait in the page cache despite O_DIRECT", bytes_words(left))
        }
    }
}

/// Whether the device wrote as many bytes as the phase during the measured time. Other programs' bytes count, too; a separate check
/// reports them.
fn had_it_all(repetition: &Repetition) -> bool {
    let stats = repetition.workers.iter().flat_map(|w| &w.stats);
    let written = stats.filter(|s| s.op == OpKind::Write).fold(0u64, |sum, s| sum.saturating_add(s.bytes));
    let physical = &repetition.physical;
    let taken = physical.written_in_clock_bytes.or(physical.devices.first().map(|d| d.write_bytes));
    written > 0 && taken.is_some_and(|bytes| bytes >= written)
}
