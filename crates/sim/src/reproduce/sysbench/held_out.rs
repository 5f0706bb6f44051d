//! Figures of the same linux-kernel thread (May 2004) that are in no table and were used to set no value: the host with 256 MB of memory,
//! a later kernel, and another disk of which only ratios can be compared. They are the test of the model.
//!
//! One file instead of 128 is shown but not counted: its direction decided what the journals of 2.4 and 2.6 do for an fsync.

use super::super::{mean, side_by_side};
use super::published::CELLS;
use super::{SysbenchChange, one};
use crate::host::Host;
use crate::simulation::SimError;
use fathom_workload::Workload;
use serde::Serialize;

/// Page cache with 256 MB: that of the table's host with 640 MB (585 MiB), less the difference in memory.
const SMALL_CACHE_MIB: u32 = 585 - (640 - 256);

/// Sizes in GiB and numbers of files of the figures.
const WORKLOADS: [(u32, u32); 6] = [(2, 128), (3, 128), (4, 128), (8, 128), (4, 1), (4, 256)];

/// The entry of [`WORKLOADS`] that the other disk's figures are relative to.
const FOUR_GIB: usize = 2;

/// Positions in [`CELLS`] of the kernels: 2.4.25, and 2.6 with the read-ahead patch, which 2.6.6-bk has, under the anticipatory
/// scheduler.
const OLD: usize = 0;
const NEW: usize = 6;

/// A figure of the thread.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Kernel and scheduler.
    pub kernel: &'static str,
    /// Difference from the table's test.
    pub setting: &'static str,
    /// Lowest and highest published figure: seconds, or the ratio to the time with 4 GB in 128 files.
    pub published: (f64, f64),
    /// Whether it is such a ratio.
    pub relative: bool,
    /// Whether no value was set or chosen by it.
    pub held_out: bool,
    cell: usize,
    small_memory: bool,
    workload: usize,
}

const fn seconds(
    cell: usize,
    setting: &'static str,
    small_memory: bool,
    workload: usize,
    published: (f64, f64),
) -> Figure {
    let kernel = if cell == OLD { "2.4.25" } else { "2.6.6-bk anticipatory" };
    Figure { kernel, setting, published, relative: false, held_out: true, cell, small_memory, workload }
}

const fn share(cell: usize, setting: &'static str, workload: usize, published: f64) -> Figure {
    let kernel = if cell == OLD { "2.4" } else { "2.6 anticipatory" };
    Figure {
        kernel,
        setting,
        published: (published, published),
        relative: true,
        held_out: true,
        cell,
        small_memory: false,
        workload,
    }
}

/// The journal's rules were chosen by its direction.
const fn chosen_by(figure: Figure) -> Figure {
    Figure { held_out: false, ..figure }
}

/// The figures of the thread.
pub const FIGURES: [Figure; 11] = [
    seconds(OLD, "256 MB of memory, 2 GB", true, 0, (79.2, 79.2)),
    seconds(NEW, "256 MB of memory, 2 GB", true, 0, (81.2, 82.6)),
    seconds(NEW, "the table's host and test", false, 1, (83.2, 83.2)),
    share(OLD, "other disk: 2 GB", 0, 0.81),
    share(OLD, "other disk: 8 GB", 3, 1.15),
    share(NEW, "other disk: 2 GB", 0, 0.73),
    share(NEW, "other disk: 8 GB", 3, 1.20),
    chosen_by(share(OLD, "other disk: 1 file", 4, 0.99)),
    share(OLD, "other disk: 256 files", 5, 1.02),
    chosen_by(share(NEW, "other disk: 1 file", 4, 0.92)),
    share(NEW, "other disk: 256 files", 5, 0.99),
];

/// A published figure with our result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeldOutFigure {
    /// Kernel and scheduler.
    pub kernel: &'static str,
    /// Difference from the table's test.
    pub setting: &'static str,
    /// "s", or "of 4 GB": the ratio to the time with 4 GB in 128 files.
    pub unit: &'static str,
    /// Lowest published figure.
    pub published_least: f64,
    /// Highest published figure.
    pub published_most: f64,
    /// Simulated figure, from means over the seeds.
    pub simulated: f64,
    /// Error against the middle of the published range, %.
    pub error_percent: f64,
    /// Whether no value was set or chosen by it; the others are not counted.
    pub held_out: bool,
}

impl HeldOutFigure {
    /// The middle of the published range.
    #[must_use]
    pub fn published(&self) -> f64 {
        f64::midpoint(self.published_least, self.published_most)
    }

    /// The published figure or range as text.
    #[must_use]
    pub fn published_text(&self) -> String {
        if self.published_least < self.published_most {
            format!("{}-{}", self.shown(self.published_least), self.shown(self.published_most))
        } else {
            self.shown(self.published_least)
        }
    }

    /// A figure of this row with the number of decimals used in the thread.
    #[must_use]
    pub fn shown(&self, figure: f64) -> String {
        if self.unit == "s" { format!("{figure:.1}") } else { format!("{figure:.2}") }
    }

    /// Note on the figure's standing.
    #[must_use]
    pub fn standing(&self) -> &'static str {
        if self.held_out {
            "held out: no value was set by it"
        } else {
            "not counted: a rule was chosen by it"
        }
    }
}

/// The command lines of the workloads that [`super::reproduce`] needs, in order.
#[must_use]
pub fn commands() -> Vec<String> {
    let command = |(gib, files): (u32, u32)| {
        format!(
            "--num-threads=16 --test=fileio --file-total-size={gib}G --file-num={files} --file-test-mode=rndrw run"
        )
    };
    WORKLOADS.into_iter().map(command).collect()
}

/// Cell, whether with less memory, and workload: simulated once per seed.
type Run = (usize, bool, usize);

