//! How phases ran, if there is anything to report: the warm-up left out, operations drained at the end, the queue depth found,
//! whether a rate was kept, whether a steady state was reached, and the tail beside the machine's own stalls. Only for phases
//! that are not part of a surface; formats lay it out.

use crate::{
    section::{brief, full_title},
    spark,
    surface::on_surfaces,
    units,
};
use fathom_record::{Phase, SteadyState, Tail, Worker};

/// What a phase left out, drained and found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConductRow {
    /// The phase with its sizes.
    pub title: String,
    /// The phase without its sizes.
    pub brief: String,
    /// The warm-up left out; `None` without one.
    pub warm_up: Option<String>,
    /// Operations in flight at the end, which were drained and counted.
    pub drained: Option<String>,
    /// Queue depth that adaptive streams settled on.
    pub depth: Option<String>,
    /// Longest time behind the rate.
    pub behind: Option<String>,
}

impl ConductRow {
    /// Names of the columns.
    pub const HEADS: [&str; 4] =
        ["Warm-up left out", "Drained at the end", "Settled queue depth", "Behind its rate"];

    /// Cells in the order of the heads.
    #[must_use]
    pub fn cells(&self) -> [Option<&str>; 4] {
        [&self.warm_up, &self.drained, &self.depth, &self.behind].map(Option::as_deref)
    }

    /// The non-empty cells, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let with = |before: &str, text: &Option<String>| text.as_ref().map(|t| format!("{before}{t}"));
        [
            with("warm-up left out: ", &self.warm_up),
            with("drained: ", &self.drained),
            with("queue depth settled on ", &self.depth),
            with("behind its rate for ", &self.behind),
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ")
    }

    fn of(phase: &Phase) -> Option<Self> {
        let workers = || phase.repetitions.iter().flat_map(|r| &r.workers);
        let sum = |of: fn(&Worker) -> u64| workers().fold(0u64, |sum, w| sum.saturating_add(of(w)));
        let ramp_ns = phase.repetitions.iter().map(|r| r.ramp_ns).max().filter(|&ns| ns > 0);
        let warm_up =
            ramp_ns.map(|ns| format!("{} ({})", units::time_ns(ns as f64), operations(sum(|w| w.ramp_ops))));
        let drained = Some(sum(|w| w.drained_ops)).filter(|&n| n > 0).map(operations);
        let depths = || workers().filter_map(|w| w.settled_depth);
        let depth = depths().min().zip(depths().max()).map(|(low, high)| match low == high {
            true => low.to_string(),
            false => format!("{low} to {high}"),
        });
        let behind = workers().map(|w| w.behind_ns).max().filter(|&ns| ns > 0);
        let behind = behind.map(|ns| units::time_ns(ns as f64));
        let row = Self { title: full_title(phase), brief: brief(phase), warm_up, drained, depth, behind };
        row.cells().iter().any(Option::is_some).then_some(row)
    }
}

fn operations(n: u64) -> String {
    if n == 1 { "1 operation".into() } else { format!("{} operations", units::count(n)) }
}

/// Whether a phase reached a steady state.
#[derive(Clone, Debug, PartialEq)]
pub struct Steady {
    /// The phase with its sizes.
    pub title: String,
    /// The phase without its sizes.
    pub brief: String,
    /// Result of its last repetition.
    pub state: SteadyState,
}

impl Steady {
    /// Names of the columns.
    pub const HEADS: [&str; 6] = ["Steady", "Figure", "Rounds", "Over the rounds", "Range", "Trend"];

    /// Whether the state was reached, worded differently for a stop rule.
    #[must_use]
    pub fn answer(&self) -> &'static str {
        match (self.state.reached, self.state.asked) {
            (true, true) => "reached",
            (false, true) => "not reached",
            (true, false) => "yes",
            (false, false) => "no",
        }
    }

    /// Cells in the order of the heads.
    #[must_use]
    pub fn cells(&self) -> [String; 6] {
        let s = &self.state;
        [
            self.answer().into(),
            s.figure.clone(),
            format!(
                "{} of {}, the last {} judged",
                s.rounds.len(),
                units::time_ns(s.round_ns as f64),
                s.window
            ),
            spark::bars_in(&s.rounds, 25),
            units::percent(s.range_percent / 100.0),
            units::percent(s.slope_percent / 100.0),
        ]
    }

    fn of(phase: &Phase) -> Option<Self> {
        let state = phase.repetitions.iter().rev().find_map(|r| r.steady.clone())?;
        Some(Self { title: full_title(phase), brief: brief(phase), state })
    }
}

/// A phase's tail beside the machine's stalls.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// The phase with its sizes.
    pub title: String,
    /// The phase without its sizes.
    pub brief: String,
    /// The figures.
    pub tail: Tail,
}

impl Beside {
    /// Names of the columns.
    pub const HEADS: [&str; 5] = ["p99.9", "Stalls, p99.9", "Slowest", "Longest stall", "Whose tail"];

    /// Cells in the order of the heads.
    #[must_use]
    pub fn cells(&self) -> [String; 5] {
        let t = &self.tail;
        let [a, b, c, d] =
            [t.p999_ns, t.machine_p999_ns, t.max_ns, t.machine_max_ns].map(|ns| units::time_ns(ns as f64));
        [a, b, c, d, if t.is_the_machines() { "the machine's" } else { "not the machine's" }.into()]
    }
}

fn singles<'r, T>(phases: &[&'r Phase], of: impl Fn(&'r Phase) -> Option<T>) -> Vec<T> {
    on_surfaces(phases).1.into_iter().filter_map(of).collect()
}

/// What phases left out, drained and found.
#[must_use]
pub fn rows(phases: &[&Phase]) -> Vec<ConductRow> {
    singles(phases, ConductRow::of)
}

/// Steady states of the phases.
#[must_use]
pub fn steady(phases: &[&Phase]) -> Vec<Steady> {
    singles(phases, Steady::of)
}

/// Tails of the phases.
#[must_use]
pub fn tails(phases: &[&Phase]) -> Vec<Beside> {
    singles(phases, |p| Some(Beside { title: full_title(p), brief: brief(p), tail: Tail::of(p)? }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn what_there_is_to_tell_is_told() {
        let run = samples::engine_run();
        let phases: Vec<&Phase> = run.phases.iter().collect();
        let found: Vec<String> = rows(&phases).iter().map(ConductRow::words).collect();
        assert_eq!(
            found,
            [
                "warm-up left out: 2.00 s (14 000 operations); drained: 32 operations; queue depth settled on 16",
                "behind its rate for 1.80 s"
            ]
        );
        let steady = steady(&phases);
        assert_eq!(steady.iter().map(Steady::answer).collect::<Vec<_>>(), ["reached", "no"]);
        assert_eq!(steady[0].cells()[2], "8 of 1.00 s, the last 5 judged");
        let tails: Vec<[String; 5]> = tails(&phases).iter().map(Beside::cells).collect();
        assert_eq!(tails.len(), 2);
        assert_eq!((tails[0][4].as_str(), tails[1][4].as_str()), ("not the machine's", "the machine's"));
    }

    #[test]
    fn where_there_is_nothing_nothing_is_told() {
        let run = samples::auto_run();
        let phases: Vec<&Phase> = run.phases.iter().collect();
        assert!(rows(&phases).is_empty() && steady(&phases).is_empty() && tails(&phases).is_empty());
    }
}
