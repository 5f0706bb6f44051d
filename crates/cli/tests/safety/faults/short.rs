//! Transfers that fall short without an error. (D16 of the reliability review.)

use crate::measure::workloads::{Text, lines_with};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Call, Fathom, Fault, FaultFs, Outcome};
use std::fs;

/// Every back-end that moves data by calls, those that can with many in flight, too.
const BACKENDS: [(&str, &str); 10] = [
    ("pread", "backend = { psync = \"pread\" }"),
    ("read", "backend = { psync = \"read\" }"),
    ("pvsync2", "backend = { pvsync2 = {} }"),
    ("stdio", "backend = { stdio = {} }"),
    // Without O_DIRECT the kernel reads whole pages for a pipe and takes a short answer for the end of the file.
    ("splice", "backend = \"splice\"\nopen = { direct = true }"),
    ("uring", "backend = { uring = {} }"),
    ("uring, direct", "backend = { uring = {} }\nqueue_depth = 4\nopen = { direct = true }"),
    ("aio", "backend = { aio = {} }\nopen = { direct = true }"),
    ("aio, deep", "backend = { aio = {} }\nqueue_depth = 4\nopen = { direct = true }"),
    ("posix", "backend = \"posix\"\nqueue_depth = 2"),
];

/// Every eight bytes say where they belong.
const POSITIONED: &str = "{ positioned = { tag = 7 } }";

/// Whether io_uring can be had here is not what is asked.
fn is_refused(outcome: &Outcome) -> bool {
    outcome.code != Some(0) && outcome.stderr.contains("io_uring")
}

/// Writes four records and reads them back with all bytes checked; the file stays.
fn workload(fathom: &Fathom, fs: &FaultFs, data: &str, backend: &str) -> String {
    let stream = format!("record = {{ fixed = \"64KiB\" }}\ndata = {data}\n{backend}");
    let check = format!("verify = \"full\"\n{stream}");
    let text = Text::new("short")
        .file("data", &fs.path().join("data"), "256KiB", "keep = true")
        .phase("write", "data", "write", "before = [{ recreate = \"data\" }]", &stream)
        .phase("read", "data", "read", "", &check);
    // The C library's threads are inherited by no process.
    let isolation = if backend.contains("posix") { "thread" } else { "process" };
    let path = text.save(fathom);
    let text = text.toml().replace("isolation = \"process\"", &format!("isolation = {isolation:?}"));
    fs::write(&path, text).expect("written before");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn d16_short_transfers_go_on_with_every_backend() {
    let Some(fs) = FaultFs::mount("d16_short_transfers_go_on_with_every_backend") else { return };
    let fathom = Fathom::new();
    let data = fs.path().join("data");
    let mut whole = Vec::new();
    // io_uring goes on by itself when a file falls short, and some kernels then move the rest of a file of FUSE from or to a wrong place.
    for (name, backend) in BACKENDS.into_iter().filter(|(name, _)| !name.starts_with("uring")) {
        println!("back-end {name}");
        let line = workload(&fathom, &fs, POSITIONED, backend);
        let _ = fathom.run(["run", &line]).expect_code(0);
        let healthy = fs::read(&data).expect("kept");
        // What each back-end writes is the same.
        if whole.is_empty() {
            whole = healthy.clone();
        }
        assert!(healthy == whole && healthy.len() == 256 << 10, "{name}");
        fs::write(&data, "").expect("emptied");
        for call in [Call::Write, Call::Read] {
            let before = fs.hits(call);
            fs.fail(call, Fault::Short);
            let outcome = fathom.run(["run", &line]);
            fs.heal();
            let _ = outcome.expect_code(0);
            assert!(fs.hits(call) > before, "{name}: no {call:?} was short");
            assert!(fs::read(&data).expect("kept") == whole, "{name}: what a short {call:?} left");
        }
    }
    fs::remove_file(&data).expect("it is there");
}

#[test]
fn d16_a_transfer_of_nothing_is_one_clear_error_with_every_backend() {
    let name = "d16_a_transfer_of_nothing_is_one_clear_error_with_every_backend";
    let Some(fs) = FaultFs::mount(name) else { return };
    for (call, words) in
        [(Call::Write, "accepted only 0 of 65536 bytes"), (Call::Read, "only 0 of 65536 bytes could be read")]
    {
        for (name, backend) in BACKENDS {
            // The C library tries such a write again without end.
            if (call, name) == (Call::Write, "stdio") {
                continue;
            }
            println!("back-end {name}, {call:?}");
            let fathom = Fathom::new();
            let line = workload(&fathom, &fs, POSITIONED, backend);
            fs.fail(call, Fault::Zero);
            let outcome = fathom.run(["run", &line]);
            fs.heal();
            if is_refused(&outcome) {
                continue;
            }
            let outcome = outcome.expect_code(3);
            let errors = lines_with(&outcome.stderr, "error:");
            assert_eq!(errors.len(), 1, "{outcome:?}");
            // io_uring reports a write of 0 bytes as a different error.
            let by_ring = name.starts_with("uring") && errors[0].contains("cannot write");
            assert!(errors[0].contains("data") && (by_ring || errors[0].contains(words)), "{}", errors[0]);
            for left in names_in(fs.path()) {
                fs::remove_file(fs.path().join(left)).expect("a file");
            }
        }
    }
}

#[test]
fn d16_the_rest_of_a_short_transfer_is_of_the_same_record() {
    let name = "d16_the_rest_of_a_short_transfer_is_of_the_same_record";
    let Some(fs) = FaultFs::mount(name) else { return };
    // Each record comes from another place of the pool, and goes to another one of the buffer.
    let data = "{ checksummed = { block = \"64KiB\" } }\nbuffer_area = \"512KiB\"";
    for (name, backend) in BACKENDS.into_iter().filter(|(name, _)| !name.starts_with("uring")) {
        for call in [Call::Write, Call::Read] {
            println!("back-end {name}, {call:?}");
            let fathom = Fathom::new();
            let line = workload(&fathom, &fs, data, backend);
            fs.fail(call, Fault::Short);
            let outcome = fathom.run(["run", &line]);
            fs.heal();
            let _ = outcome.expect_code(0);
            fs::remove_file(fs.path().join("data")).expect("kept");
        }
    }
}
