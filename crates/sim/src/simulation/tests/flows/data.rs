//! Contents of files: holes, remains of a removed file, what a cache warm-up finds.

use super::*;

/// A device with `mib` MiB after the start of the data area.
fn small_device(host: &str, mib: u64) -> Setup {
    let s = setup(host);
    let sectors = (s.host.filesystem.data_mib.get() + mib) * 2048;
    Setup { device: Box::new(Constant::new(sectors, 1, MS, 40_000_000)), ..s }
}

/// Operations on a tree of one file that does not exist at first.
fn on_one_file(ops: &[String]) -> Simulated {
    run(&flows(&trees(1, 0, 0), "", 1, &[(1, &flow(1, ops))]), setup("today"))
}

fn on_slot(slot: u32, name: &str, act: &str, more: &str) -> String {
    op(name, act, &format!("fileset = \"t\", slot = {slot}, size = \"1MiB\"{more}"))
}

#[test]
fn a_file_that_is_made_again_is_empty() {
    let ops = [
        on_slot(1, "c", "create", ""),
        op("a", "append", "slot = 1, size = 20000"),
        on_slot(1, "d", "delete", ""),
        op("late", "append", "slot = 1, size = 5000"),
        on_slot(1, "old", "read-whole-file", ""),
        on_slot(1, "x", "close", ""),
        on_slot(1, "again", "create", ""),
        on_slot(1, "new", "read-whole-file", ""),
    ];
    let out = on_one_file(&ops);
    let r = first(&out);
    assert_eq!(counts(r, "old"), (1, 25_000), "who has it open still has it");
    assert_eq!(counts(r, "new"), (1, 0));
    assert_eq!(r.resident_after.unwrap().total_pages, 0);
}

#[test]
fn a_file_that_is_made_again_is_another_one_than_that_which_is_open() {
    let ops = [
        on_slot(1, "c", "create", ""),
        op("a", "append", "slot = 1, size = 20000"),
        on_slot(1, "d", "delete", ""),
        on_slot(2, "again", "create", ""),
        op("late", "append", "slot = 1, size = 5000"),
        op("s", "sync", "slot = 1"),
        on_slot(2, "new", "read-whole-file", ""),
        on_slot(1, "x", "close", ""),
        op("b", "append", "slot = 2, size = 300"),
        op("w", "write", "slot = 2, size = 100"),
        on_slot(2, "more", "read-whole-file", ""),
    ];
    let out = on_one_file(&ops);
    let r = first(&out);
    assert_eq!([counts(r, "new"), counts(r, "more")], [(1, 0), (1, 400)]);
}

#[test]
fn writes_in_flight_do_not_reach_a_file_that_is_made_again() {
    let write = on_slot(1, "w", "async-write", ", random = true, working_set = \"8MiB\", repeat = 20");
    let ops = [
        on_slot(1, "c", "create", ""),
        write,
        on_slot(1, "d", "delete", ""),
        on_slot(1, "x", "close", ""),
        on_slot(1, "again", "create", ""),
        op("l", "async-wait", ""),
        on_slot(1, "new", "read-whole-file", ""),
    ];
    let out = on_one_file(&ops);
    assert_eq!(counts(first(&out), "new"), (1, 0));
}

#[test]
fn warming_finds_files_as_they_are() {
    let two = |before: &[String], after: &str| {
        let mut w = flows(&trees(4, 100, 0), "", 1, &[(1, &flow(4, before))]);
        let second = flows(
            &trees(4, 100, 0),
            "before = [{ warm = \"t\" }]",
            1,
            &[(1, &flow(4, &[after.to_string()]))],
        );
        w.phases.extend(second.phases);
        w.phases[1].name = "q".into();
        run(&w, setup("today")).phases[1][0].clone()
    };
    let read = op("r", "read-whole-file", "fileset = \"t\", rotate = true");
    let grown = two(&[op("a", "append", "fileset = \"t\", size = 4096, rotate = true")], &read);
    assert_eq!((counts(&grown, "r").1, grown.physical.devices[0].read_bytes), (4 * 20_480, 0));
    let gone = two(&[op("d", "delete", "fileset = \"t\"")], &read);
    let error = gone.error().unwrap();
    assert!(error.message.contains("no file is left in t"), "{}", error.message);
}

#[test]
fn a_sparse_write_takes_room_for_what_is_written() {
    let ops = [op("w", "write", &format!("{SLOT}, size = 4096, random = true, working_set = \"4GiB\""))];
    for host in [NEW, OLD, "today"] {
        // Every write may need an indirect block.
        let out = run(&flows(&files(1, 64), "", 1, &[(1, &flow(500, &ops))]), small_device(host, 16));
        assert_eq!(counts(first(&out), "w"), (501, 500 * 4096), "{host}");
    }
    let far = [op("w", "write", &format!("{SLOT}, size = 4096, random = true, positions = [\"8TiB\"]"))];
    let out = run(&flows(&files(1, 64), "", 1, &[(1, &flow(1, &far))]), setup("today"));
    let error = only(&out).error().unwrap();
    assert!(error.message.contains("choose a smaller working set"), "{}", error.message);

    let stream = "start = \"1GiB\"\nlength = \"64KiB\"\ndirection = \"write\"\nrecord = { fixed = \"4KiB\" }";
    let out = run(&workload(1, 1, "", stream), small_device("today", 16));
    assert_eq!(first(&out).bytes(), 65_536);
}

#[test]
fn a_hole_is_not_read() {
    for host in [NEW, OLD, "today"] {
        for direct in [false, true] {
            let how = format!("{SLOT}, slot = 1, direct = {direct}");
            let ops = [
                op("o", "open", &how),
                op("w", "write", "slot = 1, size = 4096, random = true, positions = [\"8MiB\"]"),
                op("s", "sync", "slot = 1"),
                op("part", "write", "slot = 1, size = 512, random = true, positions = [\"6MiB\"]"),
                op("r", "read-whole-file", "slot = 1, size = \"256KiB\""),
            ];
            let s = Setup { indirect_in_memory: true, ..setup(host) };
            let out = run(&flows(&files(1, 64), "cache = \"cold\"", 1, &[(1, &flow(1, &ops))]), s);
            let r = first(&out);
            assert_eq!(counts(r, "r"), (1, (8 << 20) + 4096), "{host}");
            let written = if direct { 2 * 4096 } else { 0 };
            assert_eq!(r.physical.devices[0].read_bytes, (64 << 10) + written, "{host}, direct: {direct}");
        }
    }
}

#[test]
fn a_file_opened_without_read_ahead_is_read_as_far_as_it_is_asked_for() {
    let read = |more: &str| {
        let ops = [op("r", "read", &format!("{SLOT}, size = 65536{more}"))];
        let s = Setup { readahead: "modern".into(), ..setup("today") };
        let out = run(&flows(&files(1, 1024), "cache = \"cold\"", 1, &[(1, &flow(1, &ops))]), s);
        let device = &first(&out).physical.devices[0];
        (out.inside.counts.pages_asked, device.read_ios, device.read_bytes)
    };
    assert_eq!(read(", no_readahead = true"), (16, 1, 65_536));
    let (asked, _, bytes) = read("");
    assert!(asked == 16 && bytes > 65_536, "{bytes}");
}
