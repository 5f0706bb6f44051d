//! pgbench's report, of PostgreSQL 9 to 18, with its progress, scripts and statements.

use super::Block;
use super::cell::{add, cell, converted, figure, run};
use super::context::Context;
use super::doubts::COURSE;
use super::lines::{Lines, leading, number, value_after};
use super::units::Unit;
use fathom_record::imported::names::OPERATIONS;
use fathom_record::imported::units::{COUNT, NS, OPS_PER_S, PERCENT};
use fathom_record::{Figure, Phase, Repetition};

const MS: Unit = Unit { base: NS, factor: 1e6 };
const TPS: Unit = Unit { base: OPS_PER_S, factor: 1.0 };
/// Foreign lines tolerated between two of its lines.
const MOST_UNKNOWN: usize = 3;

/// A report or its progress starting at this line.
pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    let first = lines.trimmed(at);
    if !is_banner(first) && !first.starts_with(TYPE) && progress(first, at).is_none() {
        return None;
    }
    let mut block = Block { last: at, ..Block::default() };
    let mut total = cell("transactions");
    let mut course = cell("transactions");
    course.axes.tags.insert(COURSE.into(), "interval".into());
    course.repetitions.clear();
    let (mut scripts, mut statements): (Vec<Phase>, Vec<Phase>) = (Vec::new(), Vec::new());
    let (mut version, mut typed, mut reported, mut in_statements) = (String::new(), false, false, false);
    let mut unknown = Vec::new();
    for n in at..lines.len() {
        let line = lines.trimmed(n);
        if line.is_empty() {
            continue;
        }
        let is_of_next =
            is_banner(line) || typed && line.starts_with(TYPE) || reported && progress(line, n).is_some();
        if n > at && is_of_next {
            break;
        }
        typed |= line.starts_with(TYPE);
        let known = if is_banner(line) {
            version = line["pgbench (".len()..].split([' ', ')']).next().unwrap_or("").into();
            true
        } else if let Some(figures) = progress(line, n) {
            let n = course.repetitions.len() as u32;
            course.repetitions.push(Repetition { n, figures, ..Repetition::default() });
            true
        } else if let Some(name) = line.strip_prefix("SQL script ").and_then(|l| l.split_once(": ")) {
            scripts.push(cell(&format!("transactions of {}", name.1)));
            in_statements = false;
            true
        } else if line.contains("statement latencies in milliseconds") {
            in_statements = true;
            true
        } else if let Some(statement) = in_statements.then(|| statement(line, n)).flatten() {
            statements.push(statement);
            true
        } else {
            let of = if line.starts_with("- ") { scripts.last_mut() } else { Some(&mut total) };
            let taken = of.is_some_and(|phase| result(phase, line.trim_start_matches("- "), n));
            reported |= taken && line.starts_with("tps = ");
            taken || setting(&mut total, line)
        };
        if known {
            block.last = n;
            block.left.append(&mut unknown);
        } else {
            unknown.push(n);
            if unknown.len() > MOST_UNKNOWN {
                break;
            }
        }
    }
    for script in &mut scripts {
        script.axes.streams = total.axes.streams;
    }
    course.axes.streams = total.axes.streams;
    let clients =
        total.axes.streams.map_or(String::new(), |c| format!(", {}", super::several(c as usize, "client")));
    let mut phases = vec![total, course];
    phases.append(&mut scripts);
    phases.append(&mut statements);
    let run = run("pgbench", format!("pgbench {version}").trim_end().into(), phases);
    if run.phases.is_empty() {
        return None;
    }
    block.what = format!("pgbench{clients}");
    block.runs.push(run);
    Some(block)
}

const TYPE: &str = "transaction type:";

fn is_banner(line: &str) -> bool {
    line.strip_prefix("pgbench (").is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit()))
}

/// "progress: 2.0 s, 497.0 tps, lat 4.049 ms stddev 4.973, lag 0.1 ms, 0 failed, 2 skipped, 1 retried, 3 retries".
fn progress(line: &str, n: usize) -> Option<Vec<Figure>> {
    let mut parts = line.strip_prefix("progress: ")?.split(", ");
    let (at, _, rest) = leading(parts.next()?)?;
    if rest.trim() != "s" {
        return None;
    }
    let mut figures = vec![figure("end of the interval", at * 1e9, NS, format!("{at} s"), n)];
    figures[0].higher_is_better = None;
    for part in parts {
        let words: Vec<&str> = part.split_whitespace().collect();
        let value = |word: &str| number(word);
        match words.as_slice() {
            [v, "tps"] => figures.push(converted(OPERATIONS, value(v)?, TPS, part.into(), n)),
            ["lat", v, "ms"] => figures.push(converted("latency avg", value(v)?, MS, format!("{v} ms"), n)),
            ["lat", v, "ms", "stddev", spread] => {
                figures.push(converted("latency avg", value(v)?, MS, format!("{v} ms"), n));
                figures.push(stddev(value(spread)?, spread, n));
            }
            ["lag", v, "ms"] => {
                figures.push(converted("schedule lag avg", value(v)?, MS, format!("{v} ms"), n))
            }
            [v, what @ ("failed" | "skipped" | "retried" | "retries")] => {
                figures.push(figure(&format!("transactions {what}"), value(v)?, COUNT, (*v).into(), n));
            }
            _ => return None,
        }
    }
    (figures.len() > 1).then_some(figures)
}

