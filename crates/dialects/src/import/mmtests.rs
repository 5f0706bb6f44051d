//! The tables in which mmtests compares kernels: a run for each column, a cell for each operation, with a figure for each statistic and one
//! for its gain over the first column. mmtests prints no units: of means only the direction is known, as rates have harmonic and times
//! arithmetic means.

use super::Block;
use super::cell::{add, cell, converted, figure, run};
use super::context::Context;
use super::lines::{Lines, number};
use super::units::Unit;
use fathom_record::Phase;
use fathom_record::imported::units::{NS, PERCENT, UNKNOWN};

/// Lines of headings: the kernel, and the name of the test run.
const MOST_HEADS: usize = 2;
/// Lines above a table that may have its headings with blanks between them.
const MOST_ABOVE: usize = 16;

pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    let (heads, first) = heads(lines, at)?;
    let mut runs: Vec<Vec<Phase>> = heads.iter().map(|_| Vec::new()).collect();
    let mut block = Block { last: at, ..Block::default() };
    for n in first..lines.len() {
        let line = lines.trimmed(n);
        // A blank line may separate statistics, not tables.
        if line.is_empty() {
            if row(lines.trimmed(n + 1)).is_some() {
                continue;
            }
            break;
        }
        let Some(row) = row(line).filter(|row| row.cells.len() == heads.len()) else {
            if line.split_whitespace().next().is_some_and(is_statistic) {
                block.partly.push(n);
                block.last = n;
                continue;
            }
            break;
        };
        for (phases, cell) in runs.iter_mut().zip(&row.cells) {
            push(phases, &row, cell, n);
        }
        block.last = n;
    }
    let columns = super::several(heads.len(), "column");
    block.what = format!("mmtests, {columns} of {}", super::several(runs[0].len(), "operation"));
    for (head, phases) in heads.into_iter().zip(runs) {
        let mut run = run("mmtests", "mmtests".into(), phases);
        run.label = head;
        block.runs.push(run);
    }
    Some(block)
}

/// First words of rows.
const STATISTICS: [&str; 18] = [
    "Min",
    "Max",
    "Hmean",
    "Amean",
    "Gmean",
    "Lmean",
    "Stddev",
    "CoeffVar",
    "Median",
    "1st-qrtle",
    "2nd-qrtle",
    "3rd-qrtle",
    "Max-90%",
    "Max-95%",
    "Max-99%",
    "SubAmean",
    "BHmean-50",
    "BAmean-50",
];
/// First words of the rows of the table of durations, in seconds.
const DURATIONS: [&str; 3] = ["User", "System", "Elapsed"];

/// The name of each column, and the first row.
fn heads(lines: &Lines, at: usize) -> Option<(Vec<String>, usize)> {
    let words = |n: usize| lines.trimmed(n).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let names = words(at);
    if names.is_empty() || row(lines.trimmed(at)).is_some() || names.iter().all(|w| number(w).is_some()) {
        return None;
    }
    let first = (at + 1..=at + MOST_HEADS).find(|&n| row(lines.trimmed(n)).is_some())?;
    let columns = row(lines.trimmed(first))?.cells.len();
    let mut below = words(first - 1);
    let has_two = first - 1 > at && !below.is_empty();
    if has_two && names.len() == columns && below.len() < columns {
        below = unglued(lines, at, &below, columns);
    }
    let fits = names.len() == columns && (!has_two || below.len() == columns);
    // A single column of a table without percentages is any text with a number below it.
    let is_sure = columns > 1 || row(lines.trimmed(first))?.cells[0].gain.is_some();
    if !fits || !is_sure {
        return None;
    }
    let joined = |(name, below): (&String, &String)| format!("{name} {below}");
    let heads = if has_two { names.iter().zip(&below).map(joined).collect() } else { names };
    Some((heads, first))
}

/// Names that are as long as their columns have no blanks between them. A table above may have them with blanks; else a name tells its
/// column.
fn unglued(lines: &Lines, at: usize, glued: &[String], columns: usize) -> Vec<String> {
    let above = (at.saturating_sub(MOST_ABOVE)..at)
        .map(|n| lines.trimmed(n).split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    let is_same = |names: &Vec<String>| names.len() == columns && names.concat() == glued.concat();
    let numbered = || (1..=columns).map(|n| format!("(column {n} of {})", glued.join(" "))).collect();
    above.rev().find(is_same).unwrap_or_else(numbered)
}

struct Row<'t> {
    statistic: &'t str,
    operation: String,
    unit: Unit,
    cells: Vec<Cell<'t>>,
}

