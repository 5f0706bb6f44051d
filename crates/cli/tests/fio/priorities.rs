//! I/O priorities of single operations: their latencies and logs, beside fio where it is installed.

use crate::fio::support::{fio_is_here, json, run, their_json};
use fathom_testkit::{Fathom, TestDir, skip};
use serde_json::Value;
use std::collections::BTreeMap;

/// Best effort and idle need no privilege.
const LINE: &str = "--name=a --rw=randread --bs=4k --size=4m --direct=1 --ioengine=libaio --iodepth=4 --cmdprio_percentage=30 \
                    --cmdprio_class=2 --cmdprio=3 --write_lat_log=p --log_prio=1";

/// Operations by class and level.
fn counts(document: &Value) -> BTreeMap<(u64, u64), u64> {
    let prios = document["jobs"][0]["read"]["prios"].as_array().expect("a list");
    let number = |v: &Value| v.as_u64().expect("a number");
    prios
        .iter()
        .map(|p| ((number(&p["prioclass"]), number(&p["prio"])), number(&p["clat_ns"]["N"])))
        .collect()
}

#[test]
fn a_share_of_the_operations_has_its_priority() {
    let test = "a_share_of_the_operations_has_its_priority";
    let dir = TestDir::new();
    if dir.in_memory() {
        skip(test, "priorities are of direct I/O, and the tests' directory lies in memory");
        return;
    }
    let fathom = Fathom::new().working_in(dir.path());
    let ours = counts(&json(&fathom, LINE));
    let shares = |counts: &BTreeMap<(u64, u64), u64>| {
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [(0, 0), (2, 3)]);
        assert_eq!(counts.values().sum::<u64>(), 1024);
        assert!((200..420).contains(&counts[&(2, 3)]), "{counts:?}");
    };
    shares(&ours);
    let log = std::fs::read_to_string(dir.path().join("p_clat.1.log")).unwrap();
    let marked = log.lines().filter(|line| line.ends_with(", 0x4003")).count();
    assert_eq!(marked as u64, ours[&(2, 3)]);
    let text = run(&fathom, LINE).expect_code(0).stdout;
    assert!(text.contains("    clat prio 0/0/0 (") && text.contains("    clat prio 2/3/0 ("), "{text}");
    assert!(text.contains("% of IOs) percentiles ("), "{text}");
    // io_uring has them, too.
    shares(&counts(&json(&fathom, &LINE.replace("libaio", "io_uring"))));
    if fio_is_here(test) {
        let fio = TestDir::new();
        shares(&counts(&their_json(fio.path(), LINE)));
    }
}

/// Operations, and what they took together, of a latency as the output tells it.
fn sum(latency: &Value) -> (u64, f64) {
    let n = latency["N"].as_u64().expect("a number");
    (n, n as f64 * latency["mean"].as_f64().expect("a mean"))
}

#[test]
fn the_priorities_together_are_the_whole_to_the_nanosecond() {
    let test = "the_priorities_together_are_the_whole_to_the_nanosecond";
    let dir = TestDir::new();
    if dir.in_memory() {
        skip(test, "priorities are of direct I/O, and the tests' directory lies in memory");
        return;
    }
    let fathom = Fathom::new().working_in(dir.path());
    let mixed = LINE.replace("randread", "randrw").replace("=4m", "=4m --unified_rw_reporting=both");
    for (key, line) in [
        ("clat_ns", mixed.clone()),
        ("lat_ns", format!("{mixed} --lat_percentiles=1")),
        ("clat_ns", mixed.replace("libaio", "io_uring")),
    ] {
        let document = json(&fathom, &line);
        let job = &document["jobs"][0];
        for side in ["read", "write", "mixed"] {
            let parts: Vec<&Value> =
                job[side]["prios"].as_array().unwrap_or_else(|| panic!("{side}: none")).iter().collect();
            let classes: Vec<u64> = parts.iter().map(|p| p["prioclass"].as_u64().unwrap()).collect();
            assert_eq!(classes, [0, 2], "{side}");
            let whole = &job[side][key];
            let (n, all) = sum(whole);
            let (parts_n, together) =
                parts.iter().map(|p| sum(&p[key])).fold((0, 0.0), |(n, s), (m, t)| (n + m, s + t));
            assert_eq!(n, parts_n, "{side}");
            // What six decimals leave: far less than a nanosecond an operation.
            assert!((all - together).abs() < 1.0, "{side} {key}: {all} is not {together}");
            let ends = |of: &dyn Fn(&Value) -> u64| parts.iter().map(|p| of(&p[key])).collect::<Vec<_>>();
            let (least, most) =
                (ends(&|l| l["min"].as_u64().unwrap()), ends(&|l| l["max"].as_u64().unwrap()));
            assert_eq!(least.iter().min().copied(), whole["min"].as_u64(), "{side} {key}");
            assert_eq!(most.iter().max().copied(), whole["max"].as_u64(), "{side} {key}");
        }
    }
}

