//! The same jobs through fio and fathom: they must do the same, whatever the speed.

use crate::fio::support::{DEBIANS, fio_is_here, json, run, their_json, theirs};
use fathom_testkit::{Fathom, TestDir};
use serde_json::Value;

/// What does not depend on speed: names, groups, errors, bytes and operations of each direction, fsyncs.
fn done(document: &Value) -> Vec<String> {
    let jobs = document["jobs"].as_array().expect("a list of jobs");
    let one = |job: &Value| {
        let side = |name: &str| format!("{}/{}", job[name]["io_bytes"], job[name]["total_ios"]);
        format!(
            "{} g{} e{} r{} w{} t{} s{}",
            job["jobname"],
            job["groupid"],
            job["error"],
            side("read"),
            side("write"),
            side("trim"),
            job["sync"]["total_ios"]
        )
    };
    jobs.iter().map(one).collect()
}

/// Jobs of the specification's acceptance cases whose amounts both must agree on.
const SAME: [&str; 31] = [
    "two.fio",
    "--bs=64k --size=1m --ioengine=null g.fio",
    "vars.fio",
    "ncpus.fio",
    "--name=a --ioengine=null --size=64k --bs=0x1000",
    "--name=a --ioengine=null --size=64k --bs=4kib",
    "--name=a --ioengine=null --size=64000 --kb_base=1000 --bs=4k",
    "--name=a --ioengine=null --rw=write --bs=4k,8k --size=64k",
    "--name=a --ioengine=null --rw=randread --size=64m --bs=4k",
    "--name=a --ioengine=null --size=16k --io_size=36k --bs=4k",
    "--name=a --ioengine=null --size=8k --loops=3 --bs=4k",
    "--name=a --ioengine=null --size=10k --bs=4k",
    "--name=a --ioengine=null --size=1m --runtime=50",
    "--name=a --ioengine=null --size=1m --number_ios=7",
    "groups.fio",
    "reporting.fio",
    "--name=w --rw=write --size=8m --bs=4k --fsync=32",
    "--name=w --rw=randwrite --size=1m --fsync=8 --end_fsync=1",
    "--name=v --rw=write --size=4m --bs=4k --verify=crc32c",
    "--name=n --rw=write --size=256k --bs=4k --number_ios=10 --verify=md5",
    "--name=b --rw=write --size=256k --bs=4k --verify=meta --verify_backlog=8",
    "--filename=c --size=64k --numjobs=2 --name=a --rw=write",
    "--name=d --directory=q1:q2 --numjobs=3 --size=64k --rw=write",
    "-name=a -ioengine null -size 1m --numjob=2",
    "--name=t --ioengine=null --rw=randtrim --size=1m --iodepth=8",
    "--name=t --ioengine=null --rw=trimwrite --size=16k",
    "--name=t --ioengine=null --rw=randtrimwrite --bs=4k,4k,8k --size=64k --number_ios=3",
    "--name=t --ioengine=null --rw=trim --bs=4k,4k,16k --size=64k --io_size=128k",
    "--name=q --rw=write --size=256k --bs=4k --ioengine=libaio --iodepth=8 --iodepth_batch_complete=4",
    "--name=q --rw=randread --size=256k --bs=4k --ioengine=libaio --iodepth=8 --direct=1 --iodepth_batch_complete=0 --iodepth_low=2",
    "--name=q --rw=write --size=64k --bs=4k --ioengine=io_uring --iodepth=8 --thinktime=1ms --thinktime_blocks=4",
];

const FILES: [(&str, &str); 6] = [
    ("two.fio", "[global]\nrw=randread\nsize=128m\nioengine=null\n[job1]\n[job2]\n"),
    ("g.fio", "[g1]\n[g2]\nbs=16k ; a comment\n"),
    ("vars.fio", "[a]\nioengine=null\nsize=${SZ}\nbs=${UNSET}4k\n"),
    ("ncpus.fio", "[a]\nioengine=null\nsize=2*$ncpus\nbs=1\n"),
    ("groups.fio", "[global]\nioengine=null\nsize=1m\n[a]\n[b]\nstonewall\n[c]\n[d]\nnew_group\n"),
    (
        "reporting.fio",
        "[global]\nioengine=null\nsize=1m\nnumjobs=2\ngroup_reporting\n[a]\n[b]\n[c]\nstonewall\n",
    ),
];

