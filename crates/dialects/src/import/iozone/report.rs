//! Reports: a title ("Writer report", "Re-writer Report"), the record sizes, and a row for each file size. They follow a log (-R,
//! quoted) or stand alone (the -b worksheet saved as text, fields separated by TABs, missing cells empty). A table may contain an empty
//! line; 0 and an empty field both mean that a cell was not run.

use super::super::Block;
use super::super::cell::{add, converted, figure, run};
use super::super::context::Context;
use super::super::lines::{Lines, number};
use super::super::units::Unit;
use super::head::Head;
use super::log::program;
use super::rows::{quoted_number, rate_name, sized};
use crate::iozone::pass::PASSES;
use fathom_record::Phase;
use fathom_record::imported::units::PERCENT;

/// Maximum lines between the command line of a sheet, its introduction, and its first title.
const MOST_BETWEEN: usize = 6;
const SENTENCE: &str = "The top row is records sizes";
const THROUGHPUT_SENTENCE: &str = "Throughput report Y-axis is type of test";

/// A table and its position.
pub(super) struct SurfaceTable {
    pub(super) phases: Vec<Phase>,
    pub(super) last: usize,
}

/// Reports without a log.
pub(super) fn parse(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    let mut head = Head::default();
    let first = opening(lines, at, &mut head)?;
    let mut block = Block::default();
    let mut phases = Vec::new();
    let mut tables = 0;
    let mut n = first;
    let mut unknown = 0;
    while n < lines.len() && unknown == 0 {
        if let Some(read) = table(lines, n, &head) {
            phases.extend(read.phases);
            block.last = read.last;
            tables += 1;
            n = read.last + 1;
            continue;
        }
        unknown += usize::from(!(lines.is_blank(n) || is_sentence(lines.trimmed(n))));
        n += 1;
    }
    if tables == 0 {
        return None;
    }
    let tables_of = if tables == 1 { "1 report".to_string() } else { format!("{tables} reports") };
    block.what = format!("IOzone sheet, {tables_of}");
    let mut run = run("iozone", program(&head), phases);
    run.argv = head.command;
    if let Some(host) = host_named_before(lines, at) {
        run.label = format!("IOzone on {host}");
        let known = context.host(host);
        run.environment = known.map_or_else(|| serde_json::json!({ "host": host }), |h| h.environment());
    }
    block.runs.push(run);
    Some(block)
}

/// Line of the first table, if reports start here: with a command line, a sheet's introduction, or a title.
fn opening(lines: &Lines, at: usize, head: &mut Head) -> Option<usize> {
    let first = lines.trimmed(at);
    let is_command = first.split_whitespace().next().is_some_and(|w| w.rsplit('/').next() == Some("iozone"));
    let is_title = |n: usize| table(lines, n, &Head::default()).is_some();
    if is_command {
        let talk = |l: &str| l.is_empty() || l.starts_with("```") || is_sentence(l);
        let next = (at + 1..lines.len().min(at + 1 + MOST_BETWEEN)).find(|&n| is_title(n))?;
        if !(at + 1..next).all(|n| talk(lines.trimmed(n))) {
            return None;
        }
        head.command(first.trim_matches('"'));
        return Some(next);
    }
    if is_sentence(first) {
        return (at + 1..lines.len().min(at + 1 + MOST_BETWEEN)).find(|&n| is_title(n));
    }
    is_title(at).then_some(at)
}

fn is_sentence(line: &str) -> bool {
    let line = line.trim_matches(['"', ' ']);
    [SENTENCE, THROUGHPUT_SENTENCE, "Record size =", "Output is in"].iter().any(|s| line.starts_with(s))
}

/// "Output file for benchmark on heping." on one of the lines above.
fn host_named_before(lines: &Lines, at: usize) -> Option<&str> {
    let near = (at.saturating_sub(5)..at).rev().map(|n| lines.trimmed(n));
    near.filter_map(|l| l.trim_end_matches(['.', ':']).rsplit_once(" on "))
        .map(|(_, host)| host)
        .find(|h| !h.contains(' '))
}

/// A report with its title at this line.
pub(super) fn table(lines: &Lines, at: usize, head: &Head) -> Option<SurfaceTable> {
    let title = lines.trimmed(at).trim_matches('"').trim();
    if title.starts_with(THROUGHPUT_SENTENCE) {
        return throughput(lines, at, head);
    }
    let cpu = title.strip_suffix("(Zero values should be ignored)").map(str::trim);
    let name = match cpu {
        Some(title) => title.to_ascii_lowercase().replace("cpu utilization ", ""),
        None => title.to_ascii_lowercase(),
    };
    let pass = PASSES.iter().find(|p| {
        !p.report.is_empty()
            && (p.report.to_ascii_lowercase() == name || p.sheet.to_ascii_lowercase() == name)
    })?;
    let top = lines.find(at + 1, 3, |l| !l.is_empty())?;
    let records = sizes(lines.at(top))?;
    let mut read = SurfaceTable { phases: Vec::new(), last: top };
    let mut n = top + 1;
    while n < lines.len() {
        let line = lines.at(n);
        if let Some((file, values)) = row(line).filter(|(_, values)| values.len() <= records.len()) {
            for (value, &record) in values.iter().zip(&records) {
                let Some((value, word)) = value.filter(|(v, _)| *v != 0.0) else { continue };
                let mut phase = sized(pass.name, head, file, record);
                add(
                    &mut phase,
                    match cpu {
                        Some(_) => figure("CPU utilization", value, PERCENT, word.into(), n),
                        None => converted(rate_name(head), value, head.unit, word.into(), n),
                    },
                );
                read.phases.push(phase);
            }
            read.last = n;
        } else if !line.trim().is_empty() || n - read.last > 2 {
            break;
        }
        n += 1;
    }
    (read.last > top).then_some(read)
}

