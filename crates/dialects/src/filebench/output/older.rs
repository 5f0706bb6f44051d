//! The formats of 1.4.9.1, 1.1.0, and of `stats dump` files. They truncate bytes to whole MiB before dividing by the time, and
//! print CPU times that 1.5 omits.

use super::{Figures, FiguresRow, milliseconds};

fn whole_mebibytes(bytes: u64) -> f64 {
    (bytes >> 20) as f64
}

/// A mean in microseconds.
fn mean_us(total_ns: f64, count: u64) -> f64 {
    total_ns / count.max(1) as f64 / 1e3
}

fn mean_ms(total_ns: f64, count: u64) -> f64 {
    milliseconds(total_ns / count.max(1) as f64)
}

/// CPU time per read or write, us.
fn io_cpu_us(figures: &Figures) -> f64 {
    mean_us(figures.cpu_ns, figures.io.reads + figures.io.writes)
}

pub(super) fn row_1_4(figures: &Figures, row: &FiguresRow) -> String {
    format!(
        "{:<20} {}ops {:>8.0}ops/s {:>5.1}mb/s {:>8.1}ms/op {:>8.0}us/op-cpu [{}ms - {}ms]\n",
        row.name,
        row.ops,
        figures.per_second(row.ops as f64),
        figures.per_second(whole_mebibytes(row.bytes)),
        mean_ms(row.total_ns, row.ops),
        mean_us(row.cpu_ns as f64, row.ops),
        row.min_ns / 1_000_000,
        row.max_ns / 1_000_000,
    )
}

pub(super) fn row_1_1(figures: &Figures, row: &FiguresRow) -> String {
    format!(
        "{:<20} {:>8.0}ops/s {:>5.1}mb/s {:>8.1}ms/op {:>8.0}us/op-cpu\n",
        row.name,
        figures.per_second(row.ops as f64),
        figures.per_second(whole_mebibytes(row.bytes)),
        mean_ms(row.total_ns, row.ops),
        mean_us(row.cpu_ns as f64, row.ops),
    )
}

pub(super) fn summary_1_4(figures: &Figures) -> String {
    let io = &figures.io;
    format!(
        "IO Summary: {:>5} ops, {:>5.3} ops/s, ({:.0}/{:.0} r/w), {:>5.1}mb/s, {:>6.0}us cpu/op, {:>5.1}ms latency",
        io.ops,
        figures.per_second(io.ops as f64),
        figures.per_second(io.reads as f64),
        figures.per_second(io.writes as f64),
        figures.per_second(whole_mebibytes(io.bytes)),
        io_cpu_us(figures),
        mean_ms(io.total_ns, io.ops),
    )
}

pub(super) fn summary_1_1(figures: &Figures) -> String {
    let io = &figures.io;
    format!(
        "IO Summary:      {:>5} ops {:>5.1} ops/s, ({:.0}/{:.0} r/w) {:>5.1}mb/s, {:>6.0}us cpu/op, {:>5.1}ms latency",
        io.ops,
        figures.per_second(io.ops as f64),
        figures.per_second(io.reads as f64),
        figures.per_second(io.writes as f64),
        figures.per_second(whole_mebibytes(io.bytes)),
        io_cpu_us(figures),
        mean_ms(io.total_ns, io.ops),
    )
}

pub(super) fn summary_dump(figures: &Figures) -> String {
    let io = &figures.io;
    format!(
        "IO Summary:      {:>8} ops {:>8.1} ops/s, {:>8.0}/{:.0} r/w{:>8.1}mb/s, {:>8.0}uscpu/op",
        io.ops,
        figures.per_second(io.ops as f64),
        figures.per_second(io.reads as f64),
        figures.per_second(io.writes as f64),
        figures.per_second(whole_mebibytes(io.bytes)),
        io_cpu_us(figures),
    )
}
