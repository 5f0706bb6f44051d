//! The first screen of a survey's page. It has tiles with the main figures, the latency ladder beside the queue-depth curve, the
//! uses that the storage suits, and its limits and doubts. Everything else is in collapsed sections below.

use super::{HtmlPage, document, tiles};
use crate::answer::{Answer, Limit, depths};
use crate::documents::run::RunView;
use crate::survey::{Grade, JudgedCriterion, LADDER, UseVerdict};
use crate::{
    latency,
    printable::clean,
    section,
    svg::{self, escape},
};
use fathom_record::{OpKind, Phase, Run};
use std::fmt::Write as _;

pub(super) fn write(page: &mut HtmlPage, view: &RunView<'_>) {
    let answer = Answer::of(view.run, None);
    page.body.push_str("<section class=\"answer\">\n");
    for Limit { words, .. } in &answer.limits {
        let _ = writeln!(page.body, "<p class=\"trouble\" role=\"note\">{}</p>", escape(&clean(words)));
    }
    for words in &answer.first {
        let _ = writeln!(page.body, "<p class=\"first\" role=\"note\">{}</p>", escape(&clean(words)));
    }
    tiles::write(page, &answer.tiles);
    page.body.push_str("<div class=\"pair\">\n");
    if let Some(picture) = svg::latency(&ladder(view.run)) {
        page.picture(&picture, "");
    }
    if let Some(picture) = svg::depth_curve(&depths(view.run)) {
        page.picture(&picture, "");
    }
    page.body.push_str("</div>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Good for\"><table class=\"uses\"><caption>Good for</caption><tbody>\n");
    for verdict in &answer.uses {
        let (class, grade, words) = (verdict.grade.word(), verdict.word(), judged(verdict));
        let _ = writeln!(
            page.body,
            "<tr><th scope=\"row\">{}</th><td><strong class=\"grade g-{class}\">{grade}</strong></td><td>{words}</td></tr>",
            verdict.of
        );
    }
    page.body.push_str("</tbody></table></div>\n<dl class=\"facts\">\n");
    let mut fact = |term: &str, words: &str| {
        let _ =
            writeln!(page.body, "<div><dt>{term}</dt><dd>{}</dd></div>", document::with_code(&clean(words)));
    };
    if let Some(words) = &answer.remedy {
        fact("Remedy", words);
    }
    if let Some(words) = answer.other_limits() {
        fact(if answer.limits.is_empty() { "Limits" } else { "Also" }, &words);
    }
    if !answer.unlimited_time().is_empty() {
        fact("Time spent", &answer.unlimited_time().join("; "));
    }
    fact("Doubts", &answer.doubts_in_words());
    page.body.push_str("</dl>\n</section>\n");
}

/// Latencies of the ladder, each for the main operation of its step.
fn ladder(run: &Run) -> Vec<latency::LatencyRow> {
    let of_ladder = |p: &&Phase| section::stage(p) == Some(LADDER);
    let rows = |p: &Phase| {
        let op = |op: OpKind| (op == OpKind::Sync) == (p.name == "write and fsync");
        latency::rows(&[p]).into_iter().filter(move |row| op(row.op)).collect::<Vec<_>>()
    };
    run.phases.iter().filter(of_ladder).flat_map(rows).collect()
}

/// The figures of a use, the deciding one first, each with its threshold.
fn judged(verdict: &UseVerdict) -> String {
    let figures = verdict.judged().into_iter().map(JudgedCriterion::words_with_threshold);
    let words: Vec<String> =
        figures.chain(verdict.open.iter().map(|open| open.words().into())).map(|w| escape(&w)).collect();
    match (&verdict.note, verdict.grade) {
        (Some(note), _) if words.is_empty() => escape(note),
        (Some(note), _) => format!("{}; {}", escape(note), words.join("; ")),
        (None, Grade::Unknown) => String::new(),
        (None, _) => words.join("; "),
    }
}
