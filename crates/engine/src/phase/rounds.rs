//! The rounds of the rule "steady state", either for all workers of a phase, which they end, or for some groups, which end
//! separately.

use super::LOOK_NS;
use crate::kind_stats::DATA;
use crate::layout::instances;
use crate::shared::{STOP_RULE, STOP_SOME, Shared};
use fathom_record::{Repetition, SteadyGroup, SteadyState};
use fathom_workload::drive::Sums;
use fathom_workload::{Phase, Steady, SteadyFigure};
use std::sync::atomic::Ordering;

/// One rule and the results of its rounds.
pub(super) struct Rounds {
    rule: Steady,
    /// The workers that it ends; `None`: all of the phase.
    only: Option<Vec<usize>>,
    /// Sums at the end of the last round, and its time; `None` before the first.
    last: Option<(Sums, u64)>,
    /// The initial delay of the rounds is over.
    waited: bool,
    /// Rounds in which no operation finished, so they have no latency.
    empty: usize,
    /// No further rounds: what workers do until they notice the end is not a round.
    over: bool,
    state: SteadyState,
    /// The figures of every round, for groups.
    figures: SteadyGroup,
}

impl Rounds {
    /// The rules of a phase.
    pub fn of_phase(phase: &Phase) -> Vec<Self> {
        let all = phase.stop.steady.iter().map(|rule| Self::new(*rule, None));
        let groups = phase.stop.steady_groups.iter();
        let groups = groups.map(|of| Self::new(of.rule, Some(workers_of(phase, &of.groups))));
        all.chain(groups).collect()
    }

    fn new(rule: Steady, only: Option<Vec<usize>>) -> Self {
        let figure = rule.of.word();
        let state = SteadyState {
            asked: true,
            figure: figure.into(),
            round_ns: rule.round.0,
            window: rule.window,
            ..SteadyState::default()
        };
        let figures = SteadyGroup {
            workers: only.iter().flatten().map(|&worker| worker as u32).collect(),
            figure: figure.into(),
            round_ns: rule.round.0,
            window: rule.window,
            ..SteadyGroup::default()
        };
        let waited = rule.after.0 == 0;
        Self { rule, only, last: None, waited, empty: 0, over: false, state, figures }
    }

    /// Whether every worker concerned is counting; lost workers never will.
    pub fn may_begin(&self, shared: &Shared, count: usize, lost: usize) -> bool {
        match &self.only {
            None => shared.counting(count).count() + lost >= count,
            Some(only) => {
                only.iter().all(|&worker| shared.live(worker).counting_at.load(Ordering::Acquire) > 0)
            }
        }
    }

    /// Ends a round if it is over, and the workers if the rule is met. Returns the time until the next round ends. The first
    /// round begins when every worker counts, plus the delay of the rule.
    pub fn look(&mut self, shared: &Shared, count: usize, now_ns: u64) -> u64 {
        if self.over || self.has_ended(shared) {
            self.over = true;
            return LOOK_NS;
        }
        let Some((last, last_ns)) = self.last else {
            self.last = Some((self.sums(shared, count), now_ns));
            return if self.waited { self.rule.round.0 } else { self.rule.after.0 };
        };
        let passed_ns = now_ns.saturating_sub(last_ns);
        let wanted_ns = if self.waited { self.rule.round.0 } else { self.rule.after.0 };
        if passed_ns < wanted_ns {
            return wanted_ns - passed_ns;
        }
        let now = self.sums(shared, count);
        self.last = Some((now, now_ns));
        if !std::mem::replace(&mut self.waited, true) {
            return self.rule.round.0;
        }
        self.round(now.since(last), passed_ns);
        if self.over && (self.state.reached || self.only.is_none()) {
            self.end(shared);
        }
        self.rule.round.0
    }

    /// Whether the workers of its groups have ended: time without them is not a round.
    fn has_ended(&self, shared: &Shared) -> bool {
        let ended = |&worker: &usize| shared.live(worker).end.load(Ordering::Acquire) != 0;
        self.only.as_ref().is_some_and(|only| only.iter().any(ended))
    }

