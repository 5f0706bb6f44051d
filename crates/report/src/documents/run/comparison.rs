//! Two runs divided: the second over the first, by test and by operation.

use super::RunView;
use crate::comparison::SINGLE_RUNS;
use crate::document::{Cell, Document, Mood, Table, Tone};
use crate::{Comparison, units};

const CELLS: &str =
    "Compared: second run divided by the first, over the cells both have (above 1 the second is faster)";
const OPERATIONS: &str = "Compared operation by operation: second run divided by the first (above 1 the second did more per second; of a duration, below 1 it was quicker)";

pub(crate) fn write(out: &mut Document, a: &RunView<'_>, b: &RunView<'_>) {
    let off = "ratios say how far the model is off";
    let simulated = match (&a.run.simulation, &b.run.simulation) {
        (None, None) => None,
        (Some(_), Some(_)) => Some("Both runs are simulated: ratios are of one model's results.".to_string()),
        (Some(_), None) => Some(format!("The first run is simulated and the second was measured: {off}.")),
        (None, Some(_)) => Some(format!("The first run was measured and the second is simulated: {off}.")),
    };
    simulated.into_iter().for_each(|words| out.text(Tone::Note, words));
    let Some(comparison) = Comparison::of(a.run, b.run) else { return };
    if comparison.single {
        out.text(Tone::Note, SINGLE_RUNS);
    }
    out.table(cells(&comparison));
    out.table(operations(&comparison));
}

fn cells(comparison: &Comparison) -> Table {
    let heads = ["Test", "Served by (first run)", "Cells", "Median ratio", "Lowest", "Highest"];
    let mut table = Table::new(CELLS, &heads);
    for row in &comparison.rows {
        let cells = Cell::figure(units::count(row.ratios.n as u64));
        let cells = match row.unlike {
            0 => cells,
            n => cells.with_below(format!("{n} served differently in the second run")).meant(Mood::Bad),
        };
        let ratio = |value: f64| Cell::figure(units::ratio(value)).of(Some(value), "");
        table.rows.push(vec![
            Cell::words(row.title.as_str()),
            Cell::served(row.kind),
            cells,
            ratio(row.ratios.median).strong_if(true),
            ratio(row.ratios.min),
            ratio(row.ratios.max),
        ]);
    }
    table
}

/// The operations common to both runs.
fn operations(comparison: &Comparison) -> Table {
    let mut table = Table::new(OPERATIONS, &["Operation", "Per second", "p50", "p99", "Phase"]);
    for row in &comparison.operations {
        let ratio = |value: Option<f64>| Cell::or_dash(value.map(units::ratio)).of(value, "");
        table.rows.push(vec![
            Cell::words(row.name.as_str()),
            ratio(Some(row.ops)).strong_if(true),
            ratio(row.p50),
            ratio(row.p99),
            Cell::words(row.title.as_str()),
        ]);
    }
    table
}
