//! Other programs that sync the file system while the workload writes without waiting for the device.

use super::facts::Facts;
use super::{CALLS, EVENTS, Evidence, PAGES, evidence, finding};
use crate::words::{count, percent, program};
use fathom_record::block::{DeviceActivity, IssuerKind, RequestClass};
use fathom_record::{Finding, OpKind};

/// Minimum number of flushes that they caused.
const ENOUGH: u64 = 10;
/// The same of syncs of the whole file system.
const ENOUGH_SYNCS: u64 = 3;
/// Minimum share of the written bytes that the device had to take meanwhile.
const NOTABLE: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let (_, written) = facts.calls(OpKind::Write);
    let waits = facts.workload.synced || facts.phase.direct || facts.calls(OpKind::Sync).0 > 0;
    if !facts.phase.writes || facts.phase.reads || waits {
        return None;
    }
    let taken = device.class(RequestClass::Write).map_or(0, |writes| writes.issued_bytes);
    let share = (taken as f64 / written.max(1) as f64).min(1.0);
    if share < NOTABLE {
        return None;
    }
    let (what, evidence_of_it) = synced(facts).or_else(|| flushed(device))?;
    Some(finding(
        format!(
            "{what}. The workload itself does not sync, but {} of its data went to the device while it ran.",
            percent(share)
        ),
        "Measure when that program is quiet: a sync of the file system also writes out other programs' data, and new writes wait for it.",
        vec![
            evidence_of_it,
            evidence("written by the device", taken as f64, "bytes", EVENTS),
            evidence("written by calls", written as f64, "bytes", CALLS),
        ],
    ))
}

/// Who synced the file system, by its write-back events.
fn synced(facts: &Facts<'_>) -> Option<(String, Evidence)> {
    let syncers = facts.repetition.page_cache.as_ref()?.syncers.as_ref()?;
    let most = syncers.first().filter(|syncer| syncer.times >= ENOUGH_SYNCS)?;
    let who = program(&most.name, &most.processes);
    let said = format!("{who} synced the whole file system {} meanwhile", count(most.times, "time"));
    Some((said, evidence("syncs by that program", most.times as f64, "calls", PAGES)))
}

/// Who caused flushes of the device.
fn flushed(device: &DeviceActivity) -> Option<(String, Evidence)> {
    // Discards are counted with flushes.
    let discards = device.class(RequestClass::Discard).map_or(0, |discards| discards.issued);
    device.class(RequestClass::Flush).filter(|flushes| flushes.issued >= ENOUGH && discards == 0)?;
    let theirs = device.issuers.iter().filter(|i| i.kind == IssuerKind::Other);
    let most = theirs.max_by_key(|i| i.others).filter(|i| i.others >= ENOUGH)?;
    let said = format!(
        "{} had {} flushed {} meanwhile, as sync and fsync do",
        most.name,
        device.name,
        count(most.others, "time")
    );
    Some((said, evidence("flushes by that program", most.others as f64, "requests", EVENTS)))
}
