//! Interactions of jobs with each other and with files: errors that end one of them, their windows, patterns, pauses,
//! names.

use crate::fio::support::{fio_is_here, json, run, theirs};
use fathom_testkit::{Fathom, TestDir};
use serde_json::Value;

fn job<'a>(document: &'a Value, name: &str) -> &'a Value {
    let jobs = document["jobs"].as_array().expect("a list of jobs");
    jobs.iter().find(|job| job["jobname"] == name).unwrap_or_else(|| panic!("no job {name} in {document}"))
}

/// A file that is not what it is checked for, jobs beside the one that finds it, and one after them.
const WRONG: &str = "\
[a]
filename=theirs
rw=read
size=64k
verify=crc32c
[b]
rw=write
size=64k
bs=4k
thinktime=20ms
[c]
stonewall
rw=write
size=64k
bs=4k
";

#[test]
fn an_error_ends_its_own_job_and_others_if_that_is_asked_for() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    std::fs::write(dir.path().join("theirs"), vec![7u8; 65536]).unwrap();
    std::fs::write(dir.path().join("j.fio"), WRONG).unwrap();
    let done = |line: &str| {
        let text = run(&fathom, &format!("--output-format=json {line} j.fio")).expect_code(1).stdout;
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(job(&document, "a")["error"], 84);
        ["b", "c"].map(|name| job(&document, name)["write"]["total_ios"].as_u64().unwrap())
    };
    assert_eq!(done(""), [16, 16]);
    let [beside, after] = done("--exitall_on_error");
    assert!(beside < 16, "{beside}");
    assert_eq!(after, 16);
}

#[test]
fn windows_stand_with_every_job() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--ioengine=null --size=1m --runtime=2 --time_based --rate_iops=100 --numjobs=2 --name=a";
    let document = json(&fathom, line);
    for job in document["jobs"].as_array().unwrap() {
        let read = &job["read"];
        assert!(read["iops_samples"].as_u64().unwrap() >= 3, "{read}");
        assert!((25..=400).contains(&read["iops_max"].as_u64().unwrap()), "{read}");
        assert!(read["iops_min"].as_u64().unwrap() > 0, "{read}");
    }
    let whole = json(&fathom, &format!("{line} --group_reporting"));
    let mean = whole["jobs"][0]["read"]["iops_mean"].as_f64().unwrap();
    assert!((50.0..=400.0).contains(&mean), "{mean}");
}

#[test]
fn patterns_are_those_of_fio() {
    if !fio_is_here("patterns_are_those_of_fio") {
        return;
    }
    let (ours, other) = (TestDir::new(), TestDir::new());
    let fathom = Fathom::new().working_in(ours.path());
    for pattern in ["90", "0x5a", "0xdeadbeef", "\"abc\"", "300", "-12", "0xdead\"ab\"-12", "0xabc"] {
        let line = format!("--name=a --filename=p --rw=write --bs=1k --size=4k --buffer_pattern={pattern}");
        run(&fathom, &line).expect_code(0);
        assert!(theirs(other.path(), &line).status.success(), "{pattern}");
        let [ours, other] = [&ours, &other].map(|dir| std::fs::read(dir.path().join("p")).unwrap());
        assert!(ours == other, "{pattern}: {:02x?} instead of {:02x?}", &ours[..16], &other[..16]);
    }
}

#[test]
fn a_sync_follows_its_write_and_the_pause_comes_after_both() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --rw=write --bs=4k --size=32k --fsync=1 --thinktime=50ms";
    let job = &json(&fathom, line)["jobs"][0];
    let ms = |figures: &Value| figures["mean"].as_f64().unwrap() * figures["N"].as_f64().unwrap() / 1e6;
    let runtime = job["write"]["runtime"].as_f64().unwrap();
    // A disk that others use may take its time for a sync.
    let paused = runtime - ms(&job["write"]["clat_ns"]) - ms(&job["sync"]["lat_ns"]);
    // Eight pauses, not fifteen.
    assert!((350.0..700.0).contains(&paused), "{paused} of {runtime} ms");
}

