//! Results as sentences. A sentence contains the figures it relies on and claims no more: "no change seen" names the margin,
//! "inconclusive" names what would settle it, and a single run gets no interval.

mod figures;
mod groups;

use crate::noise::{GateFailure, NoiseGate};
use crate::quads::effect::{Effect, Scale};
use crate::single::{AgainstControls, HeadlineCheck};
use crate::verdict::{Comparison, SettlingEffort, Verdict};
pub use groups::groups;

use figures::{effect_percent, percent, significant};
pub use figures::{p_value, short};

/// Note for results that were not interleaved.
pub const NOT_INTERLEAVED: &str =
    "Runs were not interleaved; drift between the sessions cannot be distinguished from a change.";

/// Note for a history whose neighbouring points are correlated.
pub const HISTORY_DRIFTS: &str = "This history drifts; small steps need more points.";

/// Note for a change in such a history with too few blocks of points.
pub const CHANGE_IN_DOUBT: &str = "In doubt: neighbouring runs resemble each other, and there are too few of them to separate a step from drift.";

/// Names of sides and directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a> {
    /// The baseline.
    pub a: &'a str,
    /// The side compared with the baseline.
    pub b: &'a str,
    /// Word for an improvement: "faster" or "better".
    pub better: &'a str,
    /// Word for a regression: "slower" or "worse".
    pub worse: &'a str,
}

impl<'a> Names<'a> {
    /// For rates, latencies and times: faster, slower.
    #[must_use]
    pub const fn of_speed(a: &'a str, b: &'a str) -> Self {
        Self { a, b, better: "faster", worse: "slower" }
    }

    /// For counts, such as errors or instructions: better, worse.
    #[must_use]
    pub const fn of_count(a: &'a str, b: &'a str) -> Self {
        Self { a, b, better: "better", worse: "worse" }
    }
}

/// The sentence for a comparison whose quads were in random order.
#[must_use]
pub fn comparison(found: &Comparison, names: Names) -> String {
    comparison_of(found, names, "random ")
}

/// The same if it is unknown how the order within the quads came about.
#[must_use]
pub fn comparison_in_found_order(found: &Comparison, names: Names) -> String {
    comparison_of(found, names, "")
}

fn comparison_of(found: &Comparison, names: Names, random: &str) -> String {
    let effect = &found.effect;
    let Names { a, b, .. } = names;
    let p = p_value(found.test.p);
    let evidence = || {
        let runs = 2 * found.quads;
        let interval = interval(effect);
        format!(
            "({interval}; {runs} + {runs} runs in {} {random}{}; exact {p})",
            found.quads,
            quads(found.quads)
        )
    };
    match &found.verdict {
        Verdict::Faster => format!("{b} is {} {} than {a} {}.", size(effect), names.better, evidence()),
        Verdict::Slower => format!("{b} is {} {} than {a} {}.", size(effect), names.worse, evidence()),
        Verdict::ChangedBelowThreshold => {
            let threshold = match effect.scale {
                Scale::Ratio => percent(found.rules.threshold),
                Scale::Difference => short(found.rules.difference_threshold),
            };
            format!(
                "{b} differs from {a} by {}, less than the threshold of {threshold} {}.",
                size(effect),
                evidence()
            )
        }
        Verdict::SameWithin(margin) => match effect.scale {
            Scale::Ratio => format!(
                "No change seen; any difference is below {} ({}).",
                percent(*margin),
                interval(effect)
            ),
            Scale::Difference => format!(
                "No change seen; any difference is at most {} ({}).",
                short(*margin),
                interval(effect)
            ),
        },
        Verdict::Inconclusive(settle) => {
            let after = format!("{} after {} {}", estimate(effect), found.quads, quads(found.quads));
            format!("Inconclusive: {after} ({p}).{}", settled(settle))
        }
        Verdict::Withheld(failures) => {
            let reasons: Vec<String> = failures.iter().map(gate_failure).collect();
            format!("No verdict: {} ({}; {p}).", reasons.join("; "), interval(effect))
        }
    }
}

fn estimate(effect: &Effect) -> String {
    match effect.scale {
        Scale::Ratio => format!("ratio {:.4}", effect.estimate),
        Scale::Difference => format!("difference {}", short(effect.estimate)),
    }
}

fn interval(effect: &Effect) -> String {
    let confidence = format!("{:.1} % interval", effect.confidence * 100.0);
    let bounds = match effect.scale {
        Scale::Ratio => format!("{:.4} to {:.4}", effect.low, effect.high),
        Scale::Difference => format!("{} to {}", short(effect.low), short(effect.high)),
    };
    format!("{}, {confidence} {bounds}", estimate(effect))
}

