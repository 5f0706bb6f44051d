//! Why a phase's figures are what they are: a list of rules, one file each, that look at what was measured and say a sentence only
//! when the figures prove it. docs/findings.md has the list for users; a test holds both together.
//!
//! Pure: facts in, findings out. A rule whose figures are incomplete (events were lost, the device was not watched) says nothing.

mod depth;
mod facts;
mod flushes;
mod fsync_others;
mod idle_device;
mod journal;
mod merges;
mod others;
mod queue_wait;
mod read_ahead;
mod read_to_write;
mod requests_per_call;
mod scattered;
mod slow_calls;
mod splits;
#[cfg(test)]
mod tests;

pub use facts::Facts;
use fathom_record::{Evidence, Finding};

/// A rule: its word, and what it says of the facts.
type Rule = (&'static str, fn(&Facts<'_>) -> Option<Finding>);

/// Every rule, in the order in which findings are told: what calls became first, then what the device was busy with, then waiting.
const RULES: [Rule; 14] = [
    ("requests-per-call", requests_per_call::find),
    ("read-ahead", read_ahead::find),
    ("splits", splits::find),
    ("merges", merges::find),
    ("scattered", scattered::find),
    ("read-to-write", read_to_write::find),
    ("fsync-others", fsync_others::find),
    ("journal", journal::find),
    ("flushes", flushes::find),
    ("depth", depth::find),
    ("idle-device", idle_device::find),
    ("queue-wait", queue_wait::find),
    ("slow-calls", slow_calls::find),
    ("others", others::find),
];

/// The words of all rules.
pub fn rules() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|r| r.0)
}

/// What the facts prove.
#[must_use]
pub fn of(facts: &Facts<'_>) -> Vec<Finding> {
    RULES
        .iter()
        .filter_map(|(rule, find)| {
            let mut finding = find(facts)?;
            finding.rule = (*rule).into();
            Some(finding)
        })
        .collect()
}

/// A finding without its word, which the list gives it.
fn finding(sentence: String, advice: &str, evidence: Vec<Evidence>) -> Finding {
    Finding { rule: String::new(), sentence, advice: advice.into(), evidence }
}

/// One figure.
fn evidence(name: &str, value: f64, unit: &str, source: &str) -> Evidence {
    Evidence { name: name.into(), value, unit: unit.into(), source: source.into() }
}

/// Where figures come from, in the words of the evidence.
const EVENTS: &str = "block events";
const CALLS: &str = "our own calls";
const JOIN: &str = "our own calls joined with block events";
