//! A history of very many runs stays small: a CI's store of ten years must not fail on a small machine. Only memory is
//! limited: a test build is slow, and 30,000 runs show the cost per run (docs/history.md has figures for 116,000).

use fathom_record::{Axes, Histogram, OpKind, OpStat, Phase, Repetition, Run, Status, Store, Worker};
use fathom_testkit::{Fathom, find_tool, skip};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

const RUNS: usize = 30_000;
/// MiB.
const MOST: i64 = 64;

/// One after the other: the peak of a child begins with that of the process that started it.
static ALONE: Mutex<()> = Mutex::new(());

fn one() -> Run {
    let latency = Histogram::from_values((0..20).map(|n| 100_000 + n));
    let stat = OpStat { op: OpKind::Read, ops: 20, bytes: 500 << 20, latency };
    let worker = Worker {
        bytes: 500 << 20,
        ops: 20,
        elapsed_ns: 1_000_000_000,
        stats: vec![stat],
        ..Worker::default()
    };
    let phase = Phase {
        seq: 0,
        name: "read".into(),
        axes: Axes { record_bytes: Some(131_072), ..Axes::default() },
        reads: true,
        writes: false,
        sync_in_clock: false,
        direct: false,
        repetitions: vec![Repetition { workers: vec![worker], ..Repetition::default() }],
    };
    Run {
        id: "20261001T020000-000000".into(),
        label: "nightly".into(),
        dialect: "native".into(),
        started_at: "2026-10-01T02:00:00+00:00".into(),
        status: Status::Completed,
        version: "0.1.0".into(),
        argv: ["fathom", "run", "nightly.toml"].map(str::to_owned).to_vec(),
        directory: "/data".into(),
        workload: format!("name = \"cold read\"\n{}", "[[fileset]]\nname = \"data\"\n".repeat(20)),
        environment: serde_json::json!({"hostname": "db1", "kernel": "6.1.0"}),
        phases: vec![phase],
        ..Run::default()
    }
}

/// Copies of that run in the store, in the later half 10 % slower; `own_workloads`: whether each has a different workload. `None` without sqlite3.
fn many(own_workloads: bool) -> Option<Fathom> {
    let shell = find_tool("sqlite3")?;
    let fathom = Fathom::new();
    let mut store = Store::open(fathom.store()).expect("a store");
    store.save(&one()).expect("stored");
    store.close().expect("closed");
    let workload = if own_workloads { "1000 + rowid" } else { "workload_id" };
    let copies = format!(
        "PRAGMA synchronous = off; BEGIN;
         CREATE TEMP TABLE number AS WITH RECURSIVE c (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM c WHERE k < {RUNS}) SELECT k FROM c;
         CREATE TEMP TABLE w AS SELECT workload.* FROM number, workload;
         UPDATE w SET id = 1000 + rowid, digest = rowid, model = model || '# ' || rowid;
         INSERT INTO workload SELECT * FROM w;
         CREATE TEMP TABLE r AS SELECT run.* FROM number, run;
         UPDATE r SET id = printf('20270101T000000-%06d', rowid), workload_id = {workload};
         INSERT INTO run SELECT * FROM r;
         CREATE TEMP TABLE p AS SELECT phase.* FROM number, phase;
         UPDATE p SET id = 1000 + rowid, run_id = printf('20270101T000000-%06d', rowid);
         INSERT INTO phase SELECT * FROM p;
         CREATE TEMP TABLE n AS SELECT repetition.* FROM number, repetition;
         UPDATE n SET id = 1000 + rowid, phase_id = 1000 + rowid, bytes_per_s = bytes_per_s *
             (CASE WHEN rowid > {RUNS} / 2 THEN 0.9 ELSE 1 END) * (1 + 0.0001 * (rowid * 7919 % 101));
         INSERT INTO repetition SELECT * FROM n;
         COMMIT;"
    );
    let done = Command::new(shell).arg(fathom.store()).arg(copies).stdin(Stdio::null()).status();
    assert!(done.expect("started").success());
    Some(fathom)
}

/// Output and peak memory in MiB of a command.
#[expect(clippy::zombie_processes, reason = "wait4 waits for it, and says what it cost")]
fn cost(fathom: &Fathom, args: &[&str]) -> (String, i64) {
    let printed = fathom.work().join("printed");
    let mut command = fathom.command(args);
    command.stdin(Stdio::null()).stdout(std::fs::File::create(&printed).expect("a file"));
    // SAFETY: it only gives free memory back.
    unsafe { libc::malloc_trim(0) };
    std::fs::write("/proc/self/clear_refs", "5").expect("forgotten");
    let child = command.spawn().expect("started");
    let pid = i32::try_from(child.id()).expect("a pid");
    let mut status = 0;
    // SAFETY: a zeroed rusage is valid, and the call fills both; the child is ours and nobody else waits for it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::wait4(pid, &raw mut status, 0, &raw mut usage), pid);
        usage
    };
    assert_eq!(status, 0, "{args:?}");
    (std::fs::read_to_string(&printed).expect("there"), usage.ru_maxrss / 1024)
}

#[test]
fn the_history_of_one_workload_keeps_little_of_each_run() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(fathom) = many(false) else {
        return skip("the_history_of_one_workload_keeps_little_of_each_run", "needs sqlite3");
    };
    let (text, mib) = cost(&fathom, &["history", "last"]);
    assert!(text.contains("1 change in 30001 runs") && text.contains("Slower by 10.0 %"), "{text}");
    assert!(mib <= MOST, "{mib} MiB");
    let (json, mib) = cost(&fathom, &["history", "last", "--json"]);
    assert!(json.ends_with("}\n") && json.matches("\"outlier\"").count() == RUNS + 1);
    assert!(mib <= MOST, "{mib} MiB");
}

#[test]
fn the_list_of_very_many_workloads_keeps_a_line_of_each() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(fathom) = many(true) else {
        return skip("the_list_of_very_many_workloads_keeps_a_line_of_each", "needs sqlite3");
    };
    for form in [&["history"][..], &["history", "--json"]] {
        let (text, mib) = cost(&fathom, form);
        assert_eq!(text.matches("cold read").count(), RUNS + 1);
        assert!(mib <= MOST, "{form:?} {mib} MiB");
    }
}
