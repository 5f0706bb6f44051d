//! What distinguishes the sides within the cells: a coordinate with one value in all cells of A and another in all of B, such
//! as the record size in a sweep of record sizes. It is the factor under comparison and no coordinate, so it is removed from
//! the cells, which otherwise would have nothing in common, and reported as a difference. Job names are removed too where cells
//! match without them, since the work is what is compared.

use super::Difference;
use crate::units;
use fathom_record::figures::{Cell, Series};
use std::collections::BTreeSet;

/// The tag with the name of a job.
const JOB: &str = "job";

/// Coordinates that distinguish the sides.
#[derive(Clone, Debug, Default)]
pub(super) struct Factors {
    all: Vec<FactorPair>,
}

#[derive(Clone, Debug)]
struct FactorPair {
    axis: FactorAxis,
    values: [Option<String>; 2],
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FactorAxis {
    File,
    Record,
    Streams,
    Depth,
    Direct,
    Tag(String),
}

impl FactorAxis {
    fn name(&self) -> &str {
        match self {
            Self::File => "file size",
            Self::Record => "record size",
            Self::Streams => "streams",
            Self::Depth => "queue depth",
            Self::Direct => "O_DIRECT",
            Self::Tag(name) => name,
        }
    }

    fn value(&self, cell: &Cell) -> Option<String> {
        let axes = &cell.axes;
        match self {
            Self::File => axes.file_bytes.map(units::bytes),
            Self::Record => axes.record_bytes.map(units::bytes),
            Self::Streams => axes.streams.map(|n| n.to_string()),
            Self::Depth => axes.queue_depth.map(|n| n.to_string()),
            Self::Direct => Some(if cell.direct { "yes" } else { "no" }.into()),
            Self::Tag(name) => axes.tags.get(name).cloned(),
        }
    }

    fn take_out(&self, cell: &mut Cell) {
        let axes = &mut cell.axes;
        match self {
            Self::File => axes.file_bytes = None,
            Self::Record => axes.record_bytes = None,
            Self::Streams => axes.streams = None,
            Self::Depth => axes.queue_depth = None,
            Self::Direct => cell.direct = false,
            Self::Tag(name) => drop(axes.tags.remove(name)),
        }
    }
}

impl Factors {
    /// From the figures of A's and B's runs.
    pub(super) fn of(series: &[Vec<Vec<Series>>; 2]) -> Self {
        let cells = |side: usize| series[side].iter().flatten().map(|s| &s.cell);
        let tags: BTreeSet<&String> = (0..2).flat_map(cells).flat_map(|c| c.axes.tags.keys()).collect();
        let mut axes = vec![
            FactorAxis::File,
            FactorAxis::Record,
            FactorAxis::Streams,
            FactorAxis::Depth,
            FactorAxis::Direct,
        ];
        axes.extend(tags.into_iter().cloned().map(FactorAxis::Tag));
        let only = |axis: &FactorAxis, side: usize| {
            let mut values = cells(side).map(|c| axis.value(c));
            let first = values.next()?;
            values.all(|v| v == first).then_some(first)
        };
        let factor = |axis: FactorAxis| {
            let values = [only(&axis, 0)?, only(&axis, 1)?];
            (values[0] != values[1]).then_some(FactorPair { axis, values })
        };
        let mut factors = Self { all: axes.into_iter().filter_map(factor).collect() };
        factors.all.extend(factors.names_of_jobs(series));
        factors
    }

    /// The factor of job names, if more cells match without them and no cells that match by name are merged.
    fn names_of_jobs(&self, series: &[Vec<Vec<Series>>; 2]) -> Option<FactorPair> {
        let axis = FactorAxis::Tag(JOB.into());
        let named = series.each_ref().map(|side| self.distinct(side, None));
        let nameless = series.each_ref().map(|side| self.distinct(side, Some(&axis)));
        let common = |[a, b]: &[Vec<Cell>; 2]| a.iter().filter(|cell| b.contains(cell)).count();
        let are_told_apart = (0..2).all(|side| nameless[side].len() == named[side].len());
        let (with, without) = (common(&named), common(&nameless));
        let names = |side: usize| {
            let names: BTreeSet<String> = named[side].iter().filter_map(|cell| axis.value(cell)).collect();
            Some(names.into_iter().collect::<Vec<_>>().join(", "))
        };
        (without > with && (with == 0 || are_told_apart))
            .then(|| FactorPair { values: [names(0), names(1)], axis: axis.clone() })
    }

    /// The cells of a side without the factors, and optionally without one more coordinate.
    fn distinct(&self, side: &[Vec<Series>], without: Option<&FactorAxis>) -> Vec<Cell> {
        let mut distinct: Vec<Cell> = Vec::new();
        for series in side.iter().flatten() {
            // Figures of a cell are consecutive.
            let mut cell = self.without(series.cell.clone());
            if let Some(axis) = without {
                axis.take_out(&mut cell);
            }
            if distinct.last() != Some(&cell) && !distinct.contains(&cell) {
                distinct.push(cell);
            }
        }
        distinct
    }

    /// Reduces a cell to the coordinates that both sides share.
    pub(super) fn without(&self, mut cell: Cell) -> Cell {
        for factor in &self.all {
            factor.axis.take_out(&mut cell);
        }
        cell
    }

    /// The factors as differences of the workload.
    pub(super) fn differences(&self) -> Vec<Difference> {
        let word = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".into());
        let difference = |f: &FactorPair| Difference {
            name: f.axis.name().to_owned(),
            a: word(&f.values[0]),
            b: word(&f.values[1]),
        };
        self.all.iter().map(difference).collect()
    }
}
