//! Latencies by I/O priority, for jobs with per-operation priorities: operations without one first, then in the order of the job's options.

use super::super::plan::Job;
use super::super::version::Version;
use fathom_record::{Histogram, PriorityStat};

/// Latencies of one priority.
#[derive(Clone, Debug, Default)]
pub struct ByPriority {
    /// Class in the bits from 13 up, then hint, and level.
    pub priority: u16,
    /// From preparation to completion.
    pub lat: Histogram,
    /// From submission to completion.
    pub clat: Histogram,
}

impl ByPriority {
    /// Class, level and hint.
    #[must_use]
    pub fn parts(&self) -> (u16, u16, u16) {
        (self.priority >> 13, self.priority & 7, self.priority >> 3 & 0x3ff)
    }

    /// As printed in the text report; fio 3.42 includes the hint.
    #[must_use]
    pub fn text(&self, job: &Job) -> String {
        let (class, level, hint) = self.parts();
        if job.report.version >= Version::V3_42 {
            format!("{class}/{level}/{hint}")
        } else {
            format!("{class}/{level}")
        }
    }

    /// The reported latency: completion latency, or total latency with `lat_percentiles`.
    #[must_use]
    pub fn reported(&self, job: &Job) -> (&'static str, &Histogram) {
        if job.report.lat_percentiles { ("lat", &self.lat) } else { ("clat", &self.clat) }
    }
}

/// Priority of operations without their own.
#[must_use]
pub fn of_job(job: &Job) -> u16 {
    job.priority.number()
}

/// Adds a worker's latencies in one direction.
pub fn add<'a>(to: &mut Vec<ByPriority>, job: &Job, stats: impl Iterator<Item = &'a PriorityStat>) {
    let own = of_job(job);
    let mut write = None;
    for stat in stats {
        write = Some(stat.write);
        let priority = if stat.priority == 0 { own } else { stat.priority };
        merge(to, priority, [&stat.latency, &stat.completion]);
    }
    let Some(write) = write else { return };
    let named = || job.stream.priorities.iter().filter(|share| share.writes == write);
    let place = |by: &ByPriority| match by.priority {
        priority if priority == own => 0,
        priority => 1 + named().position(|share| share.number() == priority).unwrap_or(usize::MAX - 1),
    };
    to.sort_by_key(place);
}

/// Adds the priorities of another direction, appending new ones in its order.
pub fn join(to: &mut Vec<ByPriority>, other: &[ByPriority]) {
    for by in other {
        merge(to, by.priority, [&by.lat, &by.clat]);
    }
}

fn merge(to: &mut Vec<ByPriority>, priority: u16, [lat, clat]: [&Histogram; 2]) {
    let at = to.iter().position(|by| by.priority == priority).unwrap_or_else(|| {
        to.push(ByPriority { priority, ..ByPriority::default() });
        to.len() - 1
    });
    if let Some(by) = to.get_mut(at) {
        by.lat.merge(lat);
        by.clat.merge(clat);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::planned;
    use super::*;

    #[test]
    fn operations_without_priority_come_first_with_the_jobs() {
        let plan = planned(
            "--name=a --size=1m --rw=read --ioengine=libaio --direct=1 --prioclass=2 --prio=4 --bs=4k \
             --cmdprio_bssplit=4k/20/3/1:4k/30/1/2",
        );
        let stat = |priority, ns: &[u64]| PriorityStat {
            priority,
            latency: Histogram::from_values(ns.iter().copied()),
            completion: Histogram::from_values(ns.iter().copied()),
            ..PriorityStat::default()
        };
        let stats = [stat(0x2002, &[9]), stat(0x6001, &[5]), stat(0, &[1, 2]), stat(0, &[3])];
        let mut found = Vec::new();
        add(&mut found, &plan.jobs[0], stats.iter());
        let counts: Vec<((u16, u16, u16), u64)> =
            found.iter().map(|by| (by.parts(), by.clat.count())).collect();
        assert_eq!(counts, [((2, 4, 0), 3), ((3, 1, 0), 1), ((1, 2, 0), 1)]);
        assert_eq!(found[0].reported(&plan.jobs[0]).0, "clat");
    }

    #[test]
    fn combined_directions_share_their_priorities() {
        let by = |priority, ns: &[u64]| ByPriority {
            priority,
            lat: Histogram::from_values(ns.iter().copied()),
            clat: Histogram::from_values(ns.iter().map(|ns| ns - 1)),
        };
        let mut mixed = vec![by(0, &[10, 20])];
        join(&mut mixed, &[by(0, &[30]), by(0x2002, &[5])]);
        let sums: Vec<_> = mixed.iter().map(|by| (by.priority, by.lat.sum_ns(), by.clat.sum_ns())).collect();
        assert_eq!(sums, [(0, 60, 57), (0x2002, 5, 4)]);
    }
}
