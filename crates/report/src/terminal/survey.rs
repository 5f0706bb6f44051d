//! A survey as one page of 80 columns by 50 lines: what the storage is good for, the ladder of latencies, the findings, a heat
//! map of the cold reads, and the course of the long write as a sparkline.

use super::{Style, TerminalPage, cut, plain_table, right_aligned, wrapped};
use crate::answer;
use crate::colour::Scale;
use crate::survey::{Grade, SurveyMap, UseVerdict, findings, verdicts};
use crate::{Story, printable::clean, section, spark, svg::Course, units};
use fathom_record::{OpKind, Phase, Run};

/// Maximum number of lines on the page.
pub const LINES: usize = 50;
/// Rows of the heat map.
const ROWS: usize = 6;
/// Width of the widest use and two blanks.
const USE: usize = 17;

pub(super) fn summary(page: &mut TerminalPage, run: &Run, story: &Story, layout: usize) {
    head(page, run, story, layout);
    page.line(Style::Plain, "");
    for verdict in verdicts(run) {
        good_for(page, &verdict, layout);
    }
    ladder(page, run, layout);
    let mut tail = TerminalPage { lines: Vec::new(), width: page.width, paint: page.paint };
    map(&mut tail, run, layout);
    course(&mut tail, run, layout);
    found(page, run, layout, LINES.saturating_sub(page.lines.len() + tail.lines.len()));
    for line in tail.lines {
        page.painted(line);
    }
    page.lines.truncate(LINES);
}

fn head(page: &mut TerminalPage, run: &Run, story: &Story, layout: usize) {
    page.line(Style::Bold, &clean(&format!("{} ({})", story.title, run.status.word())));
    for (term, words) in story.facts.iter().filter(|(t, _)| matches!(*t, "Directory" | "Storage")) {
        page.line(Style::Dim, &cut(&format!("{term:<10}{}", clean(words)), layout));
    }
    for trouble in story.trouble.iter().take(2) {
        page.paragraph(Style::Bad, "! ", &clean(trouble), layout);
    }
    let doubts: Vec<String> = story.doubts.iter().map(|doubt| answer::words(run, doubt, "")).collect();
    if !doubts.is_empty() {
        let text = format!("Doubts (in how many phases), explained on the page: {}", doubts.join("; "));
        page.paragraph(Style::Warn, "? ", &clean(&text), layout);
    }
}

fn good_for(page: &mut TerminalPage, verdict: &UseVerdict, layout: usize) {
    let style = match verdict.grade {
        Grade::Good | Grade::Unknown => Style::Plain,
        Grade::Fair => Style::Warn,
        Grade::Poor => Style::Bad,
    };
    page.paragraph(style, &format!("{:<USE$}", verdict.of), &verdict.sentence, layout);
}

fn ladder(page: &mut TerminalPage, run: &Run, layout: usize) {
    let phases: Vec<&Phase> = run
        .phases
        .iter()
        .filter(|p| section::stage(p) == Some(crate::survey::LADDER) && !p.repetitions.is_empty())
        .collect();
    if phases.is_empty() {
        return;
    }
    let mut table = plain_table(layout);
    table.set_header(["4 KiB at random, one at a time", "per s", "p50", "p99", "served by"]);
    for phase in phases {
        let syncs = phase.latency_of(OpKind::Sync);
        let (latency, mark) = if phase.writes && syncs.count() * 2 > phase.latency().count() {
            (syncs, ": the fsync")
        } else {
            (phase.latency(), "")
        };
        let time = |p| latency.percentile_ns(p).map_or("-".to_string(), |ns| units::time_ns(ns as f64));
        let per_s = phase.ops_per_s().map_or("-".to_string(), |n| units::count(n.round() as u64));
        let name = cut(&format!("{}{mark}", clean(&phase.name)), layout.saturating_sub(50).max(12));
        table.add_row([name, per_s, time(50.0), time(99.0), crate::Kind::served(phase).to_string()]);
    }
    right_aligned(&mut table, 1..=3);
    page.table(&table);
}

/// As many whole findings as fit.
fn found(page: &mut TerminalPage, run: &Run, layout: usize, room: usize) {
    let all = findings(run);
    let Some(mut left) = room.checked_sub(2).filter(|_| !all.is_empty()) else { return };
    page.line(Style::Plain, "");
    for (i, (part, finding)) in all.iter().enumerate() {
        let text = format!("{part}: {}", clean(&finding.sentence));
        let lines = wrapped(&text, layout.saturating_sub(2).max(8)).len();
        if lines > left || (lines == left && i + 1 < all.len()) {
            page.line(Style::Dim, &format!("  ... and {} more on the page", all.len() - i));
            return;
        }
        left -= lines;
        page.paragraph(Style::Plain, "* ", &text, layout);
    }
}

