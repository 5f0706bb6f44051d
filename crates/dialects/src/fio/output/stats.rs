//! From the record to what fio reports: an entry for each job, or for each group of jobs with group_reporting.

use super::super::plan::{Job, Plan};
use super::windows::{self, Window};
use fathom_record::{Ending, Histogram, OpError, OpKind, Repetition, Run, Worker};
use fathom_workload::Access;
use std::collections::{BTreeMap, BTreeSet};

/// What is reported under one name.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Job of the plan it is named after.
    pub job: usize,
    /// Number of clones.
    pub clones: u32,
    /// Reads, with the reading back of what was written.
    pub read: Side,
    /// Writes.
    pub write: Side,
    /// How many of the syncs below were made at the end: fio times them and does not count them.
    pub syncs_at_end: u64,
    /// fsyncs and fdatasyncs.
    pub sync: Histogram,
    /// Sum of what the workers' clocks ran, ns.
    pub clock_ns: u64,
    /// Longest, ns.
    pub runtime_ns: u64,
    /// CPU time, ns.
    pub user_ns: u64,
    /// See `user_ns`.
    pub system_ns: u64,
    /// What ended it, if it failed.
    pub error: Option<OpError>,
    /// What its workers did in windows, by phase and number.
    windows: BTreeMap<(u32, u64), Window>,
}

/// One direction of an entry.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Bytes.
    pub bytes: u64,
    /// Operations.
    pub ios: u64,
    /// Longest clock of a worker that did any, ns.
    pub runtime_ns: u64,
    /// From preparing to completion.
    pub lat: Histogram,
    /// From submission to completion.
    pub clat: Histogram,
    /// From preparing to submission; empty of synchronous engines.
    pub slat: Histogram,
    /// Bytes a second in windows, where they are known for this entry.
    pub bandwidth: Vec<u64>,
    /// Operations a second in windows.
    pub operations: Vec<u64>,
}

impl Side {
    /// Milliseconds, rounded as fio does: anything that took time took one.
    #[must_use]
    pub fn runtime_ms(&self) -> u64 {
        milliseconds(self.runtime_ns)
    }

    /// Bytes a second.
    #[must_use]
    pub fn bytes_per_s(&self) -> u64 {
        if self.runtime_ns == 0 { 0 } else { (self.bytes as f64 * 1e9 / self.runtime_ns as f64) as u64 }
    }

    /// Operations a second.
    #[must_use]
    pub fn iops(&self) -> f64 {
        if self.runtime_ns == 0 { 0.0 } else { self.ios as f64 * 1e9 / self.runtime_ns as f64 }
    }

    fn add(&mut self, worker: &Worker, kinds: [OpKind; 3]) {
        let [whole, submission, completion] = kinds;
        let of = |kind: OpKind| worker.stats.iter().filter(move |s| s.op == kind);
        let ios: u64 = of(whole).map(|s| s.ops).sum();
        if ios == 0 {
            return;
        }
        self.ios += ios;
        self.bytes += of(whole).map(|s| s.bytes).sum::<u64>();
        self.runtime_ns = self.runtime_ns.max(worker.elapsed_ns);
        of(whole).for_each(|s| self.lat.merge(&s.latency));
        of(submission).for_each(|s| self.slat.merge(&s.latency));
        let mut completed = of(completion).peekable();
        if completed.peek().is_some() {
            completed.for_each(|s| self.clat.merge(&s.latency));
        } else {
            // A synchronous call is submitted when it is prepared.
            of(whole).for_each(|s| self.clat.merge(&s.latency));
        }
    }
}

/// Milliseconds of nanoseconds; what took any time took at least one.
#[must_use]
pub fn milliseconds(ns: u64) -> u64 {
    if ns == 0 { 0 } else { (ns / 1_000_000).max(1) }
}

/// Windows of bandwidth over time.
const WINDOW_NS: u64 = 500_000_000;
/// Shorter pieces of time say nothing of a rate.
const LEAST_WINDOW_NS: u64 = 450_000_000;

/// The entries of a run.
#[must_use]
pub fn entries(plan: &Plan, run: &Run) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (number, job) in plan.jobs.iter().enumerate() {
        let grouped = entries
            .last()
            .map(|e| &plan.jobs[e.job])
            .is_some_and(|before| job.report.grouped && before.report.grouped && before.group == job.group);
        if job.report.grouped {
            if !grouped {
                entries.push(Entry { job: number, ..Entry::default() });
            }
            if let Some(entry) = entries.last_mut() {
                entry.clones += job.clones;
                (0..job.clones).for_each(|clone| entry.add(job, clone, run));
            }
        } else {
            for clone in 0..job.clones {
                let mut entry = Entry { job: number, clones: 1, ..Entry::default() };
                entry.add(job, clone, run);
                entries.push(entry);
            }
        }
    }
    entries.iter_mut().for_each(Entry::take_windows);
    entries
}

