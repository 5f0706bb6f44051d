//! A worker's warm-up: it ends after a time, and after the worker or its company has moved a number of bytes.

use std::sync::atomic::{AtomicU64, Ordering};

/// Decides when a worker's warm-up is over.
pub struct WarmUp<'a> {
    /// Tick at which its time ends.
    until: u64,
    bytes: u64,
    /// The words in which it and the others of its company publish the bytes they moved.
    own: &'a AtomicU64,
    others: Vec<&'a AtomicU64>,
}

impl<'a> WarmUp<'a> {
    /// A warm-up that lasts until a tick, and until `bytes` are moved.
    #[must_use]
    pub fn new(until: u64, bytes: u64, own: &'a AtomicU64, others: Vec<&'a AtomicU64>) -> Self {
        Self { until, bytes, own, others }
    }

    /// Publishes the bytes the worker has moved so far.
    pub fn moved(&self, bytes: u64) {
        if self.bytes > 0 {
            self.own.store(bytes, Ordering::Relaxed);
        }
    }

    /// Whether it is over at the tick `now`.
    #[must_use]
    pub fn is_over(&self, now: u64) -> bool {
        let moved = |word: &AtomicU64| word.load(Ordering::Relaxed);
        now >= self.until
            && (self.bytes == 0
                || self.others.iter().fold(moved(self.own), |sum, other| sum.saturating_add(moved(other)))
                    >= self.bytes)
    }

    /// The tick at which a wait must end because the warm-up does; `u64::MAX` if only bytes end it.
    #[must_use]
    pub fn deadline(&self) -> u64 {
        if self.bytes > 0 { u64::MAX } else { self.until }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_ends_it() {
        let own = AtomicU64::new(0);
        let warm = WarmUp::new(100, 0, &own, Vec::new());
        warm.moved(1 << 40);
        assert_eq!((warm.is_over(99), warm.is_over(100), warm.deadline()), (false, true, 100));
    }

    #[test]
    fn a_joint_warm_up_ends_after_the_bytes_of_all_workers() {
        let words = [AtomicU64::new(0), AtomicU64::new(0)];
        let first = WarmUp::new(7, 4096, &words[0], vec![&words[1]]);
        let second = WarmUp::new(7, 4096, &words[1], vec![&words[0]]);
        first.moved(4095);
        assert!(!first.is_over(9) && !second.is_over(9));
        second.moved(1);
        assert!(first.is_over(9) && second.is_over(9) && !first.is_over(6));
        assert_eq!(first.deadline(), u64::MAX);
    }
}
