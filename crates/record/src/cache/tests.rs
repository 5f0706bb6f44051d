//! The five loads whose verdict must be right, and those that are easily got wrong.

use super::*;
use crate::{Axes, DeviceDelta, Extents, Histogram, OpKind, OpStat, Physical, Regime, Residency, Worker};

const MIB: u64 = 1 << 20;

fn phase(reads: bool, writes: bool, asked: u64, physical: Physical) -> Phase {
    let worker = Worker { bytes: asked, elapsed_ns: 1, ..Worker::default() };
    let repetition = Repetition { workers: vec![worker], physical, ..Repetition::default() };
    Phase {
        seq: 0,
        name: "p".into(),
        axes: Axes::default(),
        reads,
        writes,
        sync_in_clock: false,
        direct: false,
        repetitions: vec![repetition],
    }
}

fn device(name: &str, kind: &str, level: u32, read: u64, write: u64) -> DeviceDelta {
    DeviceDelta {
        name: name.into(),
        kind: kind.into(),
        level,
        read_bytes: read,
        write_bytes: write,
        flush_ios: u64::from(write > 0),
        ..DeviceDelta::default()
    }
}

fn disk(read: u64, write: u64) -> Physical {
    Physical {
        method: "diskstats".into(),
        devices: vec![device("vda", "disk", 0, read, write)],
        own_read_bytes: Some(read),
        ..Physical::default()
    }
}

/// A disk that had written `in_clock` when the clock stopped; `at_stop` and `after` of our data waited then and at the end.
fn disk_with(write: u64, in_clock: u64, at_stop: u64, after: u64) -> Physical {
    let waiting = UnwrittenData { at_stop_bytes: at_stop, after_bytes: after, ..UnwrittenData::default() };
    Physical { written_in_clock_bytes: Some(in_clock), waiting: Some(waiting), ..disk(0, write) }
}

fn truth_if_any(phase: &Phase) -> Option<CacheTruth> {
    CacheTruth::of(phase, phase.repetitions.last()?)
}

fn truth(phase: &Phase) -> CacheTruth {
    truth_if_any(phase).expect("data was moved")
}

fn says(phase: &Phase, wanted: &str) {
    assert_eq!(truth(phase).statement, wanted);
}

#[test]
fn data_waiting_in_an_image_is_not_counted_as_a_neighbours_writes() {
    let waiting = Some(UnwrittenData { below_bytes: 48 * MIB, ..UnwrittenData::default() });
    let devices = vec![device("loop0", "loop", 0, 0, 64 * MIB), device("vda", "disk", 1, 0, 900 * MIB)];
    let physical = Physical { waiting, devices, written_in_clock_bytes: Some(16 * MIB), ..disk(0, 0) };
    says(
        &phase(false, true, 64 * MIB, physical),
        "This number is partly memory's, partly the device's: 25 % of the 64 MiB written had reached vda when the clock stopped; 75 % was only in memory at the end (48 MiB); loop0 received 64 MiB, but it is a file: what has not reached vda is in memory or was overwritten there.",
    );
}

#[test]
fn files_without_a_device_that_lay_in_the_page_cache_came_from_it() {
    let note = Some("a program serves its files".into());
    let mut p = phase(true, false, MIB, Physical { method: "none".into(), note, ..Physical::default() });
    let full = Residency { total_pages: 256, cached_pages: 256, ..Residency::default() };
    let less = Residency { cached_pages: 255, ..full };
    (p.repetitions[0].resident_before, p.repetitions[0].resident_after) = (Some(full), Some(full));
    says(
        &p,
        "This is a page-cache number: all of the files were in this machine's page cache before and after, so nothing below it had to supply them.",
    );
    p.direct = true;
    assert_eq!(p.origin().regime, Regime::Unknown);
    p.direct = false;
    p.repetitions[0].resident_after = Some(less);
    assert_eq!(p.origin().regime, Regime::Unknown, "a page was dropped, and asked for again or not");
}

#[test]
fn direct_writes_that_were_seen_in_the_page_cache_went_through_it() {
    let mut p = phase(false, true, 64 * MIB, disk_with(64 * MIB, 64 * MIB, 0, 0));
    p.direct = true;
    assert!(!truth(&p).statement.contains("O_DIRECT"));
    if let Some(waiting) = &mut p.repetitions[0].physical.waiting {
        waiting.meanwhile_bytes = 4096;
    }
    says(
        &p,
        "This is a device number: 100 % of the 64 MiB written had reached vda when the clock stopped. O_DIRECT was requested, but what was written went through the page cache: the file system writes these files through it (btrfs does for its checksums), or another program wrote them.",
    );
}

