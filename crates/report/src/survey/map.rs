//! A survey's surface with the cells between the measured ones, interpolated as by the sampler that chose them.

use super::facts::of_stage;
use super::lattice::Lattice;
use fathom_compare::adaptive::Sampler;
use fathom_record::{Phase, Run};

/// One surface.
pub struct SurveyMap {
    /// Name of the test, such as "cold read".
    pub test: String,
    /// The possible cells.
    pub lattice: Lattice,
    sampler: Sampler,
}

impl SurveyMap {
    /// The surface of a survey's test; `None` before its first cells were measured.
    #[must_use]
    pub fn of(run: &Run, test: &str) -> Option<Self> {
        let cells: Vec<&Phase> = of_stage(run, "surface").into_iter().filter(|p| p.name == test).collect();
        let lattice = Lattice::of(cells.iter().filter_map(|p| p.axes.file_bytes).max()?)?;
        // Older surveys chose among other sizes.
        let possible =
            |p: &&Phase| p.axes.record_bytes.is_some_and(|record| lattice.columns.contains(&record));
        if !cells.iter().all(possible) {
            return None;
        }
        let mut sampler = lattice.sampler(0.1)?;
        let at = |node: (usize, usize)| {
            let (record, file) = (lattice.columns.get(node.0)?, lattice.rows.get(node.1)?);
            let here = |p: &&&Phase| p.axes.file_bytes == Some(*file) && p.axes.record_bytes == Some(*record);
            cells.iter().find(here).copied()
        };
        // The first repetition determined the choice, so it is repeated with that one; the values shown are medians over all.
        let first = |p: &Phase| p.repetitions.first().and_then(fathom_record::Repetition::bytes_per_s);
        let mut chosen = Vec::new();
        while let Some(node) = sampler.next_node() {
            let Some(phase) = at(node) else { break };
            sampler.tell(node, first(phase).unwrap_or(f64::NAN));
            chosen.push((node, phase));
        }
        for (node, phase) in chosen {
            sampler.tell(node, phase.bytes_per_s().unwrap_or(f64::NAN));
        }
        sampler.expected_error()?;
        Some(Self { test: test.into(), lattice, sampler })
    }

    /// Bytes per second at a column and a row.
    #[must_use]
    pub fn at(&self, column: usize, row: usize) -> Option<f64> {
        self.sampler.at((column, row))
    }

    /// Number of measured cells, and of all.
    #[must_use]
    pub fn cells(&self) -> (usize, usize) {
        (self.sampler.measured(), self.lattice.columns.len() * self.lattice.rows.len())
    }

    /// The largest expected error between them, as a fraction.
    #[must_use]
    pub fn expected_error(&self) -> Option<f64> {
        self.sampler.expected_error()
    }

    /// Smallest and largest value.
    #[must_use]
    pub fn range(&self) -> Option<(f64, f64)> {
        let (columns, rows) = (0..self.lattice.columns.len(), 0..self.lattice.rows.len());
        let all = rows.flat_map(|row| columns.clone().map(move |column| (column, row)));
        let values: Vec<f64> = all.filter_map(|(column, row)| self.at(column, row)).collect();
        Some((values.iter().copied().reduce(f64::min)?, values.into_iter().reduce(f64::max)?))
    }
}
