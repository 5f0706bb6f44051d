//! What images made to harm may cost: the library's walk, check and extraction of each take at most a second of CPU and 100 MiB, whatever the
//! image claims. (The mount is held to the same in mount/hostile.rs.) CPU time in the program itself, because a loaded machine must not fail it,
//! nor one whose kernel looks for free memory in our time.

use fathom_testkit::iso::hostile;
use fathom_testkit::{Fathom, TestDir};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Twice that in a build for tests, which is that much slower.
const MOST_SECONDS: f64 = if cfg!(debug_assertions) { 2.0 } else { 1.0 };
const MOST_MIB: i64 = 100;
/// Anything slower is killed and fails.
const LIMIT: &str = "60";

/// One at a time: see [`forget_peak`].
static ALONE: Mutex<()> = Mutex::new(());

/// A child's peak begins with that of the process that started it. What a test made its image of must not count.
fn forget_peak() {
    // SAFETY: it only gives free memory back.
    unsafe { libc::malloc_trim(0) };
    fs::write("/proc/self/clear_refs", "5").unwrap();
}

/// Seconds of CPU (the kernel's not counted) and MiB of memory that a command took at most; it may fail, but not hang or die.
#[expect(clippy::zombie_processes, reason = "wait4 waits for it, and says what it cost")]
fn cost(args: &[&str], inside: &Path) -> (f64, i64) {
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", LIMIT, env!("CARGO_BIN_EXE_fathom")]).args(args).current_dir(inside);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    forget_peak();
    let child = command.spawn().unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    let mut status = 0;
    // SAFETY: a zeroed rusage is valid, and the call fills both; the child is ours and nobody else waits for it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::wait4(pid, &raw mut status, 0, &raw mut usage), pid);
        usage
    };
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) < 100, "{args:?}: status {status:#x}");
    let seconds = usage.ru_utime.tv_sec as f64 + usage.ru_utime.tv_usec as f64 / 1e6;
    (seconds, usage.ru_maxrss / 1024)
}

#[test]
fn no_hostile_image_costs_more_than_a_second_or_100_mib() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
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
            let (mut seconds, mib) = cost(command, dir.path());
            // Neighbours of a virtual machine take of its CPU time; they only add to it.
            for _ in 0..2 {
                if seconds > MOST_SECONDS {
                    let again = TestDir::new();
                    fs::write(again.path().join("bad.iso"), case.bytes()).unwrap();
                    seconds = seconds.min(cost(command, again.path()).0);
                }
            }
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
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = TestDir::new();
    fs::write(dir.path().join("bad.iso"), hostile::crowded(100_000).bytes).unwrap();
    // How much of the program itself is in memory depends on what else the machine does.
    let (_, program) = cost(&["--version"], dir.path());
    let (_, mib) = cost(&["iso", "check", "bad.iso"], dir.path());
    assert!(mib - program <= MOST_MIB, "{mib} MiB, of them {program} for the program");
}

/// What `check` says of a case, if it has to say anything: H5 is H4 the longer way, names of Joliet are names, and what only looks like trouble is
/// none.
fn number_of(case: &hostile::Hostile) -> Option<&'static str> {
    const SILENT: [&str; 5] = [
        "continuation across a sector",
        "continuation behind the data",
        "XAR of a block that is none",
        "depth 10,000",
        "setuid and devices",
    ];
    match case.id {
        _ if SILENT.contains(&case.name) => None,
        _ if case.name.contains("entries of one name") => Some("H23"),
        "H5" => Some("H4"),
        "H19" => Some("H7"),
        id => Some(id),
    }
}

/// F6: every condition is reported under its number, with block and byte.
#[test]
fn check_reports_each_under_its_number_with_its_place() {
    let mut reported = 0;
    for case in hostile::all() {
        let fathom = Fathom::new();
        fs::write(fathom.work().join("bad.iso"), case.bytes()).unwrap();
        let outcome = fathom.run(["iso", "check", "bad.iso"]);
        if case.id == "H16" {
            let _ = outcome.expect_code(2).expect_stderr("a logical block size of");
            continue;
        }
        let Some(number) = number_of(&case) else {
            assert!(matches!(outcome.code, Some(0 | 1)), "{}: {outcome:?}", case.name);
            continue;
        };
        let mine = |line: &&str| {
            line.starts_with("block ") && line.contains(", byte ") && line.ends_with(&format!("[{number}]"))
        };
        assert!(outcome.stdout.lines().any(|line| mine(&line)), "{} {}: {outcome:?}", case.id, case.name);
        let _ = outcome.expect_code(1);
        reported += 1;
    }
    assert!(reported >= 35, "{reported} reports");
}
