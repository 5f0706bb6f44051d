//! The first screen: what ran, what is disk and what is memory, what went wrong, and the main figures. Readable without scripts.

use super::{
    HtmlPage, RunView, answer, badge,
    table::{HtmlTable, folded, heads},
    tiles, trust,
};
use crate::{
    Comparison, Kind,
    answer::Answer,
    comparison::SINGLE_RUNS,
    finding,
    printable::clean,
    story::{FigureRow, Story},
    survey,
    svg::escape,
    units,
};
use fathom_compare::Summary;
use std::fmt::Write as _;

const MOST_FINDINGS: usize = 6;

pub(super) fn write(page: &mut HtmlPage, views: &[RunView<'_>]) {
    if let [view] = views
        && survey::is_survey(view.run)
    {
        answer::write(page, view);
        page.fold("What this rests on: findings, doubts, main figures", |page| whole(page, views));
        return;
    }
    if let [view] = views {
        answered(page, view);
        return;
    }
    page.heading(2, "What this says");
    whole(page, views);
}

/// The answer of a run, unless it is a survey with its own page: how it ended, its main figures, findings and doubts.
fn answered(page: &mut HtmlPage, view: &RunView<'_>) {
    troubles(page, view);
    let (main, more) =
        if survey::is_survey(view.run) { (Answer::of(view.run, None).tiles, 0) } else { tiles::of_run(view) };
    tiles::write(page, &main);
    if more > 0 {
        let _ = writeln!(
            page.body,
            "<p class=\"note\">{more} more tests are in the table of main figures, below.</p>"
        );
    }
    verdicts(page, &view.story);
    why(page, view.run);
    doubts(page, &view.story);
}

/// The basis of the answer of a run that is no survey.
pub(super) fn behind(page: &mut HtmlPage, views: &[RunView<'_>]) {
    if let [view] = views
        && !page.flat
    {
        page.fold("What this rests on: command, machine, main figures, checks", |page| {
            facts(page, &view.story);
            main_figures(page, view, false);
            page.body.push_str(&trust::table(view.run));
        });
    }
}

fn whole(page: &mut HtmlPage, views: &[RunView<'_>]) {
    let _ = writeln!(page.body, "<div class=\"runs n{}\">", views.len().min(2));
    for view in views {
        let _ = writeln!(page.body, "<section class=\"run\">");
        if views.len() > 1 {
            let _ = writeln!(page.body, "<h3>{}</h3>", escape(&view.story.title));
            answered(page, view);
            page.fold("Command, machine, date", |page| facts(page, &view.story));
        } else {
            one(page, view);
        }
        page.body.push_str("</section>\n");
    }
    page.body.push_str("</div>\n");
    let _ = writeln!(page.body, "<div class=\"runs n{}\">", views.len().min(2));
    for view in views {
        main_figures(page, view, views.len() > 1);
    }
    page.body.push_str("</div>\n");
    let runs: Vec<&fathom_record::Run> = views.iter().map(|v| v.run).collect();
    if runs.len() > 1
        && let Some(parallel) = crate::Parallel::of(&runs)
    {
        side_by_side(page, &parallel);
    }
    if let [a, b] = views {
        compared(page, a, b);
    }
    // Thirteen rows per run: placed below the figures they concern.
    let checks: String = views.iter().map(|view| trust::table(view.run)).collect();
    if views.len() > 1 && !checks.is_empty() {
        page.body.push_str(&folded("What the results are worth", &checks));
    } else {
        page.body.push_str(&checks);
    }
}

/// All arrangements of parallel streams of all runs in one table.
fn side_by_side(page: &mut HtmlPage, parallel: &crate::Parallel) {
    let mut heads = vec!["Streams x file size".to_string()];
    heads.extend(parallel.tests.iter().cloned());
    let mut table = HtmlTable::new(
        "Parallel streams of all runs: combined throughput in MB/s, by what served it",
        &heads,
    );
    for row in &parallel.rows {
        let cell = |c: &Option<(f64, crate::Kind)>| {
            c.map_or("–".to_string(), |(rate, kind)| {
                format!("{} {}", crate::parallel::figure(rate), badge(kind))
            })
        };
        table.row(&row.label, &row.cells.iter().map(cell).collect::<Vec<_>>());
    }
    page.body += &table.finish();
}

fn one(page: &mut HtmlPage, view: &RunView<'_>) {
    troubles(page, view);
    verdicts(page, &view.story);
    why(page, view.run);
    doubts(page, &view.story);
    facts(page, &view.story);
}

fn troubles(page: &mut HtmlPage, view: &RunView<'_>) {
    let simulated = view.run.simulation.as_ref().map(|s| s.sentence());
    for words in simulated.iter().chain(&view.story.trouble) {
        let _ = writeln!(page.body, "<p class=\"trouble\" role=\"note\">{}</p>", escape(words));
    }
}

fn verdicts(page: &mut HtmlPage, story: &Story) {
    if story.verdicts.is_empty() {
        return;
    }
    page.body.push_str("<ul class=\"verdicts\">\n");
    for verdict in &story.verdicts {
        let plain = || format!("<span class=\"badge hint\">{}</span>", verdict.mark);
        let mark = verdict.kind.map_or_else(plain, badge);
        let _ = writeln!(page.body, "<li>{mark} {}</li>", graded(&verdict.sentence));
    }
    page.body.push_str("</ul>\n");
}

fn facts(page: &mut HtmlPage, story: &Story) {
    page.body.push_str("<dl class=\"facts\">\n");
    for (term, words) in &story.facts {
        let _ = writeln!(page.body, "<div><dt>{term}</dt><dd>{}</dd></div>", escape(words));
    }
    page.body.push_str("</dl>\n");
}

/// Emphasises the grade at the start of a survey's sentence; colour only repeats the word.
fn graded(sentence: &str) -> String {
    let grade = sentence.split_once(": ").filter(|(word, _)| ["good", "fair", "poor"].contains(word));
    grade.map_or_else(
        || escape(sentence),
        |(word, rest)| format!("<strong class=\"grade g-{word}\">{word}</strong>: {}", escape(rest)),
    )
}

/// The findings, each sentence once with its phases; the evidence is shown with the phases.
fn why(page: &mut HtmlPage, run: &fathom_record::Run) {
    let sentences: Vec<String> = finding::of_run(run).iter().map(|f| finding::led(run, f)).collect();
    if sentences.is_empty() {
        return;
    }
    let items = |of: &[String]| of.iter().map(|s| format!("<li>{}</li>", escape(s))).collect::<String>();
    let (first, rest) = sentences.split_at(sentences.len().min(MOST_FINDINGS));
    let _ = writeln!(page.body, "<div class=\"why\"><p class=\"label\">Why</p><ul>{}</ul>", items(first));
    if !rest.is_empty() {
        let html = format!("<ul>{}</ul>", items(rest));
        page.body.push_str(&folded(&format!("{} more findings", rest.len()), &html));
    }
    page.body.push_str("</div>\n");
}

/// Warnings: the first of each kind is shown, the others are folded.
fn doubts(page: &mut HtmlPage, story: &Story) {
    // A simulated run is already marked above everything.
    let doubts: Vec<_> = story.doubts.iter().filter(|d| d.code != "simulated").collect();
    if doubts.is_empty() {
        return;
    }
    page.body.push_str("<div class=\"doubts\"><p class=\"label\">Reasons for doubt</p><ul>\n");
    for group in doubts {
        let _ = write!(page.body, "<li><code>{}</code> ", escape(&group.code));
        let _ = write!(page.body, "{}", escape(group.sentences.first().map_or("", String::as_str)));
        if group.sentences.len() > 1 {
            let items: String =
                group.sentences[1..].iter().map(|s| format!("<li>{}</li>", escape(s))).collect();
            page.body.push_str(&folded(
                &format!("{} more of this kind", group.sentences.len() - 1),
                &format!("<ul>{items}</ul>"),
            ));
        }
        page.body.push_str("</li>\n");
    }
    page.body.push_str("</ul></div>\n");
}

/// One row per test, one column per regime: a number is in the column of its source.
fn main_figures(page: &mut HtmlPage, view: &RunView<'_>, several: bool) {
    let story = &view.story;
    if story.figures.is_empty() {
        return;
    }
    let kinds = story.kinds();
    // Tests that were only timed have no throughput to show.
    let nothing = |f: &FigureRow| f.ops.is_none() && f.error.is_none();
    if kinds.is_empty() && story.figures.iter().all(nothing) {
        return;
    }
    let of_surfaces = if story.figures.iter().all(|f| f.single) {
        ""
    } else {
        "; of a surface the largest file's, with records of up to 1 MiB"
    };
    let caption = if several {
        format!("Main figures of {}: throughput by what served it{}", clean(&story.title), of_surfaces)
    } else {
        format!("Main figures: throughput by what served it{of_surfaces}")
    };
    let mut head = heads(&["Test"]);
    head.extend(kinds.iter().map(|k| k.words().to_string()));
    let some_without_data = story.figures.iter().any(|f| f.ops.is_some());
    if some_without_data {
        head.push("no file data: operations".into());
    }
    head.push("Behind it".into());
    let mut table = HtmlTable::new(&caption, &head);
    for row in &story.figures {
        let mut cells: Vec<String> = kinds.iter().map(|k| figure_cell(row, *k)).collect();
        if some_without_data {
            cells.push(ops_cell(row));
        }
        cells.push(page.links.placeholder(&view.run.id, &row.title));
        table.row(&row.title, &cells);
    }
    page.body.push_str(&table.finish());
}

fn figure_cell(row: &FigureRow, kind: Kind) -> String {
    match (row.by_kind.get(&kind), &row.error) {
        (Some(rates), _) => {
            let quoted = row.quoted.get(&kind).copied().unwrap_or(rates.median);
            format!("{} {}{}", units::rate(quoted), badge(kind), range(rates, units::rate))
        }
        (None, Some(error)) if row.by_kind.is_empty() => {
            format!("<span class=\"failed\">{}</span>", escape(error))
        }
        _ => "<span class=\"none\">–</span>".into(),
    }
}

/// The figure of a phase that moved no file data.
fn ops_cell(row: &FigureRow) -> String {
    let none = || "<span class=\"none\">–</span>".to_string();
    row.ops
        .as_ref()
        .map_or_else(none, |s| format!("{}{}", units::ops_rate(s.median), range(s, units::ops_rate)))
}

fn range(rates: &Summary, words: fn(f64) -> String) -> String {
    if rates.n < 2 {
        return String::new();
    }
    format!("<small>{} to {}</small>", words(rates.min), words(rates.max))
}

/// The operations common to both runs.
fn compared_operations(page: &mut HtmlPage, comparison: &Comparison) {
    if comparison.operations.is_empty() {
        return;
    }
    let caption = "Compared operation by operation: second run divided by the first (above 1 the second did more per second; of a \
                   duration, below 1 it was quicker)";
    let head = heads(&["Operation", "Per second", "p50", "p99", "Phase"]);
    let mut table = HtmlTable::new(caption, &head);
    let ratio = |r: Option<f64>| r.map_or("–".to_string(), units::ratio);
    for row in &comparison.operations {
        let rate = format!("<strong>{}</strong>", units::ratio(row.ops));
        table.row(&row.name, &[rate, ratio(row.p50), ratio(row.p99), escape(&row.title)]);
    }
    page.body.push_str(&table.finish());
}

/// Second run over first, by test and regime of the first.
fn compared(page: &mut HtmlPage, a: &RunView<'_>, b: &RunView<'_>) {
    let off = "ratios say how far the model is off";
    let simulated = match (&a.run.simulation, &b.run.simulation) {
        (None, None) => None,
        (Some(_), Some(_)) => Some("Both runs are simulated: ratios are of one model's results.".to_string()),
        (Some(_), None) => Some(format!("The first run is simulated and the second was measured: {off}.")),
        (None, Some(_)) => Some(format!("The first run was measured and the second is simulated: {off}.")),
    };
    if let Some(words) = simulated {
        let _ = writeln!(page.body, "<p class=\"note\">{words}</p>");
    }
    let Some(comparison) = Comparison::of(a.run, b.run) else { return };
    if comparison.single {
        let _ = writeln!(page.body, "<p class=\"note\">{SINGLE_RUNS}</p>");
    }
    compared_cells(page, &comparison);
    compared_operations(page, &comparison);
}

fn compared_cells(page: &mut HtmlPage, comparison: &Comparison) {
    if comparison.rows.is_empty() {
        return;
    }
    let caption =
        "Compared: second run divided by the first, over the cells both have (above 1 the second is faster)";
    let head = heads(&["Test", "Served by (first run)", "Cells", "Median ratio", "Lowest", "Highest"]);
    let mut table = HtmlTable::new(caption, &head);
    for row in &comparison.rows {
        let cells = match row.unlike {
            0 => units::count(row.ratios.n as u64),
            n => format!(
                "{} <strong class=\"low\">({n} served otherwise in the second)</strong>",
                row.ratios.n
            ),
        };
        table.row(
            &row.title,
            &[
                badge(row.kind),
                cells,
                format!("<strong>{}</strong>", units::ratio(row.ratios.median)),
                units::ratio(row.ratios.min),
                units::ratio(row.ratios.max),
            ],
        );
    }
    page.body.push_str(&table.finish());
}

#[cfg(test)]
mod tests {
    use super::graded;

    #[test]
    fn a_grade_is_bold_and_everything_is_escaped() {
        assert_eq!(graded("poor: p99 <b>"), "<strong class=\"grade g-poor\">poor</strong>: p99 &lt;b&gt;");
        assert_eq!(graded("hint: a < b"), "hint: a &lt; b");
    }
}