#[test]
fn names_are_joined_to_directories() {
    if !fio_is_here("names_are_joined_to_directories") {
        return;
    }
    for line in [
        "--name=a/b --size=4k --rw=write",
        "--name=a --directory=d --filename=/deep/f --size=4k --rw=write",
        "--name=a --directory=d:e --numjobs=2 --filename=f --size=4k --rw=write",
        "--name=a --filename=f --directory=d --size=4k --rw=write",
        "--name=a --directory=d --filename_format=x/$jobnum --numjobs=2 --size=4k --rw=write",
        "--name=a --directory=none --size=4k --rw=write",
    ] {
        let (ours, other) = (TestDir::new(), TestDir::new());
        for name in ["d", "e"] {
            std::fs::create_dir(ours.path().join(name)).unwrap();
            std::fs::create_dir(other.path().join(name)).unwrap();
        }
        let code = theirs(other.path(), line).status.code().unwrap();
        run(&Fathom::new().working_in(ours.path()), line).expect_code(code);
        assert_eq!(files_below(ours.path(), ""), files_below(other.path(), ""), "{line}");
    }
}

fn files_below(root: &std::path::Path, below: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join(below)).unwrap().flatten() {
        let name = format!("{below}/{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true => found.extend(files_below(root, name.trim_start_matches('/'))),
            false => found.push(name),
        }
    }
    found.sort();
    found
}

#[test]
fn nothing_is_begun_when_the_last_job_may_not_write_its_file() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    std::fs::write(dir.path().join("theirs"), vec![7u8; 65536]).unwrap();
    std::fs::write(dir.path().join("result.json"), "older").unwrap();
    let line = "--output=result.json --output-format=json --name=a --size=64k --rw=write --name=b --stonewall \
                --filename=theirs --size=64k --rw=write";
    run(&fathom, line).expect_code(1).expect_stderr("--allow-write=theirs allows it");
    assert!(!dir.path().join("a.0.0").exists(), "the first job has not begun");
    assert_eq!(std::fs::read_to_string(dir.path().join("result.json")).unwrap(), "older");
    // Nor is a user's file extended.
    let line = "--name=a --size=64k --rw=write --name=b --stonewall --filename=theirs --size=1m";
    run(&fathom, line).expect_code(1);
    assert!(!dir.path().join("a.0.0").exists());
}

#[test]
fn a_signal_asks_what_was_done_so_far() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let mut running = fathom.spawn(
        "fio --output-format=normal --name=a --ioengine=null --rate_iops=200 --size=1g --runtime=600 --time_based"
            .split(' '),
    );
    running.wait_for_text("Starting 1 process");
    running.signal(libc::SIGUSR1);
    running.wait_for_text("a: (groupid=0");
    running.signal(libc::SIGINT);
    let outcome = running.finish().expect_code(128);
    assert!(outcome.stdout.matches("a: (groupid=0").count() >= 2, "{}", outcome.stdout);
}

#[test]
fn logs_have_the_names_and_lines_of_fio() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--ioengine=null --size=1m --runtime=2 --time_based --rate_iops=100 --numjobs=2 --name=a --write_bw_log \
                --write_iops_log=lg --write_lat_log=lg --log_avg_msec=1000";
    std::fs::write(
        dir.path().join("j.fio"),
        format!("[{}", line.split_once("--name=").unwrap().1).replace(" --", "\n").replacen("a\n", "a]\n", 1),
    )
    .unwrap();
    let general = line.split_once(" --numjobs").unwrap().0;
    run(&fathom, &format!("{general} --numjobs=2 j.fio")).expect_code(0);
    let lines = |name: &str| -> Vec<Vec<u64>> {
        let text = std::fs::read_to_string(dir.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        text.lines().map(|l| l.split(", ").map(|n| n.parse().unwrap()).collect()).collect()
    };
    for clone in [1, 2] {
        for (name, range) in
            [("a_bw", 100..1600), ("lg_iops", 25..400), ("lg_lat", 1..1_000_000), ("lg_clat", 1..1_000_000)]
        {
            let lines = lines(&format!("{name}.{clone}.log"));
            assert!(lines.len() >= 2, "{name}: {lines:?}");
            assert_eq!((lines[0][0], &lines[0][2..]), (1000, &[0, 0, 0][..]), "{name}");
            assert!(range.contains(&lines[0][1]), "{name}: {lines:?}");
        }
        assert!(lines(&format!("lg_slat.{clone}.log")).is_empty(), "psync and null submit nothing by itself");
    }
}
