//! Whether a run can be trusted: every check that is made of every run, with its figures, in one short list. Pure: from the run, its
//! environment and what was seen beside it to sentences; no number of the run is changed by it.
//!
//! One file per check. Each judges the phases it concerns; phases of which the same is to be said share their words, and of many
//! phases the worst is told for all. The rules that make a check fail are here, too; [`doubts`](crate::doubts) asks them and adds
//! what to do. A sentence begins with what matters most: its parts are divided by "; ", and where there is little room only the
//! first of them are shown.

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

use crate::doubts::Seen;
use crate::words::{names, sentence, which};
use fathom_record::{Phase, Run, Trust, Verdict};
use serde_json::Value;

/// Every check of a run, or of the part of it that is there so far, in a fixed order; none before something was measured. The
/// environment is the one captured for this run.
#[must_use]
pub fn of(run: &Run, environment: &Value, seen: &Seen) -> Vec<Trust> {
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

/// What one check found in one phase.
struct Found<'r> {
    phase: &'r Phase,
    verdict: Verdict,
    /// Among findings of one verdict the heaviest is told; 0 where none is worse than another.
    weight: f64,
    words: String,
}

/// Phases of which the same is to be said.
struct Group<'r> {
    verdict: Verdict,
    weight: f64,
    words: String,
    phases: Vec<&'r Phase>,
}

/// More groups than this are told by their worst.
const MOST_GROUPS: usize = 3;

/// One check over the phases it concerns; `nothing` if it concerns none.
fn told(run: &Run, code: &str, found: Vec<Found<'_>>, nothing: (Verdict, &str)) -> Trust {
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

/// Names of phases and the like stay as they are written; all other text begins with a capital letter.
fn one(code: &str, verdict: Verdict, text: &str) -> Trust {
    Trust { code: code.into(), verdict, sentence: format!("{}.", text.trim_end_matches('.')) }
}

/// The worst first.
fn grouped(found: Vec<Found<'_>>) -> Vec<Group<'_>> {
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

/// Whether names tell the groups apart, and are few.
fn told_by_name(groups: &[Group<'_>]) -> bool {
    let all: Vec<&str> = groups.iter().flat_map(|g| names(&g.phases, usize::MAX).0).collect();
    all.len() <= 4 && all.iter().enumerate().all(|(i, name)| !all[..i].contains(name))
}

/// "2 of 40 phases (write, read): 12 % ...; the other 38: 0.0 % ...": of each verdict the worst.
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
        let told = match (alike.len(), group.weight > 0.0) {
            (1, _) => "",
            (_, true) => " at worst",
            (_, false) => ", for example",
        };
        parts.push(format!("{who}{told}: {}", group.words));
    }
    parts.join("; ")
}
