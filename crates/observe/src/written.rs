//! How much of the written data can have reached the device during the measured time. Pure: from the moved bytes and the dirty data at
//! both ends of it.

use crate::residency::page_bytes;
use fathom_record::{OpKind, Phase, Physical, Repetition, Residency, Worker};
use std::time::Duration;

/// Readings at both ends of the measured time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends {
    /// Page cache residency of the files at the start.
    pub before: Option<Residency>,
    /// Page cache residency of the files at the end.
    pub at_stop: Option<Residency>,
    /// Residency of the files that back devices below, at the start.
    pub below_before: Option<Residency>,
    /// Residency of the files that back devices below, at the end.
    pub below_at_stop: Option<Residency>,
    /// Time between the two readings of the device's counters.
    pub window: Duration,
}

/// Our bytes that the device wrote during the measured time; `None` without its counters. `measured` is the whole repetition, `in_clock`
/// the counters between the two ends.
#[must_use]
pub fn in_clock(phase: &Phase, measured: &Repetition, in_clock: &Physical, ends: Ends) -> Option<u64> {
    let device = to_storage(in_clock)?.min(past_the_image(in_clock, ends));
    let ours = device.min(ours_at_most(measured, ends.before, ends.at_stop));
    Some(if waits_for_nothing(phase, measured) { ours.min(lazily(measured, device, ends)) } else { ours })
}

/// Dirty data without the clean rest of its folios. The kernel marks a folio (of up to 2 MiB) dirty as a whole, also in the process's
/// count of dirtied bytes, from which the written share of a folio follows.
#[must_use]
pub fn without_rest_of_folios(waits: Residency, measured: &Repetition) -> Residency {
    let written = moved(measured);
    let dirtied = measured.physical.own_write_bytes.unwrap_or(0);
    if written == 0 || dirtied <= written {
        return waits;
    }
    let filled = |pages: u64| (pages as f64 * (written as f64 / dirtied as f64)).ceil() as u64;
    Residency {
        dirty_pages: filled(waits.dirty_pages),
        writeback_pages: filled(waits.writeback_pages),
        ..waits
    }
}

/// Dirty data without what a sync made durable, for workers that write one file and sync it after `every` writes each: at most the writes
/// after the last sync wait. The written share of the folios of a whole phase says little about these few.
#[must_use]
pub fn since_last_sync(waits: Residency, measured: &Repetition, every: Option<u64>) -> Residency {
    let after = |worker: &Worker| {
        let ops = |op| worker.stats.iter().filter(|s| s.op == op).map(|s| s.ops).sum::<u64>();
        let (writes, every) = (ops(OpKind::Write), every.filter(|n| *n > 0)?);
        // Other numbers mean that a sync was left out, or that one belongs to writes of the warm-up or followed the clock.
        let known = worker.uncounted_bytes == 0 && writes >= every && ops(OpKind::Sync) == writes / every;
        known.then(|| (writes % every).saturating_mul(worker.bytes.div_ceil(writes)))
    };
    // Where the device saw no write, nothing took the syncs seriously.
    let device = measured.physical.devices.first().filter(|_| !measured.physical.is_served());
    let written = device.is_none_or(|device| device.write_ios > 0);
    let bytes = measured
        .workers
        .iter()
        .map(|worker| after(worker).filter(|_| written))
        .try_fold(0u64, |sum, n| Some(sum.saturating_add(n?)));
    let Some(pages) = bytes.map(|b| b.div_ceil(page_bytes())) else { return waits };
    Residency {
        dirty_pages: waits.dirty_pages.min(pages),
        writeback_pages: waits.writeback_pages.min(pages),
        ..waits
    }
}

/// File data moved by all workers, counted or not.
fn moved(measured: &Repetition) -> u64 {
    measured.workers.iter().map(|w| w.bytes.saturating_add(w.uncounted_bytes)).sum()
}

