//! What a run prints while it runs and at the end, and what is kept of it. Lines 6, 10, 11 and 12 of the specification's
//! acceptance list.

use crate::sysbench::support::{run, value, values};
use fathom_testkit::Fathom;

const COMMON: &str = "fileio --file-num=2 --file-total-size=4M";

fn prepared() -> Fathom {
    let fathom = Fathom::new();
    let _ = run(&fathom, &format!("{COMMON} prepare")).expect_code(0);
    fathom
}

#[test]
fn a_line_for_every_interval() {
    let fathom = prepared();
    let out = run(&fathom, &format!("{COMMON} --file-test-mode=seqrd --time=2 --report-interval=1 run"));
    let out = out.expect_code(0).stdout;
    let lines: Vec<&str> = out.lines().filter(|l| l.starts_with("[ ")).collect();
    assert_eq!(lines.len(), 2, "{out}");
    for (line, second) in lines.iter().zip(1..) {
        assert!(line.starts_with(&format!("[ {second}s ] reads: ")), "{line}");
        assert!(line.contains(" MiB/s writes: 0.00 MiB/s fsyncs: 0.00/s latency (ms,95%): 0."), "{line}");
    }
}

#[test]
fn a_histogram_and_another_percentile() {
    let fathom = prepared();
    let line = format!("{COMMON} --file-test-mode=rndrd --histogram --percentile=99 --events=2000 run");
    let out = run(&fathom, &line).expect_code(0).stdout;
    let (before, after) = out.split_once("\nFile operations:\n").unwrap();
    let (_, histogram) = before.split_once("\nLatency histogram (values are in milliseconds)\n").unwrap();
    let rows: Vec<&str> = histogram.lines().filter(|l| l.contains('|')).collect();
    let sum: u64 = rows.iter().filter_map(|r| r.rsplit(' ').next()?.parse::<u64>().ok()).sum();
    assert_eq!(sum, 2000, "{histogram}");
    assert!(rows.iter().any(|r| r.contains(&"*".repeat(40))) && !histogram.contains(&"*".repeat(41)));
    assert!(after.contains("\n         99th percentile: "), "{after}");
}

#[test]
fn counting_begins_anew_at_a_checkpoint() {
    let fathom = prepared();
    let line = format!("{COMMON} --file-test-mode=seqrd --rate=100 --time=2 --report-checkpoints=1 run");
    let out = run(&fathom, &line).expect_code(0).stdout;
    assert!(out.contains("\nTarget transaction rate: 100/sec\nReport checkpoint(s) at 1 seconds\n"), "{out}");
    assert!(out.contains("\n\n[ 1s ] Checkpoint report:\n\nFile operations:\n"), "{out}");
    let events = values(&out, "total number of events:");
    // Poisson: a hundred, within six deviations.
    assert!(events.len() == 2 && events.iter().all(|&n| (10.0..400.0).contains(&n)), "{events:?}");
    assert_eq!(out.matches("Threads fairness:").count(), 2);
}

#[test]
fn all_kinds_of_calls() {
    let fathom = prepared();
    for (more, says) in [
        ("--file-io-mode=async", "Using asynchronous I/O mode\nDoing random r/w test\n"),
        ("--file-io-mode=mmap --threads=2", "Using fast mmaped I/O mode\nDoing random r/w test\n"),
        ("--file-extra-flags=dsync --threads=2", "Extra file open flags: dsync \n"),
        ("--file-fsync-mode=fdatasync", "Using synchronous I/O mode\n"),
    ] {
        let line = format!("{COMMON} --file-test-mode=rndrw --events=300 {more} run");
        let out = run(&fathom, &line).expect_code(0).stdout;
        assert!(out.contains(says), "{more}: {out}");
        assert_eq!(value(&out, "total number of events:"), 300.0, "{more}");
        assert!(value(&out, "reads/s:") > 0.0 && value(&out, "written, MiB/s:") > 0.0, "{more}: {out}");
    }
}

#[test]
fn direct_asynchronous_requests_where_the_file_system_has_them() {
    let fathom = prepared();
    let line = format!(
        "{COMMON} --file-test-mode=rndrw --file-io-mode=async --file-extra-flags=direct --time=1 run"
    );
    let outcome = run(&fathom, &line);
    assert!(outcome.stdout.contains("\nExtra file open flags: directio\n"), "{}", outcome.stdout);
    if outcome.code == Some(1) {
        assert!(outcome.stdout.contains("errno = 22"), "tmpfs refuses O_DIRECT: {}", outcome.stdout);
        return;
    }
    assert!(outcome.expect_code(0).stdout.contains("\nUsing asynchronous I/O mode\n"));
}

#[test]
fn what_sysbench_does_not_say_is_on_stderr_and_in_the_record() {
    let fathom = prepared();
    let line = format!("{COMMON} --file-test-mode=rndrw --events=500 --threads=2 run");
    let outcome = run(&fathom, &line).expect_code(0);
    for kind in ["\nread ", "\nwrite ", "\nsync ", "\nfinal-sync "] {
        assert!(outcome.stderr.contains(kind), "{kind}: {}", outcome.stderr);
    }
    assert!(outcome.stderr.contains("figures by what served them: 1 "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("kept as run "), "{}", outcome.stderr);
    let shown = fathom.run_line("show --original").expect_code(0).stdout;
    assert_eq!(shown, outcome.stdout, "a stored run prints the same");
    let listed = fathom.run_line("list").expect_code(0).stdout;
    assert!(listed.contains("sysbench"), "{listed}");
}

#[test]
fn a_link_of_its_name_is_sysbench() {
    let fathom = Fathom::new().named("sysbench");
    assert_eq!(fathom.run(["--version"]).expect_code(0).stdout, "sysbench 1.0.20\n");
    let help = fathom.run(["fileio", "help"]).expect_code(0).stdout;
    assert_eq!(help.lines().filter(|l| l.starts_with("  --file-")).count(), 13, "{help}");
    for default in ["[128]", "[16384]", "[2G]", "[sync]", "[100]", "[1.5]"] {
        assert!(help.contains(default), "{default}: {help}");
    }
}
