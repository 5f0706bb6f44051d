//! Interface between readers and the machine: the next call, its end, the resulting requests; and CPU times.

use fathom_isofs::reader::{Core, Stream};
use std::collections::BTreeMap;

/// CPU time to hand a request to the driver: the drop of dd's system time per saved request.
pub(super) const REQUEST_NS: u64 = 20_300;
/// CPU time of a read call without its data, ns. It and `KIB_CENTI_NS` are fitted to 18 us for 8 KiB and 1633 us for 1 MiB.
const CALL_NS: u64 = 5_284;
/// CPU time of each KiB that a read call copies, in hundredths of a nanosecond.
const KIB_CENTI_NS: u64 = 158_957;

/// Pages copied in one go; their CPU time is part of the call's.
pub(super) const WINDOW_PAGES: u32 = 2;
pub(super) const WINDOW_NS: u64 = 8 * KIB_CENTI_NS / 100;

/// CPU time of a read call.
pub(super) fn cpu_ns(bytes: u64) -> u64 {
    CALL_NS + bytes * KIB_CENTI_NS / 102_400
}

#[derive(Clone, Copy, Debug)]
pub(super) struct HsfsRead {
    pub stream: Stream,
    pub offset: u64,
    pub bytes: u64,
    /// Starts another pass over the same file.
    pub restarts: bool,
}

/// A program that reads.
pub(super) trait Reader {
    fn next(&mut self, core: &mut Core) -> Option<HsfsRead>;
    fn done(&mut self, began_ns: u64, now_ns: u64);
    /// Counts what it did since its last pass began `passes` more times.
    fn repeat(&mut self, _passes: u64) {}
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Requests {
    /// Sizes of requests that readers issued.
    pub by_readers: BTreeMap<u64, u64>,
    /// Sizes of requests that the pool issued.
    pub by_pool: BTreeMap<u64, u64>,
}

impl Requests {
    pub(super) fn count(&self) -> u64 {
        self.by_readers.values().chain(self.by_pool.values()).sum()
    }

    /// Number of requests from the pool.
    pub(super) fn of_pool(&self) -> u64 {
        self.by_pool.values().sum()
    }

    /// Share of the bytes in requests of a size, %.
    pub(super) fn percent_in(&self, size: u64) -> f64 {
        let all = || self.by_readers.iter().chain(&self.by_pool);
        let bytes = |of: Option<u64>| -> u64 {
            all().filter(|s| of.is_none_or(|of| *s.0 == of)).map(|(bytes, count)| bytes * count).sum()
        };
        bytes(Some(size)) as f64 / (bytes(None) as f64).max(1.0) * 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_times_go_through_the_published_ones() {
        for (bytes, us, off_us) in [(8 << 10, 18, 1), (32 << 10, 57, 1), (1 << 20, 1633, 1)] {
            assert!((cpu_ns(bytes) / 1000).abs_diff(us) <= off_us, "{bytes}: {}", cpu_ns(bytes));
        }
    }

    #[test]
    fn shares_are_of_bytes() {
        let requests = Requests { by_readers: [(2048, 8)].into(), by_pool: [(16_384, 3)].into() };
        assert_eq!((requests.count(), requests.of_pool(), requests.percent_in(16_384)), (11, 3, 75.0));
    }
}
