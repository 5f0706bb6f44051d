//! A tracer such as strace, which stops the workers in their system calls.

use super::facts::Facts;
use super::{THREADS, evidence, finding};
use fathom_record::{Finding, OpKind};
use serde_json::Value;

/// Minimum number of context switches per call. A tracer stops a thread at the beginning and at the end of each call; waiting for I/O is
/// one switch.
const NOTABLE: f64 = 1.8;
const ENOUGH_CALLS: u64 = 50;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let tracer = facts.environment.pointer("/limits/tracer").and_then(Value::as_str)?;
    let kinds = [OpKind::Read, OpKind::Write, OpKind::Sync];
    let calls: u64 = kinds.iter().map(|op| facts.calls(*op).0).sum();
    let switches: Option<u64> =
        facts.repetition.workers.iter().map(|w| w.thread_counts.map(|counts| counts.switches)).sum();
    let switches = switches?;
    if calls < ENOUGH_CALLS || (switches as f64) < NOTABLE * calls as f64 {
        return None;
    }
    Some(finding(
        format!(
            "{tracer} traces this program: the workers were stopped or switched {:.1} times per call.",
            switches as f64 / calls as f64
        ),
        "Run it without the tracer.",
        vec![
            evidence("calls", calls as f64, "calls", super::CALLS),
            evidence("context switches of the workers", switches as f64, "", THREADS),
        ],
    ))
}
