//! Converts a replay to a run for the store, so that replays can be compared, listed and drawn. One phase, one
//! repetition, one worker for all submitters; its latency counts from an arrival's scheduled time.

use super::super::SEED;
use super::ReplayOutcome;
use super::output;
use crate::console;
use crate::run_loop;
use fathom_record::{Clock, OpKind, Phase, Repetition, Run, Simulation, Status, Worker};
use fathom_sim::outcome;

pub fn of(done: &ReplayOutcome<'_>) -> Run {
    let (o, out) = (done.options, &done.out);
    let m = &out.merges;
    let mut counts: Vec<(String, u64)> = [
        ("virtual_ns", out.elapsed_ns),
        ("merges_back", m.back + m.plug_back),
        ("merges_front", m.front + m.plug_front),
        ("merges_requests", m.joined + m.gathered),
        ("queue_full", out.counts.full),
        ("late_ns", out.counts.late_ns),
        ("wrapped", out.counts.wrapped),
        ("device_busy_ns", out.device.busy_ns),
        ("device_seek_ns", out.device.seek_ns),
        ("device_rotation_ns", out.device.rotation_ns),
        ("device_transfer_ns", out.device.transfer_ns),
    ]
    .map(|(name, n)| (name.to_owned(), n))
    .to_vec();
    counts.extend(out.scheduler.iter().map(|(name, n)| (format!("scheduler_{name}"), *n)));
    let simulation = Simulation { counts, phases: vec![out.inside.clone()], ..done.simulation.clone() };
    let now = fathom_observe::local_time::now();
    Run {
        id: fathom_record::store::new_run_id(now.timestamp(), std::process::id()),
        label: done.origin.file.clone(),
        dialect: "trace".into(),
        started_at: run_loop::rfc3339(&now),
        ended_at: run_loop::rfc3339(&now),
        status: Status::Completed,
        version: env!("CARGO_PKG_VERSION").into(),
        argv: console::argv(),
        directory: format!("(simulated: {} on {})", o.host, o.device),
        seed: o.seed.unwrap_or(SEED),
        workload: format!("# {}, {}\n", done.origin.file, output::mode_words(done.mode)),
        environment: serde_json::json!({ "simulated": true }),
        clock: Clock { source: "virtual".into(), hz: 1e9, ..Clock::default() },
        doubts: super::super::doubts(&simulation),
        phases: vec![phase(done)],
        simulation: Some(simulation),
        ..Run::default()
    }
}

fn phase(done: &ReplayOutcome<'_>) -> Phase {
    let out = &done.out;
    let sum = |of: fn(&fathom_record::OpStat) -> u64, op: Option<OpKind>| -> u64 {
        out.served.iter().filter(|s| op.is_none_or(|op| s.op == op)).map(of).sum()
    };
    let written = sum(|s| s.bytes, Some(OpKind::Write));
    let worker = Worker {
        group: "trace".into(),
        elapsed_ns: out.elapsed_ns,
        bytes: sum(|s| s.bytes, None),
        ops: sum(|s| s.ops, None),
        stats: out.served.clone(),
        ..Worker::default()
    };
    let repetition = Repetition {
        elapsed_ns: out.elapsed_ns,
        workers: vec![worker],
        physical: outcome::physical(&out.block, written, "simulated"),
        block: Some(out.block.clone()),
        ..Repetition::default()
    };
    Phase {
        seq: 0,
        name: "replay".into(),
        axes: fathom_record::Axes::default(),
        reads: sum(|s| s.ops, Some(OpKind::Read)) > 0,
        writes: sum(|s| s.ops, Some(OpKind::Write)) > 0,
        sync_in_clock: false,
        direct: true,
        repetitions: vec![repetition],
    }
}