#[test]
fn a_journal_on_a_device_of_its_own_is_told_beside_the_data() {
    let mut physical = disk(0, MIB);
    let log = DeviceDelta { flush_ios: 510, ..device("sdb1", "journal", 0, 0, 3 * MIB) };
    // The journal's device moves a lot, but holds none of the files.
    physical.devices.extend([log, device("sdb", "journal", 1, 0, 90 * MIB)]);
    let mut p = phase(false, true, MIB, physical);
    p.sync_in_clock = true;
    says(
        &p,
        "This is a device number: 100 % of the 1 MiB written had reached vda when the clock stopped, with 1 flush; the journal on sdb1 wrote 3 MiB with 510 flushes.",
    );
    p.repetitions[0].physical.devices[0].write_bytes = 3 * MIB;
    let said = truth(&p).statement;
    assert!(said.ends_with("510 flushes; vda wrote 2 MiB more (metadata, other programs)."), "{said}");
}

#[test]
fn a_cached_read() {
    let p = phase(true, false, 256 * MIB, disk(0, 0));
    says(&p, "This is a page-cache number: 100 % of the 256 MiB read came from memory; vda moved 0 B.");
    let read = truth(&p).read.expect("read");
    assert_eq!((read.device_bytes, read.cache_bytes), (0, 256 * MIB));
}

#[test]
fn a_cold_read() {
    let p = phase(true, false, 256 * MIB, disk(257 * MIB, 0));
    says(&p, "This is a device number: 100 % of the 256 MiB read came from vda.");
    let read = truth(&p).read.expect("read");
    assert_eq!((read.device_bytes, read.cache_bytes, read.excess_bytes), (256 * MIB, 0, MIB));
}

#[test]
fn a_buffered_write_without_and_with_fsync() {
    let p = phase(false, true, 64 * MIB, disk_with(0, 0, 64 * MIB, 64 * MIB));
    says(
        &p,
        "This is a page-cache number: 0 % of the 64 MiB written had reached vda when the clock stopped; 100 % was only in memory at the end (64 MiB).",
    );
    let mut p = phase(false, true, 64 * MIB, disk_with(65 * MIB, 65 * MIB, 0, 0));
    p.sync_in_clock = true;
    says(
        &p,
        "This is a device number: 100 % of the 64 MiB written had reached vda when the clock stopped, with 1 flush.",
    );
}

#[test]
fn an_fsync_outside_the_clock_is_later() {
    let p = phase(false, true, 64 * MIB, disk_with(49 * MIB, 0, 64 * MIB, 16 * MIB));
    let w = truth(&p).written.expect("written");
    assert_eq!(
        (w.in_clock_bytes, w.later_bytes, w.dirty_bytes, w.lost_bytes),
        (0, 48 * MIB, Some(16 * MIB), 0)
    );
    assert_eq!(w.excess_bytes, MIB, "a journal");
    says(
        &p,
        "This is a page-cache number: 0 % of the 64 MiB written had reached vda when the clock stopped; 75 % followed after the clock stopped (48 MiB); 25 % was only in memory at the end (16 MiB).",
    );
}

#[test]
fn a_direct_read() {
    let mut p = phase(true, false, 256 * MIB, disk(256 * MIB, 0));
    p.direct = true;
    says(
        &p,
        "This is a device number: 100 % of the 256 MiB read came from vda, past the page cache (O_DIRECT).",
    );
}

#[test]
fn a_direct_read_of_a_cached_image_is_memory_s() {
    let devices = vec![device("loop0", "loop", 0, 64 * MIB, 0), device("vda", "disk", 1, 0, 0)];
    let mut p = phase(true, false, 64 * MIB, Physical { devices, ..disk(64 * MIB, 0) });
    p.direct = true;
    says(
        &p,
        "This is a page-cache number: 100 % of the 64 MiB read came from memory: loop0 moved 64 MiB, but it is a file, of which only 0 B came from vda below.",
    );
}

#[test]
fn of_several_devices_those_that_moved_something_are_named() {
    let of = |name: &str, read| device(name, "loop", 0, read, 0);
    let devices = vec![device("loop3+loop4", "", 0, 64 * MIB, 0), of("loop3", 0), of("loop4", 64 * MIB)];
    let p = phase(true, false, 64 * MIB, Physical { devices, ..disk(64 * MIB, 0) });
    says(&p, "This is a device number: 100 % of the 64 MiB read came from loop4.");
}