fn repetition(run: &Run, phase: u32) -> Option<&Repetition> {
    run.phases.iter().find(|p| p.seq == phase).and_then(|p| p.repetitions.first())
}

impl Entry {
    fn add(&mut self, job: &Job, clone: u32, run: &Run) {
        for place in &job.places {
            let index = place.worker + clone;
            let Some(worker) =
                repetition(run, place.phase).and_then(|r| r.workers.iter().find(|w| w.index == index))
            else {
                continue;
            };
            self.read.add(worker, [OpKind::Read, OpKind::ReadSubmission, OpKind::ReadCompletion]);
            self.write.add(worker, [OpKind::Write, OpKind::WriteSubmission, OpKind::WriteCompletion]);
            // An fsync at the end is none of those that fsync=N or a trace asks for; without these, it is the only one.
            let on_the_way =
                job.stream.sync_every.is_some() || matches!(job.stream.access, Access::Listed(_));
            for stat in worker.stats.iter().filter(|s| on_the_way && s.op == OpKind::Sync) {
                self.sync.merge(&stat.latency);
                // Of each file of the clone.
                let files = job.files.first().map_or(1, |files| files.len().max(1) as u64);
                self.syncs_at_end += if job.stream.timed.fsync { files } else { 0 };
            }
            self.add_windows(place.phase, worker);
            self.clock_ns += worker.elapsed_ns;
            self.runtime_ns = self.runtime_ns.max(worker.elapsed_ns);
            self.user_ns += worker.cpu_user_ns;
            self.system_ns += worker.cpu_system_ns;
            if let (None, Ending::Failed(error)) = (&self.error, &worker.ending) {
                self.error = Some(error.clone());
            }
        }
    }

    fn add_windows(&mut self, phase: u32, worker: &Worker) {
        for (number, window) in windows::of(worker, WINDOW_NS) {
            self.windows.entry((phase, number)).or_default().join(&window);
        }
    }

    /// Windows without I/O count as 0, in phases that have some of that direction.
    fn take_windows(&mut self) {
        const KINDS: [OpKind; 2] = [OpKind::Read, OpKind::Write];
        let mut windows = std::mem::take(&mut self.windows);
        // The last one is as long as what was left.
        windows.retain(|_, window| window.width_ns >= LEAST_WINDOW_NS);
        let active: BTreeSet<(u32, OpKind)> = windows
            .iter()
            .flat_map(|((phase, _), w)| KINDS.map(|kind| (*phase, kind, w.of(kind)[0])))
            .filter_map(|(phase, kind, ops)| (ops > 0).then_some((phase, kind)))
            .collect();
        for ((phase, _), window) in windows {
            for (kind, side) in KINDS.into_iter().zip([&mut self.read, &mut self.write]) {
                if active.contains(&(phase, kind)) {
                    let per_s = |n: u64| (n as f64 * 1e9 / window.width_ns as f64) as u64;
                    let [ops, bytes, _] = window.of(kind);
                    side.bandwidth.push(per_s(bytes));
                    side.operations.push(per_s(ops));
                }
            }
        }
    }

    /// The tables of the completion latencies of all operations; empty where a job does not want these.
    #[must_use]
    pub fn tables(&self, job: &Job) -> [Vec<f64>; 3] {
        let mut all = Histogram::default();
        if job.report.clat {
            all.merge(&self.read.clat);
            all.merge(&self.write.clat);
        }
        tables(&all)
    }

    /// Percent of the clocks that went to user and kernel.
    #[must_use]
    pub fn cpu_percent(&self) -> (f64, f64) {
        let share = |ns: u64| if self.clock_ns == 0 { 0.0 } else { ns as f64 * 100.0 / self.clock_ns as f64 };
        (share(self.user_ns), share(self.system_ns))
    }

    /// errno, as fio reports it: 84 for what a check found.
    #[must_use]
    pub fn errno(&self) -> i32 {
        match &self.error {
            None => 0,
            Some(error) if error.errno != 0 => error.errno,
            Some(_) => 84,
        }
    }
}

/// Mean and deviation of a list.
#[must_use]
pub fn mean_and_deviation(values: &[u64]) -> (f64, f64) {
    let n = values.len() as f64;
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let mean = values.iter().map(|v| *v as f64).sum::<f64>() / n;
    if values.len() < 2 {
        return (mean, 0.0);
    }
    let squares = values.iter().map(|v| (*v as f64 - mean).powi(2)).sum::<f64>();
    (mean, (squares / (n - 1.0)).sqrt())
}

