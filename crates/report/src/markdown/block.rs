//! Block-layer activity in Markdown: a sentence for each phase with watched requests, and the findings with their evidence.

use super::escape;
use crate::{
    block::{lost_words, sentence, shown_repetition},
    counters, finding, page_cache,
    section::full_title,
    stacks,
    surface::on_surfaces,
    truth,
};
use fathom_record::{Phase, Run};
use std::fmt::Write as _;

/// Maximum number of phases listed before the rest is counted.
const MOST_PHASES: usize = 24;

pub(super) fn reached(out: &mut String, run: &Run) {
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let (_, single) = on_surfaces(&phases);
    let told: Vec<_> = single
        .into_iter()
        .map(|p| (p, truth::statement(p), shown_repetition(p)))
        .filter(|(phase, statement, watched)| {
            statement.is_some() || watched.is_some() || !waits(phase).is_empty()
        })
        .collect();
    if told.is_empty() {
        return;
    }
    out.push_str("What reached the device:\n\n");
    for (phase, statement, watched) in told.iter().take(MOST_PHASES) {
        let requests = watched.map(|(r, layer)| sentence(layer, &r.physical));
        let waits = waits(phase);
        let said: Vec<String> = statement.iter().chain(&requests).chain(&waits).map(|s| escape(s)).collect();
        let _ = writeln!(out, "- **{}**: {}", escape(&full_title(phase)), said.join(" "));
        if let Some(lost) = watched.and_then(|(_, layer)| lost_words(layer)) {
            let _ = writeln!(out, "  - **{}**", escape(&lost));
        }
    }
    if told.len() > MOST_PHASES {
        let _ = writeln!(out, "- ... and {} more phases", told.len() - MOST_PHASES);
    }
    if told.iter().any(|(.., watched)| watched.is_some_and(|(_, layer)| counters::are_all(layer))) {
        let _ = writeln!(out, "\n{}", counters::LIMITS);
    }
    out.push('\n');
}

/// What others did to the page cache, and where the slowest calls waited.
fn waits(phase: &Phase) -> Vec<String> {
    [page_cache::sentences(phase), stacks::sentences(phase)].concat()
}

/// Each finding once: sentence with its phases, evidence, advice.
pub(super) fn findings(out: &mut String, run: &Run) {
    let found = finding::of_run(run);
    if found.is_empty() {
        return;
    }
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|both| {
            let f = &both.0;
            let advice =
                if f.advice.is_empty() { String::new() } else { format!(" _{}_", escape(&f.advice)) };
            vec![
                escape(&f.rule),
                format!("{}{advice}", escape(&finding::led(run, both))),
                escape(&f.proofs().join("; ")),
            ]
        })
        .collect();
    super::text_table(out, &["Rule", "Finding", "What proves it"], &rows);
}

#[cfg(test)]
mod tests {
    use crate::{markdown::summary, samples};

    #[test]
    fn sentences_and_findings_are_in_the_summary() {
        let text = summary(&[&samples::lossy_run()]);
        for told in [
            "vda: at least 163 840 reads of 4.00 KiB",
            "  - **40 000 of 695 360 events were lost",
            "| fsync-others | write x1: fsync took 1.2 s",
            "time of fsync: 1.20 s",
        ] {
            assert!(text.contains(told), "{told} is missing: {text}");
        }
        let counted = summary(&[&samples::counted_run()]);
        assert!(counted.contains("vda: 4000 reads, mean 64.0 KiB;"), "{counted}");
        assert_eq!(counted.matches(crate::counters::LIMITS).count(), 1, "{counted}");
        assert!(!summary(&[&samples::survey_run()]).contains("What reached the device"));
    }
}
