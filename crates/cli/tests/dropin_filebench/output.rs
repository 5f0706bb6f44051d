//! Output formats: 1.5's with everything around it, lathist, psrun, 1.4's, and what fathom appends.

use crate::dropin_filebench::script::{READER, ops_of, rows, run, run_with, summary};
use fathom_testkit::{Fathom, mask_squeeze};

#[test]
fn a_whole_run_reads_as_the_originals() {
    let fathom = Fathom::new();
    let outcome = run(&fathom, &format!("{READER}run 1\n")).expect_code(0);
    let lines: Vec<String> = mask_squeeze(&outcome.stdout).lines().map(str::to_owned).collect();
    assert_eq!(
        lines,
        [
            "Filebench Version #-alpha3",
            "#: Allocated #MB of shared memory",
            "#: Populating and pre-allocating filesets",
            "#: fs populated: # files, avg. dir. width = #, avg. dir. depth = #, # leafdirs, #MB total size",
            "#: Removing fs tree (if exists)",
            "#: Pre-allocating directories in fs tree",
            "#: Pre-allocating files in fs tree",
            "#: Waiting for pre-allocation to finish (in case of a parallel pre-allocation)",
            "#: Population and pre-allocation of filesets completed",
            "#: Starting # proc instances",
            "#: Running...",
            "#: Run took # seconds...",
            "#: Per-Operation Breakdown",
            "pause #ops #ops/s #mb/s #ms/op [#ms - #ms]",
            "rd #ops #ops/s #mb/s #ms/op [#ms - #ms]",
            "#: IO Summary: # ops # ops/s #/# rd/wr #mb/s #ms/op",
            "#: Shutting down processes",
        ],
        "{}",
        outcome.stdout
    );
    assert!(outcome.stderr.contains("99.9%") && outcome.stderr.contains("rd "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("kept as run"), "{}", outcome.stderr);
    let found = rows(&outcome.stdout);
    let [ops, _, reads, writes, ..] = summary(&outcome.stdout).unwrap();
    assert_eq!((ops as u64, writes), (ops_of(&found, "rd"), 0.0), "delays are no I/O");
    assert!(reads > 0.0);
}

#[test]
fn histograms_add_up_to_the_operations() {
    let fathom = Fathom::new();
    let outcome = run(&fathom, &format!("enable lathist\n{READER}run 1\n")).expect_code(0);
    assert!(outcome.stdout.contains("Latency histogram enabled"));
    let line = outcome.stdout.lines().find(|l| l.starts_with("rd ")).unwrap();
    let (row, histogram) = line.split_once("]\t[ ").unwrap();
    let counts: Vec<u64> = histogram.trim_end_matches(" ]").split(' ').map(|n| n.parse().unwrap()).collect();
    assert_eq!(counts.len(), 64);
    assert!(row.contains(&format!(" {}ops ", counts.iter().sum::<u64>())), "{line}");
}

/// The breakdowns of a run, by the summary's operations.
fn breakdowns(stdout: &str) -> Vec<u64> {
    let lines = stdout.lines().filter_map(|l| l.split_once("IO Summary:"));
    lines.map(|l| l.1.trim_start().split(' ').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn psrun_prints_running_totals_or_what_came_since() {
    let fathom = Fathom::new();
    let script = READER.replace("flowop delay name=pause,value=0", "flowop eventlimit name=lim");
    let text = |period: &str| format!("eventgen rate=50\n{script}psrun {period} 3\n");
    let totals = run(&fathom, &text("1")).expect_code(0);
    let totals = breakdowns(&totals.stdout);
    assert!(totals.len() >= 3 && totals.is_sorted(), "{totals:?}");
    let since = run(&fathom, &text("-1")).expect_code(0);
    let since = breakdowns(&since.stdout);
    assert!(since.len() >= 3, "{since:?}");
    assert!(since.iter().sum::<u64>() <= totals.last().unwrap() * 2, "{since:?} {totals:?}");
}

#[test]
fn the_form_of_1_4_has_cpu_time_and_the_process_number() {
    let fathom = Fathom::new();
    let outcome = run_with(&fathom, &format!("{READER}run 1\n"), "--format 1.4").expect_code(0);
    let masked = mask_squeeze(&outcome.stdout);
    assert!(masked.contains("\nrd #ops #ops/s #mb/s #ms/op #us/op-cpu [#ms - #ms]\n"), "{}", outcome.stdout);
    assert!(
        masked.contains("\n#: #: IO Summary: # ops, # ops/s, (#/# r/w), #mb/s, #us cpu/op, #ms latency\n"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn debug_hides_the_results_but_not_the_record() {
    let fathom = Fathom::new();
    let outcome = run(&fathom, &format!("debug 1\n{READER}run 1\n")).expect_code(0);
    assert!(!outcome.stdout.contains("IO Summary"), "{}", outcome.stdout);
    assert!(
        outcome.stderr.contains("debug 1 hides the normal output") && outcome.stderr.contains("kept as run")
    );
}

#[test]
fn the_record_is_complete_and_shows_itself() {
    let fathom = Fathom::new();
    run(&fathom, &format!("{READER}run 1\n")).expect_code(0);
    let text = fathom.run_line("show --json").expect_code(0).stdout;
    let run: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((run["dialect"].as_str(), run["label"].as_str()), (Some("filebench"), Some("script")));
    assert_eq!(run["phases"][0]["reads"], true);
    assert_eq!(run["phases"][0]["writes"], false);
    assert!(run["phases"][0]["repetitions"][0]["workers"][0]["rows"][0]["ops"].as_u64() > Some(0));
    let original = fathom.run_line("show --original").expect_code(0).stdout;
    assert!(original.contains("IO Summary:") && original.contains("\nrd "), "{original}");
}

#[test]
fn a_directory_that_is_made_is_named() {
    let fathom = Fathom::new();
    let elsewhere = READER.replace("path=$DIR", "path=$DIR/mistyped/data");
    let outcome = run(&fathom, &format!("{elsewhere}run 1\n")).expect_code(0);
    let work = fathom.work().display();
    let told = format!("note: {work}/mistyped/data does not exist: making it in {work}\n");
    assert!(outcome.stderr.contains(&told), "{}", outcome.stderr);
    let again = run(&fathom, &format!("{elsewhere}run 1\n")).expect_code(0);
    assert!(!again.stderr.contains("does not exist"), "{}", again.stderr);
}
