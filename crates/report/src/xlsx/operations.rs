//! The sheet of operations: one row per operation of a flow (or kind, if a phase reads and writes at once), over all workers
//! and repetitions.

use super::{Done, Look, fit};
use crate::{Breakdown, printable::clean};
use fathom_record::{Phase, Run};
use rust_xlsxwriter::{Workbook, Worksheet};

pub(super) const HEADS: [&str; 18] = [
    "run",
    "label",
    "phase",
    "test",
    "operation",
    "class",
    "kind",
    "operations",
    "bytes",
    "clock_ns",
    "operations_per_s",
    "MiB_per_s",
    "mean_ns",
    "p50_ns",
    "p95_ns",
    "p99_ns",
    "p99.9_ns",
    "max_ns",
];

/// Writes the sheet, if it has any rows.
pub(super) fn write(book: &mut Workbook, runs: &[&Run], look: &Look) -> Done {
    let all: Vec<(&Run, Vec<Breakdown>)> = runs
        .iter()
        .map(|run| (*run, Breakdown::of_phases(&run.phases.iter().collect::<Vec<&Phase>>())))
        .filter(|(_, b)| !b.is_empty())
        .collect();
    if all.is_empty() {
        return Ok(());
    }
    let sheet = book.add_worksheet();
    sheet.set_name("Operations")?;
    for (column, head) in (0u16..).zip(HEADS) {
        sheet.write_with_format(0, column, head, &look.bold)?;
    }
    sheet.set_freeze_panes(1, 0)?;
    let mut line = 0;
    for (run, breakdowns) in all {
        for one in &breakdowns {
            for row in &one.rows {
                line += 1;
                operation(sheet, line, run, one, row, look)?;
            }
        }
    }
    sheet.autofilter(0, 0, line, HEADS.len() as u16 - 1)?;
    fit(sheet, HEADS.len())
}

fn operation(
    sheet: &mut Worksheet,
    line: u32,
    run: &Run,
    one: &Breakdown,
    row: &fathom_record::Row,
    look: &Look,
) -> Done {
    let kind = row.kind.map_or("", |k| k.word());
    let texts = [
        (0, run.id.as_str()),
        (1, &run.label),
        (3, &one.title),
        (4, &row.name),
        (5, row.class.word()),
        (6, kind),
    ];
    for (column, text) in texts {
        sheet.write(line, column, clean(text))?;
    }
    let latency = &row.latency;
    let at = |p| latency.percentile_ns(p).map(|ns| ns as f64);
    let [p50, p95, p99, p999] = Breakdown::PERCENTILES.map(at);
    let numbers: [(u16, Option<f64>); 12] = [
        (2, Some(f64::from(one.seq))),
        (7, Some(row.ops as f64)),
        (8, Some(row.bytes as f64)),
        (9, Some(one.clock_ns as f64)),
        (10, one.ops_per_s(row)),
        (11, one.bytes_per_s(row).map(|b| b / 1_048_576.0)),
        (12, latency.mean_ns()),
        (13, p50),
        (14, p95),
        (15, p99),
        (16, p999),
        (17, (latency.count() > 0).then(|| latency.max_ns() as f64)),
    ];
    for (column, number) in numbers {
        if let Some(number) = number.filter(|v| v.is_finite()) {
            let format = if column == 11 { &look.ratio } else { &look.whole };
            sheet.write_with_format(line, column, number, format)?;
        }
    }
    Ok(())
}
