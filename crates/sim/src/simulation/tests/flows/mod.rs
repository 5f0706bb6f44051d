//! Flows through all layers: rows and totals, positions of transfers, names, their effect on journal and device, and refused features.
//! `data` covers contents of files; `together` covers waiting for each other, limits and ends.

mod data;
mod together;

use super::*;
use fathom_record::{Row, Worker};

/// A workload of one phase: sets, then threads as (instances, flow) in one group of `processes` processes.
fn flows(sets: &str, phase: &str, processes: u32, threads: &[(u32, &str)]) -> Workload {
    let mut text = format!(
        "name = \"t\"\nseed = \"0x1\"\n{sets}\n[[phase]]\nname = \"p\"\n{phase}\n[[phase.group]]\nname = \"g\"\n\
         isolation = \"process\"\ninstances = {processes}\n"
    );
    for (instances, flow) in threads {
        text += &format!(
            "[[phase.group.thread]]\ninstances = {instances}\n[phase.group.thread.program.flow]\n{flow}\n"
        );
    }
    Workload::from_toml(&text).unwrap_or_else(|e| panic!("{e}"))
}

/// `count` files f0, f1, ... of `kib` KiB each.
fn files(count: u32, kib: u32) -> String {
    format!(
        "[[fileset]]\nname = \"f\"\nfiles = {{ numbered = {{ prefix = \"f\", count = {count} }} }}\nsize = {{ fixed = \"{kib}KiB\" }}"
    )
}

/// A tree of `entries` files of 16 KiB, of which `percent` percent exist at first, and `leaves` leaf directories in another tree.
fn trees(entries: u32, percent: u32, leaves: u32) -> String {
    format!(
        "[[fileset]]\nname = \"t\"\nfiles = {{ tree = {{ root = \"t\", entries = {entries}, width = {{ fixed = \"5\" }} }} }}\n\
         size = {{ fixed = \"16KiB\" }}\npreallocated_percent = {percent}\n\
         [[fileset]]\nname = \"d\"\nfiles = {{ tree = {{ root = \"d\", entries = 0, leaf_directories = {leaves}, width = {{ fixed = \"5\" }} }} }}\n\
         preallocated_percent = 0"
    )
}

fn op(name: &str, act: &str, more: &str) -> String {
    format!("{{ name = \"{name}\", act = \"{act}\", {more} }}")
}

fn flow(loops: u32, ops: &[String]) -> String {
    format!("loops = {loops}\nop = [{}]", ops.join(", "))
}

fn endless(ops: &[String]) -> String {
    format!("op = [{}]", ops.join(", "))
}

/// A row summed over all workers.
fn row(r: &Repetition, name: &str) -> Row {
    let mut sum: Option<Row> = None;
    for row in r.workers.iter().flat_map(|w| &w.rows).filter(|row| row.name == name) {
        match &mut sum {
            Some(sum) => sum.add(row),
            None => sum = Some(row.clone()),
        }
    }
    sum.unwrap_or_else(|| panic!("there is no row {name}"))
}

fn counts(r: &Repetition, name: &str) -> (u64, u64) {
    let row = row(r, name);
    assert_eq!(row.latency.count(), row.ops, "{name}: each is in the histogram");
    (row.ops, row.bytes)
}

fn only_worker(r: &Repetition) -> &Worker {
    assert_eq!(r.workers.len(), 1);
    &r.workers[0]
}

fn first(out: &Simulated) -> &Repetition {
    let r = only(out);
    assert!(r.error().is_none(), "{:?}", r.error());
    r
}

const SLOT: &str = "fileset = \"f\"";

#[test]
fn an_implicit_open_is_one_more_operation_and_a_file_is_begun_again_behind_its_end() {
    let read = op("r", "read", &format!("{SLOT}, size = 4096"));
    for host in [NEW, OLD, "today"] {
        let out =
            run(&flows(&files(1, 64), "", 1, &[(1, &flow(17, std::slice::from_ref(&read)))]), setup(host));
        let r = first(&out);
        // 16 reads to the end of the file, one that finds the end, and the open.
        assert_eq!(counts(r, "r"), (18, 64 << 10), "{host}");
        let w = only_worker(r);
        assert_eq!((w.ops, w.bytes, &w.ending), (18, 64 << 10, &Ending::Completed));
        let kinds: Vec<_> = w.stats.iter().map(|s| (s.op, s.ops)).collect();
        assert_eq!(kinds, [(OpKind::Read, 18)]);
        assert!(w.elapsed_ns > 0 && r.ops() == 18);
    }
}

