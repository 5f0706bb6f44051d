//! The history of a workload: the same figure of every run of it in the order they were made, where it changed, and what was recorded to
//! have changed there. A point is a run. E-divisive finds and tests the changes (`fathom_compare::history`); the environments of the runs
//! say which kernel, version or setting differs across each of them.
//!
//! The program finds the runs and hands their values over ([`Given`], with the [`Course`] of their environments); `judge` makes a
//! [`History`] of it, `words` its sentences, `gate` a yes or no; `text`, `braille`, `picture`, `markdown`, `csv` and `json` show it, and `html`
//! has the page. Nothing here opens a store.

mod braille;
mod csv;
mod facts;
mod gate;
mod json;
mod judge;
mod list;
mod markdown;
mod picture;
mod text;
mod value;
mod words;

pub use csv::csv;
pub use facts::{Course, Event};
pub use gate::Gate;
pub use json::json;
pub use list::{Latest, Listed, Rows};
pub use markdown::markdown;
pub use picture::{picture, pictures};
pub(crate) use text::overview_words;
pub use text::text;
pub use value::{Found, choose, value};
pub(crate) use words::{counted, moment, noise_words};

use crate::compared::{Difference, RunTold, Word};
use fathom_compare::history::THRESHOLD;
use fathom_compare::history::e_divisive::Search;
use fathom_record::figures::Cell;
use serde::Serialize;
use std::sync::Arc;

/// The field `schema` of the JSON.
pub const SCHEMA: &str = "fathom-history 1";

/// How changes are searched, and what is shown beside them.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The search.
    pub search: Search,
    /// Smaller changes are dropped: 0.01 is 1 %.
    pub threshold: f64,
    /// Whether PELT's overview is given as well.
    pub overview: bool,
}

impl Default for Asked {
    fn default() -> Self {
        Self { search: Search::seeded(1), threshold: THRESHOLD, overview: false }
    }
}

/// Which workload it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Workload {
    /// Short name of what was asked for and where; `fathom history ID` means it.
    pub id: String,
    /// What a person calls it: the workload's name, a command line, a program and its text.
    pub name: String,
    /// The language or the program.
    pub by: String,
    /// Host and mount point, and the settings of a sweep or a comparison, as far as they are known.
    pub place: String,
}

/// The values of one figure of one cell.
#[derive(Clone, Debug)]
pub struct Given {
    /// The cell.
    pub cell: Cell,
    /// What it is.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Whether more is better.
    pub higher_is_better: Option<bool>,
    /// Number of the run and its value, in order; a run that has none is not there.
    pub values: Vec<(usize, f64)>,
    /// Runs whose percentile stands on too few operations.
    pub too_few_operations: usize,
}

/// What was found of a workload's past.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Which workload.
    pub workload: Workload,
    /// Its runs that count, in the order they were made.
    pub runs: Vec<Arc<RunTold>>,
    /// How many ended otherwise, by the word for it: ("interrupted", 2).
    pub left_out: Vec<(String, usize)>,
    /// Runs that have no time, where a time was asked for.
    pub without_time: usize,
    /// What changed in their environments, by number of the first run with the new value.
    pub events: Vec<Event>,
    /// Their figures.
    pub series: Vec<Given>,
}

/// The history of a workload.
#[derive(Clone, Debug, Serialize)]
pub struct History {
    /// Which workload.
    pub workload: Workload,
    /// Runs that count.
    pub runs: usize,
    /// The first of them.
    pub first: Option<RunTold>,
    /// The last of them.
    pub last: Option<RunTold>,
    /// Runs that did not end well, by the word for how they ended, and warm-up and noise of a comparison.
    pub left_out: Vec<LeftOut>,
    /// No segment is shorter.
    pub min_segment: usize,
    /// Level of the test.
    pub alpha: f64,
    /// Smaller changes are dropped.
    pub threshold: f64,
    /// Permutations of a segment; of long ones fewer.
    pub permutations: usize,
    /// Seed of the permutations.
    pub seed: u64,
    /// Figure by figure.
    pub series: Vec<Series>,
    /// What the reader has to know.
    pub notices: Vec<String>,
}

/// Runs that are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// How they ended: "interrupted"; or what a comparison made them for: "warm-up".
    pub status: String,
    /// How many.
    pub runs: usize,
}

