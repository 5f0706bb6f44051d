//! The file system's own writes beside the data.

use super::facts::{Facts, size};
use super::{CALLS, EVENTS, evidence, finding, growing_file};
use fathom_record::block::{IssuerKind, RequestClass};
use fathom_record::{Finding, OpKind};

/// Minimum share of the written data; less has no noticeable effect.
const NOTABLE: f64 = 0.2;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let (_, written) = facts.calls(OpKind::Write);
    let device = facts.device()?;
    facts.class(RequestClass::Write)?;
    let physical = &facts.repetition.physical;
    let apart = facts.block()?.devices.iter().filter(|d| d.level == 0 && physical.is_journal(&d.name));
    let devices = std::iter::once(device).chain(apart);
    let journal = devices.flat_map(|d| &d.issuers).filter(|i| i.kind == IssuerKind::Journal);
    let (writes, bytes) = journal.fold((0, 0), |sum, i| (sum.0 + i.writes, sum.1 + i.write_bytes));
    let is_explained = growing_file::find(facts).is_some();
    if is_explained || written == 0 || (bytes as f64) < NOTABLE * written as f64 {
        return None;
    }
    Some(finding(
        format!(
            "The journal wrote {} for {} of data: {:.2} bytes per byte written.",
            size(bytes as f64),
            size(written as f64),
            bytes as f64 / written as f64,
        ),
        "Fewer fsyncs, larger ones, or files of a fixed size (whose inodes do not change) need less journal.",
        vec![
            evidence("bytes written by calls", written as f64, "bytes", CALLS),
            evidence("bytes written by the journal", bytes as f64, "bytes", EVENTS),
            evidence("writes of the journal", writes as f64, "requests", EVENTS),
        ],
    ))
}
