//! Computes SysBench's figures from a record. An event of 1.0 is a read, a write or a sync of a periodic series; in 0.4 it is a read or
//! a write. Final syncs are not events, but count in the sync rate.

use super::options::{Dialect, SysbenchOptions};
use fathom_record::{Histogram, Interval, OpKind, Repetition};

/// Operations during some time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tally {
    pub reads: u64,
    pub writes: u64,
    /// Syncs of periodic series.
    pub series_syncs: u64,
    /// All other syncs: within writes, and final ones.
    pub other_syncs: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Latencies of all events.
    pub latency: Histogram,
}

/// Rules for what counts as an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Syncs of a series are events.
    syncs_count: bool,
    /// Every write includes a sync.
    inside: bool,
    /// Latencies count from the scheduled start of an event.
    paced: bool,
}

impl Rules {
    pub fn of(o: &SysbenchOptions) -> Self {
        Self { syncs_count: o.dialect == Dialect::New, inside: o.fsync_all, paced: o.rate > 0 }
    }
}

impl Tally {
    fn add(&mut self, rules: Rules, op: OpKind, bytes: u64, latency: &Histogram) {
        let n = latency.count();
        let counts = match op {
            OpKind::Read => {
                self.reads += n;
                self.read_bytes += bytes;
                !rules.paced
            }
            OpKind::Write => {
                self.writes += n;
                self.written_bytes += bytes;
                if rules.inside {
                    self.other_syncs += n;
                }
                !rules.paced
            }
            OpKind::Sync => {
                self.series_syncs += n;
                rules.syncs_count
            }
            OpKind::FinalSync => {
                self.other_syncs += n;
                false
            }
            OpKind::Response => rules.paced,
            _ => false,
        };
        if counts {
            self.latency.merge(latency);
        }
    }

    /// Adds an interval.
    pub fn add_interval(&mut self, rules: Rules, interval: &Interval) {
        for (op, latency) in &interval.latencies {
            let moved = interval.moved.iter().filter(|m| m.0 == *op).map(|m| m.1).sum();
            self.add(rules, *op, moved, latency);
        }
    }

    /// The tally of a whole repetition.
    pub fn of(rules: Rules, repetition: &Repetition) -> Self {
        let mut all = Self::default();
        for stat in repetition.workers.iter().flat_map(|w| &w.stats) {
            all.add(rules, stat.op, stat.bytes, &stat.latency);
        }
        all
    }

    pub fn syncs(&self) -> u64 {
        self.series_syncs + self.other_syncs
    }

    pub fn events(&self, rules: Rules) -> u64 {
        self.reads + self.writes + if rules.syncs_count { self.series_syncs } else { 0 }
    }
}

/// A thread's number of events and time in them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Share {
    pub events: f64,
    pub busy_s: f64,
}

pub(super) fn shares(rules: Rules, repetition: &Repetition) -> Vec<Share> {
    let of = |tally: Tally| Share {
        events: tally.events(rules) as f64,
        busy_s: tally.latency.sum_ns() as f64 / 1e9,
    };
    repetition
        .workers
        .iter()
        .map(|w| {
            let mut tally = Tally::default();
            w.stats.iter().for_each(|s| tally.add(rules, s.op, s.bytes, &s.latency));
            of(tally)
        })
        .collect()
}

/// Mean and population standard deviation.
pub(super) fn spread(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count() as f64;
    if n == 0.0 {
        return (0.0, 0.0);
    }
    let mean = values.clone().sum::<f64>() / n;
    let squares = values.map(|v| (v - mean) * (v - mean)).sum::<f64>();
    (mean, (squares / n).sqrt())
}

/// Seconds from the start to the end of the last thread, including final syncs.
pub(super) fn total_s(repetition: &Repetition) -> f64 {
    let end = |w: &fathom_record::Worker| w.start_ns.saturating_add(w.elapsed_ns);
    repetition.workers.iter().map(end).max().unwrap_or(0) as f64 / 1e9
}

/// Seconds until the report, when all threads have exited. Rates use this clock, which is slightly longer than the total time.
pub(super) fn clock_s(repetition: &Repetition) -> f64 {
    (repetition.elapsed_ns as f64 / 1e9).max(total_s(repetition))
}

pub(super) fn over(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_the_population() {
        // As printed for two threads with three and two events.
        assert_eq!(spread([3.0, 2.0].into_iter()), (2.5, 0.5));
        assert_eq!(spread([0.0; 0].into_iter()), (0.0, 0.0));
    }

    #[test]
    fn syncs_at_the_end_are_calls_but_no_events() {
        let mut tally = Tally::default();
        let rules = Rules { syncs_count: true, inside: false, paced: false };
        let three = Histogram::from_values([1, 2, 3]);
        for op in [OpKind::Read, OpKind::Write, OpKind::Sync, OpKind::FinalSync] {
            tally.add(rules, op, 8, &three);
        }
        assert_eq!((tally.events(rules), tally.syncs(), tally.latency.count()), (9, 6, 9));
        let old = Rules { syncs_count: false, ..rules };
        assert_eq!(tally.events(old), 6);
    }

    #[test]
    fn with_a_rate_waiting_is_part_of_the_latency() {
        let mut tally = Tally::default();
        let rules = Rules { syncs_count: true, inside: false, paced: true };
        tally.add(rules, OpKind::Read, 8, &Histogram::from_values([1]));
        tally.add(rules, OpKind::Response, 0, &Histogram::from_values([100]));
        assert_eq!((tally.events(rules), tally.latency.max_ns()), (1, 100));
    }
}
