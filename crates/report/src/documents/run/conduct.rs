//! How phases ran: warm-up, drained operations, queue depth and rate; steady states with their rounds; the tail beside the
//! machine's own stalls.

use super::Stage;
use crate::conduct::{self, Beside, ConductRow, Steady};
use crate::document::{Cell, Document, Mood, Table, Tone};
use crate::printable::clean;
use fathom_record::Phase;

const STEADY: &str = "Steady: over the last rounds the largest figure lies at most a fifth of the mean above the least, and the line fitted to them changes by at most a tenth; where no steady state was requested, it is judged afterwards, over the whole phase in five rounds.";
const STALLS: &str = "Stalls, p99.9: what one operation in a thousand of this length would have been stalled for if it waited for nothing. A tail within twice of it is the machine's, not the storage's.";

pub(super) fn write(out: &mut Document, stage: &Stage<'_, '_>) {
    let mut all = Document::default();
    for (view, section) in &stage.shown {
        let mut one = Document::default();
        tables(&mut one, &section.phases, &clean(&view.story.title));
        if !one.parts.is_empty() {
            stage.whose(&mut all, view);
            all.parts.append(&mut one.parts);
        }
    }
    if !all.parts.is_empty() {
        out.heading(stage.level, "How it went");
        out.parts.append(&mut all.parts);
    }
}

fn tables(out: &mut Document, phases: &[&Phase], run: &str) {
    let mut table = new(format!("Left out, waited for, found, {run}"), &ConductRow::HEADS);
    for row in conduct::rows(phases) {
        table.figures(row.title.as_str(), row.cells().map(|cell| cell.unwrap_or("–")));
    }
    out.table(table);
    let mut table = new(format!("Steady state, {run}"), &Steady::HEADS);
    for row in conduct::steady(phases) {
        let mut cells = row.cells().map(Cell::figure);
        cells[3].mood = Mood::Bars;
        table.rows.push(std::iter::once(Cell::words(row.title.as_str())).chain(cells).collect());
    }
    with_note(out, table, STEADY);
    let mut table = new(format!("Latency tail beside the machine's own stalls, {run}"), &Beside::HEADS);
    for row in conduct::tails(phases) {
        table.figures(row.title.as_str(), row.cells());
    }
    with_note(out, table, STALLS);
}

fn new(caption: String, heads: &[&str]) -> Table {
    let mut table = Table::new(caption, &["Phase"]);
    table.heads.extend(heads.iter().map(|head| (*head).to_owned()));
    table
}

fn with_note(out: &mut Document, table: Table, note: &str) {
    if !table.rows.is_empty() {
        out.table(table);
        out.text(Tone::Note, note);
    }
}
