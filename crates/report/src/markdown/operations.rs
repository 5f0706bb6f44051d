//! Breakdown by operation in Markdown: a table for each phase that has one.

use super::{escape, table};
use crate::{Breakdown, Comparison, units};
use fathom_record::{Phase, Run};

pub(super) fn tables(out: &mut String, run: &Run) {
    let phases: Vec<&Phase> = run.phases.iter().collect();
    for one in Breakdown::of_phases(&phases) {
        let rows: Vec<Vec<String>> =
            one.rows.iter().map(|r| std::iter::once(escape(&r.name)).chain(one.cells(r)).collect()).collect();
        let head = format!("{} ({})", escape(&one.title), one.clock_words());
        let mut heads = vec![head.as_str()];
        heads.extend(Breakdown::HEADS);
        table(out, &heads, &rows);
    }
}

/// The operations common to two runs.
pub(super) fn compared(out: &mut String, comparison: &Comparison) {
    let ratio = |r: Option<f64>| r.map_or("–".to_string(), units::ratio);
    let rows: Vec<Vec<String>> = comparison
        .operations
        .iter()
        .map(|r| vec![escape(&r.name), units::ratio(r.ops), ratio(r.p50), ratio(r.p99), escape(&r.title)])
        .collect();
    if !rows.is_empty() {
        table(out, &["Operation", "Per second", "p50", "p99", "Phase"], &rows);
    }
}