    fn round(&mut self, gained: Sums, passed_ns: u64) {
        let figure = |of| gained.figure(of, passed_ns);
        if self.only.is_some() {
            self.figures.operations.extend(figure(SteadyFigure::Operations));
            self.figures.bytes.extend(figure(SteadyFigure::Bytes));
            self.figures.latencies.push(figure(SteadyFigure::Latency).unwrap_or(0.0));
        }
        let (rule, figure) = (self.rule, figure(self.rule.of));
        self.empty += usize::from(figure.is_none());
        self.state.add(figure, |w| rule.holds(w.range_percent, w.slope_percent, |s, p| w.figure(s, p)));
        let rounds = self.state.rounds.len() + self.empty;
        self.over = self.state.reached || rule.is_given_up_after(rounds);
    }

    /// Stops the workers.
    fn end(&self, shared: &Shared) {
        let control = shared.control();
        let Some(only) = &self.only else {
            control.stop.fetch_max(STOP_RULE, Ordering::AcqRel);
            return;
        };
        only.iter().for_each(|&worker| shared.live(worker).stop.store(STOP_RULE, Ordering::Release));
        control.stop.fetch_max(STOP_SOME, Ordering::AcqRel);
    }

    fn sums(&self, shared: &Shared, count: usize) -> Sums {
        let mut sums = Sums::default();
        let mut add = |worker: usize| {
            let (ops, bytes) = shared.totals(worker);
            let stats = shared.stats(worker);
            sums.add(ops, bytes, DATA.into_iter().map(|kind| stats[kind].sum_ns()).sum());
        };
        match &self.only {
            None => shared.counting(count).for_each(&mut add),
            Some(only) => only.iter().copied().for_each(&mut add),
        }
        sums
    }

    /// Adds the results to the record.
    pub fn record(self, repetition: &mut Repetition) {
        if self.only.is_none() {
            repetition.steady = Some(self.state);
        } else {
            repetition.steady_groups.push(SteadyGroup { reached: self.state.reached, ..self.figures });
        }
    }
}

/// Indices of the workers of groups.
fn workers_of(phase: &Phase, groups: &[u32]) -> Vec<usize> {
    let numbered = (0u32..).zip(&phase.groups);
    let each = numbered.flat_map(|(number, group)| instances(group).map(move |_| number));
    each.enumerate().filter(|(_, number)| groups.contains(number)).map(|(worker, _)| worker).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::{Bytes, Direction};
    use fathom_workload::{
        Criterion, Duration, Group, Isolation, Limit, Pinning, Program, Stream, Thread, Times,
    };

    fn group(instances: u32) -> Group {
        let stream = Stream::new("f", Direction::Read, Bytes(4096));
        Group {
            name: "g".into(),
            instances,
            isolation: Isolation::Thread,
            nice: 0,
            pinning: Pinning::Free,
            times: Times::default(),
            threads: vec![Thread {
                name: String::new(),
                instances: 2,
                memory: Bytes(0),
                locked_memory: Bytes(0),
                run_as: fathom_workload::RunAs::default(),
                io_priority: None,
                io_class: None,
                io_hint: 0,
                program: Program::Stream(Box::new(stream)),
            }],
        }
    }

    #[test]
    fn workers_are_counted_over_the_groups() {
        let phase = Phase { groups: vec![group(1), group(2), group(1)], ..Phase::default() };
        assert_eq!(workers_of(&phase, &[0, 2]), [0, 1, 6, 7]);
    }

    #[test]
    fn a_criterion_takes_the_place_of_both_others_and_0_rounds_are_never_given_up() {
        let rule = Steady {
            window: 3,
            most_rounds: 0,
            round: Duration(1_000_000_000),
            criterion: Some(Criterion::Deviation(Limit::Absolute(11.0))),
            ..Steady::default()
        };
        let mut rounds = Rounds::new(rule, Some(vec![0]));
        for (ops, over) in [(100, false), (130, false), (100, false), (110, false), (110, true)] {
            rounds.round(Sums { ops, bytes: 4096 * ops, latency_ns: 0 }, 1_000_000_000);
            assert_eq!(rounds.over, over, "{ops}");
        }
        let mut repetition = Repetition::default();
        rounds.record(&mut repetition);
        let figures = &repetition.steady_groups[0];
        assert!(figures.reached && repetition.steady.is_none());
        assert_eq!(figures.operations, [100.0, 130.0, 100.0, 110.0, 110.0]);
        assert_eq!(figures.bytes.len(), 5);
    }
}
