//! Work left to fsync and its variants: metadata or not, the device's cache or not, and what a commit waits for.

use super::*;

fn writes(rest: &str) -> String {
    format!(
        "direction = \"write\"\nrecord = {{ fixed = \"4KiB\" }}\naccess = \"uniform\"\namount = {{ operations = 20 }}\n{rest}"
    )
}

fn written_pages(rest: &str) -> u64 {
    let mut s = setup(NEW);
    s.host.filesystem.journal.value = JournalRule::None;
    only(&run(&workload(1, 1, "", &writes(rest)), s)).physical.devices[0].write_ios
}

#[test]
fn a_write_with_rwf_dsync_leaves_the_inode_as_with_o_dsync() {
    let opened = written_pages("open = { sync = \"dsync\" }");
    assert_eq!(opened, 20);
    assert_eq!(written_pages("backend = { pvsync2 = { dsync = true } }"), opened);
    assert_eq!(written_pages("backend = { pvsync2 = { sync = true } }"), 40);
    assert_eq!(written_pages("backend = { pvsync2 = { dsync = true, sync = true } }"), 40);
    assert_eq!(written_pages("backend = { pvsync2 = { dsync = true } }\nopen = { sync = \"sync\" }"), 40);
}

#[test]
fn reading_without_access_times_leaves_nothing_to_commit() {
    let commits = |open: &str| {
        let stream = format!(
            "direction = \"read\"\nrecord = {{ fixed = \"64KiB\" }}\nopen = {{ {open} }}\ntimed = {{ fsync = true }}"
        );
        run(&workload(1, 1, "", &stream), setup(NEW)).inside.counts.commits
    };
    assert_eq!((commits(""), commits("no_access_time = true")), (1, 0));
}

#[test]
fn dirty_metadata_is_committed_after_five_seconds_without_fsync() {
    // Two writes seven seconds apart: the first one's transaction commits in between, whatever the flusher's interval.
    let stream = "direction = \"write\"\nrecord = { fixed = \"4KiB\" }\namount = { operations = 2 }\n\
                  pace = { rate = { operations_per_s = 0.142857 } }";
    let mut s = setup(NEW);
    s.host.writeback.interval_s.value = 60;
    let out = run(&workload(1, 1, "", stream), s);
    assert_eq!(out.inside.counts.commits, 1);
}

#[test]
fn an_fsync_waits_for_the_medium_behind_a_write_cache_where_there_are_barriers() {
    let synced = |barriers| {
        let mut s = setup("today");
        s.device = Box::new(crate::devices::by_name("sata-7200-ncq").unwrap().build().unwrap());
        s.host.filesystem.barriers.value = barriers;
        let out = run(&workload(1, 1, "", &writes("sync_every = { writes = 1 }")), s);
        let r = only(&out);
        (
            r.latency(OpKind::Sync).mean_ns().unwrap() as u64,
            r.physical.devices[0].flush_ios,
            out.inside.counts.flushes,
        )
    };
    let (with, flushes, counted) = synced(true);
    assert_eq!((flushes, counted), (20, 20));
    let (without, none, _) = synced(false);
    assert_eq!(none, 0);
    // Two seeks (the record and the inode's block) against the speed of the bus.
    assert!(with > 4 * MS && without < MS, "{with} {without}");
}

#[test]
fn without_a_page_cache_a_sync_is_a_flush_of_the_device() {
    let synced = |barriers| {
        let mut s = Setup { stack: Stack::NoCache, ..setup("today") };
        s.device = Box::new(crate::devices::by_name("sata-7200-ncq").unwrap().build().unwrap());
        s.host.filesystem.barriers.value = barriers;
        let out = run(&workload(1, 1, "", &writes("sync_every = { writes = 1 }")), s);
        let r = only(&out);
        (r.physical.devices[0].flush_ios, r.latency(OpKind::Sync).mean_ns().unwrap() as u64)
    };
    let ((with, long), (without, short)) = (synced(true), synced(false));
    assert_eq!((with, without), (20, 0));
    assert!(long > MS && short < MS, "{long} {short}");
}

#[test]
fn a_commit_flushes_before_and_behind_its_last_block() {
    let mut s = setup(NEW);
    s.host.filesystem.barriers.value = true;
    let counts = run(&workload(1, 1, "", &writes("sync_every = { writes = 1 }")), s).inside.counts;
    assert_eq!((counts.commits, counts.flushes), (20, 40));
}
