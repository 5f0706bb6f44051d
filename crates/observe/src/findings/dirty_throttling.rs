//! Writers that the kernel pauses because much memory is dirty.

use super::facts::Facts;
use super::{PAGES, evidence, finding};
use crate::words::{count, percent, time};
use fathom_record::Finding;

/// Minimum share of the writers' time.
const NOTABLE: f64 = 0.2;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let pauses = facts.repetition.page_cache.as_ref()?.pauses?;
    let whole = facts.repetition.elapsed_ns as f64 * facts.repetition.writers() as f64;
    let share = pauses.total_ns as f64 / whole.max(1.0);
    if share < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "For {} of their time the kernel paused the writers ({}, {} in all), because much memory was dirty.",
            percent(share.min(1.0)),
            count(pauses.count, "pause"),
            time(pauses.total_ns as f64)
        ),
        "Writers go on as fast as storage takes dirty data, theirs and that of other programs. Higher limits (vm.dirty_ratio, vm.dirty_bytes) only delay the pauses.",
        vec![
            evidence("pauses", pauses.count as f64, "", PAGES),
            evidence("time of the pauses", pauses.total_ns as f64, "ns", PAGES),
            evidence("time of the workers that write", whole, "ns", super::THREADS),
        ],
    ))
}
