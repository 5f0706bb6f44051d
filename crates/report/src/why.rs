//! Why a phase is not faster: the cause found, and where the time of one operation goes.

use crate::budget::{Budget, Layer};
use crate::finding::{self, CleanFinding};
use crate::{section, units};
use fathom_record::{Phase, Regime, Run};
use serde::Serialize;

/// A layer with at least this share of the time is the bottleneck.
const MOST: f64 = 0.5;
/// A layer with at least this share has almost all of the time.
const ALL_BUT: f64 = 0.9;

/// The answer for one phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Why {
    /// Id of the run.
    pub run: String,
    /// Title of the phase.
    pub phase: String,
    /// Its rates: "18.7 MiB/s, 4787 per s".
    pub reached: String,
    /// The answer in a sentence or two.
    pub answer: String,
    /// What to do about it; empty if nothing is known to help.
    pub advice: String,
    /// The rule that found the cause; `None` if the answer comes from the time alone.
    pub rule: Option<String>,
    /// The figures that the answer rests on: name, value with its unit, where it was read.
    pub evidence: Vec<[String; 3]>,
    /// Where the time of one operation goes; `None` if no operation was timed.
    pub budget: Option<Budget>,
}

impl Why {
    /// The answer for one phase; `is_cause` says whether a rule finds a setting or limit instead of a symptom.
    #[must_use]
    pub fn of(run: &Run, phase: &Phase, is_cause: impl Fn(&str) -> bool) -> Self {
        let budget = Budget::of(phase);
        let found = finding::of_phase(phase);
        let cause = found.iter().find(|f| is_cause(&f.rule));
        let finding = cause.or(found.first());
        // The layer that takes the time comes first; a symptom is added to it.
        let times = budget.as_ref().filter(|_| cause.is_none()).map(|b| by_time(phase, b));
        let sentences: Vec<String> = times.into_iter().chain(finding.map(|f| f.sentence.clone())).collect();
        let answer = if sentences.is_empty() {
            "No operation was timed in this phase: there is nothing to explain.".to_owned()
        } else {
            sentences.join(" ")
        };
        Self {
            run: run.id.clone(),
            phase: section::title(phase),
            reached: reached(phase),
            answer,
            advice: finding.map_or_else(String::new, |f| f.advice.clone()),
            rule: finding.map(|f| f.rule.clone()),
            evidence: finding.map_or_else(Vec::new, |f: &CleanFinding| f.evidence.clone()),
            budget,
        }
    }
}

/// Formats the rates: "18.7 MiB/s, 4787 per s".
fn reached(phase: &Phase) -> String {
    let bytes = phase.bytes_per_s().filter(|_| phase.reads || phase.writes).map(units::rate);
    let ops = phase.ops_per_s().map(|n| format!("{} per s", units::count(n.round() as u64)));
    bytes.into_iter().chain(ops).collect::<Vec<_>>().join(", ")
}

/// The answer from the time alone.
fn by_time(phase: &Phase, budget: &Budget) -> String {
    let (one, device) = (budget.operation, &budget.devices);
    let busy = budget.share(Layer::Kernel) + budget.share(Layer::Program);
    if busy >= ALL_BUT {
        let cache =
            if phase.origin().regime == Regime::PageCache { "the page cache served it, and " } else { "" };
        return format!(
            "The processor is the limit: {cache}{} of the time of one {one} is processor time.",
            units::percent(busy)
        );
    }
    let mut parts = budget.parts.clone();
    parts.sort_by(|a, b| b.ns.total_cmp(&a.ns));
    let share = |at: usize| parts.get(at).map_or(0.0, |p| p.ns / budget.total_ns);
    let percent = units::percent(share(0));
    match parts.first().map(|p| p.layer) {
        None => String::new(),
        Some(largest) if share(0) < MOST => format!(
            "No part has most of the time of one {one}: {} has {percent}, {} {}.",
            words(largest, budget),
            words(parts.get(1).map_or(largest, |p| p.layer), budget),
            units::percent(share(1)),
        ),
        Some(Layer::Device) if budget.at_most => {
            format!("Up to {percent} of the time of one {one} passes in {device}.")
        }
        Some(Layer::Device) => format!("{percent} of the time of one {one} passes in {device}."),
        Some(Layer::Queue) => {
            format!(
                "{percent} of the time of one {one} passes above {device}, which is given more than it takes at once."
            )
        }
        Some(Layer::Kernel) => format!("{percent} of the time of one {one} is the kernel's own work."),
        Some(Layer::Program) => {
            format!("{percent} of the time of one {one} is the measuring program's own work.")
        }
        Some(Layer::Pause) if budget.processor_watched => {
            format!("For {percent} of the time no {one} is under way: the workload pauses.")
        }
        Some(Layer::Pause) => format!(
            "For {percent} of the time no {one} is under way: the workload pauses, or the program has no processor."
        ),
        Some(Layer::Processor) => format!(
            "For {percent} of the time the program is ready to run and has no processor: other programs or threads of the kernel have it, or a quota is used up."
        ),
        Some(Layer::Elsewhere | Layer::Handling) if !budget.queue_watched => format!(
            "For {percent} of its time a {one} is not in {device}. Part of that is its wait in the queue; --observe full shows how much."
        ),
        Some(Layer::Elsewhere) => format!(
            "For {percent} of its time a {one} waits for something other than a request: a lock, a limit, memory, {}or a wake-up.",
            if budget.processor_watched { "" } else { "a processor, " }
        ),
        Some(Layer::Unwatched) => {
            format!("For {percent} of its time a {one} waits; how much of that is for the device is unknown.")
        }
        Some(Layer::Handling) => format!(
            "For {percent} of its time a {one} is in neither queue nor device: it waits to be submitted, or to be collected."
        ),
    }
}

