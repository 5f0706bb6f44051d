//! The history of a workload: the same figure in every run, in order, where it changed, and what was recorded to have changed
//! there. A point is a run. E-divisive finds and tests the changes (`fathom_compare::history`); the runs' environments say
//! which kernel, version or setting differs across each of them.
//!
//! The program finds the runs and passes their values ([`Given`], with the [`EnvironmentTracker`] of their environments); `judge` makes a
//! [`History`] of them, `words` the sentences, `gate` a yes or no; `text`, `braille`, `picture`, `csv` and `json` show it, and
//! `documents` has the report in any other form. Nothing here opens a store.

mod braille;
mod csv;
mod facts;
mod gate;
mod json;
mod judge;
mod list;
mod picture;
mod text;
mod value;
mod words;

pub(crate) use braille::drawing;
pub use csv::csv;
pub use facts::{EnvironmentTracker, Event};
pub use gate::HistoryGate;
pub use json::json;
pub use list::{LatestFigure, ListLines, Listed};
pub(crate) use picture::picture;
pub(crate) use text::overview_words;
pub use text::text;
pub use value::{FigureLookup, choose, value};
pub(crate) use words::{moment, noise_words, run as run_words};

use crate::compared::{Difference, RunInfo, Word};
use fathom_compare::history::THRESHOLD;
use fathom_compare::history::e_divisive::Search;
use fathom_record::figures::Cell;
use serde::Serialize;
use std::sync::Arc;

/// Value of the field `schema` in the JSON.
pub const SCHEMA: &str = "fathom-history 1";

/// How changes are searched, and what is shown in addition.
#[derive(Clone, Copy, Debug)]
pub struct HistoryOptions {
    /// Parameters of the search.
    pub search: Search,
    /// Smaller changes are dropped: 0.01 is 1 %.
    pub threshold: f64,
    /// Whether to add PELT's overview.
    pub overview: bool,
}

impl Default for HistoryOptions {
    fn default() -> Self {
        Self { search: Search::seeded(1), threshold: THRESHOLD, overview: false }
    }
}

/// Identity of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Workload {
    /// Short name of the work and its place, as in `fathom history ID`.
    pub id: String,
    /// Name for people: the workload's name, a command line, a program and its text.
    pub name: String,
    /// The dialect or the program.
    pub by: String,
    /// Host and mount point, and the settings of a sweep or a comparison, as far as known.
    pub place: String,
}

/// The values of one figure of one cell.
#[derive(Clone, Debug)]
pub struct Given {
    /// The cell.
    pub cell: Cell,
    /// Name of the figure.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Whether higher is better; `None` if neither.
    pub higher_is_better: Option<bool>,
    /// (run index, value) in order; runs without a value are left out.
    pub values: Vec<(usize, f64)>,
    /// Number of runs whose percentile has too few operations.
    pub too_few_operations: usize,
}

/// A workload's past, as found in the store.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The workload.
    pub workload: Workload,
    /// The runs that count, in order.
    pub runs: Vec<Arc<RunInfo>>,
    /// Numbers of other runs by status: ("interrupted", 2).
    pub left_out: Vec<(String, usize)>,
    /// Number of runs without a time, if a time was requested.
    pub without_time: usize,
    /// Changes in the environments, by index of the first run with the new value.
    pub events: Vec<Event>,
    /// The runs' figures.
    pub series: Vec<Given>,
}

/// The history of a workload.
#[derive(Clone, Debug, Serialize)]
pub struct History {
    /// The workload.
    pub workload: Workload,
    /// Number of runs that count.
    pub runs: usize,
    /// The first run.
    pub first: Option<RunInfo>,
    /// The last run.
    pub last: Option<RunInfo>,
    /// Runs that did not end well, by status, and warm-up and noise of a comparison.
    pub left_out: Vec<LeftOut>,
    /// Minimum length of a segment, in runs.
    pub min_segment: usize,
    /// Significance level of the test.
    pub alpha: f64,
    /// Smaller changes are dropped.
    pub threshold: f64,
    /// Permutations per segment; fewer for long ones.
    pub permutations: usize,
    /// Seed of the permutations.
    pub seed: u64,
    /// The history by figure.
    pub series: Vec<Series>,
    /// What the reader must know.
    pub notices: Vec<String>,
}