#[test]
fn processes_and_threads_have_rows_alike() {
    let ops = [
        op("o", "open", SLOT),
        op("r", "read", &format!("{SLOT}, size = 4096, repeat = 3")),
        op("c", "close", SLOT),
    ];
    let out = run(&flows(&files(5, 64), "", 2, &[(3, &flow(4, &ops))]), setup(NEW));
    let r = first(&out);
    assert_eq!(r.workers.len(), 6);
    assert_eq!([counts(r, "o"), counts(r, "r"), counts(r, "c")], [(24, 0), (72, 72 * 4096), (24, 0)]);
    for w in &r.workers {
        let kinds: Vec<_> = w.stats.iter().map(|s| (s.op, s.ops)).collect();
        assert_eq!(kinds, [(OpKind::Read, 12), (OpKind::Open, 4), (OpKind::Close, 4)]);
        assert_eq!((w.ops, w.bytes), (20, 12 * 4096));
    }
}

#[test]
fn whole_files_and_appends_are_exact_and_files_grow() {
    let ops = [
        op("rw", "read-whole-file", &format!("{SLOT}, size = \"30KiB\"")),
        op("ww", "write-whole-file", &format!("{SLOT}, size = \"64KiB\"")),
        op("a", "append", &format!("{SLOT}, size = 10000, repeat = 50")),
        op("s", "sync", SLOT),
        op("again", "read-whole-file", &format!("{SLOT}, size = \"1MiB\"")),
    ];
    for host in [NEW, OLD, "today"] {
        let out = run(&flows(&files(1, 100), "", 1, &[(1, &flow(1, &ops))]), setup(host));
        let r = first(&out);
        // The whole write continues after what was read.
        let grown = (200 << 10) + 500_000;
        assert_eq!([counts(r, "rw"), counts(r, "ww")], [(2, 100 << 10), (1, 100 << 10)], "{host}");
        assert_eq!([counts(r, "a"), counts(r, "s"), counts(r, "again")], [(50, 500_000), (1, 0), (1, grown)]);
        let after = r.resident_after.unwrap();
        assert_eq!((after.total_pages, after.dirty_pages), (grown.div_ceil(4096), 0), "{host}");
        assert!(r.physical.devices[0].write_bytes >= grown - (100 << 10), "{host}");
    }
}

#[test]
fn files_come_and_go() {
    let set = "fileset = \"t\", slot = 1";
    let ops = [
        op("c", "create", set),
        op("w", "write-whole-file", "slot = 1"),
        op("x", "close", "slot = 1"),
        op("s", "stat", "fileset = \"t\""),
        op("d", "delete", set),
        op("l", "list-directory", "fileset = \"t\""),
        op("m", "make-directory", "fileset = \"d\""),
        op("r", "remove-directory", "fileset = \"d\""),
    ];
    for host in [NEW, "today"] {
        let out = run(&flows(&trees(40, 50, 10), "", 1, &[(2, &flow(30, &ops))]), setup(host));
        let r = first(&out);
        for name in ["c", "x", "s", "d", "m", "r"] {
            assert_eq!(counts(r, name), (60, 0), "{host}: {name}");
        }
        assert_eq!(counts(r, "w"), (60, 60 * 16384));
        let (listings, bytes) = counts(r, "l");
        assert!(listings == 60 && bytes >= 60 * (3 + 2 * 279), "{host}: {bytes}");
        let kinds: Vec<_> = r.workers[0].stats.iter().map(|s| s.op).collect();
        assert_eq!(kinds, [OpKind::Write, OpKind::Open, OpKind::Close, OpKind::Stat, OpKind::Delete]);
        // Data removed before write-back never reaches the device.
        assert_eq!(r.resident_after.unwrap().dirty_pages, 0, "{host}");
    }
}

