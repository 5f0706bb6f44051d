//! The -R report: all figures again, a table per pass (surface) or a row per pass (throughput). The -b worksheet has the same
//! content in cells.

use super::banner::worker_word;
use super::figures::Cell;
use super::options::{IozoneOptions, RateUnit};
use super::pass::{self, Pass};
use super::plan::{passes_of_block, stream_sizes};
use super::sizes::{Combination, Grid};
use super::worksheet::Sheet;
use std::collections::BTreeMap;

/// Figures of a table by pass and row.
pub(super) type Cells = BTreeMap<(&'static str, Combination), Cell>;
/// Children's total rate and CPU percent by pass and index in the list of stream counts.
pub(super) type Rates = BTreeMap<(&'static str, usize), (f64, f64)>;

/// Passes in a surface report: every selected one; cells of those skipped by -+n or -B are 0.
fn shown(o: &IozoneOptions) -> impl Iterator<Item = &'static Pass> + '_ {
    pass::columns().filter(|p| o.runs(p.test) && (p.test < 9 || o.extended))
}

/// Text after "iozone test complete." in table mode.
pub(super) fn surfaces(o: &IozoneOptions, grid: &Grid, cells: &Cells) -> String {
    let mut text = String::from("Excel output is below:\n");
    for pass in shown(o) {
        text += &surface(&format!("\"{}\"", pass.report), grid, |c| {
            format!(" {} ", cells.get(&(pass.name, c)).map_or(0, |f| f.value))
        });
    }
    if o.cpu {
        for pass in shown(o) {
            text += &surface(&cpu_title(pass), grid, |c| {
                format!(" {:6.2}", cells.get(&(pass.name, c)).map_or(0.0, |f| f.cpu_percent))
            });
        }
    }
    text
}

fn cpu_title(pass: &Pass) -> String {
    let who = pass.report.trim_end_matches(" report");
    format!("\"{who} CPU utilization report (Zero values should be ignored)\"")
}

fn surface(title: &str, grid: &Grid, cell: impl Fn(Combination) -> String) -> String {
    let mut text = format!("\n{title}\n      ");
    for kb in &grid.records_kb {
        text += &format!("  \"{kb}\"");
    }
    text.push('\n');
    for &file_kb in &grid.files_kb {
        text += &format!("\"{file_kb}\"  ");
        for (combination, _) in grid.cells(file_kb) {
            text += &cell(combination);
        }
        text.push('\n');
    }
    text
}

pub(super) fn surface_sheet(o: &IozoneOptions, command: &str, grid: &Grid, cells: &Cells) -> Sheet {
    let mut sheet = Sheet::default();
    sheet.text(0, 0, command);
    sheet.text(1, 0, " ");
    sheet.text(2, 0, "The top row is records sizes, the left column is file sizes");
    let mut row = 3;
    for pass in shown(o) {
        row = sheet_table(&mut sheet, row, pass.sheet, grid, |c| {
            cells.get(&(pass.name, c)).map_or(0.0, |f| f.value as f64)
        });
    }
    if o.cpu {
        row += 1;
        for pass in shown(o) {
            let title = format!(
                "{} CPU utilization report (Zero values should be ignored)",
                pass.report.trim_end_matches(" report")
            );
            row = sheet_table(&mut sheet, row, &title, grid, |c| {
                cells.get(&(pass.name, c)).map_or(0.0, |f| f.cpu_percent)
            });
        }
    }
    sheet
}

/// Adds one table starting at `row`. Returns the next free row.
fn sheet_table(
    sheet: &mut Sheet,
    mut row: u32,
    title: &str,
    grid: &Grid,
    cell: impl Fn(Combination) -> f64,
) -> u32 {
    sheet.text(row, 0, title);
    row += 1;
    for (i, &kb) in grid.records_kb.iter().enumerate() {
        sheet.number(row, i as u32 + 1, kb as f64);
    }
    row += 1;
    for &file_kb in &grid.files_kb {
        sheet.number(row, 0, file_kb as f64);
        for (i, (combination, _)) in grid.cells(file_kb).enumerate() {
            sheet.number(row, i as u32 + 1, cell(combination));
        }
        row += 1;
    }
    row
}

fn axis_title(o: &IozoneOptions, subject: &str) -> String {
    let plural = if o.threads { "threads" } else { "processes" };
    debug_assert!(plural.starts_with(worker_word(o)), "one word for both");
    format!("{subject} report Y-axis is type of test X-axis is number of {plural}")
}

fn record_title(o: &IozoneOptions, list_kb: Option<u64>) -> String {
    format!("Record size = {} kBytes", stream_sizes(o, 1, list_kb).1)
}

fn unit_title(o: &IozoneOptions) -> &'static str {
    if o.unit == RateUnit::OpsPerS { "Output is in ops/sec" } else { "Output is in kBytes/sec" }
}

/// The throughput report, before "iozone test complete."; each table starts with an empty line.
pub(super) fn throughput(o: &IozoneOptions, list_kb: Option<u64>, rates: &Rates) -> String {
    let mut text =
        one_throughput(o, list_kb, "Throughput", unit_title(o), |key| rates.get(&key).map_or(0.0, |r| r.0));
    if o.cpu {
        text += &one_throughput(o, list_kb, "CPU utilization", "Output is in CPU%", |key| {
            rates.get(&key).map_or(0.0, |r| r.1)
        });
    }
    text
}

fn one_throughput(
    o: &IozoneOptions,
    list_kb: Option<u64>,
    subject: &str,
    unit: &str,
    figure: impl Fn((&'static str, usize)) -> f64,
) -> String {
    let mut text =
        format!("\n\"{}\"\n\"{} \"\n\"{unit}\"\n\n", axis_title(o, subject), record_title(o, list_kb));
    for pass in passes_of_block(o) {
        text += &format!("\"{:>15} \"", pass.label);
        for i in 0..o.stream_counts().len() {
            text += &format!(" {:>10.2} ", figure((pass.name, i)));
        }
        text += "\n\n";
    }
    text
}

pub(super) fn throughput_sheet(
    o: &IozoneOptions,
    command: &str,
    list_kb: Option<u64>,
    rates: &Rates,
) -> Sheet {
    let mut sheet = Sheet::default();
    sheet.text(0, 0, command);
    sheet.text(1, 0, &axis_title(o, "Throughput"));
    sheet.text(2, 0, &record_title(o, list_kb));
    sheet.text(3, 0, unit_title(o));
    for (row, pass) in (4..).zip(passes_of_block(o)) {
        sheet.text(row, 0, &format!("{:>15} ", pass.label));
        for i in 0..o.stream_counts().len() {
            sheet.number(row, i as u32 + 2, rates.get(&(pass.name, i)).map_or(0.0, |r| r.0));
        }
    }
    sheet
}
