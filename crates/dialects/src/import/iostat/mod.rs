//! `iostat` of Linux (any sysstat, any format) and Solaris: a cell for each device and one for the CPUs, a repetition for
//! each report. Column names include the units.

mod json;

use super::cell::{cell, converted, run};
use super::context::Context;
use super::lines::{Lines, leading_decimal};
use super::units::Unit;
use super::{Block, several};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS, OPS_PER_S, PERCENT};
use fathom_record::{Figure, Phase, Repetition, Run};

/// Lines per run; the next report starts another run.
const MOST_LINES: usize = 20_000;
/// Lines of headings without a row after which it is not a report.
const MOST_HEADS: usize = 50;
pub(super) const PROCESSORS: &str = "processors";
const SOLARIS: &str = "extended device statistics";

enum IostatTable {
    None,
    /// Column names, and whether the device is the last column.
    Devices(Vec<String>, bool),
    Processors(Vec<String>),
}

pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    if !is_opening(lines, at) {
        return json::parse(lines, at);
    }
    let mut block = Block { last: at, ..Block::default() };
    let mut phases: Vec<Phase> = Vec::new();
    let mut table = IostatTable::None;
    let mut n = at;
    while n < lines.len() {
        let line = lines.trimmed(n);
        let is_of_next = is_host(line) && !phases.is_empty() || n - at >= MOST_LINES && is_opening(lines, n);
        if is_of_next || phases.is_empty() && n - at >= MOST_HEADS {
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
                IostatTable::Devices(columns, _) | IostatTable::Processors(columns) => columns.as_slice(),
                IostatTable::None => &[],
            };
            let figures = columns.iter().zip(values).map(|(c, w)| column(c, w, n)).collect();
            push(&mut phases, name, figures);
        } else {
            break;
        }
        block.last = n;
        n += 1;
    }
    // A final "..." may belong to other text.
    while block.last > at && matches!(lines.trimmed(block.last), "..." | "cpu" | SOLARIS) {
        block.last -= 1;
    }
    (block.what, block.runs) = finished(phases)?;
    Some(block)
}

/// Description and runs.
fn finished(phases: Vec<Phase>) -> Option<(String, Vec<Run>)> {
    let reports = phases.iter().map(|p| p.repetitions.len()).max()?;
    let devices = phases.iter().filter(|p| p.name != PROCESSORS).count();
    let what = format!("iostat, {} of {}", several(reports, "report"), several(devices, "device"));
    Some((what, vec![run("iostat", "iostat".into(), phases)]))
}

/// Whether a heading, or a line before one, is here.
fn is_opening(lines: &Lines, at: usize) -> bool {
    let head = |n: usize| heads(&lines.trimmed(n).split_whitespace().collect::<Vec<_>>());
    match head(at) {
        Some(IostatTable::Devices(..)) => true,
        Some(_) => lines
            .find(at + 1, 5, |l| {
                matches!(heads(&l.split_whitespace().collect::<Vec<_>>()), Some(IostatTable::Devices(..)))
            })
            .is_some(),
        None if lines.trimmed(at) == SOLARIS => head(at + 1).is_some(),
        None => is_banner(lines.trimmed(at)) && (at + 1..at + 4).any(|n| head(n).is_some()),
    }
}

/// "Linux 6.1.0 (host)  11/22/26  _x86_64_  (2 CPU)", and the locale-dependent report time.
fn is_banner(line: &str) -> bool {
    let is_of_time = |c: char| c.is_ascii_digit() || ":./-+ TAPM".contains(c);
    is_host(line)
        || (line.len() < 28
            && line.starts_with(|c: char| c.is_ascii_digit())
            && line.matches(':').count() == 2
            && line.contains(['/', '-', '.'])
            && line.chars().all(is_of_time))
}

pub(super) fn is_host(line: &str) -> bool {
    line.starts_with("Linux ") && line.ends_with("CPU)")
}

fn heads(words: &[&str]) -> Option<IostatTable> {
    let owned = |words: &[&str]| words.iter().map(|w| (*w).to_string()).collect();
    match words {
        ["Device" | "Device:", columns @ ..] if are_columns(columns) => {
            Some(IostatTable::Devices(owned(columns), false))
        }
        [columns @ .., "device" | "Device"] if are_columns(columns) => {
            Some(IostatTable::Devices(owned(columns), true))
        }
        ["avg-cpu:", columns @ ..] => Some(IostatTable::Processors(owned(columns))),
        ["us", "sy", ..] if words.iter().all(|w| matches!(*w, "us" | "sy" | "wt" | "id" | "st")) => {
            Some(IostatTable::Processors(owned(words)))
        }
        _ => None,
    }
}

