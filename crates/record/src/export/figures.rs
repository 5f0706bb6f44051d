//! Every figure as tidy CSV: one row per run x cell x figure x repetition, whether measured or imported. The value is in the
//! base unit given beside it.

use super::csv::Table;
use super::maybe;
use crate::{Run, figures};

const HEAD: [&str; 18] = [
    "run_id",
    "label",
    "dialect",
    "source_file",
    "phase_seq",
    "phase",
    "direct",
    "file_bytes",
    "record_bytes",
    "streams",
    "queue_depth",
    "tags",
    "repetition",
    "figure",
    "value",
    "unit",
    "higher_is_better",
    "count",
];

/// The runs' figures as one table.
#[must_use]
pub fn figure_csv(runs: &[Run]) -> String {
    let mut table = Table::new();
    table.row(HEAD.map(String::from).into_iter());
    for run in runs {
        let file = run.source.as_ref().map_or("", |s| &s.file);
        for series in figures::of(run) {
            let (cell, axes) = (&series.cell, &series.cell.axes);
            let tags: Vec<String> = axes.tags.iter().map(|(k, v)| format!("{k}={v}")).collect();
            for v in &series.values {
                let cells = [
                    run.id.clone(),
                    run.label.clone(),
                    run.dialect.clone(),
                    file.to_string(),
                    v.phase.to_string(),
                    cell.operation.clone(),
                    cell.direct.to_string(),
                    maybe(axes.file_bytes),
                    maybe(axes.record_bytes),
                    maybe(axes.streams),
                    maybe(axes.queue_depth),
                    tags.join("; "),
                    v.repetition.to_string(),
                    series.metric.clone(),
                    v.value.to_string(),
                    series.unit.clone(),
                    maybe(series.higher_is_better),
                    maybe(v.count),
                ];
                table.row(cells.into_iter());
            }
        }
    }
    table.text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Figure, Phase, Repetition, Source};

    #[test]
    fn an_imported_figure_is_a_row_here_and_its_rate_in_the_table_of_repetitions() {
        let figure = Figure {
            name: "throughput".into(),
            value: 1024.0,
            unit: "bytes/s".into(),
            printed: "1 KB/sec".into(),
            higher_is_better: Some(true),
            line: 3,
        };
        let repetition = Repetition { figures: vec![figure], ..Repetition::default() };
        let phase = Phase {
            name: "write".into(),
            repetitions: vec![repetition],
            ..crate::headline::tests::nothing()
        };
        let source = Source { file: "a.log".into(), ..Source::default() };
        let run = Run { id: "i".into(), phases: vec![phase], source: Some(source), ..Run::default() };
        let text = figure_csv(std::slice::from_ref(&run));
        assert_eq!(text.lines().nth(1), Some("i,,,a.log,0,write,false,,,,,,0,throughput,1024,bytes/s,true,"));
        let text = super::super::csv(&[run]);
        let mut lines = text.lines().map(|l| l.split(',').collect::<Vec<_>>());
        let (heads, row) = (lines.next().expect("heads"), lines.next().expect("a row"));
        assert_eq!(heads.len(), row.len());
        let at = heads.iter().position(|h| *h == "bytes_per_s").expect("a column");
        assert_eq!(row[at], "1024");
    }
}
