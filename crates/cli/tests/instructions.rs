//! How many instructions an operation takes in user space, held to a bound: the regression test of the hot loop. Counts, unlike times,
//! are the same on a loaded machine, so a test can rest on them. valgrind's callgrind counts a run of N and one of 2N operations, and
//! the difference is N operations: start, set-up and end fall out. `cargo xtask bench instructions` prints the same of the release
//! build, beside fio.
//!
//! The program is the one that all tests run: its loop, generators and histograms are optimised as they are shipped, by overrides in
//! the workspace's profile, but check for overflow; so the counts here are somewhat above those of a release.

use fathom_testkit::{TestDir, need_tool, skip};
use std::path::Path;
use std::process::Command;

const OPERATIONS: u64 = 100_000;
/// Pairs of runs until a bound counts as broken.
const ATTEMPTS: usize = 6;

/// What the loop took when the bound was set was 94 without a call and 147 with a pread; a tenth above that is a regression, not
/// another compiler.
const NULL_AT_MOST: f64 = 105.0;
const PREAD_AT_MOST: f64 = 164.0;
/// Fewer cannot be a generator, a clock read twice and a histogram: nothing would have run.
const AT_LEAST: f64 = 30.0;

#[test]
fn an_operation_takes_few_instructions() {
    let test = "an_operation_takes_few_instructions";
    if !need_tool(test, "valgrind") {
        return;
    }
    if !cfg!(target_arch = "x86_64") {
        return skip(test, "its bounds are instructions of x86-64");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_fathom"));
    let dir = TestDir::new();
    std::fs::write(dir.path().join("data"), vec![7u8; 4 << 20]).unwrap();
    let cases = [("null", "\"null\"", NULL_AT_MOST), ("pread", "{ psync = \"pread\" }", PREAD_AT_MOST)];
    for (name, backend, at_most) in cases {
        // Threads that wait for each other spin, and valgrind lets one run at a time: on a busy machine a run may hold some millions of
        // turns of that. The least of several runs holds the fewest; a loop that got longer is longer in all of them.
        let (mut once, mut twice) = (u64::MAX, u64::MAX);
        let mut per_operation = f64::INFINITY;
        for _ in 0..ATTEMPTS {
            let (Some(first), Some(second)) =
                (count(program, dir.path(), backend, 1), count(program, dir.path(), backend, 2))
            else {
                return skip(
                    test,
                    "the time stamp counter is not trusted here, and another clock has another price",
                );
            };
            (once, twice) = (once.min(first), twice.min(second));
            per_operation = (twice as f64 - once as f64) / OPERATIONS as f64;
            if (AT_LEAST..=at_most).contains(&per_operation) {
                break;
            }
        }
        println!("{name}: {per_operation:.1} instructions per operation");
        assert!(
            (AT_LEAST..=at_most).contains(&per_operation),
            "{name} takes {per_operation:.1} instructions per operation, and the bound is {at_most}: see which change made the \
             loop longer (`cargo xtask bench instructions` prints the counts of the release build)"
        );
    }
}

/// Instructions of a whole run with that many times the operations; None if it could not time by the processor's counter.
fn count(program: &Path, dir: &Path, backend: &str, times: u64) -> Option<u64> {
    let workload = format!(
        "name = \"count\"\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"data\"] }}\nsize = {{ fixed = \"4MiB\" }}\n\
         existing = \"reuse\"\n[[phase]]\nname = \"p\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
         [phase.group.thread.program.stream]\nfileset = \"f\"\ndirection = \"read\"\naccess = \"uniform\"\n\
         record = {{ fixed = \"4KiB\" }}\namount = {{ operations = {} }}\nbackend = {backend}\n",
        OPERATIONS * times
    );
    std::fs::write(dir.join("count.toml"), workload).unwrap();
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        // Watching takes time on threads of its own, however many operations there are.
        .args(["--no-store", "run", "--observe", "none", "--json", "count.toml"])
        .current_dir(dir)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "under valgrind the program ended with {}:\n{told}", output.status);
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["phases"][0]["repetitions"][0]["workers"][0]["ops"], OPERATIONS * times);
    if record["clock"]["source"] != "tsc" {
        return None;
    }
    let collected = told.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    Some(collected.unwrap_or_else(|| panic!("callgrind printed no count:\n{told}")))
}
