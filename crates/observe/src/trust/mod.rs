//! Whether a run can be trusted: every check of a run with its figures, in one short list. A pure function of the run, its environment
//! and further observations; it changes no number of the run.
//!
//! One file per check. Each judges the phases it concerns. Phases with the same result share a sentence, and of many phases only the
//! worst is named. The rules that make a check fail are here, too; [`doubts`](crate::doubts) uses them and adds advice. A sentence begins
//! with its most important part: parts are separated by "; ", and where space is short only the first ones are shown.

mod cache;
mod clock;
mod data;
mod device;
mod extents;
mod latency;
mod machine;
mod neighbours;
mod overload;
mod repeats;
mod start;
mod steady;
mod sync;
#[cfg(test)]
mod tests;

pub(crate) use cache::missed;
pub(crate) use clock::DRIFT_PPM;
pub(crate) use data::{compresses, laid_out_compressible, shrinks_to};
pub(crate) use extents::unbacked;
pub use machine::Crowd;
pub(crate) use machine::STEAL;
pub(crate) use overload::paced;
pub(crate) use repeats::{SPREAD, spread};
pub(crate) use start::{SKEW, skew_of};
pub use steady::judge as judge_steadiness;
pub(crate) use steady::last_asked;

use crate::doubts::DoubtInputs;
use crate::words::{names, sentence, which};
use fathom_record::{Phase, Run, Trust, Verdict};
use serde_json::Value;

/// Every check of a run, complete or in progress, in a fixed order; empty before anything was measured. The environment must be the one
/// captured for this run.
#[must_use]
pub fn of(run: &Run, environment: &Value, seen: &DoubtInputs) -> Vec<Trust> {
    if run.phases.iter().all(|p| p.repetitions.is_empty()) {
        return Vec::new();
    }
    vec![
        device::check(run),
        cache::check(run),
        extents::check(run),
        sync::check(run),
        latency::check(run),
        clock::check(run),
        machine::check(run, seen),
        neighbours::check(run),
        data::check(run, environment, seen),
        steady::check(run),
        repeats::check(run),
        overload::check(run),
        start::check(run),
    ]
}

/// Result of one check for one phase.
struct PhaseResult<'r> {
    phase: &'r Phase,
    verdict: Verdict,
    /// Among results of one verdict the heaviest is shown; 0 if all are equal.
    weight: f64,
    words: String,
}

/// Phases with the same result.
struct Group<'r> {
    verdict: Verdict,
    weight: f64,
    words: String,
    phases: Vec<&'r Phase>,
}

/// With more groups than this, only the worst are shown.
const MOST_GROUPS: usize = 3;

/// Combines one check over its phases; `nothing` if it concerns none.
fn summary(run: &Run, code: &str, found: Vec<PhaseResult<'_>>, nothing: (Verdict, &str)) -> Trust {
    let groups = grouped(found);
    let verdict = groups.first().map_or(nothing.0, |g| g.verdict);
    let text = match groups.as_slice() {
        [] => sentence(nothing.1),
        [one] => sentence(&one.words),
        some if some.len() <= MOST_GROUPS && told_by_name(some) => {
            let part = |g: &Group<'_>| format!("{}: {}", names(&g.phases, usize::MAX).0.join(", "), g.words);
            some.iter().map(part).collect::<Vec<_>>().join("; ")
        }
        many => sentence(&by_their_worst(run, many)),
    };
    one(code, verdict, &text)
}

/// Phase names keep their case; all other text begins with a capital letter.
fn one(code: &str, verdict: Verdict, text: &str) -> Trust {
    Trust { code: code.into(), verdict, sentence: format!("{}.", text.trim_end_matches('.')) }
}

/// Groups the results, worst first.
fn grouped(found: Vec<PhaseResult<'_>>) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for f in found {
        let at = *places.entry(f.words.clone()).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Group { verdict: f.verdict, weight: f.weight, words: f.words, phases: Vec::new() });
        }
        groups[at].phases.push(f.phase);
    }
    groups.sort_by(|a, b| rank(b.verdict).cmp(&rank(a.verdict)).then(b.weight.total_cmp(&a.weight)));
    groups
}

fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Good => 0,
        Verdict::Unknown => 1,
        Verdict::Doubtful => 2,
    }
}

/// Whether the groups are few and distinguishable by phase names.
fn told_by_name(groups: &[Group<'_>]) -> bool {
    let all: Vec<&str> = groups.iter().flat_map(|g| names(&g.phases, usize::MAX).0).collect();
    all.len() <= 4 && all.iter().enumerate().all(|(i, name)| !all[..i].contains(name))
}

/// "2 of 40 phases (write, read): 12 % ...; the other 38: 0.0 % ...": the worst of each verdict.
fn by_their_worst(run: &Run, groups: &[Group<'_>]) -> String {
    let mut parts = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        if at > 0 && groups[at - 1].verdict == group.verdict {
            continue;
        }
        let alike: Vec<&Group<'_>> = groups.iter().filter(|g| g.verdict == group.verdict).collect();
        let phases: Vec<&Phase> = alike.iter().flat_map(|g| g.phases.iter().copied()).collect();
        let who = match (at, phases.len()) {
            (0, _) => which(run, &phases),
            (_, 1) => "1 other".into(),
            (_, n) => format!("{n} others"),
        };
        let qualifier = match (alike.len(), group.weight > 0.0) {
            (1, _) => "",
            (_, true) => " at worst",
            (_, false) => ", for example",
        };
        parts.push(format!("{who}{qualifier}: {}", group.words));
    }
    parts.join("; ")
}
