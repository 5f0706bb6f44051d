//! How much of what was written can have reached the device while the clock ran. Pure: from what was moved and what waited in the page
//! cache at the two ends of the clock.

use crate::residency::page_bytes;
use fathom_record::{Physical, Repetition, Residency};

/// Most of our data that can have reached the device while the clock ran: what was moved, less what still waited in the cache
/// when the clock stopped. The device's own counter holds everybody's writes, and a neighbour's must not turn a cache number into
/// a device number. `u64::MAX` where the kernel did not tell, or nothing waits.
#[must_use]
pub fn ours_at_most(measured: &Repetition, before: Option<Residency>, at_stop: Option<Residency>) -> u64 {
    let (Some(before), Some(at_stop)) = (before, at_stop) else { return u64::MAX };
    let moved: u64 = measured.workers.iter().map(|w| w.bytes.saturating_add(w.uncounted_bytes)).sum();
    // A page may be dirty and under write-back at once: each sum errs to the side of the device.
    let waited = (before.dirty_pages + before.writeback_pages).saturating_mul(page_bytes());
    let waits = at_stop.dirty_pages.max(at_stop.writeback_pages).saturating_mul(page_bytes());
    // Nothing waits: all of ours was written, and what is more is metadata and journal, which belong to the cost.
    if waits == 0 { u64::MAX } else { moved.saturating_add(waited).saturating_sub(waits) }
}

/// What the file system's own device wrote; of a loop device no more than reached the disk below it, because its backing file may
/// lie in the page cache.
#[must_use]
pub fn to_storage(physical: &Physical) -> Option<u64> {
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

    fn moved(pages: u64) -> Repetition {
        let worker = Worker { bytes: pages * page_bytes(), ..Worker::default() };
        Repetition { workers: vec![worker], ..Repetition::default() }
    }

    fn dirty(pages: u64) -> Option<Residency> {
        Some(Residency { total_pages: 100, cached_pages: 100, dirty_pages: pages, writeback_pages: 0 })
    }

    #[test]
    fn what_waits_in_the_cache_was_not_written() {
        assert_eq!(ours_at_most(&moved(100), dirty(0), dirty(100)), 0);
        assert_eq!(ours_at_most(&moved(100), dirty(0), dirty(30)), 70 * page_bytes());
        assert_eq!(ours_at_most(&moved(100), dirty(20), dirty(100)), 20 * page_bytes());
    }

    #[test]
    fn where_nothing_waits_or_nobody_tells_there_is_no_bound() {
        assert_eq!(ours_at_most(&moved(100), dirty(0), dirty(0)), u64::MAX);
        assert_eq!(ours_at_most(&moved(100), None, dirty(5)), u64::MAX);
    }
}
