//! The state of a job is kept in a file, and a later run checks only that far.

use crate::fio::support::{json, run};
use fathom_testkit::{Fathom, TestDir};
use serde_json::Value;
use std::path::Path;

/// Reads and writes of the first job.
fn done(document: &Value) -> [u64; 2] {
    ["read", "write"].map(|side| document["jobs"][0][side]["total_ios"].as_u64().unwrap())
}

/// The writes that a clone of job `a` left word of.
fn left(directory: &Path, clone: u32) -> u64 {
    let text = std::fs::read_to_string(directory.join(format!("local-a-{clone}-verify.state"))).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["writes"].as_u64().unwrap()
}

#[test]
fn who_only_checks_checks_as_much_as_was_written() {
    // What was not written does not pass a check: just these blocks are read.
    for (job, writes) in [
        ("--rw=randwrite --number_ios=7", 7),
        ("--rw=write --number_ios=7 --ioengine=libaio --iodepth=4", 7),
        ("--rw=randwrite --io_size=40k --ioengine=io_uring --iodepth=8", 10),
        ("--rw=randwrite --number_ios=30 --norandommap --nrfiles=3", 30),
        ("--rw=randwrite --number_ios=9 --bsrange=4k-16k", 9),
        ("--rw=randwrite", 48),
    ] {
        let dir = TestDir::new();
        let fathom = Fathom::new().working_in(dir.path());
        let line = format!("--name=a --size=192k --bs=4k --verify=crc32c {job}");
        json(&fathom, &line);
        assert_eq!(left(dir.path(), 0), writes, "{job}");
        // How much it is to be is what the file says.
        let amount = |word: &&str| !(word.contains("number_ios") || word.contains("io_size"));
        let whole: Vec<&str> = line.split(' ').filter(amount).collect();
        let whole = format!("{} --verify_state_load=1", whole.join(" "));
        let [read, written] = done(&json(&fathom, &format!("{whole} --verify_only")));
        assert_eq!(written, writes, "{job}: as fio counts what it leaves out");
        assert!(read == writes || job.contains("norandommap") && read < writes, "{job}: {read}");
        let again = whole.replace("write", "read");
        if !job.contains("norandommap") {
            assert_eq!(done(&json(&fathom, &again)), [writes, 0], "{job}");
        }
        assert_eq!(left(dir.path(), 0), writes, "{job}: who checks leaves nothing");
    }
}

#[test]
fn a_writer_that_was_ended_is_checked_as_far_as_it_came() {
    for job in [
        "--rw=randwrite --norandommap --time_based",
        "--rw=randrw --ioengine=libaio --iodepth=4",
        "--rw=write --numjobs=2 --time_based",
    ] {
        let dir = TestDir::new();
        let fathom = Fathom::new().working_in(dir.path());
        let line = format!("--name=a --size=4m --bs=4k --verify=crc32c --runtime=1 --rate_iops=60 {job}");
        run(&fathom, &format!("{line} --do_verify=0")).expect_code(0);
        let writes = left(dir.path(), 0);
        assert!((10..200).contains(&writes), "{job}: {writes}");
        let document = json(&fathom, &format!("{line} --verify_only --verify_state_load=1"));
        let [read, written] = done(&document);
        assert!(written == writes && read > 0 && read <= writes, "{job}: {read} {written} of {writes}");
    }
}

#[test]
fn what_no_sync_made_safe_can_be_left_out() {
    let queue = "--ioengine=libaio --iodepth=4";
    for (syncs, writes) in [
        ("", 0),
        ("--fsync=5", 15),
        ("--fdatasync=16", 0),
        ("--end_fsync=1", 16),
        (&*format!("{queue} --fsync=5"), 0),
        (&*format!("{queue} --fsync=5 --end_fsync=1"), 16),
    ] {
        let dir = TestDir::new();
        let fathom = Fathom::new().working_in(dir.path());
        let line = "--name=a --size=64k --bs=4k --verify=md5 --rw=write";
        json(&fathom, &format!("{line} {syncs} --verify_policy=fsynced"));
        assert_eq!(left(dir.path(), 0), writes, "{syncs}");
        for checks in ["--verify_only", "--rw=read"] {
            let document = json(&fathom, &format!("{line} {checks} --verify_state_load=1"));
            let counted = if checks == "--rw=read" { 0 } else { writes };
            assert_eq!(done(&document), [writes, counted], "{syncs} {checks}");
        }
    }
}

