//! The first sheet: for each run its heading and short table, one unit per column, with a chart.

use super::{Done, Look};
use crate::results::ResultLine;
use crate::{heading, results};
use fathom_record::Run;
use rust_xlsxwriter::{Chart, ChartAxisCrossing, ChartType, Format, Workbook, Worksheet, XlsxError};

/// Name of the sheet; the chart refers to it.
pub(super) const NAME: &str = "Answer";
const HEADS: [&str; 7] = ["", "MiB/s", "operations/s", "p50, us", "p99, us", "p99.9, us", "served by"];
/// Rows covered by a chart.
const CHART_ROWS: u32 = 17;

pub(super) fn write(book: &mut Workbook, runs: &[&Run], look: &Look) -> Done {
    let sheet = book.add_worksheet();
    sheet.set_name(NAME)?;
    let mut row = 0;
    let mut longest = 0;
    for run in runs {
        let lines = results::of_run(run);
        longest = lines.iter().map(|line| line.what.chars().count()).max().unwrap_or(0).max(longest);
        for words in heading::lines(run) {
            // The cells to the right stay empty, so that these lines can overflow.
            sheet.write_with_format(row, 0, words, &look.bold)?;
            row += 1;
        }
        row = table(sheet, row + 1, &lines, look)? + 1;
    }
    sheet.set_column_width(0, (longest as f64 + 2.0).clamp(30.0, 80.0))?;
    for column in 1..HEADS.len() as u16 {
        sheet.set_column_width(column, 16)?;
    }
    sheet.set_landscape().set_print_fit_to_pages(1, 0);
    Ok(())
}

/// Writes table and chart; returns the row below.
fn table(sheet: &mut Worksheet, head: u32, lines: &[ResultLine], look: &Look) -> Result<u32, XlsxError> {
    for (column, words) in (0u16..).zip(HEADS) {
        let format = match column {
            0 => look.bold.clone(),
            6 => look.bold.clone().set_indent(1),
            _ => look.head.clone(),
        };
        sheet.write_with_format(head, column, words, &format)?;
    }
    let tenths = Format::new().set_num_format("#,##0.0");
    let beside = Format::new().set_indent(1);
    let mut row = head;
    for line in lines {
        row += 1;
        sheet.write(row, 0, line.what.as_str())?.write_with_format(row, 6, line.served, &beside)?;
        let [p50, p99, p999] = line.ns.map(|ns| ns.map(|ns| ns / 1e3));
        let mib = line.bytes_per_s.map(|rate| rate / 1_048_576.0);
        for (column, number) in (1u16..).zip([mib, line.per_s, p50, p99, p999]) {
            if let Some(number) = number.filter(|n| n.is_finite()) {
                let format = if column == 2 { &look.whole } else { &tenths };
                sheet.write_with_format(row, column, number, format)?;
            }
        }
    }
    match chart(head, lines) {
        Some(chart) => {
            sheet.insert_chart(row + 2, 0, &chart)?;
            Ok(row + 2 + CHART_ROWS)
        }
        None => Ok(row + 1),
    }
}

/// A bar chart of the rate that most lines have, on a logarithmic axis: memory is thousands of times as fast as a disk.
fn chart(head: u32, lines: &[ResultLine]) -> Option<Chart> {
    let with = |rate: fn(&ResultLine) -> Option<f64>| -> Vec<u32> {
        let rows = (head + 1..).zip(lines);
        rows.filter(|(_, line)| rate(line).is_some_and(|v| v > 0.0)).map(|(row, _)| row).collect()
    };
    let (bytes, operations) = (with(|line| line.bytes_per_s), with(|line| line.per_s));
    let (column, rows) = if operations.len() >= bytes.len() { (2, operations) } else { (1, bytes) };
    let (first, last) = (*rows.first()?, *rows.last()?);
    let mut chart = Chart::new(ChartType::Bar);
    chart
        .add_series()
        .set_name((NAME, head, column))
        .set_categories((NAME, first, 0, last, 0))
        .set_values((NAME, first, column, last, column));
    chart.title().set_name(HEADS[usize::from(column)]);
    chart.legend().set_hidden();
    // In a bar chart the category axis is vertical. The first line is at the top; a logarithmic axis has no zero.
    chart.y_axis().set_reverse();
    chart.x_axis().set_log_base(10).set_crossing(ChartAxisCrossing::Min);
    chart.set_width(760).set_height(320);
    Some(chart)
}
