//! What the parent does while the workers work: it sleeps, takes the interval series, judges steady state, watches the machine's
//! jitter, and looks for dead children.

use super::by_worker::ByWorker;
use super::collect::{self, RECORDED};
use super::jitter::Probe;
use super::{Children, LOOK_NS, Moments, Released};
use crate::clock::Clock;
use crate::flow::Setting;
use crate::shared::{READ, STOP_INTERRUPT, STOP_RULE, Shared, WRITE};
use fathom_record::histogram::BUCKETS;
use fathom_record::steady::Steadiness;
use fathom_record::{Histogram, Interval, OpKind, Repetition, SteadyState};
use fathom_workload::{Phase, Steady, SteadyFigure};
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
    /// Ticks at which the first worker began to count; 0 while all are in their warm-up.
    counted_from: u64,
    probe: Probe,
    series: Option<Series>,
    by_worker: Option<ByWorker>,
    rounds: Option<Rounds>,
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
            warms_up: phase.groups.iter().any(|g| g.ramp(phase).0 > 0)
                || streams(phase).any(|s| s.adaptive_depth.is_some()),
            counted_from: 0,
            probe: Probe::new(clock, count),
            series: (phase.interval.0 > 0).then(|| Series::new(phase.interval.0)),
            by_worker: phase.interval_by_worker.then(|| ByWorker::new(count)),
            rounds: phase.stop.steady.map(Rounds::new),
        }
    }

    /// Waits until every clock has stopped; the interval series ends there.
    pub fn until_clocks_stop(&mut self, children: &mut Children, moments: &mut dyn Moments) {
        loop {
            let control = self.shared.control();
            let event = control.event.load(Ordering::Acquire);
            let stopped = control.clocked.load(Ordering::Acquire) as usize + self.lost >= self.count;
            let now = self.clock.now();
            moments.look();
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
            let mut wait_ns = LOOK_NS;
            if self.counted_from > 0 {
                let counted_ns = self.clock.between(self.counted_from, now);
                if let Some(series) = &mut self.series {
                    let origin_ns = self.clock.between(self.first, self.counted_from);
                    let told = series.intervals.len();
                    wait_ns =
                        wait_ns.min(series.look(self.shared, self.count, origin_ns, counted_ns, stopped));
                    if let Some(by_worker) = &mut self.by_worker
                        && let Some(interval) = series.intervals.last()
                    {
                        by_worker.follow(self.shared, counting(self.shared, self.count), interval);
                    }
                    if series.intervals.len() > told
                        && let Some(interval) = series.intervals.last()
                    {
                        moments.interval(interval);
                        if let Some(flows) = self.flows
                            && moments.wants_rows()
                        {
                            let rows = counting(self.shared, self.count).flat_map(|w| flows.tell_rows(w));
                            moments.rows(counted_ns, rows.collect());
                        }
                    }
                }
                let all_count = self.all_count();
                if let Some(rounds) = self.rounds.as_mut().filter(|_| all_count) {
                    let (wait, over) = rounds.look(self.shared, self.count, counted_ns);
                    wait_ns = wait_ns.min(wait);
                    if over {
                        control.stop.fetch_max(STOP_RULE, Ordering::AcqRel);
                    }
                }
            }
            if stopped {
                return;
            }
            self.sleep(event, wait_ns, children);
        }
    }

    /// When the series begins: without a warm-up at the release, else when the first worker had it behind it; 0 before that.
    fn began_to_count(&self) -> u64 {
        if !self.warms_up {
            return self.first;
        }
        let began = |w| self.shared.live(w).counting_at.load(Ordering::Acquire);
        (0..self.count).map(began).filter(|&at| at > 0).min().map_or(0, |at| at.max(self.first))
    }

    /// Whether every worker that is left counts.
    fn all_count(&self) -> bool {
        let counts = |&w: &usize| self.shared.live(w).counting_at.load(Ordering::Acquire) > 0;
        (0..self.count).filter(counts).count() + self.lost >= self.count
    }

    /// Waits until every worker is done with what comes after its clock, too.
    pub fn until_done(&mut self, children: &mut Children, moments: &mut dyn Moments) {
        loop {
            moments.look();
            let event = self.shared.control().event.load(Ordering::Acquire);
            if self.shared.control().done.load(Ordering::Acquire) as usize + self.lost >= self.count {
                return;
            }
            self.sleep(event, LOOK_NS, children);
        }
    }

    fn sleep(&mut self, event: u32, wait_ns: u64, children: &mut Children) {
        let control = self.shared.control();
        self.probe.sleep(&control.event, event, wait_ns);
        self.lost += children.look(self.shared);
        if self.lost > 0 {
            control.stop.fetch_max(STOP_INTERRUPT, Ordering::AcqRel);
        }
    }

    /// Enters what was watched in the record, and gives what belongs to the workers.
    pub fn tell(self, repetition: &mut Repetition) -> Option<ByWorker> {
        repetition.intervals = self.series.map(|s| s.intervals).unwrap_or_default();
        repetition.steady = self.rounds.map(|r| r.state);
        repetition.jitter = self.probe.tell();
        self.by_worker
    }
}

