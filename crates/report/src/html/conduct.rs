//! How phases ran, on the page: warm-up, drained operations, queue depth and rate; steady states with their rounds; the tail
//! beside the machine's own stalls.

use super::{
    HtmlPage, RunView,
    blocks::{Shown, run_name},
    table::{HtmlTable, heads},
};
use crate::{
    conduct::{self, Beside, ConductRow, Steady},
    printable::clean,
    svg::escape,
};
use std::fmt::Write as _;

pub(super) fn write(page: &mut HtmlPage, shown: &[Shown<'_, '_>], level: u8) {
    let tables: Vec<(&RunView<'_>, String)> = shown
        .iter()
        .map(|(view, section)| (*view, tables(&section.phases, &clean(&view.story.title))))
        .collect();
    if tables.iter().all(|(_, html)| html.is_empty()) {
        return;
    }
    page.heading(level, "How it went");
    for (view, html) in tables.iter().filter(|(_, html)| !html.is_empty()) {
        run_name(page, shown, view);
        page.body.push_str(html);
    }
}

fn tables(phases: &[&fathom_record::Phase], run: &str) -> String {
    let mut out = String::new();
    let rows = conduct::rows(phases);
    if !rows.is_empty() {
        let mut table = HtmlTable::new(
            &format!("Left out, waited for, found, {run}"),
            &first("Phase", &ConductRow::HEADS),
        );
        for row in &rows {
            table.row(&row.title, &row.cells().map(|c| c.map_or("–".into(), escape)));
        }
        out += &table.finish();
    }
    let rows = conduct::steady(phases);
    if !rows.is_empty() {
        let mut table = HtmlTable::new(&format!("Steady state, {run}"), &first("Phase", &Steady::HEADS));
        for row in &rows {
            let mut cells = row.cells().map(|c| escape(&c));
            // Bars are meaningless to a screen reader; the range beside them is not.
            cells[3] = format!("<span class=\"bars\" aria-hidden=\"true\">{}</span>", cells[3]);
            table.row(&row.title, &cells);
        }
        out += &table.finish();
        out += "<p class=\"note\">Steady: over the last rounds the largest figure lies at most a fifth of the mean above the least, \
                and the line fitted to them changes by at most a tenth; where no steady state was requested, it is judged afterwards, over the \
                whole phase in five rounds.</p>\n";
    }
    let rows = conduct::tails(phases);
    if !rows.is_empty() {
        let mut table = HtmlTable::new(
            &format!("Latency tail beside the machine's own stalls, {run}"),
            &first("Phase", &Beside::HEADS),
        );
        for row in &rows {
            table.row(&row.title, &row.cells().map(|c| escape(&c)));
        }
        out += &table.finish();
        let _ = writeln!(
            out,
            "<p class=\"note\">Stalls, p99.9: what one operation in a thousand of this length would have been stalled for if it waited \
             for nothing. A tail within twice of it is the machine's, not the storage's.</p>"
        );
    }
    out
}

fn first(head: &str, others: &[&str]) -> Vec<String> {
    let mut all = heads(&[head]);
    all.extend(heads(others));
    all
}