#[test]
fn of_an_image_without_direct_io_only_what_entered_the_page_cache_came_from_the_disk() {
    let says_with = |gained: u64, below: u64, wanted: &str| {
        let devices = vec![device("loop0", "loop", 0, 64 * MIB, 0), device("vda", "disk", 1, below, 0)];
        let image_cached_bytes = Some(gained);
        let physical = Physical { devices, image_cached_bytes, ..disk(64 * MIB, 0) };
        let mut p = phase(true, false, 64 * MIB, physical);
        p.direct = true;
        says(&p, wanted);
    };
    let half = "This number is partly memory's, partly the device's: 38 % of the 64 MiB read came from memory: loop0 moved 64 MiB, but it is a file, of which only 40 MiB came from vda below.";
    says_with(40 * MIB, 40 * MIB, half);
    let none = "This is a page-cache number: 100 % of the 64 MiB read came from memory: loop0 moved 64 MiB, but it is a file, of which only 0 B came from vda below.";
    // Another program reads the disk.
    says_with(0, 600 * MIB, none);
    let all = "This is a device number: 100 % of the 64 MiB read came from loop0.";
    says_with(72 * MIB, 72 * MIB, all);
}

#[test]
fn reads_that_found_their_data_read_ahead_are_not_the_disk_s() {
    let says_with = |below_ios: u64, gained: u64, wanted: &str| {
        let top = DeviceDelta { read_ios: 1000, ..device("loop0", "loop", 0, 64 * MIB, 0) };
        let below = DeviceDelta { read_ios: below_ios, ..device("vda", "disk", 1, gained, 0) };
        let image_cached_bytes = Some(gained);
        let physical = Physical { devices: vec![top, below], image_cached_bytes, ..disk(64 * MIB, 0) };
        let mut p = phase(true, false, 64 * MIB, physical);
        p.direct = true;
        says(&p, wanted);
    };
    let part = "This number is partly memory's, partly the device's: about 34 % of the 64 MiB read came from memory: loop0 is a file, and read-ahead from vda had brought that data into the page cache.";
    says_with(660, 90 * MIB, part);
    let all = "This is a device number: 100 % of the 64 MiB read came from loop0.";
    says_with(990, 90 * MIB, all);
    // A stream is read ahead, too, in large requests: all of it came from the disk meanwhile.
    says_with(20, 90 * MIB, all);
}

#[test]
fn a_direct_write_that_waits_in_the_image_s_cache_has_reached_nothing() {
    let devices = vec![device("loop0", "loop", 0, 0, 64 * MIB), device("vda", "disk", 1, 0, 0)];
    let waiting = Some(UnwrittenData { below_bytes: 64 * MIB, ..UnwrittenData::default() });
    let physical = Physical { devices, written_in_clock_bytes: Some(0), waiting, ..disk(0, 0) };
    let w = truth(&phase(false, true, 64 * MIB, physical)).written.expect("written");
    assert_eq!((w.in_clock_bytes, w.later_bytes, w.dirty_bytes, w.lost_bytes), (0, 0, Some(64 * MIB), 0));
}

#[test]
fn read_ahead_is_said_separately_and_never_negative() {
    let p = phase(true, false, 10 * MIB, disk(31 * MIB, 0));
    let read = truth(&p).read.expect("read");
    assert_eq!((read.device_bytes, read.cache_bytes, read.excess_bytes), (10 * MIB, 0, 21 * MIB));
    says(
        &p,
        "This is a device number: 100 % of the 10 MiB read came from vda; it moved 21 MiB more than was requested (read-ahead, metadata, parts of pages).",
    );
}

#[test]
fn half_and_half_gives_both_shares() {
    says(
        &phase(true, false, 64 * MIB, disk(16 * MIB, 0)),
        "This number is partly memory's, partly the device's: of the 64 MiB read 75 % came from memory and 25 % from vda, which moved 16 MiB.",
    );
}

