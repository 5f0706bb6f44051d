//! Calls that wait until another program allows them: an on-access virus scanner, an indexer.

use super::facts::Facts;
use super::{CALLS, THREADS, evidence, finding};
use crate::words::percent;
use fathom_record::Finding;

/// The layer of such a wait.
const LAYER: &str = "access check";
/// Minimum share of the slowest calls that waited so.
const OF_SLOWEST: f64 = 0.5;
/// Minimum number of context switches per call: others than the slowest wait, too.
const SWITCHES: f64 = 0.8;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let mut kinds = facts.repetition.slow_calls.iter().filter_map(|slow| {
        let waited = slow.stacks.iter().filter(|s| s.layer == LAYER).map(|s| s.calls).max()?;
        (slow.slowest > 0).then(|| (slow, waited as f64 / slow.slowest as f64))
    });
    let (slow, share) = kinds.find(|(_, share)| *share >= OF_SLOWEST)?;
    let calls: u64 = facts.repetition.workers.iter().flat_map(|w| &w.stats).map(|s| s.ops).sum();
    let switches: Option<u64> =
        facts.repetition.workers.iter().map(|w| w.thread_counts.map(|counts| counts.switches)).sum();
    let per_call = switches? as f64 / calls.max(1) as f64;
    if per_call < SWITCHES {
        return None;
    }
    Some(finding(
        format!(
            "Another program checks each access to the files (fanotify), as virus scanners do: {} of the slowest calls waited for its answer, and the workers were switched {per_call:.1} times per call.",
            percent(share.min(1.0))
        ),
        "`grep -l fanotify /proc/*/fdinfo/*` shows the programs that use fanotify. Stop it, or exclude the directory.",
        vec![
            evidence("slowest calls looked at", slow.slowest as f64, "calls", CALLS),
            evidence("of them waited for an answer", share, "ratio", "kernel stacks"),
            evidence("context switches per call", per_call, "", THREADS),
        ],
    ))
}
