//! Tables of figures written by people: underlined headings ("Test rc8 rc8*" above "-----"), separated by TABs, or with bars between
//! cells. With a rule below the headings the bars tell a cell's column. Each column is a run and each row a cell, so that columns compare like systems. A table with bars and no headings gives
//! workload parameters; one about memory and caches describes hosts. The text before a table gives the meaning of its values.

use super::cell::{figure, run};
use super::columns::Columns;
use super::context::{Context, Host, is_rule};
use super::lines::{Lines, leading, number, unit as word_of};
use super::units::{Prefix, Unit, unit};
use super::{Block, cell};
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT, TIME};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, NS, OPS_PER_S, PERCENT, UNKNOWN};
use fathom_record::{Phase, Run};

/// Lines before a table that are searched for its unit.
const NEAR: usize = 8;
/// Maximum lines of a table with bars.
const LONGEST: usize = 500;

pub(super) fn parse(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    bars(lines, at, context).or_else(|| ruled(lines, at, context)).or_else(|| hosts(lines, at))
}

/// A cell of a column: row name, printed value, line.
struct Value {
    row: String,
    value: f64,
    printed: String,
    line: usize,
}

/// Headings, a rule, and rows with a name and a number for each heading.
fn ruled(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    let heads: Vec<&str> = lines.trimmed(at).split_whitespace().collect();
    if heads.len() < 2 || !is_rule(lines.trimmed(at + 1)) || heads.iter().any(|h| number(h).is_some()) {
        return None;
    }
    let columns = &heads[1..];
    let mut values: Vec<Vec<Value>> = columns.iter().map(|_| Vec::new()).collect();
    let mut last = at;
    for n in at + 2..lines.len() {
        let words: Vec<&str> = lines.trimmed(n).split_whitespace().collect();
        let Some(names) = words.len().checked_sub(columns.len()).filter(|&names| names > 0) else { break };
        let (names, figures) = words.split_at(names);
        if !figures.iter().all(|w| is_gap(w) || scaled(w).is_some()) || figures.iter().all(|w| is_gap(w)) {
            break;
        }
        for (column, word) in values.iter_mut().zip(figures) {
            if let Some((value, word)) = scaled(word) {
                column.push(Value { row: names.join(" "), value, printed: word.into(), line: n });
            }
        }
        last = n;
    }
    (last >= at + 3).then(|| columns_as_runs(lines, at, last, columns, values, context))
}

