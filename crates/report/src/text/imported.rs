//! An imported run in full on the terminal: its source, the verdicts, its tables (file size by record size), and all other
//! cells with their figures and source lines.

use crate::{
    imported::{rows, source},
    printable::clean,
    section::full_title,
    surface::Surface,
    units,
};
use fathom_record::{Headline, Phase, Run};
use std::fmt::Write as _;

/// The whole run; `None` for a measured one.
#[must_use]
pub fn long(run: &Run) -> Option<String> {
    let from = source(run)?;
    let mut text = format!(
        "{} ({})\n",
        clean(if run.label.is_empty() { &run.id } else { &run.label }),
        run.status.word()
    );
    let _ = writeln!(text, "run       {}", clean(&run.id));
    let _ = writeln!(text, "source    {from}");
    if !run.argv.is_empty() {
        let _ = writeln!(text, "command   {}", clean(&run.argv.join(" ")));
    }
    if !run.started_at.is_empty() {
        let _ = writeln!(text, "began     {}", clean(&run.started_at));
    }
    if let Some(error) = &run.error {
        let _ = writeln!(text, "! {}", clean(error));
    }
    for doubt in &run.doubts {
        let _ = writeln!(text, "? {}", clean(&doubt.sentence));
    }
    for surface in Surface::of_run(run) {
        matrix(&mut text, &surface);
    }
    let phases: Vec<&Phase> = run.phases.iter().collect();
    for cell in rows(&phases) {
        let _ = writeln!(text, "\n{}", cell.title);
        if let Some(classes) = cell.distribution() {
            let lines = [cell.rows.first(), cell.rows.last()].map(|r| r.map_or(0, |r| r.line));
            text.push_str(&super::distribution(&classes));
            let _ = writeln!(text, "  lines {} to {}", lines[0], lines[1]);
            continue;
        }
        let width = |of: fn(&crate::imported::ImportedRow) -> &str| {
            cell.rows.iter().map(|r| of(r).chars().count()).max().unwrap_or(0)
        };
        let (names, printed) = (width(|r| &r.name), width(|r| &r.printed));
        for row in &cell.rows {
            let _ = writeln!(
                text,
                "  {:<names$}  {:>printed$}  {:>12}  line {}",
                row.name, row.printed, row.value, row.line
            );
        }
    }
    courses(&mut text, &phases);
    Some(text)
}

/// Throughput in kB/s (1024 bytes) as IOzone prints it; a dash for cells that were not run.
fn matrix(text: &mut String, surface: &Surface) {
    let _ = writeln!(text, "\n{}, kB/s, file size by record size", clean(&surface.title));
    let head: String =
        surface.record_bytes.iter().map(|r| format!("{:>9}", units::bytes_short(*r))).collect();
    let _ = writeln!(text, "{:>8}{head}", "");
    for (file, row) in surface.file_bytes.iter().zip(&surface.cells) {
        let cell = |c: &Option<crate::SurfaceCell>| {
            c.as_ref().map_or(format!("{:>9}", "-"), |c| format!("{:>9.0}", c.value / 1024.0))
        };
        let cells: String = row.iter().map(cell).collect();
        let _ = writeln!(text, "{:>8}{cells}", units::bytes_short(*file));
    }
}

/// Phases logged by operation or over time have no printed figures.
fn courses(text: &mut String, phases: &[&Phase]) {
    for phase in phases.iter().filter(|p| p.repetitions.iter().any(|r| !r.workers.is_empty())) {
        let rate = match phase.headline() {
            Some(Headline::Bytes(rate)) => units::rate(rate),
            Some(Headline::Ops(rate)) => units::ops_rate(rate),
            None => "no rate".into(),
        };
        let _ = writeln!(text, "\n{}: {rate}", clean(&full_title(phase)));
        for stat in phase.repetitions.iter().flat_map(|r| &r.workers).flat_map(|w| &w.stats) {
            let p = |p| stat.latency.percentile_ns(p).map_or("-".into(), |ns| units::time_ns(ns as f64));
            let _ = writeln!(
                text,
                "  {} {}: p50 {}, p99 {}, p99.9 {}",
                stat.ops,
                stat.op.word(),
                p(50.0),
                p(99.0),
                p(99.9)
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn an_imported_run_is_told_whole() {
        let text = long(&samples::imported_run()).expect("it was imported");
        for part in [
            "printed by IOzone 3.283, imported from a|b.log, lines 3 to 9",
            "? single runs, no interval possible",
            "write, kB/s, file size by record size",
            "      1M    51200    51300",
            "latency avg             2.5 ms/op       2.50 ms  line 8",
        ] {
            assert!(text.contains(part), "{part:?} in\n{text}");
        }
        assert_eq!(long(&samples::auto_run()), None);
    }
}
