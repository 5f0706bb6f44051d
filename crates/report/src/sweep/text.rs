//! A sweep on the terminal: a table for each phase, its cells compared with the first or current setting, and the conclusions.

use super::{Factor, Sweep, SweepTable, map, tables};
use crate::units;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// The whole text.
#[must_use]
pub fn summary(sweep: &Sweep) -> String {
    let mut text = format!("sweep {}: {}\n", sweep.id, sweep.workload);
    let fixed: Vec<String> = sweep
        .factors
        .iter()
        .enumerate()
        .filter(|(_, f)| f.values.len() == 1)
        .map(|(i, _)| sweep.setting(i, 0))
        .collect();
    if !fixed.is_empty() {
        let _ = writeln!(text, "with {}", fixed.join(", "));
    }
    let all = tables(sweep);
    for table in &all {
        text.push('\n');
        text += &grid(sweep, table);
        text += &map::text(sweep, table);
        text += &against(sweep, table);
    }
    for cell in &sweep.cells {
        if let Some(why) = &cell.left_out {
            let _ = writeln!(text, "\nleft out: {why}");
        }
    }
    for note in &sweep.notes {
        let _ = writeln!(text, "\n{note}");
    }
    if let Some(why) = &sweep.ended_early {
        let planned: usize = sweep.order.iter().map(Vec::len).sum();
        let _ = writeln!(text, "\nEnded early after {} of {planned} runs: {why}.", sweep.runs.len());
    }
    let _ = writeln!(text, "\n{}", sweep.verdict());
    text
}

/// Index of the factor whose values are the columns: the last one with several values, if another has several too.
pub(super) fn column_factor(sweep: &Sweep) -> Option<usize> {
    let varied: Vec<usize> =
        (0..sweep.factors.len()).filter(|&i| sweep.factors[i].values.len() > 1).collect();
    if varied.len() > 1 { varied.last().copied() } else { None }
}

pub(crate) fn caption(sweep: &Sweep, table: &SweepTable) -> String {
    let direction = if table.lower_is_better { "lower is better" } else { "higher is better" };
    let runs = match table.common_count() {
        Some(1) => "single runs".to_string(),
        Some(n) => format!("median of {n} runs (lowest..highest)"),
        None => "medians (lowest..highest), n runs".to_string(),
    };
    format!("{}: {}, {}; {runs}; {direction}", table.phase, sweep.figure.words(), table.unit)
}

/// Rows of cells: the head and, for each column, the cell's index.
pub(crate) fn rows(sweep: &Sweep) -> Vec<(String, Vec<Option<usize>>)> {
    let column = column_factor(sweep);
    let columns = column.map_or(1, |c| sweep.factors[c].values.len());
    let mut rows: Vec<(Vec<usize>, Vec<Option<usize>>)> = Vec::new();
    for (number, cell) in sweep.cells.iter().enumerate() {
        let key: Vec<usize> =
            cell.levels.iter().enumerate().filter(|(i, _)| Some(*i) != column).map(|(_, l)| *l).collect();
        let at = rows.iter().position(|r| r.0 == key).unwrap_or_else(|| {
            rows.push((key, vec![None; columns]));
            rows.len() - 1
        });
        let place = column.and_then(|c| cell.levels.get(c).copied()).unwrap_or(0);
        if let Some(slot) = rows[at].1.get_mut(place) {
            *slot = Some(number);
        }
    }
    let heads = |key: &[usize]| {
        let factors: Vec<(usize, &Factor)> =
            sweep.factors.iter().enumerate().filter(|(i, _)| Some(*i) != column).collect();
        let words: Vec<String> = factors
            .iter()
            .zip(key)
            .filter(|((_, f), _)| f.values.len() > 1)
            .map(|((i, _), l)| sweep.setting(*i, *l))
            .collect();
        if words.is_empty() { "as it is".to_string() } else { words.join(", ") }
    };
    rows.into_iter().map(|(key, cells)| (heads(&key), cells)).collect()
}

pub(crate) fn columns(sweep: &Sweep, table: &SweepTable) -> Vec<String> {
    match column_factor(sweep) {
        Some(c) => (0..sweep.factors[c].values.len()).map(|level| sweep.setting(c, level)).collect(),
        None => vec![table.unit.to_string()],
    }
}

