//! What reached the device, on the terminal: a sentence per phase where requests were watched, then the findings with their advice. Only
//! what has room; `fathom show --block` prints all.

use super::{LINES, Page, Style, wrapped};
use crate::{
    block::{lost_words, sentence, shown_repetition},
    finding::{self, Told},
    section::brief,
    story::clean,
    surface::on_surfaces,
    trust, truth,
};
use fathom_record::{Phase, Run};

/// Phases that are told before the rest is counted.
const MOST_PHASES: usize = 5;
/// Findings that are told before the rest is counted.
const MOST_FINDINGS: usize = 5;
/// Lines that stay free for the checks that follow, at most.
const KEPT: usize = 16;

pub(super) fn lines(page: &mut Page, run: &Run, layout: usize) {
    let mut all = requests(run);
    all.extend(findings(run));
    let kept = if run.trust.is_empty() { 0 } else { KEPT.min(trust::lines(run).len() + 2) };
    let height =
        |(_, first, text): &Paragraph| wrapped(text, layout.saturating_sub(first.len()).max(8)).len();
    // An empty line, the heading, and the first of them whole: a heading with nothing below says nothing.
    if all.first().is_none_or(|first| page.room() < height(first) + 2 + kept) {
        return;
    }
    page.line(Style::Plain, "");
    page.line(Style::Bold, "what reached the device");
    for line in &all {
        // One line is left to say that this is not all.
        if page.room() < height(line) + kept + 1 {
            if page.room() > 0 && page.lines.len() < LINES {
                page.line(Style::Dim, " ... and more: fathom show --block");
            }
            return;
        }
        page.paragraph(line.0, line.1, &line.2, layout);
    }
}

/// A paragraph: its style, what leads it, its text.
type Paragraph = (Style, &'static str, String);

/// Of the phases that are no cell of a surface: memory or device, and the requests where they were watched.
fn requests(run: &Run) -> Vec<Paragraph> {
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let (_, single) = on_surfaces(&phases);
    let layer = |p: &Phase| shown_repetition(p).map(|(_, layer)| sentence(layer));
    let told: Vec<_> = single
        .iter()
        .map(|p| (p, truth::statement(p), layer(p)))
        .filter(|(_, statement, requests)| statement.is_some() || requests.is_some())
        .collect();
    let mut lines = Vec::new();
    let layers = run.phases.iter().filter_map(shown_repetition);
    if let Some(words) = layers.into_iter().find_map(|(_, layer)| lost_words(layer)) {
        lines.push((Style::Warn, "! ", words));
    }
    for (phase, statement, requests) in told.iter().take(MOST_PHASES) {
        let mut said = statement.iter().chain(requests);
        let first = said.next().map_or("", String::as_str);
        lines.push((Style::Plain, "- ", format!("{}: {first}", clean(&brief(phase)))));
        lines.extend(said.map(|more| (Style::Plain, "  ", more.clone())));
    }
    if told.len() > MOST_PHASES {
        lines.push((Style::Dim, "  ", format!("... and {} more phases", told.len() - MOST_PHASES)));
    }
    lines
}

/// Each sentence once: phases that are alike have the same findings.
fn findings(run: &Run) -> Vec<Paragraph> {
    let mut found: Vec<Told> = Vec::new();
    for one in run.phases.iter().flat_map(finding::of_phase) {
        if !found.iter().any(|f| f.sentence == one.sentence) {
            found.push(one);
        }
    }
    let mut told = Vec::new();
    for one in found.iter().take(MOST_FINDINGS) {
        told.push((Style::Plain, "* ", one.sentence.clone()));
        if !one.advice.is_empty() {
            told.push((Style::Dim, "  > ", one.advice.clone()));
        }
    }
    if found.len() > MOST_FINDINGS {
        told.push((Style::Dim, "  ", format!("... and {} more findings", found.len() - MOST_FINDINGS)));
    }
    told
}

#[cfg(test)]
mod tests {
    use crate::{
        samples,
        terminal::{LINES, summary},
    };

    #[test]
    fn requests_and_findings_are_told_with_their_advice() {
        let text = summary(&samples::observed_run(), 80, false);
        for told in [
            "- random read, O_DIRECT x1: This is a device number: ",
            "\n  vda: 163 840 reads of 4.00 KiB",
            "* Each read of 4 KiB became one request of 4 KiB",
            "  > Use a file system of its own",
        ] {
            assert!(text.contains(told), "{told} is missing: {text}");
        }
        assert!(text.lines().count() <= 50, "{text}");
        assert!(!samples::observed_run().phases.is_empty() && !text.contains("events were lost"));
    }

    #[test]
    fn losses_come_first() {
        let text = summary(&samples::lossy_run(), 80, false);
        let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("no {words}: {text}"));
        assert!(at("! 40 000 of ") < at("- random read"));
    }

    #[test]
    fn many_phases_leave_room_for_the_checks() {
        let mut run = samples::observed_run();
        let phase = run.phases[1].clone();
        run.phases.extend((0..20).map(|n| {
            let mut phase = phase.clone();
            phase.name = format!("write number {n}");
            phase.repetitions[0].findings[0].sentence = format!("Finding number {n}.");
            phase
        }));
        run.trust = samples::trust_list();
        let text = summary(&run, 80, false);
        assert!(text.lines().count() <= LINES && text.contains("Trust: "), "{text}");
    }
}
