//! The trust list on the terminal: one line per check if they fit, else one line per failed check and one for each other
//! verdict. A failed check is coloured as well as marked.

use super::{Style, TerminalPage, cut};
use crate::trust::{TrustLine, lines, tally};
use fathom_record::{Run, Verdict};
use unicode_width::UnicodeWidthStr as _;

/// Lines kept for doubts and courses of phases before the list is shortened.
const KEPT: usize = 10;

pub(super) fn list(page: &mut TerminalPage, run: &Run, layout: usize) {
    let lines = lines(run);
    if lines.is_empty() {
        return;
    }
    // From the longest form to the shortest: uses the first that fits and leaves space for the reasons, if a check failed.
    let failed = !run.doubts.is_empty() || lines.iter().any(|l| l.verdict == Verdict::Doubtful);
    let kept = if failed { KEPT } else { 0 };
    let forms = [(&[][..], kept), (&[Verdict::Unknown, Verdict::Good][..], 0), (&ALL[..], 0)];
    for (at, (together, kept)) in forms.into_iter().enumerate() {
        let mut block = TerminalPage { lines: Vec::new(), width: page.width, paint: page.paint };
        form(&mut block, &lines, together, layout);
        let last = at + 1 == forms.len();
        if last || page.room() >= block.lines.len() + kept {
            page.make_room(block.lines.len());
            page.lines.append(&mut block.lines);
            return;
        }
    }
}

/// Verdicts by importance.
const ALL: [Verdict; 3] = [Verdict::Doubtful, Verdict::Unknown, Verdict::Good];

/// The list, with the checks of the verdicts `in_one` combined.
fn form(page: &mut TerminalPage, lines: &[TrustLine], in_one: &[Verdict], layout: usize) {
    page.line(Style::Plain, "");
    page.line(Style::Bold, &format!("Trust: {}", tally(lines)));
    let widest = lines.iter().map(|l| l.code.width()).max().unwrap_or(0).min(layout / 3);
    for line in lines.iter().filter(|l| !in_one.contains(&l.verdict)) {
        let lead = format!("{} {:<widest$} ", line.mark(), cut(&line.code, widest));
        let words = shortened(&line.sentence, layout.saturating_sub(lead.width()));
        page.line(style(line.verdict), &format!("{lead}{words}"));
    }
    for verdict in in_one {
        together(page, lines, *verdict, layout);
    }
}

fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Good => Style::Plain,
        Verdict::Doubtful => Style::Warn,
        Verdict::Unknown => Style::Dim,
    }
}

/// The words of all checks of one verdict.
fn together(page: &mut TerminalPage, lines: &[TrustLine], verdict: Verdict, layout: usize) {
    let alike: Vec<&TrustLine> = lines.iter().filter(|l| l.verdict == verdict).collect();
    let Some(first) = alike.first() else { return };
    let codes: Vec<&str> = alike.iter().map(|l| l.code.as_str()).collect();
    let text = format!("{}: {}", verdict.word(), codes.join(", "));
    page.paragraph(style(verdict), &format!("{} ", first.mark()), &text, layout);
}

/// "13 of 46 phases (cached read, cold read): ..." without the names, since the figures after them say more.
fn without_names(text: &str) -> String {
    let named = text.split_once(" phases (").and_then(|(count, rest)| {
        let (_, rest) = rest.split_once(')')?;
        (rest.starts_with([':', ',', ' '])).then(|| format!("{count} phases{rest}"))
    });
    named.unwrap_or_else(|| text.to_string())
}

