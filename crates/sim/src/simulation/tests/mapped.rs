//! Mapped files: a page faults once, triggers read-around, and faults again after eviction or a flush.

use super::*;

fn mapped(phase: &str, stream: &str, readahead: &str) -> Simulated {
    let setup = Setup { readahead: readahead.into(), ..setup("today") };
    run(&workload(1, 1, phase, stream), setup)
}

fn stream(direction: &str, mmap: &str, rest: &str) -> String {
    format!(
        "direction = \"{direction}\"\nrecord = {{ fixed = \"4KiB\" }}\nbackend = {{ mmap = {{ {mmap} }} }}\n{rest}"
    )
}

/// Faults, and the device's reads.
fn faults(out: &Simulated) -> (u64, u64, u64) {
    let device = &only(out).physical.devices[0];
    (out.inside.counts.pages_asked, device.read_ios, device.read_bytes)
}

#[test]
fn every_page_faults_once_and_is_read_once() {
    let out = mapped("cache = \"cold\"", &stream("read", "", "amount = { passes = 2 }"), "modern");
    let (asked, requests, bytes) = faults(&out);
    assert_eq!((only(&out).ops(), only(&out).workers[0].bytes), (2 * 2048, 2 * 2048 * 4096));
    assert_eq!((asked, bytes), (2048, 2048 * 4096));
    // Read around faults, 128 KiB at a time.
    assert!(requests <= 2048 / 16, "{requests}");
    let alone = mapped("cache = \"cold\"", &stream("read", "", "length = \"1MiB\""), "none");
    assert_eq!(faults(&alone), (256, 256, 1 << 20));
    let random = mapped("cache = \"cold\"", &stream("read", "advice = 1", "length = \"1MiB\""), "modern");
    assert_eq!(faults(&random), (256, 256, 1 << 20));
}

#[test]
fn a_mapping_advised_to_be_sequential_is_read_ahead_of_as_by_calls() {
    let read = |stream: &str| {
        let (asked, _, bytes) = faults(&mapped("cache = \"cold\"", stream, "modern"));
        (asked, bytes)
    };
    let by_calls = read("direction = \"read\"\nrecord = { fixed = \"4KiB\" }\nlength = \"100KiB\"");
    assert_eq!(by_calls.0, 25);
    assert_eq!(read(&stream("read", "advice = 2", "length = \"100KiB\"")), by_calls);
}

#[test]
fn mapped_pages_cost_no_fault() {
    let elapsed = |rest: &str| {
        let out = mapped("cache = \"warm\"", &stream("read", "", rest), "modern");
        assert_eq!(faults(&out).1, 0);
        only(&out).workers[0].elapsed_ns
    };
    let (one, two) = (elapsed(""), elapsed("amount = { passes = 2 }"));
    assert!(two > one && two - one < one, "{one} {two}");
    let out = mapped("cache = \"warm\"", &stream("read", "populate = true", ""), "modern");
    // The page table is filled before the clock starts.
    assert!(only(&out).workers[0].elapsed_ns < one);
}

#[test]
fn memory_takes_pages_out_of_the_page_table() {
    for readahead in ["none", "modern"] {
        let mut s = Setup { readahead: readahead.into(), ..setup("today") };
        s.host.memory.cache_mib.value = 4;
        let out = run(&workload(1, 1, "cache = \"cold\"", &stream("read", "", "amount = { passes = 2 }")), s);
        // Twice as many pages as fit in memory, in order: the second pass faults again.
        assert!(faults(&out).0 > 2048 + 1024, "{readahead}: {:?}", faults(&out));
    }
}

#[test]
fn a_page_is_read_before_it_is_written_to_unless_it_is_new() {
    let written = |rest: &str| {
        let stream = stream("write", "", &format!("amount = {{ operations = 64 }}\n{rest}"));
        let out = mapped("cache = \"cold\"", &stream, "none");
        (faults(&out).2, only(&out).resident_after.unwrap().dirty_pages)
    };
    assert_eq!(written(""), (64 * 4096, 64));
    assert_eq!(written("open = { truncate = true }"), (0, 64));
    assert_eq!(written("timed = { fsync = true }"), (64 * 4096, 0));
}

#[test]
fn a_flushed_page_faults_again_when_it_is_written_to() {
    let same = |mmap: &str| {
        let stream = stream("write", mmap, "access = { same = 3 }\namount = { operations = 6 }");
        let out = mapped("cache = \"warm\"", &stream, "none");
        (out.inside.counts.pages_asked, out.inside.counts.fsyncs)
    };
    assert_eq!(same(""), (1, 0));
    assert_eq!(same("flush = \"async\""), (1, 0));
    assert_eq!(same("flush = \"sync\""), (6, 6));
    // The remainder is flushed before the file is closed.
    assert_eq!(same("flush = \"sync\", flush_every = 4"), (2, 2));
}

#[test]
fn a_file_that_is_too_short_to_be_mapped_fails() {
    let out = mapped("", &stream("read", "", "length = \"9MiB\""), "none");
    let error = only(&out).error().unwrap();
    assert_eq!(error.offset, Some(8 << 20));
}
