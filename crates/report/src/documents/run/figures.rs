//! The main figures: one row per test, one column per regime, so that a number is in the column of its source.

use super::RunView;
use crate::document::{Cell, Mood, Table};
use crate::story::FigureRow;
use crate::{Kind, printable::clean, units};
use fathom_compare::Summary;

/// The table; no rows if nothing but times was measured. Named if it is one of several.
pub(crate) fn table(view: &RunView<'_>, several: bool) -> Table {
    let story = &view.story;
    let kinds = story.kinds();
    let of_surfaces = if story.figures.iter().all(|f| f.single) {
        ""
    } else {
        "; of a surface the largest file's, with records of up to 1 MiB"
    };
    let whose = if several { format!(" of {}", clean(&story.title)) } else { String::new() };
    let caption = format!("Main figures{whose}: throughput by what served it{of_surfaces}");
    let mut table = Table::new(caption, &["Test"]);
    table.heads.extend(kinds.iter().map(|k| k.words().to_owned()));
    let some_without_data = story.figures.iter().any(|f| f.ops.is_some());
    table.heads.extend(some_without_data.then(|| "no file data: operations".to_owned()));
    // Tests that were only timed have no throughput to show.
    let nothing = |f: &FigureRow| f.ops.is_none() && f.error.is_none();
    if kinds.is_empty() && story.figures.iter().all(nothing) {
        return table;
    }
    for row in &story.figures {
        let without_data = some_without_data.then(|| of_operations(row));
        let cells = kinds.iter().map(|kind| of_kind(row, *kind)).chain(without_data);
        table.rows.push(std::iter::once(Cell::words(row.title.as_str())).chain(cells).collect());
    }
    table
}

fn of_kind(row: &FigureRow, kind: Kind) -> Cell {
    match (row.by_kind.get(&kind), &row.error) {
        (Some(rates), _) => {
            let quoted = row.quoted.get(&kind).copied().unwrap_or(rates.median);
            let text = units::rate(quoted);
            Cell { text, ..Cell::served(kind) }.with_below(range(rates, units::rate))
        }
        (None, Some(error)) if row.by_kind.is_empty() => Cell::figure(error.as_str()).meant(Mood::Bad),
        _ => Cell::figure("–"),
    }
}

/// The figure of a phase that moved no file data.
fn of_operations(row: &FigureRow) -> Cell {
    let rate =
        |ops: &Summary| Cell::figure(units::ops_rate(ops.median)).with_below(range(ops, units::ops_rate));
    row.ops.as_ref().map_or_else(|| Cell::figure("–"), rate)
}

fn range(rates: &Summary, words: fn(f64) -> String) -> String {
    if rates.n < 2 {
        return String::new();
    }
    format!("{} to {}", words(rates.min), words(rates.max))
}
