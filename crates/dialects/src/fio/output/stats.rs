//! Turns the record into fio's report: an entry per job, or per group of jobs with group_reporting.

use super::super::plan::{Job, Plan, Unified};
use super::errors::{self, Errors};
use super::priorities::{self, ByPriority};
use super::queue;
use super::windows::{self, Window};
use fathom_record::{
    Ending, Histogram, InFlight, OpError, OpKind, Repetition, Run, SteadyGroup, ThreadCounts, Worker,
};
use fathom_workload::{Access, AdaptiveDepth, Amount, DepthGoal};
use std::collections::{BTreeMap, BTreeSet};

/// A report entry.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Index of the job it is named after.
    pub job: usize,
    /// Index of its last job, whose options fio reports.
    pub last: usize,
    /// Number of clones.
    pub clones: u32,
    /// Reads, including read-back.
    pub read: Side,
    /// Writes.
    pub write: Side,
    /// Trims.
    pub trim: Side,
    /// All directions combined, if requested.
    pub mixed: Side,
    /// Number of final syncs among those in `sync`: fio times but does not count them.
    pub syncs_at_end: u64,
    /// Latencies of fsync and fdatasync.
    pub sync: Histogram,
    /// Sum of the workers' run times, ns.
    pub clock_ns: u64,
    /// Longest run time of a worker, ns.
    pub runtime_ns: u64,
    /// User CPU time, ns.
    pub user_ns: u64,
    /// System CPU time, ns.
    pub system_ns: u64,
    /// Start of its first worker, ns after the start of the run.
    pub start_ns: Option<u64>,
    /// Kernel counters of its threads.
    pub counts: ThreadCounts,
    /// The error that ended it.
    pub error: Option<OpError>,
    /// Counted errors: ignored ones, and one that ended it.
    pub errors: Errors,
    /// Queue depth found by a latency-target search.
    pub depth: Option<u32>,
    /// Queue depths and batch sizes.
    pub in_flight: InFlight,
    /// Result of steady-state detection.
    pub steady: Option<SteadyGroup>,
    /// Windows of bandwidth and of IOPS, by phase and window number.
    windows: [BTreeMap<(u32, u64), Window>; 2],
}

/// One direction of an entry.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Bytes moved.
    pub bytes: u64,
    /// Operations, including ignored failures.
    pub ios: u64,
    /// Failed operations among them.
    pub failed: u64,
    /// Longest run time of a worker with this direction, ns.
    pub runtime_ns: u64,
    /// Rate of the whole group in this direction, bytes per second.
    pub group_bytes_per_s: f64,
    /// From preparation to completion.
    pub lat: Histogram,
    /// From submission to completion.
    pub clat: Histogram,
    /// From preparation to submission; empty for synchronous engines.
    pub slat: Histogram,
    /// Bytes per second by window, if known.
    pub bandwidth: Vec<u64>,
    /// Operations per second by window.
    pub operations: Vec<u64>,
    /// Latencies by I/O priority, if operations have their own.
    pub priorities: Vec<ByPriority>,
}

impl Side {
    /// Run time in milliseconds; a nonzero time is at least 1, as in fio.
    #[must_use]
    pub fn runtime_ms(&self) -> u64 {
        milliseconds(self.runtime_ns)
    }

    /// Mean rate in bytes per second.
    #[must_use]
    pub fn bytes_per_s(&self) -> u64 {
        if self.runtime_ns == 0 { 0 } else { (self.bytes as f64 * 1e9 / self.runtime_ns as f64) as u64 }
    }

    /// Mean rate in operations per second.
    #[must_use]
    pub fn iops(&self) -> f64 {
        if self.runtime_ns == 0 { 0.0 } else { self.ios as f64 * 1e9 / self.runtime_ns as f64 }
    }

    /// Adds another direction of the same job.
    fn join(&mut self, other: &Self) {
        self.ios += other.ios;
        self.failed += other.failed;
        self.bytes += other.bytes;
        self.runtime_ns = self.runtime_ns.max(other.runtime_ns);
        self.lat.merge(&other.lat);
        self.clat.merge(&other.clat);
        self.slat.merge(&other.slat);
        priorities::join(&mut self.priorities, &other.priorities);
    }

