//! Throughput over file size and record size, extracted from a run. A surface is a table with gaps: a cell not measured is
//! `None`, never zero. This file extracts and divides surfaces; `regimes` finds their regimes, `svg` and `html` draw them.

use crate::section::{stage, title};
use fathom_compare::summary::median;
use fathom_record::{Origin, Phase, Regime, Run};

/// Separates the phases on a surface from all others.
#[must_use]
pub fn on_surfaces<'r>(phases: &[&'r Phase]) -> (Vec<&'r Phase>, Vec<&'r Phase>) {
    let keys: Vec<SurfaceKey> = grouped(phases)
        .into_iter()
        .filter(|(_, members)| is_a_surface(members))
        .map(|(key, _)| key)
        .collect();
    phases.iter().partition(|p| has_sizes(p) && keys.contains(&key(p)))
}

/// The quantity in the cells of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Throughput in bytes per second.
    BytesPerSecond,
    /// One throughput divided by another.
    Ratio,
}

/// What a test does with file data. If it reads and writes, its rate is the sum of both and neither's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads (or does neither).
    Read,
    /// It writes.
    Write,
    /// It reads and writes.
    Both,
}

impl Access {
    /// What these phases do together.
    #[must_use]
    pub fn of(phases: &[&Phase]) -> Self {
        let reads = phases.iter().any(|p| p.reads);
        match phases.iter().any(|p| p.writes) {
            true if reads => Self::Both,
            true => Self::Write,
            false => Self::Read,
        }
    }

    /// The words for its rates in a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Both => "reads and writes together",
        }
    }
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceCell {
    /// Bytes per second, or a ratio of two rates.
    pub value: f64,
    /// Operations per second; `None` in a ratio.
    pub ops_per_s: Option<f64>,
    /// Where the data came from or went to.
    pub origin: Regime,
    /// Device bytes per requested byte, if the kernel reports them.
    pub device_share: Option<f64>,
}

/// Throughput over file size (rows) and record size (columns).
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// The survey's stage, if any.
    pub stage: Option<String>,
    /// Such as "random read", with what distinguishes it.
    pub title: String,
    /// Whether the test reads or writes.
    pub access: Access,
    /// The quantity in the cells.
    pub quantity: Quantity,
    /// Row heads, ascending, bytes.
    pub file_bytes: Vec<u64>,
    /// Column heads, ascending, bytes.
    pub record_bytes: Vec<u64>,
    /// One row per file size, one cell per record size; `None` if not measured.
    pub cells: Vec<Vec<Option<SurfaceCell>>>,
}

impl Surface {
    /// Every surface of a run, in order of first appearance.
    #[must_use]
    pub fn of_run(run: &Run) -> Vec<Self> {
        let phases: Vec<&Phase> = run.phases.iter().collect();
        Self::of_phases(&phases)
    }

    /// Every surface among these phases: same stage and title, both sizes known, at least two cells. Phases with different
    /// numbers of streams belong to different surfaces.
    #[must_use]
    pub fn of_phases(phases: &[&Phase]) -> Vec<Self> {
        grouped(phases)
            .into_iter()
            .filter(|(_, members)| is_a_surface(members))
            .map(|((stage, title), members)| Self::from_group(stage, title, &members))
            .collect()
    }

    fn from_group(stage: Option<String>, title: String, phases: &[&Phase]) -> Self {
        let access = Access::of(phases);
        let file_bytes = ascending(phases.iter().filter_map(|p| p.axes.file_bytes));
        let record_bytes = ascending(phases.iter().filter_map(|p| p.axes.record_bytes));
        let cell = |file: u64, record: u64| {
            let here: Vec<&Phase> = phases
                .iter()
                .copied()
                .filter(|p| p.axes.file_bytes == Some(file) && p.axes.record_bytes == Some(record))
                .collect();
            SurfaceCell::of_phases(&here)
        };
        let cells = file_bytes.iter().map(|&f| record_bytes.iter().map(|&r| cell(f, r)).collect()).collect();
        Self { stage, title, access, quantity: Quantity::BytesPerSecond, file_bytes, record_bytes, cells }
    }

