//! A file system that is mounted so that every write waits for the device.

use super::facts::Facts;
use super::{EVENTS, evidence, finding};
use crate::words::count;
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};

/// Requests for each write: without the option many writes become one.
const NOTABLE: f64 = 0.5;
const ENOUGH_WRITES: u64 = 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let options = facts.environment.pointer("/filesystem/options").and_then(|o| o.as_str())?;
    options.split(',').find(|o| *o == "sync")?;
    let (writes, _) = facts.calls(OpKind::Write);
    let requests = facts.class(RequestClass::Write)?.issued;
    let waits_anyway = facts.phase.direct || facts.syncs_often();
    if waits_anyway || writes < ENOUGH_WRITES || (requests as f64) < NOTABLE * writes as f64 {
        return None;
    }
    Some(finding(
        format!(
            "The file system is mounted with sync: every write waits until its data are on the device ({} for {}).",
            count(requests, "write request"),
            count(writes, "write")
        ),
        "Mount it without sync, and call fsync where data must be safe.",
        vec![
            evidence("writes", writes as f64, "calls", "our own calls"),
            evidence("write requests at the device", requests as f64, "requests", EVENTS),
        ],
    ))
}
