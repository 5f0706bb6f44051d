//! Converts a simulation to a run for the store: phases as in any run, with the model that produced them.

use super::super::sweep::subject::SweepSubject;
use super::line::RunSimulated;
use crate::console;
use crate::run_loop;
use fathom_record::{Clock, Run, Simulation, Status};
use fathom_sim::Simulated;
use fathom_workload::Workload;

pub fn of(
    o: &RunSimulated,
    subject: &SweepSubject,
    workload: &Workload,
    started: &jiff::Zoned,
    machine: Simulation,
    out: Simulated,
) -> Run {
    let mut counts: Vec<(String, u64)> =
        out.inside.counts.named().into_iter().map(|(name, n)| (name.to_string(), n)).collect();
    let merges = out.inside.merges;
    let device = out.inside.device;
    let more = [
        ("virtual_ns", out.inside.elapsed_ns),
        ("events", out.inside.events),
        ("merges_back", merges.back + merges.plug_back),
        ("merges_front", merges.front + merges.plug_front),
        ("merges_requests", merges.joined + merges.gathered),
        ("device_busy_ns", device.busy_ns),
        ("device_seek_ns", device.seek_ns),
        ("device_rotation_ns", device.rotation_ns),
        ("device_transfer_ns", device.transfer_ns),
        ("device_read_hits", device.read_hits),
        ("device_cached_writes", device.cached_writes),
        ("device_bypassed_writes", device.bypassed_writes),
        ("device_destage_ns", device.destage_ns),
    ];
    counts.extend(more.map(|(name, n)| (name.to_string(), n)));
    counts.extend(out.inside.elevator.iter().map(|(name, n)| (format!("scheduler_{name}"), *n)));
    let simulation = Simulation {
        scheduler: o.scheduler().into(),
        readahead: o.readahead().into(),
        stack: o.stack.clone(),
        counts,
        phases: out.inside.phases,
        ..machine
    };
    let phases: Vec<_> = workload
        .phases
        .iter()
        .zip(out.phases)
        .enumerate()
        .filter(|(_, (_, repetitions))| !repetitions.is_empty())
        .map(|(number, (phase, repetitions))| {
            let mut described = run_loop::described(phase, number);
            described.repetitions = repetitions;
            described
        })
        .collect();
    let error = phases.iter().flat_map(|p| &p.repetitions).find_map(|r| r.error()).map(|e| e.message.clone());
    Run {
        id: fathom_record::store::new_run_id(started.timestamp(), std::process::id()),
        label: workload.name.clone(),
        dialect: subject.dialect().into(),
        started_at: run_loop::rfc3339(started),
        ended_at: run_loop::rfc3339(&fathom_observe::local_time::now()),
        status: if error.is_some() { Status::Failed } else { Status::Completed },
        version: env!("CARGO_PKG_VERSION").into(),
        argv: console::argv(),
        directory: format!("(simulated: {} on {})", o.host, o.device),
        seed: workload.seed.0,
        workload: workload.to_toml().unwrap_or_else(|e| format!("# {e}")),
        environment: serde_json::json!({ "simulated": true }),
        clock: Clock { source: "virtual".into(), hz: 1e9, ..Clock::default() },
        doubts: super::doubts(&simulation),
        phases,
        error,
        simulation: Some(simulation),
        ..Run::default()
    }
}
