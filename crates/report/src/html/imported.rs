//! What another program printed, on the page: a table for each cell that no surface shows, folded away where there are many.

use super::{
    Page,
    blocks::{Shown, whose},
    table::{Table, folded, heads},
};
use crate::imported::{self, CellRows, HEADS};
use crate::svg::escape;
use std::fmt::Write as _;

/// Tables that stand open.
const MOST_OPEN: usize = 8;

pub(super) fn write(page: &mut Page, shown: &[Shown<'_, '_>], level: u8) {
    let all: Vec<_> = shown
        .iter()
        .filter_map(|(v, s)| Some((*v, imported::source(v.run)?, imported::rows(&s.phases))))
        .collect();
    if all.is_empty() {
        return;
    }
    page.heading(level, "Figures as printed");
    for (view, source, cells) in all {
        whose(page, shown, view);
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

fn table(cell: &CellRows) -> String {
    let mut head = heads(&["Figure"]);
    head.extend(HEADS.map(String::from));
    let mut table = Table::new(&cell.title, &head);
    for row in &cell.rows {
        table.row(&row.name, &row.cells().map(|c| escape(&c)));
    }
    table.finish()
}
