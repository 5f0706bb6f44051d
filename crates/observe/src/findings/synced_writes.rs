//! Writes that wait for the device because the workload opens its files so.

use super::facts::Facts;
use super::{CALLS, EVENTS, evidence, finding};
use crate::words::count;
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};

/// Minimum number of requests per write: without the flag many writes become one request.
const NOTABLE: f64 = 0.5;
const ENOUGH_WRITES: u64 = 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let (writes, _) = facts.calls(OpKind::Write);
    let requests = facts.class(RequestClass::Write)?.issued;
    let each_waits = requests as f64 >= NOTABLE * writes as f64;
    if !facts.workload.all_synced || facts.phase.direct || writes < ENOUGH_WRITES || !each_waits {
        return None;
    }
    Some(finding(
        format!(
            "The workload opens files with O_SYNC or O_DSYNC, so each write to them waits until its data is on the device: {} for {}.",
            count(requests, "write request"),
            count(writes, "write")
        ),
        "Without the flag (open.sync of the workload), a write returns once its data is in memory.",
        vec![
            evidence("writes", writes as f64, "calls", CALLS),
            evidence("write requests at the device", requests as f64, "requests", EVENTS),
        ],
    ))
}