#[test]
fn both_directions_have_their_own_parts() {
    let mut p = phase(true, true, 128 * MIB, disk_with(64 * MIB, 64 * MIB, 0, 0));
    let stat = |op| OpStat { op, ops: 1, bytes: 64 * MIB, latency: Histogram::default() };
    p.repetitions[0].workers[0].stats = vec![stat(OpKind::Read), stat(OpKind::Write)];
    let t = truth(&p);
    assert!(t.read.is_some_and(|r| r.cache_bytes == r.asked_bytes));
    assert!(t.written.is_some_and(|w| w.in_clock_bytes == w.asked_bytes));
    assert_eq!(
        t.statement,
        "This number is partly memory's, partly the device's: 100 % of the 64 MiB read came from memory; vda moved 0 B; 100 % of the 64 MiB written had reached vda when the clock stopped."
    );
}

#[test]
fn what_is_overwritten_in_memory_never_reaches_the_device() {
    // Writes the same 8 MiB ten times, then fsyncs.
    let p = phase(false, true, 80 * MIB, disk_with(8 * MIB, 8 * MIB, 0, 0));
    let w = truth(&p).written.expect("written");
    assert_eq!((w.in_clock_bytes, w.lost_bytes), (8 * MIB, 72 * MIB));
    assert!(truth(&p).statement.contains("90 % never reached it: overwritten or deleted in memory"), "{p:?}");
}

#[test]
fn without_dirty_counts_nothing_is_claimed() {
    let mut physical = disk_with(0, 0, 0, 0);
    physical.waiting = None;
    let p = phase(false, true, 64 * MIB, physical);
    assert_eq!(truth(&p).written.expect("written").dirty_bytes, None);
    assert!(
        truth(&p).statement.ends_with("; the kernel does not report where the other 100 % went."),
        "{}",
        truth(&p).statement
    );
}

#[test]
fn a_compressing_file_system_moves_less_and_is_no_cache() {
    let squeezed = |write, at_stop| Physical {
        compression: Some("zstd:3".into()),
        ..disk_with(write, write, at_stop, at_stop)
    };
    let mut p = phase(false, true, 64 * MIB, squeezed(2 * MIB, 0));
    p.sync_in_clock = true;
    assert_eq!(p.origin().regime, Regime::Device, "{}", p.origin().evidence);
    says(
        &p,
        "This is a device number: 100 % of the 64 MiB written had reached vda when the clock stopped, with 1 flush; the file system compresses, so vda wrote 2 MiB for it.",
    );
    // What still waits has not been compressed away.
    let p = phase(false, true, 64 * MIB, squeezed(MIB, 63 * MIB));
    assert_eq!(p.origin().regime, Regime::PageCache, "{}", p.origin().evidence);
    let p = phase(false, true, 64 * MIB, squeezed(0, 0));
    assert_eq!(p.origin().regime, Regime::PageCache, "a device that wrote nothing has nothing");

    let mut p =
        phase(true, false, 64 * MIB, Physical { compression: Some("zstd:3".into()), ..disk(2 * MIB, 0) });
    p.repetitions[0].resident_before = Some(Residency { total_pages: 16_384, ..Residency::default() });
    assert_eq!(p.origin().regime, Regime::Device, "cold: {}", p.origin().evidence);
    assert!(truth(&p).statement.contains("compresses, so vda moved 2 MiB"), "{}", truth(&p).statement);
    p.repetitions[0].resident_before =
        Some(Residency { total_pages: 16_384, cached_pages: 8192, ..Residency::default() });
    says(
        &p,
        "This number is partly memory's, partly the device's: of the 64 MiB read 50 % came from memory and 50 % from vda; the file system compresses, so vda moved 2 MiB for it.",
    );
    p.repetitions[0].resident_before =
        Some(Residency { total_pages: 16_384, cached_pages: 16_384, ..Residency::default() });
    assert_eq!(p.origin().regime, Regime::PageCache, "warm: {}", p.origin().evidence);
}

