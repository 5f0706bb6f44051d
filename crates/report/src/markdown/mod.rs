//! Runs, or a comparison of sides (`compared`), as Markdown: `ticket` is the short form for an issue or a pull request, the
//! other modules have everything: what is disk and what is memory, the main figures, streams, latencies, how phases ran, trust,
//! warnings. User strings are escaped so that they can neither break a table nor become markup.

mod block;
mod compared;
mod conduct;
mod document;
mod imported;
mod operations;
mod ticket;

pub use compared::comparison;
pub use document::document;
pub use ticket::ticket;

use crate::{
    Comparison, Parallel, Story, Streams,
    comparison::SINGLE_RUNS,
    latency::{self, LatencyRow},
    parallel,
    printable::clean,
    surface::on_surfaces,
    units, writes,
};
use fathom_record::{Phase, Run};
use std::fmt::Write as _;

/// Maximum number of table rows before the rest is only counted: an issue is read, not searched.
const MOST_ROWS: usize = 48;

/// Sums up the runs; for exactly two, also the second relative to the first.
#[must_use]
pub fn summary(runs: &[&Run]) -> String {
    let mut out = String::new();
    if let [a, b] = runs {
        compared(&mut out, a, b);
    }
    if runs.len() > 1
        && let Some(parallel) = Parallel::of(runs)
    {
        side_by_side(&mut out, &parallel);
    }
    for run in runs {
        one(&mut out, run);
    }
    out
}

/// All arrangements of parallel streams of all runs in one table.
fn side_by_side(out: &mut String, parallel: &Parallel) {
    out.push_str("## Parallel streams\n\n");
    let mut heads = vec!["MB/s"];
    heads.extend(parallel.tests.iter().map(String::as_str));
    let cell = |c: &Option<(f64, crate::Kind)>| {
        c.map_or("–".to_string(), |(rate, kind)| format!("{} ({})", parallel::figure(rate), kind.words()))
    };
    let rows: Vec<Vec<String>> = parallel
        .rows
        .iter()
        .map(|r| std::iter::once(escape(&r.label)).chain(r.cells.iter().map(cell)).collect())
        .collect();
    table(out, &heads, &rows);
}

fn one(out: &mut String, run: &Run) {
    let story = Story::of(run);
    let _ = writeln!(out, "## {}\n", escape(&story.title));
    for trouble in &story.trouble {
        let _ = writeln!(out, "> **{}**\n", escape(trouble));
    }
    for verdict in &story.verdicts {
        let _ = writeln!(out, "- **{}**: {}", verdict.mark, escape(&verdict.sentence));
    }
    if !story.verdicts.is_empty() {
        out.push('\n');
    }
    figures(out, &story);
    streams(out, run);
    three_figures(out, run);
    imported::tables(out, run);
    operations::tables(out, run);
    latencies(out, run);
    block::reached(out, run);
    block::findings(out, run);
    conduct::conducts(out, run);
    conduct::trust_list(out, run);
    if !story.doubts.is_empty() {
        out.push_str("Reasons for doubt:\n\n");
        for doubt in &story.doubts {
            let more = if doubt.sentences.len() > 1 {
                format!(" (and {} more)", doubt.sentences.len() - 1)
            } else {
                String::new()
            };
            let first = doubt.sentences.first().map_or("", String::as_str);
            let _ = writeln!(out, "- **{}**: {}{more}", escape(&doubt.code), escape(first));
        }
        out.push('\n');
    }
    out.push_str("<details><summary>Where and how</summary>\n\n");
    let rows: Vec<Vec<String>> = story.facts.iter().map(|(t, w)| vec![(*t).to_string(), escape(w)]).collect();
    table(out, &["", ""], &rows);
    out.push_str("</details>\n\n");
}

fn figures(out: &mut String, story: &Story) {
    let kinds = story.kinds();
    let some_without_data = story.figures.iter().any(|f| f.ops.is_some());
    if kinds.is_empty() && !some_without_data {
        return;
    }
    let mut heads = vec![if story.figures.iter().all(|f| f.single) {
        "Throughput"
    } else {
        "Throughput (surfaces: largest file)"
    }];
    heads.extend(kinds.iter().map(|k| k.words()));
    heads.extend(some_without_data.then_some("no file data: operations"));
    let without = |figure: &crate::story::FigureRow| {
        some_without_data
            .then(|| figure.ops.as_ref().map_or("–".to_string(), |s| units::ops_rate(s.median)))
    };
    let cell = |figure: &crate::story::FigureRow, k| {
        figure
            .quoted
            .get(&k)
            .map_or("–".to_string(), |rate| format!("{} ({})", units::rate(*rate), k.words()))
    };
    let rows: Vec<Vec<String>> = story
        .figures
        .iter()
        .map(|f| {
            std::iter::once(escape(&f.title))
                .chain(kinds.iter().map(|k| cell(f, *k)))
                .chain(without(f))
                .collect()
        })
        .collect();
    table(out, &heads, &rows);
}

