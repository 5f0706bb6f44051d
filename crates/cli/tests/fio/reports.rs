//! Output: text that scripts match, JSON that adds up, output to a file, the end by a signal.

use crate::fio::support::{json, percentiles_are_those_of_the_bins, run};
use fathom_testkit::{Fathom, TestDir};

#[test]
fn the_text_has_the_lines_that_scripts_look_for() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let text =
        run(&fathom, "--name=a --rw=randrw --size=1m --numjobs=2 --group_reporting").expect_code(0).stdout;
    let has = |start: &str, parts: &[&str]| {
        let found = text.lines().any(|l| l.starts_with(start) && parts.iter().all(|p| l.contains(p)));
        assert!(found, "no {start} in\n{text}");
    };
    has("a: (g=0): rw=randrw, bs=(R) 4096B-4096B", &["ioengine=psync, iodepth=1"]);
    has("...", &[]);
    has("fio-3.", &[]);
    has("Starting 2 processes", &[]);
    has("a: Laying out IO file", &["(1 file / 1MiB)"]);
    has("a: (groupid=0, jobs=2): err= 0: pid=", &[]);
    has("  read: IOPS=", &["BW=", "/s (", "msec)"]);
    has("  write: IOPS=", &[]);
    has("    clat (", &["min=", "max=", "avg=", "stdev="]);
    has("     lat (", &[]);
    has("     |  1.00th=[", &[]);
    has("  cpu          : usr=", &["sys="]);
    has("   READ: bw=", &["io=", "run="]);
    has("  WRITE: bw=", &[]);
}

#[test]
fn depths_are_counted_as_in_fio() {
    // 64 reads: 1, 2, 2 at 2 and 3, 4 at 4 to 7, and 57 in a full queue. Shares of fio 3.42.
    let queue = "--name=a --rw=randread --size=256k --bs=4k --ioengine=libaio --iodepth=8";
    for (more, level, share) in [
        ("", "8", 57.0 * 100.0 / 64.0),
        ("--iodepth_batch=8 --iodepth_batch_complete_min=8", "8", 100.0),
        ("--iodepth_low=4", "8", 15.0 * 100.0 / 64.0),
        ("--iodepth_low=2", "4", 41.0 * 100.0 / 64.0),
        ("--iodepth_batch_complete_min=8", "8", 8.0 * 100.0 / 64.0),
        // Completions are seen when the queue is full, and count towards the next pause.
        ("--thinktime=1 --thinktime_blocks=5", "1", 11.0 * 100.0 / 64.0),
        ("--thinktime=1 --thinktime_blocks=5 --ioengine=io_uring", "1", 11.0 * 100.0 / 64.0),
        ("--iodepth_batch_complete_min=0", "1", 100.0),
        ("--iodepth_batch_complete_min=0 --ioengine=io_uring", "1", 100.0),
        ("--ioengine=null", "1", 100.0),
        ("--ioengine=psync --iodepth=1", "1", 100.0),
    ] {
        let dir = TestDir::new();
        let document = json(&Fathom::new().working_in(dir.path()), &format!("{queue} {more}"));
        let job = &document["jobs"][0];
        let counted = job["iodepth_level"][level].as_f64().unwrap();
        assert!((counted - share).abs() < 0.1, "{more}: {}", job["iodepth_level"]);
        let single = if more.contains("batch=8") { "8" } else { "4" };
        let calls = job["iodepth_submit"][single].as_f64().unwrap();
        assert!((calls - 100.0).abs() < 0.1, "{more}: {}", job["iodepth_submit"]);
    }
    // Without a queue the null engine hands nothing over.
    let dir = TestDir::new();
    let document =
        json(&Fathom::new().working_in(dir.path()), "--name=a --rw=randread --size=256k --ioengine=null");
    assert_eq!(document["jobs"][0]["iodepth_submit"]["4"], 0.0);
}

#[test]
fn bins_add_up_to_the_percentiles() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let text = run(&fathom, "--output-format=json+ --name=a --rw=randread --size=4m").expect_code(0).stdout;
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    percentiles_are_those_of_the_bins(&document["jobs"][0]["read"]["clat_ns"], "clat");
}

#[test]
fn json_is_all_there_is_on_stdout_and_is_imported() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let document = json(&fathom, "--name=a --rw=write --size=1m");
    assert_eq!(document["jobs"][0]["write"]["total_ios"], 256);
    assert_eq!(document["jobs"][0]["job options"]["rw"], "write");
    assert!(document["fathom"]["run"].is_string());
    run(&fathom, "--output=out.json --output-format=json --name=a --rw=randread --size=1m")
        .expect_code(0)
        .expect_stdout("");
    fathom.run_line("import out.json").expect_code(0);
    let listed = fathom.run_line("list").expect_code(0).stdout;
    assert!(listed.contains("fio"), "{listed}");
}

