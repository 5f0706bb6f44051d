//! A program that stops for a while: with a rate, the response times tell of everyone who would have waited; the service times,
//! which is all that a closed loop sees, do not.

use fathom_testkit::{Fathom, family};
use serde_json::Value;
use std::time::Duration;

const WORKLOAD: &str = r#"
name = "stalled"
[[fileset]]
name = "f"
files = { numbered = { prefix = "f.", count = 1 } }
size = { fixed = "1MiB" }
[[phase]]
name = "reads on time"
before = [{ prepare = "f" }]
stop = { operations = 1500 }
[[phase.group]]
name = "users"
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "f"
direction = "read"
access = "uniform"
record = { fixed = "4KiB" }
amount = "endless"
BACKEND
pace = { rate = { operations_per_s = 1000.0 } }
"#;

/// How many values of a kind's histogram are at least so long. Buckets are as docs/formats/record-json.md describes them.
fn at_least(worker: &Value, kind: &str, ns: u64) -> u64 {
    let low = |bucket: u64| match bucket >> 6 {
        0 => bucket,
        group => ((bucket & 63) + 64) << (group - 1),
    };
    let stats = worker["stats"].as_array().expect("stats");
    let Some(stat) = stats.iter().find(|s| s["op"] == kind) else { return 0 };
    let counts = stat["latency"]["counts"].as_array().expect("counts");
    counts
        .iter()
        .map(|pair| (pair[0].as_u64().expect("bucket"), pair[1].as_u64().expect("count")))
        .filter(|&(bucket, _)| low(bucket) >= ns)
        .map(|(_, count)| count)
        .sum()
}

/// Operations that a process and its descendants have handed to rings: the kernel counts no bytes for these.
fn submitted(pid: u32) -> u64 {
    let entries = |pid: u32| std::fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten();
    let files = family(pid).into_iter().flat_map(entries).filter_map(Result::ok);
    let texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
    texts
        .filter_map(|text| text.split_once("SqTail:")?.1.split_whitespace().next()?.parse::<u64>().ok())
        .sum()
}

fn stopped_for_half_a_second(backend: &str) {
    const MS: u64 = 1_000_000;
    let fathom = Fathom::new();
    let path = fathom.dir().path().join("stalled.toml");
    std::fs::write(&path, WORKLOAD.replace("BACKEND", backend)).expect("the workload");
    let mut running = fathom.spawn(["run", "--json", path.to_str().expect("UTF-8")]);
    let pid = running.pid();
    // It has read a part of the 1500 records.
    match backend.contains("uring") {
        true => running.wait_until("100 operations", || submitted(pid) >= 100),
        false => running.wait_for_work(100 * 4096),
    }
    running.signal(libc::SIGSTOP);
    std::thread::sleep(Duration::from_millis(500));
    running.signal(libc::SIGCONT);
    let outcome = running.finish().expect_code(0);
    let run: Value = serde_json::from_str(&outcome.stdout).expect("a record");
    let worker = &run["phases"][0]["repetitions"][0]["workers"][0];
    assert_eq!(worker["ops"], 1500, "nothing is dropped");
    // Due in the first 400 of the 500 ms: they waited at least 100 ms.
    let late = at_least(worker, "response", 100 * MS);
    assert!(late >= 350, "{backend}: only {late} late responses");
    // One operation may have been in the kernel when the stop came; a busy machine may have its own long ones.
    let slow = at_least(worker, "read", 100 * MS);
    assert!(slow <= late / 10, "{backend}: {slow} slow services beside {late} late responses");
}

#[test]
fn one_after_the_other() {
    stopped_for_half_a_second("backend = { psync = \"pread\" }");
}

#[test]
fn several_in_flight() {
    stopped_for_half_a_second("backend = { uring = {} }\nqueue_depth = 4");
}
