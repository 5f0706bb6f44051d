//! Tables of figures written by people: underlined headings ("Test rc8 rc8*" above "-----", or "---- ----" with a rule for each column),
//! bars between cells, or fields between commas, semicolons or TABs. Each column is a run and each row a cell, so that columns compare like
//! systems. A table with bars and no headings gives workload parameters; one about memory and caches describes hosts. The text before a
//! table gives the meaning of its values.

mod separated;

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
/// Maximum lines of a table with bars whose headings have no rule.
const LONGEST: usize = 500;
/// Maximum cells and columns of a table, and bytes of a row's name; rows beyond are named.
const MOST_CELLS: usize = 200_000;
const MOST_COLUMNS: usize = 200;
const LONGEST_NAME: usize = 1000;

pub(super) fn parse(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    grid(lines, at, context)
        .or_else(|| bars(lines, at, context))
        .or_else(|| segments(lines, at, context))
        .or_else(|| ruled(lines, at, context))
        .or_else(|| hosts(lines, at))
        .or_else(|| separated::parse(lines, at, context))
}

/// A cell of a column: row name, printed value, line.
struct TableCell {
    row: String,
    value: f64,
    printed: String,
    line: usize,
}

/// A row of cells, with its line.
type TextRow = (usize, Vec<String>);

/// Headings, and rows that have a cell for each of them.
struct TableCells {
    /// Its first and its last line.
    at: usize,
    last: usize,
    heads: Vec<String>,
    rows: Vec<TextRow>,
    /// Lines that do not fit the headings.
    partly: Vec<usize>,
    /// Between semicolons, a comma is that of decimals.
    has_semicolons: bool,
}

/// Headings, a rule, and rows with a name and a number for each heading.
fn ruled(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    if !is_rule(lines.trimmed(at + 1)) {
        return None;
    }
    let heads = headings(lines.trimmed(at));
    if heads.len() < 2 || heads.iter().any(|h| number(h).is_some()) {
        return None;
    }
    // Where a heading has several words, blanks do not tell where a cell ends.
    let has_phrases = heads.iter().any(|head| head.contains(' ') && !head.ends_with([')', ']']));
    let mut rows: Vec<TextRow> = Vec::new();
    for n in at + 2..lines.len() {
        let words = if has_phrases { apart(lines.trimmed(n)) } else { words_of(lines.trimmed(n)) };
        let Some(names) = words.len().checked_sub(heads.len() - 1).filter(|&names| names > 0) else { break };
        let (names, figures) = words.split_at(names);
        if (has_phrases && names.len() > 1)
            || !figures.iter().all(|w| is_gap(w) || scaled(w).is_some())
            || figures.iter().all(|w| is_gap(w))
        {
            break;
        }
        rows.push((
            n,
            std::iter::once(names.join(" ")).chain(figures.iter().map(|&w| w.to_owned())).collect(),
        ));
    }
    let last = rows.get(1).and(rows.last())?.0;
    of_cells(lines, TableCells { at, last, heads, rows, partly: Vec::new(), has_semicolons: false }, context)
}

/// Headings between single blanks, or between wider ones if there are any that are not of one word. A unit in brackets belongs to the word
/// before it.
fn headings(line: &str) -> Vec<String> {
    let is_apart = apart(line).len() > 1 && apart(line).iter().any(|head| head.contains(' '));
    let mut heads: Vec<String> = Vec::new();
    for word in if is_apart { apart(line) } else { words_of(line) } {
        match heads.last_mut().filter(|_| word.starts_with(['(', '[']) && word.ends_with([')', ']'])) {
            Some(head) => *head = format!("{head} {word}"),
            None => heads.push(word.into()),
        }
    }
    heads
}

