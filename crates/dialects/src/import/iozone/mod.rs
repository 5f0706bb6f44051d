//! IOzone's outputs, releases 3.x to 3.5xx: a log with its banner, the table of the automatic mode, throughput blocks, Excel-style
//! reports, and the sheet of -b as a worksheet or saved as text. In mails blanks and TABs are often lost; nothing here depends on them
//! where a line can be read without.

mod head;
mod log;
mod report;
mod rows;
mod throughput;

use super::context::Context;
use super::lines::Lines;
use super::{Block, units::Unit};
use crate::iozone::worksheet::{Sheet, Value};
use fathom_record::imported::units::BYTES_PER_S;

/// What IOzone prints unless it is told otherwise: KiB per second.
const KIB_PER_S: Unit = Unit { base: BYTES_PER_S, factor: 1024.0 };

/// A log, or a report that stands by itself.
pub(super) fn parse(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    log::parse(lines, at).or_else(|| report::parse(lines, at, context))
}

/// A worksheet as it would be saved as text: a line for each row, cells apart by TABs.
pub(super) fn sheet_as_text(sheet: &Sheet) -> String {
    let mut rows: std::collections::BTreeMap<u32, std::collections::BTreeMap<u32, String>> =
        Default::default();
    for cell in &sheet.cells {
        let text = match &cell.value {
            Value::Text(text) => text.replace(['\n', '\r', '\t'], " "),
            Value::Number(number) => number.to_string(),
        };
        rows.entry(cell.row).or_default().insert(cell.column, text);
    }
    let mut text = String::new();
    let mut next = 0;
    for (row, cells) in rows {
        // A line is numbered as its row is; a sheet of others may leave many out.
        text.push_str(&"\n".repeat(row.saturating_sub(next) as usize));
        let last = cells.keys().next_back().copied().unwrap_or(0).min(255);
        let line: Vec<&str> = (0..=last).map(|c| cells.get(&c).map_or("", String::as_str)).collect();
        text.push_str(&line.join("\t"));
        text.push('\n');
        next = row + 1;
    }
    text
}
