//! From the record to what fio reports: an entry for each job, or for each group of jobs with group_reporting.

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

/// What is reported under one name.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Job of the plan it is named after.
    pub job: usize,
    /// The last job in it: fio tells the options of this one.
    pub last: usize,
    /// Number of clones.
    pub clones: u32,
    /// Reads, with the reading back of what was written.
    pub read: Side,
    /// Writes.
    pub write: Side,
    /// Trims.
    pub trim: Side,
    /// All three as one, where that is wanted.
    pub mixed: Side,
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
    /// When the first of its workers began, ns after the run did.
    pub start_ns: Option<u64>,
    /// What the kernel counted of its threads.
    pub counts: ThreadCounts,
    /// What ended it, if it failed.
    pub error: Option<OpError>,
    /// Errors that count: those that were passed over, and one that ended it all the same.
    pub errors: Errors,
    /// Depth that a search settled on.
    pub depth: Option<u32>,
    /// How full queues were.
    pub in_flight: InFlight,
    /// What came of waiting for a steady state.
    pub steady: Option<SteadyGroup>,
    /// What its workers did in windows of bandwidth and of operations, by phase and number.
    windows: [BTreeMap<(u32, u64), Window>; 2],
}

/// One direction of an entry.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Bytes.
    pub bytes: u64,
    /// Operations, those that failed and were passed over included.
    pub ios: u64,
    /// Of these, those that failed.
    pub failed: u64,
    /// Longest clock of a worker that did any, ns.
    pub runtime_ns: u64,
    /// How fast all entries of its group are in this direction, bytes a second.
    pub group_bytes_per_s: f64,
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
    /// Latencies by I/O priority, where single operations have one.
    pub priorities: Vec<ByPriority>,
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

    /// Another direction of the same job.
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

    /// Adds what a worker did; of one that computes, no bytes and no time in which they were moved.
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
        // A synchronous call is submitted when it is prepared.
        let completion = parts.map_or(whole, |[_, completion]| completion);
        of(completion).for_each(|s| self.clat.merge(&s.latency));
        if let Some([submission, _]) = parts {
            of(submission).for_each(|s| self.slat.merge(&s.latency));
        }
    }
}

/// Milliseconds of nanoseconds; what took any time took at least one.
#[must_use]
pub fn milliseconds(ns: u64) -> u64 {
    if ns == 0 { 0 } else { (ns / 1_000_000).max(1) }
}

