//! Imported figures in Markdown: their source, and a table for each cell that no surface shows.

use super::{escape, table};
use crate::imported::{HEADS, rows, source};
use fathom_record::{Phase, Run};
use std::fmt::Write as _;

pub(super) fn tables(out: &mut String, run: &Run) {
    let Some(source) = source(run) else { return };
    let _ = writeln!(out, "These figures were {}.\n", escape(&source));
    let phases: Vec<&Phase> = run.phases.iter().collect();
    for cell in rows(&phases) {
        let title = escape(&cell.title);
        let mut heads = vec![title.as_str()];
        heads.extend(HEADS);
        let rows: Vec<Vec<String>> = cell
            .rows
            .iter()
            .map(|r| std::iter::once(escape(&r.name)).chain(r.cells().map(|c| escape(&c))).collect())
            .collect();
        table(out, &heads, &rows);
    }
}
