//! `iostat -x` of Linux (any sysstat) and of Solaris: a cell for each device and one for the processors, a repetition for each report.
//! The names of the columns tell their units.

use super::cell::{cell, converted, run};
use super::context::Context;
use super::lines::{Lines, number};
use super::units::Unit;
use super::{Block, several};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS, OPS_PER_S, PERCENT};
use fathom_record::{Figure, Phase, Repetition};

/// Lines after which the next report is another run.
const MOST_LINES: usize = 20_000;
/// And after which heads without a row are no report.
const MOST_HEADS: usize = 50;
const SOLARIS: &str = "extended device statistics";

/// A table that was begun.
enum Table {
    None,
    /// Columns, and whether the device comes last.
    Devices(Vec<String>, bool),
    Processors(Vec<String>),
}

/// Reports from this line on.
pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    if !is_opening(lines, at) {
        return None;
    }
    let mut block = Block { last: at, ..Block::default() };
    let mut phases: Vec<Phase> = Vec::new();
    let mut table = Table::None;
    let mut n = at;
    while n < lines.len() {
        let line = lines.trimmed(n);
        if n - at >= MOST_LINES && is_opening(lines, n) || phases.is_empty() && n - at >= MOST_HEADS {
            break;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(next) = heads(&words) {
            table = next;
        } else if line == SOLARIS || line == "cpu" || line == "..." || is_banner(line) {
        } else if line.is_empty() {
            n += 1;
            continue;
        } else if let Some((name, values)) = row(&table, &words) {
            let columns = match &table {
                Table::Devices(columns, _) | Table::Processors(columns) => columns.as_slice(),
                Table::None => &[],
            };
            let figures = columns.iter().zip(values).map(|(c, (v, w))| column(c, v, w, n)).collect();
            push(&mut phases, name, figures);
        } else {
            break;
        }
        block.last = n;
        n += 1;
    }
    // "..." at the end may be anybody's.
    while block.last > at && matches!(lines.trimmed(block.last), "..." | "cpu" | SOLARIS) {
        block.last -= 1;
    }
    let reports = phases.iter().map(|p| p.repetitions.len()).max()?;
    let devices = phases.iter().filter(|p| p.name != "processors").count();
    block.what = format!("iostat, {} of {}", several(reports, "report"), several(devices, "device"));
    block.runs.push(run("iostat", "iostat".into(), phases));
    Some(block)
}

/// A head, or a line that one follows.
fn is_opening(lines: &Lines, at: usize) -> bool {
    let head = |n: usize| heads(&lines.trimmed(n).split_whitespace().collect::<Vec<_>>());
    match head(at) {
        Some(Table::Devices(..)) => true,
        Some(_) => lines
            .find(at + 1, 5, |l| {
                matches!(heads(&l.split_whitespace().collect::<Vec<_>>()), Some(Table::Devices(..)))
            })
            .is_some(),
        None if lines.trimmed(at) == SOLARIS => head(at + 1).is_some(),
        None => {
            is_banner(lines.trimmed(at))
                && lines.find(at + 1, 3, |l| l.starts_with("avg-cpu:") || l.starts_with("Device")).is_some()
        }
    }
}

/// "Linux 6.1.0 (host)  11/22/26  _x86_64_  (2 CPU)", and the time of a report.
fn is_banner(line: &str) -> bool {
    (line.starts_with("Linux ") && line.ends_with("CPU)"))
        || (line.len() < 24
            && line.starts_with(|c: char| c.is_ascii_digit())
            && line.matches(':').count() == 2
            && line.contains('/'))
}

fn heads(words: &[&str]) -> Option<Table> {
    let owned = |words: &[&str]| words.iter().map(|w| (*w).to_string()).collect();
    match words {
        ["Device" | "Device:", columns @ ..] if columns.contains(&"r/s") => {
            Some(Table::Devices(owned(columns), false))
        }
        [columns @ .., "device"] if columns.contains(&"r/s") => Some(Table::Devices(owned(columns), true)),
        ["avg-cpu:", columns @ ..] => Some(Table::Processors(owned(columns))),
        ["us", "sy", ..] if words.iter().all(|w| matches!(*w, "us" | "sy" | "wt" | "id" | "st")) => {
            Some(Table::Processors(owned(words)))
        }
        _ => None,
    }
}

type Row<'t> = (&'t str, Vec<(f64, &'t str)>);

fn row<'t>(table: &Table, words: &[&'t str]) -> Option<Row<'t>> {
    let (name, cells, columns) = match table {
        Table::None => return None,
        Table::Devices(columns, true) => (*words.last()?, &words[..words.len() - 1], columns),
        Table::Devices(columns, false) => (*words.first()?, &words[1..], columns),
        Table::Processors(columns) => ("processors", words, columns),
    };
    let values: Option<Vec<(f64, &str)>> = cells.iter().map(|w| Some((number(w)?, *w))).collect();
    values.filter(|v| v.len() == columns.len() && !v.is_empty()).map(|v| (name, v))
}

/// A value in base units, by the name of its column.
fn column(name: &str, value: f64, word: &str, n: usize) -> Figure {
    let (base, factor) = match name {
        "kr/s" | "kw/s" | "rkB/s" | "wkB/s" | "dkB/s" => (BYTES_PER_S, 1024.0),
        "Mr/s" | "Mw/s" | "rMB/s" | "wMB/s" | "dMB/s" => (BYTES_PER_S, 1048576.0),
        "rsec/s" | "wsec/s" => (BYTES_PER_S, 512.0),
        "avgrq-sz" => (BYTES, 512.0),
        "rareq-sz" | "wareq-sz" | "dareq-sz" | "areq-sz" => (BYTES, 1024.0),
        "svctm" | "await" | "r_await" | "w_await" | "d_await" | "f_await" | "wsvc_t" | "asvc_t" | "svc_t" => {
            (NS, 1e6)
        }
        "us" | "sy" | "wt" | "id" | "st" => (PERCENT, 1.0),
        name if name.starts_with('%') => (PERCENT, 1.0),
        name if name.ends_with("/s") => (OPS_PER_S, 1.0),
        _ => (COUNT, 1.0),
    };
    // What a device was asked for is neither good nor bad, only how long it took.
    let mut figure = converted(name, value, Unit { base, factor }, word.into(), n);
    figure.higher_is_better = figure.higher_is_better.filter(|better| !better);
    figure
}

fn push(phases: &mut Vec<Phase>, name: &str, figures: Vec<Figure>) {
    let at = phases.iter().position(|p| p.name == name).unwrap_or_else(|| {
        let mut phase = cell(name);
        phase.repetitions.clear();
        phases.push(phase);
        phases.len() - 1
    });
    let n = u32::try_from(phases[at].repetitions.len()).unwrap_or(u32::MAX);
    phases[at].repetitions.push(Repetition { n, figures, ..Repetition::default() });
}
