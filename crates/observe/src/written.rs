//! How much of what was written can have reached the device while the clock ran. Pure: from what was moved and what waited in the page
//! cache at the two ends of the clock.

use crate::residency::page_bytes;
use fathom_record::{OpKind, Phase, Physical, Repetition, Residency};
use std::time::Duration;

/// What the two ends of the clock were read as.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends {
    /// What lay in the page cache when the clock started.
    pub before: Option<Residency>,
    /// The same when it had stopped.
    pub at_stop: Option<Residency>,
    /// What lay in the page cache of the files that serve as disks below, at the same two moments.
    pub below_before: Option<Residency>,
    /// See `below_before`.
    pub below_at_stop: Option<Residency>,
    /// Time from one reading of the device's counters to the other.
    pub window: Duration,
}

/// Bytes of ours that the device wrote while the clock ran; `None` without its counters. `measured` is the whole repetition, `in_clock`
/// what was counted between the ends.
#[must_use]
pub fn in_clock(phase: &Phase, measured: &Repetition, in_clock: &Physical, ends: Ends) -> Option<u64> {
    let device = to_storage(in_clock)?.min(past_the_image(in_clock, ends));
    let ours = device.min(ours_at_most(measured, ends.before, ends.at_stop));
    Some(if waits_for_nothing(phase, measured) { ours.min(lazily(measured, device, ends)) } else { ours })
}

/// What waits to be written, without what lies beside it in its folios. The kernel holds a folio (of up to 2 MiB) dirty as a whole, also in
/// the count of what a process dirtied, which so tells how much of a folio was written.
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

/// File data of all workers, counted or not.
fn moved(measured: &Repetition) -> u64 {
    measured.workers.iter().map(|w| w.bytes.saturating_add(w.uncounted_bytes)).sum()
}

/// Whether data was written into the page cache and nothing waited for the device, but for a sync after the clock.
fn waits_for_nothing(phase: &Phase, measured: &Repetition) -> bool {
    let syncs = measured.workers.iter().flat_map(|w| &w.stats).filter(|s| s.op == OpKind::Sync);
    let syncs: u64 = syncs.map(|s| s.ops).sum();
    !phase.direct && !phase.sync_in_clock && syncs <= measured.workers.len() as u64
}

/// Most that can have reached the device by write-back alone. A page that is written again and again is dirtied once, so no more than
/// what our processes dirtied; and in a clock of microseconds no more than what the device did at its mean rate until the counters
/// were read, which may be a thousand times later. Otherwise a neighbour's writes would make memory's speed the device's.
fn lazily(measured: &Repetition, device: u64, ends: Ends) -> u64 {
    let waited = ends.before.map_or(0, |b| (b.dirty_pages + b.writeback_pages).saturating_mul(page_bytes()));
    let dirtied = measured.physical.own_write_bytes.map_or(u64::MAX, |own| own.saturating_add(waited));
    let (clock, window) = (measured.elapsed_ns as f64, ends.window.as_nanos() as f64);
    // Reading takes a moment itself, and a file system that is mounted with `sync` waits for the device in every call.
    let share = if window > 2.0 * clock { clock / window } else { 1.0 };
    dirtied.min((device as f64 * share) as u64)
}

/// Most of our data that can have reached the device while the clock ran: what was moved, less what still waited in the cache
/// when the clock stopped. The device's own counter holds everybody's writes, and a neighbour's must not turn a cache number into
/// a device number. `u64::MAX` where the kernel did not tell, or nothing waits.
fn ours_at_most(measured: &Repetition, before: Option<Residency>, at_stop: Option<Residency>) -> u64 {
    let (Some(before), Some(at_stop)) = (before, at_stop) else { return u64::MAX };
    // A page may be dirty and under write-back at once: each sum errs to the side of the device.
    let waited = (before.dirty_pages + before.writeback_pages).saturating_mul(page_bytes());
    let waits = at_stop.dirty_pages.max(at_stop.writeback_pages).saturating_mul(page_bytes());
    // Nothing waits: all of ours was written, and what is more is metadata and journal, which belong to the cost.
    if waits == 0 { u64::MAX } else { moved(measured).saturating_add(waited).saturating_sub(waits) }
}

/// Most that can have passed through the file of a loop device: what was written into it, less what still waits there. Its disk's own
/// counter holds everybody's writes.
fn past_the_image(in_clock: &Physical, ends: Ends) -> u64 {
    let waits = |r: Residency| (r.dirty_pages + r.writeback_pages).saturating_mul(page_bytes());
    match (in_clock.devices.first(), ends.below_before, ends.below_at_stop.map(waits)) {
        (Some(top), Some(before), Some(left)) if top.kind == "loop" && left > 0 => {
            top.write_bytes.saturating_add(waits(before)).saturating_sub(left)
        }
        _ => u64::MAX,
    }
}

/// What the file system's own device wrote; of a loop device no more than reached the disk below it, because its backing file may
/// lie in the page cache.
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
    use fathom_record::{DeviceDelta, Worker};

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
    fn what_waits_in_the_cache_was_not_written() {
        assert_eq!(ours_at_most(&wrote(100), dirty(0), dirty(100)), 0);
        assert_eq!(ours_at_most(&wrote(100), dirty(0), dirty(30)), 70 * page_bytes());
        assert_eq!(ours_at_most(&wrote(100), dirty(20), dirty(100)), 20 * page_bytes());
    }

    /// A MiB written in a tenth of a millisecond, 17 times as fast as the device; it wrote as much for others until somebody looked.
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
    fn what_was_written_until_somebody_looked_is_not_in_a_shorter_clock() {
        let (phase, measured, counted) = rewritten(1 << 20);
        let ends = Ends {
            at_stop: dirty(0),
            before: dirty(0),
            window: Duration::from_millis(10),
            ..Ends::default()
        };
        assert_eq!(in_clock(&phase, &measured, &counted, ends), Some(10_485));
        // What waits for the device is there when the clock stops.
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
    fn what_waits_in_the_image_was_not_written_whatever_a_neighbour_wrote() {
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
    fn where_nothing_waits_or_nobody_tells_there_is_no_bound() {
        assert_eq!(ours_at_most(&wrote(100), dirty(0), dirty(0)), u64::MAX);
        assert_eq!(ours_at_most(&wrote(100), None, dirty(5)), u64::MAX);
    }

    #[test]
    fn what_lies_beside_it_in_its_folio_does_not_wait() {
        // 1010 pages, each in a folio of 1 MiB; the last ten wait.
        let mut measured = wrote(1010);
        measured.physical.own_write_bytes = Some(1010 << 20);
        let folios = Residency { dirty_pages: 2560, ..dirty(0).unwrap() };
        assert_eq!(without_rest_of_folios(folios, &measured).dirty_pages, 10);
        // Pages that were written again and again were dirtied once.
        measured.physical.own_write_bytes = Some(page_bytes());
        assert_eq!(without_rest_of_folios(folios, &measured), folios);
        measured.physical.own_write_bytes = None;
        assert_eq!(without_rest_of_folios(folios, &measured), folios);
    }
}
