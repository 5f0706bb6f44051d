//! The search for a queue depth whose latency stays below a target, and its report.

use crate::fio::support::{json, run};
use fathom_testkit::{Fathom, TestDir, skip};

#[test]
fn one_operation_in_flight_is_measured_for_a_window() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --rw=randread --size=1m --time_based --runtime=9 --latency_target=10s --latency_window=200ms";
    let job = json(&fathom, line)["jobs"][0].clone();
    assert_eq!(job["latency_depth"].as_u64(), Some(1));
    assert_eq!(job["latency_target"].as_u64(), Some(10_000_000_000));
    assert_eq!(job["latency_window"].as_u64(), Some(200_000));
    let runtime = job["read"]["runtime"].as_u64().unwrap();
    assert!((190..5000).contains(&runtime), "{runtime}");
    // A target of all operations is the longest that one may take.
    run(&fathom, &line.replace("=10s", "=1us"))
        .expect_code(1)
        .expect_stderr("exceeds specified max (1000 nsec)");
}

#[test]
fn the_depth_that_was_found_is_told_and_one_window_is_measured() {
    let test = "the_depth_that_was_found_is_told_and_one_window_is_measured";
    let dir = TestDir::new();
    if dir.in_memory() {
        skip(test, "depths are of direct I/O, and the tests' directory lies in memory");
        return;
    }
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --rw=randread --size=1m --direct=1 --ioengine=libaio --iodepth=8 --latency_target=100s \
                --latency_window=100ms --latency_percentile=99.9 --runtime=30 --time_based";
    let job = json(&fathom, line)["jobs"][0].clone();
    // Every depth keeps a target of 100 s.
    assert_eq!(job["latency_depth"].as_u64(), Some(8));
    assert_eq!(job["latency_target"].as_u64(), Some(100_000_000_000));
    assert_eq!(job["latency_window"].as_u64(), Some(100_000));
    assert!(job["read"]["runtime"].as_u64().unwrap() < 10_000, "{}", job["read"]["runtime"]);
    let text = run(&fathom, line).expect_code(0).stdout;
    let wanted = "     latency   : target=100.00s, window=100.00ms, percentile=99.90%, depth=8\n";
    assert!(text.contains(wanted), "{text}");
    // A target that nobody keeps leaves one operation in flight.
    let line = line.replace("=100s", "=1us").replace("--runtime=30", "--runtime=1 --latency_run=1");
    let job = json(&fathom, &line)["jobs"][0].clone();
    assert_eq!(job["latency_depth"].as_u64(), Some(1));
    assert!(job["read"]["runtime"].as_u64().unwrap() >= 950, "{}", job["read"]["runtime"]);
}
