//! Imported figures as table rows for every format: all figures of cells that are on no surface, and the non-rates of cells
//! that are. The value is shown as printed, with its line in the source, beside the value in base units.

use crate::{printable::clean, section::full_title, surface::on_surfaces, units};
use fathom_record::imported::{names, units as base};
use fathom_record::{Figure, Phase, Run};

/// The figures of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellRows {
    /// The phase with its sizes, and the repetition number if there are several.
    pub title: String,
    /// Its figures.
    pub rows: Vec<ImportedRow>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedRow {
    /// Name of the figure.
    pub name: String,
    /// The value as printed.
    pub printed: String,
    /// The value in fathom's own units: "54.5 MiB/s", "2.15 s".
    pub value: String,
    /// The value in base units.
    pub number: f64,
    /// "higher", "lower", or empty.
    pub better: &'static str,
    /// Line in the source text.
    pub line: u64,
}

/// Above 2^53 not every integer is exact in an f64.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;
/// Prefix of a class name.
const CLASS: &str = "value ";

impl CellRows {
    /// The classes of a distribution with their counts, if the cell is one: `lquantize()` and the like print nothing else.
    #[must_use]
    pub fn distribution(&self) -> Option<Vec<(&str, u64)>> {
        let counted = |n: f64| (n >= 0.0 && n.fract() == 0.0 && n < MOST_EXACT).then_some(n as u64);
        let classes: Option<Vec<_>> =
            self.rows.iter().map(|r| Some((r.name.strip_prefix(CLASS)?, counted(r.number)?))).collect();
        classes.filter(|rows| rows.len() > 1)
    }
}

/// Column heads after the figure's name.
pub const HEADS: [&str; 4] = ["as printed", "value", "better", "line"];

impl ImportedRow {
    fn of(figure: &Figure) -> Self {
        Self {
            name: clean(&figure.name),
            printed: clean(&figure.printed),
            value: value(figure),
            number: figure.value,
            better: match figure.higher_is_better {
                Some(true) => "higher",
                Some(false) => "lower",
                None => "",
            },
            line: figure.line,
        }
    }

    /// The cells under [`HEADS`].
    #[must_use]
    pub fn cells(&self) -> [String; 4] {
        [self.printed.clone(), self.value.clone(), self.better.to_string(), self.line.to_string()]
    }
}

/// A figure in the report's units.
fn value(figure: &Figure) -> String {
    match figure.unit.as_str() {
        base::BYTES_PER_S => units::rate(figure.value),
        base::OPS_PER_S => units::ops_rate(figure.value),
        base::NS => units::time_ns(figure.value),
        base::BYTES if figure.value >= 0.0 => units::bytes(figure.value as u64),
        base::PERCENT => format!("{} %", figure.value),
        _ => figure.value.to_string(),
    }
}

/// The source of an imported run, in a sentence; `None` for a measured run.
#[must_use]
pub fn source(run: &Run) -> Option<String> {
    let source = run.source.as_ref()?;
    let left = match source.not_understood.len() {
        0 => String::new(),
        1 => "; 1 line of figures in it was not understood".into(),
        n => format!("; {n} lines of figures in it were not understood"),
    };
    let (program, file) = (clean(&source.program), clean(&source.file));
    Some(format!(
        "printed by {program}, imported from {file}, lines {} to {}{left}",
        source.first_line, source.last_line
    ))
}

/// The cells with figures that no surface shows.
#[must_use]
pub fn rows(phases: &[&Phase]) -> Vec<CellRows> {
    let (on, _) = on_surfaces(phases);
    let mut cells = Vec::new();
    for phase in phases {
        let drawn = on.iter().any(|p| std::ptr::eq(*p, *phase));
        for r in &phase.repetitions {
            let rows: Vec<ImportedRow> = r
                .figures
                .iter()
                .filter(|f| !(drawn && f.name == names::THROUGHPUT))
                .map(ImportedRow::of)
                .collect();
            if rows.is_empty() {
                continue;
            }
            let which = match phase.repetitions.len() {
                0 | 1 => String::new(),
                n => format!(" ({} of {n})", r.n.saturating_add(1)),
            };
            cells.push(CellRows { title: format!("{}{which}", clean(&full_title(phase))), rows });
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn counts_by_class_are_a_distribution() {
        let row = |name: &str, number| ImportedRow {
            name: name.into(),
            printed: String::new(),
            value: String::new(),
            number,
            better: "",
            line: 1,
        };
        let cell = |rows| CellRows { title: "dd".into(), rows };
        let both = cell(vec![row("value < 0", 0.0), row("value 2048", 524_288.0)]);
        assert_eq!(both.distribution(), Some(vec![("< 0", 0), ("2048", 524_288)]));
        assert_eq!(cell(vec![row("value 0", 1.0), row("latency", 2.0)]).distribution(), None);
        assert_eq!(cell(vec![row("value 0", 1.0), row("value 1", 0.5)]).distribution(), None);
    }

    #[test]
    fn every_figure_is_on_a_surface_or_in_a_row() {
        let run = samples::imported_run();
        let phases: Vec<&Phase> = run.phases.iter().collect();
        let (on, _) = on_surfaces(&phases);
        assert_eq!(on.len(), 4);
        let cells = rows(&phases);
        assert_eq!(cells.len(), 1, "{cells:?}");
        assert_eq!(cells[0].title, "all flowops");
        assert_eq!(
            cells[0].rows[1],
            ImportedRow {
                name: "latency avg".into(),
                printed: "2.5 ms/op".into(),
                value: "2.50 ms".into(),
                number: 2.5e6,
                better: "lower",
                line: 8
            }
        );
        assert_eq!(
            source(&run).expect("it was imported"),
            "printed by IOzone 3.283, imported from a|b.log, lines 3 to 9"
        );
        assert_eq!(source(&samples::auto_run()), None);
    }
}