#[test]
fn a_cached_image_supplies_compressed_data_from_memory() {
    let of = |moved, gained, resident_before| {
        let devices = vec![device("loop0", "loop", 0, moved, 0), device("vda", "disk", 1, gained, 0)];
        let compression = Some("zstd:3".into());
        let image_cached_bytes = Some(gained);
        let squeezed = Physical { devices, compression, image_cached_bytes, ..disk(moved, 0) };
        let mut p = phase(true, false, 64 * MIB, squeezed);
        p.direct = true;
        p.repetitions[0].resident_before = resident_before;
        let truth = truth(&p);
        let read = truth.read.expect("read");
        (p.origin().regime, read.device_bytes, read.cache_bytes, truth.statement)
    };
    let cold = Some(Residency { total_pages: 16_384, ..Residency::default() });
    let figures = |moved, gained| {
        let (regime, device, cache, _) = of(moved, gained, cold);
        (regime, device, cache)
    };
    assert_eq!(figures(2 * MIB, 2 * MIB), (Regime::Device, 64 * MIB, 0));
    assert_eq!(figures(2 * MIB, MIB), (Regime::Mixed, 32 * MIB, 32 * MIB), "half of the image was in memory");
    assert_eq!(figures(2 * MIB, 0).0, Regime::PageCache);
    assert_eq!(of(2 * MIB, 0, None).0, Regime::PageCache, "nor if the kernel does not tell what was cached");
    // Data that does not shrink was read with O_DIRECT although its pages were in memory, too.
    let warm = Some(Residency { total_pages: 16_384, cached_pages: 16_384, ..Residency::default() });
    assert_eq!(of(64 * MIB, 0, warm).0, Regime::PageCache);
    let nothing_moved = of(0, 0, None).3;
    assert!(!nothing_moved.contains("loop0 moved 0 B, but"), "{nothing_moved}");
}

#[test]
fn direct_reads_that_fill_the_page_cache_went_through_it() {
    let of = |before: u64, after: u64, moved: u64, compression: Option<&str>| {
        let mut p = phase(
            true,
            false,
            64 * MIB,
            Physical { compression: compression.map(Into::into), ..disk(moved, 0) },
        );
        p.direct = true;
        let cached = |cached_pages| Residency { total_pages: 16_384, cached_pages, ..Residency::default() };
        (p.repetitions[0].resident_before, p.repetitions[0].resident_after) =
            (Some(cached(before)), Some(cached(after)));
        p
    };
    let past = |p: &Phase| truth(p).statement.contains("past the page cache (O_DIRECT)");
    // As btrfs does with a compressed file: the cached part was read from memory.
    let p = of(10_752, 16_384, 2 * MIB, Some("zstd:3"));
    assert_eq!(truth(&p).read.expect("read").cache_bytes, 42 * MIB, "{}", truth(&p).statement);
    assert!(truth(&p).statement.contains("O_DIRECT was requested, but"), "{}", truth(&p).statement);
    let p = of(16_221, 16_366, MIB, Some("zstd:3"));
    assert_eq!(p.origin().regime, Regime::PageCache, "{}", p.origin().evidence);
    let p = of(0, 16_384, 64 * MIB, None);
    assert!(!past(&p), "{}", truth(&p).statement);
    // A few pages, or those there before, are no sign of it.
    for p in
        [of(0, 12, 64 * MIB, None), of(16_384, 16_384, 64 * MIB, None), of(0, 0, 2 * MIB, Some("zstd:3"))]
    {
        assert!(past(&p), "{}", truth(&p).statement);
    }
}

#[test]
fn holes_are_neither_memory_nor_device() {
    let mut p = phase(true, false, 64 * MIB, disk(16 * MIB, 0));
    p.repetitions[0].extents = Some(Extents { bytes: 64 * MIB, hole_bytes: 48 * MIB, ..Extents::default() });
    let read = truth(&p).read.expect("read");
    assert_eq!((read.device_bytes, read.hole_bytes, read.cache_bytes), (16 * MIB, 48 * MIB, 0));
    says(
        &p,
        "This number is only partly the device's: of the 64 MiB read 25 % came from vda; 75 % are holes, which read as zeros without any device.",
    );
    assert!(p.is_part_holes());
    // Half of the rest was cached: memory has a part in it.
    p.repetitions[0].physical = disk(8 * MIB, 0);
    assert!(truth(&p).statement.starts_with("This number is partly memory's"), "{}", truth(&p).statement);
    assert!(!p.is_part_holes());
}

#[test]
fn a_tiny_share_is_not_rounded_up() {
    let p = phase(false, true, 9 << 30, disk_with(16 << 10, 16 << 10, 64 * MIB, 64 * MIB));
    assert!(truth(&p).statement.contains("<0.1 % of the 9 GiB written had"), "{}", truth(&p).statement);
}

#[test]
fn writes_that_wait_for_reads_are_not_memorys_alone() {
    let mut p = phase(false, true, 2 * MIB, disk_with(0, 0, 2 * MIB, 2 * MIB));
    assert_eq!(p.origin().regime, Regime::PageCache);
    p.repetitions[0].physical.devices[0].read_bytes = 14 * MIB;
    p.repetitions[0].physical.own_read_bytes = Some(14 * MIB);
    assert_eq!(p.origin().regime, Regime::Mixed);
    says(
        &p,
        "This number is partly memory's, partly the device's: 0 % of the 2 MiB written had reached vda when the clock stopped; 14 MiB were read from vda to do so; 100 % was only in memory at the end (2 MiB).",
    );
    // Another program's reads, and a few of metadata, do not count.
    for own in [0, 64 << 10] {
        p.repetitions[0].physical.own_read_bytes = Some(own);
        assert_eq!(p.origin().regime, Regime::PageCache);
    }
}

