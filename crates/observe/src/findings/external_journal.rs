//! A file system whose journal is on a separate device, which is busier than that of the files.

use super::facts::Facts;
use super::{EVENTS, evidence, finding};
use crate::words::percent;
use fathom_record::Finding;

/// Minimum share of the time with a request in the journal's device.
const NOTABLE: f64 = 0.5;
/// The files' device is busy for at most this share of that.
const LESS_BUSY: f64 = 0.6;
const LEAST_NS: u64 = 100_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let data = facts.device()?;
    let elapsed = facts.repetition.elapsed_ns;
    let devices = &facts.block()?.devices;
    let journal = devices.iter().find(|d| facts.repetition.physical.is_journal(&d.name))?;
    let busy = journal.busy_ns as f64 / elapsed.max(1) as f64;
    if elapsed < LEAST_NS
        || !facts.phase.writes
        || busy < NOTABLE
        || data.busy_ns as f64 > LESS_BUSY * journal.busy_ns as f64
    {
        return None;
    }
    Some(finding(
        format!(
            "The file system's journal is on a separate device, {}, which was busy for {} of the time; {}, which holds the files, was busy for {}.",
            journal.name,
            percent(busy.min(1.0)),
            data.name,
            percent((data.busy_ns as f64 / elapsed as f64).min(1.0)),
        ),
        "Syncs wait for the journal. Put it on a faster device, or keep it on the files' device (ext4: `tune2fs -O ^has_journal`, then `tune2fs -j`, unmounted).",
        vec![
            evidence("time of the phase", elapsed as f64, "ns", "our own calls"),
            evidence("time with a request in the journal's device", journal.busy_ns as f64, "ns", EVENTS),
            evidence("time with a request in the files' device", data.busy_ns as f64, "ns", EVENTS),
        ],
    ))
}