    /// `b` divided by `a`, over their common cells; `None` if there are none. Above one, `b` is faster.
    #[must_use]
    pub fn ratio(a: &Self, b: &Self) -> Option<Self> {
        let file_bytes: Vec<u64> = common(&a.file_bytes, &b.file_bytes);
        let record_bytes: Vec<u64> = common(&a.record_bytes, &b.record_bytes);
        let cells: Vec<Vec<Option<SurfaceCell>>> = file_bytes
            .iter()
            .map(|&f| record_bytes.iter().map(|&r| SurfaceCell::ratio(a.at(f, r)?, b.at(f, r)?)).collect())
            .collect();
        let (stage, title) = (a.stage.clone(), a.title.clone());
        let surface = Self {
            stage,
            title,
            access: a.access,
            quantity: Quantity::Ratio,
            file_bytes,
            record_bytes,
            cells,
        };
        let any = surface.measured().next().is_some();
        any.then_some(surface)
    }

    /// The cell of these sizes.
    #[must_use]
    pub fn at(&self, file_bytes: u64, record_bytes: u64) -> Option<&SurfaceCell> {
        let row = self.file_bytes.iter().position(|&f| f == file_bytes)?;
        let column = self.record_bytes.iter().position(|&r| r == record_bytes)?;
        self.cells[row][column].as_ref()
    }

    /// The cells that were measured.
    pub fn measured(&self) -> impl Iterator<Item = &SurfaceCell> {
        self.cells.iter().flatten().flatten()
    }

    /// The measured cells of some rows.
    #[must_use]
    pub fn measured_in(&self, rows: std::ops::Range<usize>) -> Vec<&SurfaceCell> {
        self.cells[rows].iter().flatten().flatten().collect()
    }

    /// Smallest and largest value; `None` without cells or with values that have no logarithm.
    #[must_use]
    pub fn range(&self) -> Option<(f64, f64)> {
        let values = self.measured().map(|c| c.value).filter(|v| *v > 0.0 && v.is_finite());
        values.fold(None, |range, v| match range {
            None => Some((v, v)),
            Some((low, high)) => Some((f64::min(low, v), f64::max(high, v))),
        })
    }

    /// Whether it can be drawn in three dimensions: at least two sizes each way.
    #[must_use]
    pub fn is_solid(&self) -> bool {
        self.file_bytes.len() > 1 && self.record_bytes.len() > 1 && self.range().is_some()
    }
}

impl SurfaceCell {
    /// The median of the phases of one cell; `None` if none was timed. A phase that failed part way did not measure the cell.
    fn of_phases(phases: &[&Phase]) -> Option<Self> {
        let phases: Vec<&Phase> = phases.iter().copied().filter(|p| !p.failed()).collect();
        let rates: Vec<f64> = phases.iter().filter_map(|p| p.bytes_per_s()).collect();
        let ops: Vec<f64> = phases.iter().filter_map(|p| p.ops_per_s()).collect();
        let origins: Vec<Origin> = phases.iter().map(|p| p.origin()).collect();
        let shares: Vec<f64> = origins.iter().filter_map(|o| o.device_share).collect();
        let first = origins.first()?.regime;
        // Repeats of different origin make the cell mixed.
        let origin = if origins.iter().all(|o| o.regime == first) { first } else { Regime::Mixed };
        Some(Self { value: median(&rates)?, ops_per_s: median(&ops), origin, device_share: median(&shares) })
    }

    /// `b` over `a`.
    fn ratio(a: &Self, b: &Self) -> Option<Self> {
        let value = b.value / a.value;
        let origin = if a.origin == b.origin { a.origin } else { Regime::Mixed };
        (value.is_finite() && value > 0.0).then_some(Self {
            value,
            ops_per_s: None,
            origin,
            device_share: None,
        })
    }
}