fn size(effect: &Effect) -> String {
    match effect.scale {
        Scale::Ratio => effect_percent(effect.estimate - 1.0),
        Scale::Difference => short(effect.estimate.abs()),
    }
}

fn quads(n: usize) -> &'static str {
    if n == 1 { "quad" } else { "quads" }
}

fn settled(settle: &SettlingEffort) -> String {
    match settle {
        SettlingEffort { change: Some(change), more_quads: Some(more) } => {
            let quads = quads(*more as usize);
            format!(" About {more} more {quads} would settle a {} change on this machine.", percent(*change))
        }
        _ => String::new(),
    }
}

/// Why the noise gate failed, as part of a sentence.
#[must_use]
pub fn gate_failure(failure: &GateFailure) -> String {
    match failure {
        GateFailure::DiffersFromItself { p } => {
            format!("on this machine the baseline differs from itself ({})", p_value(*p))
        }
        GateFailure::TwoLevels(levels) => {
            let (low, high) = (significant(levels.low), significant(levels.high));
            let share = (levels.high_share() * 100.0).round();
            format!(
                "the baseline's runs show two levels or strong skew ({low} and {high}, {share} % of runs on the upper)"
            )
        }
        GateFailure::TooNoisy { needed: Some(needed), budget } => {
            format!("the noise of this machine needs {needed} quads and the budget is {budget}")
        }
        GateFailure::TooNoisy { needed: None, .. } => {
            "the requested change is not above the threshold".to_string()
        }
    }
}

/// The result of a noise gate.
#[must_use]
pub fn noise_gate(gate: &NoiseGate) -> String {
    let sees = effect_percent(gate.smallest_change);
    let mut said = format!("This machine can detect changes of {sees} or more with {} runs.", gate.runs);
    for failure in &gate.failures {
        said.push_str(&format!(" Verdicts are withheld: {}.", gate_failure(failure)));
    }
    said
}

/// The sentence for one run of each side.
#[must_use]
pub fn one_run_each(names: Names, ratio: f64, higher_is_better: Option<bool>) -> String {
    format!("{} (one run each; not a verdict).", times_than(names, ratio, higher_is_better))
}

/// "B is 2.1× faster than A".
#[must_use]
pub fn times_than(names: Names, ratio: f64, higher_is_better: Option<bool>) -> String {
    let Names { a, b, .. } = names;
    match times(names, ratio, higher_is_better) {
        Some(times) => format!("{b} is {times} than {a}"),
        None => format!("{b} and {a} differ by less than 0.5 %"),
    }
}

/// "2.1× faster": the factor from the ratio of B to A, in at most three digits; `None` if that would print 1.
#[must_use]
pub fn times(names: Names, ratio: f64, higher_is_better: Option<bool>) -> Option<String> {
    let (factor, is_more) = if ratio < 1.0 { (1.0 / ratio, false) } else { (ratio, true) };
    let word = match is_more == higher_is_better.unwrap_or(true) {
        true => names.better,
        false => names.worse,
    };
    let factor = short(factor);
    (factor != "1").then(|| format!("{factor}× {word}"))
}

/// The sentence for a cell of single runs and its control cells.
#[must_use]
pub fn single_runs(names: Names, ratio: f64, (what, largest): (&str, f64)) -> String {
    let Names { a, b, .. } = names;
    let (ratio, largest) = (significant(ratio), effect_percent(largest));
    format!(
        "Single runs: {b}/{a} = {ratio}. No interval can be given. Control cells ({what}) differ by at most {largest}."
    )
}

/// The sentence for several cells of single runs and control cells.
#[must_use]
pub fn against_controls(found: &AgainstControls) -> String {
    let (cell, control) = (effect_percent(found.smallest_cell), effect_percent(found.largest_control));
    let how = if found.beyond_all {
        "Beyond the variation of the control cells"
    } else {
        "Not beyond the variation of the control cells"
    };
    format!(
        "{how}: every cell moved by {cell} or more, controls by at most {control}; one run each, so no confidence level."
    )
}

/// The sentence for a headline contradicted by its own log; `None` if it is not. `unit` is that of the rates, `work` is "written" or
/// "read".
#[must_use]
pub fn headline(check: &HeadlineCheck, unit: &str, work: &str) -> Option<String> {
    let cell = &check.cell;
    check.contradicts.then(|| {
        format!(
            "Children saw {} {unit}, the parent {} {unit}: the slowest process had {work} {:.0} % of its file when the clock stopped. \
             Both are shown.",
            significant(cell.children),
            significant(cell.parent),
            check.smallest_share * 100.0
        )
    })
}

#[cfg(test)]
#[path = "wording_tests.rs"]
mod tests;
