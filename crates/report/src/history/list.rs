//! The list of histories: a line for every workload of the store, with its number of runs, its span and its latest figure.

use super::words::moment;
use crate::compared::{RunInfo, spelled};
use crate::printable::clean;
use crate::units::counted;
use serde::Serialize;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// A workload in the list.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Listed {
    /// The workload.
    #[serde(flatten)]
    pub workload: super::Workload,
    /// Number of runs that count.
    pub runs: usize,
    /// Number of runs that did not end well, or were warm-up or noise of a comparison.
    pub left_out: usize,
    /// The first run that counts.
    pub first: Option<RunInfo>,
    /// The last run that counts.
    pub last: Option<RunInfo>,
    /// A figure of the last run.
    pub latest: Option<LatestFigure>,
}

/// A figure of the last run.
#[derive(Clone, Debug, Serialize)]
pub struct LatestFigure {
    /// Cell and figure.
    pub figure: String,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// Number of further headline figures of the run.
    pub further: usize,
}

/// The list, one line each. A store may have very many workloads, so only their lines are kept until all widths are known.
#[derive(Clone, Debug)]
pub struct ListLines {
    rows: Vec<ListLine>,
    widths: [usize; 5],
    left_out: usize,
}

/// The concatenated cells of a line, and the ends of the first five.
#[derive(Clone, Debug)]
struct ListLine {
    text: Box<str>,
    ends: [u32; 5],
}

impl Default for ListLines {
    fn default() -> Self {
        let mut rows = Self { rows: Vec::new(), widths: [0; 5], left_out: 0 };
        rows.enter(["id", "runs", "from", "to", "latest", "workload"].map(String::from));
        rows
    }
}

impl ListLines {
    /// Adds a workload.
    pub fn push(&mut self, l: &Listed) {
        let day = |run: &Option<RunInfo>| run.as_ref().map_or("-".into(), |r| or_dash(moment(&r.started_at)));
        let latest = l.latest.as_ref().map_or("-".into(), |f| spelled(f.value, &f.unit));
        let runs = if l.left_out > 0 { format!("{} (+{})", l.runs, l.left_out) } else { l.runs.to_string() };
        self.left_out += l.left_out;
        self.enter([l.workload.id.clone(), runs, day(&l.first), day(&l.last), latest, name(&l.workload)]);
    }

    fn enter(&mut self, cells: [String; 6]) {
        let mut end = 0;
        let ends = std::array::from_fn(|i| {
            self.widths[i] = self.widths[i].max(cells[i].width());
            end += cells[i].len();
            u32::try_from(end).unwrap_or(u32::MAX)
        });
        self.rows.push(ListLine { text: cells.concat().into(), ends });
    }

    /// The text, line by line.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let note = (self.left_out > 0).then(|| {
            format!(
                "(+n): {} that did not end well, or were warm-up or noise of a comparison: histories leave them out\n",
                counted(self.left_out, "run")
            )
        });
        self.rows.iter().map(|row| self.line(row)).chain(note)
    }

    fn line(&self, row: &ListLine) -> String {
        let mut line = String::new();
        let mut rest: &str = &row.text;
        let mut from = 0;
        for (i, (end, width)) in row.ends.iter().zip(self.widths).enumerate() {
            let (cell, behind) = rest.split_at((*end - from) as usize);
            (rest, from) = (behind, *end);
            let fill = " ".repeat(width - cell.width());
            let right = i == 1 || i == 4;
            let _ = if right { write!(line, "{fill}{cell}  ") } else { write!(line, "{cell}{fill}  ") };
        }
        line + rest + "\n"
    }
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "-".into() } else { text }
}

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
