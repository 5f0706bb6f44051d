//! Imported figures on the page: a table for each cell that no surface shows, folded if there are many.

use super::{
    HtmlPage,
    blocks::{Shown, run_name},
    table::{HtmlTable, folded, heads},
};
use crate::imported::{self, CellRows, HEADS};
use crate::svg::escape;
use std::fmt::Write as _;

/// Maximum number of tables shown open.
const MOST_OPEN: usize = 8;

pub(super) fn write(page: &mut HtmlPage, shown: &[Shown<'_, '_>], level: u8) {
    let all: Vec<_> = shown
        .iter()
        .filter_map(|(v, s)| Some((*v, imported::source(v.run)?, imported::rows(&s.phases))))
        .collect();
    if all.is_empty() {
        return;
    }
    page.heading(level, "Figures as printed");
    let columns: Vec<(&str, &[CellRows])> =
        all.iter().map(|(v, _, cells)| (v.story.title.as_str(), cells.as_slice())).collect();
    if let Some(table) = joint(&columns) {
        page.body.push_str(&table);
    }
    for (view, source, cells) in all {
        run_name(page, shown, view);
        let _ = writeln!(page.body, "<p class=\"note\">{}.</p>", escape(&source));
        for (n, cell) in cells.iter().enumerate() {
            let table = table(cell);
            if n < MOST_OPEN {
                page.body.push_str(&table);
            } else {
                page.body.push_str(&folded(&cell.title, &table));
            }
        }
    }
}

/// Runs whose cells hold one figure each, such as the columns of one table: rebuilds the table, with ratios to the first run
/// that has a cell.
fn joint(runs: &[(&str, &[CellRows])]) -> Option<String> {
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
    let mut head = heads(&["Cell"]);
    head.extend(runs.iter().map(|r| r.0.to_owned()));
    let caption = format!("{figure}, and below it the ratio to the first column that has the cell");
    let mut table = HtmlTable::new(&caption, &head);
    for title in titles {
        let mut first: Option<f64> = None;
        let cell = |(_, cells): &(&str, &[CellRows])| {
            let Some(row) = cells.iter().find(|c| c.title == title).and_then(|c| c.rows.first()) else {
                return "<span class=\"none\">–</span>".to_owned();
            };
            let base = *first.get_or_insert(row.number);
            let ratio =
                if base > 0.0 { format!("<small>{:.4}</small>", row.number / base) } else { String::new() };
            format!("{}{ratio}", escape(&row.value))
        };
        let cells: Vec<String> = runs.iter().map(cell).collect();
        table.row(title, &cells);
    }
    Some(table.finish())
}

/// Classes with their counts, each with a bar of its share.
fn distribution(cell: &CellRows, classes: &[(&str, u64)]) -> String {
    let total = classes.iter().map(|(_, n)| *n as f64).sum::<f64>().max(1.0);
    let mut table = HtmlTable::new(&cell.title, &heads(&["Value", "Share", "Count", "Line"]));
    for ((label, count), row) in classes.iter().zip(&cell.rows) {
        let share = *count as f64 / total;
        let bar = format!(
            "<svg class=\"share\" role=\"img\" aria-label=\"{:.1} %\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\">\
             <rect width=\"{:.2}\" height=\"8\"/></svg>",
            share * 100.0,
            share * 100.0
        );
        table.row(label, &[bar, count.to_string(), row.line.to_string()]);
    }
    table.finish()
}

fn table(cell: &CellRows) -> String {
    let mut head = heads(&["Figure"]);
    head.extend(HEADS.map(String::from));
    if let Some(classes) = cell.distribution() {
        return distribution(cell, &classes);
    }
    let mut table = HtmlTable::new(&cell.title, &head);
    for row in &cell.rows {
        table.row(&row.name, &row.cells().map(|c| escape(&c)));
    }
    table.finish()
}