/// Whether data was only written into the page cache, with no wait for the device except a sync after the measured time.
fn waits_for_nothing(phase: &Phase, measured: &Repetition) -> bool {
    let syncs = measured.workers.iter().flat_map(|w| &w.stats).filter(|s| s.op == OpKind::Sync);
    let syncs: u64 = syncs.map(|s| s.ops).sum();
    !phase.direct && !phase.sync_in_clock && syncs <= measured.workers.len() as u64
}

/// Upper bound of what write-back alone can have moved. A page written repeatedly is dirtied once, so at most what our processes dirtied.
/// In a measured time of microseconds, at most the device's mean rate up to the reading of the counters, which may be a thousand times
/// later. Otherwise other programs' writes would make memory speed look like device speed.
fn lazily(measured: &Repetition, device: u64, ends: Ends) -> u64 {
    let waited = ends.before.map_or(0, |b| (b.dirty_pages + b.writeback_pages).saturating_mul(page_bytes()));
    let dirtied = measured.physical.own_write_bytes.map_or(u64::MAX, |own| own.saturating_add(waited));
    let (clock, window) = (measured.elapsed_ns as f64, ends.window.as_nanos() as f64);
    // Reading takes time itself, and on a file system mounted with `sync` every call waits for the device.
    let share = if window > 2.0 * clock { clock / window } else { 1.0 };
    dirtied.min((device as f64 * share) as u64)
}

/// Upper bound of our data that can have reached the device during the measured time: the moved bytes minus those still dirty at the end.
/// The device's own counter includes other programs' writes, which must not turn a cache figure into a device figure. `u64::MAX` if
/// unknown, or if nothing is dirty.
fn ours_at_most(measured: &Repetition, before: Option<Residency>, at_stop: Option<Residency>) -> u64 {
    let (Some(before), Some(at_stop)) = (before, at_stop) else { return u64::MAX };
    // A page may be dirty and under write-back at once; each sum errs towards the device.
    let waited = (before.dirty_pages + before.writeback_pages).saturating_mul(page_bytes());
    let waits = at_stop.dirty_pages.max(at_stop.writeback_pages).saturating_mul(page_bytes());
    // Nothing is dirty: all our data was written, and the excess is metadata and journal, which are part of the cost.
    if waits == 0 { u64::MAX } else { moved(measured).saturating_add(waited).saturating_sub(waits) }
}

/// Upper bound of bytes that passed through a loop device's file: the bytes written to it minus those still dirty. The counter of its
/// disk includes other programs' writes.
fn past_the_image(in_clock: &Physical, ends: Ends) -> u64 {
    let waits = |r: Residency| (r.dirty_pages + r.writeback_pages).saturating_mul(page_bytes());
    match (in_clock.devices.first(), ends.below_before, ends.below_at_stop.map(waits)) {
        (Some(top), Some(before), Some(left)) if top.kind == "loop" && left > 0 => {
            top.write_bytes.saturating_add(waits(before)).saturating_sub(left)
        }
        _ => u64::MAX,
    }
}

