//! What the kernel is asked, seen with strace: which offsets, in which order, and when files are synced. Lines 4, 5, 7, 8 and 9 of
//! the specification's acceptance list.

use crate::sysbench::support::{run, sysbench_is_here, value};
use fathom_testkit::{Fathom, Trace};
use std::process::Command;

/// A call on a test file: R, W or F, the file's number, the offset.
type Step = (char, u32, u64);

/// The calls on test files between the opening of the last one and the end, in order.
fn steps(trace: &Trace) -> Vec<Step> {
    let of = |call: &fathom_testkit::Syscall| {
        let kind = match call.name.as_str() {
            "pread64" => 'R',
            "pwrite64" => 'W',
            "fsync" | "fdatasync" => 'F',
            _ => return None,
        };
        let file = call.args.split("test_file.").nth(1)?.split('>').next()?.parse().ok()?;
        let offset = if kind == 'F' { 0 } else { call.arguments().get(3)?.parse().ok()? };
        Some((kind, file, offset))
    };
    trace.calls.iter().filter_map(of).collect()
}

fn kinds(steps: &[Step]) -> String {
    steps.iter().map(|s| s.0).collect()
}

fn traced(test: &str, fathom: &Fathom, line: &str) -> Option<Vec<Step>> {
    let trace = fathom.strace(test, format!("sysbench {line}").split_whitespace())?;
    assert_eq!(trace.code, Some(0), "{}", trace.stderr);
    Some(steps(&trace))
}

#[test]
fn a_mix_follows_the_ratio_and_a_series_of_syncs_comes_after_a_hundred() {
    let fathom = Fathom::new();
    let common = "fileio --file-num=4 --file-total-size=8M";
    let _ = run(&fathom, &format!("{common} prepare")).expect_code(0);
    let line = format!("{common} --file-test-mode=rndrw --events=320 --threads=1 --rand-seed=7 run");
    let out = run(&fathom, &line).expect_code(0).stdout;
    assert!(out.contains("\n    total number of events:              320\n"), "{out}");
    let name = "a_mix_follows_the_ratio_and_a_series_of_syncs_comes_after_a_hundred";
    let Some(steps) = traced(name, &fathom, &line) else { return };
    let hundred = "RWRWR".repeat(20);
    let expected = format!("{hundred}FFFF{hundred}FFFF{hundred}FFFFRWRWRWRWFFFF");
    let got = kinds(&steps);
    assert_eq!(got.len(), expected.len());
    assert_eq!(got[..312], expected[..312]);
    assert_eq!(&got[320..], "FFFF", "the end");
}

#[test]
fn every_thread_syncs_every_file_at_the_end() {
    let fathom = Fathom::new();
    let common = "fileio --file-total-size=4M --file-block-size=4K";
    let _ = run(&fathom, &format!("{common} prepare")).expect_code(0);
    let line = format!("{common} --file-test-mode=rndrw --threads=16 --events=1000 --time=0 run");
    let Some(steps) = traced("every_thread_syncs_every_file_at_the_end", &fathom, &line) else { return };
    let count = |kind: char| steps.iter().filter(|s| s.0 == kind).count();
    assert_eq!((count('R') + count('W'), count('F')), (488, 2560));
}

#[test]
fn sequential_writes_go_over_all_files_and_begin_again() {
    let fathom = Fathom::new();
    let line = "fileio --file-total-size=1M --file-num=4 --file-test-mode=seqwr --events=80 run";
    let Some(steps) = traced("sequential_writes_go_over_all_files_and_begin_again", &fathom, line) else {
        return;
    };
    let expected: Vec<Step> = (0..80u32).map(|i| ('W', i % 64 / 16, u64::from(i % 16) * 16384)).collect();
    assert_eq!(steps[..80], expected);
    assert_eq!(kinds(&steps[80..]), "FFFF");
}

#[test]
fn rewrites_are_synced_in_series() {
    let fathom = Fathom::new();
    let common = "fileio --file-num=2 --file-total-size=8M";
    let _ = run(&fathom, &format!("{common} prepare")).expect_code(0);
    let line = format!("{common} --file-test-mode=seqrewr --file-fsync-freq=10 --events=300 --threads=1 run");
    let Some(steps) = traced("rewrites_are_synced_in_series", &fathom, &line) else { return };
    let series = format!("{}FF", "W".repeat(10));
    assert_eq!(kinds(&steps), format!("{}FF", series.repeat(25)));
    assert_eq!(steps[10..12], [('F', 0, 0), ('F', 1, 0)]);
}

#[test]
fn a_sync_inside_every_write_is_the_only_one() {
    let fathom = Fathom::new();
    let common = "fileio --file-num=2 --file-total-size=1M";
    let _ = run(&fathom, &format!("{common} prepare")).expect_code(0);
    let line = format!("{common} --file-test-mode=rndwr --file-fsync-all --events=50 run");
    let out = run(&fathom, &line).expect_code(0).stdout;
    assert!(out.contains("\nCalling fsync() after each write operation.\n"), "{out}");
    assert_eq!(value(&out, "writes/s:"), value(&out, "fsyncs/s:"));
    let Some(steps) = traced("a_sync_inside_every_write_is_the_only_one", &fathom, &line) else { return };
    assert_eq!(kinds(&steps), "WF".repeat(50));
    assert!(steps.chunks(2).all(|pair| pair[0].1 == pair[1].1), "of the file that was written");
}

#[test]
fn sequential_reads_are_never_synced_and_merged_requests_are_larger() {
    let fathom = Fathom::new();
    let common = "fileio --file-num=2 --file-total-size=1M";
    let _ = run(&fathom, &format!("{common} prepare")).expect_code(0);
    let line = format!("{common} --file-test-mode=seqrd --file-merged-requests=3 --events=24 run");
    let name = "sequential_reads_are_never_synced_and_merged_requests_are_larger";
    let Some(steps) = traced(name, &fathom, &line) else { return };
    // 512 KiB are ten requests of 48 KiB and one of 32 KiB.
    let expected: Vec<Step> = (0..24u32).map(|i| ('R', i % 22 / 11, u64::from(i % 11) * 49152)).collect();
    assert_eq!(steps, expected);
}

#[test]
fn offsets_of_one_thread_are_sysbenchs_own() {
    let name = "offsets_of_one_thread_are_sysbenchs_own";
    let fathom = Fathom::new();
    let common = "fileio --file-num=2 --file-total-size=16M";
    let _ = run(&fathom, &format!("{common} prepare")).expect_code(0);
    for more in [
        "--file-test-mode=rndrd --rand-seed=7 --events=400",
        "--file-test-mode=rndrw --rand-seed=7 --events=400",
        "--file-test-mode=rndwr --rand-seed=-5 --events=300 --percentile=0 --file-fsync-freq=33",
        "--file-test-mode=rndrw --rand-seed=2147483647 --events=200 --file-block-size=3000 --file-rw-ratio=3",
    ] {
        let line = format!("{common} {more} run");
        let Some(ours) = traced(name, &fathom, &line) else { return };
        if more.contains("rndrd --rand-seed=7") {
            // Published for this seed; holds where SysBench is not installed, too.
            assert_eq!(ours[..3], [('R', 1, 655_360), ('R', 0, 6_832_128), ('R', 0, 1_703_936)]);
        }
        if !sysbench_is_here(name) {
            return;
        }
        let mut command = Command::new(crate::sysbench::support::SYSBENCH);
        command.args(line.split_whitespace()).current_dir(fathom.work());
        let Some(theirs) = fathom_testkit::strace_command(name, &command) else { return };
        assert_eq!(ours, steps(&theirs), "{line}");
    }
}