/// Mean and deviation of a histogram: the mean is exact, the deviation is that of the buckets' middles.
#[must_use]
pub fn spread(h: &Histogram) -> (f64, f64) {
    let mean = h.mean_ns().unwrap_or(0.0);
    if h.count() < 2 {
        return (mean, 0.0);
    }
    let squares: f64 = middles(h).map(|(value, n)| (value as f64 - mean).powi(2) * n as f64).sum();
    (mean, (squares / (h.count() - 1) as f64).sqrt())
}

/// The middles of buckets with their counts.
pub fn middles(h: &Histogram) -> impl Iterator<Item = (u64, u64)> + '_ {
    h.buckets().map(|(low, width, n)| (low + width / 2, n))
}

/// The middle of the first bucket up to which `percent` of all values lie.
#[must_use]
pub fn percentile(h: &Histogram, percent: f64) -> u64 {
    let wanted = percent / 100.0 * h.count() as f64;
    let mut running = 0u64;
    for (value, n) in middles(h) {
        running += n;
        if running as f64 >= wanted {
            return value;
        }
    }
    h.max_ns()
}

/// Upper ends of the buckets of the latency tables.
pub const BUCKETS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Shares in percent of the tables of nanoseconds, microseconds and milliseconds; the last has two more, up to 2 s and above.
#[must_use]
pub fn tables(h: &Histogram) -> [Vec<f64>; 3] {
    let mut counts = [vec![0u64; 10], vec![0u64; 10], vec![0u64; 12]];
    for (value, n) in middles(h) {
        let (table, value) = match value {
            0..=999 => (0, value),
            1000..=999_999 => (1, value / 1000),
            _ => (2, value / 1_000_000),
        };
        let place = BUCKETS.iter().position(|end| value < *end).unwrap_or(if value < 2000 { 10 } else { 11 });
        if let Some(slot) = counts[table].get_mut(place) {
            *slot += n;
        }
    }
    let all = h.count().max(1) as f64;
    // What happened is never printed as nothing.
    let share = |n: u64| if n == 0 { 0.0 } else { (n as f64 * 100.0 / all).max(0.01) };
    counts.map(|table| table.into_iter().map(share).collect())
}

/// Upper ends of the depth tables.
pub const DEPTHS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Shares of the depths: all operations at the depth that was asked for, which is kept full.
#[must_use]
pub fn depths(depth: u32, any: bool) -> [f64; 7] {
    let mut shares = [0.0; 7];
    let place = DEPTHS.iter().rposition(|d| u64::from(depth) >= *d).unwrap_or(0);
    if any {
        shares[place] = 100.0;
    }
    shares
}

/// Shares of how many operations were submitted at once (0, up to 4, 8, 16, 32, 64, more); nothing for synchronous engines.
#[must_use]
pub fn batches(batch: Option<u32>) -> [f64; 7] {
    let mut shares = [0.0; 7];
    if let Some(batch) = batch {
        let place = [0, 4, 8, 16, 32, 64].iter().position(|d| batch <= *d).unwrap_or(6);
        shares[place] = 100.0;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_follow_from_the_buckets() {
        let h = Histogram::from_values([10, 10, 20, 1_000_000]);
        assert_eq!((percentile(&h, 50.0), percentile(&h, 75.0)), (10, 20));
        let last = percentile(&h, 100.0);
        assert!(last.abs_diff(1_000_000) < 8000, "{last}");
        assert_eq!(percentile(&Histogram::default(), 50.0), 0);
    }

    #[test]
    fn tables_count_below_their_ends() {
        let [ns, us, ms] = tables(&Histogram::from_values([1, 40, 999, 5000, 3_000_000_000]));
        assert_eq!((ns[0], ns[4], ns[9], us[2], ms[11]), (20.0, 20.0, 20.0, 20.0, 20.0));
    }

    #[test]
    fn depths_and_batches_have_their_places() {
        assert_eq!(depths(1, true)[0], 100.0);
        assert_eq!(depths(32, true)[5], 100.0);
        assert_eq!(depths(100, true)[6], 100.0);
        assert_eq!(batches(Some(1))[1], 100.0);
        assert_eq!(batches(None), [0.0; 7]);
    }

    #[test]
    fn deviations() {
        assert_eq!(mean_and_deviation(&[2, 4]), (3.0, 2f64.sqrt()));
        assert_eq!(spread(&Histogram::from_values([2, 4])), (3.0, 2f64.sqrt()));
    }
}
