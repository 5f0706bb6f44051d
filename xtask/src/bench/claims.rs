//! What the specification claims of a case, and whether the samples bear it out. A bound holds if the median is inside it and the
//! 95 % interval goes beyond it by no more than the floor's own noise. Pure: samples in, verdicts out.

use super::cases::{Column, Unit};
use super::sample::Sample;
use super::spread::{self, Estimate, Spread, difference, ratio};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The samples of a case, round by round.
pub type Samples = BTreeMap<Column, Vec<Sample>>;

/// Which of the two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Wall,
    Cpu,
}

/// What is claimed of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Claim {
    /// Its median, ns.
    AtMost(f64),
    /// Its median less another's, ns.
    Adds { to: Column, at_most: f64 },
    /// It adds less to `to` than `than` adds to `adds_to`.
    AddsLess { to: Column, than: Column, adds_to: Column },
    /// Its median over another's.
    Times { against: Column, bound: f64 },
    /// The same speed as another, either way.
    Near { against: Column, within: f64 },
    /// Another's median over its own.
    Faster { than: Column, at_least: f64 },
    /// (max - min) / median of its rounds.
    Range { at_most: f64 },
}

/// A claim about a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    pub column: Column,
    pub measure: Measure,
    pub claim: Claim,
}

/// How it came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// The median is inside, the interval reaches too far beyond.
    Unclear,
    Missed,
    /// A contender is absent or failed.
    NotMeasured,
}

impl Outcome {
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Unclear => "unclear",
            Self::Missed => "MISSED",
            Self::NotMeasured => "-",
        }
    }
}

/// A claimed bound, and whether it held.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What is claimed, without its bound.
    pub what: String,
    pub bound: String,
    pub got: String,
    pub outcome: Outcome,
}

impl Verdict {
    pub fn json(&self) -> Value {
        json!({"claim": self.what, "bound": self.bound, "got": self.got, "outcome": self.outcome.word()})
    }
}

impl Bound {
    pub fn of(column: Column, measure: Measure, claim: Claim) -> Self {
        Self { column, measure, claim }
    }

    /// Every column it speaks of.
    pub fn columns(&self) -> Vec<Column> {
        let others = match self.claim {
            Claim::AtMost(_) | Claim::Range { .. } => vec![],
            Claim::Adds { to, .. } => vec![to],
            Claim::AddsLess { to, than, adds_to } => vec![to, than, adds_to],
            Claim::Times { against, .. } | Claim::Near { against, .. } => vec![against],
            Claim::Faster { than, .. } => vec![than],
        };
        [vec![self.column], others].concat()
    }

    /// The same bound against fio's newest version, if it is one against fio.
    pub fn against_head(&self) -> Option<Self> {
        let claim = match self.claim {
            Claim::Times { against, bound } => Claim::Times { against: against.head()?, bound },
            Claim::Near { against, within } => Claim::Near { against: against.head()?, within },
            Claim::AddsLess { to, than, adds_to } => {
                Claim::AddsLess { to, than: than.head()?, adds_to: adds_to.head()? }
            }
            _ => return None,
        };
        Some(Self { claim, ..*self })
    }

    /// Judges the samples. `name` says what a column means in this case.
    pub fn judge(&self, samples: &Samples, unit: Unit, name: impl Fn(Column) -> String) -> Verdict {
        let (what, bound) = self.words(unit, name);
        let Some((estimate, holds)) = self.holds(samples) else {
            return Verdict { what, bound, got: String::new(), outcome: Outcome::NotMeasured };
        };
        let got = self.got(estimate, unit);
        Verdict { what, bound, got, outcome: holds }
    }

