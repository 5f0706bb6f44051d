//! A sweep as one offline HTML file: the tables with better cells darker, a heat map for two settings, every run as a point on
//! its cell's range, the settings as read back, and the order in which everything ran.

use super::text::{caption, cell_words, columns, rows};
use super::{Sweep, SweepTable, map, tables};
use crate::svg::{self, escape};
use crate::units;
use std::fmt::Write as _;

/// Additions to the page's style.
const STYLE: &str = "td.best{font-weight:700}figure.all{max-width:none;overflow-x:auto}@media print{svg.runs{min-width:0!important}}svg.runs{display:block;width:100%;min-width:560px;max-width:none;height:auto;font:12px system-ui,sans-serif}\
svg.runs text{fill:var(--ink)}svg.runs .axis{fill:var(--muted)}svg.runs line{stroke:var(--muted)}svg.runs .grid{stroke:var(--rule)}\
svg.runs .run{fill:var(--device);fill-opacity:.55}svg.runs .median{stroke:var(--ink);stroke-width:2.5}";

/// The page of a sweep as one HTML file.
#[must_use]
pub fn page(sweep: &Sweep) -> String {
    let mut body = String::new();
    if let Some(why) = &sweep.ended_early {
        let planned: usize = sweep.order.iter().map(Vec::len).sum();
        let _ = writeln!(
            body,
            "<p class=\"trouble\">Ended early after {} of {planned} runs: {}.</p>",
            sweep.runs.len(),
            escape(why)
        );
    }
    let _ = writeln!(body, "<p class=\"note\">{}</p>", escape(&sweep.verdict()));
    let mut contents = String::new();
    for (number, table) in tables(sweep).into_iter().enumerate() {
        let _ = writeln!(body, "<h2 id=\"p{number}\">{}</h2>", escape(&table.phase));
        let _ = write!(contents, "<li><a href=\"#p{number}\">{}</a></li>", escape(&table.phase));
        body += &grid(sweep, &table);
        if let Some(unlike) = table.unlike() {
            let _ = writeln!(body, "<p class=\"trouble\" role=\"note\">{}</p>", escape(&unlike));
        }
        if let Some(map) = map::picture(sweep, &table, number) {
            let _ = writeln!(body, "<figure class=\"wide\">{}</figure>", map.inline());
        }
        body += &picture(sweep, &table);
        body += &against(sweep, &table);
    }
    let more = settings(sweep) + &order(sweep);
    if !more.is_empty() {
        body += "<div id=\"how\">\n";
        body += &more;
        body += "</div>\n";
        contents += "<li><a href=\"#how\">How it was measured</a></li>";
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>sweep {id} · fathom</title>\n<style>{style}{svg_style}{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the figures</a>\n\
         <header><h1>Sweep: {workload}</h1><p class=\"lead\">{lead}</p>\n\
         <nav aria-label=\"Contents\"><ul>{contents}</ul></nav></header>\n<main id=\"main\" tabindex=\"-1\">\n{body}</main>\n\
         <footer><p>Made by fathom {version}. This file needs no network.</p></footer>\n</body>\n</html>\n",
        id = escape(&sweep.id),
        style = include_str!("../html/style.css"),
        svg_style = svg::STYLE,
        workload = escape(&sweep.workload),
        lead = escape(&format!("{} · {} · sweep {}", sweep.directory, sweep.started_at, sweep.id)),
        version = env!("CARGO_PKG_VERSION"),
    )
}

/// A table in its own scrolling frame. Heads are escaped here, cells are HTML.
fn framed(caption: &str, heads: &[String], rows: &[(String, Vec<String>)]) -> String {
    let mut html = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table><caption>{0}</caption><thead><tr>",
        escape(caption)
    );
    for head in heads {
        let _ = write!(html, "<th scope=\"col\">{}</th>", escape(head));
    }
    html += "</tr></thead><tbody>\n";
    for (head, cells) in rows {
        let _ = write!(html, "<tr><th scope=\"row\">{}</th>{}</tr>", escape(head), cells.concat());
    }
    html + "</tbody></table></div>\n"
}

