//! What the parent does while the workers run: it sleeps, takes the interval series, judges steady state, measures the machine's
//! jitter, and checks for dead children.

use super::by_worker::ByWorker;
use super::collect;
use super::jitter::Probe;
use super::rounds::Rounds;
use super::{Children, LOOK_NS, Moments, Released};
use crate::clock::Clock;
use crate::flow::Setting;
use crate::interrupted_by;
use crate::kind_stats::{COUNTED, DATA};
use crate::shared::{STOP_FIRST_DONE, STOP_INTERRUPT, Shared};
use fathom_record::histogram::BUCKETS;
use fathom_record::{Histogram, Interval, OpKind, Repetition};
use fathom_workload::Phase;
use std::sync::atomic::Ordering;

pub(super) struct Watch<'a> {
    shared: &'a Shared,
    flows: Option<&'a Setting>,
    count: usize,
    clock: Clock,
    /// Release of the first worker, in ticks.
    first: u64,
    lost: usize,
    warms_up: bool,
    /// Tick at which the first worker began to count; 0 while all are in their warm-up.
    counted_from: u64,
    probe: Probe,
    /// When a signal was first seen, in ticks.
    interrupted_at: Option<u64>,
    series: Option<Series>,
    by_worker: Option<ByWorker>,
    rounds: Vec<Rounds>,
    attending: Attending,
}

/// Workers that are ended when others are done, and those others.
#[derive(Default)]
struct Attending {
    workers: Vec<usize>,
    awaited: Vec<usize>,
}

impl Attending {
    fn of(phase: &Phase) -> Self {
        let mut all = Self::default();
        let groups = phase.groups.iter().flat_map(|g| crate::layout::instances(g).map(move |_| g));
        for (worker, group) in groups.enumerate() {
            if group.times.ends_with_io {
                all.workers.push(worker);
            } else if group.is_awaited() {
                all.awaited.push(worker);
            }
        }
        all
    }

    /// Ends them if the others are done.
    fn look(&mut self, shared: &Shared) {
        let done = |worker: &usize| shared.live(*worker).clocked.load(Ordering::Acquire) == 1;
        if !self.workers.is_empty() && self.awaited.iter().all(done) {
            shared.end_company(&std::mem::take(&mut self.workers));
        }
    }
}

impl<'a> Watch<'a> {
    pub fn new(
        phase: &Phase,
        shared: &'a Shared,
        flows: Option<&'a Setting>,
        count: usize,
        clock: Clock,
        released: &Released,
    ) -> Self {
        Self {
            shared,
            flows,
            count,
            clock,
            first: released.first,
            lost: released.lost,
            warms_up: phase.groups.iter().any(|g| g.warms_up(phase))
                || phase.streams().any(|s| s.adaptive_depth.is_some_and(|how| !how.goes_on)),
            counted_from: 0,
            probe: Probe::new(clock, count, released.first),
            interrupted_at: None,
            series: (phase.interval.0 > 0).then(|| Series::new(phase.interval.0)),
            by_worker: phase.interval_by_worker.then(|| ByWorker::new(count)),
            rounds: Rounds::of_phase(phase),
            attending: Attending::of(phase),
        }
    }

