//! The checks, one file each, and the table of them. A check examines one subject and returns findings: what is wrong, what is in order,
//! and what could not be seen. It says nothing about features the machine does not have.

use super::finding::{Finding, Subject};
use super::scene::Scene;

mod background;
mod backing;
mod block_events;
mod cgroup;
mod clock;
mod cpu_busy;
mod dirty;
mod discard;
mod drop_caches;
mod file_system;
mod frequency;
mod fs_errors;
mod health;
mod huge_pages;
mod hypervisor;
mod idle;
mod journal;
mod link;
mod load_average;
mod lockdown;
mod loop_cache;
mod mapper;
mod memory;
mod mitigations;
mod mount_options;
mod neighbours;
mod numa;
mod perf;
mod pressure;
mod queue;
mod quota;
mod raid;
mod read_only;
mod reclaim;
mod rotational;
mod scheduler;
mod space;
mod swap;
mod system_calls;
mod temperature;
mod throttling;
mod ulimits;
mod uptime;
mod write_cache;

/// A check: its subject, the codes it may use, and its function.
pub(super) struct Check {
    pub subject: Subject,
    pub codes: &'static [&'static str],
    pub find: fn(&Scene) -> Vec<Finding>,
}

const fn check(subject: Subject, codes: &'static [&'static str], find: fn(&Scene) -> Vec<Finding>) -> Check {
    Check { subject, codes, find }
}

/// Every check, in report order within a subject.
pub(super) const ALL: [Check; 44] = [
    check(Subject::Place, &["file-system"], file_system::check),
    check(Subject::Place, &["read-only"], read_only::check),
    check(Subject::Place, &["space", "space-reserved", "inodes"], space::check),
    check(Subject::Place, &["mount-options", "compression"], mount_options::check),
    check(Subject::Place, &["journal", "lazy-init"], journal::check),
    check(Subject::Place, &["fs-errors"], fs_errors::check),
    check(Subject::Place, &["quota"], quota::check),
    check(Subject::Device, &["backing", "host-backing"], backing::check),
    check(Subject::Device, &["loop-cache"], loop_cache::check),
    check(Subject::Device, &["mapper", "encryption", "thin", "snapshot"], mapper::check),
    check(Subject::Device, &["raid-degraded", "raid-sync"], raid::check),
    check(Subject::Device, &["device-health", "smart"], health::check),
    check(Subject::Device, &["temperature"], temperature::check),
    check(Subject::Device, &["link-power", "apst", "link-speed"], link::check),
    check(Subject::Device, &["scheduler"], scheduler::check),
    check(
        Subject::Device,
        &["read-ahead", "nr-requests", "request-size", "merges", "write-throttle", "io-stats"],
        queue::check,
    ),
    check(Subject::Device, &["rotational"], rotational::check),
    check(Subject::Device, &["write-cache"], write_cache::check),
    check(Subject::Device, &["discard"], discard::check),
    check(Subject::Load, &["pressure-io", "pressure-cpu", "pressure-memory"], pressure::check),
    check(Subject::Load, &["disk-traffic"], neighbours::check),
    check(Subject::Load, &["cpu-busy"], cpu_busy::check),
    check(Subject::Load, &["load-average"], load_average::check),
    check(Subject::Load, &["background"], background::check),
    check(Subject::Load, &["uptime"], uptime::check),
    check(Subject::Processor, &["hypervisor", "steal"], hypervisor::check),
    check(Subject::Processor, &["governor", "boost", "frequency-spread"], frequency::check),
    check(Subject::Processor, &["idle-states"], idle::check),
    check(Subject::Processor, &["throttling"], throttling::check),
    check(Subject::Processor, &["clocksource", "tsc"], clock::check),
    check(Subject::Processor, &["mitigations"], mitigations::check),
    check(Subject::Processor, &["system-calls"], system_calls::check),
    check(Subject::Processor, &["numa"], numa::check),
    check(Subject::Memory, &["memory"], memory::check),
    check(Subject::Memory, &["swap"], swap::check),
    check(Subject::Memory, &["dirty-limits", "dirty-now", "laptop-mode"], dirty::check),
    check(Subject::Memory, &["reclaim", "ksm"], reclaim::check),
    check(Subject::Memory, &["huge-pages"], huge_pages::check),
    check(
        Subject::Limits,
        &["cgroup-cpu", "cgroup-cpu-weight", "cgroup-memory", "cgroup-io", "cpuset"],
        cgroup::check,
    ),
    check(Subject::Limits, &["open-files", "locked-memory", "file-size"], ulimits::check),
    check(Subject::Observation, &["block-events"], block_events::check),
    check(Subject::Observation, &["perf"], perf::check),
    check(Subject::Observation, &["lockdown"], lockdown::check),
    check(Subject::Observation, &["drop-caches"], drop_caches::check),
];
