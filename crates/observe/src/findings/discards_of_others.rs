//! Another program that discards blocks during the phase, as fstrim does.

use super::facts::Facts;
use super::{EVENTS, evidence, finding};
use crate::words::{count, percent};
use fathom_record::block::{IssuerKind, RequestClass};
use fathom_record::{Finding, OpKind};

/// Minimum share of the time with discards in the device.
const NOTABLE: f64 = 0.2;
/// Minimum share of the discards by one program for it to be named.
const THEIRS: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let discards = facts.class(RequestClass::Discard)?;
    let flushes = device.class(RequestClass::Flush).map_or(0, |c| c.issued);
    let theirs = device.issuers.iter().filter(|i| i.kind == IssuerKind::Other).max_by_key(|i| i.others)?;
    // Requests other than reads and writes are counted together: if all flushes were by this program, this many were discards. fstrim
    // sends no flushes.
    let flushes = if theirs.name == "fstrim" { 0 } else { flushes };
    let at_least = theirs.others.saturating_sub(flushes) as f64;
    // Concurrent discards cannot take longer than the device was busy.
    let taken_ns = discards.d2c.sum_ns().min(u128::from(device.busy_ns)) as f64;
    let share = taken_ns / facts.repetition.elapsed_ns.max(1) as f64;
    let own = facts.calls(OpKind::Delete).0 > 0 || facts.calls(OpKind::Trim).0 > 0;
    if own || at_least < THEIRS * discards.issued as f64 || share < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "{} discarded blocks of {} during the phase: {}{}, which kept it busy for up to {} of the time.",
            theirs.name,
            device.name,
            if at_least < discards.issued as f64 {
                format!("at least {at_least} of ")
            } else {
                String::new()
            },
            count(discards.issued, "discard"),
            percent(share.min(1.0))
        ),
        if theirs.name == "fstrim" {
            "Measure when it is done (fstrim.timer runs it every week), or keep in mind that it took part of the device."
        } else {
            "Measure when it is done, or keep in mind that it took part of the device."
        },
        vec![
            evidence("discards", discards.issued as f64, "requests", EVENTS),
            evidence("of those by that program, at least", at_least, "requests", EVENTS),
            evidence("time of discards in the device", taken_ns, "ns", EVENTS),
        ],
    ))
}
