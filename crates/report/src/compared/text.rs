//! A comparison on the terminal: what was compared and how, a line for each figure, sentences for the headline figures,
//! notices, and the differences between the sides.

use super::judge::{ComparedRow, Word};
use super::notices::spelled;
use super::{Compared, Design, MANY, Session, SessionPart, SideInfo, one_each};
use crate::units;
use fathom_compare::summary::median;
use fathom_compare::wording::{p_value, short};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// Maximum number of sentences printed in full; with more cells, only notable ones.
const MOST_SENTENCES: usize = 12;
/// Maximum number of notices, and of differences of each kind.
const MOST_NOTICES: usize = 20;

/// The whole text.
#[must_use]
pub fn text(compared: &Compared) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "A  {}", side(&compared.a));
    let _ = writeln!(text, "B  {}", side(&compared.b));
    let _ = writeln!(text, "measured as {}", compared.design_words);
    if let Some(session) = &compared.session {
        text += &measured_by(session);
    }
    text.push('\n');
    match (super::singles(compared), one_each::text(compared)) {
        (Some(singles), _) => text += &by_operation(&singles),
        (None, Some(one_each)) => text += &one_each,
        (None, None) => {
            text += &table(compared);
            text += &sentences(compared);
        }
    }
    if compared.design == Design::Single {
        text += &one_each::advice(compared);
    }
    for family in compared.families.iter().filter(|f| f.cells >= MANY && f.p.is_some()) {
        let _ = writeln!(text, "\n{}: {}", family.metric, family.sentence);
    }
    text += &notices(compared);
    for (head, all) in
        [("The environments differ:", &compared.environment), ("The workloads differ:", &compared.workload)]
    {
        if !all.is_empty() {
            let _ = writeln!(text, "\n{head}");
        }
        for d in all.iter().take(MOST_NOTICES) {
            let _ = writeln!(text, "  {}: {} | {}", d.name, d.a, d.b);
        }
        more(&mut text, all.len());
    }
    text += &only_in_one(compared);
    text
}

/// Cells without a counterpart. Surveys choose theirs as they go, so for two of them only the number is given.
fn only_in_one(compared: &Compared) -> String {
    let mut text = String::new();
    let (only_a, only_b) = (compared.only_a.len(), compared.only_b.len());
    if compared.are_surveys && only_a + only_b > 0 {
        let mut cells: Vec<&str> = compared.rows.iter().map(|row| row.cell.as_str()).collect();
        cells.dedup();
        return format!(
            "\nDifferent surveys: {} cells are in both and are compared; {only_a} are only in A, {only_b} only in B (--json lists them).\n",
            cells.len()
        );
    }
    for (letter, other, all) in [("A", "B", &compared.only_a), ("B", "A", &compared.only_b)] {
        if !all.is_empty() {
            let _ = writeln!(text, "\nOnly {letter} has these; {other} has nothing to compare:");
        }
        for name in all.iter().take(MOST_NOTICES) {
            let _ = writeln!(text, "  {name}");
        }
        more(&mut text, all.len());
    }
    text
}

/// The result in sentences: for single runs how many times as fast B is, for many cells how many changed, for few cells each.
pub(crate) fn answer(compared: &Compared) -> Vec<String> {
    if let Some(singles) = super::singles(compared) {
        return singles.iter().map(super::singles::Singles::sentence).collect();
    }
    if compared.design == Design::Single
        && let Some(line) = one_each::headline(compared)
    {
        return vec![line];
    }
    if let Some(line) = super::tally::tally(compared, MOST_SENTENCES) {
        return vec![line];
    }
    let quoted: Vec<&ComparedRow> = compared.rows.iter().filter(|row| row.headline).collect();
    let one = |row: &&ComparedRow| match quoted.len() {
        1 => row.sentence.clone(),
        _ => format!("{}: {}", row.cell, row.sentence),
    };
    quoted.iter().map(one).collect()
}

/// When the comparison looked at the figures, and how far single runs scatter.
fn measured_by(session: &Session) -> String {
    let mut text = match session.part {
        SessionPart::Noise => String::new(),
        _ => format!("planned: {}\n", session.plan.stopping.words()),
    };
    for sentence in session.scatters() {
        let _ = writeln!(text, "{sentence}");
    }
    text
}

