//! elbencho's result table, and the CSV of `--csvfile` (`csv`). Each operation is a cell. The column "last done" is the cell's
//! result. The column "first done" is the state when the first thread finished.

mod csv;

use super::Block;
use super::cell::{add, cell, converted, directed, figure, run};
use super::context::Context;
use super::lines::{Lines, leading, number, unit as word_of};
use super::units::{Prefix, Unit, unit};
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT, TIME};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS, OPS_PER_S, PERCENT};
use fathom_record::{Figure, Phase};

const MIB: f64 = 1024.0 * 1024.0;
/// Suffix for figures at the time when the first thread was done.
const FIRST: &str = ", first done";

/// A table or CSV starting at this line.
pub(super) fn parse(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    table(lines, at).or_else(|| csv::parse(lines, at, context))
}

fn is_head(line: &str) -> bool {
    line.split_whitespace().eq(["OPERATION", "RESULT", "TYPE", "FIRST", "DONE", "LAST", "DONE"])
}

fn table(lines: &Lines, at: usize) -> Option<Block> {
    if !is_head(lines.trimmed(at)) {
        return None;
    }
    let mut block = Block { last: at, ..Block::default() };
    let mut phases: Vec<Phase> = Vec::new();
    for n in at + 1..lines.len() {
        let line = lines.trimmed(n);
        if line.is_empty() || line.starts_with("===") || line == "---" {
            // Anything may follow a blank line.
            continue;
        }
        let Some((names, values)) = line.split_once(" :").or_else(|| line.split_once(':')) else { break };
        let Some((operation, name)) = of_operation(names.trim(), lines.at(n), !phases.is_empty()) else {
            break;
        };
        if let Some(operation) = operation {
            phases.push(directed(cell(operation)));
        }
        let phase = phases.last_mut()?;
        match result(name, values.trim(), n) {
            Some(figures) => figures.into_iter().for_each(|f| add(phase, f)),
            None => block.left.push(n),
        }
        block.last = n;
    }
    block.what = format!("elbencho, {}", super::several(phases.len(), "operation"));
    let run = run("elbencho", "elbencho".into(), phases);
    if run.phases.is_empty() {
        return None;
    }
    block.runs.push(run);
    block.has_own_rules = true;
    Some(block)
}

/// "WRITE       Elapsed time" starts an operation, "            IOPS" continues it; any other line ends the table.
fn of_operation<'l>(names: &'l str, line: &str, has_operation: bool) -> Option<(Option<&'l str>, &'l str)> {
    if has_operation && line.starts_with("        ") {
        return Some((None, names));
    }
    let (operation, name) = names.split_once(char::is_whitespace)?;
    let is_name = |w: &str| w.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    (is_name(operation) && TYPES.iter().any(|t| name.contains(t))).then_some((Some(operation), name.trim()))
}

/// Row types of an operation.
const TYPES: [&str; 8] = ["Elapsed", "IOPS", "MiB", "/s", "total", "lat", "CPU", "us"];

/// The figures of a line.
fn result(name: &str, values: &str, n: usize) -> Option<Vec<Figure>> {
    if let Some(inner) = values.strip_prefix('[').and_then(|v| v.strip_suffix(']')) {
        return latencies(name, inner, n);
    }
    let words: Vec<&str> = values.split_whitespace().collect();
    let [first, last] = words.as_slice() else { return None };
    let (named, unit) = match name {
        "Elapsed time" => (TIME, Unit { base: NS, factor: 1.0 }),
        "IOPS" => (OPERATIONS, Unit { base: OPS_PER_S, factor: 1.0 }),
        "Throughput MiB/s" => (THROUGHPUT, Unit { base: BYTES_PER_S, factor: MIB }),
        "Total MiB" => ("bytes", Unit { base: BYTES, factor: MIB }),
        _ if name.ends_with(" MiB/s") => (name, Unit { base: BYTES_PER_S, factor: MIB }),
        _ if name.ends_with("/s") || name.ends_with("IOPS") => (name, Unit { base: OPS_PER_S, factor: 1.0 }),
        _ if name.contains('%') => (name, Unit { base: PERCENT, factor: 1.0 }),
        _ if name.ends_with(" total") => (name, Unit { base: COUNT, factor: 1.0 }),
        _ => return None,
    };
    let value = |word: &str| if unit.base == NS { duration(word) } else { number(word) };
    let suffix = name
        .rsplit(' ')
        .next()
        .filter(|w| ["MiB/s", "MiB"].contains(w))
        .map_or(String::new(), |w| format!(" {w}"));
    let of =
        |name: String, word: &str| Some(converted(&name, value(word)?, unit, format!("{word}{suffix}"), n));
    Some(vec![of(named.into(), last)?, of(format!("{named}{FIRST}"), first)?])
}

/// "IO latency : [ min=108us avg=469us max=14.5ms ]" and "IO lat % us : [ 1%<=215 50%<=512 ]".
fn latencies(name: &str, inner: &str, n: usize) -> Option<Vec<Figure>> {
    let of = name.split(" lat").next()?;
    let of = if of == "IO" { String::new() } else { format!("{of} ") };
    if name.ends_with(" hist") {
        let bucket = |part: &str| {
            let (us, count) = part.split_once(':')?;
            let (us, count) = (us.trim(), count.trim());
            let _: u64 = us.parse().ok()?;
            let name = format!("{of}latency histogram, {us} us");
            Some(figure(&name, number(count)?, COUNT, count.into(), n))
        };
        return inner.split(',').map(bucket).collect();
    }
    let one = |word: &str| {
        if let Some((percent, bound)) = word.split_once("%<=") {
            let name = format!("{of}latency p{}", number(percent)?);
            Some(figure(&name, number(bound)? * 1e3, NS, format!("{bound} us"), n))
        } else {
            let (which, value) = word.split_once('=')?;
            ["min", "avg", "max"].contains(&which).then_some(())?;
            Some(figure(&format!("{of}latency {which}"), duration(value)?, NS, value.into(), n))
        }
    };
    if inner.contains("%<=") && !name.ends_with(" us") {
        return None;
    }
    inner.split_whitespace().map(one).collect()
}

/// "2m3.241s", "586ms", "1h2m3s" in nanoseconds.
fn duration(text: &str) -> Option<f64> {
    let mut rest = text;
    let mut sum = 0.0;
    while !rest.is_empty() {
        let (value, _, behind) = leading(rest)?;
        let word = word_of(behind);
        sum += value
            * match word {
                "h" => 3600e9,
                "m" => 60e9,
                _ => unit(word, Prefix::Binary).filter(|u| u.base == NS)?.factor,
            };
        rest = &behind[word.len()..];
    }
    (!text.is_empty()).then_some(sum)
}