#[test]
fn what_is_not_known_is_not_left() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --size=1m --bs=4k --verify=md5";
    json(&fathom, &format!("{line} --rw=randwrite"));
    assert_eq!(left(dir.path(), 0), 256);
    // In a warm-up, the number of writes among its operations is unknown.
    let mix = format!("{line} --rw=randrw --rate_iops=40 --ramp_time=1 --runtime=1 --time_based");
    run(&fathom, &mix).expect_code(0);
    assert!(!dir.path().join("local-a-0-verify.state").exists());
    let told = run(&fathom, &format!("{mix} --verify_state_save=1")).expect_code(1).stderr;
    assert!(told.contains("which writes were made is not known"), "{told}");
    let told =
        run(&fathom, "--name=a/b --filename=f --size=64k --rw=write --verify=md5 --verify_state_save=1");
    assert!(told.expect_code(1).stderr.contains("whose name has a slash"));
}

#[test]
fn a_state_fits_files_of_any_size_and_one_that_lays_out_reads_nothing() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --nrfiles=3 --size=60k --bs=16k --verify=crc32c";
    json(&fathom, &format!("{line} --rw=write --number_ios=2 --fsync=1 --verify_policy=fsynced"));
    assert_eq!(left(dir.path(), 0), 0, "one file is synced at a time");
    json(&fathom, &format!("{line} --rw=write --number_ios=2"));
    let load = "--rw=read --verify_state_load=1";
    assert_eq!(done(&json(&fathom, &format!("{line} {load} --io_size=48k"))), [2, 0]);
    assert_eq!(done(&json(&fathom, &format!("{line} {load} --create_only=1"))), [0, 0]);
    let huge = |clone: u32| {
        let text = format!(
            "{{\"fathom\":\"verify state\",\"version\":1,\"job\":\"b\",\"clone\":{clone},\"writes\":{}}}",
            u64::MAX
        );
        std::fs::write(dir.path().join(format!("local-b-{clone}-verify.state")), text).unwrap();
    };
    [0, 1].into_iter().for_each(huge);
    let two = "--name=b --rw=randwrite --norandommap --size=64k --numjobs=2 --verify=md5 --verify_only --verify_state_load=1";
    assert!(run(&fathom, two).expect_code(1).stderr.contains("writes at most"));
    let own = "--name=c --filename=local-c-0-verify.state --rw=write --size=64k --verify=md5";
    run(&fathom, own).expect_code(0);
    assert_eq!(dir.path().join("local-c-0-verify.state").metadata().unwrap().len(), 65536);
}

#[test]
fn the_file_lies_where_it_was_asked_for() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --size=64k --bs=4k --verify=md5 --rw=write";
    run(&fathom, &format!("{line} --verify_state_save=0")).expect_code(0);
    run(&fathom, "--name=b --size=64k --rw=write").expect_code(0);
    let names = || std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names().all(|name| !name.to_string_lossy().contains("state")));
    std::fs::create_dir(dir.path().join("beside")).unwrap();
    run(&fathom, &format!("--name=b --size=64k --rw=write --aux-path=beside {line}")).expect_code(0);
    assert_eq!(left(&dir.path().join("beside"), 1), 16, "clones are counted over all jobs");
}

#[test]
fn what_is_no_state_is_told_and_nothing_foreign_is_replaced() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --size=64k --bs=4k --verify=md5";
    run(&fathom, &format!("{line} --rw=write --verify_state_save=0")).expect_code(0);
    let state = dir.path().join("local-a-0-verify.state");
    let refused = |more: &str, words: &str| {
        let outcome = run(&fathom, &format!("{line} --rw=read --verify_state_load=1 {more}")).expect_code(1);
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    };
    refused("", "local-a-0-verify.state cannot be read: No such file");
    refused("--aux-path=nowhere", "nowhere/local-a-0-verify.state cannot be read");
    // What only looks at the words looks at no file.
    run(&fathom, &format!("{line} --rw=read --verify_state_load=1 --parse-only")).expect_code(0);
    for (text, words) in [
        ("a diary\n", "is no state file of fathom's"),
        (
            "{\"fathom\":\"verify state\",\"version\":1,\"job\":\"b\",\"clone\":0,\"writes\":1}",
            "job a, clone 0",
        ),
        ("{\"fathom\":\"verify state\",\"version\":2,\"job\":\"a\",\"clone\":0,\"writes\":1}", "version 1"),
        (
            "{\"fathom\":\"verify state\",\"version\":1,\"job\":\"a\",\"clone\":0,\"writes\":-1}",
            "a number of writes",
        ),
    ] {
        std::fs::write(&state, text).unwrap();
        refused("", words);
    }
    std::fs::write(&state, "a diary\n").unwrap();
    run(&fathom, &format!("{line} --rw=write")).expect_code(0);
    let outcome = run(&fathom, &format!("{line} --rw=write --verify_state_save=1")).expect_code(1);
    assert!(outcome.stderr.contains("local-a-0-verify.state cannot be written"), "{}", outcome.stderr);
    assert_eq!(std::fs::read_to_string(&state).unwrap(), "a diary\n");
}
