//! How calls were split into requests: "each 16 KiB read became four 4 KiB requests".

use super::facts::{Facts, mean, size};
use super::{CALLS, JOIN, evidence, finding};
use crate::join::PerCall;
use fathom_record::Finding;

/// With fewer calls that reached the device, the sample is too small.
const ENOUGH_CALLS: u64 = 20;
/// Minimum share of requests with the same size for the size to be named.
const MOSTLY: f64 = 0.75;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let joined = facts.joined?;
    facts.block()?;
    finding_for("read", &joined.reads).or_else(|| finding_for("write", &joined.writes))
}

fn finding_for(word: &str, per: &PerCall) -> Option<Finding> {
    // Calls served by the cache are no evidence of how calls are split.
    let reached = per.calls_with_requests();
    if reached < ENOUGH_CALLS || reached * 2 < per.calls {
        return None;
    }
    let median = per.median_requests().filter(|&n| n >= 2)?;
    let each = per.bytes as f64 / per.calls as f64;
    let became = match per.usual_size() {
        Some((bytes, share)) if share >= MOSTLY => format!("{median} requests of {}", size(bytes as f64)),
        _ => format!("{median} requests"),
    };
    let sum: u64 = per.sizes.iter().map(|s| s.0 * s.1).sum();
    let requests = per.all_requests();
    Some(finding(
        format!(
            "Each {} {word} became {became} at the device ({} on average over {} calls).",
            size(each),
            mean(requests as f64 / per.calls as f64),
            per.calls
        ),
        "Fewer, larger requests cost less: check the fragmentation of the file (filefrag), read-ahead, and the device's limits (max_sectors_kb).",
        vec![
            evidence("calls", per.calls as f64, "calls", CALLS),
            evidence("bytes asked for", per.bytes as f64, "bytes", CALLS),
            evidence("requests issued for their bytes while they lasted", requests as f64, "requests", JOIN),
            evidence("bytes of those requests", sum as f64, "bytes", JOIN),
        ],
    ))
}
