//! Trims: what they leave of files, and that they are reported as fio does.

use crate::fio::support::{fio_is_here, json, run, their_json, theirs};
use fathom_testkit::{Fathom, TestDir};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn a_trimmed_file_keeps_its_size_and_loses_its_contents() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let path = dir.path().join("theirs");
    std::fs::write(&path, vec![7u8; 65536]).unwrap();
    let line = "--name=a --filename=theirs --size=48k --rw=trim --bs=4k --offset=16k --io_size=16k";
    // It needs the permission of a write.
    run(&fathom, line).expect_code(1).expect_stderr("--allow-write=theirs allows it");
    run(&fathom, &format!("--readonly {line} --allow-write=theirs")).expect_code(1);
    assert!(std::fs::read(&path).unwrap() == vec![7u8; 65536], "it is left as it is");
    for engine in ["psync", "pvsync2", "libaio", "io_uring", "mmap"] {
        std::fs::write(&path, vec![7u8; 65536]).unwrap();
        let done = json(&fathom, &format!("{line} --allow-write=theirs --ioengine={engine}"));
        let job = &done["jobs"][0];
        let told = |name: &str| (job[name]["total_ios"].as_u64(), job[name]["io_bytes"].as_u64());
        assert_eq!(told("trim"), (Some(4), Some(16384)), "{engine}");
        assert_eq!((told("read"), told("write")), ((Some(0), Some(0)), (Some(0), Some(0))), "{engine}");
        let left = std::fs::read(&path).unwrap();
        assert_eq!(left.len(), 65536, "{engine}");
        let trimmed = |at: usize| (16384..32768).contains(&at);
        assert!(left.iter().enumerate().all(|(at, byte)| (*byte == 0) == trimmed(at)), "{engine}");
    }
}

#[test]
fn what_was_written_is_given_back_and_read_as_zeros() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let counts = |options: &str| {
        let line = format!("--name=a --filename=f --rw=write --size=64k --bs=4k {options}");
        let told = json(&fathom, &line);
        ["read", "write", "trim"].map(|kind| told["jobs"][0][kind]["total_ios"].as_u64().unwrap())
    };
    let all = "--verify=crc32c --trim_percentage=100 --trim_backlog=4";
    assert_eq!(counts(all), [16, 16, 16]);
    assert!(std::fs::read(dir.path().join("f")).unwrap() == vec![0; 65536]);
    // fio 3.42, on a loop device.
    assert_eq!(counts(&format!("{all} --trim_verify_zero=0")), [0, 16, 16]);
    assert_eq!(counts(&format!("{all} --trim_backlog_batch=1")), [16, 16, 4]);
    assert_eq!(counts(&format!("{all} --verify_backlog=8")), [16, 16, 8]);
    assert_eq!(counts(&format!("{all} --ioengine=libaio --iodepth=4")), [16, 16, 16]);
    assert_eq!(counts("--trim_percentage=100 --trim_backlog=4"), [0, 16, 0], "nothing without verify");
    assert_eq!(counts("--verify=crc32c --trim_percentage=100"), [16, 16, 0]);
    run(&fathom, &format!("--name=a --size=64k --rw=write {all} --verify_only"))
        .expect_code(1)
        .expect_stderr("trim_backlog needs a job that writes by itself");
    for (other, words) in [("--ioengine=mmap", "ioengine=mmap"), ("--max_latency=1s", "max_latency")] {
        run(&fathom, &format!("--name=a --size=64k --rw=write {all} {other}"))
            .expect_code(1)
            .expect_stderr(&format!("trim_backlog cannot be combined with {words}"));
    }
}

#[test]
fn block_sizes_may_go_by_the_order() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    for (rw, bytes) in [("write", 4096), ("randwrite", 16384), ("read", 4096), ("randread", 16384)] {
        let told = json(
            &fathom,
            &format!("--name=a --filename=g --size=64k --bs=4k,16k --bs_is_seq_rand=1 --rw={rw}"),
        );
        let kind = if rw.ends_with("read") { "read" } else { "write" };
        assert_eq!(told["jobs"][0][kind]["total_ios"].as_u64(), Some(65536 / bytes), "{rw}");
    }
    let partly = "--name=a --filename=g --size=64k --bs=4k,16k --bs_is_seq_rand=1 --rw=randread --percentage_random=50";
    run(&fathom, partly).expect_code(1).expect_stderr("bs_is_seq_rand: a job that is partly random");
}

