//! Reasons to doubt a run, as sentences with figures and advice. A pure function of the run, its environment and further observations; it
//! changes no number of the run.
//!
//! Phases with the same problem share one sentence. [`trust`](crate::trust) decides whether a check fails and reports every check, passed
//! or not; here the consequences are described. The codes are stable; docs/formats/record-json.md lists them.

mod conditions;
mod impossible;
mod machine;
pub(crate) mod phases;

use crate::trust::Crowd;
use crate::words::sentence;
use fathom_record::{Doubt, Phase, Run};
use serde_json::Value;

/// Figures for doubts that are not part of a run. All are optional.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DoubtInputs {
    /// CPU time stolen by the hypervisor as a share, 0..=1, by the `seq` of the phase
    /// ([`Snapshot::steal_share`](crate::counters::Snapshot::steal_share)).
    pub steal: Vec<(u32, f64)>,
    /// Processor use by other programs, by the `seq` of the phase ([`Snapshot::crowd`](crate::counters::Snapshot::crowd)).
    pub crowds: Vec<(u32, Crowd)>,
    /// Expected compressed share of the written data according to its generation rule, 0..=1 (1 = incompressible); `None` if unknown.
    pub compressed_share: Option<f64>,
    /// Measured compressed share of a sample of that data ([`share_left`](crate::compressible::share_left)).
    pub sampled_share: Option<f64>,
    /// Compressed share of the data that files were laid out with before they were read, by rule or by sample, whichever is less; `None`
    /// if no laid-out data is read.
    pub laid_out_share: Option<f64>,
}

/// The doubts about a run, complete or still in progress. The environment must be the one captured for this run.
#[must_use]
pub fn of(run: &Run, environment: &Value, seen: &DoubtInputs) -> Vec<Doubt> {
    let mut all = phases::of(run, seen);
    all.extend(impossible::of(run, environment));
    all.extend(conditions::of(run));
    all.extend(machine::of(run, environment, seen));
    all
}

/// A doubt about the whole run.
fn about_run(code: &str, sentence: String) -> Doubt {
    Doubt { code: code.into(), phases: Vec::new(), sentence }
}

/// A doubt shared by phases.
fn grouped(code: &str, phases: &[&Phase], text: &str) -> Doubt {
    let phases = phases.iter().map(|p| p.seq).collect();
    Doubt { code: code.into(), phases, sentence: sentence(text) }
}

fn phases_where(run: &Run, rule: impl Fn(&Phase) -> bool) -> Vec<&Phase> {
    run.phases.iter().filter(|p| rule(p)).collect()
}

#[cfg(test)]
pub(crate) mod test_runs;
