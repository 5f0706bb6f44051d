//! Parallel streams of several runs in one small table, as people commonly report them: a row for each number of streams, file
//! size and O_DIRECT setting, a column for each test, combined throughput in MB/s (the sum of the streams' own rates).

use crate::regimes::Kind;
use fathom_compare::summary::median;
use fathom_record::{Phase, Run};

/// Throughput by stream arrangement and test.
#[derive(Clone, Debug, PartialEq)]
pub struct Parallel {
    /// Names of the tests, in order of appearance.
    pub tests: Vec<String>,
    /// The rows, in order of appearance.
    pub rows: Vec<ParallelRow>,
}

/// One arrangement of streams.
#[derive(Clone, Debug, PartialEq)]
pub struct ParallelRow {
    /// Such as "2x1.5GiB-DIO".
    pub label: String,
    /// For each test: MB/s (powers of ten) and what served it; `None` if it was not run.
    pub cells: Vec<Option<(f64, Kind)>>,
}

impl Parallel {
    /// The table of these runs; `None` unless they have at least two arrangements of streams.
    #[must_use]
    pub fn of(runs: &[&Run]) -> Option<Self> {
        let has_alike_streams = |p: &&Phase| p.axes.streams.is_some() && crate::streams::alike(p);
        let phases: Vec<&Phase> = runs.iter().flat_map(|r| &r.phases).filter(has_alike_streams).collect();
        let mut tests: Vec<String> = Vec::new();
        let mut labels: Vec<String> = Vec::new();
        for phase in &phases {
            if !tests.contains(&phase.name) {
                tests.push(phase.name.clone());
            }
            let label = label(phase);
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        if labels.len() < 2 {
            return None;
        }
        let rows = labels
            .into_iter()
            .map(|wanted| {
                let cells = tests
                    .iter()
                    .map(|test| {
                        cell(phases.iter().copied().filter(|p| p.name == *test && label(p) == wanted))
                    })
                    .collect();
                ParallelRow { label: wanted, cells }
            })
            .collect();
        Some(Self { tests, rows })
    }

    /// As text for a terminal, no wider than necessary.
    #[must_use]
    pub fn text(&self) -> String {
        let width = self.rows.iter().map(|r| r.label.len()).max().unwrap_or(0).max("MB/s".len());
        let columns: Vec<usize> = self.tests.iter().map(|t| t.len().max(8)).collect();
        let mut out = format!("{:<width$}", "MB/s");
        for (test, w) in self.tests.iter().zip(&columns) {
            out += &format!("  {test:>w$}");
        }
        out.push('\n');
        for row in &self.rows {
            out += &format!("{:<width$}", row.label);
            for (cell, w) in row.cells.iter().zip(&columns) {
                let text = cell.map_or_else(
                    || "-".to_string(),
                    |(rate, kind)| format!("{} {}", figure(rate), kind.letter()),
                );
                out += &format!("  {text:>w$}");
            }
            out.push('\n');
        }
        out + "C CPU cache, P page cache, M page cache and device, D device, ? unknown\n"
    }
}

/// Integer MB/s from ten on, one decimal below.
#[must_use]
pub fn figure(mb_per_s: f64) -> String {
    if mb_per_s < 9.95 { format!("{mb_per_s:.1}") } else { format!("{mb_per_s:.0}") }
}

fn label(phase: &Phase) -> String {
    let size = phase
        .axes
        .file_bytes
        .map_or(String::new(), |b| format!("x{}", crate::units::bytes(b).replace(' ', "")));
    let direct = if phase.direct { "-DIO" } else { "" };
    format!("{}{size}{direct}", phase.axes.streams.unwrap_or(1))
}

fn cell<'r>(phases: impl Iterator<Item = &'r Phase>) -> Option<(f64, Kind)> {
    let phases: Vec<&Phase> = phases.collect();
    let rates: Vec<f64> = phases.iter().filter_map(|p| p.bytes_per_s()).map(|r| r / 1e6).collect();
    let kind = Kind::from(phases.last()?.origin().regime);
    Some((median(&rates)?, kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn runs_of_one_two_and_three_streams_make_one_table() {
        let run = samples::throughput_run();
        let table = Parallel::of(&[&run]).unwrap();
        assert_eq!(table.rows.len(), 3);
        assert!(table.rows.iter().all(|r| r.cells.len() == table.tests.len()));
        let text = table.text();
        assert!(text.starts_with("MB/s"), "{text}");
        assert_eq!(text.lines().count(), 5);
    }

    #[test]
    fn a_surface_is_no_table_of_streams() {
        assert_eq!(Parallel::of(&[&samples::auto_run()]), None);
    }

    #[test]
    fn small_figures_keep_a_decimal() {
        assert_eq!((figure(9.5).as_str(), figure(86.4).as_str()), ("9.5", "86"));
    }
}
