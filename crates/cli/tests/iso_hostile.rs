//! What images made to harm may cost: the library's walk, check and extraction of each take at most a second of CPU and 100 MiB, whatever the
//! image claims. (The mount is held to the same in mount/hostile.rs.) CPU time, because a loaded machine must not fail it.

use fathom_testkit::TestDir;
use fathom_testkit::iso::hostile;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const MOST_SECONDS: f64 = 1.0;
const MOST_MIB: i64 = 100;
/// Whatever goes on longer is ended, and fails.
const LIMIT: &str = "60";

/// Seconds of CPU and MiB of memory that a command took at most; it may fail, but not hang or die.
#[expect(clippy::zombie_processes, reason = "wait4 waits for it, and says what it cost")]
fn cost(args: &[&str], inside: &Path) -> (f64, i64) {
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", LIMIT, env!("CARGO_BIN_EXE_fathom")]).args(args).current_dir(inside);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    let mut status = 0;
    // SAFETY: a zeroed rusage is valid, and the call fills both; the child is ours and nobody else waits for it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::wait4(pid, &raw mut status, 0, &raw mut usage), pid);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) < 100, "{args:?}: status {status:#x}");
    (seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss / 1024)
}

#[test]
fn no_hostile_image_costs_more_than_a_second_or_100_mib() {
    let (mut slowest, mut largest) = ((0.0, ""), (0, ""));
    for case in hostile::all() {
        let dir = TestDir::new();
        fs::write(dir.path().join("bad.iso"), case.bytes()).unwrap();
        // A listing of all paths is left out: of a tree 10,000 deep it is 100 MB of text.
        for command in [
            &["iso", "check", "bad.iso"][..],
            &["iso", "stat", "bad.iso"],
            &["iso", "extract", "bad.iso", "out"],
        ] {
            let (seconds, mib) = cost(command, dir.path());
            assert!(seconds <= MOST_SECONDS, "{} {}: {command:?} took {seconds:.2} s", case.id, case.name);
            assert!(mib <= MOST_MIB, "{} {}: {command:?} took {mib} MiB", case.id, case.name);
            if seconds > slowest.0 {
                slowest = (seconds, case.name);
            }
            if mib > largest.0 {
                largest = (mib, case.name);
            }
        }
    }
    println!("most: {:.2} s ({}), {} MiB ({})", slowest.0, slowest.1, largest.0, largest.1);
}

/// H22: a directory's memory is that of its entries, some 700 bytes each. Of a hundred thousand only memory is held to a limit: a build for
/// tests is slow.
#[test]
fn a_hundred_thousand_entries_cost_no_more_than_100_mib() {
    let dir = TestDir::new();
    fs::write(dir.path().join("bad.iso"), hostile::crowded(100_000).bytes).unwrap();
    let (_, mib) = cost(&["iso", "check", "bad.iso"], dir.path());
    assert!(mib <= MOST_MIB, "{mib} MiB");
}