    fn holds(&self, samples: &Samples) -> Option<(Estimate, Outcome)> {
        let of = |column| values(samples.get(&column)?, self.measure);
        let own = of(self.column)?;
        // A numeric bound without a peer has the noise of this median, not the floor's.
        let noise = 1.0 + of(Column::Floor).map_or(0.0, |floor| noise(&floor));
        let below = |estimate: Estimate, bound: f64| {
            let outcome = match () {
                () if estimate.value > bound => Outcome::Missed,
                () if estimate.high > bound * noise => Outcome::Unclear,
                () => Outcome::Passed,
            };
            (estimate, outcome)
        };
        Some(match self.claim {
            Claim::AtMost(bound) => below(ratio(&own, &vec![1.0; own.len()])?, bound),
            Claim::Adds { to, at_most } => {
                let estimate = difference(&own, &of(to)?)?;
                let outcome = match () {
                    () if estimate.value > at_most => Outcome::Missed,
                    () if estimate.high > at_most + (noise - 1.0) * Spread::of(&own)?.median => {
                        Outcome::Unclear
                    }
                    () => Outcome::Passed,
                };
                (estimate, outcome)
            }
            Claim::AddsLess { to, than, adds_to } => {
                let ours = difference(&own, &of(to)?)?;
                let theirs = difference(&of(than)?, &of(adds_to)?)?;
                let estimate = Estimate {
                    value: ours.value - theirs.value,
                    low: ours.low - theirs.high,
                    high: ours.high - theirs.low,
                };
                below(estimate, 0.0)
            }
            Claim::Times { against, bound } => below(ratio(&own, &of(against)?)?, bound),
            Claim::Near { against, within } => {
                let estimate = ratio(&own, &of(against)?)?;
                let beyond = |value: f64| (value - 1.0).abs() > within;
                let outcome = match () {
                    () if beyond(estimate.value) => Outcome::Missed,
                    () if beyond(estimate.low) || beyond(estimate.high) => Outcome::Unclear,
                    () => Outcome::Passed,
                };
                (estimate, outcome)
            }
            Claim::Faster { than, at_least } => {
                let estimate = ratio(&of(than)?, &own)?;
                let outcome = match () {
                    () if estimate.value < at_least => Outcome::Missed,
                    () if estimate.low < at_least / noise => Outcome::Unclear,
                    () => Outcome::Passed,
                };
                (estimate, outcome)
            }
            // One or two rounds say nothing of a range.
            Claim::Range { .. } if own.len() < 3 => return None,
            Claim::Range { at_most } => {
                let value = Spread::of(&own)?.relative();
                let outcome = if value <= at_most { Outcome::Passed } else { Outcome::Missed };
                (Estimate { value, low: value, high: value }, outcome)
            }
        })
    }

    fn words(&self, unit: Unit, name: impl Fn(Column) -> String) -> (String, String) {
        let own = match self.column {
            Column::Fathom => String::new(),
            other => format!("{} ", name(other)),
        };
        let cpu = if self.measure == Measure::Cpu { "CPU " } else { "" };
        let time = |ns: f64| match unit {
            Unit::Operation => format!("{ns:.0} ns"),
            Unit::Run => format!("{:.0} ms", ns / 1e6),
        };
        let (what, bound) = match self.claim {
            Claim::AtMost(bound) => ("time".to_owned(), format!("<= {}", time(bound))),
            Claim::Adds { to, at_most } => (format!("less {}", name(to)), format!("<= {}", time(at_most))),
            Claim::AddsLess { than, .. } => {
                (format!("adds, less what {} adds", name(than)), "<= 0 ns".into())
            }
            Claim::Times { against, bound } => (format!("/ {}", name(against)), format!("<= {bound:.2}")),
            Claim::Near { against, within } => (format!("/ {}", name(against)), format!("1 +- {within:.2}")),
            Claim::Faster { than, at_least } => {
                (format!("times faster than {}", name(than)), format!(">= {at_least}"))
            }
            Claim::Range { at_most } => {
                ("range of rounds / median".into(), format!("<= {:.0} %", at_most * 100.0))
            }
        };
        (format!("{own}{cpu}{what}"), bound)
    }

    fn got(&self, estimate: Estimate, unit: Unit) -> String {
        let Estimate { value, low, high } = estimate;
        match (self.claim, unit) {
            (Claim::Range { .. }, _) => format!("{:.1} %", value * 100.0),
            (Claim::AtMost(_), Unit::Run) => {
                format!("{:.1} ms [{:.1}-{:.1}]", value / 1e6, low / 1e6, high / 1e6)
            }
            (Claim::AtMost(_) | Claim::Adds { .. } | Claim::AddsLess { .. }, _) => {
                format!("{value:.1} ns [{low:.1} to {high:.1}]")
            }
            _ => format!("{value:.3} [{low:.3}-{high:.3}]"),
        }
    }
}

/// One of the two times of every round; None if a round has none.
pub fn values(samples: &[Sample], measure: Measure) -> Option<Vec<f64>> {
    let values = samples.iter().map(|s| match measure {
        Measure::Wall => Some(s.wall_ns),
        Measure::Cpu => s.cpu_ns,
    });
    values.collect::<Option<Vec<f64>>>().filter(|v| !v.is_empty())
}

