//! Sweeps in virtual time: the tables and marks of a sweep of real runs, the same figures on any number of processors, and slips of the
//! keyboard told before anything is simulated.

use fathom_testkit::Fathom;
use serde_json::Value;

const LINE: [&str; 6] = [
    "sysbench",
    "--test=fileio",
    "--file-total-size=16M",
    "--file-num=4",
    "--file-test-mode=rndrd",
    "--max-requests=200",
];

fn sweep<'a>(words: &[&'a str]) -> Vec<&'a str> {
    ["sim", "sweep"].iter().chain(words).chain(&["--"]).chain(&LINE).chain(&["run"]).copied().collect()
}

/// Figures of all runs, without ids and times of day.
fn figures(text: &str) -> Value {
    let mut found: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    for run in found["runs"].as_array_mut().expect("runs") {
        run["runs"] = Value::Null;
    }
    serde_json::json!([found["runs"], found["cells"], found["order"]])
}

#[test]
fn a_sweep_in_virtual_time_is_compared_like_a_real_one() {
    let fathom = Fathom::new();
    let words = sweep(&[
        "--vary",
        "device=sata-7200-ncq,ssd-generic",
        "--rounds",
        "6",
        "--figure",
        "time",
        "-o",
        "page.html",
    ]);
    let outcome = fathom.run(words).expect_code(0);
    let _ = outcome
        .expect_stdout("time, s; median of 6 runs")
        .expect_stdout("All of this is simulated: nothing was measured.")
        .expect_stdout("No demerit known")
        .expect_stderr("every run is stored with the label");
    let page = std::fs::read_to_string(fathom.work().join("page.html")).expect("a page");
    assert!(page.contains("nothing was measured"), "the page says it, too");
    let listed = fathom.run(["list"]).expect_code(0).stdout;
    assert_eq!(listed.matches(" simulated ").count(), 12, "{listed}");
    let _ = fathom
        .run(["compare", "--sweep", "last"])
        .expect_code(0)
        .expect_stdout("A  device=sata-7200-ncq: 6 runs")
        .expect_stdout("in the model; no demerit known");
    let _ = fathom
        .run(["compare", "--sweep", "last", "--gate"])
        .expect_code(3)
        .expect_stdout("cannot be decided");
}

#[test]
fn on_one_processor_or_many_the_figures_are_the_same() {
    let fathom = Fathom::new();
    let vary =
        ["--vary", "scheduler=none,mq-deadline,bfq-lite", "--rounds", "2", "--no-store", "--json", "--jobs"];
    let with = |jobs| figures(&fathom.run(sweep(&[&vary[..], &[jobs]].concat())).expect_code(0).stdout);
    assert_eq!(with("1"), with("4"));
    assert!(!fathom.store().exists());
}

#[test]
fn a_slip_is_told_before_anything_is_simulated() {
    let fathom = Fathom::new();
    let refused: [(&[&str], &str); 6] = [
        (&["--vary", "scheduler=none,elevator"], "elevator"),
        (&["--vary", "device=none,floppy"], "none"),
        (&["--vary", "read_ahead_kb=0,128"], "that is turned on a real machine (fathom sweep)"),
        (&["--vary", "stack=replay"], "--stack \"replay\": there are full and nocache"),
        (&["--vary", "host=today", "--rounds", "0"], "--rounds 0"),
        (&["--vary", "host=today", "-o", "page.pdf"], "a sweep is written as .html"),
    ];
    for (words, sentence) in refused {
        let _ = fathom.run(sweep(words)).expect_code(2).expect_stderr(sentence);
    }
    assert!(!fathom.store().exists());
}