/// Bytes written by the file system's own device; for a loop device at most those that reached the disk below, because its backing file
/// may be in the page cache.
fn to_storage(physical: &Physical) -> Option<u64> {
    let top = physical.devices.first()?;
    let below = physical.level(1);
    if top.kind != "loop" || below.is_empty() {
        return Some(top.write_bytes);
    }
    let below: u64 = below.iter().fold(0, |sum, d| sum.saturating_add(d.write_bytes));
    Some(top.write_bytes.min(below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::{DeviceDelta, Histogram, OpStat};

    fn device(name: &str, kind: &str, level: u32, write_bytes: u64) -> DeviceDelta {
        DeviceDelta { name: name.into(), kind: kind.into(), level, write_bytes, ..DeviceDelta::default() }
    }

    #[test]
    fn a_loop_device_wrote_what_reached_the_disk_below() {
        let on = |devices| Physical { devices, ..Physical::default() };
        let looped = on(vec![device("loop0", "loop", 0, 100), device("vda", "disk", 1, 7)]);
        assert_eq!(to_storage(&looped), Some(7));
        let part = on(vec![device("vda1", "partition", 0, 100), device("vda", "disk", 1, 300)]);
        assert_eq!(to_storage(&part), Some(100));
        assert_eq!(to_storage(&on(vec![])), None);
    }

    fn wrote(pages: u64) -> Repetition {
        let worker = Worker { bytes: pages * page_bytes(), ..Worker::default() };
        Repetition { workers: vec![worker], ..Repetition::default() }
    }

    fn dirty(pages: u64) -> Option<Residency> {
        Some(Residency { total_pages: 100, cached_pages: 100, dirty_pages: pages, writeback_pages: 0 })
    }

    #[test]
    fn dirty_pages_do_not_count_as_written() {
        assert_eq!(ours_at_most(&wrote(100), dirty(0), dirty(100)), 0);
        assert_eq!(ours_at_most(&wrote(100), dirty(0), dirty(30)), 70 * page_bytes());
        assert_eq!(ours_at_most(&wrote(100), dirty(20), dirty(100)), 20 * page_bytes());
    }

    /// A MiB written in a tenth of a millisecond, 17 times as fast as the device, which wrote as much for others before it was read.
    fn rewritten(own_write_bytes: u64) -> (Phase, Repetition, Physical) {
        let counted = Physical {
            devices: vec![device("vda", "disk", 0, 1 << 20)],
            own_write_bytes: Some(own_write_bytes),
            ..Physical::default()
        };
        let worker = Worker { bytes: 1 << 20, elapsed_ns: 100_000, ..Worker::default() };
        let workers = vec![worker];
        let measured =
            Repetition { elapsed_ns: 100_000, workers, physical: counted.clone(), ..Repetition::default() };
        (crate::doubts::test_runs::phase("write", 1 << 20, 0), measured, counted)
    }

    #[test]
    fn a_page_that_is_written_again_and_again_reaches_the_device_once() {
        let (phase, measured, counted) = rewritten(4096);
        let ends = Ends {
            at_stop: dirty(0),
            before: dirty(0),
            window: Duration::from_micros(100),
            ..Ends::default()
        };
        assert_eq!(in_clock(&phase, &measured, &counted, ends), Some(4096));
        let before = Ends { before: dirty(2), ..ends };
        assert_eq!(in_clock(&phase, &measured, &counted, before), Some(4096 + 2 * page_bytes()));
        let (phase, measured, counted) = rewritten(1 << 20);
        assert_eq!(in_clock(&phase, &measured, &counted, ends), Some(1 << 20), "all was dirtied and written");
        let (phase, mut measured, counted) = rewritten(4096);
        measured.physical.own_write_bytes = None;
        assert_eq!(in_clock(&phase, &measured, &counted, ends), Some(1 << 20), "nobody tells");
    }

    #[test]
    fn writes_after_the_clock_stopped_are_left_out() {
        let (phase, measured, counted) = rewritten(1 << 20);
        let ends = Ends {
            at_stop: dirty(0),
            before: dirty(0),
            window: Duration::from_millis(10),
            ..Ends::default()
        };
        assert_eq!(in_clock(&phase, &measured, &counted, ends), Some(10_485));
        // Synchronous writes leave nothing dirty at the end.
        for (direct, sync_in_clock) in [(true, false), (false, true)] {
            let phase = Phase { direct, sync_in_clock, ..phase.clone() };
            assert_eq!(in_clock(&phase, &measured, &counted, ends), Some(1 << 20));
        }
        let mut synced = measured.clone();
        let latency = fathom_record::Histogram::default();
        let sync = fathom_record::OpStat { op: OpKind::Sync, ops: 1, bytes: 0, latency };
        synced.workers[0].stats = vec![sync];
        assert_eq!(in_clock(&phase, &synced, &counted, ends), Some(10_485), "one after the clock");
        synced.workers[0].stats[0].ops = 2;
        assert_eq!(in_clock(&phase, &synced, &counted, ends), Some(1 << 20), "on the way");
        assert_eq!(in_clock(&phase, &measured, &Physical::default(), ends), None);
    }

    #[test]
    fn dirty_image_pages_do_not_count_as_written() {
        let bytes = 100 * page_bytes();
        let moved = Physical {
            devices: vec![device("loop0", "loop", 0, bytes), device("vda", "disk", 1, 900 * bytes)],
            ..Physical::default()
        };
        let phase = Phase { direct: true, ..crate::doubts::test_runs::phase("write", bytes, 0) };
        let written = |before, at_stop| {
            let ends = Ends { below_before: before, below_at_stop: at_stop, ..Ends::default() };
            in_clock(&phase, &wrote(100), &moved, ends)
        };
        assert_eq!(written(dirty(0), dirty(70)), Some(30 * page_bytes()));
        assert_eq!(written(dirty(20), dirty(70)), Some(50 * page_bytes()));
        assert_eq!(written(dirty(0), dirty(0)), Some(bytes));
        assert_eq!(written(None, dirty(70)), Some(bytes), "nobody tells");
    }

    #[test]
    fn without_dirty_pages_or_cachestat_there_is_no_bound() {
        assert_eq!(ours_at_most(&wrote(100), dirty(0), dirty(0)), u64::MAX);
        assert_eq!(ours_at_most(&wrote(100), None, dirty(5)), u64::MAX);
    }

    #[test]
    fn synced_writes_do_not_wait_whatever_the_folios_say() {
        // 1010 writes with a sync after 1000; of the ten folios of the rest, 137 pages seem to be written.
        let mut measured = wrote(1010);
        let stat = |op, ops| OpStat { op, ops, bytes: 0, latency: Histogram::default() };
        measured.workers[0].stats = vec![stat(OpKind::Write, 1010), stat(OpKind::Sync, 1)];
        let folios = Residency { dirty_pages: 137, ..dirty(0).unwrap() };
        assert_eq!(since_last_sync(folios, &measured, Some(1000)).dirty_pages, 10);
        assert_eq!(since_last_sync(folios, &measured, Some(1010)).dirty_pages, 0);
        assert_eq!(since_last_sync(folios, &measured, Some(500)), folios, "two syncs would be due");
        assert_eq!(since_last_sync(folios, &measured, Some(0)), folios);
        measured.workers[0].stats.pop();
        assert_eq!(
            since_last_sync(folios, &measured, Some(2000)),
            folios,
            "none was due: earlier data may wait"
        );
        measured.workers[0].stats.push(stat(OpKind::Sync, 1));
        assert_eq!(since_last_sync(folios, &measured, None), folios);
        measured.workers[0].uncounted_bytes = 1;
        assert_eq!(since_last_sync(folios, &measured, Some(1000)), folios, "a warm-up");
    }

    #[test]
    fn clean_pages_of_a_dirty_folio_do_not_count() {
        // 1010 pages, each in a folio of 1 MiB; the last ten are dirty.
        let mut measured = wrote(1010);
        measured.physical.own_write_bytes = Some(1010 << 20);
        let folios = Residency { dirty_pages: 2560, ..dirty(0).unwrap() };
        assert_eq!(without_rest_of_folios(folios, &measured).dirty_pages, 10);
        // Pages written repeatedly were dirtied once.
        measured.physical.own_write_bytes = Some(page_bytes());
        assert_eq!(without_rest_of_folios(folios, &measured), folios);
        measured.physical.own_write_bytes = None;
        assert_eq!(without_rest_of_folios(folios, &measured), folios);
    }

    #[test]
    fn syncs_that_the_device_never_saw_leave_all_dirty() {
        let stat = |op, ops| OpStat { op, ops, bytes: 0, latency: Histogram::default() };
        let stats = vec![stat(OpKind::Write, 500), stat(OpKind::Sync, 500)];
        let worker = Worker { bytes: 500 * page_bytes(), stats, ..Worker::default() };
        let mut measured = Repetition { workers: vec![worker], ..Repetition::default() };
        measured.physical.devices = vec![DeviceDelta { write_ios: 500, ..device("sda", "disk", 0, 1) }];
        let waits = dirty(90).unwrap();
        assert_eq!(since_last_sync(waits, &measured, Some(1)).dirty_pages, 0);
        measured.physical.devices[0].write_ios = 0;
        assert_eq!(since_last_sync(waits, &measured, Some(1)), waits);
    }
}
