//! Runs for a ticket, at most [`LINES`] lines each: where and when, the answer, the figures, the doubts. [`super::summary`] has
//! the rest.

use super::{escape, table};
use crate::answer::Answer;
use crate::comparison::SINGLE_RUNS;
use crate::results::{self, ResultLine};
use crate::survey::{self, Grade};
use crate::{Comparison, Story, heading, imported, units};
use fathom_record::Phase;
use fathom_record::Run;
use fathom_record::doubt::STOOD_STILL;
use std::fmt::Write as _;

/// Maximum number of lines: a ticket is read, not searched.
pub const LINES: usize = 25;
/// Maximum number of sentences of one kind.
const MOST: usize = 3;

/// Every run separately; for two runs with common figures, also their ratio.
#[must_use]
pub fn ticket(runs: &[&Run]) -> String {
    if let [a, b] = runs
        && let Some(text) = ratio(a, b)
    {
        return text;
    }
    runs.iter().map(|run| one(run)).collect::<Vec<_>>().join("\n")
}

fn one(run: &Run) -> String {
    let survey = survey::is_survey(run).then(|| Answer::of(run, None));
    let story = Story::of(run);
    let mut top = head("##", run);
    let before = match &survey {
        Some(answer) => {
            answer.limits.iter().map(|limit| &limit.words).chain(&answer.first).cloned().collect()
        }
        None => story.trouble.clone(),
    };
    for words in before.iter().take(2) {
        let _ = writeln!(top, "> **{}**\n", escape(words));
    }
    let (points, doubts) = match &survey {
        Some(answer) => (uses(answer), facts(answer)),
        None => (verdicts(&story), doubts(&story)),
    };
    let details = format!("`fathom report {} --full -o details.md`", run.id);
    // Blank lines separate the parts, the head of the table takes two lines, and the last line says where the rest is.
    let used = top.lines().count() + points.len() + doubts.len() + 2 + 4;
    let (rows, left_out) = tables(run, LINES.saturating_sub(used));
    let more = rest(left_out);
    let list = |items: &[String]| items.iter().map(|item| format!("- {item}\n")).collect::<String>();
    let parts = [rows, list(&points), list(&doubts), format!("{more}: {details}\n")];
    top + &parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The last line: where the rest is.
pub(super) fn rest(left_out: usize) -> String {
    match left_out {
        0 => "Details".to_string(),
        1 => "1 more row and details".into(),
        n => format!("{n} more rows and details"),
    }
}

/// Where and when, followed by a blank line.
fn head(marks: &str, run: &Run) -> String {
    let [what, place] = heading::lines(run);
    let place = if place.is_empty() { place } else { format!("{}\n", escape(&place)) };
    format!("{marks} {}\n{place}\n", escape(&what))
}

fn uses(answer: &Answer) -> Vec<String> {
    let decided = |verdict: &survey::UseVerdict| {
        let figure = verdict.judged().first().map(|figure| figure.words_with_threshold());
        figure
            .into_iter()
            .chain(verdict.open.iter().map(|open| open.words().into()))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let one = |verdict: &survey::UseVerdict| {
        let words = match (&verdict.note, verdict.grade) {
            (Some(note), _) if verdict.bounds.is_some() => [note.clone(), decided(verdict)]
                .into_iter()
                .filter(|words| !words.is_empty())
                .collect::<Vec<_>>()
                .join(", "),
            (Some(note), _) => note.clone(),
            (None, Grade::Unknown) => "not measured".into(),
            (None, _) => decided(verdict),
        };
        format!("{}: **{}**, {}", verdict.of, verdict.word(), escape(&words))
    };
    answer.uses.iter().map(one).collect()
}

fn facts(answer: &Answer) -> Vec<String> {
    let files = answer.more.iter().filter(|(name, _)| *name != "streams");
    let files = files.map(|(name, words)| format!("{name}: {}", escape(words)));
    let time = answer.unlimited_time();
    let time = if time.is_empty() { String::new() } else { format!(". Time spent: {}", time.join("; ")) };
    let limits = answer.other_limits().map(|words| format!("Limits: {}", escape(&(words + &time))));
    let remedy = answer.remedy.as_ref().map(|words| format!("Remedy: {}", escape(words)));
    files
        .chain(remedy)
        .chain(limits)
        .chain([format!("Doubts: {}", escape(&answer.doubts_in_words()))])
        .collect()
}

fn verdicts(story: &Story) -> Vec<String> {
    let all = story.verdicts.iter().take(MOST);
    all.map(|verdict| format!("**{}**: {}", verdict.mark, escape(&verdict.sentence))).collect()
}

/// Doubts that the verdicts do not mention.
fn doubts(story: &Story) -> Vec<String> {
    let (first, rest): (Vec<_>, Vec<_>) = story.doubts.iter().partition(|doubt| doubt.code == STOOD_STILL);
    let all: Vec<_> = first.into_iter().chain(rest).filter(|doubt| doubt.code != "page-cache").collect();
    let lines = all.iter().take(MOST).map(|doubt| {
        let more = match doubt.sentences.len() {
            0 | 1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        format!("Doubt: {}{more}", escape(doubt.sentences.first().map_or("", String::as_str)))
    });
    let mut lines: Vec<String> = lines.collect();
    match all.len().saturating_sub(MOST) {
        0 => {}
        1 => lines.push("1 more kind of doubt".into()),
        n => lines.push(format!("{n} more kinds of doubt")),
    }
    lines
}

/// The results in at most `most` rows, and the number left out.
fn tables(run: &Run, most: usize) -> (String, usize) {
    let lines = results::of_run(run);
    let mut out = String::new();
    if lines.is_empty() {
        return printed(run, most);
    }
    let rows: Vec<Vec<String>> = lines.iter().take(most).map(cells).collect();
    // Columns without any value are omitted.
    let heads = ["", "throughput", "operations", "p50", "p99", "p99.9", "served by"];
    let kept: Vec<usize> =
        (0..heads.len()).filter(|i| *i == 0 || rows.iter().any(|row| row[*i] != NONE)).collect();
    let of = |row: &[String]| kept.iter().map(|i| row[*i].clone()).collect::<Vec<_>>();
    let shown: Vec<&str> = kept.iter().map(|i| heads[*i]).collect();
    table(&mut out, &shown, &rows.iter().map(|row| of(row)).collect::<Vec<_>>());
    (without_last_blank(out), lines.len() - rows.len())
}

const NONE: &str = "–";

fn cells(line: &ResultLine) -> Vec<String> {
    let or_none = |words: Option<String>| words.unwrap_or_else(|| NONE.into());
    let mut cells = vec![
        escape(&line.what),
        or_none(line.bytes_per_s.map(units::rate)),
        or_none(line.per_s.map(units::ops_rate)),
    ];
    cells.extend(line.ns.map(|ns| or_none(ns.map(units::time_ns))));
    cells.push(if line.served.is_empty() { NONE.into() } else { line.served.into() });
    cells
}

/// Imported figures, if they are of no kind that fathom measures.
fn printed(run: &Run, most: usize) -> (String, usize) {
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let all: Vec<Vec<String>> = imported::rows(&phases)
        .iter()
        .flat_map(|cell| {
            let row = |r: &imported::ImportedRow| {
                let name = format!("{}: {}", cell.title, r.name);
                std::iter::once(escape(&name)).chain(r.cells().map(|c| escape(&c))).collect()
            };
            cell.rows.iter().map(row).collect::<Vec<Vec<String>>>()
        })
        .collect();
    let mut out = String::new();
    if !all.is_empty() {
        let heads: Vec<&str> = std::iter::once("").chain(imported::HEADS).collect();
        table(&mut out, &heads, &all[..all.len().min(most)]);
    }
    (without_last_blank(out), all.len().saturating_sub(most))
}

pub(super) fn without_last_blank(mut text: String) -> String {
    if text.ends_with("\n\n") {
        text.pop();
    }
    text
}

/// The second run divided by the first; `None` if they have nothing in common.
fn ratio(a: &Run, b: &Run) -> Option<String> {
    let comparison = Comparison::of(a, b).filter(|c| !c.rows.is_empty())?;
    let mut out =
        format!("## {} divided by {}\n\n", escape(&Story::of(b).title), escape(&Story::of(a).title));
    for (letter, run) in [("A", a), ("B", b)] {
        let lines = heading::lines(run);
        let words: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
        let _ = writeln!(out, "- {letter}: {}", escape(&words.join(", ")));
    }
    let single = if comparison.single { format!(" {SINGLE_RUNS}") } else { String::new() };
    let _ = writeln!(out, "\nRatio B/A of throughput; above 1 B is faster.{single}\n");
    let most = LINES - out.lines().count() - 2 - 2;
    let rows: Vec<Vec<String>> = comparison
        .rows
        .iter()
        .take(most)
        .map(|row| {
            let unlike = match row.unlike {
                0 => String::new(),
                n => format!(" (**{n} served differently**)"),
            };
            vec![
                escape(&row.title),
                row.kind.words().to_string(),
                format!("{}{unlike}", row.ratios.n),
                units::ratio(row.ratios.median),
                format!("{} to {}", units::ratio(row.ratios.min), units::ratio(row.ratios.max)),
            ]
        })
        .collect();
    table(&mut out, &["Test", "Served by", "Cells", "Median", "Range"], &rows);
    let more = rest(comparison.rows.len() - rows.len());
    let _ = writeln!(out, "{more}: `fathom report {} {} --full -o details.md`", a.id, b.id);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::{LINES, ticket};
    use crate::samples;
    use fathom_record::Run;

    #[test]
    fn every_run_fits_and_begins_with_where_and_when() {
        for run in [
            samples::auto_run(),
            samples::survey_run(),
            samples::throughput_run(),
            samples::engine_run(),
            samples::filebench_run(),
            samples::sysbench_run(),
            samples::hostile_run(),
            samples::interrupted_run(),
            samples::imported_run(),
            samples::observed_run(),
            Run::default(),
        ] {
            let text = ticket(&[&run]);
            assert!(text.lines().count() <= LINES, "{}: {text}", text.lines().count());
            assert!(text.starts_with("## "), "{text}");
            assert!(text.contains(&format!("`fathom report {} --full", run.id)), "{text}");
            assert!(run.id.is_empty() || text.lines().nth(1).is_some_and(|line| line.len() > 10), "{text}");
        }
    }

    #[test]
    fn two_runs_are_divided_in_as_many_lines() {
        let text = ticket(&[&samples::auto_run(), &samples::auto_run_changed()]);
        assert!(
            text.lines().count() <= LINES && text.contains(" divided by ") && text.contains("- B: "),
            "{text}"
        );
        let apart = ticket(&[&samples::imported_run(), &Run { id: "x".into(), ..Run::default() }]);
        assert_eq!(apart.matches("## ").count(), 2, "{apart}");
    }

    #[test]
    fn left_out_items_are_counted() {
        let text = ticket(&[&samples::auto_run()]);
        assert!(text.contains(" more rows and details: `"), "{text}");
    }
}