    /// Waits until every clock has stopped; the interval series ends there.
    pub fn until_clocks_stop(&mut self, children: &mut Children, moments: &mut dyn Moments) {
        loop {
            let control = self.shared.control();
            let event = control.event.load(Ordering::Acquire);
            let stopped = control.clocked.load(Ordering::Acquire) as usize + self.lost >= self.count;
            let now = self.clock.now();
            self.attending.look(self.shared);
            self.probe.goes_on();
            moments.look();
            if moments.first_done(control.stop.load(Ordering::Acquire) == STOP_FIRST_DONE) {
                control.stop.fetch_max(STOP_FIRST_DONE, Ordering::AcqRel);
            }
            if moments.wants_state() {
                moments.state(collect::so_far(self.shared, self.count, self.clock, self.first));
            }
            if let Some(flows) = self.flows {
                flows.pass_on(|said| moments.said(said));
            }
            if self.counted_from == 0 {
                self.counted_from = self.began_to_count();
                if self.counted_from > 0 && self.warms_up {
                    moments.counting();
                }
            }
            let mut wait_ns = LOOK_NS.min(moments.look_every_ns());
            if self.counted_from > 0 {
                let counted_ns = self.clock.between(self.counted_from, now);
                if let Some(series) = &mut self.series {
                    let origin_ns = self.clock.between(self.first, self.counted_from);
                    let before = series.intervals.len();
                    wait_ns =
                        wait_ns.min(series.look(self.shared, self.count, origin_ns, counted_ns, stopped));
                    if let Some(by_worker) = &mut self.by_worker
                        && let Some(interval) = series.intervals.last()
                    {
                        by_worker.follow(self.shared, self.shared.counting(self.count), interval);
                    }
                    if series.intervals.len() > before
                        && let Some(interval) = series.intervals.last()
                    {
                        moments.interval(interval);
                        if let Some(flows) = self.flows
                            && moments.wants_rows()
                        {
                            let rows = self.shared.counting(self.count).flat_map(|w| flows.tell_rows(w));
                            moments.rows(counted_ns, rows.collect());
                        }
                    }
                }
                for rounds in &mut self.rounds {
                    if rounds.may_begin(self.shared, self.count, self.lost) {
                        wait_ns = wait_ns.min(rounds.look(self.shared, self.count, counted_ns));
                    }
                }
            }
            if stopped {
                return;
            }
            // A hook may have blocked on a pipe without a reader.
            self.probe.back();
            self.sleep(event, wait_ns, children, moments);
        }
    }

    /// Start of the series: without a warm-up the release, else the end of the first worker's warm-up; 0 before that.
    fn began_to_count(&self) -> u64 {
        if !self.warms_up {
            return self.first;
        }
        let began = |w| self.shared.live(w).counting_at.load(Ordering::Acquire);
        (0..self.count).map(began).filter(|&at| at > 0).min().map_or(0, |at| at.max(self.first))
    }

    /// Waits until every worker has also finished its work after the clock.
    pub fn until_done(&mut self, children: &mut Children, moments: &mut dyn Moments) {
        loop {
            moments.look();
            self.probe.back();
            let event = self.shared.control().event.load(Ordering::Acquire);
            if self.shared.control().done.load(Ordering::Acquire) as usize + self.lost >= self.count {
                return;
            }
            self.sleep(event, LOOK_NS, children, moments);
        }
    }

    fn sleep(&mut self, event: u32, wait_ns: u64, children: &mut Children, moments: &mut dyn Moments) {
        let control = self.shared.control();
        self.probe.sleep(&control.event, event, wait_ns);
        self.lost += children.look(self.shared);
        if self.lost > 0 {
            control.stop.fetch_max(STOP_INTERRUPT, Ordering::AcqRel);
        }
        if interrupted_by().is_some() {
            let now = self.clock.now();
            let since = *self.interrupted_at.get_or_insert(now);
            children.press(self.clock.between(since, now), moments);
        }
    }

    /// Adds the observations to the record, and returns those that belong to single workers.
    pub fn record(self, repetition: &mut Repetition) -> Option<ByWorker> {
        repetition.intervals = self.series.map(|s| s.intervals).unwrap_or_default();
        self.rounds.into_iter().for_each(|rounds| rounds.record(repetition));
        repetition.jitter = self.probe.record();
        self.by_worker
    }
}

/// Operations and bytes of all workers so far.
fn totals(shared: &Shared, count: usize) -> (u64, u64) {
    let each = shared.counting(count).map(|w| shared.totals(w));
    each.fold((0, 0), |sum, worker| (sum.0 + worker.0, sum.1 + worker.1))
}

