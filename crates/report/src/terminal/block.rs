//! Block-layer activity on the terminal: a sentence for each phase with watched requests, then the findings with their advice,
//! as far as they fit; `fathom show --block` prints all.

use super::{LINES, Style, TerminalPage, wrapped};
use crate::{
    block::{lost_words, sentence, shown_repetition},
    counters, finding, page_cache,
    printable::clean,
    section::brief,
    stacks,
    surface::on_surfaces,
    trust, truth,
};
use fathom_record::{Phase, Run};

/// Maximum number of phases listed before the rest is counted.
const MOST_PHASES: usize = 5;
/// Maximum number of findings listed before the rest is counted.
const MOST_FINDINGS: usize = 5;
/// Maximum number of lines kept free for the checks that follow.
const KEPT: usize = 16;

pub(super) fn lines(page: &mut TerminalPage, run: &Run, layout: usize) {
    let mut all = requests(run);
    all.extend(waits(run));
    all.extend(findings(run));
    let kept = if run.trust.is_empty() { 0 } else { KEPT.min(trust::lines(run).len() + 2) };
    let height =
        |(_, first, text): &Paragraph| wrapped(text, layout.saturating_sub(first.len()).max(8)).len();
    // Needs an empty line, the heading, and the first item in full: a heading alone says nothing.
    if all.first().is_none_or(|first| page.room() < height(first) + 2 + kept) {
        return;
    }
    page.line(Style::Plain, "");
    page.line(Style::Bold, "what reached the device");
    for line in &all {
        // Leaves one line to say that there is more.
        if page.room() < height(line) + kept + 1 {
            if page.room() > 0 && page.lines.len() < LINES {
                page.line(Style::Dim, " ... and more: fathom show --block");
            }
            return;
        }
        page.paragraph(line.0, line.1, &line.2, layout);
    }
}

/// A paragraph: its style, its prefix, its text.
type Paragraph = (Style, &'static str, String);

/// For the phases that are not part of a surface: memory or device, and the requests if watched.
fn requests(run: &Run) -> Vec<Paragraph> {
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let (_, single) = on_surfaces(&phases);
    let layer = |p: &Phase| shown_repetition(p).map(|(r, layer)| sentence(layer, &r.physical));
    let phases: Vec<_> = single
        .iter()
        .map(|p| (p, truth::statement(p), layer(p)))
        .filter(|(_, statement, requests)| statement.is_some() || requests.is_some())
        .collect();
    let mut lines = Vec::new();
    let layers = run.phases.iter().filter_map(shown_repetition);
    if let Some(words) = layers.into_iter().find_map(|(_, layer)| lost_words(layer)) {
        lines.push((Style::Warn, "! ", words));
    }
    if phases.iter().any(|(p, ..)| shown_repetition(p).is_some_and(|(_, layer)| counters::are_all(layer))) {
        lines.push((Style::Dim, "  ", counters::LIMITS.into()));
    }
    for (phase, statement, requests) in phases.iter().take(MOST_PHASES) {
        let mut said = statement.iter().chain(requests);
        let first = said.next().map_or("", String::as_str);
        lines.push((Style::Plain, "- ", format!("{}: {first}", clean(&brief(phase)))));
        lines.extend(said.map(|more| (Style::Plain, "  ", more.clone())));
    }
    if phases.len() > MOST_PHASES {
        lines.push((Style::Dim, "  ", format!("... and {} more phases", phases.len() - MOST_PHASES)));
    }
    lines
}

/// What others did to the page cache, and where the slowest calls waited.
fn waits(run: &Run) -> Vec<Paragraph> {
    let said = |p| [page_cache::sentences(p), stacks::sentences(p)].concat();
    let all = run.phases.iter().flat_map(|p| said(p).into_iter().map(move |s| (p, s)));
    let whose =
        |p: &Phase| if run.phases.len() > 1 { format!("{}: ", clean(&brief(p))) } else { String::new() };
    all.take(MOST_PHASES).map(|(p, sentence)| (Style::Plain, "- ", whose(p) + &sentence)).collect()
}

/// Each sentence once, prefixed with its phases if the run has several.
fn findings(run: &Run) -> Vec<Paragraph> {
    let found = finding::of_run(run);
    let mut lines = Vec::new();
    for (one, phases) in found.iter().take(MOST_FINDINGS) {
        let whose = if run.phases.len() > 1 { finding::phase_names(phases) + ": " } else { String::new() };
        lines.push((Style::Plain, "* ", whose + &one.sentence));
        if !one.advice.is_empty() {
            lines.push((Style::Dim, "  > ", one.advice.clone()));
        }
    }
    if found.len() > MOST_FINDINGS {
        lines.push((Style::Dim, "  ", format!("... and {} more findings", found.len() - MOST_FINDINGS)));
    }
    lines
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
        for words in [
            "- random read, O_DIRECT x1: This is a device number: ",
            "\n  vda: 163 840 reads of 4.00 KiB",
            "* random read, O_DIRECT x1: Each read of 4 KiB became one request",
            "* write x1: fsync took 1.2 s",
            "  > Use a separate file system",
        ] {
            assert!(text.contains(words), "{words} is missing: {text}");
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
    fn one_phase_need_not_be_named_at_its_findings() {
        let mut run = samples::observed_run();
        run.phases.truncate(1);
        let text = summary(&run, 80, false);
        assert!(text.contains("* Each read of 4 KiB became one request"), "{text}");
    }

    #[test]
    fn counters_are_labelled_as_counters() {
        let mut run = samples::counted_run();
        run.phases.push(run.phases[0].clone());
        let text = summary(&run, 80, false);
        assert!(text.contains("vda: 4000 reads, mean 64.0 KiB;"), "{text}");
        assert_eq!(text.matches("I/O of all programs").count(), 1, "{text}");
        assert!(!text.contains("no device was watched"), "{text}");
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
