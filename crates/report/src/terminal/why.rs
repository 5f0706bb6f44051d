//! The answer to "why is this not faster?" in ten lines.

use super::{NARROWEST, Paint, Style, TerminalPage, cut, wrapped};
use crate::budget::Budget;
use crate::why::{self, Why};
use crate::{printable::clean, units};
use unicode_width::UnicodeWidthStr;

/// Maximum number of lines.
const LINES: usize = 10;
/// Width of a full bar.
const BAR: usize = 20;
/// At least this many parts get their own rows; if no more fit, the smallest are combined.
const FEWEST_PARTS: usize = 2;
/// Smaller shares of the time get no line.
const NOTABLE: f64 = 0.01;

/// The answer for a terminal of `width` columns; `after` are closing lines with the next commands.
#[must_use]
pub fn answer(found: &Why, after: &[String], width: usize, colour: bool) -> String {
    let layout = width.max(NARROWEST);
    let mut page = TerminalPage { lines: Vec::new(), width, paint: Paint { on: colour } };
    let reached = if found.reached.is_empty() { String::new() } else { format!(": {}", found.reached) };
    page.line(Style::Dim, &cut(&clean(&format!("{}{reached}", found.phase)), layout));
    page.paragraph(Style::Bold, "", &found.answer, layout);
    if !found.advice.is_empty() {
        page.paragraph(Style::Plain, "> ", &found.advice, layout);
    }
    let after_lines: usize = after.iter().map(|line| wrapped(line, layout).len()).sum();
    if let Some(budget) = &found.budget {
        let room = LINES.saturating_sub(page.lines.len() + after_lines + 1).max(FEWEST_PARTS);
        parts(&mut page, budget, room);
    }
    for line in after {
        page.paragraph(Style::Plain, "", line, layout);
    }
    page.finish()
}

fn parts(page: &mut TerminalPage, budget: &Budget, room: usize) {
    let title = format!("{} for one {}:", units::time_ns(budget.total_ns), budget.operation);
    page.line(Style::Plain, &title);
    let mut rows: Vec<(String, f64)> =
        budget.parts.iter().map(|p| (why::words(p.layer, budget), p.ns)).collect();
    let mut rest = 0.0;
    loop {
        let least = rows.iter().enumerate().min_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let Some((at, share)) = least.map(|(at, row)| (at, row.1 / budget.total_ns)) else { break };
        let full = rows.len() > room || rows.len() == room && rest / budget.total_ns >= NOTABLE;
        if share >= NOTABLE && !full {
            break;
        }
        rest += rows.remove(at).1;
    }
    if rest / budget.total_ns >= NOTABLE {
        rows.push(("all else".into(), rest));
    }
    let widest = rows.iter().map(|r| r.0.width()).max().unwrap_or(0);
    for (name, ns) in rows {
        let share = ns / budget.total_ns;
        let bar = "#".repeat((share * BAR as f64).round() as usize);
        let (time, share) = (units::time_ns(ns), units::percent(share));
        page.line(Style::Plain, format!("  {name:<widest$} {time:>8} {share:>6}  {bar}").trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Layer, LayerShare};

    fn found(parts: &[(Layer, f64)]) -> Why {
        let total_ns = parts.iter().map(|p| p.1).sum();
        let parts = parts.iter().map(|&(layer, ns)| LayerShare { layer, ns }).collect();
        Why {
            run: "20261127T120000-abcdef".into(),
            phase: "read, O_DIRECT".into(),
            reached: "18.7 MiB/s, 4787 per s".into(),
            answer: "A control group holds reads of vda to 20 MiB/s, and the phase stands there.".into(),
            advice: "Raise the limit (io.max), or measure outside of the group.".into(),
            rule: Some("io-limit".into()),
            evidence: Vec::new(),
            budget: Some(Budget {
                operation: "read",
                total_ns,
                parts,
                devices: "vda".into(),
                queue_watched: true,
                processor_watched: true,
                at_most: false,
            }),
        }
    }

    const ALL: [(Layer, f64); 6] = [
        (Layer::Program, 1_000.0),
        (Layer::Pause, 2_000.0),
        (Layer::Kernel, 17_000.0),
        (Layer::Queue, 3_000.0),
        (Layer::Device, 87_000.0),
        (Layer::Elsewhere, 90_000.0),
    ];

    #[test]
    fn ten_lines_hold_the_answer() {
        let text = answer(&found(&ALL), &["Try: fathom sweep --vary a=1,2 -- w.toml".into()], 80, false);
        insta::assert_snapshot!(text);
        assert_eq!(text.lines().count(), LINES);
    }

    #[test]
    fn what_has_no_room_is_told_together() {
        let text = answer(&found(&ALL), &["a".into(), "b".into(), "c".into()], 80, false);
        insta::assert_snapshot!(text);
        assert_eq!(text.lines().count(), LINES);
    }
}
