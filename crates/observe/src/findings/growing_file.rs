//! Files that grow with each synced write: the sync also writes their new size and blocks to the journal.

use super::facts::{Facts, size};
use super::{CALLS, EVENTS, evidence, finding};
use crate::residency::page_bytes;
use crate::words::count;
use fathom_record::block::IssuerKind;
use fathom_record::{Finding, OpKind};

const ENOUGH_SYNCS: u64 = 50;
/// Minimum share of the written bytes by which the files grew.
const NOTABLE: f64 = 0.5;
/// With more files than this share of the syncs, the journal also has their names and inodes.
const OPENS: f64 = 0.1;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let (writes, written) = facts.calls(OpKind::Write);
    let (opens, _) = facts.calls(OpKind::Open);
    let (syncs, noun) = match facts.calls(OpKind::Sync).0 {
        0 if facts.workload.all_synced => (writes, "synchronous write"),
        syncs => (syncs, "sync"),
    };
    let pages = |r: Option<fathom_record::Residency>| r.map(|r| r.total_pages);
    let (before, after) = (pages(facts.repetition.resident_before)?, pages(facts.repetition.resident_after)?);
    let grown = after.saturating_sub(before).saturating_mul(page_bytes());
    let issuers = &facts.device()?.issuers;
    let journal = issuers.iter().filter(|i| i.kind == IssuerKind::Journal);
    let (requests, bytes) = journal.fold((0, 0), |sum, i| (sum.0 + i.writes, sum.1 + i.write_bytes));
    // A commit is two requests or more: this is one for every second sync at most.
    let commits = requests >= syncs;
    if facts.phase.reads
        || facts.workload.ranges
        || syncs < ENOUGH_SYNCS
        || syncs.saturating_mul(2) < writes
        || opens as f64 > OPENS * syncs as f64
        || (grown as f64) < NOTABLE * written as f64
        || !commits
    {
        return None;
    }
    Some(finding(
        format!(
            "The files grew by {} while {} were written with {}: a sync then has to put their new size and blocks into the journal, too, which wrote {} in {}.",
            size(grown as f64),
            size(written as f64),
            count(syncs, noun),
            size(bytes as f64),
            count(requests, "request"),
        ),
        "Write the files to their full size once before and then reuse them, as databases do with their logs: size and blocks then stay the same, and fdatasync has only the data to write.",
        vec![
            evidence("growth of the files", grown as f64, "bytes", "the files' sizes"),
            evidence("bytes written by calls", written as f64, "bytes", CALLS),
            evidence("syncs", syncs as f64, "calls", CALLS),
            evidence("writes of the journal", requests as f64, "requests", EVENTS),
            evidence("bytes written by the journal", bytes as f64, "bytes", EVENTS),
        ],
    ))
}
