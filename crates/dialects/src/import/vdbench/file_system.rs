//! Columns of vdbench's file system summary: groups in the upper heading line, surrounded by dots, with their columns in
//! the lower one. MB are 1024 * 1024 bytes, which follows from the size and rate of transfers.

use super::super::units::Unit;
use super::Column;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, NS, OPS_PER_S, PERCENT};

pub(super) const READS: &str = "reads per second";
pub(super) const WRITES: &str = "writes per second";

/// The groups in the upper line, after ".Interval." or "..Interval..".
pub(super) fn groups(line: &str) -> Option<&str> {
    let (before, groups) = line.split_once("Interval.")?;
    before.ends_with('.').then(|| groups.trim_start_matches('.'))
}

/// The columns after the interval.
pub(super) fn columns(groups: &str, below: &str) -> Option<Vec<Column>> {
    let mut below = below.split_whitespace();
    let mut columns = Vec::new();
    for group in groups.split_whitespace() {
        let name = group.trim_matches('.');
        let parts: &[&str] = match (name, group.starts_with('.')) {
            ("cpu%", _) => &["total", "sys"],
            ("read", false) => &["pct"],
            ("mb/sec", true) => &["read", "write"],
            ("mb/sec", false) => &["total"],
            ("xfer", _) => &["size"],
            _ => &["rate", "resp"],
        };
        for part in parts {
            below.next().filter(|word| word == part)?;
            columns.push(column(name, part));
        }
    }
    below.next().is_none().then_some(columns)
}

fn column(group: &str, part: &str) -> Column {
    let unit = |base, factor| Unit { base, factor };
    let (name, unit, word) = match (group, part) {
        ("ReqstdOps", "rate") => (OPERATIONS.into(), unit(OPS_PER_S, 1.0), ""),
        ("ReqstdOps", _) => ("latency avg".into(), unit(NS, 1e6), " ms"),
        ("cpu%", "total") => ("CPU".into(), unit(PERCENT, 1.0), "%"),
        ("cpu%", _) => ("system CPU".into(), unit(PERCENT, 1.0), "%"),
        ("read", "pct") => ("share of reads".into(), unit(PERCENT, 1.0), "%"),
        ("read", "rate") => (READS.into(), unit(OPS_PER_S, 1.0), ""),
        ("write", "rate") => (WRITES.into(), unit(OPS_PER_S, 1.0), ""),
        ("mb/sec", "total") => (THROUGHPUT.into(), unit(BYTES_PER_S, 1_048_576.0), " mb/sec"),
        ("mb/sec", part) => (format!("{part} throughput"), unit(BYTES_PER_S, 1_048_576.0), " mb/sec"),
        ("xfer", _) => ("bytes per operation".into(), unit(BYTES, 1.0), ""),
        (group, "rate") => (format!("{group} per second"), unit(OPS_PER_S, 1.0), ""),
        (group, _) => (format!("{group} latency avg"), unit(NS, 1e6), " ms"),
    };
    Column { name, unit, word, of_the_rate_before: part == "resp" }
}