    /// Adds a worker. A computing worker contributes neither bytes nor time.
    fn add(&mut self, worker: &Worker, whole: OpKind, parts: Option<[OpKind; 2]>, computes: bool) {
        let of = |kind: OpKind| worker.stats.iter().filter(move |s| s.op == kind);
        let ios: u64 = of(whole).map(|s| s.ops).sum();
        if ios == 0 {
            return;
        }
        self.ios += ios;
        if !computes {
            self.bytes += of(whole).map(|s| s.bytes).sum::<u64>();
            self.runtime_ns = self.runtime_ns.max(worker.elapsed_ns);
        }
        of(whole).for_each(|s| self.lat.merge(&s.latency));
        let parts = parts.filter(|[_, completion]| of(*completion).next().is_some());
        // A synchronous operation is submitted when it is prepared.
        let completion = parts.map_or(whole, |[_, completion]| completion);
        of(completion).for_each(|s| self.clat.merge(&s.latency));
        if let Some([submission, _]) = parts {
            of(submission).for_each(|s| self.slat.merge(&s.latency));
        }
    }
}

/// Nanoseconds to milliseconds; a nonzero time is at least 1.
#[must_use]
pub fn milliseconds(ns: u64) -> u64 {
    if ns == 0 { 0 } else { (ns / 1_000_000).max(1) }
}

/// The entries of a run.
#[must_use]
pub fn entries(plan: &Plan, run: &Run) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (number, job) in plan.jobs.iter().enumerate().filter(|(_, job)| job.report.reported) {
        // As in fio, it joins the preceding entry of its group, grouped or not.
        let joins = entries.last().is_some_and(|before| plan.jobs[before.job].group == job.group);
        if job.report.grouped {
            if !joins {
                entries.push(Entry { job: number, ..Entry::default() });
            }
            if let Some(entry) = entries.last_mut() {
                entry.last = number;
                entry.clones += job.clones;
                (0..job.clones).for_each(|clone| entry.add(job, clone, run));
            }
        } else {
            for clone in 0..job.clones {
                let mut entry = Entry { job: number, last: number, clones: 1, ..Entry::default() };
                entry.add(job, clone, run);
                entries.push(entry);
            }
        }
    }
    for entry in &mut entries {
        let unified = plan.jobs[entry.job].report.unified;
        entry.take_windows(unified.is_combined(), plan.jobs[entry.job].report.windows_ns);
        if unified.is_combined() {
            entry.unite();
        }
        if !unified.is_separate() {
            (entry.read, entry.write, entry.trim) = Default::default();
        }
    }
    super::shares::of_groups(&mut entries, plan);
    entries
}

fn repetition(run: &Run, phase: u32) -> Option<&Repetition> {
    run.phases.iter().find(|p| p.seq == phase).and_then(|p| p.repetitions.first())
}

impl Entry {
    fn add(&mut self, job: &Job, clone: u32, run: &Run) {
        for place in &job.places {
            let index = place.worker + clone;
            if let Some(found) = repetition(run, place.phase).filter(|_| self.steady.is_none()) {
                let of = found.steady_groups.iter().find(|of| of.workers.contains(&index));
                self.steady = of.cloned();
            }
            if let Some(found) = repetition(run, place.phase) {
                let of = |write: bool| {
                    found.priorities.iter().filter(move |s| s.worker == index && s.write == write)
                };
                priorities::add(&mut self.read.priorities, job, of(false));
                priorities::add(&mut self.write.priorities, job, of(true));
            }
            let Some(worker) =
                repetition(run, place.phase).and_then(|r| r.workers.iter().find(|w| w.index == index))
            else {
                continue;
            };
            self.add_unwritten(job, clone, worker);
            let computes = !job.stream.backend.counts_bytes();
            self.read.add(
                worker,
                OpKind::Read,
                Some([OpKind::ReadSubmission, OpKind::ReadCompletion]),
                computes,
            );
            self.write.add(
                worker,
                OpKind::Write,
                Some([OpKind::WriteSubmission, OpKind::WriteCompletion]),
                computes,
            );
            // Trims are submitted when prepared, so only one latency exists.
            self.trim.add(worker, OpKind::Trim, None, computes);
            // A final fsync is separate from those of fsync=N or a trace; without these it is the only sync.
            let on_the_way =
                job.stream.sync_every.is_some() || matches!(job.stream.access, Access::Listed(_));
            for stat in worker.stats.iter().filter(|s| on_the_way && s.op == OpKind::Sync) {
                self.sync.merge(&stat.latency);
                // One per file of the clone.
                let files = job.files.first().map_or(1, |files| files.len().max(1) as u64);
                self.syncs_at_end += match (job.stream.timed.fsync, job.stream.timed.syncfs) {
                    (true, true) => 1,
                    (true, false) => files,
                    (false, _) => 0,
                };
            }
            self.depth = self.depth.or(worker.settled_depth);
            self.in_flight.add(&worker.in_flight.unwrap_or_else(|| queue::planned(job, worker)));
            self.add_errors(job, worker);
            self.add_windows(place.phase, worker, job.report.windows_ns);
            let began_ns =
                repetition(run, place.phase).map_or(0, |r| r.started_ns).saturating_add(worker.start_ns);
            self.start_ns = Some(self.start_ns.map_or(began_ns, |before| before.min(began_ns)));
            self.clock_ns += worker.elapsed_ns;
            self.runtime_ns = self.runtime_ns.max(worker.elapsed_ns);
            self.user_ns += worker.cpu_user_ns;
            self.system_ns += worker.cpu_system_ns;
            let counts = worker.thread_counts.unwrap_or_default();
            self.counts.switches += counts.switches;
            self.counts.major_faults += counts.major_faults;
            self.counts.minor_faults += counts.minor_faults;
            if let (None, Ending::Failed(error)) = (&self.error, &worker.ending) {
                self.error = Some(error.clone());
            }
        }
    }

