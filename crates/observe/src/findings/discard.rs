//! A file system that discards blocks while files are deleted.

use super::facts::Facts;
use super::{CALLS, EVENTS, evidence, finding};
use crate::words::{count, percent};
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};

/// Minimum share of the time with discards in the device.
const NOTABLE: f64 = 0.2;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let options = facts.environment.pointer("/filesystem/options").and_then(|o| o.as_str())?;
    options.split(',').find(|o| *o == "discard" || *o == "discard=sync")?;
    let device = facts.device()?;
    let discards = facts.class(RequestClass::Discard)?;
    let (deletes, _) = facts.calls(OpKind::Delete);
    // Concurrent discards cannot take longer than the device was busy.
    let taken_ns = discards.d2c.sum_ns().min(u128::from(device.busy_ns)) as f64;
    let share = taken_ns / facts.repetition.elapsed_ns.max(1) as f64;
    if deletes == 0 || share < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "The file system is mounted with discard: {} received {} for {}, which kept it busy for up to {} of the time.",
            device.name,
            count(discards.issued, "discard"),
            count(deletes, "delete"),
            percent(share.min(1.0))
        ),
        "Mount without it: `fstrim` discards free blocks at a time of your choice.",
        vec![
            evidence("deletes", deletes as f64, "calls", CALLS),
            evidence("discards", discards.issued as f64, "requests", EVENTS),
            evidence("time of discards in the device", taken_ns, "ns", EVENTS),
        ],
    ))
}
