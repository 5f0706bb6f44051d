//! Throughput by number of streams.

use super::Stage;
use crate::document::{Cell, Document, Figure, Mood, Table, Tone};
use crate::{Streams, printable::clean, svg, units};

const STONEWALL: &str = "Stonewall: the clock stops when the first stream is done, so the children's figures cover only \
    the time when all work; the parent's clock runs until the last one is done. A parent far below the children indicates stragglers.";

pub(super) fn write(out: &mut Document, stage: &Stage<'_, '_>) {
    let of =
        |(view, section): &(_, &crate::section::Section<'_>)| (*view, Streams::of_phases(&section.phases));
    let all: Vec<(&super::RunView<'_>, Vec<Streams>)> =
        stage.shown.iter().map(of).filter(|(_, series)| !series.is_empty()).collect();
    if all.is_empty() {
        return;
    }
    out.heading(stage.level, "Throughput by number of streams");
    out.text(Tone::Note, STONEWALL);
    for (view, series) in all {
        stage.whose(out, view);
        out.pictures_beside(series.iter().filter_map(svg::streams).map(|p| Figure::new(p, "")).collect());
        out.table(table(&series, &view.story.title));
    }
}

fn table(series: &[Streams], run: &str) -> Table {
    let heads = [
        "Test",
        "Streams",
        "File each",
        "Children's sum",
        "Parent",
        "Parent / children",
        "Slowest",
        "Fastest",
        "Served by",
    ];
    let mut table = Table::new(format!("Throughput by number of streams, {}", clean(run)), &heads);
    for one in series {
        for p in &one.points {
            let share = p.parent_bytes_per_s.map(|rate| units::percent(rate / p.children_bytes_per_s));
            let share = Cell::or_dash(share);
            let share = if p.straggling().is_some() {
                share.with_below("stragglers").meant(Mood::Bad)
            } else {
                share
            };
            table.rows.push(vec![
                Cell::words(one.title.as_str()),
                Cell::figure(p.streams.to_string()),
                Cell::or_dash(p.file_bytes.map(units::bytes)),
                Cell::figure(units::rate(p.children_bytes_per_s)),
                Cell::or_dash(p.parent_bytes_per_s.map(units::rate)),
                share,
                Cell::figure(units::rate(p.min_bytes_per_s)),
                Cell::figure(units::rate(p.max_bytes_per_s)),
                Cell::served(p.origin.into()),
            ]);
        }
    }
    table
}
