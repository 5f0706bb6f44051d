//! Our text beside SysBench's own, where SysBench is installed: the same command lines, numbers masked, exit codes and both streams
//! compared.

use crate::sysbench::support::{run, sysbench_is_here, theirs};
use fathom_testkit::{Fathom, mask_keep_width, mask_squeeze};

/// Runs, each on files prepared before; what varies from run to run is masked.
const RUNS: [&str; 14] = [
    "--file-test-mode=seqwr --events=100",
    "--file-test-mode=seqrewr --events=100 --threads=2 --file-merged-requests=4",
    "--file-test-mode=seqrd --events=100 --file-fsync-freq=0",
    "--file-test-mode=rndrd --events=100 --time=0 --percentile=99",
    "--file-test-mode=rndwr --events=100 --threads=4 --file-fsync-all=on",
    "--file-test-mode=rndrw --events=100 --rand-seed=3 --file-rw-ratio=2 --file-fsync-end=off",
    "--file-test-mode=rndrw --events=100 --file-io-mode=async --file-extra-flags=sync",
    "--file-test-mode=rndrw --events=100 --file-io-mode=mmap --percentile=0",
    "--file-test-mode=rndrw --events=100 --verbosity=4 --threads=2",
    "--file-test-mode=rndrw --events=100 --verbosity=2",
    "--file_test_mode=rndrd --max-requests=50 --num-threads=3 --max-time=9 --tx-rate=10000",
    "--test=fileio --file-test-mode=rndrd --max-requests=50",
    "--file-test-mode=rndrd --events=20 --rate=500 --forced-shutdown=50% --percentile=5 --debug=off",
    "--file-test-mode=rndrd --events=20 --report-interval=5 --report-checkpoints=7,6",
];

/// Ends without a run.
const ENDS: [&str; 30] = [
    "--version",
    "fileio",
    "fileio frob",
    "fileio --nosuch=1 run",
    "fileio run x",
    "foo run",
    "fileio --threads=x run",
    "fileio --threads=0 run",
    "fileio --threads= run",
    "fileio --percentile=101 run",
    "fileio --verbosity=9 run",
    "fileio --report-checkpoints=1,x run",
    "fileio --forced-shutdown=x run",
    "fileio --file-num=x run",
    "fileio --file-num=1K run",
    "fileio --file-num=0 --file-test-mode=foo run",
    "fileio --file-total-size=40x prepare",
    "fileio --file-test-mode=foo --file-block-size=0 run",
    "fileio --file-test-mode=rndrd --file-io-mode=foo --file-merged-requests=-1 run",
    "fileio --file-merged-requests=-1 --file-block-size=0 prepare",
    "fileio --file-block-size=4x prepare",
    "fileio --file-extra-flags=foo --file-fsync-freq=-1 prepare",
    "fileio --file-fsync-freq=-1 --file-fsync-mode=foo prepare",
    "fileio --file-fsync-mode=foo --file-rw-ratio=-1 cleanup",
    "fileio --file-rw-ratio=-1 prepare",
    "fileio --file-test-mode=seqrd --file-io-mode=async --file-async-backlog=0 run",
    "fileio --file-fsync-end=no prepare",
    "fileio --warmup-time=3 prepare",
    "fileio --time=0 --num-threads=2 --tx-rate=4 frob",
    "fileio --file-num=2 --file-total-size=1M --file-test-mode=rndrd run",
];

/// Figures end where theirs end; the bracket of the first line names who speaks.
fn comparable(output: &str) -> String {
    let mut text = String::new();
    for line in output.split_inclusive('\n') {
        if line.starts_with("sysbench 1.0.20 (") {
            text += "sysbench 1.0.20 (...)\n";
        } else if line.starts_with("         ") {
            text += &mask_keep_width(line);
        } else if line.starts_with("    ") {
            text += &mask_squeeze(line);
        } else {
            text += line;
        }
    }
    text
}

#[track_caller]
fn same(line: &str, ours: &str, theirs: &str) {
    let (ours, theirs) = (comparable(ours), comparable(theirs));
    assert!(
        ours == theirs,
        "sysbench {line} (- SysBench, + fathom)\n{}",
        fathom_testkit::golden::diff(&theirs, &ours)
    );
}

#[test]
fn runs_print_the_same() {
    if !sysbench_is_here("runs_print_the_same") {
        return;
    }
    let (ours, other) = (Fathom::new(), Fathom::new());
    let common = "--file-num=4 --file-total-size=4M";
    for more in RUNS {
        let line = |command: &str| {
            let test = if more.contains("--test=") { "" } else { "fileio" };
            format!("{test} {common} {more} {command}")
        };
        // seqwr leaves short files.
        let _ = run(&ours, &format!("fileio {common} prepare")).expect_code(0);
        assert!(theirs(other.work(), &format!("fileio {common} prepare")).status.success());
        let (mine, their) = (run(&ours, &line("run")), theirs(other.work(), &line("run")));
        assert_eq!(mine.code, their.status.code(), "{more}: {}", mine.stderr);
        same(more, &mine.stdout, &String::from_utf8_lossy(&their.stdout));
        let warnings = String::from_utf8_lossy(&their.stderr);
        assert!(mine.stderr.starts_with(&*warnings), "{more}: {warnings}");
    }
}

#[test]
fn files_are_made_and_removed_with_the_same_words() {
    if !sysbench_is_here("files_are_made_and_removed_with_the_same_words") {
        return;
    }
    let (ours, other) = (Fathom::new(), Fathom::new());
    for line in [
        "fileio --file-num=3 --file-total-size=1M prepare",
        "fileio --file-num=3 --file-total-size=1M prepare",
        "fileio --file-num=4 --file-total-size=3M --file-extra-flags=dsync prepare",
        "--test=fileio --file-num=4 --file-total-size=3M --verbosity=2 prepare",
        "fileio --file-num=4 cleanup",
        "fileio --file-num=4 cleanup",
    ] {
        let (mine, their) = (run(&ours, line), theirs(other.work(), line));
        assert_eq!(mine.code, their.status.code(), "{line}: {}", mine.stderr);
        // Seconds and the rate.
        let text = |s: &str| s.split(" in ").next().unwrap_or(s).to_owned();
        same(line, &text(&mine.stdout), &text(&String::from_utf8_lossy(&their.stdout)));
        let sizes = |f: &Fathom| -> Vec<u64> {
            (0..4)
                .filter_map(|i| f.work().join(format!("test_file.{i}")).metadata().ok())
                .map(|m| m.len())
                .collect()
        };
        assert_eq!(sizes(&ours), sizes(&other), "{line}");
    }
}

#[test]
fn errors_are_the_same_on_both_streams() {
    if !sysbench_is_here("errors_are_the_same_on_both_streams") {
        return;
    }
    let (ours, other) = (Fathom::new(), Fathom::new());
    for line in ENDS {
        let (mine, their) = (run(&ours, line), theirs(other.work(), line));
        assert_eq!(mine.code, their.status.code(), "{line}: {}{}", mine.stdout, mine.stderr);
        same(line, &mine.stdout, &String::from_utf8_lossy(&their.stdout));
        let said = String::from_utf8_lossy(&their.stderr);
        assert!(mine.stderr.starts_with(&*said), "{line}: {said} / {}", mine.stderr);
    }
}
