//! Figures of other programs: a table for each cell that no surface shows, folded if there are many.

use super::{RunView, Stage};
use crate::document::{Cell, Document, Table, Tone};
use crate::imported::{self, CellRows, HEADS};
use crate::units;

/// Maximum number of tables shown open.
const MOST_OPEN: usize = 8;

pub(super) fn write(out: &mut Document, stage: &Stage<'_, '_>) {
    let all: Vec<(&RunView<'_>, String, Vec<CellRows>)> = stage
        .shown
        .iter()
        .filter_map(|(view, section)| {
            Some((*view, imported::source(view.run)?, imported::rows(&section.phases)))
        })
        .collect();
    if all.is_empty() {
        return;
    }
    out.heading(stage.level, "Figures as printed");
    let columns: Vec<(&str, &[CellRows])> =
        all.iter().map(|(view, _, cells)| (view.story.title.as_str(), cells.as_slice())).collect();
    joint(&columns).into_iter().for_each(|table| out.table(table));
    for (view, source, cells) in all {
        stage.whose(out, view);
        out.text(Tone::Note, format!("These figures were {source}."));
        for (n, cell) in cells.iter().enumerate() {
            if n < MOST_OPEN {
                out.table(table(cell));
            } else {
                out.details(cell.title.as_str(), |out| out.table(table(cell)));
            }
        }
    }
}

/// Runs whose cells hold one figure each, such as the columns of one table: rebuilds the table, with ratios to the first run
/// that has a cell.
fn joint(runs: &[(&str, &[CellRows])]) -> Option<Table> {
    let single = runs.iter().flat_map(|r| r.1).all(|c| c.rows.len() == 1);
    let figure = &runs.first()?.1.first()?.rows.first()?.name;
    let one_figure = runs.iter().flat_map(|r| r.1).flat_map(|c| &c.rows).all(|row| row.name == *figure);
    if runs.len() < 2 || !single || !one_figure {
        return None;
    }
    let mut titles: Vec<&str> = Vec::new();
    for cell in runs.iter().flat_map(|r| r.1) {
        if !titles.contains(&cell.title.as_str()) {
            titles.push(&cell.title);
        }
    }
    let caption = format!("{figure}, and below it the ratio to the first column that has the cell");
    let mut table = Table::new(caption, &["Cell"]);
    table.heads.extend(runs.iter().map(|r| r.0.to_owned()));
    for title in titles {
        let mut first: Option<f64> = None;
        let cell = |(_, cells): &(&str, &[CellRows])| {
            let Some(row) = cells.iter().find(|c| c.title == title).and_then(|c| c.rows.first()) else {
                return Cell::figure("–");
            };
            let base = *first.get_or_insert(row.number);
            let ratio = if base > 0.0 { format!("{:.4}", row.number / base) } else { String::new() };
            Cell::figure(row.value.as_str()).with_below(ratio)
        };
        let cells: Vec<Cell> = runs.iter().map(cell).collect();
        table.rows.push(std::iter::once(Cell::words(title)).chain(cells).collect());
    }
    Some(table)
}

fn table(cell: &CellRows) -> Table {
    if let Some(classes) = cell.distribution() {
        return distribution(cell, &classes);
    }
    let mut table = Table::new(cell.title.as_str(), &["Figure"]);
    table.heads.extend(HEADS.map(String::from));
    for row in &cell.rows {
        table.figures(row.name.as_str(), row.cells());
    }
    table
}

/// Classes with their counts, each as dark as its share of the largest.
fn distribution(cell: &CellRows, classes: &[(&str, u64)]) -> Table {
    let total = classes.iter().map(|(_, n)| *n as f64).sum::<f64>().max(1.0);
    let largest = classes.iter().map(|(_, n)| *n as f64).fold(1.0, f64::max);
    let mut table = Table::new(cell.title.as_str(), &["Value", "Share", "Count", "Line"]);
    for ((label, count), row) in classes.iter().zip(&cell.rows) {
        let share = Cell::figure(units::percent(*count as f64 / total));
        table.rows.push(vec![
            Cell::words(*label),
            Cell { shade: *count as f64 / largest, ..share },
            Cell::figure(count.to_string()),
            Cell::figure(row.line.to_string()),
        ]);
    }
    table
}
