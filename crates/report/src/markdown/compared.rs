//! A comparison for a ticket, at most [`LINES`] lines: the sides, the answer, the figures (changes first), notices. Everything is in
//! `documents::comparison`.

use super::ticket::{LINES, rest, without_last_blank};
use super::{escape, text_table};
use crate::compared::{self, Compared, ComparedRow, Gate, Word};
use std::fmt::Write as _;

/// Maximum number of sentences of one kind.
const MOST: usize = 3;
const HEADS: [&str; 8] = ["cell", "figure", "A", "B", "B/A", "interval", "p", "verdict"];
/// Text of an empty table cell.
const NONE: &str = "-";

/// Every comparison separately, with its gate's decision.
#[must_use]
pub fn comparison(all: &[Compared], gates: Option<&[Gate]>) -> String {
    let gate = |i: usize| gates.and_then(|gates| gates.get(i));
    let texts: Vec<String> = all.iter().enumerate().map(|(i, c)| short(c, gate(i))).collect();
    texts.join("\n")
}

fn short(compared: &Compared, gate: Option<&Gate>) -> String {
    let top = head(compared);
    let answers = answers(compared, gate);
    let notices = notices(compared);
    let all = rows(compared);
    // A blank line precedes each part, the head of the table takes two lines, and the last line says where the rest is.
    let used = top.lines().count() + answers.len() + notices.len() + 2 + 1 + 4;
    let shown = &all[..all.len().min(LINES.saturating_sub(used))];
    let last = format!("{}: the same command with `--full`\n", rest(all.len() - shown.len()));
    parts(vec![top, list(&answers), figures(shown), list(&notices), last])
}

fn parts(all: Vec<String>) -> String {
    all.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

fn head(compared: &Compared) -> String {
    let mut out = format!("## {} compared with {}\n\n", escape(&compared.b.name), escape(&compared.a.name));
    for (letter, side) in [("A", &compared.a), ("B", &compared.b)] {
        let _ = writeln!(out, "- {letter}: {}", escape(&compared::side_words(side)));
    }
    let _ = writeln!(out, "- Measured as {}", escape(&compared.design_words));
    out
}

/// The gate's decision and the result of the comparison, as sentences.
fn answers(compared: &Compared, gate: Option<&Gate>) -> Vec<String> {
    let gate = gate.map(|gate| format!("**{}**", escape(&gate.sentence)));
    let all = compared::answer(compared);
    let more = all.len().saturating_sub(MOST);
    let lines = all.iter().take(MOST).map(|sentence| escape(sentence));
    let more = (more > 0).then(|| format!("{more} more such sentences"));
    gate.into_iter().chain(lines).chain(more).collect()
}

fn notices(compared: &Compared) -> Vec<String> {
    let one = |notice: &compared::Notice| match &notice.cell {
        Some(cell) => escape(&format!("To know: {cell}: {}", notice.sentence)),
        None => escape(&format!("To know: {}", notice.sentence)),
    };
    // With few cells, the answer above says it.
    let is_superfluous = |code: &str| code == "geometric-mean" && compared::singles(compared).is_none();
    let all: Vec<_> = compared.notices.iter().filter(|notice| !is_superfluous(notice.code)).collect();
    let more = all.len().saturating_sub(MOST);
    let more = (more > 0).then(|| format!("{more} more to know"));
    all.into_iter().take(MOST).map(one).chain(more).collect()
}

/// All compared figures: first those that changed, then the headline figures.
fn rows(compared: &Compared) -> Vec<&ComparedRow> {
    let mut all: Vec<&ComparedRow> = compared.rows.iter().filter(|row| !row.has_too_few()).collect();
    all.sort_by_key(|row| match row.verdict {
        Word::Better | Word::Worse | Word::Differs | Word::Suspect => 0,
        _ if row.headline => 1,
        _ => 2,
    });
    all
}

/// The table; columns without any value are omitted.
fn figures(rows: &[&ComparedRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let all: Vec<[String; 8]> = rows.iter().map(|row| compared::cells(row)).collect();
    let kept: Vec<usize> = (0..HEADS.len()).filter(|i| all.iter().any(|row| row[*i] != NONE)).collect();
    let heads: Vec<&str> = kept.iter().map(|i| HEADS[*i]).collect();
    let cells = |row: &[String; 8]| kept.iter().map(|i| escape(&row[*i])).collect::<Vec<_>>();
    let mut out = String::new();
    text_table(&mut out, &heads, &all.iter().map(cells).collect::<Vec<_>>());
    without_last_blank(out)
}

fn list(items: &[String]) -> String {
    items.iter().map(|item| format!("- {item}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::{LINES, comparison};
    use crate::compared::{Gate, tests_of_examples::*};

    #[test]
    fn a_comparison_fits_and_the_rest_is_counted() {
        for cells in [1, 3, 14, 60] {
            let compared = slower_in_cells(cells);
            let gate = Gate::of(&compared, &[]);
            let text = comparison(std::slice::from_ref(&compared), Some(&[gate]));
            assert!(text.lines().count() <= LINES, "{}: {text}", text.lines().count());
            assert!(text.starts_with("## ") && text.contains("- **Regression: "), "{text}");
            assert!(text.ends_with("`--full`\n"), "{text}");
            assert_eq!(text.contains(" more rows and details: "), cells > 1, "{text}");
        }
    }

    #[test]
    fn two_single_runs_have_no_columns_of_dashes() {
        let text = comparison(&[single(100.0, 210.0)], None);
        assert!(!text.contains("| p |") && text.lines().count() <= LINES, "{text}");
        insta::assert_snapshot!(text);
    }
}