/// What distinguishes surfaces: stage and title. A survey measures "write" in several stages, under different conditions.
type SurfaceKey = (Option<String>, String);

fn key(phase: &Phase) -> SurfaceKey {
    let title = match phase.axes.streams {
        Some(n) if n > 1 => format!("{}, {n} streams", title(phase)),
        _ => title(phase),
    };
    (stage(phase).map(str::to_string), title)
}

fn has_sizes(phase: &Phase) -> bool {
    phase.axes.file_bytes.is_some() && phase.axes.record_bytes.is_some()
}

/// Phases with both sizes by key, in order of first appearance.
fn grouped<'r>(phases: &[&'r Phase]) -> Vec<(SurfaceKey, Vec<&'r Phase>)> {
    let mut groups: Vec<(SurfaceKey, Vec<&Phase>)> = Vec::new();
    for phase in phases.iter().copied().filter(|p| has_sizes(p)) {
        let key = key(phase);
        match groups.iter_mut().find(|(k, _)| *k == key) {
            Some((_, members)) => members.push(phase),
            None => groups.push((key, vec![phase])),
        }
    }
    groups
}

/// At least two cells; a single one is a figure.
fn is_a_surface(phases: &[&Phase]) -> bool {
    let sizes = |p: &Phase| (p.axes.file_bytes, p.axes.record_bytes);
    phases.iter().any(|p| sizes(p) != sizes(phases[0]))
}

fn ascending(values: impl Iterator<Item = u64>) -> Vec<u64> {
    values.collect::<std::collections::BTreeSet<u64>>().into_iter().collect()
}

fn common(a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().copied().filter(|x| b.contains(x)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn an_auto_run_has_thirteen_surfaces_with_the_crossover_hole() {
        let surfaces = Surface::of_run(&samples::auto_run());
        assert_eq!(surfaces.len(), 13);
        let s = &surfaces[0];
        assert_eq!(s.title, "write");
        assert_eq!((s.file_bytes.len(), s.record_bytes.len()), (15, 13));
        assert!(s.at(32 << 20, 4 << 10).is_none(), "records below 64 KiB are not run on files above 16 MiB");
        assert!(s.at(64 << 10, 128 << 10).is_none(), "no record is larger than its file");
        assert!(s.at(16 << 20, 4 << 10).is_some());
    }

    #[test]
    fn repeated_cells_are_medians() {
        let run = samples::repeated_cell(&[100.0, 300.0, 200.0]);
        let surfaces = Surface::of_run(&run);
        let cell = surfaces[0].at(1 << 20, 4096).expect("the repeated cell");
        assert!((cell.value - 200.0).abs() < 1e-6, "{}", cell.value);
    }

    #[test]
    fn a_cell_that_failed_is_a_gap() {
        let mut run = samples::repeated_cell(&[100.0]);
        run.phases.push(samples::repeated_cell(&[300.0]).phases.remove(0));
        samples::fail(&mut run.phases[0], "no space left on device");
        let surfaces = Surface::of_run(&run);
        let cell = surfaces[0].at(1 << 20, 4096).expect("the other one");
        assert!((cell.value - 300.0).abs() < 1e-6, "{}", cell.value);
        samples::fail(&mut run.phases[2], "no space left on device");
        assert_eq!(Surface::of_run(&run)[0].at(1 << 20, 4096), None);
    }

    #[test]
    fn a_ratio_has_only_what_both_have() {
        let run = samples::auto_run();
        let a = Surface::of_run(&run).remove(0);
        let mut b = a.clone();
        b.cells[0][0] = None;
        for cell in b.cells.iter_mut().flatten().flatten() {
            cell.value *= 2.0;
        }
        let ratio = Surface::ratio(&a, &b).expect("common cells");
        assert!(ratio.at(64 << 10, 4 << 10).is_none());
        assert_eq!(ratio.range(), Some((2.0, 2.0)));
    }

    #[test]
    fn a_throughput_run_has_no_surface() {
        assert!(Surface::of_run(&samples::throughput_run()).is_empty());
    }
}