/// Cells between bars, one or several per line.
fn bars(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    if !lines.trimmed(at).starts_with('|') {
        return None;
    }
    if is_bar_rule(lines.trimmed(at + 1)) {
        return grid(lines, at, context);
    }
    let mut cells: Vec<(usize, &str)> = Vec::new();
    let mut last = at;
    for n in at..lines.len().min(at + LONGEST) {
        let line = lines.trimmed(n);
        if !line.contains('|') {
            break;
        }
        // Text before the first bar belongs to the cell left open on the previous line.
        cells.extend(
            line.strip_prefix('|').unwrap_or(line).trim_end_matches('|').split('|').map(|c| (n, c.trim())),
        );
        last = n;
    }
    let first = cells.iter().position(|(_, c)| value(c).is_some())?;
    let named = |range: &[(usize, &'_ str)]| range.iter().rposition(|(_, c)| !c.is_empty());
    let label = named(&cells[..first])?;
    let heads: Vec<&str> =
        cells[..label].iter().map(|c| c.1).filter(|c| !c.is_empty() && !is_dashes(c)).collect();
    let mut block = Block { last, ..Block::default() };
    if heads.is_empty() {
        let mut name = "";
        for (_, text) in cells.iter().filter(|(_, c)| !c.is_empty()) {
            if name.is_empty() {
                name = text;
            } else {
                block.parameters.push((std::mem::take(&mut name).to_string(), (*text).to_string()));
            }
        }
        block.what = format!("parameters of a workload: {}", block.parameters.len());
        return (!block.parameters.is_empty() && name.is_empty()).then_some(block);
    }
    // With a heading over the names there is one too many: the first row then has no number for it.
    let is_figure = |c: &(usize, &str)| c.1.is_empty() || value(c.1).is_some();
    let first_row = |columns: usize| {
        cells[label + 1..].iter().take(columns).all(is_figure) && cells.len() > label + columns
    };
    let heads = if first_row(heads.len()) { &heads[..] } else { &heads[1..] };
    let mut columns: Vec<Vec<Value>> = heads.iter().map(|_| Vec::new()).collect();
    let mut next = label;
    while next < cells.len() {
        let (_, row) = cells[next];
        next += 1;
        if row.is_empty() || is_dashes(row) {
            continue;
        }
        for column in &mut columns {
            let Some(&(line, text)) = cells.get(next) else { break };
            if let Some((number, printed)) = value(text) {
                let row = row.trim_matches('`').into();
                column.push(Value { row, value: number, printed: printed.into(), line });
            } else if !text.is_empty() {
                break;
            }
            next += 1;
        }
    }
    let found = columns_as_runs(lines, at, last, heads, columns, context);
    (!found.runs.is_empty()).then_some(found)
}

/// Headings of columns that tell what a row is of.
const PARAMETERS: [&str; 20] = [
    "block",
    "block size",
    "blocksize",
    "bs",
    "clients",
    "depth",
    "file size",
    "iodepth",
    "jobs",
    "kernel",
    "numjobs",
    "processes",
    "qd",
    "queue depth",
    "record",
    "record size",
    "size",
    "streams",
    "threads",
    "version",
];

/// Headings, a rule, and a row on each line.
fn grid(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    let is_row = |n: &usize| lines.trimmed(*n).starts_with('|');
    let last = (at..lines.len().min(at + LONGEST)).take_while(is_row).last()?;
    let is_closed = lines.trimmed(at).ends_with('|');
    let cells = |n: usize| -> Vec<&str> {
        let mut cells: Vec<&str> = lines.trimmed(n).split('|').skip(1).map(str::trim).collect();
        // Behind the last bar; of a row that was cut, a part of a cell.
        if is_closed {
            let _ = cells.pop();
        }
        cells
    };
    let heads = cells(at);
    let rows = (at + 2..=last).filter(|&n| !is_bar_rule(lines.trimmed(n)));
    let rows: Vec<(usize, Vec<&str>)> = rows.map(|n| (n, cells(n))).collect();
    let is_parameter =
        |c: usize| heads.get(c).is_some_and(|head| PARAMETERS.contains(&head.to_ascii_lowercase().as_str()));
    let has_figures = |&c: &usize| {
        let cells = || rows.iter().filter_map(|(_, row)| row.get(c).filter(|cell| !is_gap(cell)));
        let values = cells().filter(|cell| scaled(cell).is_some()).count();
        values > 0 && 2 * values >= cells().count() && !is_parameter(c)
    };
    let columns: Vec<usize> = (1..heads.len()).filter(has_figures).collect();
    let first = *columns.first()?;
    let mut partly = Vec::new();
    let mut values: Vec<Vec<Value>> = columns.iter().map(|_| Vec::new()).collect();
    for (n, row) in &rows {
        let name = |(c, cell): (usize, &&str)| match cell.trim_matches('`') {
            "" => None,
            cell if c > 0 && is_parameter(c) => Some(format!("{} {cell}", heads[c])),
            cell => (c < first).then(|| cell.to_owned()),
        };
        let name = row.iter().enumerate().filter_map(name).collect::<Vec<_>>().join(", ");
        for (column, values) in columns.iter().zip(&mut values) {
            let cell = row.get(*column).copied().unwrap_or("");
            if let Some((value, printed)) = scaled(cell) {
                values.push(Value { row: name.clone(), value, printed: printed.into(), line: *n });
            } else if !is_gap(cell) {
                partly.push(*n);
            }
        }
    }
    let heads: Vec<&str> = columns.iter().map(|&c| heads[c]).collect();
    Some(Block { partly, ..columns_as_runs(lines, at, last, &heads, values, context) })
}

/// "|-----|----:|".
fn is_bar_rule(line: &str) -> bool {
    line.starts_with('|') && is_dashes(&line.replace('|', "-"))
}

/// A cell without a figure.
fn is_gap(cell: &str) -> bool {
    cell.is_empty()
        || cell.chars().all(|c| "-\u{2013}\u{2014}".contains(c))
        || matches!(cell, "n/a" | "N/A" | "na" | "NA")
}

/// A value, also one with a magnitude: "98.7k".
fn scaled(cell: &str) -> Option<(f64, &str)> {
    let magnitude = || {
        let (value, _, letter) = leading(cell)?;
        let factor = match letter {
            "k" | "K" => 1e3,
            "M" => 1e6,
            "G" => 1e9,
            _ => return None,
        };
        Some((value * factor, cell))
    };
    value(cell).or_else(magnitude)
}

fn is_dashes(cell: &str) -> bool {
    cell.contains('-') && cell.chars().all(|c| "-:+ ".contains(c))
}

/// A number, optionally followed by a unit.
fn value(cell: &str) -> Option<(f64, &str)> {
    let (value, _, rest) = leading(cell)?;
    // May be followed by a deviation: "10.0 \u{b1} 3.0".
    let rest = rest.split('\u{b1}').next().unwrap_or(rest).trim();
    let is_unit = rest.is_empty() || (word_of(rest) == rest && unit(rest, Prefix::Binary).is_some());
    is_unit.then_some((value, cell))
}

fn columns_as_runs(
    lines: &Lines,
    at: usize,
    last: usize,
    heads: &[&str],
    columns: Vec<Vec<Value>>,
    context: &Context,
) -> Block {
    let of_all = Meaning::of(lines, at);
    let (columns_are, words) = Columns::of(heads, context.columns);
    let mut runs = Vec::new();
    let mut units: Vec<&str> = Vec::new();
    for (head, values) in heads.iter().zip(columns) {
        let of_column = Meaning::of_heading(head);
        let meaning = of_column.as_ref().unwrap_or(&of_all);
        if !meaning.name.is_empty() && !units.contains(&meaning.name) {
            units.push(meaning.name);
        }
        let phases: Vec<Phase> = values.iter().map(|v| meaning.cell(v, context)).collect();
        let mut run: Run = run("table", "a table".into(), phases);
        // Repeats share a name: that of the heading, or of the table.
        if columns_are == Columns::Systems {
            run.label = (*head).into();
        }
        if !run.phases.is_empty() {
            runs.push(run);
        }
    }
    let what = format!(
        "a table of {} columns ({}), rows are cells, {words}",
        runs.len(),
        if units.is_empty() { "no unit found".into() } else { units.join(", ") }
    );
    Block { last, what, runs, ..Block::default() }
}

/// Name of a figure in a base unit, and whether a higher one is better.
fn named(base: &str) -> Option<(&'static str, Option<bool>)> {
    Some(match base {
        BYTES_PER_S => (THROUGHPUT, Some(true)),
        NS => (TIME, Some(false)),
        OPS_PER_S => (OPERATIONS, Some(true)),
        PERCENT => ("share", None),
        _ => return None,
    })
}

struct Meaning<'t> {
    name: &'static str,
    unit: Unit,
    word: &'t str,
    higher_is_better: Option<bool>,
}

impl<'t> Meaning<'t> {
    /// Taken from the unit in a column's heading: "Mean [ms]", "read (MiB/s)", "read MB/s", "IOPS".
    fn of_heading(head: &'t str) -> Option<Self> {
        let in_brackets = head.strip_suffix([']', ')']).and_then(|head| head.rsplit_once(['[', '(']));
        let word = in_brackets.map_or_else(|| head.rsplit(' ').next().unwrap_or(head), |(_, word)| word);
        // A single letter may be a system's name.
        if in_brackets.is_none() && word.len() == 1 && word != "%" {
            return None;
        }
        let unit = unit(word, Prefix::Decimal)?;
        let (name, higher_is_better) = named(unit.base)?;
        Some(Self { name, unit, word, higher_is_better })
    }

    /// Taken from the text before the table: "(MB/sec)", "seconds", "lower is better".
    fn of(lines: &Lines, at: usize) -> Self {
        let near: Vec<String> =
            (at.saturating_sub(NEAR)..at).map(|n| lines.trimmed(n).to_ascii_lowercase()).collect();
        let says = |word: &str| near.iter().any(|l| l.contains(word));
        let rates = [("GB/s", 1e9), ("MB/s", 1e6), ("KB/s", 1e3), ("MiB/s", 1048576.0), ("KiB/s", 1024.0)];
        let direction = match (says("lower is better"), says("higher is better")) {
            (true, false) => Some(false),
            (false, true) => Some(true),
            _ => None,
        };
        if let Some((word, factor)) = rates.into_iter().find(|(word, _)| says(&word.to_ascii_lowercase())) {
            let unit = Unit { base: BYTES_PER_S, factor };
            return Self { name: THROUGHPUT, unit, word, higher_is_better: direction.or(Some(true)) };
        }
        if says("seconds") {
            let unit = Unit { base: NS, factor: 1e9 };
            return Self { name: TIME, unit, word: "seconds", higher_is_better: direction.or(Some(false)) };
        }
        Self { name: "", unit: Unit { base: UNKNOWN, factor: 1.0 }, word: "", higher_is_better: direction }
    }

    fn cell(&self, v: &Value, context: &Context) -> Phase {
        let mut phase = cell::cell(&v.row);
        let count = |words: &[&str]| context.parameter(words).and_then(leading).map(|(n, _, _)| n as u64);
        let size = |words: &[&str]| {
            let (value, _, rest) = leading(context.parameter(words)?)?;
            unit(word_of(rest), Prefix::Binary).filter(|u| u.base == BYTES).map(|u| (value * u.factor) as u64)
        };
        phase.axes.streams = count(&["threads"]);
        phase.axes.record_bytes = size(&["block", "size"]);
        let converts = |word: &str| unit(word, Prefix::Decimal).filter(|_| !word.is_empty());
        let spread = v.printed.split_once('\u{b1}').and_then(|(_, text)| leading(text));
        // "10.0 \u{b1} 3.0 ms" has one unit for both.
        let own = leading(&v.printed)
            .and_then(|(_, _, rest)| converts(word_of(rest)))
            .or_else(|| converts(word_of(spread?.2)));
        let unit = own.unwrap_or(self.unit);
        // The text may be about other columns.
        let (name, higher_is_better) = if unit.base == self.unit.base {
            (self.name, self.higher_is_better)
        } else {
            named(unit.base).unwrap_or_default()
        };
        let name = if name.is_empty() { "value" } else { name };
        let printed = if own.is_some() {
            v.printed.clone()
        } else {
            format!("{} {}", v.printed, self.word).trim_end().into()
        };
        let mut f = figure(name, v.value * unit.factor, unit.base, printed.clone(), v.line);
        f.higher_is_better = higher_is_better.or(f.higher_is_better);
        super::cell::add(&mut phase, f);
        if let Some((value, ..)) = spread {
            let mut f = figure(&format!("{name}, \u{b1}"), value * unit.factor, unit.base, printed, v.line);
            f.higher_is_better = None;
            super::cell::add(&mut phase, f);
        }
        phase
    }
}

/// A TAB-separated table with headings about memory or caches: a host per row.
fn hosts(lines: &Lines, at: usize) -> Option<Block> {
    let fields = |n: usize| -> Vec<&str> { lines.at(n).split('\t').map(untagged).collect() };
    let heads: Vec<String> = fields(at).iter().map(|h| h.to_ascii_lowercase()).collect();
    let column = |word: &str| heads.iter().position(|h| h.contains(word));
    let (memory, cache) = (column("memory"), column("cache"));
    if heads.len() < 3 || !heads[0].is_empty() || (memory.is_none() && cache.is_none()) {
        return None;
    }
    let bytes = |text: &str| {
        let (value, _, rest) = leading(text)?;
        unit(word_of(rest), Prefix::Binary).filter(|u| u.base == BYTES).map(|u| (value * u.factor) as u64)
    };
    let mut block = Block { last: at, ..Block::default() };
    for n in at + 1..lines.len() {
        let row = fields(n);
        if row.len() != heads.len() || row[0].is_empty() {
            break;
        }
        let of = |which: Option<usize>| which.and_then(|c| bytes(row[c]));
        block.hosts.push(Host {
            name: row[0].to_string(),
            memory_bytes: of(memory),
            cache_bytes: of(cache),
            filesystem: column("file system").map(|c| row[c].to_string()),
        });
        block.last = n;
    }
    block.what = format!("the configuration of {} hosts", block.hosts.len());
    (!block.hosts.is_empty()).then_some(block)
}

fn untagged(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix("<i>").or_else(|| text.strip_prefix("<b>")).unwrap_or(text);
    text.strip_suffix("</i>").or_else(|| text.strip_suffix("</b>")).unwrap_or(text)
}
