//! A sweep as figures: the varied settings, the result of every run, and the tables drawn from them. In the form of the 2004 SysBench
//! table: a row for each setting of one kind, a column for each of another, and in the cells the median of the runs with their range.
//!
//! Nothing here judges. Medians and ranges are described; a verdict needs replications and a test, and the text says how many
//! are missing. `table` condenses, `text` prints for the terminal, `map` shades the cells of two settings, `runs`
//! draws every run; `documents` has the report in any other form.

mod identity;
mod map;
mod runs;
mod table;
mod text;

pub(crate) use map::picture as map_picture;
pub(crate) use runs::picture as runs_picture;
pub use table::{SweepTable, tables};
pub use text::summary;
pub(crate) use text::{caption, cell_words, columns, rows};

use crate::section;
use fathom_record::{Headline, Run};
use serde::Serialize;

/// Rounds that give three quads, the minimum for a verdict.
pub const ROUNDS_FOR_A_VERDICT: usize = 6;

/// The figure in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SweepFigure {
    /// Bytes per second, or operations per second if no file data is moved.
    Rate,
    /// Operations per second.
    Ops,
    /// Duration of the phase in seconds.
    Time,
    /// Median latency.
    P50,
    /// 99th percentile of latency.
    P99,
    /// 99.9th percentile of latency.
    P999,
    /// Maximum latency.
    Max,
}

impl SweepFigure {
    /// Whether lower is better.
    #[must_use]
    pub fn lower_is_better(self) -> bool {
        !matches!(self, Self::Rate | Self::Ops)
    }

    /// The name of the figure.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Rate => "throughput",
            Self::Ops => "operations",
            Self::Time => "time",
            Self::P50 => "median latency",
            Self::P99 => "p99 latency",
            Self::P999 => "p99.9 latency",
            Self::Max => "longest latency",
        }
    }
}

/// A varied setting.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// Its requested values.
    pub values: Vec<String>,
    /// Its value before the sweep, if known.
    pub before: Option<String>,
}

/// The actual value of a kernel setting while a cell ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KernelValue {
    /// The name of the kernel setting.
    pub knob: String,
    /// The device it belongs to.
    pub device: String,
    /// The value written.
    pub asked: String,
    /// The value read back.
    pub found: String,
}

/// A combination of settings.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SweepCell {
    /// For each factor the index of its value.
    pub levels: Vec<usize>,
    /// Why it was not measured; `None` if it was.
    pub left_out: Option<String>,
    /// Kernel settings as read back.
    pub found: Vec<KernelValue>,
    /// What served each phase, in the order of the tables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub served_by: Vec<Served>,
}

/// What served a phase in all runs of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Served {
    /// The phase, as in its table's title.
    pub phase: String,
    /// "page cache", "device", "part cache"; several if the runs differ.
    pub by: String,
}

/// A run of a cell.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Ran {
    /// Index of the cell.
    pub cell: usize,
    /// Index of the block, from 0.
    pub block: usize,
    /// Ids of the stored runs (scripts have several); empty if nothing is stored.
    pub runs: Vec<String>,
    /// Its figures by phase.
    pub phases: Vec<PhaseFigures>,
}

/// The figures of one phase of one run; `None` for those it lacks.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PhaseFigures {
    /// The phase's name with all its axes.
    pub phase: String,
    /// The phase's name alone.
    pub name: String,
    /// What served it, as in a run's table; empty if unknown.
    pub served_by: String,
    /// Bytes per second.
    pub bytes_per_s: Option<f64>,
    /// Operations per second.
    pub ops_per_s: Option<f64>,
    /// Whether operations are the figure to quote, because it moves no file data.
    pub quoted_in_ops: bool,
    /// Duration in seconds, mean over the repetitions of the workload.
    pub seconds: Option<f64>,
    /// Median latency, ns.
    pub p50_ns: Option<f64>,
    /// 99th percentile of the latency, ns.
    pub p99_ns: Option<f64>,
    /// 99.9th percentile of the latency, ns.
    pub p999_ns: Option<f64>,
    /// Maximum latency, ns.
    pub max_ns: Option<f64>,
}

impl PhaseFigures {
    /// The figures of all runs of one cell: scripts make several.
    #[must_use]
    pub fn of_all<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Vec<Self> {
        let mut phases: Vec<Self> = runs.into_iter().flat_map(Self::of).collect();
        number_twins(&mut phases);
        phases
    }

