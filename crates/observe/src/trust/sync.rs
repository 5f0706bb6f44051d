//! Whether what was written was safe when the clock stopped.

use super::{Found, told};
use fathom_record::origin::bytes_words;
use fathom_record::{Phase, Regime, Run, Trust, Verdict};

pub(super) fn check(run: &Run) -> Trust {
    let found = run.phases.iter().filter(|p| p.writes).filter_map(found).collect();
    told(run, "sync", found, (Verdict::Good, "nothing was written"))
}

fn found(phase: &Phase) -> Option<Found<'_>> {
    let last = phase.repetitions.last().filter(|r| r.bytes() > 0)?;
    let dirty = last.physical.dirty_after_bytes;
    let left = dirty.map_or(String::new(), |b| format!("; {} dirty at the end", bytes_words(b)));
    let after = last.workers.iter().filter(|w| w.bytes > 0).all(|w| w.marks.fsync_ns > 0);
    let regime = phase.origin().regime;
    let words = match (phase.sync_in_clock, after) {
        (true, _) => "fsync or synchronous writes inside the clock".to_string(),
        (false, true) => format!("fsync after the clock, in a figure of its own{left}"),
        (false, false) if phase.direct => "no fsync; O_DIRECT left nothing in the page cache".to_string(),
        (false, false) if regime == Regime::Device => "no fsync; the device had it in time".to_string(),
        (false, false) => format!("no fsync: what was written may still be in memory{left}"),
    };
    let verdict = match regime {
        _ if phase.sync_in_clock => Verdict::Good,
        Regime::PageCache | Regime::Mixed => Verdict::Doubtful,
        Regime::Unknown if !phase.direct => Verdict::Unknown,
        _ => Verdict::Good,
    };
    let weight = if verdict == Verdict::Good { 0.0 } else { dirty.unwrap_or(0) as f64 };
    Some(Found { phase, verdict, weight, words })
}