/// The runs to simulate, including the denominators of ratios.
fn runs() -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for figure in &FIGURES {
        let base = figure.relative.then_some((figure.cell, false, FOUR_GIB));
        for run in std::iter::once((figure.cell, figure.small_memory, figure.workload)).chain(base) {
            if !runs.contains(&run) {
                runs.push(run);
            }
        }
    }
    runs
}

fn less_memory(host: &mut Host) {
    host.memory.cache_mib.value = SMALL_CACHE_MIB;
}

/// Every figure; `workloads` are those of [`commands`].
pub(super) fn all(workloads: &[Workload], seeds: u32) -> Result<Vec<HeldOutFigure>, SimError> {
    if workloads.len() != WORKLOADS.len() {
        let what = format!("{} command lines are held out; {} were read", WORKLOADS.len(), workloads.len());
        return Err(SimError::Unsupported(what));
    }
    let runs = runs();
    let jobs: Vec<(Run, u32)> =
        runs.iter().flat_map(|&run| (1..=seeds).map(move |seed| (run, seed))).collect();
    let seconds: Vec<f64> = side_by_side(&jobs, |&((cell, small, workload), seed)| {
        let host = small.then_some(less_memory as fn(&mut Host));
        let change = SysbenchChange { host, ..SysbenchChange::default() };
        one(&workloads[workload], &CELLS[cell], seed, &change).map(|o| o.seconds)
    })
    .into_iter()
    .collect::<Result<_, _>>()?;
    let means: Vec<f64> = seconds.chunks(seeds as usize).map(mean).collect();
    Ok(rows(|asked| runs.iter().position(|run| *run == asked).map_or(0.0, |at| means[at])))
}

/// The figures from the time of each run.
fn rows(seconds: impl Fn(Run) -> f64) -> Vec<HeldOutFigure> {
    let row = |figure: &Figure| {
        let took = seconds((figure.cell, figure.small_memory, figure.workload));
        let whole = if figure.relative { seconds((figure.cell, false, FOUR_GIB)) } else { 1.0 };
        let (published_least, published_most) = figure.published;
        let mut row = HeldOutFigure {
            kernel: figure.kernel,
            setting: figure.setting,
            unit: if figure.relative { "of 4 GB" } else { "s" },
            published_least,
            published_most,
            simulated: took / whole,
            error_percent: 0.0,
            held_out: figure.held_out,
        };
        row.error_percent = (row.simulated / row.published() - 1.0) * 100.0;
        row
    };
    FIGURES.iter().map(row).collect()
}

/// Root mean square of the errors of the held-out figures, %.
pub(super) fn rms_percent(rows: &[HeldOutFigure]) -> f64 {
    let squares: Vec<f64> =
        rows.iter().filter(|r| r.held_out).map(|r| r.error_percent * r.error_percent).collect();
    mean(&squares).sqrt()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The published figures, each times a factor.
    pub(in super::super) fn published_times(factor: impl Fn(usize) -> f64) -> Vec<HeldOutFigure> {
        let mut rows = rows(|_| 1.0);
        for (at, row) in rows.iter_mut().enumerate() {
            row.simulated = row.published() * factor(at);
            row.error_percent = (factor(at) - 1.0) * 100.0;
        }
        rows
    }

    #[test]
    fn a_share_is_of_the_same_kernel_with_4_gib_and_nothing_is_simulated_twice() {
        let runs = runs();
        assert_eq!(runs.len(), 3 + 2 * 5, "{runs:?}");
        let rows = rows(|(cell, small, workload)| match (cell, small, workload) {
            (OLD, false, FOUR_GIB) => 100.0,
            (NEW, false, FOUR_GIB) => 50.0,
            (_, true, 0) => 79.2,
            (_, false, 0) => 40.0,
            (_, false, _) => 60.0,
            _ => panic!("nobody asked for it"),
        });
        let found: Vec<f64> = rows.iter().map(|r| r.simulated).collect();
        assert_eq!(found, [79.2, 79.2, 60.0, 0.4, 0.6, 0.8, 1.2, 0.6, 0.6, 1.2, 1.2]);
        assert_eq!(rows[0].error_percent, 0.0);
        // The middle of a range: 81.9.
        assert!((rows[1].error_percent + 3.297).abs() < 0.001, "{:?}", rows[1]);
        assert_eq!(
            (rows[1].published_text().as_str(), rows[3].published_text().as_str()),
            ("81.2-82.6", "0.81")
        );
    }

    #[test]
    fn figures_that_chose_a_rule_are_not_counted() {
        let not_counted = |at: usize| !FIGURES[at].held_out;
        assert_eq!((0..FIGURES.len()).filter(|&at| not_counted(at)).count(), 2);
        assert_eq!(rms_percent(&published_times(|at| if not_counted(at) { 2.0 } else { 1.0 })), 0.0);
        let rms = rms_percent(&published_times(|at| if at == 0 { 1.3 } else { 1.0 }));
        assert!((rms - 10.0).abs() < 1e-9, "30 % in one of nine: {rms}");
    }

    #[test]
    fn each_workload_has_a_command_line() {
        let commands = commands();
        assert_eq!(commands.len(), WORKLOADS.len());
        assert!(commands[FOUR_GIB].contains("=4G --file-num=128 "), "{}", commands[FOUR_GIB]);
        assert!(all(&[], 1).is_err());
        for figure in &FIGURES {
            let (gib, files) = WORKLOADS[figure.workload];
            let told = figure.setting;
            assert!(
                told.starts_with("the table's")
                    || told.ends_with(&format!(" {gib} GB"))
                    || told.contains(&format!(" {files} file")),
                "{told}"
            );
        }
    }
}