#[test]
fn a_block_is_trimmed_and_then_written() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --filename=f --rw=trimwrite --size=16k --bs=4k --write_iolog=a.log --write_bw_log=l \
                --log_offset=1";
    let text = run(&fathom, line).expect_code(0).stdout;
    for expected in ["  trim: IOPS=", "  write: IOPS=", "   TRIM: bw=", "  WRITE: bw=", "total=0,4,4,0"] {
        assert!(text.contains(expected), "no {expected:?} in\n{text}");
    }
    assert!(std::fs::read(dir.path().join("f")).unwrap().iter().any(|byte| *byte != 0), "written last");
    let log = std::fs::read_to_string(dir.path().join("l_bw.1.log")).unwrap();
    let column =
        |n: usize| log.lines().map(|l| l.split(", ").nth(n).unwrap().parse().unwrap()).collect::<Vec<u64>>();
    assert_eq!(column(2), [2, 1, 2, 1, 2, 1, 2, 1]);
    assert_eq!(column(4), [0, 0, 4096, 4096, 8192, 8192, 12288, 12288]);
    let iolog = std::fs::read_to_string(dir.path().join("a.log")).unwrap();
    let does = |word: &str| iolog.lines().filter(|l| l.split(' ').nth(2) == Some(word)).count();
    assert_eq!((does("trim"), does("write")), (4, 4), "{iolog}");
    // What was written down is done again.
    let again = json(&fathom, "--name=r --read_iolog=a.log --replay_no_stall=1");
    let ios = |name: &str| again["jobs"][0][name]["total_ios"].as_u64();
    assert_eq!((ios("trim"), ios("write"), ios("read")), (Some(4), Some(4), Some(0)));
}

/// Keys of a job that have objects, and of each what it holds.
fn shape(document: &Value) -> BTreeSet<String> {
    let job = document["jobs"][0].as_object().expect("a job");
    let inside = |(name, value): (&String, &Value)| -> Vec<String> {
        let keys = value.as_object().map(|o| o.keys().map(|k| format!("{name}.{k}")).collect::<Vec<_>>());
        keys.unwrap_or_default()
    };
    job.iter().filter(|(name, _)| *name != "job options").flat_map(inside).collect()
}

#[test]
fn directions_are_told_as_fio_tells_them() {
    if !fio_is_here("directions_are_told_as_fio_tells_them") {
        return;
    }
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    for rw in ["randrw", "randtrimwrite", "trim"] {
        for unified in ["none", "mixed", "both"] {
            let line =
                format!("--name=a --ioengine=null --size=64k --rw={rw} --unified_rw_reporting={unified}");
            assert_eq!(shape(&json(&fathom, &line)), shape(&their_json(dir.path(), &line)), "{line}");
            for version in [2, 3, 4, 5] {
                let line = format!("--output-format=terse --terse-version={version} {line}");
                let ours = run(&fathom, &line).expect_code(0).stdout;
                let theirs = String::from_utf8(theirs(dir.path(), &line).stdout).unwrap();
                assert_eq!(ours.split(';').count(), theirs.split(';').count(), "{line}");
            }
            let first_words = |text: &str| -> Vec<String> {
                let named = |l: &&str| l.contains("IOPS=") || l.contains(": bw=");
                text.lines()
                    .filter(named)
                    .map(|l| l.split([':', '=']).next().unwrap_or_default().to_owned())
                    .collect()
            };
            let theirs = String::from_utf8(theirs(dir.path(), &line).stdout).unwrap();
            let ours = run(&fathom, &line).expect_code(0).stdout;
            assert_eq!(first_words(&ours), first_words(&theirs), "{line}");
        }
    }
}

#[test]
fn all_directions_together_are_their_sum() {
    let fathom = Fathom::new();
    let line = "--name=a --ioengine=null --size=1m --rw=randrw --unified_rw_reporting=both";
    let both = json(&fathom, line);
    let job = &both["jobs"][0];
    let of = |name: &str, key: &str| job[name][key].as_u64().expect("a number");
    for key in ["io_bytes", "total_ios"] {
        assert_eq!(of("mixed", key), of("read", key) + of("write", key));
    }
    assert_eq!(job["mixed"]["clat_ns"]["N"], 256);
    let mixed = json(&fathom, &line.replace("both", "mixed"));
    assert!(mixed["jobs"][0].get("read").is_none() && mixed["jobs"][0].get("sync").is_none());
    assert_eq!(mixed["jobs"][0]["mixed"]["total_ios"], 256);
}

#[test]
fn a_report_and_exports_of_trims_are_drawn() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --filename=f --rw=randtrimwrite --size=1m --bs=4k --time_based --runtime=2";
    run(&fathom, line).expect_code(0);
    for args in
        ["report last -o r.html", "export last --format csv", "export last --format json", "show last"]
    {
        let told = fathom.run_line(args).expect_code(0);
        if args.starts_with("export") {
            assert!(told.stdout.contains("trim"), "{args}:\n{}", told.stdout);
        }
    }
    assert!(std::fs::read_to_string(dir.path().join("r.html")).unwrap().contains("trim"));
}

#[test]
fn what_does_not_go_with_trims_is_refused_by_name() {
    let fathom = Fathom::new();
    for (args, words) in [
        ("--rw=trim --verify=md5", "no contents to check"),
        ("--rw=trimwrite --rate_iops=5", "a rate for rw=trimwrite"),
        ("--rw=trim --max_latency=5s", "max_latency: with rw=trim"),
    ] {
        run(&fathom, &format!("--name=a --size=1m {args}")).expect_code(1).expect_stderr(words);
    }
}