fn streams(out: &mut String, run: &Run) {
    let mut rows = Vec::new();
    for series in Streams::of_run(run) {
        for p in &series.points {
            let parent = match (p.parent_bytes_per_s, p.straggling()) {
                (Some(rate), Some(share)) => {
                    format!("{} (**{}**)", units::rate(rate), escape(&units::percent(share)))
                }
                (Some(rate), None) => units::rate(rate),
                (None, _) => "–".into(),
            };
            rows.push(vec![
                escape(&series.title),
                p.streams.to_string(),
                units::rate(p.children_bytes_per_s),
                parent,
                units::rate(p.min_bytes_per_s),
                units::rate(p.max_bytes_per_s),
                p.origin.words().to_string(),
            ]);
        }
    }
    if !rows.is_empty() {
        table(
            out,
            &["Test", "Streams", "Children's sum", "Parent", "Slowest", "Fastest", "Served by"],
            &rows,
        );
    }
}

/// Every write phase to its last write, to its fsync, to its close.
fn three_figures(out: &mut String, run: &Run) {
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let rows: Vec<Vec<String>> = writes::singles(&phases)
        .iter()
        .chain(&writes::of_surfaces(&phases))
        .map(|row| {
            let fsync = match row.to_fsync {
                writes::Synced::Rate(_) => format!("**{}**", row.to_fsync.words()),
                other => other.words(),
            };
            vec![escape(&row.title), units::rate(row.to_last), fsync, row.close_words()]
        })
        .collect();
    if !rows.is_empty() {
        table(out, &["Writes", "To the last write", "To the fsync", "To the close"], &rows);
    }
}

fn latencies(out: &mut String, run: &Run) {
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let all = latency::rows(&on_surfaces(&phases).1);
    let rows: Vec<Vec<String>> = all.iter().map(|r| latency_row(r, latency::paced(&all, r))).collect();
    if !rows.is_empty() {
        table(out, &["Latency", "Operation", "p50", "p90", "p99", "p99.9", "max", "Served by"], &rows);
    }
}

fn latency_row(row: &LatencyRow, paced: bool) -> Vec<String> {
    let mut cells = vec![escape(&row.title), row.part(paced).to_string()];
    cells.extend(row.values_ns().map(|ns| units::time_ns(ns as f64)));
    cells.push(row.origin.words().to_string());
    cells
}

fn compared(out: &mut String, a: &Run, b: &Run) {
    let Some(comparison) = Comparison::of(a, b) else { return };
    let _ = writeln!(out, "## {} divided by {}\n", escape(&Story::of(b).title), escape(&Story::of(a).title));
    out.push_str("Above 1 the second run is faster. Regimes are those of the first run.");
    let _ = writeln!(out, "{}\n", if comparison.single { format!(" {SINGLE_RUNS}") } else { String::new() });
    let rows: Vec<Vec<String>> = comparison
        .rows
        .iter()
        .map(|row| {
            let unlike = if row.unlike > 0 {
                format!(" (**{} served otherwise**)", row.unlike)
            } else {
                String::new()
            };
            vec![
                escape(&row.title),
                row.kind.words().to_string(),
                format!("{}{unlike}", row.ratios.n),
                units::ratio(row.ratios.median),
                format!("{} to {}", units::ratio(row.ratios.min), units::ratio(row.ratios.max)),
            ]
        })
        .collect();
    if !rows.is_empty() {
        table(out, &["Test", "Served by", "Cells", "Median ratio", "Range"], &rows);
    }
    operations::compared(out, &comparison);
}

/// A table with text in the first column and figures in the others.
fn table(out: &mut String, heads: &[&str], rows: &[Vec<String>]) {
    let _ = writeln!(out, "| {} |", heads.join(" | "));
    let _ = writeln!(out, "|---|{}", "---:|".repeat(heads.len() - 1));
    for row in rows.iter().take(MOST_ROWS) {
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out.push('\n');
    if rows.len() > MOST_ROWS {
        let _ = writeln!(out, "({} more rows are on the page.)\n", rows.len() - MOST_ROWS);
    }
}

pub(crate) fn text_table(out: &mut String, heads: &[&str], rows: &[Vec<String>]) {
    let _ = writeln!(out, "| {} |", heads.join(" | "));
    let _ = writeln!(out, "|{}", "---|".repeat(heads.len()));
    for row in rows {
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out.push('\n');
}

/// Escapes text: HTML, table bars, code marks and emphasis lose their meaning.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '|' | '`' | '*' | '_' | '\\' | '[' | ']' | '#' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn tables_keep_their_columns_whatever_the_names() {
        let text = summary(&[&samples::hostile_run()]);
        assert!(!text.contains("<b>") && !text.contains("</script>"), "{text}");
        let mut columns = 0;
        for line in text.lines() {
            if !line.starts_with('|') {
                columns = 0;
                continue;
            }
            let bars = line.replace("\\|", "").matches('|').count();
            assert!(columns == 0 || bars == columns, "{line}");
            columns = bars;
        }
    }

    #[test]
    fn two_runs_are_divided() {
        let text = summary(&[&samples::auto_run(), &samples::auto_run_changed()]);
        assert!(text.contains("divided by"), "{text}");
        assert!(text.contains("page cache"));
    }
}
