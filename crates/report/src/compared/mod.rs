//! Judges two sides of runs: every figure of every common cell, by the strongest method that the way of measuring allows: quads if
//! the order of the runs is known to be mixed, two groups if not, a bare ratio for one run of each.
//!
//! `layout` determines how the runs were measured, `samples` extracts every figure from every run, `judge` applies the statistics
//! of `fathom_compare`, `session` handles comparisons that made their runs themselves, `mark` is what these leave on each run,
//! `family` examines many cells together, `notices` and `differences` add what else the reader must know. `text`, `documents` and
//! `serde` (the published schema) show it, `gate` decides, `junit` and `github` report to CI. Nothing here runs or stores anything.

mod differences;
mod factors;
mod family;
mod gate;
mod github;
mod json;
mod judge;
mod junit;
mod layout;
mod mark;
mod metric;
mod notices;
mod obstacles;
mod one_each;
mod samples;
mod session;
mod simulated;
mod singles;
mod tally;
mod text;

pub use differences::Difference;
pub(crate) use differences::lasting;
pub use family::{Family, MANY};
pub use gate::{Gate, Outcome};
pub use github::{github, github_undecided};
pub use json::json;
pub use judge::{ComparedRow, Effect, Method, Word};
pub use junit::{junit, junit_undecided};
pub use layout::Design;
pub use mark::{KEY, Noise, NoiseOf, Plan, SessionMark, SessionPart, Stopping};
pub use metric::Metric;
pub(crate) use metric::{percent_of, quoted as is_quoted};
pub use notices::Notice;
pub(crate) use notices::spelled;
pub use obstacles::ENDED_EARLY;
pub(crate) use samples::{Lost, merged};
pub use session::{Scatter, Session, first_look};
pub(crate) use singles::singles;
pub use text::text;
pub(crate) use text::{answer, cells, side as side_words, too_few};

use crate::{Machine, Mapped};
use fathom_compare::verdict::Rules;
use fathom_record::Run;
use serde::Serialize;

/// Maximum number of single-run cells shown one by one.
const MOST_SINGLES: usize = 60;

/// Value of the field `schema` in the JSON.
pub const SCHEMA: &str = "fathom-compare 1";

/// One side, as named by the user.
#[derive(Clone, Debug)]
pub struct Side<'r> {
    /// Such as "scheduler=none", a label, an id, a file.
    pub name: String,
    /// Its runs.
    pub runs: Vec<&'r Run>,
}

/// Options of a comparison.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// Level, threshold and confidence; each figure has its own direction.
    pub rules: Rules,
    /// The figures to compare; if empty, the default ones.
    pub metrics: Vec<Metric>,
}

/// A side in the output.
#[derive(Clone, Debug, Serialize)]
pub struct SideInfo {
    /// Its name.
    pub name: String,
    /// Its runs.
    pub runs: Vec<RunInfo>,
}

/// A run in the output.
#[derive(Clone, Debug, Serialize)]
pub struct RunInfo {
    /// Its id; empty if a file had none.
    pub id: String,
    /// Its label.
    pub label: String,
    /// When it began, as recorded.
    pub started_at: String,
    /// Its import source; `None` if measured by fathom.
    pub source: Option<String>,
}

/// A comparison of two sides.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// The baseline.
    pub a: SideInfo,
    /// The side compared with the baseline.
    pub b: SideInfo,
    /// How the runs were measured, and what counts as one.
    pub design: Design,
    /// The design in words.
    pub design_words: String,
    /// Course of the comparison that made the runs; `None` if they were made in another way.
    pub session: Option<Session>,
    /// Significance level of the tests.
    pub alpha: f64,
    /// Relative changes below this give no verdict: 0.01 is 1 %.
    pub threshold: f64,
    /// The figures, cell by cell, in the order of A.
    pub rows: Vec<ComparedRow>,
    /// All cells of one figure taken together.
    pub families: Vec<Family>,
    /// What else the reader must know.
    pub notices: Vec<Notice>,
    /// Differences of the machines and their settings.
    pub environment: Vec<Difference>,
    /// Differences of the workloads.
    pub workload: Vec<Difference>,
    /// Cells that B lacks.
    pub only_a: Vec<String>,
    /// Cells that A lacks.
    pub only_b: Vec<String>,
    /// Figures considered by the gate that A has and B lacks, in some or all of its runs.
    #[serde(skip)]
    pub(crate) lost: Vec<Lost>,
    /// Why the gate must not pass, whatever the figures say.
    #[serde(skip)]
    pub(crate) obstacles: Vec<String>,
    #[serde(skip)]
    pub(crate) are_surveys: bool,
    /// Whether the figures were selected by name.
    #[serde(skip)]
    pub(crate) is_chosen: bool,
    /// How to measure both sides alternately.
    #[serde(skip)]
    pub(crate) again: String,
    /// The surfaces of both sides, if each is one run: the page draws them beside their ratio.
    #[serde(skip)]
    pub(crate) surfaces: [Surfaces; 2],
}

