//! Other programs that sync the file system while the workload writes without waiting for the device.

use super::facts::Facts;
use super::{CALLS, EVENTS, evidence, finding};
use crate::words::{count, percent};
use fathom_record::block::{IssuerKind, RequestClass};
use fathom_record::{Finding, OpKind};

/// Minimum number of flushes that they caused.
const ENOUGH: u64 = 10;
/// Minimum share of the written bytes that the device had to take meanwhile.
const NOTABLE: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let (_, written) = facts.calls(OpKind::Write);
    let waits = facts.workload.synced || facts.phase.direct || facts.calls(OpKind::Sync).0 > 0;
    if !facts.phase.writes || facts.phase.reads || waits {
        return None;
    }
    // Discards are counted with flushes.
    let discards = device.class(RequestClass::Discard).map_or(0, |discards| discards.issued);
    device.class(RequestClass::Flush).filter(|flushes| flushes.issued >= ENOUGH && discards == 0)?;
    let theirs = device.issuers.iter().filter(|i| i.kind == IssuerKind::Other);
    let most = theirs.max_by_key(|i| i.others).filter(|i| i.others >= ENOUGH)?;
    let taken = device.class(RequestClass::Write).map_or(0, |writes| writes.issued_bytes);
    let share = (taken as f64 / written.max(1) as f64).min(1.0);
    if share < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "{} had {} flushed {} meanwhile, as sync and fsync do. The workload itself does not sync, yet the device had to take {} of what it wrote while it ran.",
            most.name,
            device.name,
            count(most.others, "time"),
            percent(share)
        ),
        "Measure when that program is quiet: a sync of the file system also writes out other programs' data, and new writes wait for it.",
        vec![
            evidence("flushes by that program", most.others as f64, "requests", EVENTS),
            evidence("written by the device", taken as f64, "bytes", EVENTS),
            evidence("written by calls", written as f64, "bytes", CALLS),
        ],
    ))
}
