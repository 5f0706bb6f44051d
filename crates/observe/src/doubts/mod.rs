//! What makes a run doubtful, as sentences with figures and advice. Pure: from the run, its environment and what was seen
//! beside it to a list; no number of the run is changed by it.
//!
//! Phases with the same trouble share one sentence. The codes are stable words for machines; docs/formats/record-json.md
//! lists them.

mod machine;
mod phases;

use fathom_record::{Doubt, Run};
use serde_json::Value;

/// Figures that a run does not hold and a doubt needs. Everything may be left empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Per phase, by its `seq`: the share of the CPU time that the hypervisor took, 0..=1
    /// ([`Snapshot::steal_share`](crate::counters::Snapshot::steal_share)).
    pub steal: Vec<(u32, f64)>,
    /// What compression leaves of the data that is written, 0..=1 (1 = nothing to gain); `None` if nobody knows.
    pub compressed_share: Option<f64>,
}

/// The reasons for doubt about a run, or about the part of it that is there so far. The environment is the one captured for
/// this run.
#[must_use]
pub fn of(run: &Run, environment: &Value, seen: &Seen) -> Vec<Doubt> {
    let mut all = phases::of(run, seen);
    all.extend(machine::of(run, environment, seen));
    all
}

/// A doubt about the whole run.
fn about_run(code: &str, sentence: String) -> Doubt {
    Doubt { code: code.into(), phase: None, sentence }
}

/// "1.4 %": one decimal below ten.
fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value < 9.95 { format!("{value:.1} %") } else { format!("{value:.0} %") }
}

#[cfg(test)]
mod test_runs;