fn grid(sweep: &Sweep, table: &SweepTable) -> String {
    let heads: Vec<String> = std::iter::once("settings".to_string()).chain(columns(sweep, table)).collect();
    let cell = |c: Option<usize>| {
        let words = escape(&cell_words(table, c));
        let goodness = c.and_then(|c| goodness(table, c)).unwrap_or(0.0);
        let best = if c.is_some() && c == table.best { " class=\"best\"" } else { "" };
        format!(
            "<td{best} style=\"background:color-mix(in srgb,var(--device) {:.0}%,transparent)\">{words}</td>",
            goodness * 45.0
        )
    };
    let body: Vec<(String, Vec<String>)> =
        rows(sweep).into_iter().map(|(head, cells)| (head, cells.into_iter().map(cell).collect())).collect();
    framed(&caption(sweep, table), &heads, &body)
}

/// 1 for the best median, 0 for the worst.
fn goodness(table: &SweepTable, cell: usize) -> Option<f64> {
    let medians: Vec<f64> = table.cells.iter().flatten().map(|s| s.median).collect();
    let (low, high) = medians.iter().fold((f64::MAX, f64::MIN), |(l, h), m| (l.min(*m), h.max(*m)));
    let here = table.cells.get(cell)?.as_ref()?.median;
    if high <= low {
        return Some(0.0);
    }
    let share = (here - low) / (high - low);
    Some(if table.lower_is_better { 1.0 - share } else { share })
}

/// Every run as a point, one line per cell.
fn picture(sweep: &Sweep, table: &SweepTable) -> String {
    /// Approximate width of a letter.
    const LETTER: f64 = 7.2;
    const WIDTH: f64 = 620.0;
    const ROW: f64 = 24.0;
    let all: Vec<f64> = table.samples.iter().flatten().copied().collect();
    let (low, high) = all.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
    if all.is_empty() {
        return String::new();
    }
    // From 0, unless the differences would then be invisible.
    let start = if low < 0.5 * high { 0.0 } else { low - (high - low).max(high * 0.01) * 0.15 };
    let end = high + (high - start).max(1e-9) * 0.05;
    let measured: Vec<usize> = (0..table.cells.len()).filter(|&c| table.cells[c].is_some()).collect();
    let labels: Vec<String> = measured.iter().map(|&cell| sweep.settings(cell, false)).collect();
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let left = (longest as f64 * LETTER + 20.0).max(120.0);
    let x = |v: f64| left + (v - start) / (end - start) * WIDTH;
    let height = ROW * (measured.len() as f64 + 1.6);
    let title = format!("Every run of {}, {}", table.phase, table.unit);
    let mut svg = format!(
        "<figure class=\"all\"><svg class=\"runs\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {:.0} {height:.0}\">",
        escape(&title),
        left + WIDTH + 20.0
    );
    for step in 0..=4 {
        let value = start + (end - start) * f64::from(step) / 4.0;
        let bottom = ROW * (measured.len() as f64 + 0.3);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"4\" y2=\"{bottom:.1}\"/>\
             <text class=\"axis\" x=\"{0:.1}\" y=\"{1:.1}\" text-anchor=\"middle\">{2}</text>",
            x(value),
            bottom + 16.0,
            SweepTable::number(value)
        );
    }
    for (line, &cell) in measured.iter().enumerate() {
        let y = ROW * (line as f64 + 0.7);
        let Some(s) = &table.cells[cell] else { continue };
        let _ = write!(
            svg,
            "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text><line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
            left - 10.0,
            y + 4.0,
            escape(&labels[line]),
            x(s.min),
            x(s.max)
        );
        for value in &table.samples[cell] {
            let _ = write!(
                svg,
                "<circle class=\"run\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{} {}</title></circle>",
                x(*value),
                SweepTable::number(*value),
                table.unit
            );
        }
        let _ = write!(
            svg,
            "<line class=\"median\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{2:.1}\"/>",
            x(s.median),
            y - 7.0,
            y + 7.0
        );
    }
    let _ = writeln!(
        svg,
        "</svg><figcaption>{}: a point is a run, the line its cell's range, the bar the median.</figcaption></figure>",
        escape(&title)
    );
    svg
}