#[test]
fn data_that_does_not_shrink_was_not_compressed() {
    let mut p = phase(false, true, 64 * MIB, disk_with(64 * MIB + (256 << 10), 64 * MIB + (256 << 10), 0, 0));
    p.repetitions[0].physical.compression = Some("zstd:3".into());
    assert!(!truth(&p).statement.contains("compresses") && !p.is_shrunk(), "{}", truth(&p).statement);
    p.repetitions[0].physical = disk_with(2 * MIB, 2 * MIB, 0, 0);
    p.repetitions[0].physical.compression = Some("zstd:3".into());
    assert!(truth(&p).statement.contains("compresses, so vda wrote 2 MiB"), "{}", truth(&p).statement);
    assert!(p.is_shrunk());
}

#[test]
fn nothing_but_holes_is_no_cache_number() {
    let read = |reads, writes, extents| {
        let mut p = phase(reads, writes, 64 * MIB, disk(0, 0));
        p.repetitions[0].extents = Some(extents);
        p
    };
    let holes = |hole, unwritten| Extents {
        bytes: 64 * MIB,
        hole_bytes: hole * MIB,
        unwritten_bytes: unwritten * MIB,
        ..Extents::default()
    };
    for extents in [holes(64, 0), holes(0, 64), holes(31, 31)] {
        for direct in [false, true] {
            let mut p = read(true, false, extents);
            p.direct = direct;
            assert_eq!(p.origin().regime, Regime::Holes, "{}", p.origin().evidence);
        }
    }
    says(
        &read(true, false, holes(64, 0)),
        "This is neither a device's nor the page cache's number: vda moved 0 B for the 64 MiB read; 100 % are holes, which read as zeros without any device.",
    );
    assert_eq!(read(true, false, holes(32, 0)).origin().regime, Regime::PageCache);
    assert_eq!(read(false, true, holes(64, 0)).origin().regime, Regime::PageCache, "a write fills them");
}

#[test]
fn memory_servers_and_blindness_have_words_of_their_own() {
    let tmpfs =
        Physical { method: "memory".into(), note: Some("/t is a tmpfs".into()), ..Physical::default() };
    let p = phase(true, false, MIB, tmpfs);
    says(
        &p,
        "This is main memory's number: /t is a tmpfs. If pages of it were swapped out, those came back from the swap device.",
    );
    assert!(truth(&p).read.is_some_and(|r| r.cache_bytes == r.asked_bytes));

    let blind = Physical { method: "none".into(), note: Some("/n is a fuse".into()), ..Physical::default() };
    let p = phase(true, false, MIB, blind);
    says(&p, "It is unknown whether this is memory's number or a device's: /n is a fuse.");
    assert_eq!((truth(&p).read, truth(&p).written), (None, None));

    let served = Physical { devices: vec![device("srv:/e", "server", 0, MIB, 0)], ..disk(MIB, 0) };
    says(
        &phase(true, false, MIB, served),
        "This is the server's number: 100 % of the 1 MiB read came from srv:/e.",
    );

    let mut by_program = disk(MIB, 0);
    by_program.method = "fuse-server".into();
    by_program.devices = vec![device("bindfs's storage", "served", 0, MIB, 0)];
    let direct = Phase { direct: true, ..phase(true, false, MIB, by_program) };
    says(&direct, "This is a device number: 100 % of the 1 MiB read came from bindfs's storage.");
    let mut cached = direct;
    let physical = &mut cached.repetitions[0].physical;
    (physical.devices[0].read_bytes, physical.own_read_bytes) = (0, Some(0));
    says(
        &cached,
        "This is memory's number: 100 % of the 1 MiB read came from memory; bindfs's storage moved 0 B.",
    );
    let physical = &mut cached.repetitions[0].physical;
    (physical.devices[0].read_bytes, physical.own_read_bytes) = (2 * MIB, Some(2 * MIB));
    says(
        &cached,
        "It is unknown whether this is memory's number or a device's: the program that serves the files read 2 MiB from storage, ahead or for others, too, while 1 MiB were requested.",
    );
}

