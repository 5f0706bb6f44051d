//! IOzone's outputs, releases 3.x to 3.5xx: a log with its banner, the automatic-mode table, throughput blocks, Excel-style
//! reports, and the -b worksheet, binary or saved as text. Mails often lose blanks and TABs; they are relied on only where a line is
//! ambiguous without them.

mod head;
mod log;
mod report;
mod rows;
mod throughput;

use super::context::Context;
use super::lines::Lines;
use super::{Block, units::Unit};
use crate::iozone::worksheet::{Sheet, WorksheetCell};
use fathom_record::imported::units::BYTES_PER_S;

/// IOzone's default unit: KiB per second.
const KIB_PER_S: Unit = Unit { base: BYTES_PER_S, factor: 1024.0 };

/// A log, or a report without one.
pub(super) fn parse(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    log::parse(lines, at).or_else(|| report::parse(lines, at, context))
}

/// A worksheet as saved text: a line per row, cells separated by TABs.
pub(super) fn sheet_as_text(sheet: &Sheet) -> String {
    let mut rows: std::collections::BTreeMap<u32, std::collections::BTreeMap<u32, String>> =
        Default::default();
    for cell in &sheet.cells {
        let text = match &cell.value {
            WorksheetCell::Text(text) => text.replace(['\n', '\r', '\t'], " "),
            WorksheetCell::Number(number) => number.to_string(),
        };
        rows.entry(cell.row).or_default().insert(cell.column, text);
    }
    let mut text = String::new();
    let mut next = 0;
    for (row, cells) in rows {
        // Line numbers equal row numbers; a sheet may skip many rows.
        text.push_str(&"\n".repeat(row.saturating_sub(next) as usize));
        let last = cells.keys().next_back().copied().unwrap_or(0).min(255);
        let line: Vec<&str> = (0..=last).map(|c| cells.get(&c).map_or("", String::as_str)).collect();
        text.push_str(&line.join("\t"));
        text.push('\n');
        next = row + 1;
    }
    text
}
