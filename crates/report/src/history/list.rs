//! Which histories there are: a line for every workload of the store, with its number of runs, its span and its latest figure.

use super::words::{counted, moment};
use crate::compared::{RunTold, spelled};
use crate::story::clean;
use serde::Serialize;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// A workload of the list.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Listed {
    /// Which it is.
    #[serde(flatten)]
    pub workload: super::Workload,
    /// Runs that count.
    pub runs: usize,
    /// Runs that did not end well, or were warm-up or noise of a comparison.
    pub left_out: usize,
    /// The first that counts.
    pub first: Option<RunTold>,
    /// The last that counts.
    pub last: Option<RunTold>,
    /// The figure of the last run: which, and its value and unit.
    pub latest: Option<Latest>,
}

/// A figure of the last run.
#[derive(Clone, Debug, Serialize)]
pub struct Latest {
    /// Cell and figure.
    pub figure: String,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// How many further figures that cells are quoted by the run has.
    pub further: usize,
}

/// The list, a line each.
#[must_use]
pub fn list(all: &[Listed]) -> String {
    let heads = ["id", "runs", "from", "to", "latest", "workload"].map(String::from);
    let row = |l: &Listed| {
        let day = |run: &Option<RunTold>| run.as_ref().map_or("-".into(), |r| or_dash(moment(&r.started_at)));
        let latest = l.latest.as_ref().map_or("-".into(), |f| spelled(f.value, &f.unit));
        let runs = if l.left_out > 0 { format!("{} (+{})", l.runs, l.left_out) } else { l.runs.to_string() };
        [l.workload.id.clone(), runs, day(&l.first), day(&l.last), latest, name(&l.workload)]
    };
    let rows: Vec<[String; 6]> = std::iter::once(heads).chain(all.iter().map(row)).collect();
    let widths: [usize; 6] = std::array::from_fn(|i| rows.iter().map(|r| r[i].width()).max().unwrap_or(0));
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (i, (cell, width)) in row[..5].iter().zip(widths).enumerate() {
            let fill = " ".repeat(width - cell.width());
            let right = i == 1 || i == 4;
            let _ = if right { write!(line, "{fill}{cell}  ") } else { write!(line, "{cell}{fill}  ") };
        }
        let _ = writeln!(text, "{line}{}", row[5]);
    }
    let left_out: usize = all.iter().map(|l| l.left_out).sum();
    if left_out > 0 {
        let _ = writeln!(
            text,
            "(+n): {} that did not end well, or were warm-up or noise of a comparison: histories leave them out",
            counted(left_out, "run")
        );
    }
    text
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "-".into() } else { text }
}

/// Name, program and place.
fn name(workload: &super::Workload) -> String {
    let mut words = clean(&workload.name);
    if !workload.name.starts_with(&workload.by) {
        words += &format!(" ({})", workload.by);
    }
    if !workload.place.is_empty() {
        words += &format!(", {}", workload.place);
    }
    words
}
