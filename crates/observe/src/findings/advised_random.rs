//! Files opened with the advice that they are read at random places, but read in order: the kernel reads nothing ahead.

use super::facts::{Facts, size};
use super::{CALLS, EVENTS, evidence, finding};
use crate::residency::page_bytes;
use crate::words::count;
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};

const ENOUGH_REQUESTS: u64 = 50;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let traits = facts.workload;
    if !traits.advises_random || !traits.in_order || facts.phase.direct || !facts.requests_are_ours() {
        return None;
    }
    let reads = facts.class(RequestClass::Read).filter(|r| r.issued >= ENOUGH_REQUESTS)?;
    // Smaller calls share the page that the first of them fetches.
    let record = facts.record_bytes(OpKind::Read).filter(|&bytes| bytes >= page_bytes())?;
    let (calls, _) = facts.calls(OpKind::Read);
    let each = reads.issued_bytes / reads.issued;
    // There is nothing to read ahead in a file that is read with one call.
    let short = facts.phase.axes.file_bytes.is_some_and(|bytes| bytes < 4 * record);
    // Read-ahead makes requests that are larger than a call, or there are fewer because memory served the rest.
    if short || each > record || reads.issued.saturating_mul(2) < calls {
        return None;
    }
    Some(finding(
        format!(
            "The workload opens its files with the advice `random` (POSIX_FADV_RANDOM) and reads them in order: the kernel reads nothing ahead, so each {} read that the page cache could not serve waited for the device ({} of {} for {}).",
            size(record as f64),
            count(reads.issued, "request"),
            size(each as f64),
            count(calls, "read"),
        ),
        "Leave the advice out, or give `sequential` (POSIX_FADV_SEQUENTIAL).",
        vec![
            evidence("reads by calls", calls as f64, "calls", CALLS),
            evidence("bytes of each", record as f64, "bytes", CALLS),
            evidence("read requests", reads.issued as f64, "requests", EVENTS),
            evidence("bytes of those", reads.issued_bytes as f64, "bytes", EVENTS),
        ],
    ))
}
