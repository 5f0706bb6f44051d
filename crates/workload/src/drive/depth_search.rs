//! Finding a queue depth while a stream runs: each window is a trial of one depth, judged by the latencies and operations recorded in it.
//! The search doubles from 1 until the goal is missed, then bisects between the last depth that met it and the first that did not.
//! Counting begins when the search is over, or right away if the search goes on: then every window is judged, and when the chosen depth
//! no longer meets the goal, a new search begins below it.

use super::Timeline;
use crate::{AdaptiveDepth, DepthGoal};

/// A depth search. Latencies are passed as histogram counts, read when a trial begins and when it is judged.
pub struct DepthSearch {
    goal: DepthGoal,
    /// Length of a trial, ticks.
    window: u64,
    most: usize,
    /// Depth of this trial.
    depth: usize,
    /// Largest depth that met the goal, and smallest that did not.
    good: Option<Trial>,
    bad: Option<usize>,
    /// Stage of this trial: draining operations of the previous depth, or measuring until a tick.
    stage: SearchStage,
    /// Consecutive windows without a completion.
    empty: u32,
    begun: u64,
    before: Vec<u64>,
    /// Value of a histogram bucket, ns.
    value: fn(usize) -> u64,
    /// Longest search in ticks, and the tick at which it ends; 0 before the first look.
    longest: u64,
    until: u64,
    once: bool,
    goes_on: bool,
}

/// Windows without a completion after which a depth counts as failed.
const MOST_EMPTY: u32 = 50;

#[derive(Clone, Copy)]
enum SearchStage {
    New,
    Changing { until: u64 },
    Judging { until: u64 },
}

#[derive(Clone, Copy)]
struct Trial {
    depth: usize,
    operations_per_s: f64,
}

/// Result of a look at a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthFound {
    /// Go on with this depth.
    Trying(usize),
    /// The search is over with this depth.
    Settled(usize),
}

impl DepthSearch {
    /// A search for a depth of at most `most`; `value` maps a histogram bucket to ns.
    pub fn new(how: AdaptiveDepth, most: usize, clock: impl Timeline, value: fn(usize) -> u64) -> Self {
        Self {
            goal: how.goal,
            window: clock.ticks(how.window.0).max(1),
            most,
            depth: 1,
            good: None,
            bad: None,
            stage: SearchStage::New,
            empty: 0,
            begun: 0,
            before: Vec::new(),
            value,
            longest: how.longest.map_or(u64::MAX, |time| clock.ticks(time.0)),
            until: 0,
            once: how.once,
            goes_on: how.goes_on,
        }
    }

    /// The stream's amount is done and was reset for the search.
    pub fn amount_done(&mut self) {
        if self.once {
            // Any later look has a tick beyond this.
            self.until = 1;
        }
    }

    /// Whether the search goes on after it has found a depth.
    pub fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// The depth of the next trial in a search that goes on, given the result of a look.
    pub fn go_on(&mut self, found: DepthFound) -> usize {
        if let DepthFound::Settled(depth) = found {
            // It stays at this depth and keeps judging: only a missed goal restarts the search.
            (self.depth, self.stage) = (depth, SearchStage::New);
            self.bad = Some(depth + 1);
        }
        self.depth
    }

    /// Evaluates the search at tick `now`; `counts` returns the histogram of all operations so far.
    pub fn look(&mut self, clock: impl Timeline, now: u64, counts: impl FnOnce() -> Vec<u64>) -> DepthFound {
        if self.until == 0 {
            self.until = now.saturating_add(self.longest);
        }
        if now >= self.until && !self.goes_on {
            return DepthFound::Settled(self.good.map_or(1, |good| good.depth));
        }
        match self.stage {
            SearchStage::New => {
                self.stage = SearchStage::Changing { until: now.saturating_add(self.window / 4) };
                return DepthFound::Trying(self.depth);
            }
            SearchStage::Changing { until } if now >= until => {
                (self.begun, self.before) = (now, counts());
                self.stage = SearchStage::Judging { until: now.saturating_add(self.window) };
                return DepthFound::Trying(self.depth);
            }
            SearchStage::Changing { .. } => return DepthFound::Trying(self.depth),
            SearchStage::Judging { until } if now < until => return DepthFound::Trying(self.depth),
            SearchStage::Judging { .. } => {}
        }
        let mut gained = counts();
        gained.iter_mut().zip(&self.before).for_each(|(now, before)| *now = now.saturating_sub(*before));
        if gained.iter().all(|&n| n == 0) && self.empty < MOST_EMPTY {
            // The window is shorter than an operation takes; a longer one is needed.
            self.empty += 1;
            self.stage = SearchStage::Judging { until: now.saturating_add(self.window) };
            return DepthFound::Trying(self.depth);
        }
        self.empty = 0;
        let seconds = clock.between(self.begun, now) as f64 / 1e9;
        let next = self.judge(&gained, seconds);
        if let DepthFound::Trying(depth) = next {
            self.depth = depth;
            self.stage = SearchStage::New;
        }
        next
    }