    /// Counts the writes skipped by a job that only reads back, as fio does, with zero time.
    fn add_unwritten(&mut self, job: &Job, clone: u32, worker: &Worker) {
        if !job.only_reads_back {
            return;
        }
        let read = worker.stats.iter().filter(|stat| stat.op == OpKind::Read);
        let read = read.fold((0, 0), |sum, stat| (sum.0 + stat.ops, sum.1 + stat.bytes));
        let passes = match job.stream.amount {
            Amount::Passes(n) => n,
            _ => 1,
        };
        // A job with nothing to check still reads one block.
        let none = job.up_to.get(clone as usize) == Some(&0);
        let (writes, bytes) = match job.unwritten.get(clone as usize) {
            Some(of) => (of.writes, of.bytes),
            None if none => (0, 0),
            None => (read.0.saturating_mul(passes), read.1.saturating_mul(passes)),
        };
        self.write.ios += writes;
        self.write.bytes += bytes;
    }

    /// Ignored failures were issued, and fio counts them.
    fn add_errors(&mut self, job: &Job, worker: &Worker) {
        self.errors.add(job, worker);
        let Some(passed) = &worker.passed else { return };
        let failed = [passed.reads, passed.writes, passed.trims];
        for (side, failed) in [&mut self.read, &mut self.write, &mut self.trim].into_iter().zip(failed) {
            if failed > 0 {
                side.ios += failed;
                side.failed += failed;
                side.runtime_ns = side.runtime_ns.max(worker.elapsed_ns);
            }
        }
    }

    fn add_windows(&mut self, phase: u32, worker: &Worker, widths_ns: [u64; 2]) {
        for (all, width_ns) in self.windows.iter_mut().zip(widths_ns) {
            for (number, window) in windows::of(worker, width_ns) {
                all.entry((phase, number)).or_default().join(&window);
            }
        }
    }

    /// Combines all directions. The windows are already combined.
    fn unite(&mut self) {
        let Self { read, write, trim, mixed, .. } = self;
        [read, write, trim].into_iter().for_each(|side| mixed.join(side));
    }

    /// Operations of all directions.
    #[must_use]
    pub fn ios(&self) -> u64 {
        // Combined operations are counted nowhere else, or twice.
        (self.read.ios + self.write.ios + self.trim.ios).max(self.mixed.ios)
    }

    /// The reported directions, with fio's names.
    #[must_use]
    pub fn reported(&self, unified: Unified) -> Vec<(&'static str, &Side)> {
        let apart = [("read", &self.read), ("write", &self.write), ("trim", &self.trim)];
        let apart = apart.into_iter().filter(|_| unified.is_separate());
        apart.chain(unified.is_combined().then_some(("mixed", &self.mixed))).collect()
    }

    /// Fills in windows; idle ones count as 0 in phases that have I/O of the direction.
    fn take_windows(&mut self, together: bool, widths_ns: [u64; 2]) {
        const KINDS: [OpKind; 3] = [OpKind::Read, OpKind::Write, OpKind::Trim];
        let all = std::mem::take(&mut self.windows).into_iter().zip(widths_ns);
        for (bandwidth, (mut windows, width_ns)) in [true, false].into_iter().zip(all) {
            // The last window is partial and gives no rate.
            windows.retain(|_, window| window.width_ns >= width_ns / 10 * 9);
            let active: BTreeSet<(u32, OpKind)> = windows
                .iter()
                .flat_map(|((phase, _), w)| KINDS.map(|kind| (*phase, kind, w.of(kind)[0])))
                .filter_map(|(phase, kind, ops)| (ops > 0).then_some((phase, kind)))
                .collect();
            for ((phase, _), window) in windows {
                let add_rate = |side: &mut Side, moved: u64| {
                    let per_s = (moved as f64 * 1e9 / window.width_ns as f64) as u64;
                    if bandwidth { side.bandwidth.push(per_s) } else { side.operations.push(per_s) }
                };
                let mut all = 0;
                for (kind, side) in KINDS.into_iter().zip([&mut self.read, &mut self.write, &mut self.trim]) {
                    if active.contains(&(phase, kind)) {
                        let [ops, bytes, _] = window.of(kind);
                        let moved = if bandwidth { bytes } else { ops };
                        add_rate(side, moved);
                        all += moved;
                    }
                }
                if together && KINDS.iter().any(|kind| active.contains(&(phase, *kind))) {
                    add_rate(&mut self.mixed, all);
                }
            }
        }
    }

