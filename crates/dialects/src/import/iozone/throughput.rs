//! Throughput-mode blocks: children's total, parent's total, slowest and fastest stream.

use super::super::cell::{add, cell, converted, figure};
use super::super::doubts::{MIN, SMALLEST};
use super::super::lines::{leading, number, unit as word_of, value_after};
use super::super::units::{Prefix, unit};
use super::head::Head;
use crate::iozone::pass::PASSES;
use fathom_record::Phase;
use fathom_record::imported::names::{OPERATIONS, PARENT, THROUGHPUT};
use fathom_record::imported::units::{BYTES_PER_S, OPS_PER_S, PERCENT};

const CHILDREN: &str = "Children see throughput for";
const OTHERS: [(&str, &str); 7] = [
    ("Parent sees throughput for", PARENT),
    ("Min throughput per", MIN),
    ("Max throughput per", "throughput of the fastest stream"),
    ("Avg throughput per", "mean throughput of the streams"),
    ("Min xfer", SMALLEST),
    ("Child[", ""),
    ("CPU ", ""),
];

/// Whether a block starts at this line.
pub(super) fn begins(line: &str) -> bool {
    line.starts_with(CHILDREN)
}

/// Reads a line. Returns whether it belongs to a block and was understood.
pub(super) fn takes(phases: &mut Vec<Phase>, head: &Head, line: &str, n: usize) -> bool {
    if begins(line) {
        return opening(head, line, n).is_some_and(|phase| {
            phases.push(phase);
            true
        });
    }
    let (Some(phase), Some((key, name))) = (
        phases.last_mut().filter(|p| p.axes.tags.get("mode").is_some_and(|m| m == "streams")),
        OTHERS.iter().find(|(key, _)| line.starts_with(key)),
    ) else {
        return false;
    };
    match *key {
        "Child[" => child(phase, line, n),
        "CPU " => cpu(phase, line, n),
        _ => named(phase, name, line, n),
    }
}

/// "Children see throughput for  2 initial writers = 9461.15 KB/sec".
fn opening(head: &Head, line: &str, n: usize) -> Option<Phase> {
    let (before, value) = line[CHILDREN.len()..].split_once('=')?;
    let mut words = before.split_whitespace();
    let streams = number(words.next()?)?;
    let test = words.collect::<Vec<_>>().join(" ");
    let (value, word, rest) = leading(value)?;
    let unit = unit(word_of(rest), Prefix::Binary).filter(|u| matches!(u.base, BYTES_PER_S | OPS_PER_S))?;
    let pass = PASSES.iter().find(|p| p.block == test);
    let mut phase = cell(pass.map_or(test.as_str(), |p| p.name));
    phase.reads = pass.is_some_and(|p| p.reads) || test == "mixed workload";
    phase.writes = pass.is_some_and(|p| !p.reads) || test == "mixed workload";
    phase.sync_in_clock = head.sync && phase.writes;
    phase.direct = head.direct;
    phase.axes.streams = Some(streams as u64);
    phase.axes.file_bytes = head.file_bytes;
    phase.axes.record_bytes = head.record_bytes;
    phase.axes.tags.insert("mode".into(), "streams".into());
    let name = if unit.base == OPS_PER_S { OPERATIONS } else { THROUGHPUT };
    add(&mut phase, converted(name, value, unit, format!("{word} {}", word_of(rest)), n));
    Some(phase)
}

fn named(phase: &mut Phase, name: &str, line: &str, n: usize) -> bool {
    let Some((value, word, rest)) = line.split_once('=').and_then(|(_, v)| leading(v)) else { return false };
    let Some(unit) = unit(word_of(rest), Prefix::Binary).filter(|_| !word_of(rest).is_empty()) else {
        return false;
    };
    let mut figure = converted(name, value, unit, format!("{word} {}", word_of(rest)), n);
    if name == SMALLEST {
        figure.higher_is_better = None;
    }
    add(phase, figure);
    true
}

/// "Child[0] xfer count =    1920.00 kB, Throughput = 2358969.50 kB/sec".
fn child(phase: &mut Phase, line: &str, n: usize) -> bool {
    let Some(who) = line.split_whitespace().next() else { return false };
    let mut any = false;
    for (key, name) in [("xfer count", "transfer"), ("Throughput", "throughput")] {
        if let Some((value, printed, word)) = value_after(line, key)
            && let Some(unit) = unit(word, Prefix::Binary)
        {
            add(phase, converted(&format!("{name} of {}", who.to_lowercase()), value, unit, printed, n));
            any = true;
        }
    }
    any
}

/// "CPU Utilization: Wall time    1.000    CPU time    0.500    CPU utilization  50.00 %".
fn cpu(phase: &mut Phase, line: &str, n: usize) -> bool {
    let lower = line.to_ascii_lowercase();
    let mut any = false;
    for (key, name) in [("wall time", "wall time"), ("cpu time", "CPU time")] {
        if let Some((value, printed, _)) = value_after(&lower, key) {
            add(phase, figure(name, value * 1e9, fathom_record::imported::units::NS, printed, n));
            any = true;
        }
    }
    if let Some(at) = lower.rfind("cpu utilization")
        && let Some((value, printed, _)) = value_after(&lower[at..], "cpu utilization")
    {
        add(phase, figure("CPU utilization", value, PERCENT, printed, n));
        any = true;
    }
    any
}
