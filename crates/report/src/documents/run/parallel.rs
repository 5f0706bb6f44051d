//! All arrangements of parallel streams of several runs in one table.

use crate::document::{Cell, Table};
use crate::{Parallel, parallel};

/// Combined throughput by number of streams and file size, with what served it.
pub(crate) fn table(of: &Parallel) -> Table {
    let caption = "Parallel streams of all runs: combined throughput in MB/s, by what served it";
    let mut table = Table::new(caption, &["Streams x file size"]);
    table.heads.extend(of.tests.iter().cloned());
    for row in &of.rows {
        let cell = |cell: &Option<(f64, crate::Kind)>| match cell {
            None => Cell::figure("–"),
            Some((rate, kind)) => Cell { text: parallel::figure(*rate), ..Cell::served(*kind) },
        };
        let head = Cell::words(row.label.as_str());
        table.rows.push(std::iter::once(head).chain(row.cells.iter().map(cell)).collect());
    }
    table
}
