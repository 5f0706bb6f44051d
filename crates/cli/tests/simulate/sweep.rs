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
fn a_sweep_is_written_in_every_form() {
    let fathom = Fathom::new();
    let with = |output: &'static str| {
        sweep(&[
            "--vary",
            "device=sata-7200-ncq,ssd-generic",
            "--vary",
            "host=today",
            "--rounds",
            "1",
            "-o",
            output,
        ])
    };
    for output in ["a.md", "a.xlsx", "a.svg", "pictures/"] {
        let _ = fathom.run(with(output)).expect_code(0).expect_stderr("wrote ");
    }
    let work = fathom.work();
    let markdown = std::fs::read_to_string(work.join("a.md")).expect("Markdown");
    assert!(
        markdown.starts_with("## Sweep: sysbench ") && markdown.contains("| device=ssd-generic |"),
        "{markdown}"
    );
    assert_eq!(std::fs::read(work.join("a.xlsx")).expect("a workbook")[..2], *b"PK");
    assert!(std::fs::read_to_string(work.join("a.svg")).expect("a picture").starts_with("<svg"));
    assert_eq!(std::fs::read_dir(work.join("pictures")).expect("a directory").count(), 1);
    let _ = fathom.run(with("pictures/")).expect_code(2).expect_stderr("pictures/ already has pictures");
    let _ = fathom.run(with("a.md")).expect_code(2).expect_stderr("a.md exists; choose another name");
}

#[test]
fn a_slip_is_told_before_anything_is_simulated() {
    let fathom = Fathom::new();
    let refused: [(&[&str], &str); 6] = [
        (&["--vary", "scheduler=none,elevator"], "elevator"),
        (&["--vary", "device=none,floppy"], "none"),
        (
            &["--vary", "read_ahead_kb=0,128"],
            "a simulation does not have it; fathom sweep varies it on a real machine",
        ),
        (&["--vary", "stack=replay"], "--stack \"replay\": there are full and nocache"),
        (&["--vary", "host=today", "--rounds", "0"], "--rounds 0"),
        (&["--vary", "host=today", "-o", "page.pdf"], "a sweep is written as .html .md .xlsx .svg"),
    ];
    for (words, sentence) in refused {
        let _ = fathom.run(sweep(words)).expect_code(2).expect_stderr(sentence);
    }
    assert!(!fathom.store().exists());
}

/// Runs that are listed.
fn kept(fathom: &Fathom) -> usize {
    let listed = fathom.run(["list", "--json"]).expect_code(0).stdout;
    serde_json::from_str::<Value>(&listed).ok().and_then(|l| l.as_array().map(Vec::len)).unwrap_or(0)
}

#[test]
fn what_was_simulated_is_kept_though_the_sweep_is_stopped_or_killed() {
    let workload = [
        "sysbench",
        "--test=fileio",
        "--file-total-size=64M",
        "--file-num=4",
        "--file-test-mode=rndrw",
        "--max-requests=20000",
        "run",
    ];
    for signal in [libc::SIGKILL, libc::SIGINT] {
        let fathom = Fathom::new();
        // There is a store already: its making is not what is looked at here.
        let _ = fathom.run(["sim", "run", "--"].iter().chain(&LINE).chain(&["run"])).expect_code(0);
        let head =
            ["sim", "sweep", "--vary", "scheduler=none,mq-deadline", "--rounds", "1000", "--jobs", "2", "--"];
        let mut running = fathom.spawn(head.iter().chain(&workload));
        running.wait_until("some runs are stored", || kept(&fathom) >= 4);
        running.signal(signal);
        let ended = running.finish();
        let kept = kept(&fathom);
        assert!((4..2000).contains(&kept), "{kept}");
        if signal == libc::SIGINT {
            assert_eq!(ended.code, Some(130), "{}", ended.stderr);
            assert!(ended.stdout.contains("median"), "{}", ended.stdout);
        }
        // Every round that was kept is whole: what is stored is the beginning of the plan.
        let runs = fathom.run(["list", "--json"]).expect_code(0).stdout;
        let runs: Value = serde_json::from_str(&runs).expect("JSON");
        let ids = runs.as_array().expect("runs").iter().map(|r| r["id"].as_str().expect("an id").to_owned());
        let mut numbers: Vec<u64> = ids
            .filter_map(|id| {
                let shown = fathom.run(["show", &id, "--json"]).expect_code(0).stdout;
                let run: Value = serde_json::from_str(&shown).expect("JSON");
                run["environment"]["sweep"]["run"].as_u64()
            })
            .collect();
        numbers.sort_unstable();
        if signal == libc::SIGKILL {
            assert_eq!(numbers, (1..kept as u64).collect::<Vec<_>>());
        }
    }
}
