//! The three figures of every write: single phases one by one, surfaces by test and file size.

use super::Stage;
use crate::document::{Cell, Document, Table, Tone};
use crate::writes::{self, WriteRow};
use crate::{printable::clean, units};

const WHAT: &str = "A buffered write returns when the data lies in memory; an fsync returns when it is safe. The figure to quote is the one with the fsync, where there was one. Rates from the first operation on, sums over the streams, medians over repetitions.";
const UNSYNCED: &str =
    "Surfaces: no fsync. None of their writes was followed by one; their figures run to the last write.";

pub(super) fn write(out: &mut Document, stage: &Stage<'_, '_>) {
    let all: Vec<(&super::RunView<'_>, Vec<WriteRow>, Vec<WriteRow>, bool)> = stage
        .shown
        .iter()
        .map(|(view, section)| {
            let phases = &section.phases;
            let unsynced = writes::unsynced_surfaces(phases);
            (*view, writes::singles(phases), writes::of_surfaces(phases), unsynced)
        })
        .filter(|(_, single, on, unsynced)| !single.is_empty() || !on.is_empty() || *unsynced)
        .collect();
    if all.is_empty() {
        return;
    }
    out.heading(stage.level, "Writes: to the last write, to the fsync, to the close");
    out.text(Tone::Note, WHAT);
    for (view, single, on, unsynced) in all {
        stage.whose(out, view);
        if unsynced {
            out.text(Tone::Note, UNSYNCED);
        }
        let run = clean(&view.story.title);
        out.table(table(format!("Throughput of each write phase, {run}"), "Phase", &single));
        let caption = format!(
            "Throughput of writes per test and file size, in records of 1 MiB or the nearest size, {run}"
        );
        out.details(caption.clone(), |out| {
            out.table(table(caption, "Test, file size and record size", &on));
        });
    }
}

fn table(caption: String, first: &str, rows: &[WriteRow]) -> Table {
    let heads = [first, "To quote", "To the last write", "To the fsync", "To the close", "Served by"];
    let mut table = Table::new(caption, &heads);
    for row in rows {
        table.rows.push(vec![
            Cell::words(row.title.as_str()),
            Cell::figure(units::rate(row.headline())).strong_if(true),
            Cell::figure(units::rate(row.to_last)),
            Cell::figure(row.to_fsync.words()),
            Cell::figure(row.close_words()),
            Cell::served(row.origin.into()),
        ]);
    }
    table
}