/// The entries of a run.
#[must_use]
pub fn entries(plan: &Plan, run: &Run) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (number, job) in plan.jobs.iter().enumerate().filter(|(_, job)| job.report.told) {
        // As in fio, it joins whatever entry of its group stands before it, grouped or not.
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
        entry.take_windows(unified.together(), plan.jobs[entry.job].report.windows_ns);
        if unified.together() {
            entry.unite();
        }
        if !unified.apart() {
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
            // They are given to the kernel when they are prepared: there is nothing else to time.
            self.trim.add(worker, OpKind::Trim, None, computes);
            // An fsync at the end is none of those that fsync=N or a trace asks for; without these, it is the only one.
            let on_the_way =
                job.stream.sync_every.is_some() || matches!(job.stream.access, Access::Listed(_));
            for stat in worker.stats.iter().filter(|s| on_the_way && s.op == OpKind::Sync) {
                self.sync.merge(&stat.latency);
                // Of each file of the clone.
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

    /// What only reads back counts the writes that it leaves out, as fio does; they took no time.
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
        // What is to check nothing reads a block all the same.
        let none = job.up_to.get(clone as usize) == Some(&0);
        let (writes, bytes) = match job.unwritten.get(clone as usize) {
            Some(of) => (of.writes, of.bytes),
            None if none => (0, 0),
            None => (read.0.saturating_mul(passes), read.1.saturating_mul(passes)),
        };
        self.write.ios += writes;
        self.write.bytes += bytes;
    }

    /// Operations that failed and were passed over were issued all the same, and fio counts them so.
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

    /// All directions as one. The windows are there already.
    fn unite(&mut self) {
        let Self { read, write, trim, mixed, .. } = self;
        [read, write, trim].into_iter().for_each(|side| mixed.join(side));
    }

    /// Operations of all directions.
    #[must_use]
    pub fn ios(&self) -> u64 {
        // What is told as one is told nowhere else, or twice.
        (self.read.ios + self.write.ios + self.trim.ios).max(self.mixed.ios)
    }

    /// The directions that are told, with fio's names.
    #[must_use]
    pub fn told(&self, unified: Unified) -> Vec<(&'static str, &Side)> {
        let apart = [("read", &self.read), ("write", &self.write), ("trim", &self.trim)];
        let apart = apart.into_iter().filter(|_| unified.apart());
        apart.chain(unified.together().then_some(("mixed", &self.mixed))).collect()
    }

    /// Windows without I/O count as 0, in phases that have some of that direction.
    fn take_windows(&mut self, together: bool, widths_ns: [u64; 2]) {
        const KINDS: [OpKind; 3] = [OpKind::Read, OpKind::Write, OpKind::Trim];
        let all = std::mem::take(&mut self.windows).into_iter().zip(widths_ns);
        for (bandwidth, (mut windows, width_ns)) in [true, false].into_iter().zip(all) {
            // The last one is as long as what was left, and says nothing of a rate.
            windows.retain(|_, window| window.width_ns >= width_ns / 10 * 9);
            let active: BTreeSet<(u32, OpKind)> = windows
                .iter()
                .flat_map(|((phase, _), w)| KINDS.map(|kind| (*phase, kind, w.of(kind)[0])))
                .filter_map(|(phase, kind, ops)| (ops > 0).then_some((phase, kind)))
                .collect();
            for ((phase, _), window) in windows {
                let told = |side: &mut Side, moved: u64| {
                    let per_s = (moved as f64 * 1e9 / window.width_ns as f64) as u64;
                    if bandwidth { side.bandwidth.push(per_s) } else { side.operations.push(per_s) }
                };
                let mut all = 0;
                for (kind, side) in KINDS.into_iter().zip([&mut self.read, &mut self.write, &mut self.trim]) {
                    if active.contains(&(phase, kind)) {
                        let [ops, bytes, _] = window.of(kind);
                        let moved = if bandwidth { bytes } else { ops };
                        told(side, moved);
                        all += moved;
                    }
                }
                if together && KINDS.iter().any(|kind| active.contains(&(phase, *kind))) {
                    told(&mut self.mixed, all);
                }
            }
        }
    }

    /// The tables of the completion latencies of all operations; empty where a job does not want these.
    #[must_use]
    pub fn tables(&self, job: &Job) -> [Vec<f64>; 3] {
        let mut all = Histogram::default();
        // As of all operations: what is told as one counts once.
        let failed = (self.read.failed + self.write.failed + self.trim.failed).max(self.mixed.failed);
        // Of calls about names fio has completion latencies, and no table.
        if job.report.clat && !job.stream.backend.is_by_name() {
            if job.report.unified.together() {
                all.merge(&self.mixed.clat);
            } else {
                [&self.read, &self.write, &self.trim].iter().for_each(|side| all.merge(&side.clat));
            }
        }
        let mut tables = tables(&all);
        if failed > 0 {
            // Shares of all that were issued; those that failed have no latency.
            let share = all.count() as f64 / (all.count() + failed) as f64;
            tables.iter_mut().flatten().for_each(|percent| *percent *= share);
        }
        tables
    }

    /// Operations in flight: those that were asked for, or the depth that was found.
    #[must_use]
    pub fn depth(&self, job: &Job) -> u32 {
        self.depth.unwrap_or(job.stream.queue_depth)
    }

    /// Percent of the operations by depth, of the calls by what they submitted, and by what they took back.
    #[must_use]
    pub fn queue(&self) -> [[f64; 7]; 3] {
        [self.in_flight.depth, self.in_flight.submit, self.in_flight.complete].map(queue::shares)
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
        self.error.as_ref().map_or(self.errors.first, errors::number)
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

/// The latency that a job's depth was looked for with: ns, ns of a window, percentile.
#[must_use]
pub fn latency_target(job: &Job) -> (u64, u64, f64) {
    match job.stream.adaptive_depth {
        Some(AdaptiveDepth { goal: DepthGoal::Latency { percentile, at_most }, window, .. }) => {
            (at_most.0, window.0, percentile)
        }
        // Nobody looks for a depth where there is one, and what was asked for is told all the same.
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