#[test]
fn several_formats_come_in_the_order_of_fio() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let text =
        run(&fathom, "--output-format=json,normal --name=a --ioengine=null --size=1m").expect_code(0).stdout;
    let (started, rest) = text.split_once("Starting 1 process\n").unwrap();
    assert!(started.starts_with("a: (g=0)"), "{started}");
    let json = &rest[..rest.find("\n\n").unwrap()];
    serde_json::from_str::<serde_json::Value>(json).unwrap();
    assert!(rest.contains("\n\na: (groupid=0"), "{rest}");
}

#[test]
fn a_signal_ends_with_what_was_done() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let mut running =
        fathom.spawn("fio --output-format=normal --name=a --ioengine=null --rate_iops=200 --size=1g --runtime=600 --time_based".split(' '));
    running.wait_for_text("Starting 1 process");
    running.signal(libc::SIGINT);
    let outcome = running.finish().expect_code(128);
    assert!(outcome.stdout.contains("a: (groupid=0"), "{}", outcome.stdout);
}

#[test]
fn what_was_done_so_far_is_printed_at_intervals() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let job = "--name=a --ioengine=null --size=1g --rate_iops=1000 --runtime=2 --time_based";
    let line = format!("--status-interval=500ms --bandwidth-log --output-format=json {job}");
    let text = run(&fathom, &line).expect_code(0).stdout;
    let documents = serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>();
    let ios: Vec<u64> =
        documents.map(|d| d.unwrap()["jobs"][0]["read"]["total_ios"].as_u64().unwrap()).collect();
    assert!(ios.len() >= 3 && ios.is_sorted() && ios[0] < ios[ios.len() - 1], "{ios:?}");
    let log = std::fs::read_to_string(dir.path().join("agg-read_bw.log")).unwrap();
    assert!(log.lines().count() >= 3 && log.lines().all(|l| l.ends_with(", 0, 0, 0")), "{log}");
    // It goes where the report goes, if that is a pipe.
    let lines = run(&fathom, &format!("--eta=always --eta-newline=1 {job}")).expect_code(0).stdout;
    assert!(lines.lines().filter(|l| l.contains("Jobs: 1 (f=1)")).count() >= 2, "{lines}");
}

#[test]
fn reads_of_what_was_never_written_are_said_to_be_that() {
    let dir = TestDir::new();
    std::fs::File::create(dir.path().join("sparse")).unwrap().set_len(8 << 20).unwrap();
    let fathom = Fathom::new().working_in(dir.path()).env("FATHOM_QUIET", "0");
    let line = "--output-format=json --name=a --filename=sparse --rw=randread";
    let outcome =
        run(&fathom, line).expect_code(0).expect_stderr("never held data").expect_stderr("lays out a file");
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let ours = &document["fathom"];
    assert_eq!(ours["phases"][0]["hole bytes"], 8 << 20);
    assert!(ours["phases"][0]["cached before percent"].is_f64(), "{ours}");
    assert!(ours["doubts"].as_array().unwrap().iter().any(|d| d["code"] == "holes"), "{ours}");
    assert!(ours["trust"].as_array().unwrap().iter().any(|t| t["code"] == "extents"), "{ours}");
}

#[test]
fn the_status_line_goes_down_a_pipe_only_when_it_is_asked_for() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let job = "--name=a --ioengine=null --size=1g --rate_iops=100 --runtime=2 --time_based";
    let always = run(&fathom, &format!("--eta=always {job}")).expect_code(0);
    let (_, told) = always.stdout.split_once("Starting 1 process\n").unwrap();
    assert!(told.starts_with("Jobs: 1 (f=1), 0-100 IOPS: [R(1)]"), "{told}");
    assert!(told.contains("]\r") && !told.contains('\u{1b}'), "{told}");
    assert!(!always.stderr.contains("Jobs: "), "{}", always.stderr);
    let auto = run(&fathom, job).expect_code(0);
    assert!(!auto.stdout.contains("Jobs: "), "{}", auto.stdout);
    let json = run(&fathom, &format!("--eta=always --output-format=json {job}")).expect_code(0);
    assert!(json.stdout.starts_with('{'), "{}", json.stdout);
}
