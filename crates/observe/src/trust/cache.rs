//! The intended and the actual cache state of the files before and after a repetition.

use super::{PhaseResult, summary};
use crate::words::percent;
use fathom_record::{CacheIntent, Phase, Physical, Repetition, Residency, Run, Trust, Verdict};

/// With a larger cached share files are not cold, with less than one minus this share not warm: one page in a hundred can double the mean
/// of random reads where the other kind costs a hundred times as much.
const MISSED: f64 = 0.01;

pub(super) fn check(run: &Run) -> Trust {
    let found = run.phases.iter().filter_map(found).collect();
    summary(run, "cache", found, (Verdict::Unknown, "no file data was moved"))
}

/// How far a repetition's cache was from the intended state, if too far: (cached share before, the distance).
pub(crate) fn missed(repetition: &Repetition) -> Option<(f64, f64)> {
    let share = repetition.resident_before.as_ref().and_then(Residency::cached_share)?;
    let distance = distance(repetition.cache, share);
    // Tolerance for rounding: exactly 99 % is warm.
    (distance > MISSED + 1e-9).then_some((share, distance))
}

/// Whether the files lie on no known device of this machine.
fn has_unseen(physical: &Physical) -> bool {
    matches!(physical.method.as_str(), "mountstats" | "fuse-server")
        || (physical.method == "none" && physical.devices.is_empty())
}

fn distance(intent: CacheIntent, share: f64) -> f64 {
    match intent {
        CacheIntent::AsFound => 0.0,
        CacheIntent::Cold => share,
        CacheIntent::Warm => 1.0 - share,
    }
}

fn found(phase: &Phase) -> Option<PhaseResult<'_>> {
    let share = |r: &Option<Residency>| r.as_ref().and_then(Residency::cached_share);
    let away = |r: &Repetition| share(&r.resident_before).map_or(0.0, |s| distance(r.cache, s));
    let moved = phase.repetitions.iter().filter(|r| r.bytes() > 0);
    let worst = moved.max_by(|a, b| away(a).total_cmp(&away(b)))?;
    let (before, after) = (share(&worst.resident_before), share(&worst.resident_after));
    let missed = missed(worst).is_some();
    let intent = match (worst.cache, missed) {
        (CacheIntent::AsFound, _) => "as found",
        (CacheIntent::Cold, false) => "cold",
        (CacheIntent::Cold, true) => "not cold",
        (CacheIntent::Warm, false) => "warm",
        (CacheIntent::Warm, true) => "not warm",
    };
    let when = if worst.ramp_ns > 0 { "at the end of the warm-up" } else { "before" };
    let none = |r: &Option<Residency>| r.is_some_and(|r| r.total_pages == 0);
    let absent = none(&worst.resident_before);
    let words = match (before, after) {
        // The null back-end, for example.
        _ if worst.physical.is_passthrough() => "NVMe commands do not use the page cache".to_string(),
        (None, None) if absent && none(&worst.resident_after) => "no files".to_string(),
        (None, None) => "what was in the page cache is not known".to_string(),
        (Some(before), Some(after)) => {
            format!("{intent}: {} cached {when}, {} after", percent(before), percent(after))
        }
        (Some(before), None) => format!("{intent}: {} cached {when}", percent(before)),
        (None, Some(after)) if absent => {
            format!("{intent}: the file was empty {when}, {} cached after", percent(after))
        }
        (None, Some(after)) => format!("{intent}: {} cached after, not known {when}", percent(after)),
    };
    // "Cold" concerns this machine's cache; a FUSE program or server behind the files has its own.
    let unseen = before.is_some() && worst.cache == CacheIntent::Cold && has_unseen(&worst.physical);
    let unknown = if unseen { "; the layer below is not known, and may cache them" } else { "" };
    let words = words + unknown;
    let is_known = (before.is_some() || absent || worst.physical.is_passthrough()) && !unseen;
    let verdict = match (is_known, missed) {
        (_, true) => Verdict::Doubtful,
        (true, false) => Verdict::Good,
        (false, false) => Verdict::Unknown,
    };
    Some(PhaseResult { phase, verdict, weight: away(worst), words })
}
