//! Breakdown by operation of a flow (or by kind, if a phase reads and writes at once): a table and a picture of the percentiles
//! for each phase.

use super::{
    HtmlPage,
    blocks::{Shown, run_name},
    table::{HtmlTable, folded, heads},
};
use crate::{Breakdown, svg};

/// Maximum number of phases shown open; further ones are folded.
const MOST_OPEN: usize = 8;

pub(super) fn write(page: &mut HtmlPage, shown: &[Shown<'_, '_>], level: u8) {
    let all: Vec<_> = shown
        .iter()
        .map(|(v, s)| (*v, Breakdown::of_phases(&s.phases)))
        .filter(|(_, b)| !b.is_empty())
        .collect();
    if all.is_empty() {
        return;
    }
    page.heading(level, "Operation by operation");
    page.body.push_str(
        "<p class=\"note\">All workers and repetitions together. Rates are over one clock for all rows of a phase: the longest of \
         its workers'.</p>\n",
    );
    for (view, breakdowns) in all {
        run_name(page, shown, view);
        for (n, one) in breakdowns.iter().enumerate() {
            let table = table(one);
            if n >= MOST_OPEN {
                page.body.push_str(&folded(&one.title, &table));
                continue;
            }
            page.body.push_str(&table);
            if let Some(picture) = svg::operations(one) {
                page.picture(&picture, "");
            }
        }
    }
}

fn table(one: &Breakdown) -> String {
    let mut head = heads(&["Operation"]);
    head.extend(Breakdown::HEADS.map(String::from));
    let caption = format!("{}: {}", crate::printable::clean(&one.title), one.clock_words());
    let mut table = HtmlTable::new(&caption, &head);
    for row in &one.rows {
        table.row(&row.name, &one.cells(row));
    }
    table.finish()
}