fn words_of(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// What stands between TABs or several blanks.
fn apart(line: &str) -> Vec<&str> {
    line.split('\t')
        .flat_map(|part| part.split("  "))
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect()
}

/// Headings, a rule for each column, and rows whose words stand under the rules.
fn segments(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    if !is_of_rules(lines.trimmed(at + 1)) {
        return None;
    }
    let rules = placed(lines.at(at + 1));
    if rules.len() < 2 || rules.len() > MOST_COLUMNS {
        return None;
    }
    let heads = under(lines.at(at), &rules)?;
    if heads.iter().any(|h| number(h).is_some()) || heads.iter().all(String::is_empty) {
        return None;
    }
    let (mut rows, mut partly) = (Vec::new(), Vec::new());
    let mut last = at + 1;
    for n in at + 2..lines.len() {
        let line = lines.at(n);
        let has_figure = |n: usize| lines.at(n).split_whitespace().any(from_digit);
        let is_above_rules = !lines.is_blank(n) && is_of_rules(lines.trimmed(n + 1));
        if lines.is_blank(n) || is_of_rules(line.trim()) || is_above_rules && !has_figure(n) {
            break;
        }
        // The headings of the next table may be numbers.
        let is_row = rows.len() * rules.len() < MOST_CELLS && !(is_above_rules && has_figure(n + 2));
        match under(line, &rules).filter(|_| is_row) {
            Some(row) => rows.push((n, row)),
            None if !is_row || super::classify::looks_like_figures(line) => partly.push(n),
            None => break,
        }
        last = n;
    }
    of_cells(lines, TableCells { at, last, heads, rows, partly, has_semicolons: false }, context)
}

/// "-----  ----- ------".
fn is_of_rules(line: &str) -> bool {
    !line.is_empty() && line.split_whitespace().all(is_rule_of_column)
}

fn is_rule_of_column(word: &str) -> bool {
    word.chars().count() >= 2 && word.chars().all(|c| "-=\u{2500}\u{2501}\u{2550}".contains(c))
}

/// Words with the columns of their beginnings and ends, in characters.
fn placed(line: &str) -> Vec<(usize, usize, &str)> {
    let (mut end, mut column) = (0, 0);
    let place = |word| {
        let start = str::as_ptr(word) as usize - line.as_ptr() as usize;
        let from = column + line[end..start].chars().count();
        (end, column) = (start + word.len(), from + word.chars().count());
        (from, column, word)
    };
    line.split_whitespace().map(place).collect()
}

/// The cells of a line under the rules of columns; `None` if a word stands under none of them, or under two, or has not the place of a name
/// or a figure: a long name has moved what is behind it.
fn under(line: &str, rules: &[(usize, usize, &str)]) -> Option<Vec<String>> {
    let words = placed(line);
    let mut cells = vec![String::new(); rules.len()];
    for &(from, to, word) in &words {
        let mut of = (0..rules.len()).filter(|&c| from < rules[c].1 && to > rules[c].0);
        let (Some(column), None) = (of.next(), of.next()) else { return None };
        if from < rules[column].0 && !from_digit(word) {
            return None;
        }
        let cell = &mut cells[column];
        if !cell.is_empty() {
            cell.push(' ');
        }
        cell.push_str(word);
    }
    Some(cells)
}

fn from_digit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
}

/// Cells between bars, one or several per line.
fn bars(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    if !lines.trimmed(at).starts_with('|') || is_bar_rule(lines.trimmed(at + 1)) {
        return None;
    }
    // The next rows of a table that was too long, or that was not read.
    if at > 0 && lines.trimmed(at - 1).starts_with('|') {
        return rest_of_bars(lines, at);
    }
    let mut cells: Vec<(usize, &str)> = Vec::new();
    let (mut last, mut has_figures) = (at, false);
    for n in at..lines.len().min(at + LONGEST) {
        let line = lines.trimmed(n);
        let has_figure = line.split('|').any(|cell| value(cell.trim()).is_some());
        let is_ruled = |n: usize| is_bar_rule(lines.trimmed(n));
        let is_ruled_off = || is_ruled(n - 1) && !is_ruled(n.saturating_sub(2));
        let is_next = has_figures && !has_figure && !is_ruled(n) && is_ruled(n + 1) && !is_ruled_off();
        if !line.contains('|') || is_next {
            break;
        }
        has_figures |= has_figure;
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
    let mut columns: Vec<Vec<TableCell>> = heads.iter().map(|_| Vec::new()).collect();
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
                column.push(TableCell { row, value: number, printed: printed.into(), line });
            } else if !text.is_empty() {
                break;
            }
            next += 1;
        }
    }
    let found = columns_as_runs(lines, at, last, heads, columns, context);
    (!found.runs.is_empty()).then_some(found)
}