    /// The figures of all phases of a run.
    #[must_use]
    pub fn of(run: &Run) -> Vec<Self> {
        let of_phase = |phase: &fathom_record::Phase| {
            let latency = phase.latency();
            let at = |p: f64| latency.percentile_ns(p).map(|ns| ns as f64);
            let repetitions = phase.repetitions.len().max(1) as f64;
            let clock_ns = phase.clock_ns();
            Self {
                phase: section::full_title(phase),
                name: phase.name.clone(),
                served_by: crate::Kind::served(phase).into(),
                bytes_per_s: phase.bytes_per_s(),
                ops_per_s: phase.ops_per_s(),
                quoted_in_ops: matches!(phase.headline(), Some(Headline::Ops(_))),
                seconds: (clock_ns > 0).then(|| clock_ns as f64 / 1e9 / repetitions),
                p50_ns: at(50.0),
                p99_ns: at(99.0),
                p999_ns: at(99.9),
                max_ns: (latency.count() > 0).then(|| latency.max_ns() as f64),
            }
        };
        run.phases.iter().map(of_phase).collect()
    }

    /// One of the figures; `None` if the phase lacks it.
    #[must_use]
    pub fn get(&self, figure: SweepFigure) -> Option<f64> {
        match figure {
            SweepFigure::Rate if self.quoted_in_ops => self.ops_per_s,
            SweepFigure::Rate => self.bytes_per_s,
            SweepFigure::Ops => self.ops_per_s,
            SweepFigure::Time => self.seconds,
            SweepFigure::P50 => self.p50_ns,
            SweepFigure::P99 => self.p99_ns,
            SweepFigure::P999 => self.p999_ns,
            SweepFigure::Max => self.max_ns,
        }
    }
}

/// Numbers phases of the same name in one run: "read", "read (2)".
fn number_twins(phases: &mut [PhaseFigures]) {
    for i in (0..phases.len()).rev() {
        let before = phases[..i].iter().filter(|p| p.phase == phases[i].phase).count();
        if before > 0 {
            phases[i].phase = format!("{} ({})", phases[i].phase, before + 1);
        }
    }
}

/// A whole sweep.
#[derive(Clone, Debug, Serialize)]
pub struct Sweep {
    /// Version of the format: [`SCHEMA`].
    pub schema: &'static str,
    /// The sweep's id, which the stored runs carry.
    pub id: String,
    /// The workload as typed.
    pub workload: String,
    /// Directory it ran in.
    pub directory: String,
    /// RFC 3339.
    pub started_at: String,
    /// Seed of the order.
    pub seed: u64,
    /// Number of rounds requested.
    pub rounds: u32,
    /// The varied settings.
    pub factors: Vec<Factor>,
    /// All combinations.
    pub cells: Vec<SweepCell>,
    /// The planned order: blocks of cell indices.
    pub order: Vec<Vec<usize>>,
    /// The runs made, in that order.
    pub runs: Vec<Ran>,
    /// The figure in the tables.
    pub figure: SweepFigure,
    /// Why it ended early; `None` if it did not.
    pub ended_early: Option<String>,
    /// Notes about the settings.
    pub notes: Vec<String>,
}

/// Version of the JSON format.
pub const SCHEMA: &str = "fathom-sweep 1";

/// Replaces the directory of a simulated sweep.
pub const SIMULATED: &str = "(simulated)";

impl Sweep {
    /// A cell's settings in words: "scheduler=bfq, read_ahead_kb=0"; without settings of a single value if `all` is false.
    #[must_use]
    pub fn settings(&self, cell: usize, all: bool) -> String {
        let Some(cell) = self.cells.get(cell) else { return String::new() };
        let word = |(factor, level): (&Factor, &usize)| {
            let value = factor.values.get(*level)?;
            let read_back = read_back(std::iter::once(cell), &factor.name, value);
            (all || factor.values.len() > 1).then(|| format!("{}={value}{read_back}", factor.name))
        };
        let words: Vec<String> = self.factors.iter().zip(&cell.levels).filter_map(word).collect();
        if words.is_empty() { "as it is".into() } else { words.join(", ") }
    }

    /// A value of a factor in words, with what the kernel made of it: "read_ahead_kb=5 (is 4)".
    #[must_use]
    pub fn setting(&self, factor: usize, level: usize) -> String {
        let Some(factor_of) = self.factors.get(factor) else { return String::new() };
        let Some(value) = factor_of.values.get(level) else { return factor_of.name.clone() };
        let cells = self.cells.iter().filter(|c| c.levels.get(factor) == Some(&level));
        format!("{}={value}{}", factor_of.name, read_back(cells, &factor_of.name, value))
    }