fn streams(phase: &Phase) -> impl Iterator<Item = &fathom_workload::Stream> {
    phase.groups.iter().flat_map(|g| &g.threads).filter_map(|t| match &t.program {
        fathom_workload::Program::Stream(stream) => Some(&**stream),
        fathom_workload::Program::Flow(_) => None,
    })
}

/// The workers that count: what others have recorded is of their warm-up, and will be forgotten.
fn counting(shared: &Shared, count: usize) -> impl Iterator<Item = usize> {
    (0..count).filter(|&w| shared.live(w).counting_at.load(Ordering::Acquire) > 0)
}

/// Operations and bytes of all workers so far.
fn totals(shared: &Shared, count: usize) -> (u64, u64) {
    let each = counting(shared, count).map(|w| shared.totals(w));
    each.fold((0, 0), |sum, worker| (sum.0 + worker.0, sum.1 + worker.1))
}

/// The interval series.
struct Series {
    width_ns: u64,
    next_ns: u64,
    /// Time, operations and bytes at the end of the last interval.
    last: (u64, u64, u64),
    /// Dense counters at the end of the last interval, by kind of operation; empty until something of a kind was recorded.
    before: Vec<Vec<u64>>,
    /// Bytes read and written until then.
    moved: [u64; 2],
    intervals: Vec<Interval>,
}

impl Series {
    fn new(width_ns: u64) -> Self {
        Self {
            width_ns,
            next_ns: width_ns,
            last: (0, 0, 0),
            before: vec![Vec::new(); RECORDED.len()],
            moved: [0; 2],
            intervals: Vec::new(),
        }
    }

