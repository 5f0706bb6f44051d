//! The first screen: what ran, what is disk and what is memory, what went wrong, and the main figures. Readable without scripts.

use super::{HtmlPage, answer, badge, document, table::folded, tiles};
use crate::document::Document;
use crate::documents::run::{self, RunView};
use crate::{Parallel, answer::Answer, finding, story::Story, survey, svg::escape};
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
            checks(page, view);
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
        && let Some(parallel) = Parallel::of(&runs)
    {
        page.body += &document::table(&run::parallel_streams(&parallel));
    }
    if let [a, b] = views {
        let mut divided = Document::default();
        run::compared(&mut divided, a, b);
        document::write_all(page, &divided.parts);
    }
    // Thirteen rows per run: placed below the figures they concern.
    let checks = |page: &mut HtmlPage| views.iter().for_each(|view| checks(page, view));
    if views.len() > 1 {
        page.fold("What the results are worth", checks);
    } else {
        checks(page);
    }
}

fn checks(page: &mut HtmlPage, view: &RunView<'_>) {
    let table = run::trust_list(view);
    if !table.rows.is_empty() {
        page.body += &document::table(&table);
    }
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
    let grades = ["good", "fair", "fair or better", "fair or worse", "poor"];
    let grade = sentence.split_once(": ").filter(|(words, _)| grades.contains(words));
    grade.map_or_else(
        || escape(sentence),
        |(words, rest)| {
            let class = words.split(' ').next().unwrap_or_default();
            format!("<strong class=\"grade g-{class}\">{words}</strong>: {}", escape(rest))
        },
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

/// The main figures, each with links to what is behind it.
fn main_figures(page: &mut HtmlPage, view: &RunView<'_>, several: bool) {
    let table = run::main_figures(view, several);
    if table.rows.is_empty() {
        return;
    }
    let titles = table.rows.iter().map(|row| row[0].text.as_str());
    let links: Vec<String> = titles.map(|title| page.links.placeholder(&view.run.id, title)).collect();
    page.body += &document::with_links(&table, &links);
}

#[cfg(test)]
mod tests {
    use super::graded;

    #[test]
    fn a_grade_is_bold_and_everything_is_escaped() {
        assert_eq!(graded("poor: p99 <b>"), "<strong class=\"grade g-poor\">poor</strong>: p99 &lt;b&gt;");
        for words in ["fair or better", "fair or worse"] {
            let bold = format!("<strong class=\"grade g-fair\">{words}</strong>: 9/s");
            assert_eq!(graded(&format!("{words}: 9/s")), bold);
        }
        assert_eq!(graded("hint: a < b"), "hint: a &lt; b");
    }
}