    /// Records at every cell what served it.
    pub fn tell_origins(&mut self) {
        for table in tables(self) {
            for (cell, by) in self.cells.iter_mut().zip(table.served_by).filter(|(_, by)| !by.is_empty()) {
                cell.served_by.push(Served { phase: table.phase.clone(), by });
            }
        }
    }

    /// The cell that others are compared with: the one with the machine's previous settings, else the first measured.
    #[must_use]
    pub fn baseline(&self) -> Option<usize> {
        let measured = |c: &usize| self.runs.iter().any(|r| r.cell == *c);
        let as_before = |c: &usize| {
            let levels = &self.cells[*c].levels;
            let same =
                |(f, l): (&Factor, &usize)| f.before.is_some() && f.before.as_ref() == f.values.get(*l);
            self.factors.iter().zip(levels).all(same)
        };
        let all = || (0..self.cells.len()).filter(measured);
        all().find(as_before).or_else(|| all().next())
    }

    /// Whether the baseline has the machine's previous settings.
    #[must_use]
    pub fn baseline_is_as_before(&self) -> bool {
        self.baseline().is_some_and(|c| {
            let levels = &self.cells[c].levels;
            self.factors
                .iter()
                .zip(levels)
                .all(|(f, l)| f.before.is_some() && f.before.as_ref() == f.values.get(*l))
        })
    }

    /// Whether its runs are simulated, which is shown in place of a directory.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.directory == SIMULATED
    }

    /// What the medians and ranges do and do not permit to conclude.
    #[must_use]
    pub fn verdict(&self) -> String {
        let counts = (0..self.cells.len()).map(|c| self.runs.iter().filter(|r| r.cell == c).count());
        let least = counts.filter(|n| *n > 0).min().unwrap_or(0);
        let more = "Ratios of medians and whether ranges overlap are described; no test was made, so nothing here is a verdict.";
        if self.is_simulated() {
            return "A simulation gives the same figure every time: rounds differ only by the workload's random choices. \
                    What matters is how far the model is from a device (see below); nothing here is a verdict."
                .into();
        }
        match least {
            0 => "Nothing was measured.".into(),
            1 => format!(
                "Single runs: no interval can be given, and differences may be noise. {more} A verdict needs at least {ROUNDS_FOR_A_VERDICT} rounds (3 quads)."
            ),
            n if n < ROUNDS_FOR_A_VERDICT => {
                format!(
                    "{more} {n} rounds are too few for one: it needs at least {ROUNDS_FOR_A_VERDICT} (3 quads)."
                )
            }
            _ => more.into(),
        }
    }
}

/// " (is 4)" if the kernel changed the written value; listed by device if they differ.
fn read_back<'c>(cells: impl Iterator<Item = &'c SweepCell>, knob: &str, asked: &str) -> String {
    let mut made: Vec<&str> = Vec::new();
    for found in cells.flat_map(|c| &c.found).filter(|f| f.knob == knob && f.asked == asked) {
        if !made.contains(&found.found.as_str()) {
            made.push(&found.found);
        }
    }
    if made.iter().all(|m| *m == asked) { String::new() } else { format!(" (is {})", made.join(" or ")) }
}

#[cfg(test)]
pub(crate) mod samples {
    use super::*;

