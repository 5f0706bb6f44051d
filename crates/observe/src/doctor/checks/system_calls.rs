//! System calls that are slow in themselves: filters, audit rules and tracing add to every one.

use super::super::finding::Finding;
use super::super::scene::Scene;
use crate::environment::SLOW_CALL_NS;
use crate::words::time;

const CODE: &str = "system-calls";
const SOURCE: &str = "16 reads of 0 bytes from /dev/null";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let Some(ns) = scene.count("limits.empty_call_ns") else { return Vec::new() };
    let takes = format!("A system call that does nothing takes {}", time(ns as f64));
    if ns < SLOW_CALL_NS {
        return vec![Finding::good(CODE, SOURCE, format!("{takes}."))];
    }
    let events = scene.word("limits.trace_events");
    let events = events.map(|which| format!("; {which} of the kernel's trace events are on"));
    let holders = scene.word("limits.perf_events");
    let holders = holders.map(|who| format!("; performance events or probes are open in {who}"));
    let filters = scene.count("limits.seccomp_filters").map(|n| {
        format!("; {n} seccomp {} to this program", if n == 1 { "filter applies" } else { "filters apply" })
    });
    let seen: String = [events, holders, filters].into_iter().flatten().collect();
    vec![
        Finding::warning(CODE, SOURCE, format!("{takes} (0.1 to 0.5 us is usual), which slows small operations down{seen}."))
            .figure("a system call that does nothing", ns as f64, "ns")
            .remedy("Stop profilers and tracers; look for a sandbox (seccomp), audit rules (auditctl -l), trace events (/sys/kernel/tracing/set_event) and BPF programs (bpftool prog)"),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    #[test]
    fn a_slow_call_is_a_warning_with_what_is_known() {
        let _ = says(&machine().empty_call(300), "system-calls", Severity::Good, &["300 ns"]);
        let slow = machine().empty_call(17_000);
        let _ = says(&slow, "system-calls", Severity::Warning, &["17.0 us"]);
        let traced = slow.file("/sys/kernel/tracing/events/enable", "1\n");
        let _ = says(&traced, "system-calls", Severity::Warning, &["all of the kernel's trace events"]);
    }
}
