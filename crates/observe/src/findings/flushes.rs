//! How much of a sync's time the device spends flushing its cache.

use super::facts::{Facts, mean};
use super::{CALLS, JOIN, evidence, finding};
use crate::words::{count, percent, time};
use fathom_record::Finding;

/// Minimum share of the syncs' time.
const NOTABLE: f64 = 0.3;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let syncs = &facts.joined?.syncs;
    facts.block()?;
    let share = syncs.flushes.1 as f64 / syncs.total_ns.max(1) as f64;
    if syncs.calls == 0 || syncs.flushes.0 == 0 || share < NOTABLE {
        return None;
    }
    // Concurrent syncs wait for the same flush, so the sum can exceed the whole.
    let share = share.min(1.0);
    Some(finding(
        format!(
            "{} of the time of {} went into flushing the device's cache: {} flushes to a sync, {} each.",
            percent(share),
            count(syncs.calls, "fsync"),
            mean(syncs.flushes.0 as f64 / syncs.calls as f64),
            time(syncs.flushes.1 as f64 / syncs.flushes.0 as f64),
        ),
        "This is the price of durability. Only if the device's cache survives a power failure can flushes be switched off (queue/write_cache: write through).",
        vec![
            evidence("syncs", syncs.calls as f64, "calls", CALLS),
            evidence("time in syncs", syncs.total_ns as f64, "ns", CALLS),
            evidence("flushes during syncs", syncs.flushes.0 as f64, "requests", JOIN),
            evidence("time of those flushes", syncs.flushes.1 as f64, "ns", JOIN),
        ],
    ))
}
