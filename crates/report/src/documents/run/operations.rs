//! Breakdown by operation of a flow (or by kind, if a phase reads and writes at once): a table and a picture of the percentiles
//! for each phase.

use super::{RunView, Stage};
use crate::document::{Document, Figure, Table, Tone};
use crate::{Breakdown, printable::clean, svg};

/// Maximum number of phases shown open; further ones are folded.
const MOST_OPEN: usize = 8;

pub(super) fn write(out: &mut Document, stage: &Stage<'_, '_>) {
    let all: Vec<(&RunView<'_>, Vec<Breakdown>)> = stage
        .shown
        .iter()
        .map(|(view, section)| (*view, Breakdown::of_phases(&section.phases)))
        .filter(|(_, breakdowns)| !breakdowns.is_empty())
        .collect();
    if all.is_empty() {
        return;
    }
    out.heading(stage.level, "Operation by operation");
    let clock = "All workers and repetitions together. Rates are over one clock for all rows of a phase: the longest of its workers'.";
    out.text(Tone::Note, clock);
    for (view, breakdowns) in all {
        stage.whose(out, view);
        for (n, one) in breakdowns.iter().enumerate() {
            if n >= MOST_OPEN {
                out.details(one.title.as_str(), |out| out.table(table(one)));
                continue;
            }
            out.table(table(one));
            let picture = svg::operations(one).map(|picture| Figure::new(picture, ""));
            out.pictures_beside(picture.into_iter().collect());
        }
    }
}

fn table(one: &Breakdown) -> Table {
    let mut table = Table::new(format!("{}: {}", clean(&one.title), one.clock_words()), &["Operation"]);
    table.heads.extend(Breakdown::HEADS.map(String::from));
    for row in &one.rows {
        table.figures(row.name.as_str(), one.cells(row));
    }
    table
}
