//! fio jobs in fathom's own measuring commands: `fathom run`, `fathom sweep`, `fathom compare --run`.

use fathom_testkit::Fathom;
use serde_json::Value;

const JOB: &str = "[one]\nsize=256k\nrw=randread\nnumjobs=2\nioengine=vsync\n";

#[test]
fn run_takes_a_job_file_and_prints_our_summary() {
    let fathom = Fathom::new();
    std::fs::write(fathom.work().join("j.fio"), JOB).expect("writes");
    let plan = fathom.run_line("run --plan j.fio").expect_code(0);
    assert!(!fathom.work().join("one.0.0").exists(), "a plan makes no files");
    assert!(plan.stdout.contains("one.0.0"), "{}", plan.stdout);
    let run = fathom.run_line("run j.fio --json").expect_code(0);
    assert!(run.stderr.contains("ioengine=vsync: one preadv2"), "{}", run.stderr);
    let run: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!((&run["dialect"], &run["label"]), (&"fio".into(), &"fio one".into()));
    assert_eq!(run["phases"][0]["repetitions"][0]["workers"].as_array().expect("workers").len(), 2);
    // As fio leaves them.
    assert!(fathom.work().join("one.1.0").exists());
    let _ = fathom.run_line("list").expect_code(0).expect_stdout(" fio ");
    std::fs::write(fathom.work().join("wrong.fio"), "[one]\nsize=256k\nrw=raed\n").expect("writes");
    let _ = fathom.run_line("run wrong.fio").expect_code(2).expect_stderr("wrong.fio:3:4");
}

#[test]
fn a_sweep_varies_a_word_of_the_arguments() {
    let fathom = Fathom::new();
    std::fs::write(fathom.work().join("j.fio"), JOB).expect("writes");
    let line = "sweep --vary bs=4k,16k --rounds 1 --settle 0 --no-store --json -- fio --bs={bs} j.fio";
    let sweep: Value = serde_json::from_str(&fathom.run_line(line).expect_code(0).stdout).expect("JSON");
    assert_eq!(sweep["runs"].as_array().expect("runs").len(), 2);
    let _ = fathom
        .run_line("sweep --vary scheduler=none -- fio -")
        .expect_code(2)
        .expect_stderr("read more than once");
}

#[test]
fn logs_of_jobs_are_not_forgotten_in_silence() {
    let fathom = Fathom::new();
    std::fs::write(fathom.work().join("l.fio"), format!("{JOB}write_lat_log=lat\n")).expect("writes");
    let run = fathom.run_line("run l.fio").expect_code(0);
    assert!(run.stderr.contains("job one: logs are files of fathom fio"), "{}", run.stderr);
    assert!(!fathom.work().join("lat_lat.1.log").exists());
    std::fs::write(fathom.work().join("w.fio"), "[one]\nsize=256k\nwrite_iolog=w.log\n").expect("writes");
    let run = fathom.run_line("run w.fio").expect_code(0);
    assert!(run.stderr.contains("job one: logs are files of fathom fio"), "{}", run.stderr);
    assert!(!fathom.work().join("w.log").exists());
    let _ = fathom.run_line("fio l.fio").expect_code(0);
    assert!(fathom.work().join("lat_lat.1.log").exists());
}
