//! A history on the terminal: the workload and its runs, then by figure a picture, the summary, each change with its recorded
//! differences, and the levels. With many figures, only those that changed are shown in full.

use super::braille::drawing;
use super::words;
use super::{Apart, Change, History, Series};
use crate::compared::spelled;
use crate::printable::clean;
use crate::terminal::cut;
use crate::units::counted;
use std::fmt::Write as _;

/// Maximum number of figures shown in full; beyond that, only those with a change.
const MOST_IN_FULL: usize = 4;
/// Maximum number of differences per change, and of separate environment changes.
const MOST_DIFFERENCES: usize = 12;
const MOST_FAR: usize = 6;

/// The whole text, in lines of about `width` columns.
#[must_use]
pub fn text(history: &History, width: usize) -> String {
    let mut text = head(history);
    if history.series.is_empty() {
        let _ = writeln!(text, "\nNone of the runs has such a figure.");
    }
    let few = history.series.len() <= MOST_IN_FULL;
    let (in_full, calm): (Vec<&Series>, Vec<&Series>) =
        history.series.iter().partition(|s| few || !s.changes.is_empty());
    for series in in_full {
        let _ = writeln!(text, "\n{}", series.title());
        for line in drawing(series, width) {
            let _ = writeln!(text, "  {line}");
        }
        one(&mut text, series);
    }
    if !calm.is_empty() {
        text += &table(&calm);
    }
    if !history.notices.is_empty() {
        let _ = writeln!(text, "\nTo know:");
    }
    for notice in &history.notices {
        let _ = writeln!(text, "  {notice}");
    }
    text
}

fn head(history: &History) -> String {
    let workload = &history.workload;
    let mut text = format!("{} ({}), {}", clean(&workload.name), workload.id, workload.by);
    if !workload.place.is_empty() {
        let _ = write!(text, ", {}", clean(&workload.place));
    }
    let _ = write!(text, "\n{}", counted(history.runs, "run"));
    match (&history.first, &history.last) {
        (Some(first), Some(last)) if history.runs > 1 => {
            let _ = write!(text, ", {} to {}", words::run(first), words::run(last));
        }
        (Some(only), _) => {
            let _ = write!(text, ", {}", words::run(only));
        }
        _ => {}
    }
    text.push('\n');
    text
}

fn one(text: &mut String, series: &Series) {
    let _ = writeln!(text, "  {}", series.sentence);
    for (number, change) in series.changes.iter().enumerate() {
        of_change(text, number + 1, change);
    }
    if series.segments.len() > 1 {
        levels(text, series);
    }
    apart(text, "The environment changed, and no change was found there:", &series.environment);
    if !series.restless.is_empty() {
        let each: Vec<String> =
            series.restless.iter().map(|r| format!("{} ({} times)", clean(&r.name), r.changes)).collect();
        let _ = writeln!(text, "  Changes too often to be listed: {}.", each.join(", "));
    }
    let far: Vec<String> = series
        .points
        .iter()
        .filter(|p| p.outlier)
        .map(|p| format!("{} {}", p.run.id, spelled(p.value, &series.unit)))
        .collect();
    if !far.is_empty() {
        let more = far.len().saturating_sub(MOST_FAR);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        let first: Vec<String> = far.into_iter().take(MOST_FAR).collect();
        let _ = writeln!(text, "  Far from the others of their level, and kept: {}{rest}.", first.join(", "));
    }
    if let Some(overview) = &series.overview {
        let _ = writeln!(text, "  {}", overview_words(series, overview));
    }
}

pub(crate) fn overview_words(series: &Series, overview: &[usize]) -> String {
    let ids: Vec<&str> = overview.iter().map(|i| series.points[*i].run.id.as_str()).collect();
    let cuts = if ids.is_empty() { "nowhere".into() } else { format!("before {}", ids.join(", ")) };
    format!("PELT, the overview without a test, cuts {cuts}.")
}

fn of_change(text: &mut String, number: usize, change: &Change) {
    let _ = writeln!(text, "\n  ▲{number} {}", change.sentence);
    let _ = writeln!(
        text,
        "     between {} and {}:",
        words::run(&change.last_old),
        words::run(&change.first_new_run)
    );
    if change.differs.is_empty() {
        let _ = writeln!(text, "       nothing recorded changed");
    }
    for d in change.differs.iter().take(MOST_DIFFERENCES) {
        let _ = writeln!(text, "       {}: {} -> {}", clean(&d.name), short(&d.a), short(&d.b));
    }
    more(text, change.differs.len());
    if !change.nearby.is_empty() {
        let _ = writeln!(text, "     one run from there:");
        rows(text, &change.nearby);
    }
}

fn levels(text: &mut String, series: &Series) {
    text.push('\n');
    for segment in &series.segments {
        let first = &series.points[segment.first].run;
        let _ = writeln!(
            text,
            "  {:>12} over {}, scatter {}, from {}",
            spelled(segment.median, &series.unit),
            counted(segment.runs, "run"),
            words_of_noise(segment.noise),
            words::run(first),
        );
    }
}

fn words_of_noise(noise: Option<f64>) -> String {
    if noise.is_none() { "not known".into() } else { words::noise_words(noise) }
}

fn apart(text: &mut String, head: &str, all: &[Apart]) {
    if all.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n  {head}");
    rows(text, all);
}

fn rows(text: &mut String, all: &[Apart]) {
    for a in all.iter().take(MOST_DIFFERENCES) {
        let _ = writeln!(
            text,
            "       {}: {} -> {}, from {} on",
            clean(&a.what.name),
            short(&a.what.a),
            short(&a.what.b),
            words::run(&a.run)
        );
    }
    more(text, all.len());
}

fn more(text: &mut String, all: usize) {
    if all > MOST_DIFFERENCES {
        let _ = writeln!(text, "       and {} more; --json has them all", all - MOST_DIFFERENCES);
    }
}

/// Shortens a value of the environment; some are lists of a hundred words.
fn short(value: &str) -> String {
    cut(&clean(value), 60)
}

/// Figures without a change, one line each.
fn table(calm: &[&Series]) -> String {
    let mut text = format!("\n{} without a change found:\n", counted(calm.len(), "figure"));
    for series in calm {
        let (level, noise) =
            series.segments.last().map_or(("-".into(), None), |s| (spelled(s.median, &series.unit), s.noise));
        let short = if series.needed.is_some() { ", too few runs" } else { "" };
        let _ = writeln!(
            text,
            "  {level:>12}  scatter {:>6}  {:>9}{short}  {}",
            words::noise_words(noise),
            counted(series.points.len(), "run"),
            series.title(),
        );
    }
    text
}
