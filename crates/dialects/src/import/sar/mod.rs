//! `sar` in any language and with any of its tables, and `sadf -d`, `-p` and `-j`: a cell for each device or processor and one for the
//! system, a repetition for each time. What sar prints as the average of all times is a separate cell.

mod json;
mod separated;

use super::cell::{cell, run};
use super::context::Context;
use super::iostat::{PROCESSORS, in_unit, is_host, unit_of, value};
use super::lines::Lines;
use super::units::Unit;
use super::{Block, several};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, OPS_PER_S, UNKNOWN};
use fathom_record::{Figure, Phase, Repetition, Run};

/// Lines per run; the next table starts another run.
const MOST_LINES: usize = 20_000;
/// Headings of the column that names the device, processor, or interface of a row.
const NAMES: [&str; 9] = ["DEV", "CPU", "IFACE", "INTR", "TTY", "FILESYSTEM", "MOUNTPOINT", "FAN", "DEVICE"];

pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    text(lines, at).or_else(|| separated::parse(lines, at)).or_else(|| json::parse(lines, at))
}

/// What a row says of its time.
#[derive(PartialEq)]
enum When<'t> {
    At(&'t str),
    Average,
}

/// The time before a row, "03:11:37" or "03:11:37 AM", or "Average:" in any language, and the rest.
fn when<'w, 't>(words: &'w [&'t str]) -> Option<(When<'t>, &'w [&'t str])> {
    let is_time = |word: &str| {
        word.len() == 8
            && word
                .bytes()
                .enumerate()
                .all(|(at, b)| if at % 3 == 2 { b == b':' } else { b.is_ascii_digit() })
    };
    match words {
        [time, "AM" | "PM", rest @ ..] if is_time(time) => Some((When::At(time), rest)),
        [time, rest @ ..] if is_time(time) => Some((When::At(time), rest)),
        [word, rest @ ..] if word.ends_with(':') && word.starts_with(char::is_alphabetic) => {
            Some((When::Average, rest))
        }
        [word, ":", rest @ ..] if word.starts_with(char::is_alphabetic) => Some((When::Average, rest)),
        _ => None,
    }
}

/// Column headings, of which none is a figure.
fn words_of_heads<'w, 't>(words: &'w [&'t str]) -> Option<&'w [&'t str]> {
    let (_, columns) = when(words)?;
    let are_names = columns.iter().all(|c| value(c).is_none()) && !columns.contains(&"RESTART");
    (columns.len() >= 2 && are_names).then_some(columns)
}

/// Column headings that only sar prints.
fn heads<'w, 't>(words: &'w [&'t str]) -> Option<&'w [&'t str]> {
    let columns = words_of_heads(words)?;
    let is_unit = |c: &str| {
        c.ends_with("/s")
            || c.starts_with('%')
            || c.ends_with("tps")
            || c.starts_with("kb")
            || c.ends_with("-sz")
    };
    columns.iter().any(|c| is_unit(c)).then_some(columns)
}

fn words(lines: &Lines, n: usize) -> Vec<&str> {
    lines.trimmed(n).split_whitespace().collect()
}

fn is_row_of(columns: &[&str], row: &[&str]) -> bool {
    when(row).is_some_and(|(_, cells)| figures(columns, cells, 0).is_some())
}

fn text(lines: &Lines, at: usize) -> Option<Block> {
    let first = if is_host(lines.trimmed(at)) { lines.find(at + 1, 3, |line| !line.is_empty())? } else { at };
    let (opening, row) = (words(lines, first), words(lines, first + 1));
    let columns = heads(&opening)?;
    if !is_row_of(columns, &row) && !row.contains(&"RESTART") {
        return None;
    }
    let mut block = Block { last: at, ..Block::default() };
    let mut table = SarTable::default();
    let mut columns: Vec<String> = Vec::new();
    for n in first..lines.len() {
        let words = words(lines, n);
        if words.is_empty() {
            continue;
        }
        // Rows of an unknown table must not be read under the headings of the last one.
        let next = heads(&words)
            .or_else(|| words_of_heads(&words).filter(|c| is_row_of(c, &self::words(lines, n + 1))));
        if is_host(lines.trimmed(n)) || n - at >= MOST_LINES && next.is_some() {
            break;
        }
        let Some((when, cells)) = when(&words) else { break };
        if let Some(next) = next {
            columns = next.iter().map(|c| (*c).to_owned()).collect();
        } else if let Some((name, figures)) =
            figures(&columns.iter().map(String::as_str).collect::<Vec<_>>(), cells, n)
        {
            table.push(&name, &when, figures);
        } else if when == When::Average {
            // A key of another program's text ends with a colon as well.
            break;
        } else if !cells.contains(&"RESTART") {
            block.partly.push(n);
        }
        block.last = n;
    }
    (block.what, block.runs) = table.finished()?;
    Some(block)
}

