//! What limits the main figures of a survey: for each the largest parts of its time, and the causes found.

use crate::answer::{Answer, main_phases, storage};
use crate::budget::Budget;
use crate::survey::facts::named;
use crate::survey::verdicts::streaming_phase;
use crate::why::{Why, largest_parts};
use crate::{section, units};
use fathom_record::{Phase, Run};
use serde::Serialize;

/// Why the figures of a survey are not higher.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bottlenecks {
    /// Id of the run.
    pub run: String,
    /// "/srv/data, ext4 on vda, 252 GiB".
    pub place: String,
    /// Settings and limits that were found, most important first.
    pub causes: Vec<String>,
    /// The main figures.
    pub figures: Vec<Bottleneck>,
}

/// Where the time of one figure goes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bottleneck {
    /// "random read, 1 in flight".
    pub what: String,
    /// The figure: "9455/s", "675 MiB/s".
    pub figure: String,
    /// The largest parts of an operation's time: "vda 75 %, kernel 25 %"; empty if unknown.
    pub time: String,
    /// The phase, as `--phase` takes it.
    pub phase: String,
    /// The phase's own answer, with all parts.
    pub why: Why,
}

/// The shortest name that `--phase` takes for this phase: of phases with one name it means the first.
fn name(run: &Run, phase: &Phase) -> String {
    let first = |of: fn(&Phase) -> String| {
        let wanted = of(phase);
        run.phases.iter().find(|p| of(p) == wanted).filter(|p| std::ptr::eq(*p, phase)).map(|_| wanted)
    };
    first(|p| p.name.clone()).or_else(|| first(section::title)).unwrap_or_else(|| section::full_title(phase))
}

impl Bottlenecks {
    /// Of a survey; `is_cause` says whether a rule finds a setting or limit instead of a symptom.
    #[must_use]
    pub fn of(run: &Run, is_cause: impl Fn(&str) -> bool) -> Self {
        let per_s =
            |n: Option<f64>| n.map_or_else(String::new, |n| format!("{}/s", units::count(n.round() as u64)));
        let rate = |n: Option<f64>| n.map_or_else(String::new, units::rate);
        let one = |what: &str, phase: &Phase, figure: String| Bottleneck {
            what: what.to_owned(),
            figure,
            time: Budget::of(phase).map(|budget| largest_parts(&budget)).unwrap_or_default(),
            phase: name(run, phase),
            why: Why::of(run, phase, &is_cause),
        };
        let small = main_phases(run).into_iter().map(|m| one(&m.what, m.phase, per_s(m.phase.ops_per_s())));
        let read = streaming_phase(run).map(|p| one("cold read", p, rate(p.bytes_per_s())));
        let write = named(run, "sustained", "sustained write");
        let write = write.map(|p| {
            let what = if p.sync_in_clock { "long write with its fsync" } else { "long write" };
            one(what, p, rate(p.bytes_per_s()))
        });
        let figures: Vec<Bottleneck> = small.chain(read).chain(write).collect();
        let answer = Answer::of(run, None);
        let mut causes = answer.limits;
        for figure in &figures {
            let cause = figure.why.rule.as_deref().is_some_and(&is_cause);
            if cause && !causes.iter().any(|known| known.ends_with(&figure.why.answer)) {
                causes.push(figure.why.answer.clone());
            }
        }
        if causes.is_empty() && !answer.passing_limits.is_empty() {
            causes.push(format!("Limits found: {}.", answer.passing_limits.join("; ")));
        }
        Self { run: run.id.clone(), place: format!("{}, {}", run.directory, storage(run)), causes, figures }
    }
}
