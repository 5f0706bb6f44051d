//! elbencho's CSV: headings give the content and unit of each column; a row is an operation.

use super::super::Block;
use super::super::cell::{add, cell, converted, directed, run};
use super::super::context::Context;
use super::super::lines::{Lines, fields, number};
use super::super::units::Unit;
use super::{FIRST, MIB};
use fathom_record::Phase;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT, TIME};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS, OPS_PER_S, PERCENT};

/// Headings and rows starting at this line.
pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    let first = lines.trimmed(at);
    if !first.starts_with("ISO date,") {
        return None;
    }
    let heads = fields(first, ',');
    let operation = heads.iter().position(|h| h == "operation")?;
    let mut block = Block { last: at, ..Block::default() };
    let (mut phases, mut label) = (Vec::new(), String::new());
    for n in at + 1..lines.len() {
        let line = lines.trimmed(n);
        if !line.starts_with(|c: char| c.is_ascii_digit()) || !line.contains(',') {
            break;
        }
        let row = fields(line, ',');
        block.last = n;
        if row.len() != heads.len() {
            block.left.push(n);
            continue;
        }
        let mut phase = directed(cell(&row[operation]));
        for (head, value) in heads.iter().zip(&row).filter(|(_, value)| !value.is_empty()) {
            if !column(&mut phase, head, value, n) {
                block.partly.push(n);
            }
            if head == "label" {
                label.clone_from(value);
            }
        }
        phases.push(phase);
    }
    block.what = format!("elbencho as CSV, {}", super::super::several(phases.len(), "operation"));
    let mut run = run("elbencho", "elbencho".into(), phases);
    if run.phases.is_empty() {
        return None;
    }
    run.label = label;
    block.runs.push(run);
    Some(block)
}

/// Reads a value of a column. Returns whether it was understood.
fn column(phase: &mut Phase, head: &str, value: &str, n: usize) -> bool {
    let whole = || value.parse().ok();
    match head {
        "threads" => phase.axes.streams = whole(),
        "file size" => phase.axes.file_bytes = whole(),
        "block size" => phase.axes.record_bytes = whole(),
        "IO depth" => phase.axes.queue_depth = whole(),
        "direct IO" => phase.direct = value == "1",
        "hosts" | "paths" | "path type" | "dirs" | "files" | "random" | "random aligned" | "shared paths"
        | "truncate" => {
            phase.axes.tags.insert(head.into(), value.into());
        }
        "ISO date" | "label" | "operation" | "version" | "command" => {}
        _ => return figure(phase, head, value, n),
    }
    true
}

fn figure(phase: &mut Phase, head: &str, value: &str, n: usize) -> bool {
    let Some(number) = number(value) else { return false };
    let (name, column) = match head.split_once(" [") {
        Some((name, column)) => (name, column.trim_end_matches(']')),
        None => (head, ""),
    };
    let of = |base, factor| Unit { base, factor };
    let (named, unit, word) = match name {
        "time ms" => (TIME, of(NS, 1e6), " ms"),
        "IOPS" => (OPERATIONS, of(OPS_PER_S, 1.0), ""),
        "MiB/s" => (THROUGHPUT, of(BYTES_PER_S, MIB), " MiB/s"),
        "MiB" => ("bytes", of(BYTES, MIB), " MiB"),
        "CPU%" => ("CPU", of(PERCENT, 1.0), "%"),
        "IO lat us" => ("latency", of(NS, 1e3), " us"),
        "Ent lat us" => ("entry latency", of(NS, 1e3), " us"),
        _ if name.ends_with("/s") || name.ends_with("IOPS") => (name, of(OPS_PER_S, 1.0), ""),
        "entries" => (name, of(COUNT, 1.0), ""),
        _ => return false,
    };
    if named == name && name.contains("MiB") {
        return false;
    }
    let name = match column {
        "last" | "" => named.to_owned(),
        "first" => format!("{named}{FIRST}"),
        column => format!("{named} {column}"),
    };
    add(phase, converted(&name, number, unit, format!("{value}{word}"), n));
    true
}