/// The surfaces of a run, and the machine it ran on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surfaces {
    pub(crate) machine: Machine,
    pub(crate) mapped: Vec<Mapped>,
}

impl Surfaces {
    /// For a side of one run; empty otherwise.
    fn of(side: &Side<'_>) -> Self {
        match side.runs.as_slice() {
            [run] => Self { machine: Machine::of(run), mapped: Mapped::of_run(run) },
            _ => Self::default(),
        }
    }
}

impl Compared {
    /// Judges two sides.
    #[must_use]
    pub fn of(a: &Side<'_>, b: &Side<'_>, asked: &CompareOptions) -> Self {
        let mut layout = layout::Layout::of(a, b);
        let rules = match &layout.session {
            // The session's plan fixed the level of its last look.
            Some(mark) => Rules { alpha: mark.plan.stopping.level(), ..asked.rules },
            None => asked.rules,
        };
        let also = layout.session.as_ref().and_then(|mark| mark.plan.metric());
        let taken = samples::take(a, b, &layout, (&asked.metrics, also.as_ref()));
        let mut rows: Vec<ComparedRow> =
            taken.samples.iter().map(|s| judge::judge(s, &layout, &rules)).collect();
        judge::mark_beside(&mut rows, &taken.samples, &layout);
        // Several runs may hold one cell each.
        let mut judged = rows.iter().filter(|r| !r.has_too_few()).peekable();
        if judged.peek().is_some() && judged.all(|r| r.a.len() < 2 && r.b.len() < 2) {
            layout.design = Design::Single;
        }
        let mut families = family::look(&mut rows, &taken.samples, &layout, &rules);
        judge::controls(&mut rows);
        let bases = simulated::withhold(&mut rows, &mut families, a, b);
        let mut notices = notices::all(a, b, &layout, &taken, &rules);
        notices.splice(0..0, bases);
        notices.splice(0..0, family::warnings(&families, &rows, rules.alpha));
        Self {
            a: SideInfo::of(a),
            b: SideInfo::of(b),
            design: layout.design.clone(),
            design_words: layout.words(),
            session: layout.session.as_ref().map(|mark| Session::of(mark, layout.orders(), &rows)),
            alpha: rules.alpha,
            threshold: rules.threshold,
            notices,
            environment: differences::of_environment(a, b),
            workload: differences::of_workload(a, b, &taken.factors),
            only_a: taken.only_a,
            only_b: taken.only_b,
            lost: taken.lost,
            obstacles: obstacles::of(a, b, &layout),
            are_surveys: a.runs.iter().chain(&b.runs).all(|run| crate::survey::is_survey(run)),
            is_chosen: !asked.metrics.is_empty(),
            again: one_each::again(&a.runs, &b.runs),
            surfaces: [a, b].map(Surfaces::of),
            rows,
            families,
        }
    }
}

impl Compared {
    /// Whether a selection matches a figure of a cell of both sides, or one that B lost.
    #[must_use]
    pub fn has(&self, metric: &Metric) -> bool {
        let mut names = self.rows.iter().map(|r| &r.metric).chain(self.lost.iter().map(|l| &l.metric));
        names.any(|name| metric.takes(name))
    }
}

impl SideInfo {
    fn of(side: &Side<'_>) -> Self {
        let run = |run: &&Run| RunInfo {
            id: run.id.clone(),
            label: run.label.clone(),
            started_at: run.started_at.clone(),
            source: run
                .source
                .as_ref()
                .map(|s| format!("{}, lines {} to {}", s.file, s.first_line, s.last_line)),
        };
        Self { name: side.name.clone(), runs: side.runs.iter().map(run).collect() }
    }
}

#[cfg(test)]
mod pitfalls;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) mod tests_of_examples {
    //! Comparisons of known figures, for the tests of the formats.
    use super::Compared;
    use super::tests::{SLOWER, compared, sides_of};

    /// The specification's first example, in the given number of cells.
    pub(crate) fn slower_in_cells(cells: usize) -> Compared {
        compared(&sides_of(&SLOWER, cells))
    }

    pub(crate) fn single(a: f64, b: f64) -> Compared {
        let [mut one, mut two] = sides_of(&[("AB", [a, b, 0.0, 0.0])], 1);
        one.truncate(1);
        two.truncate(1);
        compared(&[one, two])
    }
}
