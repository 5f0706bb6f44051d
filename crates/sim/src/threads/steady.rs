//! The stop rule "steady state" in virtual time: rounds of exact length, judged by the engine's arithmetic. The first begins once every
//! worker counts. There is no watching thread: a finished round is judged when the next operation completes or a worker checks for a
//! stop, before anything later is counted.

use fathom_record::SteadyState;
use fathom_workload::Steady;
use fathom_workload::drive::Sums;

pub(super) struct Rounds {
    rule: Steady,
    /// Workers that do not count yet.
    missing: usize,
    /// Start of the current round.
    began_ns: Option<u64>,
    /// Sums of the current round.
    gained: Sums,
    /// Number of rounds without a figure.
    empty: usize,
    over: bool,
    state: SteadyState,
}

impl Rounds {
    /// For a phase with `workers` workers.
    pub fn new(rule: Steady, workers: usize) -> Self {
        let state = SteadyState {
            asked: true,
            figure: rule.of.word().into(),
            round_ns: rule.round.0,
            window: rule.window,
            ..SteadyState::default()
        };
        Self { rule, missing: workers, began_ns: None, gained: Sums::default(), empty: 0, over: false, state }
    }

    /// Another worker counts.
    pub fn counting(&mut self, now: u64) {
        self.missing = self.missing.saturating_sub(1);
        if self.missing == 0 && self.began_ns.is_none() {
            self.began_ns = Some(now.saturating_add(self.rule.after.0));
        }
    }

    /// An operation has completed. One that completes at the end of a round belongs to it.
    pub fn counted(&mut self, now: u64, latency_ns: u64, bytes: u64) {
        self.look(now);
        if self.began_ns.is_some_and(|began_ns| began_ns < now || self.rule.after.0 == 0) {
            self.gained.add(1, bytes, latency_ns);
        }
    }

    /// Judges finished rounds. Returns whether the phase is over.
    pub fn look(&mut self, now: u64) -> bool {
        let round_ns = self.rule.round.0.max(1);
        let is_behind = |began_ns: u64| now.saturating_sub(began_ns) > round_ns;
        while let Some(began_ns) = self.began_ns.filter(|&began_ns| !self.over && is_behind(began_ns)) {
            self.began_ns = Some(began_ns + round_ns);
            self.judge(round_ns);
        }
        self.over
    }

    fn judge(&mut self, round_ns: u64) {
        let rule = self.rule;
        let figure = std::mem::take(&mut self.gained).figure(rule.of, round_ns);
        self.empty += usize::from(figure.is_none());
        self.state.add(figure, |w| rule.holds(w.range_percent, w.slope_percent, |s, p| w.figure(s, p)));
        let rounds = self.state.rounds.len() + self.empty;
        self.over = self.state.reached || rule.is_given_up_after(rounds);
    }

    /// The outcome.
    pub fn state(&self) -> SteadyState {
        self.state.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::{Criterion, Duration, Limit, SteadyFigure};

    fn rounds(of: SteadyFigure, workers: usize) -> Rounds {
        let rule = Steady { of, round: Duration(1000), window: 3, most_rounds: 6, ..Steady::default() };
        Rounds::new(rule, workers)
    }

    #[test]
    fn rounds_begin_when_all_count_and_end_with_what_ends_with_them() {
        let mut rounds = rounds(SteadyFigure::Bytes, 2);
        rounds.counting(10);
        rounds.counted(500, 7, 100);
        rounds.counting(1000);
        for (now, bytes) in [(2000, 10), (2001, 10), (4000, 10)] {
            rounds.counted(now, 7, bytes);
            assert!(!rounds.look(now));
        }
        assert!(rounds.look(4001));
        let state = rounds.state();
        assert_eq!(state.rounds, [1e7, 1e7, 1e7]);
        assert!(state.reached && state.asked);
    }

    #[test]
    fn rounds_may_begin_later_and_one_criterion_may_count_alone() {
        let criterion = Some(Criterion::Slope(Limit::Percent(1.0)));
        let rule =
            Steady { round: Duration(1000), window: 3, criterion, after: Duration(500), ..Steady::default() };
        let mut rounds = Rounds::new(rule, 1);
        rounds.counting(0);
        rounds.counted(400, 7, 1);
        // 1, 9, 1: the range is large, and the slope is 0.
        for (round, ops) in [(0, 1), (1, 9), (2, 1)] {
            for op in 0..ops {
                rounds.counted(600 + round * 1000 + op, 7, 1);
            }
        }
        assert!(!rounds.look(3500));
        assert!(rounds.look(3501));
        assert_eq!(rounds.state().rounds, [1e6, 9e6, 1e6]);
    }

    #[test]
    fn rounds_that_never_become_steady_stop_at_the_limit() {
        let mut rounds = rounds(SteadyFigure::Latency, 1);
        rounds.counting(0);
        for round in 0..4 {
            rounds.counted(round * 1000 + 1, 100 << round, 1);
        }
        assert!(!rounds.look(6000));
        assert!(rounds.look(6001));
        let state = rounds.state();
        assert_eq!((state.rounds.len(), state.reached), (4, false), "two of the six had no latency");
    }
}