#[test]
fn a_whole_job_has_a_class() {
    let test = "a_whole_job_has_a_class";
    let dir = TestDir::new();
    if dir.in_memory() {
        skip(test, "priorities are of direct I/O, and the tests' directory lies in memory");
        return;
    }
    let fathom = Fathom::new().working_in(dir.path());
    // Operations without their own priority have the job's, and come first.
    let line = format!("{LINE} --prioclass=3");
    let text = run(&fathom, &line).expect_code(0).stdout;
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}:\n{text}"));
    assert!(at("    clat prio 3/0/0 (") < at("    clat prio 2/3/0 ("), "{text}");
    let classes = |document: &Value| counts(document).into_keys().collect::<Vec<_>>();
    assert_eq!(classes(&json(&fathom, &line)), [(2, 3), (3, 0)]);
    if fio_is_here(test) {
        assert_eq!(classes(&their_json(TestDir::new().path(), &line)), [(2, 3), (3, 0)]);
    }
    let log = std::fs::read_to_string(dir.path().join("p_clat.1.log")).unwrap();
    assert!(log.lines().all(|line| line.ends_with(", 0x4003") || line.ends_with(", 0x6000")), "{log}");
}

#[test]
fn a_class_is_the_kernels_or_one_clear_error() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    // With the calls of any engine.
    for engine in ["psync", "mmap", "libaio", "io_uring", "posixaio"] {
        let line = format!("--name=a --size=64k --rw=write --ioengine={engine} --prioclass=3 --prio=5");
        run(&fathom, &line).expect_code(0);
    }
    let line = "--name=rt --size=64k --rw=write --prioclass=1 --prio=2";
    let ran = run(&fathom, line);
    match ran.code {
        Some(0) => {}
        _ => {
            ran.expect_code(1).expect_stderr("CAP_SYS_NICE");
            assert!(!dir.path().join("rt.0.0").exists());
        }
    }
    run(&fathom, "--name=b --size=64k --prioclass=4")
        .expect_code(1)
        .expect_stderr("max value out of range: 4 (3 max)");
}

#[test]
fn hints_are_a_part_of_priorities() {
    let test = "hints_are_a_part_of_priorities";
    let dir = TestDir::new();
    if dir.in_memory() {
        skip(test, "priorities are of direct I/O, and the tests' directory lies in memory");
        return;
    }
    let fathom = Fathom::new().working_in(dir.path());
    let line = format!("{LINE} --prio=2 --priohint=5 --cmdprio_hint=9");
    let ran = run(&fathom, &line);
    if ran.code != Some(0) {
        ran.expect_code(1).expect_stderr("hints came with Linux 6.5");
        return skip(test, "this kernel has no hints of priorities");
    }
    // As in fio 3.42: `clat prio 2/0/9 (` in the text, 16427 of ioprio_set for the job, and 0x404b in logs; 3.33 has no hints.
    let text = ran.stdout;
    assert!(text.contains("    clat prio 2/2/5 (") && text.contains("    clat prio 2/3/9 ("), "{text}");
    let log = std::fs::read_to_string(dir.path().join("p_clat.1.log")).unwrap();
    assert!(log.lines().all(|line| line.ends_with(", 0x404b") || line.ends_with(", 0x402a")), "{log}");
    let document = json(&fathom, &line);
    let prios = document["jobs"][0]["read"]["prios"].as_array().unwrap();
    let hints: Vec<&Value> = prios.iter().map(|by| &by["priohint"]).collect();
    assert_eq!(hints, [5, 9]);
    run(&fathom, &format!("{LINE} --priohint=1024"))
        .expect_code(1)
        .expect_stderr("priohint: max value out of range: 1024 (1023 max)");
}

#[test]
fn priorities_by_size_are_those_of_a_direction() {
    let test = "priorities_by_size_are_those_of_a_direction";
    let dir = TestDir::new();
    if dir.in_memory() {
        skip(test, "priorities are of direct I/O, and the tests' directory lies in memory");
        return;
    }
    let line = "--name=a --filename=F --size=32m --rw=randrw --norandommap --direct=1 --ioengine=libaio --iodepth=4 \
                --bssplit=64k/40:128k/60,128k/100 --cmdprio_bssplit=64k/25/2/1:64k/75/3/2:128k/0,128k/0";
    let right = |document: &Value, who: &str| {
        // All reads of 64 KiB have one of the two, those of 128 KiB none.
        let counts = counts(document);
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [(0, 0), (2, 1), (3, 2)], "{who}");
        let small = counts[&(2, 1)] + counts[&(3, 2)];
        let bytes = document["jobs"][0]["read"]["io_bytes"].as_u64().unwrap();
        assert_eq!((small + 2 * counts[&(0, 0)]) * 65536, bytes, "{who}: {counts:?}");
        assert!(counts[&(3, 2)] > counts[&(2, 1)], "{who}: {counts:?}");
    };
    right(&json(&Fathom::new().working_in(dir.path()), line), "fathom");
    if fio_is_here(test) {
        right(&their_json(TestDir::new().path(), line), "fio");
    }
}
