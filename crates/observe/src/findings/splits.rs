//! Calls larger than the device's maximum request.

use super::facts::{Facts, size};
use super::{CALLS, EVENTS, evidence, finding};
use crate::words::count;
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};

/// What limits the size of a request. Segments of the calls' buffers do, too: pages that lie apart in memory.
fn advice(facts: &Facts<'_>, device: &str) -> String {
    let kib = |name| facts.described(device)?.get(name)?.as_u64();
    match (kib("max_sectors_kb"), kib("max_hw_sectors_kb")) {
        (Some(now), Some(most)) if now < most => {
            format!("The device accepts no larger requests: max_sectors_kb is {now}, and can be raised to {most}.")
        }
        _ => "The device accepts no larger requests (max_hw_sectors_kb and max_segments of its queue), so larger calls gain nothing there.".into(),
    }
}

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    if !facts.phase.direct {
        // Buffered I/O is split by the page cache first; requests-per-call covers that.
        return None;
    }
    let device = facts.device()?;
    let (class, op, word) =
        [(RequestClass::Read, OpKind::Read, "read"), (RequestClass::Write, OpKind::Write, "write")]
            .into_iter()
            .max_by_key(|(class, ..)| device.class(*class).map_or(0, |c| c.issued))?;
    let stats = facts.class(class)?;
    let record = facts.record_bytes(op)?;
    let largest = stats.sizes.iter().map(|s| s.bytes).max().filter(|&b| b > 0)?;
    let (calls, _) = facts.calls(op);
    let ratio = stats.issued as f64 / calls.max(1) as f64;
    // All pieces of a split request but the last have the maximum size.
    let cut =
        stats.sizes.iter().filter(|s| s.bytes == largest).map(|s| s.count).sum::<u64>() * 2 >= stats.issued;
    if largest >= record || ratio < 1.5 || !cut {
        return None;
    }
    Some(finding(
        format!(
            "Each {} {word} was cut into requests of at most {}: {} for {}.",
            size(record as f64),
            size(largest as f64),
            count(stats.issued, "request"),
            count(calls, "call"),
        ),
        &advice(facts, &device.name),
        vec![
            evidence("calls", calls as f64, "calls", CALLS),
            evidence("bytes per call", record as f64, "bytes", CALLS),
            evidence("requests", stats.issued as f64, "requests", EVENTS),
            evidence("largest request", largest as f64, "bytes", EVENTS),
        ],
    ))
}
