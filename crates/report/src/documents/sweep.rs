//! A sweep as a document: what may be concluded, a table for each phase with better cells darker, a map for two settings, every
//! run as a dot, the settings as read back, and the order in which everything ran.

use crate::document::{Cell, Document, Table, Tone};
use crate::sweep::{
    Sweep, SweepTable, caption, cell_words, columns, map_picture, rows, runs_picture, tables,
};
use crate::units;

/// Maximum number of runs shown; no browser copes with ten thousand rows.
const MOST_RUNS: usize = 500;

/// The document.
#[must_use]
pub fn document(sweep: &Sweep) -> Document {
    let lead = format!("{} · {} · sweep {}", sweep.directory, sweep.started_at, sweep.id);
    let mut out = Document::new(format!("Sweep: {}", sweep.workload), lead);
    if let Some(why) = &sweep.ended_early {
        let planned: usize = sweep.order.iter().map(Vec::len).sum();
        out.text(Tone::Trouble, format!("Ended early after {} of {planned} runs: {why}.", sweep.runs.len()));
    }
    out.text(Tone::Note, sweep.verdict());
    for (number, table) in tables(sweep).into_iter().enumerate() {
        out.heading(2, table.phase.as_str());
        out.table(grid(sweep, &table));
        if let Some(unlike) = table.unlike() {
            out.text(Tone::Trouble, unlike);
        }
        out.details(format!("The same as a list, in {}", table.unit), |out| out.table(cells(sweep, &table)));
        if let Some(map) = map_picture(sweep, &table, number) {
            out.picture(map, "", Vec::new());
        }
        if let Some(picture) = runs_picture(sweep, &table, number) {
            out.picture(
                picture,
                "A dot is a run, the line its cell's range, the bar the median.",
                Vec::new(),
            );
        }
        out.table(against(sweep, &table));
    }
    out.heading(2, "How it was measured");
    for note in &sweep.notes {
        out.text(Tone::Plain, note.as_str());
    }
    out.table(varied(sweep));
    out.table(read_back(sweep));
    let how = format!(
        "Blocks of two rounds, every cell twice in random order (seed {}): any two cells make random quads.",
        sweep.seed
    );
    out.text(Tone::Note, how);
    out.details("All runs in the order they were made in", |out| out.table(order(sweep)));
    out
}

fn grid(sweep: &Sweep, table: &SweepTable) -> Table {
    let mut grid = Table::new(caption(sweep, table), &["settings"]);
    grid.heads.extend(columns(sweep, table));
    let cell = |c: Option<usize>| Cell {
        shade: c.and_then(|c| goodness(table, c)).unwrap_or(0.0),
        ..Cell::figure(cell_words(table, c)).strong_if(c.is_some() && c == table.best)
    };
    for (head, cells) in rows(sweep) {
        grid.rows.push(std::iter::once(Cell::words(head)).chain(cells.into_iter().map(cell)).collect());
    }
    grid
}

/// A row for each cell that was measured.
fn cells(sweep: &Sweep, table: &SweepTable) -> Table {
    let heads = ["settings", "median", "lowest", "highest", "runs", "served by"];
    let mut out = Table::new(format!("Cells, in {}", table.unit), &heads);
    for (cell, summary) in table.cells.iter().enumerate() {
        let Some(s) = summary else { continue };
        let figure = |value: f64| Cell::figure(SweepTable::number(value)).of(Some(value), "");
        out.rows.push(vec![
            Cell::words(sweep.settings(cell, false)),
            figure(s.median).strong_if(table.best == Some(cell)),
            figure(s.min),
            figure(s.max),
            Cell::figure(s.n.to_string()).of(Some(s.n as f64), ""),
            Cell::words(table.served_by.get(cell).map_or("", String::as_str)),
        ]);
    }
    out
}