/// The percentiles from too few operations, in one line: rows of dashes would say no more.
pub(crate) fn too_few(compared: &Compared) -> Option<String> {
    // Grouped by the number needed, that is, by percentile.
    let mut percentiles: Vec<(u64, &str, Vec<&str>, usize)> = Vec::new();
    for row in compared.rows.iter().filter(|r| r.has_too_few()) {
        let needed = row.operations_needed.unwrap_or_default();
        let (operation, percentile) = row.metric.rsplit_once(' ').unwrap_or((&row.metric, ""));
        let at = match percentiles.iter().position(|p| p.0 == needed && p.1 == percentile) {
            Some(at) => at,
            None => {
                percentiles.push((needed, percentile, Vec::new(), 0));
                percentiles.len() - 1
            }
        };
        let (_, _, operations, rows) = &mut percentiles[at];
        *rows += 1;
        if !operations.contains(&operation) {
            operations.push(operation);
        }
    }
    percentiles.sort_by_key(|p| p.0);
    let one = |(needed, percentile, operations, rows): &(u64, &str, Vec<&str>, usize)| {
        let cells = if *rows == operations.len() { String::new() } else { format!(", {rows} cells") };
        format!(
            "{percentile} of {} ({} needed in every run{cells})",
            operations.join(", "),
            units::count(*needed)
        )
    };
    let words: Vec<String> = percentiles.iter().map(one).collect();
    (!words.is_empty()).then(|| format!("Too few operations to compare {}.", words.join("; ")))
}

fn more(text: &mut String, all: usize) {
    if all > MOST_NOTICES {
        let _ = writeln!(text, "  and {} more; --json has them all", all - MOST_NOTICES);
    }
}

/// "none: 10 runs, 20261121T210531-1a2b3c to 20261121T211400-1a2b3c".
pub(crate) fn side(side: &SideInfo) -> String {
    let count = if side.runs.len() == 1 { "1 run".into() } else { format!("{} runs", side.runs.len()) };
    let ids: Vec<&str> = side.runs.iter().map(|r| r.id.as_str()).filter(|i| !i.is_empty()).collect();
    let ids = match ids.as_slice() {
        [] => String::new(),
        [one] if *one == side.name => String::new(),
        [one] => format!(", {one}"),
        [first, .., last] => format!(", {first} to {last}"),
    };
    format!("{}: {count}{ids}", side.name)
}

/// Rows to print: all of a few cells; of many, the headline figures and whatever is worse or better.
fn shown(compared: &Compared) -> Vec<&ComparedRow> {
    let quoted = compared.rows.iter().filter(|r| r.headline).count();
    let is_shown = |r: &&ComparedRow| {
        quoted <= MOST_SENTENCES
            || r.headline
            || matches!(r.verdict, Word::Better | Word::Worse | Word::Differs | Word::Suspect)
    };
    compared.rows.iter().filter(|r| !r.has_too_few()).filter(is_shown).collect()
}

/// Many cells of single runs, one line per operation.
fn by_operation(singles: &[super::singles::Singles]) -> String {
    let width = singles.iter().map(|s| s.operation.width() + s.metric.width() + 2).max().unwrap_or(0);
    let mut text = format!("{:width$}  cells  B/A median    lowest   highest\n", "operation: figure");
    for s in singles {
        let _ = writeln!(
            text,
            "{:width$}  {:>5}  {:>10}  {:>8}  {:>8}",
            format!("{}: {}", s.operation, s.metric),
            s.ratios.n,
            short(s.ratios.median),
            short(s.ratios.min),
            short(s.ratios.max)
        );
    }
    text += "\nOne run each; not a verdict. --json and the page have every cell.\n";
    text
}

