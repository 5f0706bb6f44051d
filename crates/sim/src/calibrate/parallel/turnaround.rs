//! The time from a completion to the next request of a program that has one request in flight: interrupt, wake-up and call.

use super::super::service::Service;
use super::super::spread::TimeSample;

/// Minimum number of such times.
const LEAST: u64 = 100;
/// Longer times are the program's thinking, us.
const LONGEST_US: f64 = 200.0;

/// Times between the requests of one trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Turnaround {
    /// Last completion, ns.
    completed_ns: Option<u64>,
    requests: u64,
    times: TimeSample,
}

impl Turnaround {
    /// A request completed at `now_ns`.
    pub fn add(&mut self, service: &Service, now_ns: u64) {
        self.requests += 1;
        let issued_ns = now_ns.saturating_sub(service.response_ns);
        let before = self.completed_ns.replace(now_ns);
        if service.marked && service.depth <= 1 {
            let ns = before.and_then(|before| issued_ns.checked_sub(before));
            ns.into_iter().for_each(|ns| self.times.add(ns));
        }
    }

    pub fn median_us(&self) -> Option<f64> {
        let usual = self.times.count() >= LEAST && 2 * self.times.count() > self.requests;
        self.times.median_us().filter(|&us| usual && us <= LONGEST_US)
    }
}
