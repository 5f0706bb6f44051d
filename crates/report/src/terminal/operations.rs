//! Breakdown by operation of a flow on the terminal; by kind, for phases that read and write at once; as far as it fits.

use super::{Style, TerminalPage, cut, plain_table, right_aligned};
use crate::{Breakdown, printable::clean, units};
use fathom_record::{Phase, Run};

/// Maximum number of rows per phase before the rest is counted.
const MOST_ROWS: usize = 16;
/// Minimum space for a table, including its empty line and its head.
const LEAST_ROOM: usize = 4;

/// A table for each phase with a breakdown.
pub(super) fn tables(page: &mut TerminalPage, run: &Run, layout: usize) {
    let phases: Vec<&Phase> = run.phases.iter().collect();
    for one in Breakdown::of_phases(&phases) {
        if page.room() < LEAST_ROOM {
            return;
        }
        // Operations never reached are left out here; the page has them.
        let rows: Vec<_> = one.rows.iter().filter(|r| r.ops > 0).collect();
        let shown = rows.len().min(MOST_ROWS).min(page.room() - 3);
        if shown == 0 {
            continue;
        }
        let room = layout.saturating_sub(58).max(10);
        let mut table = plain_table(layout);
        table.set_header([&cut(&clean(&one.brief), room), "per s", "data", "mean", "p50", "p99", "max"]);
        for row in &rows[..shown] {
            let cells = one.cells(row);
            let dash = |cell: &str| if cell == "–" { "-".to_string() } else { cell.to_string() };
            table.add_row([
                cut(&clean(&row.name), room),
                one.ops_per_s(row).map_or("-".into(), |n| units::count(n.round() as u64)),
                dash(&cells[3]),
                dash(&cells[4]),
                dash(&cells[5]),
                dash(&cells[7]),
                dash(&cells[9]),
            ]);
        }
        right_aligned(&mut table, 1..=6);
        page.table(&table);
        if rows.len() > shown {
            page.line(Style::Dim, &format!(" ... and {} more", rows.len() - shown));
        }
    }
}
