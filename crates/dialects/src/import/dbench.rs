//! dbench 3 and 4: progress, the table of operations (with --per-client-results one of each client, too), and the result. A MB is 1,000,000 bytes: with a load of known size the rates
//! agree with the bytes written.

use super::Block;
use super::cell::{add, cell, converted, figure, run};
use super::context::{Context, is_rule};
use super::lines::{Lines, leading, number};
use super::units::{Prefix, Unit, unit};
use fathom_record::Phase;
use fathom_record::imported::names::THROUGHPUT;
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS};

/// Lines in a row that are not dbench's, after which it has ended.
const MOST_FOREIGN: usize = 4;

/// Words of a row of the table.
const ROW: usize = 4;

pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    let first = lines.trimmed(at);
    let mut whole = cell("dbench");
    if !(first.starts_with("dbench version ")
        || is_head(first)
        || progress(&mut whole, first, at)
        || result(&mut whole, first, at))
    {
        return None;
    }
    let mut whole = cell("dbench");
    let mut operations: Vec<Phase> = Vec::new();
    let mut block = Block { last: at, has_own_rules: true, ..Block::default() };
    let (mut in_table, mut foreign) = (false, Vec::new());
    // The client whose table follows.
    let mut of_client = None;
    for n in at..lines.len() {
        let line = lines.trimmed(n);
        if n > at && line.starts_with("dbench version ") || foreign.len() > MOST_FOREIGN {
            break;
        }
        let is_result = result(&mut whole, line, n);
        let next = client(line, n);
        let is_client = next.is_some();
        if let Some((name, phase)) = next {
            of_client = Some(name.to_owned());
            operations.push(phase);
        }
        let mut row = operation(line, n).filter(|_| in_table);
        if let (Some(row), Some(client)) = (&mut row, &of_client) {
            row.axes.tags.insert(CLIENT.into(), client.clone());
        }
        let is_known = is_result
            || is_client
            || row.is_some()
            || is_head(line)
            || is_talk(line)
            || progress(&mut whole, line, n);
        in_table |= is_head(line);
        operations.extend(row);
        if is_known {
            block.last = n;
            block.left.append(&mut foreign);
        } else if in_table && line.split_whitespace().count() == ROW {
            block.partly.push(n);
            block.last = n;
        } else if !line.is_empty() {
            foreign.push(n);
        }
        if is_result {
            break;
        }
    }
    // The result comes first, and what was shown of the way there after it.
    if let Some(repetition) = whole.repetitions.last_mut() {
        repetition.figures.sort_by_key(|figure| figure.name.contains(" after "));
    }
    for operation in &mut operations {
        if operation.axes.tags.contains_key(CLIENT) {
            operation.axes.streams = Some(1);
            continue;
        }
        operation.axes.streams = whole.axes.streams;
        if of_client.is_some() {
            operation.axes.tags.insert(CLIENT.into(), "total".into());
        }
    }
    let count = operations.iter().filter(|o| o.axes.tags.get(CLIENT).is_none_or(|c| c == "total")).count();
    let mut phases = vec![whole];
    phases.append(&mut operations);
    let run = run("dbench", "dbench".into(), phases);
    block.what = match count {
        0 => "dbench".into(),
        _ => format!("dbench, {}", super::several(count, "operation")),
    };
    if of_client.is_some() {
        block.what += ", also by client";
    }
    (!run.phases.is_empty()).then(|| {
        block.runs.push(run);
        block
    })
}

/// The heading of the table; the times below it are milliseconds.
fn is_head(line: &str) -> bool {
    line.split_whitespace().eq(["Operation", "Count", "AvgLat", "MaxLat"])
}

/// Lines without figures.
fn is_talk(line: &str) -> bool {
    is_rule(line)
        || line.starts_with("dbench version ")
        || line.starts_with("Running for ")
        || matches!(line, "releasing clients" | "Per client results:")
        || line.contains(" processes prepared for launch")
        || line.split_whitespace().nth(1) == Some("cleanup")
}

/// Tag of the tables of an output that has one for each client.
const CLIENT: &str = "client";

/// "Client 0 did 76994 lines and 429768472 bytes".
fn client(line: &str, n: usize) -> Option<(&str, Phase)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["Client", name, "did", done, "lines", "and", bytes, "bytes"] = words.as_slice() else { return None };
    let mut phase = cell("dbench");
    add(&mut phase, figure("lines of the load", number(done)?, COUNT, (*done).into(), n));
    add(&mut phase, figure("bytes", number(bytes)?, BYTES, format!("{bytes} bytes"), n));
    phase.axes.tags.insert(CLIENT.into(), (*name).into());
    Some((name, phase))
}

const MILLISECONDS: Unit = Unit { base: NS, factor: 1e6 };

/// "NTCreateX      38576     0.037    44.047".
fn operation(line: &str, n: usize) -> Option<Phase> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, count, mean, longest] = words.as_slice() else { return None };
    let mut phase = cell(name);
    (phase.reads, phase.writes) = (*name == "ReadX", *name == "WriteX");
    add(&mut phase, figure("operations", number(count)?, COUNT, (*count).into(), n));
    add(&mut phase, converted("latency avg", number(mean)?, MILLISECONDS, format!("{mean} ms"), n));
    add(&mut phase, converted("latency max", number(longest)?, MILLISECONDS, format!("{longest} ms"), n));
    Some(phase)
}

fn rate(word: &str) -> Option<f64> {
    let megabytes = unit("MB/sec", Prefix::Decimal)?;
    Some(number(word)? * megabytes.factor)
}

/// "2     43073   498.93 MB/sec  execute   1 sec  latency 6.783 ms"; 3.x has no latency.
fn progress(phase: &mut Phase, line: &str, n: usize) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [clients, done, value, "MB/sec", stage @ ("warmup" | "execute"), seconds, "sec", rest @ ..] =
        words.as_slice()
    else {
        return false;
    };
    let (Some(rate), Some(done_number), Some(_), Some(_)) =
        (rate(value), number(done), number(clients), number(seconds))
    else {
        return false;
    };
    let when = if *stage == "warmup" {
        format!("after {seconds} s of warmup")
    } else {
        format!("after {seconds} s")
    };
    add(phase, figure(&format!("lines of the load {when}"), done_number, COUNT, (*done).into(), n));
    add(phase, figure(&format!("throughput {when}"), rate, BYTES_PER_S, format!("{value} MB/sec"), n));
    if let ["latency", value, "ms"] = rest
        && let Some(longest) = number(value)
    {
        add(
            phase,
            converted(&format!("latency max {when}"), longest, MILLISECONDS, format!("{value} ms"), n),
        );
    }
    true
}

/// "Throughput 382.031 MB/sec  2 clients  2 procs  max_latency=55.418 ms", in 3.x "Throughput 382.031 MB/sec 2 procs".
fn result(phase: &mut Phase, line: &str, n: usize) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["Throughput", value, "MB/sec", rest @ ..] = words.as_slice() else { return false };
    let before =
        |noun: &str| rest.iter().position(|w| *w == noun).and_then(|at| rest[..at].last()?.parse().ok());
    let (Some(rate), Some(processes)) = (rate(value), before("procs")) else { return false };
    phase.axes.streams = before("clients").or(Some(processes));
    add(phase, figure(THROUGHPUT, rate, BYTES_PER_S, format!("{value} MB/sec"), n));
    let longest = rest.iter().find_map(|w| w.strip_prefix("max_latency=")).and_then(leading);
    if let Some((longest, word, _)) = longest {
        add(phase, converted("latency max", longest, MILLISECONDS, format!("{word} ms"), n));
    }
    true
}
