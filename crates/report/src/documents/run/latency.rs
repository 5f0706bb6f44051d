//! Latency percentiles of single phases, and of the largest files of surfaces.

use super::{RunView, Stage};
use crate::document::{Cell, Document, Figure, Link, Table, Target};
use crate::latency::{LatencyRow, paced, rows};
use crate::{Kind, printable::clean, surface::on_surfaces, svg, units};
use fathom_record::Phase;

pub(super) fn write(out: &mut Document, stage: &Stage<'_, '_>) {
    let all: Vec<(&RunView<'_>, Vec<LatencyRow>)> = stage
        .shown
        .iter()
        .map(|(view, section)| (*view, rows(&on_surfaces(&section.phases).1)))
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    if all.is_empty() {
        return;
    }
    for (view, section) in &stage.shown {
        let single = on_surfaces(&section.phases).1;
        let lead = |phase: &&Phase| Target::phase(Link::Distribution, &view.run.id, phase);
        out.targets(single.iter().flat_map(lead).collect());
    }
    out.heading(stage.level, "Latency");
    for (view, rows) in all {
        stage.whose(out, view);
        out.pictures_beside(
            svg::latency(&rows).map(|picture| Figure::new(picture, "")).into_iter().collect(),
        );
        let caption = format!("Latency percentiles per phase, {}", clean(&view.story.title));
        out.table(table(caption, &rows, |row| row.part(paced(&rows, row))));
    }
}

/// The largest files of surfaces: a table for each of a thousand cells would be unreadable.
pub(super) fn of_surfaces(out: &mut Document, view: &RunView<'_>, phases: &[&Phase]) {
    let (on, _) = on_surfaces(phases);
    let Some(largest) = on.iter().filter_map(|p| p.axes.file_bytes).max() else { return };
    let at_largest: Vec<&Phase> = on.iter().copied().filter(|p| p.axes.file_bytes == Some(largest)).collect();
    let rows = rows(&at_largest);
    if rows.is_empty() {
        return;
    }
    let lead = |phase: &&Phase| Target::phase(Link::Distribution, &view.run.id, phase);
    out.targets(on.iter().flat_map(lead).collect());
    let caption = format!("Latency percentiles at the largest file size ({})", units::bytes(largest));
    out.details(caption.clone(), |out| out.table(table(caption, &rows, |row| row.op.word())));
}

fn table(caption: String, rows: &[LatencyRow], operation: impl Fn(&LatencyRow) -> &'static str) -> Table {
    let mut table = Table::new(caption, &["Phase", "Operation", "Count"]);
    table.heads.extend(LatencyRow::HEADS.map(String::from));
    table.heads.push("Served by".into());
    for row in rows {
        let times = row.values_ns().map(|ns| Cell::figure(units::time_ns(ns as f64)));
        let first = [
            Cell::words(row.title.as_str()),
            Cell::words(operation(row)),
            Cell::figure(units::count(row.ops)),
        ];
        let served = [Cell::served(Kind::from(row.origin))];
        table.rows.push(first.into_iter().chain(times).chain(served).collect());
    }
    table
}
