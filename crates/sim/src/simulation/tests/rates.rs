//! Streams with a rate and several operations in flight: an operation is issued on schedule, whatever is still in flight.

use super::*;
use crate::devices::{Command, Counters, Device};

/// A device that serves all commands in parallel, each in the same time.
struct Parallel {
    depth: u32,
    command_ns: u64,
    under_way: Vec<(u64, u32)>,
}

impl Device for Parallel {
    fn capacity_sectors(&self) -> u64 {
        80_000_000
    }

    fn depth(&self) -> u32 {
        self.depth
    }

    fn submit(&mut self, now: u64, command: Command) {
        self.under_way.push((now + self.command_ns, command.tag));
    }

    fn next_event(&self) -> Option<u64> {
        self.under_way.iter().map(|&(at, _)| at).min()
    }

    fn advance(&mut self, now: u64, done: &mut Vec<u32>) {
        self.under_way.retain(|&(at, tag)| {
            if at <= now {
                done.push(tag);
            }
            at > now
        });
    }

    fn counters(&self, _now: u64) -> Counters {
        Counters::default()
    }
}

fn parallel() -> Setup {
    let device = Parallel { depth: 8, command_ns: 10 * MS, under_way: Vec::new() };
    Setup { device: Box::new(device), ..setup("today") }
}

/// Direct random reads at this queue depth.
fn direct(depth: u32, rest: &str) -> String {
    format!(
        "direction = \"read\"\naccess = \"uniform\"\nrecord = {{ fixed = \"4KiB\" }}\nopen = {{ direct = true }}\n\
         backend = {{ uring = {{}} }}\nqueue_depth = {depth}\n{rest}"
    )
}

#[test]
fn of_a_rate_in_bytes_large_operations_take_more() {
    for depth in [1, 8] {
        let stream = direct(
            depth,
            "pace = { rate = { operations_per_s = 64.0, per = \"4KiB\" } }\namount = { operations = 400 }",
        )
        .replace("fixed = \"4KiB\"", "split = [[\"4KiB\", 50], [\"16KiB\", 50]]");
        let out = run(&workload(1, 1, "", &stream), parallel());
        let worker = &only(&out).workers[0];
        let per_s = worker.bytes as f64 * 1e9 / worker.elapsed_ns as f64;
        assert!((per_s / f64::from(256 << 10) - 1.0).abs() < 0.01, "depth {depth}: {per_s} bytes a second");
    }
}

#[test]
fn a_program_runs_some_time_after_the_completion_it_waits_for() {
    let took = |depth: u32, wake_us: Option<f64>| {
        let mut setup = parallel();
        setup.host.cpu.wake_us = wake_us.map(|value| crate::sources::Sourced {
            value,
            src: crate::sources::Source::Measured,
            note: String::new(),
        });
        let out = run(&workload(1, 1, "", &direct(depth, "amount = { operations = 100 }")), setup);
        only(&out).workers[0].elapsed_ns
    };
    for (depth, rounds) in [(1, 100), (4, 25)] {
        let longer = took(depth, Some(1000.0)) - took(depth, None);
        assert!((rounds * MS).abs_diff(longer) <= 2 * MS, "depth {depth}: {longer} ns longer");
    }
}

#[test]
fn a_rate_is_kept_whatever_the_latency_if_the_depth_allows() {
    let stream = direct(8, "pace = { rate = { operations_per_s = 500.0 } }\namount = { operations = 500 }");
    let out = run(&workload(1, 1, "", &stream), parallel());
    let worker = &only(&out).workers[0];
    // The first is scheduled at 0, the last at 998 ms, and it takes 10.
    assert!(worker.elapsed_ns < 1020 * MS, "{} ms for 500 operations", worker.elapsed_ns / MS);
    assert!(worker.behind_ns < MS, "late by {} ns", worker.behind_ns);
    let response = only(&out).latency(OpKind::Response);
    assert!(response.max_ns() < 11 * MS, "{}", response.max_ns());
}

#[test]
fn a_rate_that_the_depth_does_not_allow_is_as_fast_as_the_device() {
    let stream = direct(2, "pace = { rate = { operations_per_s = 500.0 } }\namount = { operations = 100 }");
    let out = run(&workload(1, 1, "", &stream), parallel());
    let worker = &only(&out).workers[0];
    assert!((500 * MS..520 * MS).contains(&worker.elapsed_ns), "{}", worker.elapsed_ns);
    assert!(worker.behind_ns > 200 * MS, "{}", worker.behind_ns);
}

#[test]
fn a_warm_up_ends_in_time_though_nothing_is_due() {
    let stream = direct(2, "pace = { rate = { operations_per_s = 0.02 } }\namount = { operations = 2 }");
    let out = run(&workload(1, 1, "ramp = \"1s\"", &stream), parallel());
    let worker = &only(&out).workers[0];
    assert!((1000 * MS..1001 * MS).contains(&worker.start_ns), "counting began at {} ns", worker.start_ns);
    assert_eq!(worker.ops, 2);
}

#[test]
fn a_time_ends_a_stream_that_waits_for_its_rate() {
    let stream = direct(4, "pace = { rate = { operations_per_s = 0.5 } }\namount = \"endless\"");
    let out = run(&workload(1, 1, "stop = { time = \"3s\" }", &stream), parallel());
    let worker = &only(&out).workers[0];
    assert_eq!((worker.ops, worker.ending.clone()), (2, Ending::Stopped));
    assert!((3000 * MS..3020 * MS).contains(&worker.elapsed_ns), "{}", worker.elapsed_ns);
}

#[test]
fn a_list_of_operations_keeps_its_times() {
    let list = "direction = { mix = { read-percent = 50 } }\nrecord = { fixed = \"4KiB\" }\naccess = { listed = [\
                { offset = 0, bytes = 4096, does = \"write\", due = \"0s\" }, \
                { offset = 0, bytes = 0, does = \"sync\", due = \"100ms\" }, \
                { offset = 8192, bytes = 4096, does = \"read\", due = \"300ms\" }] }";
    for backend in ["", "\nbackend = { uring = {} }\nqueue_depth = 4"] {
        let out = run(&workload(1, 1, "", &format!("{list}{backend}")), setup("today"));
        let worker = &only(&out).workers[0];
        assert!((300_000_000..400_000_000).contains(&worker.marks.last_op_ns), "{}", worker.marks.last_op_ns);
        assert!(worker.ops >= 2, "{}", worker.ops);
    }
}