/// The record sizes in the heading: ascending numbers only.
fn sizes(line: &str) -> Option<Vec<f64>> {
    let sizes: Option<Vec<f64>> = line.split_whitespace().map(quoted_number).collect();
    sizes.filter(|s| !s.is_empty() && s.is_sorted() && s[0] > 0.0)
}

type PrintedValue<'t> = Option<(f64, &'t str)>;

/// File size and values of a row; a missing value is an empty field.
fn row(line: &str) -> Option<(f64, Vec<PrintedValue<'_>>)> {
    let value = |w: &'_ str| -> Option<(f64, usize)> { Some((number(w)?, w.len())) };
    let fields: Vec<&str> = if line.contains('\t') {
        line.split('\t').map(str::trim).collect()
    } else {
        line.split_whitespace().collect()
    };
    let (first, rest) = fields.split_first()?;
    let file = quoted_number(first)?;
    let mut values: Vec<PrintedValue> = Vec::with_capacity(rest.len());
    for field in rest {
        match (field.is_empty(), value(field)) {
            (true, _) => values.push(None),
            (false, Some((v, _))) => values.push(Some((v, field))),
            (false, None) => return None,
        }
    }
    while values.last().is_some_and(Option::is_none) {
        values.pop();
    }
    (!values.is_empty()).then_some((file, values))
}

/// The throughput report: a row per test, a value per number of processes.
fn throughput(lines: &Lines, at: usize, head: &Head) -> Option<SurfaceTable> {
    let mut read = SurfaceTable { phases: Vec::new(), last: at };
    let mut head = head.clone();
    let counts = match (head.arguments('l').first(), head.arguments('u').first()) {
        (Some(&low), Some(&high)) if low <= high => (low..=high.min(low.saturating_add(4096))).collect(),
        _ => head.arguments('t'),
    };
    let mut n = at + 1;
    while n < lines.len() && n - read.last <= 3 {
        let line = lines.trimmed(n).trim_matches(['"', ' ']);
        let quoted = lines.trimmed(n).replace('"', "\t");
        let mut fields = quoted.split(['\t', ' ']).filter(|f| !f.is_empty()).peekable();
        let mut label = Vec::new();
        while let Some(word) = fields.next_if(|f| number(f).is_none()) {
            label.push(word);
        }
        let label = label.join(" ");
        if is_sentence(line) {
            let bytes = super::super::lines::value_after(line, "Record size");
            head.record_bytes = bytes.map(|(v, _, _)| (v * 1024.0) as u64).or(head.record_bytes);
            if line.contains("ps/sec") {
                head.unit = Unit { base: fathom_record::imported::units::OPS_PER_S, factor: 1.0 };
            }
            read.last = n;
        } else if let Some(pass) =
            PASSES.iter().find(|p| p.label.eq_ignore_ascii_case(&label) && !label.is_empty())
        {
            for (column, word) in fields.enumerate() {
                let value = number(word)?;
                if value > 0.0 {
                    let mut phase = sized(pass.name, &head, 0.0, 0.0);
                    phase.axes.file_bytes = head.file_bytes;
                    phase.axes.record_bytes = head.record_bytes;
                    phase.axes.streams = counts.get(column).copied();
                    phase.axes.tags.insert("mode".into(), "streams".into());
                    if counts.is_empty() {
                        phase.axes.tags.insert("column".into(), (column + 1).to_string());
                    }
                    add(&mut phase, converted(rate_name(&head), value, head.unit, word.into(), n));
                    read.phases.push(phase);
                }
            }
            read.last = n;
        } else if !lines.is_blank(n) {
            break;
        }
        n += 1;
    }
    (!read.phases.is_empty()).then_some(read)
}

/// Adds a report's cells to those of a log: duplicate values are dropped, and CPU utilisation is added to its cell.
pub(super) fn merge(phases: &mut Vec<Phase>, more: Vec<Phase>) {
    let key = |p: &Phase| (p.name.clone(), p.axes.file_bytes, p.axes.record_bytes, p.axes.streams);
    let mut known: std::collections::HashMap<_, usize> =
        phases.iter().enumerate().map(|(n, p)| (key(p), n)).collect();
    for phase in more {
        let Some(&n) = known.get(&key(&phase)) else {
            known.insert(key(&phase), phases.len());
            phases.push(phase);
            continue;
        };
        let figures = phase.repetitions.into_iter().flat_map(|r| r.figures);
        for figure in figures {
            let there = phases[n].repetitions.iter().any(|r| r.figure(&figure.name).is_some());
            if !there {
                add(&mut phases[n], figure);
            }
        }
    }
}
