//! `sadf -d`, where semicolons separate the columns of sar's tables, and `sadf -p`, which has a line for each figure.

use super::super::Block;
use super::super::iostat::value;
use super::super::lines::Lines;
use super::{MOST_LINES, SarTable, When, figure, figures, named};

const OPENING: &str = "# hostname;interval;timestamp;";
/// Columns before those of a table.
const BEFORE: usize = 3;

pub(super) fn parse(lines: &Lines, at: usize) -> Option<Block> {
    let is_table = lines.trimmed(at).starts_with(OPENING);
    if !is_table && single(lines.trimmed(at)).is_none() {
        return None;
    }
    let mut block = Block { last: at, ..Block::default() };
    let mut table = SarTable::default();
    let mut columns: Vec<String> = Vec::new();
    for n in at..lines.len().min(at + MOST_LINES) {
        let line = lines.trimmed(n);
        if is_table && let Some(next) = line.strip_prefix(OPENING) {
            columns = next.split(';').map(str::to_owned).collect();
        } else if is_table {
            let fields: Vec<&str> = line.split(';').collect();
            let Some(cells) = fields.get(BEFORE..).filter(|cells| !cells.is_empty()) else { break };
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            if let Some((name, figures)) = figures(&columns, cells, n) {
                table.push(&name, &When::At(fields[2]), figures);
            } else if !fields.iter().any(|f| f.contains("RESTART")) {
                block.partly.push(n);
            }
        } else {
            let Some((time, row, column, word)) = single(line) else { break };
            table.push(&row, &When::At(time), vec![figure(column, word, n)]);
        }
        block.last = n;
    }
    (block.what, block.runs) = table.finished()?;
    Some(block)
}

/// Time, row, column and value of a line of `sadf -p`: host, seconds, time, device or "-", column, value.
fn single(line: &str) -> Option<(&str, String, &str, &str)> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [_, seconds, time, row, column, word] = fields.as_slice() else { return None };
    if seconds.parse::<u64>().is_err() || !time.contains(':') && time.parse::<u64>().is_err() {
        return None;
    }
    let row = match *row {
        "-" => "system".into(),
        "all" => named("CPU", "all"),
        cpu if cpu.strip_prefix("cpu").is_some_and(|n| n.parse::<u32>().is_ok()) => named("CPU", &cpu[3..]),
        name => name.into(),
    };
    value(word)?;
    Some((time, row, column, word))
}
