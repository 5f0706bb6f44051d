//! The page of a history: the result, each figure drawn through its runs, every change with its recorded differences, the
//! levels, environment changes without effect, and the runs.

use super::{
    HtmlPage,
    table::{HtmlTable, folded, heads},
    tiles,
};
use crate::answer::Tile;
use crate::compared::{Difference, Outcome, spelled};
use crate::history::{History, HistoryGate, Series, counted, moment, noise_words, overview_words, picture};
use crate::svg::escape;
use std::fmt::Write as _;

/// Maximum number of runs in a table, the newest; no browser copes with ten thousand rows.
const MOST_RUNS: usize = 500;

const MOST_TILES: usize = 8;

/// The page of one history, with the gate's decision if given.
#[must_use]
pub fn page(history: &History, gate: Option<&HistoryGate>) -> String {
    let mut page = HtmlPage::default();
    if let Some(gate) = gate {
        let class = if gate.outcome == Outcome::Passed { "note" } else { "trouble" };
        let _ = writeln!(page.body, "<p class=\"{class}\">{}</p>", escape(&gate.sentence));
    }
    list(&mut page, &history.notices);
    // Changed figures come first.
    let (changed, calm): (Vec<&Series>, Vec<&Series>) =
        history.series.iter().partition(|s| !s.changes.is_empty());
    let ordered: Vec<&Series> = changed.into_iter().chain(calm).collect();
    tiles::write(&mut page, &ordered.iter().take(MOST_TILES).filter_map(|s| tile(s)).collect::<Vec<_>>());
    for series in ordered {
        one(&mut page, series);
    }
    let workload = &history.workload;
    let span = match (&history.first, &history.last) {
        (Some(first), Some(last)) => format!("{} to {}", moment(&first.started_at), moment(&last.started_at)),
        _ => String::new(),
    };
    let parts = [workload.by.clone(), workload.place.clone(), counted(history.runs, "run"), span];
    let lead: Vec<String> = parts.into_iter().filter(|p| !p.is_empty() && p != " to ").collect();
    page.close(&format!("History of {}", workload.name), &lead.join(" · "))
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

fn one(page: &mut HtmlPage, series: &Series) {
    page.heading(2, &series.title());
    let _ = writeln!(page.body, "<p>{}</p>", escape(&series.sentence));
    if let Some(picture) = picture(series) {
        let caption = "Runs in the order they were made, a dot each (of very many, a line from the least to the largest of a few); \
                       heavy rules are the medians of the levels, broken lines the changes.";
        page.body.push_str("<div class=\"wide\">");
        page.picture(&picture, caption);
        page.body.push_str("</div>\n");
    }
    for (number, change) in series.changes.iter().enumerate() {
        let _ = writeln!(page.body, "<p><strong>{}.</strong> {}</p>", number + 1, escape(&change.sentence));
        if change.differs.is_empty() {
            let _ = writeln!(
                page.body,
                "<p class=\"note\">Between {} and {} nothing recorded changed.</p>",
                escape(&change.last_old.id),
                escape(&change.first_new_run.id)
            );
        } else {
            differences(page, "What differs across it", &change.differs);
        }
        let nearby: Vec<String> = change
            .nearby
            .iter()
            .map(|a| {
                format!("One run from there ({}): {}: {} -> {}", a.run.id, a.what.name, a.what.a, a.what.b)
            })
            .collect();
        list(page, &nearby);
    }
    levels(page, series);
    environment(page, series);
    if let Some(overview) = &series.overview {
        let words = overview_words(series, overview);
        let _ = writeln!(page.body, "<p class=\"note\">{}</p>", escape(&words));
    }
    runs(page, series);
}

fn list(page: &mut HtmlPage, items: &[String]) {
    if items.is_empty() {
        return;
    }
    page.body.push_str("<ul class=\"note\">\n");
    for item in items {
        let _ = writeln!(page.body, "<li>{}</li>", escape(item));
    }
    page.body.push_str("</ul>\n");
}

fn text(words: &str) -> String {
    format!("<span class=\"text\">{}</span>", escape(words))
}

fn differences(page: &mut HtmlPage, caption: &str, all: &[Difference]) {
    let mut table = HtmlTable::new(caption, &heads(&["Name", "Before", "After"]));
    for d in all {
        table.row(&d.name, &[text(&d.a), text(&d.b)]);
    }
    page.body.push_str(&table.finish());
}

fn levels(page: &mut HtmlPage, series: &Series) {
    if series.segments.len() < 2 {
        return;
    }
    let names = heads(&["From run", "Began", "Runs", "Median", "Scatter of single runs"]);
    let mut table = HtmlTable::new("Levels", &names);
    for segment in &series.segments {
        let run = &series.points[segment.first].run;
        let cells = [
            escape(&moment(&run.started_at)),
            segment.runs.to_string(),
            escape(&spelled(segment.median, &series.unit)),
            noise_words(segment.noise),
        ];
        table.row(&run.id, &cells);
    }
    page.body.push_str(&table.finish());
}

fn environment(page: &mut HtmlPage, series: &Series) {
    if !series.environment.is_empty() {
        let names = heads(&["From run", "Name", "Before", "After"]);
        let mut table = HtmlTable::new("Changes of the environment without a change of the figure", &names);
        for a in &series.environment {
            table.row(&a.run.id, &[text(&a.what.name), text(&a.what.a), text(&a.what.b)]);
        }
        let summary = format!(
            "Changes of the environment without a change of the figure ({})",
            series.environment.len()
        );
        page.body.push_str(&folded(&summary, &table.finish()));
    }
    if !series.restless.is_empty() {
        let each: Vec<String> =
            series.restless.iter().map(|r| format!("{} ({} times)", r.name, r.changes)).collect();
        let _ = writeln!(
            page.body,
            "<p class=\"note\">Changes too often to be listed: {}.</p>",
            escape(&each.join(", "))
        );
    }
}

fn runs(page: &mut HtmlPage, series: &Series) {
    let names = heads(&["Run", "Began", "Label", "Value", "Level", "Note"]);
    let mut table = HtmlTable::new("Runs", &names);
    for point in series.points.iter().rev().take(MOST_RUNS) {
        let note = if point.outlier { "far from the others of its level" } else { "" };
        let cells = [
            escape(&moment(&point.run.started_at)),
            text(&point.run.label),
            escape(&spelled(point.value, &series.unit)),
            (point.segment + 1).to_string(),
            note.to_owned(),
        ];
        table.row(&point.run.id, &cells);
    }
    let n = series.points.len();
    let newest = if n > MOST_RUNS {
        format!(", of which the newest {MOST_RUNS} are here; --output FILE.csv has all")
    } else {
        String::new()
    };
    page.body.push_str(&folded(&format!("{}{newest}", counted(n, "run")), &table.finish()));
}
