//! How phases ran, on the terminal: latencies with parts; warm-up, depth, rate and steady state; and the machine's own stalls,
//! as far as they fit.

use super::{Style, TerminalPage, plain_table, right_aligned, told_apart, wrapped};
use crate::{
    conduct::{self, Beside, ConductRow, Steady},
    latency::{in_parts, paced},
    printable::clean,
    spark,
    surface::on_surfaces,
    units,
};
use fathom_record::{Phase, Run};

/// Maximum number of rows in the latency table before the rest is counted.
const MOST_PARTS: usize = 10;
/// Maximum number of lines of each other kind.
const MOST_LINES: usize = 4;

/// Response beside service time, submission beside completion.
pub(super) fn parts(page: &mut TerminalPage, run: &Run, layout: usize) {
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let rows = in_parts(&on_surfaces(&phases).1);
    let shown = rows.len().min(MOST_PARTS);
    if rows.is_empty() || page.room() < shown + 3 {
        return;
    }
    let mut table = plain_table(layout);
    table.set_header(["latency", "", "p50", "p99", "p99.9", "max"]);
    let names: Vec<String> = rows[..shown].iter().map(|r| clean(&r.brief)).collect();
    let names = told_apart(&names, layout.saturating_sub(54).max(8));
    for (at, row) in rows[..shown].iter().enumerate() {
        // A phase's name is shown once, before its parts.
        let again = at > 0 && rows[at - 1].title == row.title;
        let name = if again { String::new() } else { names[at].clone() };
        table.add_row([
            name,
            row.part(paced(&rows, row)).to_string(),
            units::time_ns(row.p50_ns as f64),
            units::time_ns(row.p99_ns as f64),
            units::time_ns(row.p999_ns as f64),
            units::time_ns(row.max_ns as f64),
        ]);
    }
    right_aligned(&mut table, 2..=5);
    page.table(&table);
    if rows.len() > shown {
        page.line(Style::Dim, &format!(" ... and {} more", rows.len() - shown));
    }
}

/// One line per phase and topic.
pub(super) fn lines(page: &mut TerminalPage, run: &Run, layout: usize) {
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let rows = conduct::rows(&phases).iter().map(row).take(MOST_LINES).collect::<Vec<_>>();
    let steady = conduct::steady(&phases).iter().map(steady).take(MOST_LINES).collect::<Vec<_>>();
    let tails = conduct::tails(&phases).iter().map(beside).take(MOST_LINES).collect::<Vec<_>>();
    let all: Vec<String> = rows.into_iter().chain(steady).chain(tails).collect();
    // Needs an empty line, the heading, and the first item in full: a heading alone says nothing.
    let first = all.first().map(|line| wrapped(&clean(line), layout.saturating_sub(2).max(8)).len());
    if first.is_none_or(|lines| page.room() < lines + 2) {
        return;
    }
    page.line(Style::Plain, "");
    page.line(Style::Bold, "how it went");
    for line in &all {
        if page.room() < wrapped(&clean(line), layout.saturating_sub(2).max(8)).len() {
            return;
        }
        page.paragraph(Style::Plain, "- ", &clean(line), layout);
    }
}

fn row(row: &ConductRow) -> String {
    format!("{}: {}", row.brief, row.words())
}

fn steady(found: &Steady) -> String {
    let s = &found.state;
    format!(
        "{}: steady: {} {}, range {}, trend {}, {} rounds of {}",
        found.brief,
        found.answer(),
        spark::bars_in(&s.rounds, 12),
        units::percent(s.range_percent / 100.0),
        units::percent(s.slope_percent / 100.0),
        s.rounds.len(),
        units::time_ns(s.round_ns as f64)
    )
}

fn beside(found: &Beside) -> String {
    let [p999, machine, slowest, longest, whose] = found.cells();
    format!(
        "{}: p99.9 {p999} beside stalls of {machine}, max {slowest} beside {longest}: {whose}",
        found.brief
    )
}