/// A cell in words: the median with its range, the number of runs if they differ, a star for the best, and its source.
pub(crate) fn cell_words(table: &SweepTable, cell: Option<usize>) -> String {
    let Some((cell, words)) = cell.and_then(|c| Some((c, table.words(c)?))) else { return "-".into() };
    let star = if table.best == Some(cell) { " *" } else { "" };
    let count = match (table.common_count(), &table.cells[cell]) {
        (None, Some(s)) => format!(" n={}", s.n),
        _ => String::new(),
    };
    let by = table.served_by.get(cell).filter(|by| !by.is_empty());
    let by = by.map_or(String::new(), |by| format!(" [{by}]"));
    format!("{words}{count}{star}{by}")
}

fn grid(sweep: &Sweep, table: &SweepTable) -> String {
    let mut lines: Vec<Vec<String>> =
        vec![std::iter::once(String::new()).chain(columns(sweep, table)).collect()];
    for (head, cells) in rows(sweep) {
        lines.push(std::iter::once(head).chain(cells.into_iter().map(|c| cell_words(table, c))).collect());
    }
    let width =
        |column: usize| lines.iter().filter_map(|l| l.get(column)).map(|w| w.width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut text = caption(sweep, table) + "\n";
    for line in &lines {
        let mut row = String::new();
        for (word, width) in line.iter().zip(&widths) {
            let _ = write!(row, "{word}{}  ", " ".repeat(width - word.width()));
        }
        text += row.trim_end();
        text.push('\n');
    }
    if table.best.is_some() {
        text += "* best median\n";
    }
    if table.served_by.iter().any(|by| !by.is_empty()) {
        text += "[what served it]\n";
    }
    if let Some(unlike) = table.unlike() {
        let _ = writeln!(text, "! {unlike}");
    }
    text
}

/// Ratios to the baseline cell, from the best to the worst.
fn against(sweep: &Sweep, table: &SweepTable) -> String {
    let Some(baseline) = sweep.baseline() else { return String::new() };
    let mut others: Vec<(usize, f64, String)> = (0..sweep.cells.len())
        .filter(|c| *c != baseline)
        .filter_map(|c| table.against(c, baseline).map(|(ratio, ranges)| (c, ratio, ranges)))
        .collect();
    if others.is_empty() {
        return String::new();
    }
    others.sort_by(|a, b| if table.lower_is_better { a.1.total_cmp(&b.1) } else { b.1.total_cmp(&a.1) });
    let why = if sweep.baseline_is_as_before() { "as it was before the sweep" } else { "the first setting" };
    let mut text = format!("\nagainst {} ({why}):\n", sweep.settings(baseline, false));
    let widest = others.iter().map(|o| sweep.settings(o.0, false).width()).max().unwrap_or(0);
    for (cell, ratio, ranges) in others {
        let settings = sweep.settings(cell, false);
        let pad = " ".repeat(widest - settings.width());
        let _ = writeln!(text, "  {settings}{pad}  {:>6}  {ranges}", units::ratio(ratio));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::samples::sweep;
    use super::*;

    #[test]
    fn the_table_has_the_form_of_2004() {
        let text = summary(&sweep());
        insta::assert_snapshot!(text);
    }

    #[test]
    fn one_factor_is_a_column_and_a_missing_cell_a_dash() {
        let mut sweep = sweep();
        sweep.factors[1].values.truncate(1);
        sweep.cells.retain(|c| c.levels[1] == 0);
        sweep.runs.retain(|r| r.cell < 1);
        sweep.order = vec![vec![0, 1, 1, 0]];
        sweep.ended_early = Some("a signal".into());
        let text = summary(&sweep);
        assert!(text.contains("with read_ahead_kb=0\n"), "{text}");
        assert!(text.contains("scheduler=kyber  -\n"), "{text}");
        assert!(text.contains("Ended early after 3 of 4 runs: a signal."), "{text}");
        assert!(!text.contains("best median"), "one cell is not the best of anything: {text}");
    }
}
