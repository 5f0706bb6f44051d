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
    // A commit has a flush before and one after its last block.
    assert_eq!((flushes, counted), (40, 40));
    let (without, none, _) = synced(false);
    assert_eq!(none, 0);
    // Seeks to the record and to the journal against the speed of the bus.
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

/// Commits, journal blocks and flushes of 20 synced writes of 4 KiB by ext4's rules, to a file of 8 MiB.
fn ext4(stream: &str, ns: u64) -> (u64, u64, u64) {
    let mut s = setup("today");
    s.device = Box::new(Constant::new(1 << 23, 32, ns, 0));
    let counts = run(&workload(1, 1, "", &writes(stream)), s).inside.counts;
    (counts.commits, counts.journal_blocks, counts.flushes)
}

#[test]
fn ext4_commits_an_overwrite_when_the_clock_has_ticked_since_the_last_one() {
    // 10 ms a request: each write has its own tick. Descriptor, inode, commit block.
    assert_eq!(ext4("sync_every = { writes = 1 }", 10 * MS), (20, 60, 40));
    // All in the first tick: only the first write changes the inode; the other fsyncs flush.
    assert_eq!(ext4("sync_every = { writes = 1 }", 1_000), (1, 3, 21));
}

#[test]
fn ext4_commits_nothing_for_fdatasync_of_an_overwrite() {
    assert_eq!(ext4("sync_every = { writes = 1, data_only = true }", 10 * MS), (0, 0, 20));
}