/// Rows with bars whose headings are not known: those with figures are named.
fn rest_of_bars(lines: &Lines, at: usize) -> Option<Block> {
    let is_row = |n: &usize| lines.trimmed(*n).starts_with('|') && !is_bar_rule(lines.trimmed(*n + 1));
    let has_figure = |n: &usize| lines.trimmed(*n).split('|').any(|cell| scaled(cell.trim()).is_some());
    let last = (at..lines.len().min(at + LONGEST)).take_while(is_row).last()?;
    let partly: Vec<usize> = (at..=last).filter(has_figure).collect();
    let what = "rows of a table without its headings".into();
    (!partly.is_empty()).then(|| Block { last, what, partly, ..Block::default() })
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

/// Bars between cells, also of lines that are drawn.
const BARS: [char; 4] = ['|', '\u{2502}', '\u{2503}', '\u{2551}'];

/// Headings, a rule, and a row on each line.
fn grid(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    let first = lines.trimmed(at);
    let rule = lines.trimmed(at + 1);
    if !first.contains(BARS) || is_bar_rule(first) || !(is_bar_rule(rule) || is_rule(rule)) {
        return None;
    }
    let (is_open, is_closed) = (first.starts_with(BARS), first.ends_with(BARS));
    // A row that was cut has no bar at its end.
    let cells = |line: &str| -> Option<Vec<String>> {
        let line = if is_open { line.strip_prefix(BARS)? } else { line };
        let line = if is_closed { line.strip_suffix(BARS)? } else { line };
        Some(line.split(BARS).map(|cell| cell.trim().to_owned()).collect())
    };
    let heads = cells(first)?;
    let is_ruled = |n: usize| is_bar_rule(lines.trimmed(n)) || is_rule(lines.trimmed(n));
    let is_row = |n: usize| lines.trimmed(n).contains(BARS) || is_ruled(n);
    let has_figure = |n: usize| lines.trimmed(n).split(BARS).any(|cell| scaled(cell.trim()).is_some());
    let is_of_cells = |n: usize| is_row(n) && !is_ruled(n);
    let is_above_rule = |n: usize| is_of_cells(n) && is_ruled(n + 1);
    // Between rows that are each ruled off, a row of words is no heading.
    let is_ruled_off = |n: usize| is_ruled(n - 1) && is_of_cells(n - 2);
    let is_heading = |n: usize| is_above_rule(n) && !is_ruled_off(n) && !has_figure(n);
    // The headings of the next table may be numbers. "|---|" stands below headings only, unless it stands above them as well.
    let is_in_a_box = at > 0 && is_ruled(at - 1);
    let may_be_heading = |n: usize| {
        let rule = lines.trimmed(n + 1);
        let is_apart = !is_row(n - 1) || is_ruled(n - 1) && !is_of_cells(n - 2);
        let is_of_bars = is_bar_rule(rule) && rule.contains('|') && !rule.contains('+');
        is_above_rule(n) && is_of_cells(n + 2) && (is_apart || is_of_bars && !is_in_a_box)
    };
    let (mut rows, mut partly) = (Vec::new(), Vec::new());
    let (mut last, mut is_unclear) = (at + 1, false);
    for n in at + 2..lines.len() {
        let line = lines.trimmed(n);
        // A row that was wrapped goes on behind the break.
        let goes_on = || is_row(n + 1) && !is_heading(n + 1) && !(is_ruled(n + 1) && is_heading(n + 2));
        if !is_row(n) && (line.is_empty() || !goes_on()) || n > at + 2 && is_heading(n) {
            break;
        }
        last = n;
        if is_ruled(n) {
            continue;
        }
        is_unclear |= n > at + 2 && may_be_heading(n) || rows.len() * heads.len() >= MOST_CELLS;
        match cells(line).filter(|row| row.len() == heads.len() && !is_unclear) {
            Some(row) => rows.push((n, row)),
            None => partly.push(n),
        }
    }
    of_cells(lines, TableCells { at, last, heads, rows, partly, has_semicolons: false }, context)
}

/// The figures of rows that have a cell for each heading.
fn of_cells(lines: &Lines, table: TableCells, context: &Context) -> Option<Block> {
    let TableCells { at, last, heads, rows, mut partly, has_semicolons } = table;
    if heads.len() > MOST_COLUMNS {
        rows.first()?;
        partly.extend(rows.iter().map(|(n, _)| *n));
        partly.sort_unstable();
        let what = format!("a table of {} columns; at most {MOST_COLUMNS} are read", heads.len());
        return Some(Block { last, what, partly, ..Block::default() });
    }
    let is_parameter = |c: usize| {
        let head = heads[c].to_ascii_lowercase().replace(['_', '-'], " ");
        PARAMETERS.contains(&head.as_str())
    };
    // The first column names the rows, unless its heading says that it has rates.
    let is_rate = |of: Meaning| of.unit.base == OPS_PER_S || of.unit.base == BYTES_PER_S;
    let from = usize::from(!Meaning::of_heading(&heads[0]).is_some_and(is_rate));
    // One number that can only have decimals behind its comma shows what the commas of a column are. "0,1" may be a list, too.
    let has_commas = |c: usize| {
        c >= from && !is_parameter(c) && rows.iter().any(|(_, row)| separated::is_decimal_comma(&row[c]))
    };
    let shows_commas: Vec<bool> =
        (0..heads.len()).map(|c| has_commas(c) && Meaning::of_heading(&heads[c]).is_some()).collect();
    let is_shown = shows_commas.contains(&true);
    let has_any_commas = (0..heads.len()).any(has_commas);
    // A cell with a point before its decimals; `None` if it is not clear what its signs are.
    let point = |c: usize, cell: &str| {
        if c < from || is_parameter(c) {
            return Some(cell.to_owned());
        }
        let is_unclear =
            separated::may_be_decimal_comma(cell) && if has_semicolons { !is_shown } else { has_any_commas };
        let has_decimal_commas = shows_commas[c] || has_semicolons && is_shown;
        separated::with_point(cell, has_decimal_commas).filter(|_| !is_unclear)
    };
    let is_figure = |c: usize, cell: &str| point(c, cell).is_none_or(|cell| scaled(&cell).is_some());
    let has_figures = |&c: &usize| {
        let cells = || rows.iter().map(|(_, row)| row[c].as_str()).filter(|cell| !is_gap(cell));
        let values = cells().filter(|cell| is_figure(c, cell)).count();
        values > 0 && 2 * values >= cells().count() && !is_parameter(c)
    };
    let columns: Vec<usize> = (from..heads.len()).filter(has_figures).collect();
    let first = *columns.first()?;
    let mut values: Vec<Vec<TableCell>> = columns.iter().map(|_| Vec::new()).collect();
    for (r, (n, row)) in rows.iter().enumerate() {
        let name = |(c, cell): (usize, &String)| match cell.trim_matches('`') {
            "" => None,
            cell if c > 0 && is_parameter(c) => Some(format!("{} {cell}", heads[c])),
            cell => (c < first).then(|| cell.to_owned()),
        };
        let mut name = row.iter().enumerate().filter_map(name).collect::<Vec<_>>().join(", ");
        if name.is_empty() {
            name = format!("row {}", r + 1);
        } else if name.len() > LONGEST_NAME {
            partly.push(*n);
            continue;
        }
        for (c, cell) in row.iter().enumerate() {
            let column = columns.binary_search(&c).ok();
            let is_of_commas = c >= from && !is_parameter(c) && separated::is_decimal_comma(cell);
            let cell = point(c, cell).unwrap_or_default();
            match (column, scaled(&cell)) {
                (Some(column), Some((value, printed))) => {
                    let printed = printed.to_owned();
                    values[column].push(TableCell { row: name.clone(), value, printed, line: *n });
                }
                (Some(_), None) if is_gap(&row[c]) => {}
                (None, None) if !is_of_commas => {}
                (None, Some(_)) if c < first || is_parameter(c) => {}
                _ => partly.push(*n),
            }
        }
    }
    // What is behind it is not read with these headings.
    if lines.is_cut(last + 1) {
        partly.push(last);
    }
    let heads: Vec<&str> = columns.iter().map(|&c| heads[c].as_str()).collect();
    let mut block = columns_as_runs(lines, at, last, &heads, values, context);
    block.partly.append(&mut partly);
    block.partly.sort_unstable();
    Some(block)
}

/// "|-----|----:|", "+-----+-----+", also of lines that are drawn.
fn is_bar_rule(line: &str) -> bool {
    let is_drawn = |c: char| ('\u{2500}'..='\u{257f}').contains(&c);
    let is_dash = |c: char| "-=\u{2500}\u{2501}\u{2550}\u{254c}".contains(c);
    line.chars().all(|c| "-=:+| ".contains(c) || is_drawn(c))
        && line.contains(is_dash)
        && (line.contains(['|', '+']) || line.contains(is_drawn))
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
    columns: Vec<Vec<TableCell>>,
    context: &Context,
) -> Block {
    let of_all = Meaning::of(lines, at, context);
    let of_none =
        Meaning { name: "", word: "", unit: Unit { base: UNKNOWN, factor: 1.0 }, higher_is_better: None };
    let (columns_are, words) = Columns::of(heads, context.columns);
    let (mut runs, mut partly) = (Vec::new(), Vec::new());
    let mut units: Vec<&str> = Vec::new();
    for (head, mut values) in heads.iter().zip(columns) {
        let of_column = Meaning::of_heading(head);
        let of_text = if of_all.may_be_of(head) { &of_all } else { &of_none };
        let meaning = of_column.as_ref().unwrap_or(of_text);
        values.retain(|v| {
            let is_read = !meaning.is_scaled_twice(&v.printed);
            partly.extend((!is_read).then_some(v.line));
            is_read
        });
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
    Block { last, what, runs, partly, ..Block::default() }
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

/// What a heading has in brackets at its end.
fn bracketed(head: &str) -> Option<&str> {
    head.strip_suffix([']', ')']).and_then(|head| head.rsplit_once(['[', '('])).map(|(_, word)| word)
}

/// Whether a word of a heading names a time.
fn is_time(word: &str) -> bool {
    let times = [
        "clat", "duration", "elapsed", "lat", "latency", "real", "runtime", "slat", "sys", "time", "user",
        "wall",
    ];
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    times.contains(&word.to_ascii_lowercase().as_str())
}

struct Meaning<'t> {
    name: &'static str,
    unit: Unit,
    word: &'t str,
    higher_is_better: Option<bool>,
}

impl<'t> Meaning<'t> {
    /// Taken from the unit in a column's heading: "Mean [ms]", "read (MiB/s)", "read MB/s", "lat_us", "IOPS".
    fn of_heading(head: &'t str) -> Option<Self> {
        let in_brackets = bracketed(head);
        let mut words = head.rsplit([' ', '_']);
        let word = in_brackets.unwrap_or_else(|| words.next().unwrap_or(head));
        // A single letter may be a system's name.
        if in_brackets.is_none() && word.len() == 1 && word != "%" {
            return None;
        }
        let is_second = unit(word, Prefix::Decimal) == Some(Unit { base: NS, factor: 1e9 });
        let before = words.next().filter(|_| in_brackets.is_none());
        if before.is_some_and(|before| before.eq_ignore_ascii_case("per")) {
            let amount = words.next().filter(|_| is_second)?;
            let unit = unit(&format!("{}/s", amount.to_ascii_lowercase()), Prefix::Decimal)?;
            let (name, higher_is_better) = named(unit.base)?;
            return Some(Self {
                name,
                unit,
                word: &head[head.len() - amount.len() - "per".len() - word.len() - 2..],
                higher_is_better,
            });
        }
        // "ops_sec" is a rate.
        if is_second && before.is_some_and(|before| !is_time(before)) {
            return None;
        }
        let of_thousands = || {
            let is_of_operations = head.to_ascii_lowercase().contains("iops") && in_brackets.is_some();
            let factor =
                if word.eq_ignore_ascii_case("kiops") || is_of_operations && word.eq_ignore_ascii_case("k") {
                    1e3
                } else {
                    return None;
                };
            Some(Unit { base: OPS_PER_S, factor })
        };
        let per_second = || {
            unit(&format!("{}/s", word.strip_suffix("ps")?), Prefix::Decimal).filter(|_| word.contains('B'))
        };
        let unit = unit(word, Prefix::Decimal).or_else(of_thousands).or_else(per_second)?;
        let (name, higher_is_better) = named(unit.base)?;
        Some(Self { name, unit, word, higher_is_better })
    }

    /// Whether a unit of the text may be that of a column with this heading.
    fn may_be_of(&self, head: &str) -> bool {
        let says_other = |word: &str| {
            let lower = word.to_ascii_lowercase();
            let is_rate = lower.split_once('/').is_some_and(|(_, per)| per.starts_with('s'));
            let unit = [word, &lower].into_iter().find_map(|word| unit(word, Prefix::Decimal));
            !word.is_empty() && (is_rate || unit.is_some_and(|unit| unit.base != self.unit.base))
        };
        // A single letter may be a system's name.
        let mut words =
            head.split(|c: char| !(c.is_alphanumeric() || "/%".contains(c))).filter(|w| w.len() > 1);
        if bracketed(head).is_some_and(says_other) || words.any(says_other) {
            return false;
        }
        let head = head.to_ascii_lowercase();
        let says =
            |words: &[&str]| head.split(|c: char| !c.is_ascii_alphabetic()).any(|w| words.contains(&w));
        let is_of_time = says(&["lat", "latency", "clat", "slat", "time", "elapsed", "p"]) && !says(&["bw"]);
        let is_of_nothing = head.contains("iops")
            || says(&[
                "bytes", "change", "count", "cpu", "cpus", "delta", "diff", "errors", "gain", "jobs", "ops",
                "per", "ratio", "sec", "second", "seconds", "secs", "size", "speedup", "threads", "util",
            ]);
        !is_of_nothing && (!is_of_time || self.unit.base != BYTES_PER_S)
    }

    /// "1.2G" under "MB/s", or "98.7k" under "kIOPS": of what, cannot be known.
    fn is_scaled_twice(&self, cell: &str) -> bool {
        let is_rate = self.unit.base == BYTES_PER_S || self.unit.base == OPS_PER_S;
        is_rate && self.unit.factor > 1.0 && cell.ends_with(['k', 'K', 'M', 'G'])
    }

    /// Taken from the text before the table: "(MB/sec)", "seconds", "lower is better".
    fn of(lines: &Lines, at: usize, context: &Context) -> Self {
        let is_text = |n: &usize| !context.is_of_output(*n);
        let near = (at.saturating_sub(NEAR)..at).filter(is_text);
        let near: Vec<String> = near.map(|n| lines.trimmed(n).to_ascii_lowercase()).collect();
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

    fn cell(&self, v: &TableCell, context: &Context) -> Phase {
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
