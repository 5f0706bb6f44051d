//! What drop-ins add on stderr after the imitated output: percentiles, which figures are the disk's and which are
//! memory's, and where the record is.

use crate::console;
use crate::run_loop::Finished;
use fathom_record::doubt::STOOD_STILL;
use fathom_record::passed::passed_over;
use fathom_record::{Histogram, OpKind, Phase, Regime, Row, Run};
use fathom_report::units;
use std::collections::BTreeMap;

/// What served the figures, and where the run is stored. `remedy`: how to keep memory out of the figures, in the
/// imitated program's terms.
pub fn say(finished: &Finished, remedy: &str) {
    let mut counts = BTreeMap::new();
    for phase in &finished.run.phases {
        *counts.entry(phase.origin().regime.words()).or_insert(0u32) += 1;
    }
    if !counts.is_empty() {
        let parts: Vec<String> = counts.iter().map(|(words, n)| format!("{n} {words}")).collect();
        let cached = finished.run.phases.iter().any(|p| p.origin().regime == Regime::PageCache);
        let advice = if cached {
            format!("; page-cache figures are memory's speed, not the disk's ({remedy})")
        } else {
            String::new()
        };
        console::note(&format!("figures by what served them: {}{advice}", parts.join(", ")));
    }
    for doubt in finished.run.doubts.iter().filter(|doubt| doubt.code == STOOD_STILL) {
        console::warning(&doubt.sentence);
    }
    for phase in &finished.run.phases {
        let workers = phase.repetitions.iter().flat_map(|r| &r.workers);
        if let Some(notice) = passed_over(workers.filter_map(|w| w.passed.as_ref())) {
            console::note(&notice);
        }
    }
    tell_kept(finished, false);
}

/// Reports where the run is stored, and how to draw it if it is not drawn anyway.
pub fn tell_kept(finished: &Finished, drawn: bool) {
    if finished.stored {
        let id = &finished.run.id;
        let how = if drawn { String::new() } else { format!("; `fathom report {id} -o page.html` draws it") };
        console::note(&format!("kept as run {id}{how}"));
    }
}

/// Prints latency percentiles of every flow operation, and of every kind of stream operation, on stderr.
pub fn latencies(run: &Run) {
    for phase in &run.phases {
        let table = table(&operations(phase));
        if !table.is_empty() {
            console::note(&format!("latencies of {}\n{}", phase.name, table.trim_end()));
        }
    }
}

/// Names and latencies of what was executed.
fn operations(phase: &Phase) -> Vec<(String, Histogram)> {
    let workers = || phase.repetitions.iter().flat_map(|r| &r.workers);
    let rows = Row::merged(workers().flat_map(|w| &w.rows));
    if !rows.is_empty() {
        return rows.into_iter().filter(|r| r.ops > 0).map(|r| (r.name, r.latency)).collect();
    }
    let mut kinds: BTreeMap<OpKind, Histogram> = BTreeMap::new();
    for stat in workers().flat_map(|w| &w.stats) {
        kinds.entry(stat.op).or_default().merge(&stat.latency);
    }
    kinds.into_iter().filter(|k| k.1.count() > 0).map(|(kind, h)| (kind.word().into(), h)).collect()
}

fn table(operations: &[(String, Histogram)]) -> String {
    const POINTS: [(&str, f64); 5] =
        [("50%", 50.0), ("90%", 90.0), ("95%", 95.0), ("99%", 99.0), ("99.9%", 99.9)];
    if operations.is_empty() {
        return String::new();
    }
    let widest = operations.iter().map(|o| o.0.chars().count()).max().unwrap_or(0);
    let width = widest.max("operation".len());
    let mut text = format!("{:<width$} {:>10}", "operation", "count");
    for (head, _) in POINTS {
        text += &format!(" {head:>9}");
    }
    text += &format!(" {:>9}\n", "max");
    for (name, latency) in operations {
        text += &format!("{name:<width$} {:>10}", latency.count());
        for (_, p) in POINTS {
            text += &format!(" {:>9}", units::time_ns(latency.percentile_ns(p).unwrap_or(0) as f64));
        }
        text += &format!(" {:>9}\n", units::time_ns(latency.max_ns() as f64));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::{Axes, Repetition, Worker};

    #[test]
    fn workers_of_one_operation_share_a_line_and_idle_ones_have_none() {
        let row = |name: &str, latencies: &[u64]| Row {
            name: name.into(),
            ops: latencies.len() as u64,
            latency: Histogram::from_values(latencies.iter().copied()),
            ..Row::default()
        };
        let worker = |rows| Worker { rows, ..Worker::default() };
        let workers = vec![
            worker(vec![row("read1", &[1000, 2000]), row("limit", &[])]),
            worker(vec![row("read1", &[3_000_000])]),
        ];
        let phase = Phase {
            seq: 0,
            name: "mail".into(),
            axes: Axes::default(),
            reads: true,
            writes: false,
            sync_in_clock: false,
            direct: false,
            repetitions: vec![Repetition { workers, ..Repetition::default() }],
        };
        let text = table(&operations(&phase));
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("read1              3") && !text.contains("limit"), "{text}");
        assert_eq!(table(&[]), "");
    }
}
