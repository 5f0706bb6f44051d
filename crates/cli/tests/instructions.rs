//! How many instructions an operation takes in user space, held to a bound: the regression test of the hot loop. Counts, unlike times,
//! are the same on a loaded machine, so a test can rest on them. valgrind's callgrind counts what happens inside the loop's function and
//! what that calls, and nothing else of the program. `cargo xtask bench instructions` prints the count of the release build, beside fio's.
//!
//! The program is the one that all tests run: its loop, generators and histograms are optimised as they are shipped, by overrides in
//! the workspace's profile, but check for overflow; so the counts here are somewhat above those of a release.

use fathom_testkit::{TestDir, need_tool, skip};
use std::path::Path;
use std::process::Command;

const OPERATIONS: u64 = 100_000;

/// A tenth above what the loop takes is a regression, not another compiler. By the processor's counter it takes 106 without a call and
/// some 134 with a pread; by clock_gettime, to which valgrind may drive the program by making the counter look unsteady, some 60 more.
const BOUNDS: [(&str, [f64; 2]); 2] = [("tsc", [117.0, 150.0]), ("clock_gettime", [187.0, 220.0])];
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
    for (case, backend) in ["\"null\"", "{ psync = \"pread\" }"].into_iter().enumerate() {
        let (clock, instructions) = count(program, dir.path(), backend);
        let per_operation = instructions as f64 / OPERATIONS as f64;
        let (_, bounds) = BOUNDS.iter().find(|(name, _)| *name == clock).expect("one of the two clocks");
        println!(
            "{backend}: {per_operation:.1} instructions per operation by {clock}, at most {}",
            bounds[case]
        );
        assert!(
            (AT_LEAST..=bounds[case]).contains(&per_operation),
            "{backend}: {per_operation:.1} instructions per operation by {clock}, at most {}: see which change made the loop longer \
             (`cargo xtask bench instructions` prints the counts of the release build)",
            bounds[case]
        );
    }
}

/// The clock that a run went by, and the instructions of its loop.
fn count(program: &Path, dir: &Path, backend: &str) -> (String, u64) {
    let workload = format!(
        "name = \"count\"\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"data\"] }}\nsize = {{ fixed = \"4MiB\" }}\n\
         existing = \"reuse\"\n[[phase]]\nname = \"p\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
         [phase.group.thread.program.stream]\nfileset = \"f\"\ndirection = \"read\"\naccess = \"uniform\"\n\
         record = {{ fixed = \"4KiB\" }}\namount = {{ operations = {OPERATIONS} }}\nbackend = {backend}\n"
    );
    std::fs::write(dir.join("count.toml"), workload).unwrap();
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*::one_by_one::run*"])
        .arg(program)
        // Watching takes time on separate threads, however many operations there are.
        .args(["--no-store", "run", "--observe", "none", "--json", "count.toml"])
        .current_dir(dir)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "under valgrind the program ended with {}:\n{told}", output.status);
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["phases"][0]["repetitions"][0]["workers"][0]["ops"], OPERATIONS);
    let clock = record["clock"]["source"].as_str().unwrap_or_default().to_owned();
    // A child that looks at a mount has counted, too: nothing.
    let collected =
        told.lines().filter_map(|line| line.split_once("Collected :")?.1.trim().parse().ok()).max();
    (clock, collected.unwrap_or_else(|| panic!("callgrind printed no count:\n{told}")))
}
