//! The table "fio Disk Speed Tests" of YABS (yet-another-bench-script): a cell for each block size.

use super::Block;
use super::cell::{add, cell, converted, run};
use super::context::{Context, is_rule};
use super::lines::{Lines, leading};
use super::units::{Prefix, Unit, unit};
use fathom_record::Phase;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, OPS_PER_S};

pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    let first = lines.trimmed(at);
    let sizes = |n: usize| cells(lines.trimmed(n)).filter(|c| c[0] == "Block Size");
    let begins = first.starts_with("fio Disk Speed Tests")
        && lines.find(at + 1, 3, |l| l.starts_with("Block Size")).is_some();
    if !begins && sizes(at).is_none() {
        return None;
    }
    let mut block = Block { last: at, ..Block::default() };
    let mut phases: Vec<Phase> = Vec::new();
    // The cells described by the current rows.
    let mut current = 0..0;
    for n in at..lines.len() {
        let line = lines.trimmed(n);
        if line.is_empty() || line.contains('|') && line.chars().all(|c| "| -:".contains(c)) {
            continue;
        }
        if let Some(heads) = sizes(n) {
            let new: Option<Vec<Phase>> = heads[1..].iter().map(|head| of_size(head)).collect();
            let Some(new) = new else { break };
            current = phases.len()..phases.len() + new.len();
            phases.extend(new);
        } else if let Some((row, values)) = cells(line).and_then(|c| Some((names(c[0])?, c)))
            && values.len() - 1 <= current.len()
        {
            for (phase, value) in phases[current.clone()].iter_mut().zip(&values[1..]) {
                match pair(value, row, n) {
                    Some(figures) => figures.into_iter().for_each(|f| add(phase, f)),
                    None => block.partly.push(n),
                }
            }
        } else if n > at && !(n == at + 1 && is_rule(line)) {
            break;
        }
        block.last = n;
    }
    let mut run = run("yabs", "YABS with fio".into(), phases);
    // Headings above belong to other parts of its output.
    run.label = if begins { first.trim_end_matches(':').into() } else { String::new() };
    if run.phases.is_empty() {
        return None;
    }
    block.what = format!("YABS, fio with {}", super::several(run.phases.len(), "block size"));
    block.has_own_rules = true;
    block.runs.push(run);
    Some(block)
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    (cells.len() >= 2).then_some(cells)
}

/// "64k           (IOPS)".
fn of_size(head: &str) -> Option<Phase> {
    let size = head.strip_suffix("(IOPS)")?.trim();
    let (value, _, letter) = leading(size)?;
    let bytes = unit(&format!("{letter}b"), Prefix::Binary).filter(|u| u.base == BYTES)?;
    let mut phase = cell("random mix");
    phase.axes.record_bytes = Some((value * bytes.factor) as u64);
    (phase.reads, phase.writes) = (true, true);
    Some(phase)
}

fn names(row: &str) -> Option<[&'static str; 2]> {
    Some(match row {
        "Read" => ["read throughput", "reads/s"],
        "Write" => ["write throughput", "writes/s"],
        "Total" => [THROUGHPUT, OPERATIONS],
        _ => return None,
    })
}

/// "388.78 MB/s  (97.1k)". The script shifts the decimal point of fio's KiB per second: its MB are 1000 KiB.
fn pair(cell: &str, names: [&str; 2], n: usize) -> Option<Vec<fathom_record::Figure>> {
    let (rate, count) = cell.strip_suffix(')')?.split_once('(')?;
    let (value, _, word) = leading(rate)?;
    let factor = match word.trim() {
        "KB/s" => 1024.0,
        "MB/s" => 1024e3,
        "GB/s" => 1024e6,
        _ => return None,
    };
    let rate = converted(names[0], value, Unit { base: BYTES_PER_S, factor }, rate.trim().into(), n);
    let (value, _, letter) = leading(count)?;
    let factor = match letter {
        "" => 1.0,
        "k" => 1e3,
        "m" | "M" => 1e6,
        _ => return None,
    };
    Some(vec![rate, converted(names[1], value, Unit { base: OPS_PER_S, factor }, count.trim().into(), n)])
}