    /// Two schedulers, two read-aheads, three rounds; the second scheduler is faster, and one cell has no figures.
    pub(crate) fn sweep() -> Sweep {
        let factor = |name: &str, values: &[&str], before: &str| Factor {
            name: name.into(),
            values: values.iter().map(|v| (*v).into()).collect(),
            before: Some(before.into()),
        };
        let cells: Vec<SweepCell> = [[0, 0], [0, 1], [1, 0], [1, 1]]
            .map(|levels| SweepCell { levels: levels.to_vec(), ..SweepCell::default() })
            .to_vec();
        let seconds = [[165.0, 164.0, 166.5], [94.0, 95.0, 93.0], [118.0, 119.5, 121.0], [86.0, 87.0, 86.5]];
        let mut runs = Vec::new();
        for (cell, round) in (0..3).flat_map(|round| [2, 0, 3, 1].map(|cell: usize| (cell, round))) {
            let phase = PhaseFigures {
                phase: "random <mix>".into(),
                seconds: Some(seconds[cell][round]),
                bytes_per_s: Some(1e10 / seconds[cell][round]),
                ..PhaseFigures::default()
            };
            runs.push(Ran {
                cell,
                block: round / 2,
                runs: vec![format!("r{cell}{round}")],
                phases: vec![phase],
            });
        }
        Sweep {
            schema: SCHEMA,
            id: "20261122T070000-abcdef".into(),
            workload: "sysbench --num-threads=16 run".into(),
            directory: "/data".into(),
            started_at: "2026-11-22T07:00:00+00:00".into(),
            seed: 1,
            rounds: 3,
            factors: vec![
                factor("scheduler", &["none", "kyber"], "none"),
                factor("read_ahead_kb", &["0", "128"], "128"),
            ],
            cells,
            order: vec![vec![2, 0, 3, 1, 2, 0, 3, 1], vec![2, 0, 3, 1]],
            runs,
            figure: SweepFigure::Time,
            ended_early: None,
            notes: vec!["nr_requests 1 became 4".into()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_of_one_name_are_told_apart() {
        let phase = |name: &str| PhaseFigures { phase: name.into(), ..PhaseFigures::default() };
        let mut phases = vec![phase("read"), phase("write"), phase("read"), phase("read")];
        number_twins(&mut phases);
        let names: Vec<&str> = phases.iter().map(|p| p.phase.as_str()).collect();
        assert_eq!(names, ["read", "write", "read (2)", "read (3)"]);
    }

    #[test]
    fn others_are_held_against_what_was_there_before() {
        let mut sweep = samples::sweep();
        assert_eq!((sweep.baseline(), sweep.baseline_is_as_before()), (Some(1), true));
        assert_eq!(sweep.settings(1, false), "scheduler=none, read_ahead_kb=128");
        sweep.factors[0].before = Some("bfq".into());
        assert_eq!((sweep.baseline(), sweep.baseline_is_as_before()), (Some(0), false));
        sweep.runs.clear();
        assert_eq!(sweep.baseline(), None);
    }

    #[test]
    fn a_clamped_setting_is_shown_as_it_is() {
        let mut sweep = samples::sweep();
        let found = |found: &str| KernelValue {
            knob: "read_ahead_kb".into(),
            device: "vda".into(),
            asked: "128".into(),
            found: found.into(),
        };
        sweep.cells[1].found = vec![found("128")];
        assert_eq!(sweep.setting(1, 1), "read_ahead_kb=128");
        sweep.cells[1].found = vec![found("124")];
        assert_eq!(sweep.setting(1, 1), "read_ahead_kb=128 (is 124)");
        assert_eq!(sweep.settings(1, false), "scheduler=none, read_ahead_kb=128 (is 124)");
        assert_eq!(
            (sweep.setting(1, 0), sweep.setting(0, 0)),
            ("read_ahead_kb=0".into(), "scheduler=none".into())
        );
        let text = summary(&sweep);
        assert!(text.contains("  read_ahead_kb=128 (is 124)"), "{text}");
        assert!(
            crate::html::document(&crate::documents::sweep(&sweep)).contains("read_ahead_kb=128 (is 124)")
        );
    }

    #[test]
    fn cells_say_what_served_them() {
        let mut sweep = samples::sweep();
        for run in &mut sweep.runs {
            run.phases[0].served_by = if run.cell == 0 { "device" } else { "page cache" }.into();
        }
        sweep.tell_origins();
        let by: Vec<&str> = sweep.cells.iter().map(|c| c.served_by[0].by.as_str()).collect();
        assert_eq!(by, ["device", "page cache", "page cache", "page cache"]);
        let text = summary(&sweep);
        assert!(
            text.contains("[device]") && text.contains("! The cells were not served by the same"),
            "{text}"
        );
        let html = crate::html::document(&crate::documents::sweep(&sweep));
        assert!(html.contains("[page cache]") && html.contains("The cells were not served by the same"));
        let json = serde_json::to_value(&sweep).expect("JSON");
        assert_eq!(json["cells"][0]["served_by"][0]["by"], "device");
    }

    #[test]
    fn too_few_rounds_are_said_to_be_too_few() {
        let mut sweep = samples::sweep();
        assert!(sweep.verdict().contains("3 rounds are too few"), "{}", sweep.verdict());
        sweep.runs.truncate(4);
        assert!(sweep.verdict().starts_with("Single runs"));
        sweep.runs.clear();
        assert_eq!(sweep.verdict(), "Nothing was measured.");
    }
}
