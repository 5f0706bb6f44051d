//! ext4 without delayed allocation, and calls that are busy computing.

use super::facts::Facts;
use super::{CALLS, THREADS, evidence, finding};
use crate::words::percent;
use fathom_record::Finding;

/// Minimum share of the workers' time on a processor in the kernel.
const NOTABLE: f64 = 0.25;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let text = |at| facts.environment.pointer(at).and_then(|o| o.as_str());
    let has = |option| text("/filesystem/options").is_some_and(|all| all.split(',').any(|o| o == option));
    // data=journal implies it.
    let off = has("nodelalloc") && !has("data=journal");
    let computes = facts.kernel_share();
    if !off || !facts.allocates() || !facts.phase.writes || facts.phase.direct || computes < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "The file system is mounted with nodelalloc: a write call that extends a file allocates the blocks itself. The workers computed in the kernel for {} of their time, which includes that cost.",
            percent(computes),
        ),
        "With delalloc, the default, blocks are allocated at write-back, many at a time.",
        vec![
            evidence("share of kernel CPU time in the workers' time", computes, "ratio", THREADS),
            evidence("time of the workers", facts.workers_ns(), "ns", CALLS),
        ],
    ))
}
