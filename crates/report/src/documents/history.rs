//! A history as a document: the result, then each figure through its runs (those that changed first) with every change and its
//! recorded differences, the levels, environment changes without effect, and the runs.

use crate::answer::Tile;
use crate::compared::{Difference, Outcome, spelled};
use crate::document::{Cell, Document, Table, Tone};
use crate::history::{
    Change, History, HistoryGate, HistoryPoint, Segment, Series, drawing, moment, noise_words,
    overview_words, picture, run_words,
};
use crate::units::counted;

const MOST_TILES: usize = 8;
/// Maximum number of runs shown, the newest; no browser copes with ten thousand rows.
const MOST_RUNS: usize = 500;
/// Width of a picture made of letters.
const WIDTH: usize = 76;
const CAPTION: &str = "Runs in the order they were made, a dot each (of very many, a line from the least to the largest of a few); \
                       heavy rules are the medians of the levels, broken lines the changes.";

/// The document, with the gate's decision if given.
#[must_use]
pub fn document(history: &History, gate: Option<&HistoryGate>) -> Document {
    let workload = &history.workload;
    let span = match (&history.first, &history.last) {
        (Some(first), Some(last)) => format!("{} to {}", moment(&first.started_at), moment(&last.started_at)),
        _ => String::new(),
    };
    let about = format!("{} ({})", workload.by, workload.id);
    let lead = [about, workload.place.clone(), counted(history.runs, "run"), span];
    let lead: Vec<String> = lead.into_iter().filter(|p| !p.is_empty() && p != " to ").collect();
    let mut out = Document::new(format!("History of {}", workload.name), lead.join(" · "));
    if let Some(gate) = gate {
        let tone = if gate.outcome == Outcome::Passed { Tone::Note } else { Tone::Trouble };
        out.text(tone, gate.sentence.as_str());
    }
    out.list(history.notices.clone());
    let (changed, calm): (Vec<&Series>, Vec<&Series>) =
        history.series.iter().partition(|s| !s.changes.is_empty());
    let ordered: Vec<&Series> = changed.into_iter().chain(calm).collect();
    out.tiles(ordered.iter().take(MOST_TILES).filter_map(|s| tile(s)).collect());
    ordered.into_iter().for_each(|series| one(&mut out, series));
    out
}

/// The current level of a figure, and since when.
fn tile(series: &Series) -> Option<Tile> {
    let now = series.segments.last()?;
    let spelled = |value: f64| spelled(value, &series.unit);
    let beside = match series.segments.as_slice() {
        [.., before, _] => {
            let since = moment(&series.points[now.first].run.started_at);
            format!("median since {since}, {} before", spelled(before.median))
        }
        _ if series.needed.is_some() => {
            format!("median of {}, too few to find a change", counted(now.runs, "run"))
        }
        _ => format!("median of {}, no change found", counted(now.runs, "run")),
    };
    Some(Tile { figure: spelled(now.median), what: series.title(), beside })
}

fn one(out: &mut Document, series: &Series) {
    out.heading(2, series.title());
    out.text(Tone::Plain, series.sentence.as_str());
    if let Some(picture) = picture(series) {
        out.picture(picture, CAPTION, drawing(series, WIDTH));
    }
    for (number, change) in series.changes.iter().enumerate() {
        out.text(Tone::Plain, format!("Change {}: {}", number + 1, change.sentence));
        differences(out, change);
    }
    if series.segments.len() > 1 {
        out.table(levels(series));
    }
    environment(out, series);
    if let Some(overview) = &series.overview {
        out.text(Tone::Note, overview_words(series, overview));
    }
    out.details(counted(series.points.len(), "run"), |out| out.table(runs(series)));
}

fn differences(out: &mut Document, change: &Change) {
    if change.differs.is_empty() {
        let (old, new) = (&change.last_old.id, &change.first_new_run.id);
        out.text(Tone::Note, format!("Between {old} and {new} nothing recorded changed."));
    }
    let mut table = Table::new("What differs across it", &["Name", "Before", "After"]);
    for Difference { name, a, b, .. } in &change.differs {
        table.words([name, a, b]);
    }
    out.table(table);
    let nearby = change
        .nearby
        .iter()
        .map(|a| format!("One run from there ({}): {}: {} -> {}", a.run.id, a.what.name, a.what.a, a.what.b));
    out.list(nearby.collect());
}

fn levels(series: &Series) -> Table {
    let mut table = Table::new("Levels", &["From run", "Runs", "Median", "Scatter of single runs"]);
    let row = |segment: &Segment| {
        let run = &series.points[segment.first].run;
        vec![
            Cell::words(run_words(run)),
            Cell::figure(segment.runs.to_string()).of(Some(segment.runs as f64), ""),
            Cell::figure(spelled(segment.median, &series.unit)).of(Some(segment.median), &series.unit),
            Cell::figure(noise_words(segment.noise)).of(segment.noise.map(|noise| noise * 100.0), "%"),
        ]
    };
    table.rows = series.segments.iter().map(row).collect();
    table
}

fn environment(out: &mut Document, series: &Series) {
    let caption = "Changes of the environment without a change of the figure";
    let mut table = Table::new(caption, &["From run", "Name", "Before", "After"]);
    for change in &series.environment {
        table.words([&run_words(&change.run), &change.what.name, &change.what.a, &change.what.b]);
    }
    out.details(format!("{caption} ({})", table.rows.len()), |out| out.table(table));
    if !series.restless.is_empty() {
        let each: Vec<String> =
            series.restless.iter().map(|r| format!("{} ({} times)", r.name, r.changes)).collect();
        out.text(Tone::Note, format!("Changes too often to be listed: {}.", each.join(", ")));
    }
}

/// The newest run first.
fn runs(series: &Series) -> Table {
    let mut table = Table::new("Runs", &["Run", "Began", "Label", "Value", "Level", "Note"]);
    table.most_shown = Some(MOST_RUNS);
    let row = |point: &HistoryPoint| {
        let level = point.segment + 1;
        vec![
            Cell::words(point.run.id.as_str()),
            Cell::figure(moment(&point.run.started_at)),
            Cell::words(point.run.label.as_str()),
            Cell::figure(spelled(point.value, &series.unit)).of(Some(point.value), &series.unit),
            Cell::figure(level.to_string()).of(Some(level as f64), ""),
            Cell::words(if point.outlier { "far from the others of its level" } else { "" }),
        ]
    };
    table.rows = series.points.iter().rev().map(row).collect();
    table
}
