//! What limits the main figures of a survey: for each the largest parts of its time, and the causes found.

use crate::answer::{Answer, LIMITS, main_phases, storage};
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
    /// Whether the device is known. If not, neither are its limits.
    pub device_known: bool,
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
        let mut causes: Vec<String> = answer.limits.iter().map(|limit| limit.words.clone()).collect();
        causes.extend(causes_of(&figures, |rule| is_cause(rule) && !is_headline(&answer, rule)));
        if causes.is_empty() && !answer.passing_limits.is_empty() {
            causes.extend(answer.other_limits().map(|words| format!("Limits found: {words}.")));
        }
        let place = format!("{}, {}", run.directory, storage(run));
        Self { run: run.id.clone(), place, causes, device_known: answer.device_known, figures }
    }
}

/// Whether the answer's limits have this rule's sentence.
fn is_headline(answer: &Answer, rule: &str) -> bool {
    let limit = LIMITS.iter().find(|(known, _)| *known == rule);
    limit.is_some_and(|(_, name)| !answer.passing_limits.iter().any(|passing| passing.name == *name))
}

/// The causes of single figures: each rule once, after the figures that its sentence is about, and with the others that it was found
/// for.
fn causes_of(figures: &[Bottleneck], wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut rules: Vec<(&str, Vec<&Bottleneck>)> = Vec::new();
    for figure in figures {
        let Some(rule) = figure.why.rule.as_deref().filter(|rule| wanted(rule)) else { continue };
        match rules.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, of_rule)) => of_rule.push(figure),
            None => rules.push((rule, vec![figure])),
        }
    }
    let sentence = |(_, of_rule): (&str, Vec<&Bottleneck>)| {
        let answer = &of_rule[0].why.answer;
        let (about, others): (Vec<&Bottleneck>, Vec<&Bottleneck>) =
            of_rule.iter().partition(|figure| figure.why.answer == *answer);
        if about.len() == figures.len() {
            return answer.clone();
        }
        let names = |of: &[&Bottleneck]| of.iter().map(|f| f.what.as_str()).collect::<Vec<_>>().join("; ");
        let also =
            if others.is_empty() { String::new() } else { format!(" Also found for {}.", names(&others)) };
        format!("{}: {answer}{also}", names(&about))
    };
    rules.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(what: &str, rule: &str, answer: &str) -> Bottleneck {
        let why =
            Why { rule: (!rule.is_empty()).then(|| rule.into()), answer: answer.into(), ..Why::default() };
        Bottleneck { what: what.into(), figure: String::new(), time: String::new(), phase: what.into(), why }
    }

    #[test]
    fn a_cause_stands_once_with_the_figures_it_belongs_to() {
        let figures = [
            figure("random read", "fuse", "It is FUSE: 60 %."),
            figure("long write", "depth", "Few requests."),
            figure("cold read", "fuse", "It is FUSE: 40 %."),
            figure("random read, deep", "fuse", "It is FUSE: 60 %."),
        ];
        let found = |wanted: &[&str]| causes_of(&figures, |rule| wanted.contains(&rule));
        assert_eq!(
            found(&["fuse"]),
            ["random read; random read, deep: It is FUSE: 60 %. Also found for cold read."]
        );
        assert_eq!(causes_of(&figures[..1], |_| true), ["It is FUSE: 60 %."], "all figures have it");
        assert!(found(&[]).is_empty());
    }
}
