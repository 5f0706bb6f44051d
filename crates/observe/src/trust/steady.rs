//! Whether the figures reached a steady state, by the two criteria of [`fathom_record::steady`]: as a requested stop rule, or judged
//! afterwards from the intervals.

use super::{PhaseResult, summary};
use crate::words::{percent, time};
use fathom_record::steady::Steadiness;
use fathom_record::{Interval, OpKind, Phase, Repetition, Run, SteadyState, Trust, Verdict};

/// Rounds of the window, as in SNIA's specification.
const WINDOW: usize = 5;
const RANGE_PERCENT: f64 = 20.0;
const SLOPE_PERCENT: f64 = 10.0;
/// With fewer operations in a round, chance alone scatters them by a tenth.
const FEWEST_OPERATIONS: f64 = 100.0;
/// Tolerance for the width of an interval; excludes the last one, which is usually shorter.
const UNEQUAL: f64 = 0.1;

pub(super) fn check(run: &Run) -> Trust {
    let found = run.phases.iter().filter_map(found).collect();
    summary(run, "steady", found, (Verdict::Unknown, "nothing was measured"))
}

/// Judges a repetition without a requested steady state: all full intervals after the warm-up, in five rounds, because its figures cover
/// all of them. `None` with fewer than five intervals or fewer than a hundred operations in a round, or if a rate determines their
/// number.
#[must_use]
pub fn judge(repetition: &Repetition) -> Option<SteadyState> {
    if is_paced(repetition) {
        return None;
    }
    let full = full_intervals(repetition);
    let each = full.len() / WINDOW;
    if each == 0 {
        return None;
    }
    let counted = &full[full.len() - each * WINDOW..];
    let sum = |of: fn(&Interval) -> u64, i: &[&Interval]| {
        i.iter().fold(0u64, |sum, interval| sum.saturating_add(of(interval)))
    };
    if (sum(|i| i.ops, counted) as f64) < FEWEST_OPERATIONS * WINDOW as f64 {
        return None;
    }
    let rounds: Vec<f64> = counted
        .chunks(each)
        .map(|c| sum(|i| i.ops, c) as f64 * 1e9 / sum(|i| i.width_ns, c).max(1) as f64)
        .collect();
    let found = Steadiness::of(&rounds, WINDOW)?;
    Some(SteadyState {
        reached: found.within(RANGE_PERCENT, SLOPE_PERCENT),
        asked: false,
        figure: "operations".into(),
        round_ns: sum(|i| i.width_ns, counted) / WINDOW as u64,
        rounds,
        window: WINDOW as u32,
        mean: found.mean,
        range_percent: found.range_percent,
        slope_percent: found.slope_percent,
    })
}

/// Streams with a rate do the requested number of operations, so their steadiness says nothing.
fn is_paced(repetition: &Repetition) -> bool {
    let mut stats = repetition.workers.iter().flat_map(|w| &w.stats);
    stats.any(|s| s.op == OpKind::Response)
}

fn full_intervals(repetition: &Repetition) -> Vec<&Interval> {
    let begins = |i: &Interval| i.end_ns.saturating_sub(i.width_ns);
    let after: Vec<&Interval> = repetition
        .operating_intervals()
        .filter(|i| i.width_ns > 0 && begins(i) >= repetition.ramp_ns)
        .collect();
    let mut widths: Vec<u64> = after.iter().map(|i| i.width_ns).collect();
    widths.sort_unstable();
    let Some(&width) = widths.get(widths.len() / 2) else { return Vec::new() };
    let equal = |i: &&Interval| (i.width_ns as f64 - width as f64).abs() <= width as f64 * UNEQUAL;
    after.into_iter().filter(equal).collect()
}

/// The requested steady state that a phase did not reach.
pub(crate) fn last_asked(phase: &Phase) -> Option<&SteadyState> {
    phase.repetitions.iter().filter_map(|r| r.steady.as_ref()).find(|s| s.asked && !s.reached)
}

fn found(phase: &Phase) -> Option<PhaseResult<'_>> {
    let of_each = phase.repetitions.iter().map(finding);
    let worse = |a: &(u8, f64, String), b: &(u8, f64, String)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
    let (rank, weight, words) = of_each.max_by(worse)?;
    let verdict = [Verdict::Good, Verdict::Unknown, Verdict::Doubtful][usize::from(rank)];
    Some(PhaseResult { phase, verdict, weight, words })
}