fn stddev(value: f64, word: &str, n: usize) -> Figure {
    let mut figure = converted("latency stddev", value, MS, format!("{word} ms"), n);
    figure.higher_is_better = None;
    figure
}

/// Reads a result line.
fn result(phase: &mut Phase, line: &str, n: usize) -> bool {
    let mut put = |f: Figure| add(phase, f);
    if let Some((value, word, rest)) = line.strip_prefix("tps = ").and_then(leading) {
        // Old releases print two rates; the one without connection time matches new releases.
        let name =
            if rest.contains("including") { "transactions per second with connecting" } else { OPERATIONS };
        put(converted(name, value, TPS, format!("{word} tps"), n));
    } else if let Some((value, printed, "ms")) = value_after(line, "latency average") {
        put(converted("latency avg", value, MS, printed, n));
    } else if let Some((value, printed, "ms")) = value_after(line, "latency stddev") {
        put(stddev(value, printed.trim_end_matches(" ms"), n));
    } else if let Some((value, printed, "ms")) =
        ["initial connection time", "average connection time"].iter().find_map(|k| value_after(line, k))
    {
        let name = line.split(" =").next().unwrap_or(line);
        put(converted(name, value, MS, printed, n));
    } else if let Some(rest) = line.strip_prefix("rate limit schedule lag: avg ") {
        let Some((avg, word, rest)) = leading(rest) else { return false };
        let Some((max, most, _)) = rest.trim().strip_prefix("(max ").and_then(leading) else { return false };
        put(converted("schedule lag avg", avg, MS, format!("{word} ms"), n));
        put(converted("schedule lag max", max, MS, format!("{most} ms"), n));
    } else if let Some((name, rest)) = line.split_once(": ").filter(|(name, _)| is_count(name)) {
        let Some((value, word, rest)) = leading(rest) else { return false };
        put(figure(name, value, COUNT, word.into(), n));
        if let Some((share, word, "%)")) = rest.split_once('(').and_then(|(_, r)| leading(r)) {
            put(figure(&format!("{name}, share"), share, PERCENT, format!("{word}%"), n));
        }
    } else if let Some((value, word, rest)) =
        leading(line).filter(|(.., rest)| rest.starts_with(" transactions ("))
    {
        // "4 transactions (4.4% of total, tps = 2.034394)"
        put(figure("number of transactions", value, COUNT, word.into(), n));
        let Some((tps, word, _)) = rest.split_once("tps = ").and_then(|(_, r)| leading(r)) else {
            return false;
        };
        put(converted(OPERATIONS, tps, TPS, format!("{word} tps"), n));
        let share = rest.strip_prefix(" transactions (").and_then(leading);
        if let Some((share, word, _)) = share.filter(|(.., rest)| rest.starts_with("% of total")) {
            put(figure("share of transactions", share, PERCENT, format!("{word} %"), n));
        }
    } else {
        return false;
    }
    true
}

fn is_count(name: &str) -> bool {
    (name.starts_with("number of ") && !matches!(name, "number of clients" | "number of threads"))
        && !name.contains("per client")
        || name == "total number of retries"
}

/// "         0.148           0  BEGIN;": milliseconds, failures, statement; with retries in between if they are enabled.
fn statement(line: &str, n: usize) -> Option<Phase> {
    let (time, rest) = line.split_once(char::is_whitespace)?;
    let value = number(time).filter(|_| time.contains('.'))?;
    let mut phase = cell("");
    add(&mut phase, converted("latency avg", value, MS, format!("{time} ms"), n));
    let mut rest = rest.trim_start();
    let mut counts = Vec::new();
    while let Some((word, behind)) = rest.split_once(char::is_whitespace)
        && let (Some(count), true) = (number(word), counts.len() < 2)
    {
        counts.push((count, word));
        rest = behind.trim_start();
    }
    for (name, (count, word)) in ["failures", "retries"].iter().zip(counts) {
        add(&mut phase, figure(name, count, COUNT, word.into(), n));
    }
    phase.name = rest.to_owned();
    (!rest.is_empty()).then_some(phase)
}

/// Takes a line about the workload or one without information. Returns whether the line was one of these.
fn setting(phase: &mut Phase, line: &str) -> bool {
    let Some((key, value)) = line.split_once(": ") else { return line.starts_with("starting vacuum") };
    match key {
        "number of clients" => phase.axes.streams = value.parse().ok(),
        // The weight of a script; its share of transactions is a figure.
        "- weight" => {}
        "transaction type"
        | "scaling factor"
        | "query mode"
        | "duration"
        | "number of threads"
        | "maximum number of tries"
        | "number of transactions per client"
        | "partition method"
        | "partitions" => {
            phase.axes.tags.insert(key.into(), value.into());
        }
        _ => return false,
    }
    true
}