    /// Latency tables of all operations; empty if the job does not report completion latency.
    #[must_use]
    pub fn tables(&self, job: &Job) -> [Vec<f64>; 3] {
        let mut all = Histogram::default();
        // Combined operations count once.
        let failed = (self.read.failed + self.write.failed + self.trim.failed).max(self.mixed.failed);
        // For calls by name, fio has completion latencies but no table.
        if job.report.clat && !job.stream.backend.is_by_name() {
            if job.report.unified.is_combined() {
                all.merge(&self.mixed.clat);
            } else {
                [&self.read, &self.write, &self.trim].iter().for_each(|side| all.merge(&side.clat));
            }
        }
        let mut tables = tables(&all);
        if failed > 0 {
            // Percentages are of all issued operations; failed ones have no latency.
            let share = all.count() as f64 / (all.count() + failed) as f64;
            tables.iter_mut().flatten().for_each(|percent| *percent *= share);
        }
        tables
    }

    /// Queue depth: as requested, or as found by the search.
    #[must_use]
    pub fn depth(&self, job: &Job) -> u32 {
        self.depth.unwrap_or(job.stream.queue_depth)
    }

    /// Percentages by depth, by submission batch size, and by completion batch size.
    #[must_use]
    pub fn queue(&self) -> [[f64; 7]; 3] {
        [self.in_flight.depth, self.in_flight.submit, self.in_flight.complete].map(queue::shares)
    }

    /// User and system CPU time in percent of the run time.
    #[must_use]
    pub fn cpu_percent(&self) -> (f64, f64) {
        let share = |ns: u64| if self.clock_ns == 0 { 0.0 } else { ns as f64 * 100.0 / self.clock_ns as f64 };
        (share(self.user_ns), share(self.system_ns))
    }

    /// errno as fio reports it: 84 for failed verification.
    #[must_use]
    pub fn errno(&self) -> i32 {
        self.error.as_ref().map_or(self.errors.first, errors::number)
    }
}

/// Mean and standard deviation.
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

/// Mean and standard deviation of a histogram: the mean is exact, the deviation uses the middles of the buckets.
#[must_use]
pub fn spread(h: &Histogram) -> (f64, f64) {
    let mean = h.mean_ns().unwrap_or(0.0);
    if h.count() < 2 {
        return (mean, 0.0);
    }
    let squares: f64 = middles(h).map(|(value, n)| (value as f64 - mean).powi(2) * n as f64).sum();
    (mean, (squares / (h.count() - 1) as f64).sqrt())
}

/// Bucket middles with their counts.
pub fn middles(h: &Histogram) -> impl Iterator<Item = (u64, u64)> + '_ {
    h.buckets().map(|(low, width, n)| (low + width / 2, n))
}

/// Middle of the first bucket at which at least `percent` of all values are reached.
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

/// Upper bounds of the latency table buckets.
pub const BUCKETS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Percentages in the tables of nanoseconds, microseconds and milliseconds; the last has two more buckets, up to 2 s and above.
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
    // Nonzero counts never print as 0.
    let share = |n: u64| if n == 0 { 0.0 } else { (n as f64 * 100.0 / all).max(0.01) };
    counts.map(|table| table.into_iter().map(share).collect())
}

/// Upper bounds of the depth table buckets.
pub const DEPTHS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Latency target of a depth search: target in ns, window in ns, percentile.
#[must_use]
pub fn latency_target(job: &Job) -> (u64, u64, f64) {
    match job.stream.adaptive_depth {
        Some(AdaptiveDepth { goal: DepthGoal::Latency { percentile, at_most }, window, .. }) => {
            (at_most.0, window.0, percentile)
        }
        // There is no search with a fixed depth, but the requested target is still reported.
        _ => {
            let s = &job.settings;
            let time = |name| s.time(name).unwrap_or(0);
            let percentile =
                s.floats("latency_percentile").ok().flatten().and_then(|list| list.first().copied());
            (time("latency_target"), time("latency_window"), percentile.unwrap_or(100.0))
        }
    }
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
    fn deviations() {
        assert_eq!(mean_and_deviation(&[2, 4]), (3.0, 2f64.sqrt()));
        assert_eq!(spread(&Histogram::from_values([2, 4])), (3.0, 2f64.sqrt()));
    }
}
