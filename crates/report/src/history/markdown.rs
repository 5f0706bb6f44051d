//! A history as Markdown, for an issue or a pull request: the text picture, the sentences, a table of levels, and what differs
//! at each change.

use super::braille::drawing;
use super::text::overview_words;
use super::words::{self, counted};
use super::{History, Series};
use crate::compared::spelled;
use crate::markdown::{escape, text_table};
use std::fmt::Write as _;

const WIDTH: usize = 76;
/// Maximum number of environment changes listed.
const MOST_APART: usize = 20;

/// The whole document.
#[must_use]
pub fn markdown(history: &History) -> String {
    let workload = &history.workload;
    let mut out = format!("## {}\n\n", escape(&workload.name));
    let place = if workload.place.is_empty() { String::new() } else { format!(", {}", workload.place) };
    let about = format!("{} ({}){place}; {}", workload.by, workload.id, counted(history.runs, "run"));
    let _ = writeln!(out, "{}\n", escape(&about));
    for series in &history.series {
        one(&mut out, series);
    }
    for notice in &history.notices {
        let _ = writeln!(out, "- {}", escape(notice));
    }
    out
}

fn one(out: &mut String, series: &Series) {
    let _ = writeln!(out, "### {}\n", escape(&series.title()));
    let lines = drawing(series, WIDTH);
    if !lines.is_empty() {
        let _ = writeln!(out, "```text\n{}\n```\n", lines.join("\n"));
    }
    let _ = writeln!(out, "{}\n", escape(&series.sentence));
    for (number, change) in series.changes.iter().enumerate() {
        let _ = writeln!(out, "**▲{}** {}\n", number + 1, escape(&change.sentence));
        if change.differs.is_empty() {
            let _ = writeln!(
                out,
                "Between {} and it nothing recorded changed.\n",
                escape(&words::run(&change.last_old))
            );
            continue;
        }
        let rows: Vec<Vec<String>> =
            change.differs.iter().map(|d| [&d.name, &d.a, &d.b].map(|t| escape(t)).to_vec()).collect();
        text_table(out, &["What differs", "before", "after"], &rows);
    }
    if series.segments.len() > 1 {
        let row = |s: &super::Segment| {
            vec![
                escape(&words::run(&series.points[s.first].run)),
                s.runs.to_string(),
                spelled(s.median, &series.unit),
                words::noise_words(s.noise),
            ]
        };
        let rows: Vec<Vec<String>> = series.segments.iter().map(row).collect();
        text_table(out, &["Level from", "runs", "median", "scatter of single runs"], &rows);
    }
    if !series.environment.is_empty() {
        let row = |a: &super::Apart| {
            [&words::run(&a.run), &a.what.name, &a.what.a, &a.what.b].map(|t| escape(t)).to_vec()
        };
        let rows: Vec<Vec<String>> = series.environment.iter().take(MOST_APART).map(row).collect();
        text_table(out, &["Without a change of the figure, from", "what", "before", "after"], &rows);
    }
    if let Some(overview) = &series.overview {
        let _ = writeln!(out, "{}\n", escape(&overview_words(series, overview)));
    }
}