/// The interval series.
struct Series {
    width_ns: u64,
    next_ns: u64,
    /// Time, operations and bytes at the end of the last interval.
    last: (u64, u64, u64),
    /// Dense counters at the end of the last interval, by kind of operation; empty until a kind was used.
    before: Vec<Vec<u64>>,
    /// Bytes read, written and deallocated until then.
    moved: [u64; 3],
    intervals: Vec<Interval>,
}

impl Series {
    fn new(width_ns: u64) -> Self {
        Self {
            width_ns,
            next_ns: width_ns,
            last: (0, 0, 0),
            before: vec![Vec::new(); COUNTED.len()],
            moved: [0; 3],
            intervals: Vec::new(),
        }
    }

    /// Takes an interval if one is over. Returns the time until the next one is.
    fn look(&mut self, shared: &Shared, count: usize, origin_ns: u64, now_ns: u64, stopped: bool) -> u64 {
        let width = self.width_ns;
        // A last interval shorter than half the width is merged with the previous one: its rate would be noise.
        let short = stopped && now_ns.saturating_sub(self.last.0) < width / 2;
        if let Some(mut before) = short.then(|| self.intervals.pop()).flatten() {
            let (ops, bytes) = totals(shared, count);
            before.width_ns += origin_ns + now_ns - before.end_ns;
            before.end_ns = origin_ns + now_ns;
            before.ops += ops.saturating_sub(self.last.1);
            before.bytes += bytes.saturating_sub(self.last.2);
            for (op, gained) in self.moved(shared, count) {
                match before.moved.iter_mut().find(|(kind, _)| *kind == op) {
                    Some((_, all)) => *all += gained,
                    None => before.moved.push((op, gained)),
                }
            }
            for (op, gained) in self.gained(shared, count) {
                match before.latencies.iter_mut().find(|(kind, _)| *kind == op) {
                    Some((_, all)) => all.merge(&gained),
                    None => before.latencies.push((op, gained)),
                }
            }
            self.intervals.push(before);
        } else if (now_ns >= self.next_ns || stopped) && now_ns > self.last.0 {
            let (ops, bytes) = totals(shared, count);
            let latencies = self.gained(shared, count);
            let moved = self.moved(shared, count);
            self.intervals.push(Interval {
                end_ns: origin_ns + now_ns,
                width_ns: now_ns - self.last.0,
                ops: ops.saturating_sub(self.last.1),
                bytes: bytes.saturating_sub(self.last.2),
                latencies,
                moved,
            });
            self.last = (now_ns, ops, bytes);
            self.next_ns = (now_ns / width + 1) * width;
        }
        self.next_ns.saturating_sub(now_ns).max(1)
    }

    /// File data moved by reads and writes, and bytes deallocated, since the last call.
    fn moved(&mut self, shared: &Shared, count: usize) -> Vec<(OpKind, u64)> {
        let mut moved = Vec::new();
        for (op, before) in DATA.into_iter().zip(&mut self.moved) {
            let now = shared.counting(count).map(|w| shared.stats(w)[op].bytes()).sum::<u64>();
            let gained = now.saturating_sub(std::mem::replace(before, now));
            if gained > 0 {
                moved.push((op, gained));
            }
        }
        moved
    }

    /// Histogram increments of each kind of operation since the last call.
    fn gained(&mut self, shared: &Shared, count: usize) -> Vec<(OpKind, Histogram)> {
        let mut gained = Vec::new();
        for (op, before) in COUNTED.into_iter().zip(&mut self.before) {
            if shared.counting(count).all(|w| shared.stats(w)[op].ops() == 0) {
                continue;
            }
            let mut now = vec![0; BUCKETS];
            shared.counting(count).for_each(|w| shared.stats(w)[op].add_counts_to(&mut now));
            let histogram = Histogram::from_dense_difference(&now, before);
            if histogram.count() > 0 {
                gained.push((op, histogram));
            }
            *before = now;
        }
        gained
    }
}
