//! How much of what was written can have reached the device while the clock ran. Pure: from what was moved and what waited in the page
//! cache at the two ends of the clock.

use crate::residency::page_bytes;
use fathom_record::{Repetition, Residency};

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

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::Worker;

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
