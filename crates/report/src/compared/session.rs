//! A comparison that made its runs itself: its stopping rule in words, the figures it watches and when it first looks at them, and
//! the noise of single runs. `layout` derives the quads from the marks of the runs, `judge` takes level and noise.

use super::family::MANY;
use super::judge::ComparedRow;
use super::mark::{Noise, NoiseOf, Plan, SessionMark, SessionPart, Stopping};
use super::metric::Metric;
use fathom_compare::matrix::{CONFIRM_QUADS, SCREEN_QUADS};
use fathom_compare::noise::{GateRules, NoiseGate, noise_gate, quads_needed, smallest_change};
use fathom_compare::quads::{Quad, Side};
use fathom_compare::sequential::FIRST_LOOK;
use fathom_compare::verdict::FEWEST_QUADS;
use fathom_compare::wording;
use serde::Serialize;

impl Stopping {
    /// The rule in words.
    #[must_use]
    pub fn words(&self) -> String {
        let first_of_many = first_look(MANY);
        match self {
            Self::Spending { most_quads, early, last } => format!(
                "at most {most_quads} quads; a look after each from the third on, of {MANY} cells or more from the {first_of_many}th on, ending early only for p of {early} or less; at the last look p of {last} or less is a change"
            ),
            Self::Precision { most_quads, half_width, level } => format!(
                "at most {most_quads} quads; a look after each from the third on, of {MANY} cells or more from the {first_of_many}th on, ending when the interval is within {} % of the ratio; then one test at {level}",
                (half_width * 1e4).round() / 1e2
            ),
        }
    }
}

/// The quad after which the given number of figures is first looked at: many figures are screened and confirmed, which takes more quads.
#[must_use]
pub fn first_look(watched: usize) -> usize {
    if watched < MANY { FIRST_LOOK } else { SCREEN_QUADS + CONFIRM_QUADS }
}

impl Plan {
    /// Whether the figure takes part in deciding when to stop.
    #[must_use]
    pub fn watches(&self, row: &ComparedRow) -> bool {
        match &self.figure {
            None => row.headline,
            Some(word) => match Metric::of_word(word) {
                Metric::Percentile(_) if row.beside => false,
                metric => metric.takes(&row.metric),
            },
        }
    }

    /// The figure, if one was chosen.
    pub(super) fn metric(&self) -> Option<Metric> {
        self.figure.as_deref().map(Metric::of_word)
    }

    /// The noise gate for a figure; `None` if the baseline was not compared with itself.
    pub(super) fn gate(&self, row: &ComparedRow) -> Option<NoiseGate> {
        let noise = self.noise.as_ref()?;
        let alike: Vec<&NoiseOf> =
            noise.figures.iter().filter(|n| n.operation == row.operation && n.metric == row.metric).collect();
        let of = match alike.as_slice() {
            [one] => one,
            several => several.iter().find(|n| n.cell == row.cell)?,
        };
        noise.gate(of, self.effect, self.threshold)
    }
}

impl Noise {
    /// Judges one figure among all those kept; `None` if it has no logarithm or is incomplete.
    #[must_use]
    pub fn gate(&self, of: &NoiseOf, effect: f64, threshold: f64) -> Option<NoiseGate> {
        let quad = |(order, four): (&String, &[f64])| {
            let sides: Vec<Side> = order.chars().map(|c| if c == 'A' { Side::A } else { Side::B }).collect();
            Quad::of_runs(four.try_into().ok()?, sides.try_into().ok()?)
        };
        let quads: Option<Vec<Quad>> = self.orders.iter().zip(of.values.chunks(4)).map(quad).collect();
        let rules = GateRules {
            budget_quads: self.most_quads,
            change: effect,
            threshold,
            cells: self.figures.len(),
            ..GateRules::default()
        };
        noise_gate(&quads?, &of.values, &rules).ok()
    }
}

/// Maximum number of figures whose scatter is reported one by one.
const MOST_SCATTERS: usize = 6;

/// A comparison that made its runs itself, for output.
#[derive(Clone, Debug, Serialize)]
pub struct Session {
    /// Id of the comparison.
    pub id: String,
    /// Seed of the orders.
    pub seed: u64,
    /// The purpose of these runs.
    pub part: SessionPart,
    /// The comparison's plan.
    pub plan: Plan,
    /// Orders of the quads.
    pub orders: Vec<String>,
    /// Scatter of single runs, by figure.
    pub noise: Vec<Scatter>,
}

/// The scatter of single runs of a figure, and what it permits.
#[derive(Clone, Debug, Serialize)]
pub struct Scatter {
    /// The cell.
    pub cell: String,
    /// The figure.
    pub metric: String,
    /// Coefficient of variation of single runs within quads, with the change between the sides removed.
    pub cv: f64,
    /// Number of quads it was computed from.
    pub quads: u64,
    /// Quads needed to detect the planned change in 95 of 100 sessions; `None` if that is not above the threshold.
    pub quads_needed: Option<u32>,
    /// The scatter in a sentence.
    pub sentence: String,
}

impl Session {
    /// From the first whole quads; noise is that of the watched figures.
    pub(super) fn of(mark: &SessionMark, orders: Vec<String>, rows: &[ComparedRow]) -> Self {
        let plan = mark.plan.clone();
        let watched = rows.iter().filter(|r| plan.watches(r));
        let noise = watched.filter_map(|r| Scatter::of(r, &plan)).collect();
        Self { id: mark.id.clone(), seed: mark.seed, part: mark.part, plan, orders, noise }
    }

    /// Sentences on the scatter of single runs, one for each of the first figures.
    pub(crate) fn scatters(&self) -> Vec<String> {
        let alone = self.noise.len() == 1;
        let of = |s: &Scatter| {
            let whose = if alone { String::new() } else { format!("{}, {}: ", s.cell, s.metric) };
            whose + &s.sentence
        };
        self.noise.iter().take(MOST_SCATTERS).map(of).collect()
    }
}

impl Scatter {
    fn of(row: &ComparedRow, plan: &Plan) -> Option<Self> {
        let cv = row.cv.filter(|_| row.quads >= FEWEST_QUADS)?;
        let needed = quads_needed(cv, plan.effect, plan.threshold);
        let runs = 2 * row.quads;
        let percent = |share: f64| format!("{} %", wording::short(share * 100.0));
        let sees = format!(
            "{runs} + {runs} runs see changes of {} or more",
            percent(smallest_change(cv, runs).max(plan.threshold))
        );
        let takes = match needed {
            None => String::new(),
            Some(n) => format!("; one of {} takes about {n} quads", percent(plan.effect)),
        };
        Some(Self {
            cell: row.cell.clone(),
            metric: row.metric.clone(),
            cv,
            quads: row.quads as u64,
            quads_needed: needed,
            sentence: format!("Single runs scatter by {} (CV within quads): {sees}{takes}.", percent(cv)),
        })
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
