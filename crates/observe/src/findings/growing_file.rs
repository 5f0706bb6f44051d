//! Files that grow: a sync after each write also writes their new size and blocks to the journal, and direct writes that extend a file
//! wait for each other.

use super::facts::{Facts, mean, size};
use super::{CALLS, EVENTS, evidence, finding};
use crate::words::count;
use fathom_record::block::IssuerKind;
use fathom_record::{Finding, OpKind};

const ENOUGH_SYNCS: u64 = 50;
/// Minimum share of the written bytes by which the files grew.
const NOTABLE: f64 = 0.5;
/// With more files than this share of the syncs, the journal also has their names and inodes.
const OPENS: f64 = 0.1;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    by_synced_writes(facts).or_else(|| by_direct_writes(facts))
}

/// Several direct writes in flight, of which the device gets few at once: one that extends the file holds its lock.
pub(super) fn by_direct_writes(facts: &Facts<'_>) -> Option<Finding> {
    let (_, written) = facts.calls(OpKind::Write);
    let (asked, seen) = facts.depth_below_asked()?;
    let grown = facts.grown_bytes()?;
    // Workers with one operation each may write different files.
    let together = facts.phase.axes.queue_depth.is_some_and(|depth| depth > 1);
    if facts.phase.reads || !together || (grown as f64) < NOTABLE * written as f64 {
        return None;
    }
    Some(finding(
        format!(
            "The direct writes extend the file (by {}), and a file system lets only one at a time do that: {asked} were kept in flight, but the device, while busy, had {} at once on average.",
            size(grown as f64),
            mean(seen)
        ),
        "Write the file to its full size once before, and then overwrite it: later writes go to the device together.",
        vec![
            evidence("growth of the files", grown as f64, "bytes", "the files' sizes"),
            evidence("operations kept in flight", asked as f64, "operations", "the workload"),
            evidence("requests in the device while busy, mean", seen, "requests", EVENTS),
        ],
    ))
}

fn by_synced_writes(facts: &Facts<'_>) -> Option<Finding> {
    let (writes, written) = facts.calls(OpKind::Write);
    let (opens, _) = facts.calls(OpKind::Open);
    let (syncs, noun) = match facts.calls(OpKind::Sync).0 {
        0 if facts.workload.all_synced => (writes, "synchronous write"),
        syncs => (syncs, "sync"),
    };
    let grown = facts.grown_bytes()?;
    let issuers = &facts.device()?.issuers;
    let journal = issuers.iter().filter(|i| i.kind == IssuerKind::Journal);
    let (requests, bytes) = journal.fold((0, 0), |sum, i| (sum.0 + i.writes, sum.1 + i.write_bytes));
    // A commit is two requests or more: this is one for every second sync at most.
    let commits = requests >= syncs;
    if facts.phase.reads
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