#[test]
fn a_phase_without_data_has_no_statement() {
    assert_eq!(truth_if_any(&phase(true, false, 0, disk(0, 0))), None);
}

proptest::proptest! {
    #[test]
    fn the_parts_add_up_whatever_was_counted(
        asked in 1u64..1 << 50,
        read in proptest::prelude::any::<u32>(),
        figures in proptest::array::uniform5(0u64..1 << 50),
        holes in 0u64..1 << 50,
        writes in proptest::prelude::any::<bool>(),
        compressed in proptest::prelude::any::<bool>(),
    ) {
        let mut physical = disk_with(figures[0], figures[1], figures[2], figures[3]);
        physical.devices[0].read_bytes = u64::from(read);
        physical.own_read_bytes = Some(figures[4]);
        physical.compression = compressed.then(|| "lzo".into());
        let mut p = phase(!writes, writes, asked, physical);
        p.repetitions[0].extents = Some(Extents { bytes: 1 << 50, hole_bytes: holes, ..Extents::default() });
        let t = truth(&p);
        if let Some(r) = t.read {
            proptest::prop_assert_eq!(r.device_bytes + r.cache_bytes + r.hole_bytes, asked);
        }
        if let Some(w) = t.written {
            let parts = w.in_clock_bytes + w.later_bytes + w.dirty_bytes.unwrap_or(0) + w.lost_bytes;
            proptest::prop_assert_eq!(parts, asked);
        }
        proptest::prop_assert!(t.statement.ends_with('.'));
    }
}

/// A disk and a disk in memory, side by side: in a btrfs, below an md, or one of two layers.
fn half_in_memory(top: Option<(u64, u64)>, memory: (u64, u64), disk: (u64, u64)) -> Physical {
    let level = u32::from(top.is_some());
    let (read, written) = top.unwrap_or((memory.0 + disk.0, memory.1 + disk.1));
    let name = if top.is_some() { "md0" } else { "loop0+sda" };
    let devices = vec![
        device(name, if top.is_some() { "md" } else { "" }, 0, read, written),
        device("loop0", "ram", level, memory.0, memory.1),
        device("sda", "disk", level, disk.0, disk.1),
    ];
    Physical {
        method: "diskstats".into(),
        devices,
        own_read_bytes: Some(read),
        written_in_clock_bytes: Some(written),
        waiting: Some(UnwrittenData::default()),
        ..Physical::default()
    }
}

#[test]
fn the_part_of_a_stack_that_is_memory_is_no_device() {
    for md in [false, true] {
        let top = |bytes: (u64, u64)| md.then_some(bytes);
        let (read, written) = ((32 * MIB, 0), (0, 32 * MIB));
        let p = phase(true, false, 64 * MIB, half_in_memory(top((64 * MIB, 0)), read, read));
        says(
            &p,
            "This number is partly memory's, partly the device's: of the 64 MiB read 50 % came from memory and 50 % from sda, which moved 32 MiB; loop0 moved 32 MiB, but is main memory.",
        );
        let mut p = phase(false, true, 64 * MIB, half_in_memory(top((0, 64 * MIB)), written, written));
        p.sync_in_clock = true;
        says(
            &p,
            "This number is partly memory's, partly the device's: 50 % of the 64 MiB written had reached sda when the clock stopped, with 1 flush; loop0 received 32 MiB, but is main memory; 50 % was only in memory at the end (32 MiB).",
        );
        let all = phase(true, false, 64 * MIB, half_in_memory(top((64 * MIB, 0)), (64 * MIB, 0), (0, 0)));
        assert_eq!(all.origin().regime, Regime::Memory);
        let evidence = all.origin().evidence;
        assert_eq!(
            evidence,
            "64 MiB requested, 0 B moved by sda while the clock ran (0 %), 64 MiB moved by loop0, which is main memory"
        );
        let cached = phase(true, false, 64 * MIB, half_in_memory(top((0, 0)), (0, 0), (0, 0)));
        assert_eq!(cached.origin().regime, Regime::PageCache, "neither moved anything");
    }
}

