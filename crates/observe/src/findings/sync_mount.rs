//! A mount option that makes every write wait for the device.

use super::facts::Facts;
use super::{EVENTS, evidence, finding};
use crate::words::count;
use fathom_record::block::RequestClass;
use fathom_record::{Evidence, Finding, OpKind};

/// Minimum number of requests per write: without the option many writes become one request.
const NOTABLE: f64 = 0.5;
const ENOUGH_WRITES: u64 = 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    if !mounted(facts) {
        return None;
    }
    let (waits, figures) = each_write_waits(facts)?;
    Some(finding(
        format!("The file system is mounted with sync: {waits}."),
        "Mount it without sync, and call fsync where data must be safe.",
        figures,
    ))
}

/// Whether the mount has the option.
pub(super) fn mounted(facts: &Facts<'_>) -> bool {
    let options = facts.environment.pointer("/filesystem/options").and_then(|o| o.as_str());
    options.is_some_and(|options| options.split(',').any(|o| o == "sync"))
}

/// The sentence for buffered writes that waited for the device one by one although the workload did not request it.
pub(super) fn each_write_waits(facts: &Facts<'_>) -> Option<(String, Vec<Evidence>)> {
    let (writes, _) = facts.calls(OpKind::Write);
    let requests = facts.class_at_least(RequestClass::Write)?.issued;
    let waits_anyway = facts.phase.direct || facts.syncs_often();
    if waits_anyway || writes < ENOUGH_WRITES || (requests as f64) < NOTABLE * writes as f64 {
        return None;
    }
    let sentence = format!(
        "every write waits until its data is on the device ({}{} for {})",
        facts.at_least(),
        count(requests, "write request"),
        count(writes, "write")
    );
    let figures = vec![
        evidence("writes", writes as f64, "calls", "our own calls"),
        evidence("write requests at the device", requests as f64, "requests", EVENTS),
    ];
    Some((sentence, figures))
}