fn table(compared: &Compared) -> String {
    let rows = shown(compared);
    let few = too_few(compared).map_or(String::new(), |line| line + "\n");
    if rows.is_empty() && few.is_empty() {
        return "The sides have no figure of a cell in common.\n".into();
    }
    if rows.is_empty() {
        return few;
    }
    let sums = super::tally::tally(compared, MOST_SENTENCES).map_or(String::new(), |line| line + "\n\n");
    let mut lines = vec![["cell", "figure", "A", "B", "B/A", "interval", "p", "verdict"].map(String::from)];
    let mut above = "";
    for row in &rows {
        let mut line = cells(row);
        // The cell is named once for all of its figures.
        if above == row.cell {
            line[0].clear();
        }
        above = &row.cell;
        lines.push(line);
    }
    let widths: [usize; 8] =
        std::array::from_fn(|i| lines.iter().map(|l| l[i].width()).max().unwrap_or_default());
    let mut text = sums;
    for line in &lines {
        let mut out = String::new();
        for (i, (cell, width)) in line.iter().zip(widths).enumerate() {
            let fill = " ".repeat(width - cell.width());
            let right = (2..7).contains(&i);
            let _ = if right { write!(out, "{fill}{cell}  ") } else { write!(out, "{cell}{fill}  ") };
        }
        let _ = writeln!(text, "{}", out.trim_end());
    }
    text += &few;
    let hidden = compared.rows.iter().filter(|r| !r.has_too_few()).count() - rows.len();
    if hidden > 0 {
        let _ = writeln!(
            text,
            "{hidden} more figures are not shown, none of them better or worse; --json has them all"
        );
    }
    text
}

/// The cells of a table row: cell, figure, A, B, their ratio, its interval, p, and the word.
pub(crate) fn cells(row: &ComparedRow) -> [String; 8] {
    let value = |values: &[f64]| median(values).map_or("-".into(), |v| spelled(v, &row.unit));
    // Digits beyond the interval's precision are noise.
    const WIDE: f64 = 0.1;
    let is_wide = |e: &super::Effect| match (e.low, e.high) {
        (Some(low), Some(high)) => high - low > WIDE * e.estimate.abs(),
        _ => true,
    };
    let number = |v: f64| match row.ratio() {
        Some(_) if row.effect.as_ref().is_some_and(is_wide) => short(v),
        Some(_) => format!("{v:.4}"),
        None => spelled(v, &row.unit),
    };
    let interval = row.effect.and_then(|e| Some(format!("{}..{}", number(e.low?), number(e.high?))));
    let p = row.p.map(p_value).map(|p| p.trim_start_matches("p ").trim_start_matches("= ").to_owned());
    [
        row.cell.clone(),
        row.metric.clone(),
        value(&row.a),
        value(&row.b),
        row.effect.map_or("-".into(), |e| number(e.estimate)),
        interval.unwrap_or_else(|| "-".into()),
        p.unwrap_or_else(|| "-".into()),
        row.verdict.words(row.is_of_speed()).into(),
    ]
}

/// With many cells, only the notable ones.
fn sentences(compared: &Compared) -> String {
    let quoted: Vec<&ComparedRow> = compared.rows.iter().filter(|r| r.headline).collect();
    let alone = quoted.len() == 1;
    let few = quoted.len() <= MOST_SENTENCES;
    let tells = |r: &&ComparedRow| {
        few || matches!(r.verdict, Word::Better | Word::Worse | Word::Differs | Word::Suspect)
    };
    let mut text = String::new();
    let shown: Vec<&ComparedRow> =
        compared.rows.iter().filter(|r| if few { r.headline } else { tells(r) && r.headline }).collect();
    if !shown.is_empty() {
        text.push('\n');
    }
    for row in shown.iter().take(MOST_NOTICES) {
        let _ = if alone {
            writeln!(text, "{}", row.sentence)
        } else {
            writeln!(text, "{}: {}", row.cell, row.sentence)
        };
    }
    more(&mut text, shown.len());
    text
}

fn notices(compared: &Compared) -> String {
    let mut text = String::new();
    // With few cells, the answer above says it.
    let is_superfluous = |code: &str| code == "geometric-mean" && super::singles(compared).is_none();
    let notices: Vec<_> = compared.notices.iter().filter(|notice| !is_superfluous(notice.code)).collect();
    if !notices.is_empty() {
        text += "\nTo know:\n";
    }
    for notice in notices.iter().take(MOST_NOTICES) {
        let _ = match &notice.cell {
            Some(cell) => writeln!(text, "  {cell}: {}", notice.sentence),
            None => writeln!(text, "  {}", notice.sentence),
        };
    }
    more(&mut text, notices.len());
    text
}
