//! fio's logs, a value a line: "1000, 12328, 0, 4096, 0". What the value is, the file's name says (`_bw.`, `_iops.`, `_lat.`). Latencies of
//! single operations are operations and make a histogram; rates are a course over time.

use super::super::Block;
use super::super::cell::{add, cell, figure, run};
use super::super::context::Context;
use super::super::lines::Lines;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT};
use fathom_record::imported::units::{BYTES_PER_S, NS, OPS_PER_S, UNKNOWN};
use fathom_record::{Histogram, Interval, OpKind, OpStat, Phase, Worker};

/// Fewer lines than this are a list of numbers.
const FEWEST: usize = 3;

/// A line of a log.
struct Entry {
    time_ms: u64,
    value: u64,
    direction: u64,
    bytes: u64,
}

/// What a log's values are.
#[derive(Clone, Copy, PartialEq)]
enum What {
    Bandwidth,
    Operations,
    Latency(bool, bool),
    Unknown,
}

/// A log from this line on.
pub(super) fn parse(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    let mut entries: Vec<Entry> = Vec::new();
    for n in at..lines.len() {
        // Time never goes back in a log: there the next one begins.
        let before = entries.last().map_or(0, |e| e.time_ms);
        let Some(entry) = entry(lines.trimmed(n)).filter(|e| e.time_ms >= before) else { break };
        entries.push(entry);
    }
    if entries.len() < FEWEST {
        return None;
    }
    let last = at + entries.len() - 1;
    let what = what(&context.file);
    let mut phases = Vec::new();
    for (direction, name) in [(0, "read"), (1, "write"), (2, "trim")] {
        let of: Vec<&Entry> = entries.iter().filter(|e| e.direction == direction).collect();
        if !of.is_empty() {
            phases.push(phase(what, name, &of, last));
        }
    }
    let word = match what {
        What::Bandwidth => "bandwidth",
        What::Operations => "operations per second",
        What::Latency(..) => "latencies",
        What::Unknown => "values the file's name says nothing of",
    };
    let what = format!("fio log, {} lines: {word}", entries.len());
    Some(Block { last, what, runs: vec![run("fio", "fio".into(), phases)], ..Block::default() })
}

fn entry(line: &str) -> Option<Entry> {
    let fields: Vec<u64> = line.split(',').map(|f| f.trim().parse().ok()).collect::<Option<_>>()?;
    // With an offset and the time of issue there are seven.
    match fields.as_slice() {
        &[time_ms, value, direction, bytes, ..] if direction <= 2 && fields.len() <= 7 => {
            Some(Entry { time_ms, value, direction, bytes })
        }
        _ => None,
    }
}

fn what(file: &str) -> What {
    let name = file.rsplit('/').next().unwrap_or(file);
    let is = |word: &str| name.contains(&format!("_{word}.")) || name.ends_with(&format!("_{word}"));
    match () {
        () if is("bw") => What::Bandwidth,
        () if is("iops") => What::Operations,
        () if is("slat") => What::Latency(true, false),
        () if is("clat") => What::Latency(false, true),
        () if is("lat") => What::Latency(false, false),
        () => What::Unknown,
    }
}

fn phase(what: What, name: &str, entries: &[&Entry], line: usize) -> Phase {
    let mut phase = cell(name);
    (phase.reads, phase.writes) = (name == "read", name == "write");
    let single = entries.iter().all(|e| e.bytes > 0);
    let sizes = || entries.iter().map(|e| e.bytes);
    phase.axes.record_bytes = sizes().next().filter(|&first| first > 0 && sizes().all(|b| b == first));
    match what {
        What::Latency(submission, completion) if single => {
            phase.repetitions[0].workers.push(timed(name, submission, completion, entries));
        }
        What::Bandwidth | What::Operations => rates(&mut phase, what, entries, line),
        _ => means(&mut phase, what, entries, line),
    }
    phase
}

/// Latencies of single operations.
fn timed(name: &str, submission: bool, completion: bool, entries: &[&Entry]) -> Worker {
    let op = match (name, submission, completion) {
        ("read", true, _) => OpKind::ReadSubmission,
        ("read", _, true) => OpKind::ReadCompletion,
        ("read", ..) => OpKind::Read,
        ("trim", ..) => OpKind::Delete,
        (_, true, _) => OpKind::WriteSubmission,
        (_, _, true) => OpKind::WriteCompletion,
        _ => OpKind::Write,
    };
    let bytes = entries.iter().fold(0u64, |sum, e| sum.saturating_add(e.bytes));
    let ops = entries.len() as u64;
    let latency = Histogram::from_values(entries.iter().map(|e| e.value));
    // The clock of a log is whole milliseconds from its job's start.
    let elapsed_ns = entries.last().map_or(0, |e| e.time_ms.saturating_mul(1_000_000));
    Worker { ops, bytes, elapsed_ns, stats: vec![OpStat { op, ops, bytes, latency }], ..Worker::default() }
}

/// Averages over windows, each with the time of its end.
fn rates(phase: &mut Phase, what: What, entries: &[&Entry], line: usize) {
    let mut before = 0;
    let repetition = &mut phase.repetitions[0];
    for e in entries {
        let width_ms = e.time_ms.saturating_sub(before);
        before = e.time_ms;
        let amount =
            |per_s: u64| (u128::from(per_s) * u128::from(width_ms) / 1000).min(u128::from(u64::MAX)) as u64;
        let (ops, bytes) = match what {
            What::Bandwidth => (0, amount(e.value.saturating_mul(1024))),
            _ => (amount(e.value), 0),
        };
        let ns = |ms: u64| ms.saturating_mul(1_000_000);
        repetition.intervals.push(Interval {
            end_ns: ns(e.time_ms),
            width_ns: ns(width_ms),
            ops,
            bytes,
            ..Interval::default()
        });
    }
    means(phase, what, entries, line);
}

/// The mean of all lines, which is what fio quotes.
fn means(phase: &mut Phase, what: What, entries: &[&Entry], line: usize) {
    let mean = entries.iter().map(|e| e.value as f64).sum::<f64>() / entries.len().max(1) as f64;
    let (name, unit, factor, word) = match what {
        What::Bandwidth => (THROUGHPUT, BYTES_PER_S, 1024.0, "KiB/s"),
        What::Operations => (OPERATIONS, OPS_PER_S, 1.0, "per second"),
        What::Latency(..) => ("latency avg", NS, 1.0, "ns"),
        What::Unknown => ("mean value", UNKNOWN, 1.0, ""),
    };
    let printed = format!("mean of {} lines, {mean:.3} {word}", entries.len());
    add(phase, figure(name, mean * factor, unit, printed.trim_end().into(), line));
}