/// Runs left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// How they ended, such as "interrupted"; or their purpose in a comparison, such as "warm-up".
    pub status: String,
    /// Number of runs.
    pub runs: usize,
}

/// A figure through the runs.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// The cell: operation, sizes, streams.
    pub cell: String,
    /// Name of the figure.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Whether higher is better; `None` if neither.
    pub higher_is_better: Option<bool>,
    /// Its runs with values.
    pub points: Vec<HistoryPoint>,
    /// Segments between changes.
    pub segments: Vec<Segment>,
    /// Changes of the level.
    pub changes: Vec<Change>,
    /// Environment changes without a change of the figure.
    pub environment: Vec<Apart>,
    /// Facts that change too often to list each change.
    pub restless: Vec<Restless>,
    /// Whether neighbouring runs resemble each other (autocorrelation).
    pub drifts: bool,
    /// Runs needed before any change can be shown; `None` if there are enough.
    pub needed: Option<usize>,
    /// Number of runs whose figure has no ratio: zero, negative or not a number.
    pub without_ratio: usize,
    /// Number of runs whose percentile has too few operations.
    pub too_few_operations: usize,
    /// PELT's cuts, by index of the first run of the new level; `None` unless requested.
    pub overview: Option<Vec<usize>>,
    /// Summary of the figure in words.
    pub sentence: String,
}

/// A run's value.
#[derive(Clone, Debug, Serialize)]
pub struct HistoryPoint {
    /// The run, shared by all figures.
    #[serde(serialize_with = "serialize_run")]
    pub run: Arc<RunInfo>,
    /// Its value.
    pub value: f64,
    /// Index of its segment.
    pub segment: usize,
    /// Whether it is an outlier of its segment. It counts like any other.
    pub outlier: bool,
}

/// Consecutive runs at one level.
#[derive(Clone, Debug, Serialize)]
pub struct Segment {
    /// Index of its first point.
    pub first: usize,
    /// Number of points.
    pub runs: usize,
    /// Median of their values.
    pub median: f64,
    /// Coefficient of variation of single runs, as a fraction, without outliers; `None` for fewer than three.
    pub noise: Option<f64>,
}

/// A change of the level.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// Index of the first point of the new level.
    pub first_new: usize,
    /// New level over old.
    pub ratio: f64,
    /// Lower bound of the ratio.
    pub low: f64,
    /// Upper bound of the ratio.
    pub high: f64,
    /// Confidence of the bounds, given the position.
    pub confidence: f64,
    /// p-value by permutations.
    pub p: f64,
    /// Number of permutations.
    pub permutations: usize,
    /// Better, worse, or differs if the figure has no direction.
    pub verdict: Word,
    /// Neighbouring runs resemble each other, and there are too few here to distinguish a step from drift.
    pub doubtful: bool,
    /// The last run of the old level.
    pub last_old: RunInfo,
    /// The first run of the new one.
    pub first_new_run: RunInfo,
    /// Recorded differences between these two runs; `a` is the old value.
    pub differs: Vec<Difference>,
    /// Differences one run earlier or later, since the position is only known to about a run.
    pub nearby: Vec<Apart>,
    /// The change in a sentence.
    pub sentence: String,
}

/// An environment change.
#[derive(Clone, Debug, Serialize)]
pub struct Apart {
    /// Index of the first point with the new value.
    pub first_new: usize,
    /// The first run with the new value.
    pub run: RunInfo,
    /// The fact that changed.
    #[serde(flatten)]
    pub what: Difference,
}

/// A fact that changes often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restless {
    /// Name of the fact.
    pub name: String,
    /// Number of changes.
    pub changes: usize,
}

impl History {
    /// Judges the past of a workload.
    #[must_use]
    pub fn of(input: &Input, asked: &HistoryOptions) -> Self {
        let series: Vec<Series> =
            input.series.iter().map(|given| judge::judge(given, input, asked)).collect();
        Self {
            workload: input.workload.clone(),
            runs: input.runs.len(),
            first: input.runs.first().map(|run| RunInfo::clone(run)),
            last: input.runs.last().map(|run| RunInfo::clone(run)),
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

fn serialize_run<S: serde::Serializer>(run: &Arc<RunInfo>, serializer: S) -> Result<S::Ok, S::Error> {
    run.as_ref().serialize(serializer)
}

impl Series {
    /// Whether it measures speed and not an amount.
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
