//! dtrace's printed aggregations: distributions of lquantize() and quantize(), and count() by key. A command typed after a
//! prompt and its whole output are one run; each key is a cell.

use super::Block;
use super::cell::{add, cell, figure, run};
use super::context::Context;
use super::lines::{Lines, number};
use fathom_record::Phase;
use fathom_record::imported::units::COUNT;

/// Unknown lines that end the output.
const MOST_UNKNOWN: usize = 3;

/// An aggregation, or a command with its aggregations.
pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    let first = lines.trimmed(at);
    let command = command(first);
    let keyed = !first.is_empty() && is_head(lines.trimmed(at + 1));
    if command.is_none() && !is_head(first) && !keyed {
        return None;
    }
    let mut block = Block { last: at, ..Block::default() };
    let mut phases: Vec<Phase> = Vec::new();
    let mut unknown = 0;
    let mut n = at + usize::from(command.is_some());
    while n < lines.len() && unknown <= MOST_UNKNOWN {
        let line = lines.trimmed(n);
        let key = keys(lines.at(n));
        if n > at && self::command(line).is_some() || super::context::is_rule(line) || line.starts_with("##")
        {
            break;
        }
        if is_head(line) || is_head(lines.trimmed(n + 1)) && !line.is_empty() {
            let key = if is_head(line) { "distribution".to_string() } else { key };
            let head = n + usize::from(!is_head(line));
            let (phase, last) = distribution(lines, &key, head);
            if last > head {
                phases.push(phase);
                block.last = last;
            } else {
                unknown += 1;
            }
            n = last;
        } else if let Some(phase) = counted(line, n).filter(|_| command.is_some()) {
            phases.push(phase);
            block.last = n;
        } else if is_talk(line) {
            block.last = n;
        } else {
            unknown += usize::from(!line.is_empty());
        }
        n += 1;
    }
    let cells = phases.len();
    let mut run = run("dtrace", "dtrace".into(), phases);
    if run.phases.is_empty() {
        return None;
    }
    // Text after the last aggregation does not belong to it.
    block.what = format!("dtrace, {cells} {}", if cells == 1 { "aggregation" } else { "aggregations" });
    run.argv = command.into_iter().map(str::to_string).collect();
    block.runs.push(run);
    Some(block)
}

/// A command after a prompt.
fn command(line: &str) -> Option<&str> {
    let at = line.find("dtrace -")?;
    let before = line[..at].trim_end();
    (before.is_empty() || before.ends_with(['#', '$', '%'])).then(|| &line[at..])
}

fn is_head(line: &str) -> bool {
    line.starts_with("value ") && line.contains("- Distribution -") && line.ends_with("count")
}

fn is_talk(line: &str) -> bool {
    line.starts_with("dtrace: ") || line == "^C" || line == "..."
}

/// The keys of an aggregation are in columns; in the name they are separated by one blank.
fn keys(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads the rows below a heading. Returns the cell and the last line.
fn distribution(lines: &Lines, key: &str, head: usize) -> (Phase, usize) {
    let mut phase = cell(key);
    let mut last = head;
    for n in head + 1..lines.len() {
        let line = lines.trimmed(n);
        let Some((value, bar)) = line.split_once('|') else { break };
        let count = bar.trim_start_matches(['@', ' ', '*']).trim();
        let value = value.trim();
        let is_class = value == "..." || number(value.trim_start_matches(['<', '>', '=', ' '])).is_some();
        let Some(number) = number(count).filter(|_| is_class) else { break };
        add(&mut phase, figure(&format!("value {value}"), number, COUNT, count.into(), n));
        last = n;
    }
    (phase, last)
}

/// "  sched                        59": key and count.
fn counted(line: &str, n: usize) -> Option<Phase> {
    let (key, count) = line.rsplit_once(char::is_whitespace)?;
    let value = number(count).filter(|_| !count.contains(['.', '-', ',']))?;
    let mut phase = cell(&keys(key));
    add(&mut phase, figure("count", value, COUNT, count.into(), n));
    Some(phase)
}