    /// Takes an interval if one is over. Gives how long to sleep until the next one is.
    fn look(&mut self, shared: &Shared, count: usize, origin_ns: u64, now_ns: u64, stopped: bool) -> u64 {
        let width = self.width_ns;
        // A last piece shorter than half an interval is added to the one before: its rate would be noise.
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

    /// File data that reads and writes moved since the last call.
    fn moved(&mut self, shared: &Shared, count: usize) -> Vec<(OpKind, u64)> {
        let mut moved = Vec::new();
        for ((kind, op), before) in
            [(READ, OpKind::Read), (WRITE, OpKind::Write)].into_iter().zip(&mut self.moved)
        {
            let now = counting(shared, count).map(|w| shared.stats(w)[kind].bytes()).sum::<u64>();
            let gained = now.saturating_sub(std::mem::replace(before, now));
            if gained > 0 {
                moved.push((op, gained));
            }
        }
        moved
    }

    /// What each kind of operation gained since the last call.
    fn gained(&mut self, shared: &Shared, count: usize) -> Vec<(OpKind, Histogram)> {
        let mut gained = Vec::new();
        for ((kind, op), before) in RECORDED.into_iter().zip(&mut self.before) {
            if counting(shared, count).all(|w| shared.stats(w)[kind].ops() == 0) {
                continue;
            }
            let mut now = vec![0; BUCKETS];
            counting(shared, count).for_each(|w| shared.stats(w)[kind].add_counts_to(&mut now));
            let histogram = Histogram::from_dense_difference(&now, before);
            if histogram.count() > 0 {
                gained.push((op, histogram));
            }
            *before = now;
        }
        gained
    }
}

/// The rounds of the rule "steady state".
struct Rounds {
    rule: Steady,
    /// Operations (or bytes) and the sum of latencies at the end of the last round, and when that was; `None` before the first.
    last: Option<((u64, u64), u64)>,
    /// Rounds in which nothing finished: they have no latency.
    empty: usize,
    /// The rule has ended the phase: what workers do until they see it is no round.
    over: bool,
    state: SteadyState,
}

impl Rounds {
    fn new(rule: Steady) -> Self {
        let state = SteadyState {
            asked: true,
            figure: match rule.of {
                SteadyFigure::Operations => "operations",
                SteadyFigure::Bytes => "bytes",
                SteadyFigure::Latency => "latency",
            }
            .into(),
            round_ns: rule.round.0,
            window: rule.window,
            ..SteadyState::default()
        };
        Self { rule, last: None, empty: 0, over: false, state }
    }

    /// Ends a round if one is over. Gives how long to sleep until the next one is, and whether the rule ends the phase. The first
    /// round begins when every worker counts.
    fn look(&mut self, shared: &Shared, count: usize, now_ns: u64) -> (u64, bool) {
        let round_ns = self.rule.round.0;
        if self.over {
            return (LOOK_NS, false);
        }
        let Some((last, last_ns)) = self.last else {
            self.last = Some((self.figures(shared, count), now_ns));
            return (round_ns, false);
        };
        let passed_ns = now_ns.saturating_sub(last_ns);
        if passed_ns < round_ns {
            return (round_ns - passed_ns, false);
        }
        let now = self.figures(shared, count);
        let gained = (now.0.saturating_sub(last.0), now.1.saturating_sub(last.1));
        let figure = match self.rule.of {
            SteadyFigure::Latency => (gained.0 > 0).then(|| gained.1 as f64 / gained.0 as f64),
            _ => Some(gained.0 as f64 * 1e9 / passed_ns as f64),
        };
        self.last = Some((now, now_ns));
        match figure {
            Some(figure) => self.state.rounds.push(figure),
            None => self.empty += 1,
        }
        if let Some(steadiness) = Steadiness::of(&self.state.rounds, self.rule.window as usize) {
            self.state.mean = steadiness.mean;
            self.state.range_percent = steadiness.range_percent;
            self.state.slope_percent = steadiness.slope_percent;
            self.state.reached = steadiness.within(self.rule.range_percent, self.rule.slope_percent);
        }
        self.over =
            self.state.reached || self.state.rounds.len() + self.empty >= self.rule.most_rounds as usize;
        (round_ns, self.over)
    }

    /// Operations or bytes so far, and the sum of latencies.
    fn figures(&self, shared: &Shared, count: usize) -> (u64, u64) {
        let (ops, bytes) = totals(shared, count);
        let sum_ns = || {
            let counted =
                counting(shared, count).flat_map(|w| [READ, WRITE].map(|kind| &shared.stats(w)[kind]));
            counted.map(crate::shared::KindStat::sum_ns).sum::<u64>()
        };
        match self.rule.of {
            SteadyFigure::Operations => (ops, 0),
            SteadyFigure::Bytes => (bytes, 0),
            SteadyFigure::Latency => (ops, sum_ns()),
        }
    }
}
