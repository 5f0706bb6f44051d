//! What makes a run doubtful, as sentences with figures and advice. Pure: from the run, its environment and what was seen
//! beside it to a list; no number of the run is changed by it.
//!
//! Phases with the same trouble share one sentence. Whether a check fails is decided in [`trust`](crate::trust), which tells of every
//! check, passed or not; here is said what follows. The codes are stable words for machines; docs/formats/record-json.md
//! lists them.

mod conditions;
mod impossible;
mod machine;
pub(crate) mod phases;

use crate::trust::Crowd;
use crate::words::sentence;
use fathom_record::{Doubt, Phase, Run};
use serde_json::Value;

/// Figures that a run does not hold and a doubt needs. Everything may be left empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Per phase, by its `seq`: the share of the CPU time that the hypervisor took, 0..=1
    /// ([`Snapshot::steal_share`](crate::counters::Snapshot::steal_share)).
    pub steal: Vec<(u32, f64)>,
    /// Per phase, by its `seq`: how other programs used the processors
    /// ([`Snapshot::crowd`](crate::counters::Snapshot::crowd)).
    pub crowds: Vec<(u32, Crowd)>,
    /// What compression leaves of the data that is written by the rule it is made by, 0..=1 (1 = nothing to gain); `None` if
    /// nobody knows.
    pub compressed_share: Option<f64>,
    /// What zstd leaves of a sample of that data ([`share_left`](crate::compressible::share_left)).
    pub sampled_share: Option<f64>,
    /// What compression leaves of the data that files were laid out with before they were read, by its rule or of a sample, whichever
    /// is less; `None` if nothing that was laid out is read.
    pub laid_out_share: Option<f64>,
}

/// The reasons for doubt about a run, or about the part of it that is there so far. The environment is the one captured for
/// this run.
#[must_use]
pub fn of(run: &Run, environment: &Value, seen: &Seen) -> Vec<Doubt> {
    let mut all = phases::of(run, seen);
    all.extend(impossible::of(run));
    all.extend(conditions::of(run));
    all.extend(machine::of(run, environment, seen));
    all
}

/// A doubt about the whole run.
fn about_run(code: &str, sentence: String) -> Doubt {
    Doubt { code: code.into(), phase: None, sentence }
}

/// A doubt shared by phases: about the one if it is one, else about the run.
fn grouped(code: &str, phases: &[&Phase], text: &str) -> Doubt {
    let phase = if let [only] = phases { Some(only.seq) } else { None };
    Doubt { code: code.into(), phase, sentence: sentence(text) }
}

fn phases_where(run: &Run, rule: impl Fn(&Phase) -> bool) -> Vec<&Phase> {
    run.phases.iter().filter(|p| rule(p)).collect()
}

#[cfg(test)]
pub(crate) mod test_runs;