    /// The next step after a trial in which `counts` were recorded.
    fn judge(&mut self, counts: &[u64], seconds: f64) -> DepthFound {
        let operations_per_s = counts.iter().sum::<u64>() as f64 / seconds.max(1e-9);
        let trial = Trial { depth: self.depth, operations_per_s };
        let met = match self.goal {
            DepthGoal::Latency { percentile, at_most } => {
                percentile_of(counts, percentile).is_some_and(|at| (self.value)(at) <= at_most.0)
            }
            // A doubling must gain this much; part of a doubling proportionally less.
            DepthGoal::Knee { .. } if operations_per_s == 0.0 => false,
            DepthGoal::Knee { gain_percent } => self.good.is_none_or(|good| {
                let doublings = (self.depth as f64 / good.depth as f64).log2();
                operations_per_s >= good.operations_per_s * (1.0 + gain_percent / 100.0).powf(doublings)
            }),
        };
        if met {
            self.good = Some(trial);
        } else {
            self.bad = Some(self.depth);
            // Earlier good depths at or above this one are void: a search that goes on restarts below.
            self.good = self.good.filter(|good| good.depth < self.depth);
        }
        let good = self.good.map_or(0, |g| g.depth);
        let next = match self.bad {
            None => (good * 2).min(self.most),
            Some(bad) => good.midpoint(bad),
        };
        // No depth lies between, or none above: take the best known, which is 1 if not even that met the latency.
        if next == good || Some(next) == self.bad {
            DepthFound::Settled(good.max(1))
        } else {
            DepthFound::Trying(next)
        }
    }
}

