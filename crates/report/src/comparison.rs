//! Two runs, second over first: per test and per regime of the first run, the ratios of the cells both have. It describes and does
//! not judge: whether a difference is more than noise needs repetitions, and single runs are said to be single.

use crate::{Kind, Mapped, Surface};
use fathom_compare::Summary;
use fathom_record::Run;

/// The sentence that stands beside ratios of runs without repetitions.
pub const SINGLE_RUNS: &str = "These are single runs: no interval can be given and small differences may be noise. Repeat each at \
                               least three times for a verdict.";

/// One test in one regime.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The test.
    pub title: String,
    /// What served it in the first run.
    pub kind: Kind,
    /// Second over first, cell by cell.
    pub ratios: Summary,
    /// How many of the cells were served by something else in the second run: their ratio compares unlike things.
    pub unlike: usize,
}

/// The comparison of two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// In the order of the first run.
    pub rows: Vec<Row>,
    /// Whether one of the runs has no repetitions.
    pub single: bool,
}

impl Comparison {
    /// Divides `b` by `a`; `None` if they have no cell in common.
    #[must_use]
    pub fn of(a: &Run, b: &Run) -> Option<Self> {
        let after = Mapped::of_run(b);
        let mut rows = Vec::new();
        for before in Mapped::of_run(a) {
            let same = |m: &&Mapped| {
                m.surface.stage == before.surface.stage && m.surface.title == before.surface.title
            };
            let Some(other) = after.iter().find(same) else { continue };
            rows.extend(Kind::ALL.into_iter().filter_map(|kind| Row::of(&before, other, kind)));
        }
        let single = [a, b].iter().any(|run| run.phases.iter().all(|p| p.repetitions.len() < 2));
        (!rows.is_empty()).then_some(Self { rows, single })
    }
}

impl Row {
    fn of(before: &Mapped, after: &Mapped, kind: Kind) -> Option<Self> {
        let surface: &Surface = &before.surface;
        let (mut ratios, mut unlike) = (Vec::new(), 0);
        for (i, cells) in surface.cells.iter().enumerate() {
            for (j, cell) in cells.iter().enumerate() {
                let there = after.surface.at(surface.file_bytes[i], surface.record_bytes[j]);
                let (Some(here), Some(there)) = (cell, there) else { continue };
                if before.kind_of(i, here) == kind {
                    ratios.push(there.value / here.value);
                    unlike += usize::from(here.origin != there.origin);
                }
            }
        }
        Some(Self { title: surface.title.clone(), kind, ratios: Summary::of(&ratios)?, unlike })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn faster_cached_writes_and_slower_device_reads_are_told_apart() {
        let found = Comparison::of(&samples::auto_run(), &samples::auto_run_changed()).expect("common cells");
        let median = |title: &str, kind| {
            let row = found.rows.iter().find(|r| r.title == title && r.kind == kind);
            row.map(|r| r.ratios.median).expect("a row")
        };
        assert!((median("write", Kind::PageCache) - 1.4).abs() < 0.05);
        assert!((median("read", Kind::Device) - 0.75).abs() < 0.05);
        assert!((median("read", Kind::PageCache) - 1.0).abs() < 0.05);
        assert!(found.single);
        assert!(found.rows.iter().all(|r| r.unlike == 0));
    }

    #[test]
    fn cells_of_unlike_origin_are_counted() {
        let (a, mut b) = (samples::auto_run(), samples::auto_run());
        for phase in b.phases.iter_mut().filter(|p| p.axes.file_bytes == Some(1 << 30)) {
            let physical = &mut phase.repetitions[0].physical;
            physical.devices[0].read_bytes = 0;
            physical.own_read_bytes = Some(0);
        }
        let found = Comparison::of(&a, &b).expect("common cells");
        let read = found.rows.iter().find(|r| r.title == "read" && r.kind == Kind::Device).expect("a row");
        assert_eq!(read.unlike, 9);
    }

    #[test]
    fn runs_without_common_cells_are_not_compared() {
        assert_eq!(Comparison::of(&samples::auto_run(), &samples::throughput_run()), None);
    }
}
