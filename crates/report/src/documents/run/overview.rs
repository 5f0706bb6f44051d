//! What the runs say, before their details: how they ended, what is disk and what is memory, main figures, findings, doubts, and what
//! the results are worth. `html` has a first screen instead.

use super::requests::{finding_row, new_findings};
use super::{RunView, comparison, figures, parallel, trust};
use crate::document::{Document, Table, Tone};
use crate::{Parallel, finding};
use fathom_record::Run;

pub(super) fn write(out: &mut Document, views: &[RunView<'_>]) {
    if let [a, b] = views {
        let mut divided = Document::default();
        comparison::write(&mut divided, a, b);
        if !divided.parts.is_empty() {
            out.heading(2, format!("{} divided by {}", b.story.title, a.story.title));
            out.parts.append(&mut divided.parts);
        }
    }
    let runs: Vec<&Run> = views.iter().map(|view| view.run).collect();
    if runs.len() > 1
        && let Some(all) = Parallel::of(&runs)
    {
        out.heading(2, "Parallel streams");
        out.table(parallel::table(&all));
    }
    for view in views {
        if views.len() > 1 {
            out.heading(2, view.story.title.as_str());
        }
        one(out, view, views.len() > 1);
    }
}

fn one(out: &mut Document, view: &RunView<'_>, several: bool) {
    let story = &view.story;
    story.trouble.iter().for_each(|words| out.text(Tone::Trouble, words));
    out.list(story.verdicts.iter().map(|v| format!("{}: {}", v.mark, v.sentence)).collect());
    out.table(figures::table(view, several));
    let mut table = new_findings("Findings".into());
    let found = finding::of_run(view.run);
    table.rows.extend(found.iter().map(|both| finding_row(&both.0, finding::led(view.run, both))));
    out.table(table);
    if !story.doubts.is_empty() {
        let doubt = |doubt: &crate::story::DoubtGroup| {
            let more = match doubt.sentences.len() {
                0 | 1 => String::new(),
                n => format!(" (and {} more)", n - 1),
            };
            let first = doubt.sentences.first().map_or("", String::as_str);
            format!("{}: {first}{more}", doubt.code)
        };
        out.text(Tone::Label, "Reasons for doubt");
        out.list(story.doubts.iter().map(doubt).collect());
    }
    out.table(trust::table(view));
    let mut table = Table::new("Where and how", &["What", "Value"]);
    story.facts.iter().for_each(|(term, words)| table.words([*term, words.as_str()]));
    out.details("Where and how", |out| out.table(table));
}