/// Name of a layer in tables.
pub(crate) fn words(layer: Layer, budget: &Budget) -> String {
    let device = &budget.devices;
    match layer {
        Layer::Elsewhere | Layer::Handling if !budget.queue_watched => "queue and other waiting".into(),
        Layer::Program => "measuring program (user CPU)".into(),
        Layer::Pause => "between operations".into(),
        Layer::Kernel => "kernel code (system CPU)".into(),
        Layer::Processor => "waiting for a processor".into(),
        Layer::Queue => format!("queue of {device}"),
        Layer::Device if budget.at_most => format!("in {device}, at most"),
        Layer::Device => format!("in {device}"),
        Layer::Elsewhere => "other waiting".into(),
        Layer::Unwatched => "waiting (cause unknown)".into(),
        Layer::Handling => "being submitted or collected".into(),
    }
}

/// The largest parts of an operation's time on one line: "vda 75 %, kernel 25 %"; at most three, each with a tenth or more.
#[must_use]
pub fn largest_parts(budget: &Budget) -> String {
    const NOTABLE: f64 = 0.1;
    let mut parts = budget.parts.clone();
    parts.sort_by(|a, b| b.ns.total_cmp(&a.ns));
    let notable = parts.iter().map(|p| (p.layer, p.ns / budget.total_ns)).filter(|p| p.1 >= NOTABLE);
    let words: Vec<String> = notable
        .take(3)
        .map(|(layer, share)| {
            let most = if layer == Layer::Device && budget.at_most { "at most " } else { "" };
            format!("{} {most}{}", brief(layer, budget), units::percent(share))
        })
        .collect();
    words.join(", ")
}

fn brief(layer: Layer, budget: &Budget) -> String {
    match layer {
        Layer::Program => "fathom".into(),
        Layer::Kernel => "kernel".into(),
        Layer::Device => budget.devices.clone(),
        Layer::Elsewhere | Layer::Handling if !budget.queue_watched => "queue or other waiting".into(),
        layer => words(layer, budget),
    }
}

/// The phase with the most operation time; `None` if the run has no phases.
#[must_use]
pub fn longest(run: &Run) -> Option<&Phase> {
    let time = |p: &&Phase| p.repetitions.iter().map(|r| r.elapsed_ns).max().unwrap_or(0);
    let timed: Vec<&Phase> = run.phases.iter().filter(|p| Budget::of(p).is_some()).collect();
    timed.into_iter().max_by_key(time).or_else(|| run.phases.first())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::LayerShare;
    use crate::samples;

    fn why(run: &Run, at: usize, causes: &[&str]) -> Why {
        Why::of(run, &run.phases[at], |rule| causes.contains(&rule))
    }

    #[test]
    fn a_cause_is_the_answer() {
        let run = samples::observed_run();
        let findings = finding::of_phase(&run.phases[1]);
        let found = why(&run, 1, &[&findings[1].rule]);
        assert_eq!((found.answer, found.advice), (findings[1].sentence.clone(), findings[1].advice.clone()));
        assert_eq!(found.rule.as_deref(), Some(findings[1].rule.as_str()));
        assert!(!found.evidence.is_empty());
    }

    #[test]
    fn a_symptom_goes_with_what_takes_the_time() {
        let run = samples::observed_run();
        let findings = finding::of_phase(&run.phases[1]);
        let found = why(&run, 1, &[]);
        let budget = found.budget.as_ref().unwrap();
        assert_eq!(found.answer, format!("{} {}", by_time(&run.phases[1], budget), findings[0].sentence));
    }

    #[test]
    fn a_queue_that_was_not_watched_may_have_the_time() {
        let run = samples::observed_run();
        let of = |layer, queue_watched| {
            let parts = vec![LayerShare { layer, ns: 100.0 }];
            let budget = Budget {
                operation: "read",
                total_ns: 100.0,
                parts,
                devices: "vda".into(),
                queue_watched,
                processor_watched: true,
                at_most: false,
            };
            by_time(&run.phases[1], &budget)
        };
        assert_eq!(
            of(Layer::Handling, false),
            "For 100 % of its time a read is not in vda. Part of that is its wait in the queue; --observe full shows how much."
        );
        assert_eq!(of(Layer::Handling, false), of(Layer::Elsewhere, false));
        assert!(of(Layer::Handling, true).contains("in neither queue nor device"));
        assert!(of(Layer::Elsewhere, true).contains("other than a request"));
    }

    #[test]
    fn a_line_has_the_largest_parts() {
        let part = |layer, ns| LayerShare { layer, ns };
        let mut budget = Budget {
            operation: "read",
            total_ns: 100.0,
            parts: vec![part(Layer::Program, 2.0), part(Layer::Kernel, 23.0), part(Layer::Device, 75.0)],
            devices: "vda".into(),
            queue_watched: false,
            processor_watched: true,
            at_most: false,
        };
        assert_eq!(largest_parts(&budget), "vda 75 %, kernel 23 %");
        budget.at_most = true;
        budget.parts[1].layer = Layer::Elsewhere;
        assert_eq!(largest_parts(&budget), "vda at most 75 %, queue or other waiting 23 %");
    }

    #[test]
    fn without_operations_there_is_nothing_to_explain() {
        let mut run = samples::observed_run();
        run.phases[0].repetitions.clear();
        assert_eq!(
            why(&run, 0, &[]).answer,
            "No operation was timed in this phase: there is nothing to explain."
        );
        assert_eq!(longest(&run).unwrap().name, run.phases[1].name);
    }
}