/// Histogram bucket of a percentile; `None` if the histogram is empty.
fn percentile_of(counts: &[u64], percentile: f64) -> Option<usize> {
    let all: u64 = counts.iter().sum();
    let rank = ((all as f64 * percentile / 100.0).ceil() as u64).clamp(1, all.max(1));
    let mut seen = 0;
    counts.iter().position(|&n| {
        seen += n;
        n > 0 && seen >= rank
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Duration;
    use crate::drive::Nanoseconds;

    /// Width of the tests' histogram buckets, ns.
    const STEP: u64 = 500;

    fn new(how: AdaptiveDepth, most: usize) -> DepthSearch {
        DepthSearch::new(how, most, Nanoseconds, |at| at as u64 * STEP)
    }

    /// `n` operations with this latency.
    fn counts(ns: f64, n: u64) -> Vec<u64> {
        let mut counts = vec![0; 20_000];
        counts[ns as usize / STEP as usize] = n;
        counts
    }

    /// Runs a search on a device that serves `channels` operations at once in 100 us each; the rest wait.
    fn search(goal: DepthGoal, most: usize, channels: f64) -> (usize, Vec<usize>) {
        let how =
            AdaptiveDepth { goal, window: Duration(1_000_000), longest: None, once: false, goes_on: false };
        let mut search = new(how, most);
        let mut tried = Vec::new();
        loop {
            let depth = search.depth as f64;
            tried.push(search.depth);
            let ns = 100_000.0 * (depth / channels).max(1.0);
            match search.judge(&counts(ns, (depth.min(channels) * 10_000.0) as u64), 1.0) {
                DepthFound::Trying(depth) => search.depth = depth,
                DepthFound::Settled(depth) => return (depth, tried),
            }
            assert!(tried.len() < 99, "{tried:?}");
        }
    }

    #[test]
    fn the_largest_depth_within_a_latency_is_found() {
        let goal = DepthGoal::Latency { percentile: 99.0, at_most: Duration(200_500) };
        let (depth, tried) = search(goal, 256, 8.0);
        assert_eq!(depth, 16, "{tried:?}");
        assert!(tried.len() < 12, "{tried:?}");
    }

    #[test]
    fn a_search_that_goes_on_follows_a_device_that_becomes_slower() {
        let goal = DepthGoal::Latency { percentile: 99.0, at_most: Duration(200_500) };
        let how =
            AdaptiveDepth { goal, window: Duration(1_000_000), longest: None, once: false, goes_on: true };
        let mut search = new(how, 256);
        let mut depths = Vec::new();
        for trial in 0..60 {
            let channels = if trial < 30 { 8.0 } else { 2.0 };
            let ns = 100_000.0 * (search.depth as f64 / channels).max(1.0);
            depths.push(search.depth);
            let found = search.judge(&counts(ns, 1000), 1.0);
            if let DepthFound::Trying(depth) = found {
                search.depth = depth;
            }
            search.go_on(found);
        }
        assert_eq!((depths[29], depths[59]), (16, 4), "{depths:?}");
    }

    #[test]
    fn a_search_may_be_given_up() {
        let goal = DepthGoal::Knee { gain_percent: 10.0 };
        let how = AdaptiveDepth {
            goal,
            window: Duration(1_000_000),
            longest: Some(Duration(1)),
            once: false,
            goes_on: false,
        };
        let none = || vec![0];
        let mut search = new(how, 256);
        assert_eq!(search.look(Nanoseconds, 1, none), DepthFound::Trying(1));
        assert_eq!(search.look(Nanoseconds, 1 + 2, none), DepthFound::Settled(1));
        let how = AdaptiveDepth { once: true, longest: None, ..how };
        let mut search = new(how, 256);
        assert_eq!(search.look(Nanoseconds, 5, none), DepthFound::Trying(1));
        search.amount_done();
        assert_eq!(search.look(Nanoseconds, 6, none), DepthFound::Settled(1));
    }

    #[test]
    fn a_trial_is_judged_by_what_its_window_gained_and_an_empty_window_is_longer() {
        let goal = DepthGoal::Latency { percentile: 99.0, at_most: Duration(1000) };
        let how = AdaptiveDepth { goal, window: Duration(1000), longest: None, once: false, goes_on: false };
        let mut search = new(how, 8);
        let before = || counts(9000.0, 5);
        let after = || counts(500.0, 10).iter().zip(before()).map(|(a, b)| a + b).collect();
        let unasked = || unreachable!("counts are not looked at inside of a window");
        assert_eq!(search.look(Nanoseconds, 1, unasked), DepthFound::Trying(1));
        assert_eq!(search.look(Nanoseconds, 250, unasked), DepthFound::Trying(1));
        assert_eq!(search.look(Nanoseconds, 251, before), DepthFound::Trying(1), "the trial begins");
        assert_eq!(search.look(Nanoseconds, 1250, unasked), DepthFound::Trying(1));
        assert_eq!(search.look(Nanoseconds, 1251, before), DepthFound::Trying(1), "nothing finished");
        assert_eq!(search.look(Nanoseconds, 2250, unasked), DepthFound::Trying(1));
        assert_eq!(search.look(Nanoseconds, 2251, after), DepthFound::Trying(2));
    }

    #[test]
    fn the_knee_is_where_the_device_is_full() {
        let goal = DepthGoal::Knee { gain_percent: 10.0 };
        assert_eq!(search(goal, 256, 8.0).0, 8);
        assert_eq!(search(goal, 4, 8.0).0, 4, "no more than allowed");
    }

    #[test]
    fn an_unreachable_limit_settles_at_depth_one() {
        let goal = DepthGoal::Latency { percentile: 50.0, at_most: Duration(1) };
        assert_eq!(search(goal, 64, 8.0).0, 1);
    }

    #[test]
    fn a_trial_in_which_nothing_finished_has_no_percentile() {
        assert_eq!(percentile_of(&[0; 100], 99.0), None);
        assert_eq!(percentile_of(&[1, 0, 99], 1.0), Some(0));
    }
}