#[test]
fn a_set_without_files_left_ends_the_phase_as_it_says() {
    let ops = [op("d", "delete", "fileset = \"t\"")];
    let ended = |rule: &str| {
        let out = run(&flows(&trees(20, 100, 0), rule, 1, &[(2, &endless(&ops))]), setup("today"));
        only(&out).clone()
    };
    let early = ended("");
    let error = early.error().unwrap();
    assert!(error.message.contains("operation d: no file is left in t"), "{}", error.message);
    for rule in ["stop = { exhausted = \"phase\" }", "stop = { exhausted = \"worker\" }"] {
        let r = ended(rule);
        assert!(r.error().is_none(), "{rule}");
        assert_eq!(counts(&r, "d"), (20, 0), "{rule}");
    }
}

#[test]
fn the_journal_gets_what_names_change() {
    let ops = [
        op("c", "create", "fileset = \"t\", slot = 1"),
        op("s", "sync", "slot = 1"),
        op("x", "close", "slot = 1"),
    ];
    let out = run(&flows(&trees(40, 0, 0), "", 1, &[(1, &flow(10, &ops))]), setup(NEW));
    first(&out);
    let c = out.inside.counts;
    // Each commit: the inodes of the file and of its directory, in two blocks; the directory's block; a descriptor, and the commit block.
    assert_eq!((c.fsyncs, c.commits, c.empty_commits), (10, 10, 0));
    assert_eq!(c.journal_blocks, 10 * 5);
}

#[test]
fn o_sync_waits_for_the_device_and_memory_does_not() {
    let write = |more: &str| {
        let ops = [op("w", "write", &format!("{SLOT}, size = 4096, random = true{more}"))];
        let out = run(&flows(&files(1, 1024), "", 1, &[(1, &flow(20, &ops))]), setup("today"));
        row(first(&out), "w").latency.sum_ns()
    };
    assert!(write(", sync = true") > 20 * 10 * u128::from(MS));
    assert!(write("") < u128::from(MS));
}

#[test]
fn the_same_inputs_give_the_same_bytes_of_flows_too() {
    let ops = [
        op("c", "create", "fileset = \"t\", slot = 1"),
        op("w", "append-random-length", "slot = 1, size = 20000, repeat = 3"),
        op("x", "close", "slot = 1"),
        op("r", "read-whole-file", "fileset = \"t\", slot = 2"),
        op("y", "close", "slot = 2"),
        op("d", "delete", "fileset = \"t\""),
        op("l", "limit-events", ""),
    ];
    let w =
        flows(&trees(60, 50, 0), "events_per_s = 200.0\nstop = { time = \"3s\" }", 2, &[(3, &endless(&ops))]);
    let text = |w: &Workload| format!("{:?}", simulate_noting(w, setup(NEW), 1 << 16).unwrap());
    let one = text(&w);
    assert!((0..3).all(|_| text(&w) == one));
    let mut other = w;
    other.seed.0 = 7;
    assert_ne!(text(&other), one);
}

#[test]
fn a_second_repetition_finds_the_files_made_again() {
    let ops = [op("d", "delete", "fileset = \"t\"")];
    let mut w = flows(&trees(20, 100, 0), "before = [{ prepare = \"t\" }]", 1, &[(1, &flow(15, &ops))]);
    w.repetitions = 3;
    let out = run(&w, setup("today"));
    assert_eq!(out.phases[0].len(), 3);
    assert!(out.phases[0].iter().all(|r| r.error().is_none() && counts(r, "d") == (15, 0)));
}

#[test]
fn a_share_of_numbered_files_is_there_as_the_engine_makes_it() {
    let sets = format!("{}\npreallocated_percent = 30", files(10, 64));
    let ops = [op("o", "open", &format!("{SLOT}, slot = 1")), op("c", "close", "slot = 1")];
    let w = flows(&sets, "", 1, &[(1, &flow(4, &ops))]);
    let (_, noted) = simulate_noting(&w, setup("today"), 99).unwrap();
    let opened: Vec<u32> = noted.iter().filter(|c| c.op == OpKind::Open).map(|c| c.file).collect();
    assert_eq!(opened, [3, 6, 9, 3]);
}