#[test]
fn the_other_half_of_a_mirror_in_memory_takes_nothing_from_the_disk() {
    let both = (0, 64 * MIB);
    for (top, device_wrote) in [(None, 128), (Some((0, 64 * MIB)), 64)] {
        let physical = half_in_memory(top, both, both);
        assert_eq!(physical.device_write_bytes(), Some(device_wrote * MIB));
        let p = phase(false, true, 64 * MIB, physical);
        says(
            &p,
            if top.is_some() {
                "This is a device number: 100 % of the 64 MiB written had reached sda when the clock stopped."
            } else {
                "This is a device number: 100 % of the 64 MiB written had reached sda when the clock stopped; loop0 received 64 MiB, but is main memory."
            },
        );
    }
}

#[test]
fn one_part_that_is_memory_does_not_make_the_whole_memory() {
    let part = Physical {
        devices: vec![
            device("dm-0+sda", "", 0, MIB, 0),
            device("dm-0", "ram", 0, MIB / 2, 0),
            device("sda", "disk", 0, MIB / 2, 0),
            device("ram0", "ram", 1, MIB / 2, 0),
        ],
        ..disk(MIB, 0)
    };
    assert!(!part.is_memory() && part.part_memory().is_some());
    let names = |devices: &[&DeviceDelta]| devices.iter().map(|d| d.name.clone()).collect::<Vec<_>>();
    let found = part.part_memory().expect("both");
    assert_eq!((names(&found.memory), names(&found.storage)), (vec!["dm-0".into()], vec!["sda".into()]));
    assert!(disk(MIB, 0).part_memory().is_none());
}

#[test]
fn the_image_behind_the_part_that_is_no_memory_may_be_cached() {
    let devices = vec![
        device("loop0+loop1", "", 0, 64 * MIB, 0),
        device("loop0", "ram", 0, 32 * MIB, 0),
        device("loop1", "loop", 0, 32 * MIB, 0),
        device("vda", "disk", 1, 0, 0),
    ];
    let p = phase(true, false, 64 * MIB, Physical { devices, ..disk(64 * MIB, 0) });
    assert_eq!(p.origin().regime, Regime::Memory, "{}", p.origin().evidence);
}

#[test]
fn an_image_on_memory_and_a_disk_is_not_in_the_page_cache() {
    let image = |waits: u64, memory: (u64, u64), sda: (u64, u64)| {
        let (read, written) = (memory.0 + sda.0, memory.1 + sda.1);
        let devices = vec![
            device("loop0", "loop", 0, read, written),
            device("ram0", "ram", 1, memory.0, memory.1),
            device("sda", "disk", 1, sda.0, sda.1),
        ];
        let waiting = Some(UnwrittenData { below_bytes: waits, ..UnwrittenData::default() });
        Physical { devices, waiting, written_in_clock_bytes: Some(written), ..disk(read, 0) }
    };
    let p = phase(true, false, 64 * MIB, image(0, (48 * MIB, 0), (16 * MIB, 0)));
    says(
        &p,
        "This number is partly memory's, partly the device's: of the 64 MiB read 75 % came from memory and 25 % from sda, which moved 16 MiB; ram0 moved 48 MiB, but is main memory.",
    );
    let p = phase(false, true, 64 * MIB, image(0, (0, 48 * MIB), (0, 16 * MIB)));
    let said = truth(&p).statement;
    assert!(
        said.contains("25 % of the 64 MiB written had reached sda") && !said.contains("a file"),
        "{said}"
    );
    let p = phase(false, true, 64 * MIB, image(MIB, (0, 48 * MIB), (0, 16 * MIB)));
    let said = truth(&p).statement;
    assert!(said.contains("what has not reached sda is in memory") && !said.contains("ram0+sda"), "{said}");
    // What the image gained in the page cache came from both.
    let mut gained = image(0, (20 * MIB, 0), (10 * MIB, 0));
    gained.devices[0].read_bytes = 64 * MIB;
    (gained.own_read_bytes, gained.image_cached_bytes) = (Some(64 * MIB), Some(30 * MIB));
    let said = truth(&phase(true, false, 64 * MIB, gained)).statement;
    assert!(said.contains("of which only 10 MiB came from sda below"), "{said}");
    // Memory beside the image is not below it.
    let devices = vec![
        device("loop1+dm-0", "", 0, 64 * MIB, 0),
        device("loop1", "loop", 0, 32 * MIB, 0),
        device("dm-0", "ram", 0, 32 * MIB, 0),
        device("vda", "disk", 1, 0, 0),
        device("ram0", "ram", 1, 32 * MIB, 0),
    ];
    let beside = phase(true, false, 64 * MIB, Physical { devices, ..disk(64 * MIB, 0) });
    assert_eq!(beside.origin().regime, Regime::Memory, "{}", beside.origin().evidence);
}