fn against(sweep: &Sweep, table: &SweepTable) -> String {
    let Some(baseline) = sweep.baseline() else { return String::new() };
    let rows: Vec<(String, Vec<String>)> = (0..sweep.cells.len())
        .filter(|c| *c != baseline)
        .filter_map(|c| {
            let (ratio, ranges) = table.against(c, baseline)?;
            let cells =
                vec![format!("<td>{}</td>", units::ratio(ratio)), format!("<td>{}</td>", escape(&ranges))];
            Some((sweep.settings(c, false), cells))
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let why = if sweep.baseline_is_as_before() { "as it was before the sweep" } else { "the first setting" };
    let caption = format!("Against {} ({why})", sweep.settings(baseline, false));
    framed(&caption, &["settings".into(), "ratio of medians".into(), "ranges".into()], &rows)
}

fn settings(sweep: &Sweep) -> String {
    let mut html = String::from("<h2>Settings</h2>\n");
    for note in &sweep.notes {
        let _ = writeln!(html, "<p>{}</p>", escape(note));
    }
    let rows: Vec<(String, Vec<String>)> = sweep
        .factors
        .iter()
        .map(|f| {
            let before = f.before.as_deref().unwrap_or("-");
            (
                f.name.clone(),
                vec![
                    format!("<td>{}</td>", escape(&f.values.join(", "))),
                    format!("<td>{}</td>", escape(before)),
                ],
            )
        })
        .collect();
    html +=
        &framed("What was varied", &["setting".into(), "values".into(), "before the sweep".into()], &rows);
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for (number, cell) in sweep.cells.iter().enumerate() {
        for knob in &cell.found {
            let cells = [&knob.knob, &knob.device, &knob.asked, &knob.found]
                .map(|w| format!("<td>{}</td>", escape(w)));
            found.push((sweep.settings(number, false), cells.to_vec()));
        }
        if let Some(why) = &cell.left_out {
            found.push((
                sweep.settings(number, false),
                vec![format!("<td colspan=\"4\">left out: {}</td>", escape(why))],
            ));
        }
    }
    if !found.is_empty() {
        let heads = ["cell", "knob", "of", "asked", "read back"].map(String::from);
        html += &framed("What the kernel said the settings were", &heads, &found);
    }
    html
}

fn order(sweep: &Sweep) -> String {
    let rows: Vec<(String, Vec<String>)> = sweep
        .runs
        .iter()
        .enumerate()
        .map(|(n, run)| {
            let cells = [(run.block + 1).to_string(), sweep.settings(run.cell, false), run.runs.join(" ")];
            ((n + 1).to_string(), cells.map(|w| format!("<td>{}</td>", escape(&w))).to_vec())
        })
        .collect();
    let heads = ["run", "block", "settings", "stored as"].map(String::from);
    format!(
        "<h2>Order</h2>\n<p class=\"note\">Blocks of two rounds, every cell twice in random order (seed {}): any two cells make random quads.</p>\n\
         <details><summary>All runs in the order they were made in</summary>\n{}</details>\n",
        sweep.seed,
        framed("Runs in order", &heads, &rows)
    )
}

#[cfg(test)]
mod tests {
    use super::super::samples::sweep;
    use super::*;

    #[test]
    fn the_page_stands_alone_and_user_words_stay_words() {
        let html = page(&sweep());
        for forbidden in ["http://", "https://", "src=", "@import", "url(", "<mix>"] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
        assert!(html.contains("random &lt;mix&gt;"));
        assert_eq!(html.matches("<table").count(), html.matches("<caption").count());
        assert_eq!(html.matches("class=\"run\"").count(), 12, "every run is a point");
        assert_eq!(html.matches("class=\"best\"").count(), 1);
        assert!(html.contains("3 rounds are too few"));
    }

    #[test]
    fn a_sweep_without_runs_has_a_page() {
        let mut sweep = sweep();
        sweep.runs.clear();
        sweep.ended_early = Some("a <signal>".into());
        let html = page(&sweep);
        assert!(html.contains("Ended early after 0 of 12 runs: a &lt;signal&gt;."));
        assert!(html.contains("Nothing was measured."));
    }
}
