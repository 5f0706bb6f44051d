//! io_uring's submission polling in as many rings as there are processors: the polling threads and the workers take turns.

use super::facts::Facts;
use super::{THREADS, evidence, finding};
use fathom_record::Finding;

/// Minimum share of the processors that others than the workers used: polling threads that slept would have used none.
const NOTABLE: f64 = 2.0 / 3.0;
/// In a shorter time, a few ticks of the kernel's counters would weigh too much.
const LEAST_NS: u64 = 100_000_000;
/// Minimum share of their time that the workers were ready to run without a processor.
const WAITED: f64 = 0.1;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let rings = facts.workload.polling_rings;
    let allowed = facts.processors_allowed().or(facts.processors_online())?;
    if facts.repetition.elapsed_ns < LEAST_NS || rings < 2 || (rings as f64) < allowed {
        return None;
    }
    let others = facts.allowed_processors_used_by_others()?;
    let used = facts.processors_used();
    if others < NOTABLE * allowed || facts.processor_wait_share()? < WAITED {
        return None;
    }
    Some(finding(
        format!(
            "{rings} workers use io_uring with submission polling: for each of them a kernel thread spins on a processor, and this program may use only {allowed:.0}. All other threads used {others:.2} of these processors, the workers {used:.2}."
        ),
        "Leave submission polling out, or use it in fewer workers than there are processors.",
        vec![
            evidence("rings with submission polling", rings as f64, "", "the workload"),
            evidence("processors that the workers may use", allowed, "processors", "cpu.allowed"),
            evidence("used by others where the workers may run", others, "processors", "/proc/stat"),
            evidence("used by the workers", used, "processors", THREADS),
        ],
    ))
}
