//! What tells the sides apart in the cells themselves: a coordinate that has one value in all cells of A and another one in all of B, such
//! as the record size in a sweep of record sizes. It is what is compared and no coordinate: it is taken out of the cells, which
//! otherwise would have nothing in common, and told as a difference.

use super::Difference;
use crate::units;
use fathom_record::figures::{Cell, Series};
use std::collections::BTreeSet;

/// Coordinates that tell the sides apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Factors {
    all: Vec<Factor>,
}

#[derive(Clone, Debug)]
struct Factor {
    axis: Axis,
    values: [Option<String>; 2],
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Axis {
    File,
    Record,
    Streams,
    Depth,
    Direct,
    Tag(String),
}

impl Axis {
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
    /// Of the runs' figures, A's and B's.
    pub(super) fn of(series: &[Vec<Vec<Series>>; 2]) -> Self {
        let cells = |side: usize| series[side].iter().flatten().map(|s| &s.cell);
        let tags: BTreeSet<&String> = (0..2).flat_map(cells).flat_map(|c| c.axes.tags.keys()).collect();
        let mut axes = vec![Axis::File, Axis::Record, Axis::Streams, Axis::Depth, Axis::Direct];
        axes.extend(tags.into_iter().cloned().map(Axis::Tag));
        let only = |axis: &Axis, side: usize| {
            let mut values = cells(side).map(|c| axis.value(c));
            let first = values.next()?;
            values.all(|v| v == first).then_some(first)
        };
        let factor = |axis: Axis| {
            let values = [only(&axis, 0)?, only(&axis, 1)?];
            (values[0] != values[1]).then_some(Factor { axis, values })
        };
        Self { all: axes.into_iter().filter_map(factor).collect() }
    }

    /// A cell by the coordinates that both sides share.
    pub(super) fn without(&self, mut cell: Cell) -> Cell {
        for factor in &self.all {
            factor.axis.take_out(&mut cell);
        }
        cell
    }

    /// They as differences of what was asked for.
    pub(super) fn told(&self) -> Vec<Difference> {
        let word = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".into());
        let told = |f: &Factor| Difference {
            name: f.axis.name().to_owned(),
            a: word(&f.values[0]),
            b: word(&f.values[1]),
        };
        self.all.iter().map(told).collect()
    }
}