/// As many of a sentence's parts, separated by "; ", as fit; the first is cut if necessary.
fn shortened(sentence: &str, room: usize) -> String {
    let whole = sentence.trim_end_matches('.');
    if whole.width() <= room {
        return whole.to_string();
    }
    let text = without_names(whole);
    if text.width() <= room {
        return text;
    }
    let ends = text.match_indices("; ").map(|(at, _)| at);
    let fitting = ends.filter(|&at| text[..at].width() + 2 <= room).last();
    // A part of a few words says less than the beginning of the next.
    match fitting.filter(|&at| text[..at].width() * 2 >= room) {
        Some(at) => format!("{} …", &text[..at]),
        None => cut(&text, room),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{samples, terminal::summary};

    #[test]
    fn every_check_has_its_line_where_there_is_room() {
        let run = samples::engine_run();
        let text = summary(&run, 80, false);
        for trust in &run.trust {
            let start = |l: &str| l.get(2..).is_some_and(|l| l.starts_with(&format!("{} ", trust.code)));
            assert_eq!(text.lines().filter(|l| start(l)).count(), 1, "{}: {text}", trust.code);
        }
        assert!(text.contains("\n! overload   Overloaded"), "{text}");
        assert!(text.contains("\n+ clock      Source tsc"), "{text}");
        assert!(summary(&run, 80, true).contains("\u{1b}[33m! overload"), "doubtful in colour");
    }

    /// A survey with `writes` additional writes.
    fn filled(writes: usize) -> Run {
        let mut run = Run { trust: samples::trust_list(), ..samples::survey_run() };
        run.phases.extend((0..writes).map(|i| {
            let mut phase = samples::synced_run().phases.remove(0);
            phase.name = format!("write {i}");
            phase
        }));
        run
    }

    #[test]
    fn a_full_page_names_every_check() {
        let run = filled(5);
        let text = summary(&run, 80, false);
        let list = &text[text.find("Trust: 9 good, 4 doubtful").expect("the list")..];
        assert!(run.trust.iter().all(|t| list.contains(&t.code)), "{text}");
        assert!(
            list.contains("\n! device     ") && list.contains("\n+ good: cache, extents, sync"),
            "{text}"
        );
    }

    #[test]
    fn a_page_that_is_too_full_leaves_out_other_things() {
        let mut run = filled(40);
        samples::fail(
            &mut run.phases[0],
            &"a long sentence about what went wrong here and why it did ".repeat(20),
        );
        let text = summary(&run, 80, false);
        assert!(text.lines().count() <= crate::terminal::LINES, "{text}");
        let list = &text[text.find("Trust:").expect("the list")..];
        assert!(run.trust.iter().all(|t| list.contains(&t.code)), "{text}");
        assert!(text.contains(" ... and more on the page\n\nTrust"), "{text}");
    }

    #[test]
    fn where_nothing_failed_the_figures_may_take_all_the_room() {
        let mut run = filled(5);
        let phases = run.phases.len();
        run.doubts.clear();
        run.trust.iter_mut().for_each(|t| t.verdict = Verdict::Good);
        let line =
            |run: &Run| summary(run, 80, false).lines().any(|l| l.starts_with("+ clock      Source tsc"));
        assert!(line(&run), "{}", summary(&run, 80, false));
        run.trust[0].verdict = Verdict::Doubtful;
        assert!(!line(&run), "{phases} phases: {}", summary(&run, 80, false));
    }

    #[test]
    fn a_sentence_is_shortened_at_its_parts() {
        assert_eq!(shortened("All of it.", 20), "All of it");
        assert_eq!(shortened("The first part; the second.", 20), "The first part …");
        assert_eq!(shortened("A; the second part is long.", 20), "A; the second part …");
        assert_eq!(shortened("One part that is too long.", 10), "One part …");
        assert_eq!(shortened("", 0), "");
        let many = "2 of 46 phases (cached read, cold read) at worst: 12 % at vda; 44 others: 100 % at vda.";
        assert_eq!(shortened(many, 50), "2 of 46 phases at worst: 12 % at vda …");
        let all = "All 3 phases (read), for example: 100 MiB of 100 MiB reached vda.";
        assert_eq!(shortened(all, 58), "All 3 phases, for example: 100 MiB of 100 MiB reached vda");
        assert_eq!(shortened("3 phases (broken", 10), "3 phases …");
    }
}
