//! A comparison as GitHub Actions annotations: an error for each regression, a warning for insufficient data, a notice for the
//! gate's decision.

use super::{Compared, Gate, Outcome, Word};
use std::fmt::Write as _;

/// Annotations of one kind that GitHub shows per step; the rest are only counted.
const MOST: usize = 10;

/// The annotation lines; `gates` correspond to the comparisons.
#[must_use]
pub fn github(all: &[Compared], gates: &[Gate]) -> String {
    let mut text = String::new();
    for (compared, gate) in all.iter().zip(gates) {
        let worse = |i: &&usize| compared.rows[**i].verdict == Word::Worse;
        let errors: Vec<&usize> = gate.rows.iter().filter(worse).collect();
        let warnings: Vec<&usize> = gate.open.iter().collect();
        for (kind, rows) in [("error", &errors), ("warning", &warnings)] {
            for i in rows.iter().take(MOST - 1) {
                let row = &compared.rows[**i];
                let title = property(&format!("{}: {}", row.cell, row.metric));
                let _ = writeln!(text, "::{kind} title={title}::{}", data(&row.sentence));
            }
            let more = rows.len().saturating_sub(MOST - 1);
            if more > 0 {
                let _ = writeln!(text, "::{kind} title=fathom compare::and {more} more figures");
            }
        }
        let kind = if gate.outcome == Outcome::Passed { "notice" } else { "warning" };
        let title = property(&format!("fathom compare: {} against {}", compared.b.name, compared.a.name));
        let _ = writeln!(text, "::{kind} title={title}::{}", data(&gate.sentence));
    }
    text
}

/// The line if nothing was compared.
#[must_use]
pub fn github_undecided(sides: &[&str; 2], why: &str) -> String {
    let title = property(&format!("fathom compare: {} against {}", sides[1], sides[0]));
    format!("::warning title={title}::{}\n", data(&format!("Not enough data: {why}")))
}

/// Escapes the text of an annotation.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property, which ends at a colon or comma.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SLOWER, compared, sides_of};
    use super::*;

    #[test]
    fn without_data_the_reason_is_shown() {
        assert_eq!(
            github_undecided(&["a", "b"], "5 % noise\ntoo much"),
            "::warning title=fathom compare%3A b against a::Not enough data: 5 %25 noise%0Atoo much\n"
        );
    }

    #[test]
    fn a_regression_is_an_error_in_githubs_own_escapes() {
        let found = compared(&sides_of(&SLOWER, 1));
        let gate = Gate::of(&found, &[crate::compared::Metric::All]);
        let text = github(std::slice::from_ref(&found), &[gate]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with(
                "::error title=read%2C record 4 KiB%3A throughput::B is 2.7 %25 slower than A (ratio"
            ),
            "{text}"
        );
        assert!(
            lines[1].starts_with("::warning title=read%2C record 4 KiB%3A read p99.9::Too few"),
            "{text}"
        );
        assert_eq!(
            lines[2],
            "::warning title=fathom compare%3A new against old::Regression: 1 of 4 figures worse by 1 %25 or more."
        );
        assert_eq!(lines.len(), 3);
    }
}