#[test]
fn a_full_device_is_an_error_of_the_operation() {
    let ops = [op("a", "append", &format!("{SLOT}, size = \"4MiB\""))];
    let mut s = setup("today");
    // Space for 16 MiB after the start of the data area.
    s.device = Box::new(Constant::new((1024 + 16) * 2048, 1, MS, 40_000_000));
    let out = run(&flows(&files(1, 64), "", 1, &[(1, &endless(&ops))]), s);
    let error = only(&out).error().unwrap();
    assert!(error.message.contains("operation a: the simulated device is full"), "{}", error.message);
    assert!((1..=4).contains(&counts(only(&out), "a").1.div_ceil(4 << 20)));
}

#[test]
fn flows_too_large_or_unsupported_are_refused_before_allocation() {
    let refused = |sets: &str, ops: &str| {
        let w = flows(sets, "", 1, &[(1, ops)]);
        simulate(&w, setup("today")).unwrap_err().to_string()
    };
    let tree = |entries: &str, size: &str| {
        format!(
            "[[fileset]]\nname = \"f\"\nfiles = {{ tree = {{ root = \"t\", entries = {entries}, width = {{ fixed = \"5\" }} }} }}\nsize = {{ fixed = \"{size}\" }}"
        )
    };
    let read = endless(&[op("r", "read", &format!("{SLOT}, size = 4096"))]);
    let why = refused(&tree("1000000000000", "1KiB"), &read);
    assert!(why.contains("choose"), "{why}");
    let why = refused(&tree("5000000", "1KiB"), &read);
    assert!(why.contains("5000000 files and leaf directories") && why.contains("choose fewer"), "{why}");
    let why = refused(&tree("3", "1000000000000000000"), &read);
    assert!(why.contains("choose a larger device"), "{why}");
    let many = |ops: &[String]| {
        let w = flows(&files(1, 64), "", 1, &[(60_000, &endless(ops))]);
        simulate(&w, setup("today")).unwrap_err().to_string()
    };
    let write = op("w", "async-write", &format!("{SLOT}, size = 4096, random = true"));
    let why = many(&[write]);
    assert!(why.contains("for 15360000 asynchronous writers"), "{why}");
    let read = |n| op(&format!("r{n}"), "read", &format!("{SLOT}, size = 4096"));
    let why = many(&[read(1), read(2)]);
    assert!(why.contains("for 120000 rows"), "{why}");
    let why = refused(&files(1, 64), &endless(&[op("r", "read", "size = 4096")]));
    assert!(why.contains("operation r: it needs a file set"), "{why}");
}

#[test]
fn endless_operations_without_cost_end_with_the_phase() {
    let many = "repeat = 1000000000000";
    for op in
        [op("d", "draw", &format!("value = 10, {many}")), op("s", "say", &format!("text = \"x\", {many}"))]
    {
        let out = run(&flows("", "stop = { time = \"1ms\" }", 1, &[(1, &endless(&[op]))]), setup("today"));
        assert_eq!(first(&out).elapsed_ns, 1_000_000);
    }
}

#[test]
fn a_thread_that_counts_nothing_leaves_the_warm_up() {
    let phase = "ramp = \"1ms\"\nstop = { time = \"5ms\" }";
    let holds = endless(&[op("o", "open", "fileset = \"f\", slot = 1"), op("w", "delay", "value = 1")]);
    let deletes = endless(&[op("x", "delete", "fileset = \"f\"")]);
    let out = run(&flows(&files(1, 64), phase, 1, &[(1, &holds), (1, &deletes)]), setup("today"));
    assert!(only(&out).elapsed_ns >= 5_000_000);
}

#[test]
fn settings_without_effect_are_noted_and_messages_are_recorded() {
    let mut w = flows(
        "",
        "",
        1,
        &[(1, &flow(2, &[op("e", "say", "text = \"hello\""), op("s", "spin", "value = 10")]))],
    );
    w.phases[0].groups[0].nice = 5;
    w.phases[0].groups[0].threads[0].io_priority = Some(0);
    let out = run(&w, setup("today"));
    assert_eq!(out.inside.said, ["hello", "hello"]);
    assert_eq!(out.inside.notes.len(), 2);
}
