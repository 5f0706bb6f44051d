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

/// A tenth above what the loop took when the bounds were set is a regression, not another compiler. By the processor's counter that
/// was 95 without a call and 147 with a pread; by clock_gettime, to which valgrind may drive the program by making the counter look
/// unsteady, 155 and 200.
const BOUNDS: [(&str, [f64; 2]); 2] = [("tsc", [105.0, 164.0]), ("clock_gettime", [171.0, 220.0])];
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
    for (case, (name, backend)) in
        [("null", "\"null\""), ("pread", "{ psync = \"pread\" }")].into_iter().enumerate()
    {
        // Threads that wait for each other spin, and valgrind lets one run at a time: on a busy machine a run may hold some millions of
        // turns of that. The least of several runs holds the fewest; a loop that got longer is longer in all of them.
        let mut least = BOUNDS.map(|_| [u64::MAX; 2]);
        let mut told = Vec::new();
        let kept = (0..ATTEMPTS).any(|_| {
            for times in [1, 2] {
                let (clock, instructions) = count(program, dir.path(), backend, times);
                let at = BOUNDS.iter().position(|(name, _)| *name == clock).expect("one of the two clocks");
                let seen = &mut least[at][times as usize - 1];
                *seen = instructions.min(*seen);
            }
            let both = least.iter().zip(&BOUNDS).filter(|(seen, _)| !seen.contains(&u64::MAX));
            told = both.map(|(seen, (clock, most))| (*clock, difference(*seen), most[case])).collect();
            told.iter().any(|(_, per_operation, most)| (AT_LEAST..=*most).contains(per_operation))
        });
        println!("{name}: (clock, instructions per operation, bound) {told:?}");
        assert!(
            kept,
            "{name}: of (clock, instructions per operation, bound) {told:?} none is kept: see which change made the loop longer \
             (`cargo xtask bench instructions` prints the counts of the release build)"
        );
    }
}

/// Instructions of one operation, from those of a run and of one with twice the operations.
fn difference([once, twice]: [u64; 2]) -> f64 {
    (twice as f64 - once as f64) / OPERATIONS as f64
}

/// The clock that a whole run with that many times the operations went by, and its instructions.
fn count(program: &Path, dir: &Path, backend: &str, times: u64) -> (String, u64) {
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
    let clock = record["clock"]["source"].as_str().unwrap_or_default().to_owned();
    let collected = told.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    (clock, collected.unwrap_or_else(|| panic!("callgrind printed no count:\n{told}")))
}
