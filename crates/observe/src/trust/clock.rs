//! The clock used for latencies.

use super::one;
use crate::words::time;
use fathom_record::{Run, Trust, Verdict};

/// Above this drift a clock disagrees with the kernel's.
pub(crate) const DRIFT_PPM: f64 = 100.0;

pub(super) fn check(run: &Run) -> Trust {
    let clock = &run.clock;
    if clock.source.is_empty() {
        return one("clock", Verdict::Unknown, "The clock was not described");
    }
    let drift = match clock.drift_ppm {
        // Avoids "-0.0".
        Some(ppm) => format!("drift {:.1} ppm", if ppm.abs() < 0.05 { 0.0 } else { ppm }),
        None => "drift not known".into(),
    };
    let words = format!(
        "Source {}: a reading costs {}, resolves {}; {drift}",
        clock.source,
        time(clock.cost_ns),
        time(clock.resolution_ns)
    );
    let drifts = clock.drift_ppm.is_some_and(|d| d.abs() > DRIFT_PPM);
    let verdict = match (clock.source.as_str(), clock.drift_ppm) {
        _ if drifts => Verdict::Doubtful,
        (source, _) if source != "tsc" => Verdict::Doubtful,
        (_, None) => Verdict::Unknown,
        _ => Verdict::Good,
    };
    one("clock", verdict, &words)
}
