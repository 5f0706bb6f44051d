//! Reads in a write-only phase: partial blocks are written, so the rest must be read first.

use super::facts::{Facts, size};
use super::{CALLS, EVENTS, JOIN, evidence, finding};
use crate::words::count;
use fathom_record::block::{IssuerKind, RequestClass};
use fathom_record::{Finding, OpKind};

/// Minimum share of the written bytes; less is file system metadata.
const NOTABLE: f64 = 0.1;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    if facts.phase.reads || !facts.phase.writes {
        return None;
    }
    let (calls, written) = facts.calls(OpKind::Write);
    let (bytes, source) = match facts.joined {
        Some(joined) => (joined.fetched_bytes, JOIN),
        None => {
            let own = facts.device_at_least()?.issuers.iter().filter(|i| i.kind == IssuerKind::Own);
            (own.map(|i| i.read_bytes).sum(), EVENTS)
        }
    };
    let reads = facts.class_at_least(RequestClass::Read)?;
    if written == 0 || (bytes as f64) < NOTABLE * written as f64 {
        return None;
    }
    Some(finding(
        format!(
            "The phase only writes, yet {}{} were read to do so, for {} written by {}: parts of blocks were changed, and the rest had to be fetched first.",
            facts.at_least(),
            size(bytes as f64),
            size(written as f64),
            count(calls, "call"),
        ),
        "Write whole, aligned blocks of the file system (usually 4 KiB).",
        vec![
            evidence("bytes written", written as f64, "bytes", CALLS),
            evidence("bytes read meanwhile", bytes as f64, "bytes", source),
            evidence("requests that read", reads.issued as f64, "requests", EVENTS),
        ],
    ))
}