/// 1 for the best median, 0 for the worst.
fn goodness(table: &SweepTable, cell: usize) -> Option<f64> {
    let medians = || table.cells.iter().flatten().map(|s| s.median);
    let (low, high) = (medians().reduce(f64::min)?, medians().reduce(f64::max)?);
    let here = table.cells.get(cell)?.as_ref()?.median;
    if high <= low {
        return Some(0.0);
    }
    let share = (here - low) / (high - low);
    Some(if table.lower_is_better { 1.0 - share } else { share })
}

fn against(sweep: &Sweep, table: &SweepTable) -> Table {
    let Some(baseline) = sweep.baseline() else { return Table::default() };
    let why = if sweep.baseline_is_as_before() { "as it was before the sweep" } else { "the first setting" };
    let caption = format!("Against {} ({why})", sweep.settings(baseline, false));
    let mut out = Table::new(caption, &["settings", "ratio of medians", "ranges"]);
    for cell in (0..sweep.cells.len()).filter(|cell| *cell != baseline) {
        let Some((ratio, ranges)) = table.against(cell, baseline) else { continue };
        out.rows.push(vec![
            Cell::words(sweep.settings(cell, false)),
            Cell::figure(units::ratio(ratio)).of(Some(ratio), ""),
            Cell::words(ranges),
        ]);
    }
    out
}

fn varied(sweep: &Sweep) -> Table {
    let mut out = Table::new("What was varied", &["setting", "values", "before the sweep"]);
    for factor in &sweep.factors {
        let before = factor.before.as_deref().unwrap_or("-");
        out.words([factor.name.as_str(), &factor.values.join(", "), before]);
    }
    out
}

fn read_back(sweep: &Sweep) -> Table {
    let heads = ["cell", "knob", "of", "asked", "read back"];
    let mut out = Table::new("What the kernel said the settings were", &heads);
    for (number, cell) in sweep.cells.iter().enumerate() {
        let settings = sweep.settings(number, false);
        for knob in &cell.found {
            out.words([&settings, &knob.knob, &knob.device, &knob.asked, &knob.found].map(String::as_str));
        }
        if let Some(why) = &cell.left_out {
            out.words([settings.as_str(), &format!("left out: {why}"), "", "", ""]);
        }
    }
    out
}

fn order(sweep: &Sweep) -> Table {
    let mut out = Table::new("Runs in order", &["run", "block", "settings", "stored as"]);
    out.most_shown = Some(MOST_RUNS);
    for (number, run) in sweep.runs.iter().enumerate() {
        let block = run.block + 1;
        out.rows.push(vec![
            Cell::words((number + 1).to_string()),
            Cell::figure(block.to_string()).of(Some(block as f64), ""),
            Cell::words(sweep.settings(run.cell, false)),
            Cell::words(run.runs.join(" ")),
        ]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::samples::sweep;
    use crate::{html, markdown, xlsx};

    #[test]
    fn the_page_stands_alone_and_user_words_stay_words() {
        let html = html::document(&document(&sweep()));
        for forbidden in ["http://", "https://", "src=", "@import", "url(", "<mix>"] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
        assert!(html.contains("random &lt;mix&gt;"));
        assert_eq!(html.matches("<table").count(), html.matches("<caption").count());
        assert_eq!(html.matches("<circle class=\"fa\"").count(), 12, "every run is a dot");
        assert_eq!(html.matches("<td style").count(), 3, "the worst is not shaded");
        assert_eq!(html.matches("%,transparent)\"><strong>86.50").count(), 1, "the best stands out");
        assert!(html.contains("3 rounds are too few"));
    }

    #[test]
    fn as_markdown() {
        insta::assert_snapshot!(markdown::document(&document(&sweep())));
    }

    #[test]
    fn as_a_workbook() {
        assert!(xlsx::document(&document(&sweep())).is_ok());
    }

    #[test]
    fn a_sweep_without_runs_has_a_page() {
        let mut sweep = sweep();
        sweep.runs.clear();
        sweep.ended_early = Some("a <signal>".into());
        let html = html::document(&document(&sweep));
        assert!(html.contains("Ended early after 0 of 12 runs: a &lt;signal&gt;."));
        assert!(html.contains("Nothing was measured."));
    }
}