/// Whether the words are device column headings: for all requests, for one kind, or for common figures.
fn are_columns(words: &[&str]) -> bool {
    words.contains(&"r/s") || matches!(words, ["tps" | "w/s" | "d/s" | "f/s", ..] | ["aqu-sz", "%util"])
}

type IostatRow<'t> = (&'t str, Vec<&'t str>);

fn row<'t>(table: &IostatTable, words: &[&'t str]) -> Option<IostatRow<'t>> {
    let (name, cells, columns) = match table {
        IostatTable::None => return None,
        IostatTable::Devices(columns, true) => (*words.last()?, &words[..words.len() - 1], columns),
        IostatTable::Devices(columns, false) => (*words.first()?, &words[1..], columns),
        IostatTable::Processors(columns) => (PROCESSORS, words, columns),
    };
    let all_are_values = cells.iter().all(|w| value(w).is_some());
    (all_are_values && cells.len() == columns.len() && !cells.is_empty()).then(|| (name, cells.to_vec()))
}

/// A value, with the bytes of its unit if --human printed one: "2.1M" is 2.1 MiB whatever the heading says.
pub(super) fn value(word: &str) -> Option<(f64, Option<f64>)> {
    let (value, _, behind) = leading_decimal(word)?;
    let bytes = match behind {
        "" | "%" => None,
        "s" => Some(512.0),
        "B" => Some(1.0),
        "k" => Some(1024.0),
        "M" => Some(1_048_576.0),
        "G" => Some(1_073_741_824.0),
        "T" => Some(1_099_511_627_776.0),
        _ => return None,
    };
    Some((value, bytes))
}

/// A value in base units, according to its column.
fn column(name: &str, word: &str, n: usize) -> Figure {
    in_unit(name, word, unit_of(name), n)
}

/// The unit of a column.
pub(super) fn unit_of(name: &str) -> Unit {
    let (base, factor) =
        match name {
            "kr/s" | "kw/s" | "rkB/s" | "wkB/s" | "dkB/s" | "kB/s" | "kB_read/s" | "kB_wrtn/s"
            | "kB_dscd/s" => (BYTES_PER_S, 1024.0),
            "Mr/s" | "Mw/s" | "rMB/s" | "wMB/s" | "dMB/s" | "MB/s" | "MB_read/s" | "MB_wrtn/s"
            | "MB_dscd/s" => (BYTES_PER_S, 1_048_576.0),
            "rsec/s" | "wsec/s" | "Blk_read/s" | "Blk_wrtn/s" | "Blk_dscd/s" => (BYTES_PER_S, 512.0),
            "kB_read" | "kB_wrtn" | "kB_dscd" => (BYTES, 1024.0),
            "MB_read" | "MB_wrtn" | "MB_dscd" => (BYTES, 1_048_576.0),
            "avgrq-sz" | "Blk_read" | "Blk_wrtn" | "Blk_dscd" => (BYTES, 512.0),
            "rareq-sz" | "wareq-sz" | "dareq-sz" | "areq-sz" => (BYTES, 1024.0),
            "svctm" | "await" | "r_await" | "w_await" | "d_await" | "f_await" | "wsvc_t" | "asvc_t"
            | "svc_t" => (NS, 1e6),
            "us" | "sy" | "wt" | "id" | "st" => (PERCENT, 1.0),
            name if name.starts_with('%') => (PERCENT, 1.0),
            "tps" => (OPS_PER_S, 1.0),
            name if name.ends_with("/s") => (OPS_PER_S, 1.0),
            _ => (COUNT, 1.0),
        };
    Unit { base, factor }
}

/// A value of a column with this unit, unless the value has one.
pub(super) fn in_unit(name: &str, word: &str, unit: Unit, n: usize) -> Figure {
    let (value, bytes) = value(word).unwrap_or_default();
    let factor = bytes.unwrap_or(unit.factor);
    // The load on a device has no better direction; response time does.
    let mut figure = converted(name, value, Unit { factor, ..unit }, word.into(), n);
    figure.higher_is_better = figure.higher_is_better.filter(|better| !better);
    figure
}

/// Adds a row; with -h, one report spans several tables.
fn push(phases: &mut Vec<Phase>, name: &str, figures: Vec<Figure>) {
    let at = phases.iter().position(|p| p.name == name).unwrap_or_else(|| {
        let mut phase = cell(name);
        phase.repetitions.clear();
        phases.push(phase);
        phases.len() - 1
    });
    let repetitions = &mut phases[at].repetitions;
    let goes_on = |r: &&mut Repetition| figures.first().is_some_and(|f| r.figure(&f.name).is_none());
    if let Some(last) = repetitions.last_mut().filter(goes_on) {
        last.figures.extend(figures);
        return;
    }
    let n = u32::try_from(repetitions.len()).unwrap_or(u32::MAX);
    repetitions.push(Repetition { n, figures, ..Repetition::default() });
}
