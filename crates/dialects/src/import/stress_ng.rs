//! The metrics of stress-ng (`--metrics`, `--metrics-brief`): a cell for each stressor.

use super::Block;
use super::cell::{add, cell, converted, figure, run};
use super::context::Context;
use super::lines::{Lines, leading, number};
use super::units::{Prefix, Unit, unit};
use fathom_record::imported::names::TIME;
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS, OPS_PER_S, PERCENT, UNKNOWN};
use fathom_record::{Phase, Status};

/// Lines before the table that announce the stressors.
const BEFORE: usize = 12;

pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    let head: Vec<&str> = message(lines.trimmed(at)).split_whitespace().collect();
    if !head.starts_with(&HEAD) {
        return None;
    }
    let mut block = Block { last: at, ..Block::default() };
    let mut phases: Vec<Phase> = Vec::new();
    let mut failed = None;
    let mut in_miscellany = false;
    let mut all = cell("all stressors");
    for n in at + 1..lines.len() {
        let line = message(lines.trimmed(n));
        let is_own = lines.trimmed(n).starts_with("stress-ng: ");
        if line.is_empty() || line.starts_with(HEAD[0]) {
            break;
        }
        if line.starts_with("(secs)") || line == "miscellaneous metrics:" {
            in_miscellany |= !line.starts_with('(');
        } else if let Some(phase) = (!in_miscellany).then(|| row(line, n)).flatten() {
            phases.push(phase);
        } else if in_miscellany && metric(&mut phases, line, n) || of_all(&mut all, line, n) {
        } else if TALK.iter().any(|t| line.starts_with(t)) {
            let count = line.strip_prefix("failed: ").and_then(leading).map_or(0.0, |(count, ..)| count);
            failed = failed.or((count > 0.0).then(|| format!("stress-ng: {line}")));
        } else if is_own {
            block.left.push(n);
        } else {
            break;
        }
        block.last = n;
    }
    let instances = (at.saturating_sub(BEFORE)..at)
        .rev()
        .find_map(|n| message(lines.trimmed(n)).strip_prefix("dispatching hogs: ").map(str::to_owned));
    for phase in &mut phases {
        phase.axes.streams = instances.as_deref().and_then(|all| instances_of(all, &phase.name));
    }
    let stressors = phases.len();
    phases.push(all);
    let mut run = run("stress-ng", "stress-ng".into(), phases);
    if run.phases.is_empty() {
        return None;
    }
    if failed.is_some() {
        (run.status, run.error) = (Status::Failed, failed);
    }
    block.what = format!("stress-ng, {}", super::several(stressors, "stressor"));
    block.runs.push(run);
    Some(block)
}

const HEAD: [&str; 9] = ["stressor", "bogo", "ops", "real", "time", "usr", "time", "sys", "time"];

/// Prefixes of lines after the table.
const TALK: [&str; 6] = [
    "skipped:",
    "passed:",
    "failed:",
    "metrics untrustworthy:",
    "successful run completed",
    "unsuccessful run completed",
];

/// A line without the prefix "stress-ng: metrc: [1234] ", which may be missing.
fn message(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("stress-ng: ") else { return line };
    let behind = rest.split_once("] ").filter(|(before, _)| before.contains('[') && before.len() < 24);
    behind.map_or(rest, |(_, line)| line).trim()
}

/// "hdd  18432  3.02  0.27  0.20  6096.55  39276.10", followed by CPU and memory with `--metrics`.
fn row(line: &str, n: usize) -> Option<Phase> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, values) = words.split_first()?;
    if !matches!(values.len(), 6..=8) || number(name).is_some() {
        return None;
    }
    let mut phase = cell(name);
    for ((name, base, factor), word) in COLUMNS.iter().zip(values) {
        let unit = Unit { base, factor: *factor };
        add(&mut phase, converted(name, number(word)?, unit, (*word).into(), n));
    }
    Some(phase)
}

const COLUMNS: [(&str, &str, f64); 8] = [
    ("bogo operations", COUNT, 1.0),
    (TIME, NS, 1e9),
    ("user CPU time", NS, 1e9),
    ("system CPU time", NS, 1e9),
    ("bogo operations per second", OPS_PER_S, 1.0),
    ("bogo operations per second of CPU time", OPS_PER_S, 1.0),
    ("CPU used per instance", PERCENT, 1.0),
    ("largest resident memory", BYTES, 1024.0),
];

/// "hdd  732.49 MB/sec write rate (harmonic mean of 1 instances)"; MB are 1024 * 1024 bytes.
fn metric(phases: &mut [Phase], line: &str, n: usize) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, value, rest @ ..] = words.as_slice() else { return false };
    let (Some(number), Some(phase)) = (number(value), phases.iter_mut().find(|p| p.name == *name)) else {
        return false;
    };
    let rest: Vec<&str> = rest.iter().take_while(|w| !w.starts_with('(')).copied().collect();
    let Some((first, words)) = rest.split_first() else { return false };
    let figure = match unit(first, Prefix::Binary).filter(|u| u.base == BYTES_PER_S) {
        Some(unit) => converted(&words.join(" "), number, unit, format!("{value} {first}"), n),
        None => figure(&rest.join(" "), number, UNKNOWN, (*value).into(), n),
    };
    add(phase, figure);
    true
}

/// The lines of `--times`: "0.43s user time   ( 10.71%)", "load average: 2.24 5.67 5.81".
fn of_all(phase: &mut Phase, line: &str, n: usize) -> bool {
    let mut take =
        |name: &str, value: f64, unit, text: String| add(phase, figure(name, value, unit, text, n));
    if let Some(loads) = line.strip_prefix("load average: ") {
        let loads: Option<Vec<_>> = loads.split_whitespace().map(|w| Some((number(w)?, w))).collect();
        let Some(loads) = loads.filter(|l| l.len() == 3) else { return false };
        for ((load, word), minutes) in loads.into_iter().zip(["1 minute", "5 minutes", "15 minutes"]) {
            take(&format!("load average of {minutes}"), load, COUNT, word.into());
        }
        return true;
    }
    let Some((seconds, word, rest)) = leading(line.strip_prefix("for a ").unwrap_or(line)) else {
        return false;
    };
    let rest = rest.strip_prefix("s ").unwrap_or("");
    let (what, share) = rest.split_once('(').unwrap_or((rest, ""));
    let name = match what.trim() {
        "run time:" => TIME,
        "available CPU time" => "available CPU time",
        "user time" => "user CPU time",
        "system time" => "system CPU time",
        "total time" => "CPU time",
        _ => return false,
    };
    take(name, seconds * 1e9, NS, format!("{word}s"));
    if let Some(percent) = share.trim().strip_suffix("%)").and_then(number) {
        take(
            &format!("{name}, share of available"),
            percent,
            PERCENT,
            share.trim().trim_end_matches(')').into(),
        );
    }
    true
}

/// Number of instances of a stressor in "1 hdd, 2 iomix".
fn instances_of(all: &str, name: &str) -> Option<u64> {
    let part = all.split(',').find_map(|p| p.trim().strip_suffix(name)?.strip_suffix(' '))?;
    part.trim().parse().ok()
}