/// How far the floor's own median is uncertain: half its interval, as a share.
fn noise(floor: &[f64]) -> f64 {
    spread::ratio(floor, &vec![1.0; floor.len()]).map_or(0.0, |e| (e.high - e.low) / 2.0 / e.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(columns: &[(Column, &[f64])]) -> Samples {
        let sample = |ns: &f64| Sample { wall_ns: *ns, cpu_ns: Some(*ns / 2.0) };
        columns.iter().map(|(column, ns)| (*column, ns.iter().map(sample).collect())).collect()
    }

    fn judge(claim: Claim, columns: &[(Column, &[f64])]) -> Outcome {
        Bound::of(Column::Fathom, Measure::Wall, claim)
            .judge(&samples(columns), Unit::Operation, name)
            .outcome
    }

    fn name(column: Column) -> String {
        column.label().to_owned()
    }

    const STEADY: [f64; 5] = [100.0; 5];

    #[test]
    fn a_ratio_is_judged_by_median_and_interval() {
        let claim = Claim::Times { against: Column::Fio, bound: 0.85 };
        assert_eq!(judge(claim, &[(Column::Fathom, &[80.0; 5]), (Column::Fio, &STEADY)]), Outcome::Passed);
        assert_eq!(judge(claim, &[(Column::Fathom, &[90.0; 5]), (Column::Fio, &STEADY)]), Outcome::Missed);
        let noisy = [80.0, 80.0, 80.0, 120.0, 120.0];
        assert_eq!(judge(claim, &[(Column::Fathom, &noisy), (Column::Fio, &STEADY)]), Outcome::Unclear);
        assert_eq!(judge(claim, &[(Column::Fathom, &noisy)]), Outcome::NotMeasured);
    }

    #[test]
    fn noise_of_the_floor_is_allowed_for() {
        let claim = Claim::Times { against: Column::Fio, bound: 0.85 };
        let noisy = [80.0, 80.0, 80.0, 87.0, 87.0];
        let floor = [60.0, 100.0, 60.0, 100.0, 80.0];
        let columns: [(Column, &[f64]); 3] =
            [(Column::Fathom, &noisy), (Column::Fio, &STEADY), (Column::Floor, &floor)];
        assert_eq!(judge(claim, &columns[..2]), Outcome::Unclear);
        assert_eq!(judge(claim, &columns), Outcome::Passed);
    }

    #[test]
    fn each_claim_can_pass_and_be_missed() {
        let fathom = |ns: f64| [ns; 5];
        let check = |claim, pass: f64, miss: f64, others: &[(Column, &[f64])]| {
            for (ns, outcome) in [(pass, Outcome::Passed), (miss, Outcome::Missed)] {
                let own = fathom(ns);
                let columns = [&[(Column::Fathom, &own[..])], others].concat();
                assert_eq!(judge(claim, &columns), outcome, "{claim:?} with {ns}");
            }
        };
        let floor: (Column, &[f64]) = (Column::Floor, &STEADY);
        let variant: (Column, &[f64]) = (Column::Variant, &STEADY);
        check(Claim::AtMost(50.0), 50.0, 51.0, &[]);
        check(Claim::Adds { to: Column::Floor, at_most: 15.0 }, 115.0, 116.0, &[floor]);
        check(Claim::Near { against: Column::Floor, within: 0.01 }, 100.5, 98.0, &[floor]);
        check(Claim::Faster { than: Column::Variant, at_least: 1.9 }, 51.0, 60.0, &[variant]);
        let (with, without) = ([130.0; 5], [110.0; 5]);
        check(
            Claim::AddsLess { to: Column::Variant, than: Column::Fio, adds_to: Column::FioTuned },
            110.0,
            125.0,
            &[variant, (Column::Fio, &with), (Column::FioTuned, &without)],
        );
        assert_eq!(
            judge(Claim::Range { at_most: 0.03 }, &[(Column::Fathom, &[100.0, 102.0, 101.0])]),
            Outcome::Passed
        );
        assert_eq!(
            judge(Claim::Range { at_most: 0.03 }, &[(Column::Fathom, &[100.0, 104.0, 101.0])]),
            Outcome::Missed
        );
    }

    #[test]
    fn bounds_against_fio_hold_for_its_head_too() {
        let bound =
            Bound::of(Column::Fathom, Measure::Cpu, Claim::Times { against: Column::FioTuned, bound: 0.75 });
        assert_eq!(bound.against_head().unwrap().columns(), [Column::Fathom, Column::FioHeadTuned]);
        let other =
            Bound::of(Column::Fathom, Measure::Wall, Claim::Times { against: Column::Floor, bound: 1.0 });
        assert_eq!(other.against_head(), None);
        let (what, bound) = bound.words(Unit::Operation, name);
        assert_eq!((what.as_str(), bound.as_str()), ("CPU / fio tuned", "<= 0.75"));
    }
}
