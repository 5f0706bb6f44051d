//! The files' extents: reading a hole or an unwritten extent moves nothing at a device, and a first write costs more than a rewrite.
//! Write-only phases are covered only if their extents were examined.

use super::{PhaseResult, summary};
use crate::words::percent;
use fathom_record::origin::bytes_words;
use fathom_record::{Extents, Phase, Run, Trust, Verdict};

/// Above this share of the read bytes, holes and unwritten extents matter.
const UNBACKED: f64 = 0.01;

pub(super) fn check(run: &Run) -> Trust {
    let found = run.phases.iter().filter_map(found).collect();
    summary(run, "extents", found, (Verdict::Good, "nothing was read"))
}

/// The extents of a phase that reads unwritten parts: the worst of its repetitions.
pub(crate) fn unbacked(phase: &Phase) -> Option<Extents> {
    let worst = worst(phase).filter(|_| phase.reads)?;
    (share(&worst) > UNBACKED).then_some(worst)
}

fn share(e: &Extents) -> f64 {
    if e.bytes == 0 { 0.0 } else { e.hole_bytes.saturating_add(e.unwritten_bytes) as f64 / e.bytes as f64 }
}

fn worst(phase: &Phase) -> Option<Extents> {
    phase.repetitions.iter().filter_map(|r| r.extents).max_by(|a, b| share(a).total_cmp(&share(b)))
}

fn found(phase: &Phase) -> Option<PhaseResult<'_>> {
    phase.repetitions.iter().find(|r| r.bytes() > 0)?;
    let Some(extents) = worst(phase) else {
        if !phase.reads {
            return None;
        }
        let words = "not examined, or not reported by the file system".into();
        return Some(PhaseResult { phase, verdict: Verdict::Unknown, weight: 0.0, words });
    };
    let share = share(&extents);
    let verdict = if unbacked(phase).is_some() { Verdict::Doubtful } else { Verdict::Good };
    let parts = format!(
        "{} of holes and {} unwritten of {} ({})",
        bytes_words(extents.hole_bytes),
        bytes_words(extents.unwritten_bytes),
        bytes_words(extents.bytes),
        percent(share)
    );
    let state = match (phase.reads, extents.bytes) {
        (_, 0) => "first write, the file was empty".to_string(),
        (false, _) if share >= 0.995 => format!("first write, {parts}"),
        (false, _) if share > UNBACKED => format!("partly a first write, {parts}"),
        (false, n) => format!("rewrite, {} had been written before", bytes_words(n)),
        (true, n) if extents.filled_bytes > 0 && extents.hole_bytes + extents.unwritten_bytes == 0 => {
            let filled = bytes_words(extents.filled_bytes.min(n));
            return Some(PhaseResult {
                phase,
                verdict,
                weight: share,
                words: format!(
                    "all {} hold data, {filled} of them filled by fathom just before",
                    bytes_words(n)
                ),
            });
        }
        (true, n) if extents.hole_bytes + extents.unwritten_bytes == 0 => {
            format!("all {} were written before", bytes_words(n))
        }
        (true, _) => parts,
    };
    let filled = match extents.filled_bytes {
        0 => String::new(),
        n => format!("; {} were filled first", bytes_words(n)),
    };
    Some(PhaseResult { phase, verdict, weight: share, words: format!("{state}{filled}") })
}