/// A figure through the runs.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// The cell: operation, sizes, streams.
    pub cell: String,
    /// The figure.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Whether more is better.
    pub higher_is_better: Option<bool>,
    /// Its runs.
    pub points: Vec<Point>,
    /// Stretches between changes.
    pub segments: Vec<Segment>,
    /// The changes.
    pub changes: Vec<Change>,
    /// Changes of the environment without a change of the figure.
    pub environment: Vec<Apart>,
    /// Facts that change so often that no single change of them is listed.
    pub restless: Vec<Restless>,
    /// Whether neighbouring runs resemble each other.
    pub drifts: bool,
    /// So many runs are needed before any change can be shown, if there are fewer.
    pub needed: Option<usize>,
    /// Runs whose figure has no ratio, being zero, negative or no number.
    pub without_ratio: usize,
    /// Runs whose percentile stands on too few operations.
    pub too_few_operations: usize,
    /// Where PELT cuts, by number of the first run of the new level; `None` unless asked for.
    pub overview: Option<Vec<usize>>,
    /// What is to be said.
    pub sentence: String,
}

/// A run's value.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// The run; the same one of all figures.
    #[serde(serialize_with = "told")]
    pub run: Arc<RunTold>,
    /// Its value.
    pub value: f64,
    /// Number of its segment.
    pub segment: usize,
    /// Whether it lies far from the others of its segment. It counts as any other.
    pub outlier: bool,
}

/// Runs on one level.
#[derive(Clone, Debug, Serialize)]
pub struct Segment {
    /// Number of its first point.
    pub first: usize,
    /// Number of points.
    pub runs: usize,
    /// Median of their values.
    pub median: f64,
    /// Coefficient of variation of single runs, as a share, without those far from the others; `None` of fewer than three.
    pub noise: Option<f64>,
}

/// A change of the level.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// Number of the first point of the new level.
    pub first_new: usize,
    /// New level over old.
    pub ratio: f64,
    /// Lower bound of the ratio.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Confidence of the bounds, had the place been known.
    pub confidence: f64,
    /// p-value by permutations.
    pub p: f64,
    /// How many.
    pub permutations: usize,
    /// better, worse, or differs where a figure is neither.
    pub verdict: Word,
    /// Neighbouring runs resemble each other, and here they are too few to tell a step from drift.
    pub doubtful: bool,
    /// The last run of the old level.
    pub last_old: RunTold,
    /// The first run of the new one.
    pub first_new_run: RunTold,
    /// What is recorded to differ between these two; `a` is the old value.
    pub differs: Vec<Difference>,
    /// What changed one run earlier or later: a step is known to a run or so.
    pub nearby: Vec<Apart>,
    /// It in a sentence.
    pub sentence: String,
}

/// A change of the environment at a place.
#[derive(Clone, Debug, Serialize)]
pub struct Apart {
    /// Number of the first point with the new value.
    pub first_new: usize,
    /// That run.
    pub run: RunTold,
    /// What changed.
    #[serde(flatten)]
    pub what: Difference,
}

/// A fact that changes often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restless {
    /// Its name.
    pub name: String,
    /// How many times.
    pub changes: usize,
}

impl History {
    /// Judges the past of a workload.
    #[must_use]
    pub fn of(input: &Input, asked: &Asked) -> Self {
        let series: Vec<Series> =
            input.series.iter().map(|given| judge::judge(given, input, asked)).collect();
        Self {
            workload: input.workload.clone(),
            runs: input.runs.len(),
            first: input.runs.first().map(|run| RunTold::clone(run)),
            last: input.runs.last().map(|run| RunTold::clone(run)),
            left_out: input
                .left_out
                .iter()
                .map(|(status, runs)| LeftOut { status: status.clone(), runs: *runs })
                .collect(),
            min_segment: asked.search.min_segment,
            alpha: asked.search.alpha,
            threshold: asked.threshold,
            permutations: asked.search.permutations,
            seed: asked.search.seed,
            notices: words::notices(input, &series),
            series,
        }
    }
}

fn told<S: serde::Serializer>(run: &Arc<RunTold>, serializer: S) -> Result<S::Ok, S::Error> {
    run.as_ref().serialize(serializer)
}

impl Series {
    /// Whether it says how fast something is, and not how much of something there was.
    #[must_use]
    pub fn is_of_speed(&self) -> bool {
        words::is_of_speed(&self.unit)
    }

    /// Cell and figure.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{}: {}", self.cell, self.metric)
    }
}

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
