//! Kernel settings on a loop device: changed, read back, recorded, restored.

use crate::sweep::support::{Stand, journals, json, one_error, sweep, workload};

#[test]
fn every_cell_is_measured_and_everything_is_as_before() {
    let name = "every_cell_is_measured_and_everything_is_as_before";
    let Some(stand) = Stand::new(name) else { return };
    let Some(other) = stand.other_scheduler(name) else { return };
    let before = stand.all();
    let file = workload(&stand.fathom, "", "");
    let schedulers = format!("scheduler=present,{other}");
    let words = ["--vary", &schedulers, "--vary", "read_ahead_kb=0,64", "--rounds", "2", "--json"];
    let outcome = stand.fathom.run(sweep(&words, &file)).expect_code(0);
    assert_eq!(stand.all(), before);
    assert!(journals(&stand.fathom).is_empty());
    let told = json(&outcome);
    assert_eq!(told["schema"], "fathom-sweep 1");
    assert_eq!(told["runs"].as_array().map(Vec::len), Some(8));
    for cell in 0..4 {
        let times = told["runs"].as_array().expect("runs").iter().filter(|r| r["cell"] == cell).count();
        assert_eq!(times, 2, "cell {cell}");
    }
    let found = told["cells"][2]["found"].as_array().expect("read back");
    let value = |knob: &str| found.iter().find(|f| f["knob"] == knob).map(|f| f["found"].clone());
    assert_eq!(value("scheduler"), Some(other.as_str().into()));
    assert_eq!(value("read_ahead_kb"), Some("0".into()));
    assert!(
        outcome.stderr.contains(&format!("restored scheduler of {}", stand.device())),
        "{}",
        outcome.stderr
    );
}

#[test]
fn every_run_is_stored_with_its_settings() {
    let Some(stand) = Stand::new("every_run_is_stored_with_its_settings") else { return };
    let file = workload(&stand.fathom, "", "");
    let words = ["--vary", "read_ahead_kb=0,64", "--rounds", "1"];
    let outcome = stand.fathom.run(sweep(&words, &file)).expect_code(0);
    let id = outcome.stdout.split_whitespace().nth(1).expect("an id").trim_end_matches(':').to_string();
    let listed = stand.fathom.run(["list", "--json"]).expect_code(0);
    let runs: serde_json::Value = serde_json::from_str(&listed.stdout).expect("JSON");
    assert_eq!(runs.as_array().map(Vec::len), Some(2));
    let shown = stand.fathom.run(["show", "last", "--json"]).expect_code(0);
    let run: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
    let run = if run.is_array() { run[0].clone() } else { run };
    assert!(
        run["label"].as_str().is_some_and(|l| l.starts_with(&format!("sweep {id}: read_ahead_kb="))),
        "{}",
        run["label"]
    );
    let mark = &run["environment"]["sweep"];
    assert_eq!((&mark["id"], &mark["run"]), (&id.as_str().into(), &2.into()));
    assert_eq!(mark["settings"]["read_ahead_kb"], mark["read_back"][0]["found"]);
    // The environment itself shows the setting, too: it was captured while it was in force.
    let devices = run["environment"].to_string();
    let wanted =
        format!("\"read_ahead_kb\":{}", mark["settings"]["read_ahead_kb"].as_str().expect("a value"));
    assert!(devices.contains(&wanted), "{wanted} is not in {devices}");
}

#[test]
fn what_the_kernel_clamps_is_said() {
    let Some(stand) = Stand::new("what_the_kernel_clamps_is_said") else { return };
    let before = stand.all();
    let file = workload(&stand.fathom, "", "");
    let words = ["--vary", "read_ahead_kb=5,4", "--rounds", "1"];
    let outcome = stand.fathom.run(sweep(&words, &file)).expect_code(0);
    let device = stand.device();
    let clamped = format!("The kernel made 4 of read_ahead_kb=5 at {device}.");
    assert!(outcome.stderr.contains(&clamped) && outcome.stdout.contains(&clamped), "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("read_ahead_kb=4 and read_ahead_kb=5 are the same setting"),
        "{}",
        outcome.stdout
    );
    assert_eq!(stand.all(), before);
}

#[test]
fn a_tunable_that_only_one_scheduler_has_leaves_cells_out() {
    let name = "a_tunable_that_only_one_scheduler_has_leaves_cells_out";
    let Some(stand) = Stand::new(name) else { return };
    if !stand.get("scheduler").contains("bfq") || !stand.get("scheduler").contains("none") {
        return fathom_testkit::skip(name, "needs the schedulers none and bfq");
    }
    let before = stand.all();
    let file = workload(&stand.fathom, "", "");
    let words = ["--vary", "scheduler=none,bfq", "--vary", "iosched/low_latency=0,1", "--rounds", "1"];
    let outcome = stand.fathom.run(sweep(&words, &file)).expect_code(0);
    let left_out = "left out: iosched/low_latency does not exist at";
    assert_eq!(outcome.stdout.matches(left_out).count(), 2, "{}", outcome.stdout);
    assert!(outcome.stdout.contains("with the scheduler none"), "{}", outcome.stdout);
    assert_eq!(stand.all(), before);
    let words = ["--vary", "scheduler=none", "--vary", "iosched/low_latency=0,1"];
    let outcome = stand.fathom.run(sweep(&words, &file)).expect_code(3);
    one_error(&outcome, &["no cell can be measured", "low_latency"]);
}

#[test]
fn a_device_can_be_named() {
    let Some(stand) = Stand::new("a_device_can_be_named") else { return };
    let elsewhere = fathom_testkit::Fathom::new();
    let file = workload(&elsewhere, "", "");
    let device = stand.fs.device().to_str().expect("UTF-8");
    let words = ["--vary", "nomerges=0,2", "--rounds", "1", "--on", device, "--plan"];
    let outcome = elsewhere.run(sweep(&words, &file)).expect_code(0);
    let wanted =
        format!("varies nomerges: 0, 2 (of {}, now 0; changed, and restored at the end)", stand.device());
    assert!(outcome.stdout.contains(&wanted), "{}", outcome.stdout);
    assert!(journals(&elsewhere).is_empty(), "a plan changes nothing");
}
