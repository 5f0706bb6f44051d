//! Filebench's results: flowop rows and summary, as printed by releases 1.0 to 1.5, and as written to a file by `stats dump`
//! in 1.0 to 1.4. The summary ends a run.

use super::Block;
use super::cell::{add, cell, converted, directed, figure, run};
use super::context::Context;
use super::lines::{Lines, number};
use super::pairs::{Pair, pairs};
use super::units::{Prefix, unit};
use fathom_record::Phase;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT};
use fathom_record::imported::units::{BYTES_PER_S, COUNT, NS, OPS_PER_S};
use std::collections::BTreeMap;

/// Maximum lines of log output before the rows.
const MOST_TALK: usize = 2000;

pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    let first = message(lines.trimmed(at));
    let is_start =
        first.starts_with("Filebench Version") || first.starts_with("Flowop totals:") || is_breakdown(first);
    if !is_start && row(first, at).is_none() && !first.starts_with("IO Summary:") {
        return None;
    }
    let mut block = Block { last: at, ..Block::default() };
    let mut phases: Vec<Phase> = Vec::new();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut version = String::new();
    for n in at..lines.len().min(at + MOST_TALK) {
        let trimmed = lines.trimmed(n);
        let line = message(trimmed);
        if let Some(summary) = summary(line, n) {
            phases.push(summary);
            block.last = n;
            break;
        }
        if let Some(mut phase) = row(line, n) {
            let again = seen.entry(phase.name.clone()).or_default();
            *again += 1;
            if *again > 1 {
                // Flowops of the same name in different threads have separate rows.
                phase.axes.tags.insert("row".into(), again.to_string());
            }
            phases.push(phase);
        } else if let Some(v) = line.strip_prefix("Filebench Version") {
            if n > at {
                break;
            }
            version = v.trim().into();
        } else if trimmed.is_empty() || (n > at && is_breakdown(line)) || line.starts_with("Flowop totals:") {
            // A second heading without a summary means that the first run was cut off.
            if !trimmed.is_empty() && !phases.is_empty() {
                break;
            }
            if trimmed.is_empty() {
                continue;
            }
        } else if line.len() == trimmed.len() && n > at {
            // Neither a row nor a log line.
            break;
        }
        block.last = n;
    }
    while lines.trimmed(block.last + 1).ends_with("Shutting down processes") {
        block.last += 1;
    }
    let rows = phases.iter().filter(|p| p.name != "all flowops").count();
    let run = run("filebench", format!("Filebench {version}").trim_end().into(), phases);
    if run.phases.is_empty() {
        return None;
    }
    block.what = format!("Filebench run, {}", super::several(rows, "flowop"));
    block.runs.push(run);
    Some(block)
}

/// A line without its timestamp: "1.035: Running...", "14510: 1.035: Running...".
fn message(line: &str) -> &str {
    let mut rest = line;
    for _ in 0..2 {
        match rest.split_once(": ") {
            Some((time, behind)) if number(time.trim()).is_some() => rest = behind.trim_start(),
            _ => break,
        }
    }
    rest
}

fn is_breakdown(line: &str) -> bool {
    line.starts_with("Per-Operation Breakdown")
}

/// "seqread   366ops/s   2.9mb/s      2.7ms/op       98us/op-cpu", with "400ops" and "[0.0ms - 103.8ms]" in later releases.
fn row(line: &str, n: usize) -> Option<Phase> {
    let (name, rest) = line.split_once(char::is_whitespace)?;
    if !rest.contains("ops/s") || !rest.contains("ms/op") || name.ends_with(':') {
        return None;
    }
    let (rest, histogram) = rest.split_once("\t[").map_or((rest, None), |(r, h)| (r, Some(h)));
    let mut phase = directed(cell(name));
    let mut ends = ["latency min", "latency max"].into_iter();
    for p in pairs(rest) {
        add(&mut phase, named(&p, &mut ends, n)?);
    }
    for (bucket, word) in
        histogram.into_iter().flat_map(|h| h.trim_end_matches([']', ' ']).split_whitespace()).enumerate()
    {
        let count = number(word)?;
        if count > 0.0 {
            add(&mut phase, figure(&format!("latencies below 2^{bucket} ns"), count, COUNT, word.into(), n));
        }
    }
    Some(phase)
}

fn named<'a>(p: &Pair, ends: &mut impl Iterator<Item = &'a str>, n: usize) -> Option<fathom_record::Figure> {
    let printed = p.printed();
    Some(match p.unit {
        "ops" => figure("operations", p.value, COUNT, printed, n),
        "ops/s" => figure(OPERATIONS, p.value, OPS_PER_S, printed, n),
        "mb/s" => converted(THROUGHPUT, p.value, unit("mb/s", Prefix::Binary)?, printed, n),
        "ms/op" | "ms latency" => figure("latency avg", p.value * 1e6, NS, printed, n),
        "us/op-cpu" | "uscpu/op" | "us cpu/op" => {
            figure("CPU time of an operation", p.value * 1e3, NS, printed, n)
        }
        "ms" => figure(ends.next()?, p.value * 1e6, NS, printed, n),
        _ => return None,
    })
}

/// "IO Summary:  4474 ops  14.8 ops/s,  15/0 r/w  0.0mb/s,  624uscpu/op".
fn summary(line: &str, n: usize) -> Option<Phase> {
    let rest = line.strip_prefix("IO Summary:")?;
    let mut phase = cell("all flowops");
    for p in pairs(rest) {
        if let ("r/w" | "rd/wr", Some(writes)) = (p.unit, p.second) {
            (phase.reads, phase.writes) = (p.value > 0.0, writes > 0.0);
            for (name, value) in [("reads/s", p.value), ("writes/s", writes)] {
                add(&mut phase, figure(name, value, OPS_PER_S, p.printed(), n));
            }
            continue;
        }
        add(&mut phase, named(&p, &mut std::iter::empty(), n)?);
    }
    let rates = |p: &Phase| p.repetitions[0].figures.iter().any(|f| f.unit == BYTES_PER_S);
    rates(&phase).then_some(phase)
}