struct Cell<'t> {
    value: f64,
    word: &'t str,
    /// Percent, and as printed.
    gain: Option<(f64, &'t str)>,
}

/// "Hmean  send-64  153.62 (   0.00%)  151.80 *  -1.19%*": a statistic, an operation, and for each column a value and its gain in
/// brackets, or in stars if it is significant. Durations and counters have no gain.
fn row(line: &str) -> Option<Row<'_>> {
    let (statistic, _) = line.split_once(char::is_whitespace)?;
    if !is_statistic(statistic) {
        return duration(line);
    }
    if statistic == "Ops" && !line.contains('(') {
        return counter(line);
    }
    let mut cells = Vec::new();
    let mut name = None;
    let mut rest = line;
    while let Some((before, opening, behind)) = bracket(rest) {
        let (text, word) = before.trim_end().rsplit_once(char::is_whitespace).unwrap_or(("", before.trim()));
        let text = text.trim();
        if name.is_some() && !text.is_empty() {
            return None;
        }
        let (inside, behind) = behind.split_once(if opening == '(' { ')' } else { '*' })?;
        let percent = inside.trim().strip_suffix('%')?;
        name.get_or_insert(text);
        let gain = number(percent).map(|value| (value, inside.trim()));
        // The gain over 0 is "nan" or "inf", which is no figure.
        if gain.is_none() && percent.chars().any(|c| c.is_ascii_digit()) {
            return None;
        }
        cells.push(Cell { value: number(word)?, word, gain });
        rest = behind;
    }
    if !rest.trim().is_empty() || cells.is_empty() {
        return None;
    }
    let operation = name?.strip_prefix(statistic)?.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Row { statistic, operation, unit: NO_UNIT, cells })
}

const NO_UNIT: Unit = Unit { base: UNKNOWN, factor: 1.0 };

/// "Duration User  1234.56  1230.00", in old releases without the first word.
fn duration(line: &str) -> Option<Row<'_>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let words = words.strip_prefix(&["Duration"]).unwrap_or(&words);
    let (statistic, values) = words.split_first().filter(|(first, _)| DURATIONS.contains(first))?;
    let cells = values.iter().map(|w| plain(w)).collect::<Option<Vec<Cell>>>().filter(|c| !c.is_empty())?;
    Some(Row { statistic, operation: "duration".into(), unit: Unit { base: NS, factor: 1e9 }, cells })
}

/// "Ops Minor Faults  1200.00  1300.00".
fn counter(line: &str) -> Option<Row<'_>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let values = words.iter().rposition(|w| number(w).is_none())? + 1;
    let cells: Option<Vec<Cell>> = words[values..].iter().map(|w| plain(w)).collect();
    let cells = cells.filter(|c| !c.is_empty() && values > 1)?;
    Some(Row { statistic: "Ops", operation: words[1..values].join(" "), unit: NO_UNIT, cells })
}

fn plain(word: &str) -> Option<Cell<'_>> {
    Some(Cell { value: number(word)?, word, gain: None })
}

/// The text before the next bracket or star, that character, and the text after it.
fn bracket(text: &str) -> Option<(&str, char, &str)> {
    let at = text.find(['(', '*'])?;
    Some((&text[..at], char::from(text.as_bytes()[at]), &text[at + 1..]))
}

/// Statistics have variants: "Max-90%", "BHmean-95", "SubHmean".
fn is_statistic(word: &str) -> bool {
    word == "Ops"
        || STATISTICS.contains(&word)
        || ["BHmean-", "BAmean-", "Max-", "Min-", "SubHmean", "SubAmean", "Amean-", "Hmean-"]
            .iter()
            .any(|start| word.starts_with(start))
        || word.ends_with("-qrtle")
}

fn push(phases: &mut Vec<Phase>, row: &Row, value: &Cell, n: usize) {
    let operation = if row.operation.is_empty() { "all" } else { &row.operation };
    let at = phases.iter().position(|p| p.name == operation).unwrap_or_else(|| {
        phases.push(cell(operation));
        phases.len() - 1
    });
    let phase = &mut phases[at];
    let mut f = converted(row.statistic, value.value, row.unit, value.word.into(), n);
    if row.statistic.contains("Hmean") {
        f.higher_is_better = Some(true);
    } else if row.statistic.contains("Amean") {
        f.higher_is_better = Some(false);
    }
    add(phase, f);
    if let Some((percent, word)) = value.gain {
        add(phase, figure(&format!("{}, gain", row.statistic), percent, PERCENT, word.into(), n));
    }
}
