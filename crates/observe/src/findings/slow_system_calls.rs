//! System calls that are slow in themselves: filters, audit rules or tracing look at each of them.

use super::facts::Facts;
use super::{CALLS, evidence, finding};
use crate::environment::SLOW_CALL_NS;
use crate::words::{percent, time};
use fathom_record::{Finding, OpKind};
use serde_json::Value;

const EVENTS_OFF: &str = "/sys/kernel/tracing/set_event shows which; writing 0 to /sys/kernel/tracing/events/enable turns all of them off, also those of other programs.";
const STOP: &str = "Stop what has them open to see what they cost.";
const OUTSIDE: &str = "Run it outside of the sandbox (a container's profile, SystemCallFilter of systemd) to see what the filters cost.";
const UNKNOWN: &str = "Possible causes: audit rules (`auditctl -l`), BPF programs and probes (`bpftool prog`, `bpftool perf`), a profiler with a high rate (perf record), or a sandbox or hypervisor that intercepts calls (gVisor).";

/// Minimum share of the workers' time.
const NOTABLE: f64 = 0.25;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let limit = |name: &str| facts.environment.get("limits")?.get(name).filter(|value| !value.is_null());
    let empty_ns = limit("empty_call_ns").and_then(Value::as_f64)?;
    let calls: u64 = [OpKind::Read, OpKind::Write, OpKind::Sync].iter().map(|op| facts.calls(*op).0).sum();
    let share = empty_ns * calls as f64 / facts.workers_ns().max(1.0);
    // One call may submit several operations.
    let batches = facts.phase.axes.queue_depth.is_some_and(|depth| depth > 1);
    // Operations without system calls (mmap) do not compute in the kernel.
    let in_kernel = facts.kernel_share() >= NOTABLE;
    if empty_ns < SLOW_CALL_NS as f64 || share < NOTABLE || batches || !in_kernel || limit("tracer").is_some()
    {
        return None;
    }
    let filters = limit("seccomp_filters").and_then(Value::as_u64);
    let known = known(
        limit("trace_events").and_then(Value::as_str),
        limit("perf_events").and_then(Value::as_str),
        filters,
    );
    let seen: String = known.iter().map(|(sentence, _)| format!(" {sentence}")).collect();
    let advice = known.first().map_or(UNKNOWN, |(_, advice)| *advice);
    let mut figures = vec![
        evidence(
            "a system call that does nothing",
            empty_ns,
            "ns",
            "1 of 16 reads of 0 bytes from /dev/null, before the run",
        ),
        evidence("calls", calls as f64, "calls", CALLS),
        evidence("time of the workers", facts.workers_ns(), "ns", CALLS),
    ];
    figures.extend(filters.map(|n| evidence("seccomp filters", n as f64, "", "/proc/self/status")));
    Some(finding(
        format!(
            "A system call that does nothing takes {} here (0.1 to 0.5 us is usual): {} of the workers' time.{seen}",
            time(empty_ns),
            percent(share.min(1.0)),
        ),
        advice,
        figures,
    ))
}

/// What is known to look at each call, and what to do about it.
fn known(events: Option<&str>, holders: Option<&str>, filters: Option<u64>) -> Vec<(String, &'static str)> {
    let events = events.map(|which| {
        let which = if which == "all" { "All" } else { "Some" };
        (format!("{which} of the kernel's trace events are on."), EVENTS_OFF)
    });
    let holders = holders.map(|who| (format!("Performance events or probes are open in {who}."), STOP));
    let filters = filters.map(|n| {
        let apply = if n == 1 { "filter applies to" } else { "filters apply to" };
        (format!("{n} seccomp {apply} this program."), OUTSIDE)
    });
    [events, holders, filters].into_iter().flatten().collect()
}
