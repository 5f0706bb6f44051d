//! Surfaces on the page: for each test the interactive surface, the heat map and the same figures as a table; for two runs,
//! both and their ratio.

use super::{
    HtmlPage, RunView, badge,
    links::Link,
    plotly,
    table::{HtmlTable, folded},
};
use crate::{
    Kind, Machine, Mapped, Quantity, Surface, colour::Scale, latency, section::Section, surface::on_surfaces,
    svg, units,
};
use fathom_record::Phase;
use std::fmt::Write as _;

/// A test's surfaces, one per run that has it.
struct Test<'v> {
    title: String,
    runs: Vec<(&'v RunView<'v>, Mapped)>,
}

pub(super) fn write(page: &mut HtmlPage, shown: &[(&RunView<'_>, &Section<'_>)], level: u8) {
    let tests = tests(shown);
    if tests.is_empty() {
        return;
    }
    if level == 2 {
        page.heading(2, "Throughput over file and record size");
    }
    let several = shown.len() > 1;
    for test in &tests {
        let id = page.heading(3, &test.title);
        for (view, _) in &test.runs {
            page.links.test(Link::Surface, &view.run.id, &test.title, &id);
        }
        let surfaces: Vec<Surface> = test.runs.iter().map(|(_, m)| m.surface.clone()).collect();
        let Some(scale) = Scale::of_all(&surfaces) else { continue };
        for (view, mapped) in &test.runs {
            if several {
                let _ = writeln!(page.body, "<p class=\"whose\">{}</p>", svg::escape(&view.story.title));
            }
            figures(page, mapped, &view.machine, &scale);
        }
        if let [(a, before), others @ ..] = test.runs.as_slice() {
            for (n, (_, after)) in others.iter().enumerate() {
                ratio(page, &a.machine, &before.surface, &after.surface, n + 1, others.len() > 1);
            }
        }
    }
    for (view, section) in shown {
        latencies(page, view, &section.phases);
    }
}

fn tests<'v>(shown: &[(&'v RunView<'v>, &Section<'v>)]) -> Vec<Test<'v>> {
    let mut tests: Vec<Test<'v>> = Vec::new();
    for (view, section) in shown {
        for surface in Surface::of_phases(&section.phases) {
            let mapped = Mapped::of(surface, &view.machine);
            let title = mapped.surface.title.clone();
            match tests.iter_mut().find(|t| t.title == title) {
                Some(test) => test.runs.push((view, mapped)),
                None => tests.push(Test { title, runs: vec![(view, mapped)] }),
            }
        }
    }
    tests
}

/// Surface and heat map side by side, the table folded below.
fn figures(page: &mut HtmlPage, mapped: &Mapped, machine: &Machine, scale: &Scale) {
    let caption = match mapped.surface.quantity {
        Quantity::BytesPerSecond => "",
        Quantity::Ratio => "Second run over first; 1 is the same speed.",
    };
    captioned(page, mapped, machine, scale, caption);
}

/// The same with the caller's caption.
pub(super) fn captioned(
    page: &mut HtmlPage,
    mapped: &Mapped,
    machine: &Machine,
    scale: &Scale,
    caption: &str,
) {
    page.body.push_str("<div class=\"pair\">\n");
    if let Some(still) = svg::surface(mapped, machine, scale).filter(|_| !page.flat) {
        page.turning(&still, &plotly::surface(mapped, machine, scale), caption);
    }
    if let Some(still) = svg::heat_map(mapped, machine, scale) {
        page.picture(&still, caption);
    }
    page.body.push_str("</div>\n");
    let table = as_table(mapped);
    page.body.push_str(&folded("The same figures as a table", &table));
}

/// A later run over the first; `n` is its distance in the list.
fn ratio(page: &mut HtmlPage, machine: &Machine, before: &Surface, after: &Surface, n: usize, several: bool) {
    let Some(ratio) = Surface::ratio(before, after) else { return };
    let Some(scale) = Scale::of(&ratio) else { return };
    if several {
        let _ = writeln!(page.body, "<p class=\"whose\">Run {} divided by the first (ratio)</p>", n + 1);
        let caption = format!("Run {} over the first; 1 is the same speed.", n + 1);
        captioned(page, &Mapped::of(ratio, machine), machine, &scale, &caption);
    } else {
        page.body.push_str("<p class=\"whose\">Second run divided by the first (ratio)</p>\n");
        figures(page, &Mapped::of(ratio, machine), machine, &scale);
    }
}

fn as_table(mapped: &Mapped) -> String {
    let surface = &mapped.surface;
    let is_ratio = surface.quantity == Quantity::Ratio;
    let what = if is_ratio { "ratio" } else { "throughput" };
    let caption = format!("{}: {what}, file size by record size", surface.title);
    let mut heads = vec!["File size".to_string()];
    heads.extend(surface.record_bytes.iter().map(|r| units::bytes(*r)));
    if !is_ratio {
        heads.push("Served by".into());
    }
    let mut table = HtmlTable::new(&caption, &heads);
    for (i, row) in surface.cells.iter().enumerate() {
        let number = |v: f64| if is_ratio { units::ratio(v) } else { units::rate(v) };
        let mut cells: Vec<String> =
            row.iter().map(|c| c.as_ref().map_or("–".to_string(), |c| number(c.value))).collect();
        if !is_ratio {
            cells.push(mapped.band_of(i).map_or(String::new(), |b| badge(b.kind)));
        }
        table.row(&units::bytes(surface.file_bytes[i]), &cells);
    }
    table.finish()
}

/// Latencies of the surfaces' largest files, folded: a table for each of a thousand cells would be unreadable.
fn latencies(page: &mut HtmlPage, view: &RunView<'_>, phases: &[&Phase]) {
    let (on, _) = on_surfaces(phases);
    let Some(largest) = on.iter().filter_map(|p| p.axes.file_bytes).max() else { return };
    let at_largest: Vec<&Phase> = on.into_iter().filter(|p| p.axes.file_bytes == Some(largest)).collect();
    let rows = latency::rows(&at_largest);
    if rows.is_empty() {
        return;
    }
    let caption = format!("Latency percentiles at the largest file size ({})", units::bytes(largest));
    let mut heads = vec!["Phase".to_string(), "Operation".into(), "Count".into()];
    heads.extend(latency::LatencyRow::HEADS.map(String::from));
    heads.push("Served by".into());
    let mut table = HtmlTable::new(&caption, &heads);
    for row in &rows {
        let mut cells = vec![row.op.word().to_string(), units::count(row.ops)];
        cells.extend(row.values_ns().map(|ns| units::time_ns(ns as f64)));
        cells.push(badge(Kind::from(row.origin)));
        table.row(&row.title, &cells);
    }
    let id = page.anchor();
    for phase in on_surfaces(phases).0 {
        page.links.phase(Link::Distribution, &view.run.id, phase, &id);
    }
    page.body.push_str(&folded(&caption, &table.finish()));
}