/// (severity, range, words).
fn finding(repetition: &Repetition) -> (u8, f64, String) {
    if let Some(ns) = repetition.stood_still_ns() {
        return (2, f64::MAX, format!("not judged: it stood still for {}", time(ns as f64)));
    }
    let ramp = match repetition.ramp_ns {
        0 => String::new(),
        ns => format!("; warm-up of {} left out", time(ns as f64)),
    };
    let paced = is_paced(repetition);
    let found = repetition.steady.clone().filter(|s| s.asked || !paced);
    let judged = found.or_else(|| judge(repetition));
    let Some(state) = judged else {
        let why = if repetition.intervals.is_empty() {
            "no interval series was requested"
        } else if paced {
            "a rate decides how many operations there are"
        } else if full_intervals(repetition).len() < WINDOW {
            "shorter than five intervals"
        } else {
            "fewer than a hundred operations a round"
        };
        return (1, 0.0, format!("not judged: {why}{ramp}"));
    };
    // The limits of a requested steady state are in the workload.
    let limit = |percent| (!state.asked).then_some(percent);
    let spread = format!(
        "range {}, trend {}; {} over {} rounds of {}",
        beside_limit(state.range_percent, limit(RANGE_PERCENT)),
        beside_limit(state.slope_percent, limit(SLOPE_PERCENT)),
        state.figure,
        state.window,
        time(state.round_ns as f64)
    );
    let (rank, words) = match (state.reached, state.asked) {
        (true, _) => (0, format!("yes: {spread}{ramp}")),
        (false, true) => (2, format!("requested and not reached: {spread}{ramp}")),
        (false, false) => {
            (2, format!("no: {spread}{ramp}; the mean hides a change, look at its course over time"))
        }
    };
    (rank, state.range_percent, words)
}

/// "12 % (limit 10 %)": the limit only if it was exceeded.
fn beside_limit(found: f64, limit: Option<f64>) -> String {
    let passed = limit.filter(|l| found.abs() > *l);
    let limit = passed.map_or(String::new(), |l| format!(" (limit {})", percent(l / 100.0)));
    format!("{}{limit}", percent(found / 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::{Histogram, OpStat, Worker};

    fn intervals(ops: &[u64]) -> Vec<Interval> {
        let widths = ops.iter().zip(1..);
        widths
            .map(|(&ops, n)| Interval {
                end_ns: n * 1_000_000_000,
                width_ns: 1_000_000_000,
                ops,
                ..Interval::default()
            })
            .collect()
    }

    fn of(ops: &[u64]) -> Repetition {
        Repetition { intervals: intervals(ops), ..Repetition::default() }
    }

    #[test]
    fn all_of_the_phase_is_judged_in_five_rounds() {
        let state = judge(&of(&[100, 110, 100, 110, 100, 110, 100, 110, 100, 110])).expect("judged");
        assert!(state.reached && !state.asked, "{state:?}");
        assert_eq!((state.rounds.as_slice(), state.round_ns), ([105.0; 5].as_slice(), 2_000_000_000));
        // Steady at the end, but not as a whole.
        let late = judge(&of(&[900, 900, 100, 100, 100, 100, 100, 100, 100, 100])).expect("judged");
        assert!(!late.reached, "{late:?}");
    }

    #[test]
    fn warm_up_and_a_last_interval_that_was_cut_short_are_left_out() {
        let mut repetition = of(&[900, 100, 100, 100, 100, 100]);
        assert!(judge(&repetition).is_some_and(|s| s.rounds == [100.0; 5]), "the earliest is left over");
        repetition.intervals.pop();
        assert!(judge(&repetition).is_some_and(|s| !s.reached));
        repetition.ramp_ns = 1_000_000_000;
        assert_eq!(judge(&repetition), None, "four are left");
        let mut short = of(&[100; 6]);
        short.intervals[5].width_ns = 100_000_000;
        assert!(judge(&short).is_some_and(|s| s.rounds == [100.0; 5]));
    }

    #[test]
    fn too_little_is_not_judged() {
        assert_eq!(judge(&of(&[100; 4])), None);
        assert_eq!(judge(&of(&[99; 5])), None);
        assert_eq!(judge(&of(&[0; 5])), None);
        assert_eq!(judge(&of(&[])), None);
        assert!(finding(&of(&[100; 4])).2.contains("shorter than five intervals"));
        assert!(finding(&of(&[99; 5])).2.contains("fewer than a hundred operations"));
        assert!(finding(&of(&[])).2.contains("no interval series was requested"));
    }

    #[test]
    fn operations_at_a_rate_are_not_judged() {
        let mut paced = of(&[100; 10]);
        paced.steady = judge(&paced);
        let latency = Histogram::default();
        let stats = vec![OpStat { op: OpKind::Response, ops: 1000, bytes: 0, latency }];
        paced.workers = vec![Worker { stats, ..Worker::default() }];
        assert_eq!(judge(&paced), None);
        assert!(finding(&paced).2.contains("a rate decides"), "nor what an older record holds");
    }

    #[test]
    fn the_limit_that_was_passed_is_named() {
        let (rank, _, words) = finding(&of(&[200, 190, 180, 170, 160]));
        assert_eq!(rank, 2);
        assert!(
            words.starts_with("no: range 22 % (limit 20 %), trend 22 % (limit 10 %); operations"),
            "{words}"
        );
    }
}
