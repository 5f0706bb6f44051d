//! Filebench's output for a run, from the figures of a record: rows and summary in the format of each version. Pure: the caller adds
//! timestamps and determines the order.

mod early;
mod figures;
mod older;
mod replay;
#[cfg(test)]
mod tests;
mod usage;

pub use early::{Stopped, stopped_early};
pub use figures::{CpuTimes, Figures, FiguresIo, FiguresRow};
pub use replay::{FilebenchReplayError, figures, print};
pub use usage::{custom_type, custom_types, usage};

use super::plan::Format;

/// Number of histogram buckets of a row.
const BUCKETS: usize = 64;

/// The rows of `Per-Operation Breakdown`, one line each.
#[must_use]
pub fn rows(figures: &Figures, format: Format, histograms: bool) -> String {
    match format {
        Format::V1_5 => figures.rows.iter().map(|row| row_1_5(figures, row, histograms)).collect(),
        Format::V1_4 => figures.rows.iter().map(|row| older::row_1_4(figures, row)).collect(),
        Format::V1_1 | Format::Dump => figures.rows.iter().map(|row| older::row_1_1(figures, row)).collect(),
    }
}

/// `IO Summary: ...`, without a line end.
#[must_use]
pub fn summary(figures: &Figures, format: Format) -> String {
    match format {
        Format::V1_5 => summary_1_5(figures),
        Format::V1_4 => older::summary_1_4(figures),
        Format::V1_1 => older::summary_1_1(figures),
        Format::Dump => older::summary_dump(figures),
    }
}

/// Contents of a `stats dump` file.
#[must_use]
pub fn dump(figures: &Figures) -> String {
    format!("Flowop totals:\n{}\n{}\n", rows(figures, Format::Dump, false), summary(figures, Format::Dump))
}

/// Prefix of a log line.
#[must_use]
pub fn prefix(format: Format, debug: u64, pid: u32, elapsed_s: f64) -> String {
    match format {
        Format::V1_5 if debug < 3 => format!("{elapsed_s:4.3}: "),
        _ => format!("{pid:5}: {elapsed_s:4.3}: "),
    }
}

fn row_1_5(figures: &Figures, row: &FiguresRow, histograms: bool) -> String {
    let mut line = format!(
        "{:<20} {}ops {:>8.0}ops/s {:>5.1}mb/s {:>8.3}ms/op [{:.3}ms - {:>5.3}ms]",
        row.name,
        row.ops,
        figures.per_second(row.ops as f64),
        figures.per_second(mebibytes(row.bytes)),
        milliseconds(row.total_ns / row.ops.max(1) as f64),
        milliseconds(row.min_ns as f64),
        milliseconds(row.max_ns as f64),
    );
    if histograms {
        line += "\t[ ";
        for count in row.buckets {
            line += &format!("{count} ");
        }
        line += "]";
    }
    line + "\n"
}

fn summary_1_5(figures: &Figures) -> String {
    let io = &figures.io;
    format!(
        "IO Summary: {:>5} ops {:>5.3} ops/s {:.0}/{:.0} rd/wr {:>5.1}mb/s {:>5.3}ms/op",
        io.ops,
        figures.per_second(io.ops as f64),
        figures.per_second(io.reads as f64),
        figures.per_second(io.writes as f64),
        figures.per_second(mebibytes(io.bytes)),
        milliseconds(io.total_ns / io.ops.max(1) as f64),
    )
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}

fn milliseconds(ns: f64) -> f64 {
    ns / 1e6
}
