//! Reads with O_DIRECT in order, one at a time: nothing reads ahead, so each waits for its own request.

use super::facts::{Facts, size};
use super::{CALLS, EVENTS, evidence, finding};
use crate::words::{percent, time};
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};

const ENOUGH_CALLS: u64 = 50;
/// Larger reads keep most devices busy one by one.
const SMALL: u64 = 256 << 10;
/// Minimum share of the workers' time with the request in the device.
const NOTABLE: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let alone = facts.kept_in_flight() == 1 && facts.workload.in_order;
    let reads = facts.phase.direct && facts.phase.reads && !facts.phase.writes;
    let (calls, _) = facts.calls(OpKind::Read);
    let record = facts.record_bytes(OpKind::Read).filter(|record| *record < SMALL)?;
    let device = facts.device()?;
    let requests = device.class(RequestClass::Read).filter(|r| r.completed > 0)?;
    let worked_ns: u64 = facts.repetition.workers.iter().map(|w| w.elapsed_ns).sum();
    let share = requests.d2c.sum_ns() as f64 / worked_ns.max(1) as f64;
    // Several requests of one call are in the device together.
    if !alone || !reads || calls < ENOUGH_CALLS || requests.issued > calls * 11 / 10 || share < NOTABLE {
        return None;
    }
    let each_ns = requests.d2c.sum_ns() as f64 / requests.completed as f64;
    Some(finding(
        format!(
            "O_DIRECT has no read-ahead, and one read of {} is in flight at a time: each waits for its own request, which took {} in {} ({} of the time).",
            size(record as f64),
            time(each_ns),
            device.name,
            percent(share.min(1.0))
        ),
        "Larger reads, several in flight, or the page cache with its read-ahead may be faster.",
        vec![
            evidence("calls", calls as f64, "calls", CALLS),
            evidence("time of a request in the device, mean", each_ns, "ns", EVENTS),
            evidence("time with a request of a call in the device", share, "ratio", EVENTS),
        ],
    ))
}