#[test]
fn the_same_is_done() {
    if !fio_is_here("the_same_is_done") {
        return;
    }
    let (ours, theirs) = (TestDir::new(), TestDir::new());
    for dir in [&ours, &theirs] {
        for (name, text) in FILES {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        for name in ["q1", "q2"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
    }
    let fathom = Fathom::new().working_in(ours.path()).env("SZ", "2m");
    let mut different = Vec::new();
    for line in SAME {
        let (a, b) = (done(&json(&fathom, line)), done(&their_json(theirs.path(), line)));
        if a != b {
            different.push(format!("{line}\n  ours   {a:?}\n  theirs {b:?}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    let named = |dir: &TestDir| {
        let mut names: Vec<String> = Vec::new();
        for below in ["", "q1", "q2"] {
            let entries = std::fs::read_dir(dir.path().join(below)).unwrap().flatten();
            let files = entries.filter(|e| e.path().is_file());
            names.extend(files.map(|e| {
                format!("{below}/{} {}", e.file_name().to_string_lossy(), e.metadata().unwrap().len())
            }));
        }
        // fio keeps how far a verification came; we do not.
        names.retain(|n| !n.contains("verify.state") && !n.contains("local-"));
        names.sort();
        names
    };
    assert_eq!(named(&ours), named(&theirs), "the files that are left");
}

/// Every key with its type, in order.
fn shape(value: &Value, path: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                // Options and devices name themselves; bins and percentiles have numbers for keys.
                if key == "job options" || key == "global options" || key == "fathom" || key == "disk_util" {
                    continue;
                }
                shape(value, &format!("{path}.{key}"), out);
            }
        }
        Value::Array(list) => list.iter().for_each(|v| shape(v, path, out)),
        Value::Number(n) => out.push(format!("{path} {}", if n.is_f64() { "float" } else { "int" })),
        Value::String(_) => out.push(format!("{path} text")),
        Value::Bool(_) | Value::Null => out.push(format!("{path} other")),
    }
}

#[test]
fn json_has_the_same_keys_and_types() {
    if !fio_is_here("json_has_the_same_keys_and_types") {
        return;
    }
    let (ours, theirs) = (TestDir::new(), TestDir::new());
    let fathom = Fathom::new().working_in(ours.path()).env("FATHOM_FIO_VERSION", DEBIANS);
    let line = "--name=a --rw=randrw --size=1m --fsync=16 --description=x";
    let shapes = [json(&fathom, line), their_json(theirs.path(), line)].map(|document| {
        let mut out = Vec::new();
        shape(&document, "", &mut out);
        // The sync latencies of 3.33 have percentiles where there are syncs; order of keys is the parser's.
        out.sort();
        out
    });
    assert_eq!(shapes[0], shapes[1]);
}

#[test]
fn terse_lines_have_as_many_fields() {
    if !fio_is_here("terse_lines_have_as_many_fields") {
        return;
    }
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    for version in 2..=5 {
        let line =
            format!("--minimal --terse-version={version} --name=a --ioengine=null --size=1m --disk_util=0");
        let ours = run(&fathom, &line).expect_code(0).stdout;
        let theirs = String::from_utf8(theirs(dir.path(), &line).stdout).unwrap();
        assert_eq!(
            ours.trim().split(';').count(),
            theirs.trim().split(';').count(),
            "{version}:\n{ours}{theirs}"
        );
    }
}

#[test]
fn errors_end_with_the_same_code() {
    if !fio_is_here("errors_end_with_the_same_code") {
        return;
    }
    let dir = TestDir::new();
    std::fs::write(dir.path().join("before.fio"), "rw=read\n[a]\nsize=1m\n").unwrap();
    let fathom = Fathom::new().working_in(dir.path());
    for line in [
        "--name=a --size=1m --rww=read",
        "--name=a --size=1m --rw=raed",
        "--name=a --rw=read",
        "before.fio",
        "missing.fio",
        "--name=a --size=1m --readonly --rw=write",
        "--name=a --size=1m --rate=1m --rate_iops=5",
        "--name=a --size=1m --direct=yes",
    ] {
        let theirs = theirs(dir.path(), line);
        assert_eq!(theirs.status.code(), Some(1), "{line}");
        let ours = run(&fathom, line).expect_code(1);
        assert_eq!(ours.stdout, "", "{line}");
    }
}
