//! From a record to the figures SysBench prints. An event of 1.0 is a read, a write or a sync of a periodic series; of 0.4 a read or
//! a write. The syncs at the end are no events, but calls that count in the rate of syncs.

use super::options::{Dialect, Options};
use fathom_record::{Histogram, Interval, OpKind, Repetition};

/// What was done in some time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tally {
    pub reads: u64,
    pub writes: u64,
    /// Of a periodic series.
    pub series_syncs: u64,
    /// Calls of all other kinds: inside writes, and at the end.
    pub other_syncs: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Of all events.
    pub latency: Histogram,
}

/// What decides which operation is an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The syncs of a series are events.
    syncs_count: bool,
    /// A sync is inside every write.
    inside: bool,
    /// Latencies count from when an event was due.
    paced: bool,
}

impl Rules {
    pub fn of(o: &Options) -> Self {
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

    /// What an interval adds.
    pub fn add_interval(&mut self, rules: Rules, interval: &Interval) {
        for (op, latency) in &interval.latencies {
            let moved = interval.moved.iter().filter(|m| m.0 == *op).map(|m| m.1).sum();
            self.add(rules, *op, moved, latency);
        }
    }

    /// Everything.
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

/// Events and time in them of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Share {
    pub events: f64,
    pub busy_s: f64,
}

/// Each thread's share.
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

/// Mean and standard deviation of the population.
pub(super) fn spread(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count() as f64;
    if n == 0.0 {
        return (0.0, 0.0);
    }
    let mean = values.clone().sum::<f64>() / n;
    let squares = values.map(|v| (v - mean) * (v - mean)).sum::<f64>();
    (mean, (squares / n).sqrt())
}

/// Seconds from the release to the end of the last thread's clock, the syncs at the end inside.
pub(super) fn total_s(repetition: &Repetition) -> f64 {
    let end = |w: &fathom_record::Worker| w.start_ns.saturating_add(w.elapsed_ns);
    repetition.workers.iter().map(end).max().unwrap_or(0) as f64 / 1e9
}

/// Seconds until the report: all threads are gone. Rates are over this clock, a hair longer than the total time.
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
        // As printed for two threads of three and two events.
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
