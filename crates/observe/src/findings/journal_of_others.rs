//! Syncs that wait until the journal has other programs' changes, too.

use super::facts::Facts;
use super::{CALLS, JOURNAL, evidence, finding};
use crate::words::{percent, program};
use fathom_record::{Finding, OpKind};

/// Minimum share of all changes.
const NOTABLE: f64 = 0.7;
const ENOUGH: u64 = 100;
/// Minimum share of the workers' time in syncs.
const IN_SYNCS: f64 = 0.3;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let journal = facts.repetition.page_cache.as_ref()?.journal.as_ref()?;
    let others = journal.others();
    let share = others as f64 / others.saturating_add(journal.own).max(1) as f64;
    let in_syncs = facts.repetition.latency(OpKind::Sync).sum_ns() as f64;
    if others < ENOUGH || share < NOTABLE || in_syncs < IN_SYNCS * facts.workers_ns() {
        return None;
    }
    let most = journal.others.first()?;
    let who = program(&most.name, &most.processes);
    let mostly = if journal.others.len() > 1 { "mostly " } else { "" };
    Some(finding(
        format!(
            "{} of the changes that the file system's journal took meanwhile were by other programs, {mostly}{who}: a sync waits until all changes before it are in the journal.",
            percent(share)
        ),
        "Measure when they are quiet, or on a file system that only the workload uses.",
        vec![
            evidence("changes by other programs", others as f64, "", JOURNAL),
            evidence("changes by this program", journal.own as f64, "", JOURNAL),
            evidence("time in syncs", in_syncs, "ns", CALLS),
        ],
    ))
}