/// A row's name, and a figure for each of its columns.
fn figures(columns: &[&str], cells: &[&str], n: usize) -> Option<(String, Vec<Figure>)> {
    if columns.len() != cells.len() {
        return None;
    }
    let mut name = String::from("system");
    let mut figures = Vec::new();
    for (column, word) in columns.iter().zip(cells) {
        if NAMES.contains(column) {
            name = named(column, word);
        } else {
            value(word)?;
            figures.push(figure(column, word, n));
        }
    }
    (!figures.is_empty()).then_some((name, figures))
}

fn named(column: &str, word: &str) -> String {
    match (column, word) {
        ("CPU", "all" | "-1") => PROCESSORS.into(),
        ("CPU", number) => format!("processor {number}"),
        ("INTR", number) => format!("interrupt {number}"),
        _ => word.into(),
    }
}

/// A value in base units. sar's blocks and sectors have 512 bytes, its kB 1024.
fn figure(column: &str, word: &str, n: usize) -> Figure {
    let unit = |base, factor| Unit { base, factor };
    let unit = match column {
        "rd_sec/s" | "wr_sec/s" | "dc_sec/s" | "bread/s" | "bwrtn/s" | "bdscd/s" => unit(BYTES_PER_S, 512.0),
        "pgpgin/s" | "pgpgout/s" => unit(BYTES_PER_S, 1024.0),
        "rtps" | "wtps" | "dtps" => unit(OPS_PER_S, 1.0),
        "aqu-sz" | "avgqu-sz" | "runq-sz" | "plist-sz" | "blocked" => unit(COUNT, 1.0),
        name if name.ends_with("kB/s") => unit(BYTES_PER_S, 1024.0),
        name if name.starts_with("kb") => unit(BYTES, 1024.0),
        name if name.starts_with("MBfs") => unit(BYTES, 1_048_576.0),
        name => match unit_of(name) {
            Unit { base: COUNT, .. } => unit(UNKNOWN, 1.0),
            known => known,
        },
    };
    in_unit(column, word, unit, n)
}

/// The rows so far. Tables of one time, and a table of many times after another, share their repetitions.
#[derive(Default)]
struct SarTable {
    phases: Vec<Phase>,
    /// The time of each repetition of each phase.
    times: Vec<Vec<String>>,
}

impl SarTable {
    fn push(&mut self, name: &str, when: &When, figures: Vec<Figure>) {
        let (name, time) = match when {
            When::At(time) => (name.to_owned(), *time),
            When::Average => (format!("{name}, average"), ""),
        };
        let at = self.phases.iter().position(|p| p.name == name).unwrap_or_else(|| {
            let mut phase = cell(&name);
            phase.repetitions.clear();
            self.phases.push(phase);
            self.times.push(Vec::new());
            self.phases.len() - 1
        });
        let repetitions = &mut self.phases[at].repetitions;
        let same = self.times[at].iter().rposition(|t| t == time);
        if let Some(repetition) = same.map(|n| &mut repetitions[n])
            && figures.iter().all(|f| repetition.figure(&f.name).is_none())
        {
            repetition.figures.extend(figures);
            return;
        }
        let n = u32::try_from(repetitions.len()).unwrap_or(u32::MAX);
        repetitions.push(Repetition { n, figures, ..Repetition::default() });
        self.times[at].push(time.to_owned());
    }

    /// Description and runs.
    fn finished(self) -> Option<(String, Vec<Run>)> {
        let times = self.phases.iter().map(|p| p.repetitions.len()).max()?;
        let what = format!("sar, {}, {}", several(times, "time"), several(self.phases.len(), "row"));
        Some((what, vec![run("sar", "sar".into(), self.phases)]))
    }
}