fn map(page: &mut TerminalPage, run: &Run, layout: usize) {
    const LABEL: usize = 7;
    const RAMP: [char; 9] = ['.', ':', '-', '=', '+', '*', '#', '%', '@'];
    let tests = ["cold read", "write to fsync", "cached read"];
    let Some(map) = tests.into_iter().find_map(|test| SurveyMap::of(run, test)) else { return };
    let Some((low, high)) = map.range() else { return };
    let scale = Scale::of_rates(low, high);
    let (measured, cells) = map.cells();
    let width = layout.saturating_sub(LABEL) / map.lattice.columns.len();
    if width == 0 || page.width < layout {
        return;
    }
    let width = width.min(4);
    page.line(Style::Plain, "");
    let (dark, bright) = if page.paint.on { ("dark", "bright") } else { (".", "@") };
    let words = format!(
        "{}, file by record size: {dark} {} to {bright} {}",
        map.test,
        units::rate(low),
        units::rate(high)
    );
    page.line(Style::Bold, &words);
    if measured < cells {
        let guess =
            format!("{measured} of {cells} cells were measured, all others are interpolated from these");
        page.line(Style::Plain, &guess);
    }
    page.line(Style::Dim, &format!("{:LABEL$}{}", "", super::record_heads(&map.lattice.columns, width)));
    let last = map.lattice.rows.len() - 1;
    let rows = ROWS.min(last + 1).max(2);
    for shown in 0..rows {
        let row = shown * last / (rows - 1);
        let mut line =
            format!("{:>5}  ", map.lattice.rows.get(row).map_or(String::new(), |b| units::bytes_short(*b)));
        for column in 0..map.lattice.columns.len() {
            let Some(value) = map.at(column, row) else { continue };
            if page.paint.on {
                let [r, g, b] = scale.colour(value);
                line += &format!("\u{1b}[48;2;{r};{g};{b}m{:width$}\u{1b}[0m", "");
            } else {
                let at = (scale.position(value) * (RAMP.len() - 1) as f64).round() as usize;
                line.extend(std::iter::repeat_n(RAMP[at.min(RAMP.len() - 1)], width));
            }
        }
        page.painted(line.trim_end().to_string());
    }
}

fn course(page: &mut TerminalPage, run: &Run, layout: usize) {
    let Some(phase) = run.phases.iter().find(|p| section::stage(p) == Some("sustained")) else { return };
    let Some(course) = Course::of(phase) else { return };
    let figures: Vec<f64> = course.points.iter().map(|p| p.1).collect();
    let highest = figures.iter().copied().fold(0.0, f64::max);
    if highest <= 0.0 {
        return;
    }
    page.line(Style::Plain, "");
    let bars = spark::bars_in(&figures, (layout / 2).max(8));
    page.line(Style::Plain, &format!("long write  {bars}  max {}", course.unit.words(highest)));
}

#[cfg(test)]
mod tests {
    use crate::{samples, terminal};
    use fathom_record::{Doubt, Run};

    #[test]
    fn doubts_are_named_with_their_phases() {
        let of = |doubts: &[(&str, &str)]| {
            let doubt = |&(code, sentence): &(&str, &str)| {
                // "36 of 91 phases": as many are concerned.
                let many = sentence.split(' ').find_map(|word| word.parse().ok()).unwrap_or(0);
                Doubt { code: code.into(), phases: (0..many).collect(), sentence: sentence.into() }
            };
            let doubts = doubts.iter().map(doubt).collect();
            let mut run = Run { doubts, ..samples::survey_run() };
            run.dialect = "survey".into();
            run.phases[0].axes.tags.insert("stage".into(), crate::survey::LADDER.into());
            terminal::summary(&run, 220, false)
        };
        let text = of(&[
            ("page-cache", "25 of 91 phases (cached random read) moved at most 5 %."),
            ("short-phase", "18 of 91 phases (cold read) took less than 10 ms."),
            ("skew", "In 3 of 91 phases (parallel writers) the workers did not start together."),
            ("spread", "The repetitions of 36 of 91 phases (cold read) lie apart."),
            ("virtual-machine", "This is a virtual machine."),
            ("odd-one", "All phases (2) are odd."),
        ]);
        let line = text.lines().find(|l| l.starts_with("? ")).expect("a line").to_string();
        assert!(
            line.starts_with(
                "? Doubts (in how many phases), explained on the page: page-cache figures (25 of 109); "
            ),
            "{line}"
        );
        assert!(
            line.contains("together (3 of 109); repetitions differ by more than 20 % (36 of 109)"),
            "{line}"
        );
        assert!(line.contains("; under 10 ms (18 of 109); workers"), "{line}");
        assert!(text.contains("a virtual") && text.contains("odd one"), "{text}");
        assert!(!of(&[]).contains("\n? "), "no doubt, no line");
    }
}
