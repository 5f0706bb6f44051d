//! Prints a run as IOzone does. The whole output is planned as a sequence of text pieces and placeholders for figures. Each
//! finished phase fills the next placeholder and releases the text up to the following one. A row thus grows column by column, and a
//! replayed record gives exactly the output of the live run.

use super::blocks::block;
use super::failure;
use super::figures;
use super::options::IozoneOptions;
use super::pass::{self, Pass};
use super::plan::{in_row, passes_of_block, stream_sizes};
use super::replay;
use super::report::{self, Cells, Rates};
use super::sizes::{Combination, Grid};
use super::worksheet::Sheet;
use super::{Layout, Parsed, banner};
use crate::LivePrinter;
use fathom_record::{Ending, OpError};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
enum PrintedPiece {
    Text(String),
    /// A column of a row, filled by a phase.
    Cell(&'static Pass, Combination),
    /// A block, filled by a phase: the pass and the index in the list of stream counts.
    Block(&'static Pass, usize),
}

/// Prints a run as it proceeds; see [`LivePrinter`].
#[derive(Clone, Debug)]
pub struct IozonePrinter {
    options: IozoneOptions,
    layout: Layout,
    command: String,
    script: Vec<PrintedPiece>,
    /// Index of the next piece to write.
    at: usize,
    cells: Cells,
    rates: Rates,
    /// Largest file with an interval shorter than the clock resolution in the banner.
    too_short_kb: Option<u64>,
    exit_code: i32,
    /// Test files as given, as IOzone's messages name them.
    files: Vec<PathBuf>,
}

impl IozonePrinter {
    /// A printer for the run that `parsed` describes.
    #[must_use]
    pub fn new(parsed: &Parsed) -> Self {
        let mut script = vec![PrintedPiece::Text(parsed.head.clone())];
        match &parsed.layout {
            Layout::Table(grid) => table_script(&parsed.options, grid, &mut script),
            Layout::Streams { list_kb } => streams_script(&parsed.options, *list_kb, &mut script),
        }
        Self {
            options: parsed.options.clone(),
            layout: parsed.layout.clone(),
            command: parsed.command.clone(),
            script,
            at: 0,
            cells: Cells::new(),
            rates: Rates::new(),
            too_short_kb: None,
            exit_code: 0,
            files: replay::files(&parsed.workload),
        }
    }

    /// IOzone's exit code; 0 until something fails.
    #[must_use]
    pub fn exit_code(&self) -> i32 {
        self.exit_code
    }

    /// The -b worksheet with the figures so far. Its first cell is the command line with IOzone's trailing blank.
    #[must_use]
    pub fn sheet(&self) -> Sheet {
        let command = format!("{} ", self.command);
        match &self.layout {
            Layout::Table(grid) => report::surface_sheet(&self.options, &command, grid, &self.cells),
            Layout::Streams { list_kb } => {
                report::throughput_sheet(&self.options, &command, *list_kb, &self.rates)
            }
        }
    }

    /// Text up to the next unfilled placeholder.
    fn go_on(&mut self) -> String {
        let mut text = String::new();
        while let Some(PrintedPiece::Text(piece)) = self.script.get(self.at) {
            text += piece;
            self.at += 1;
        }
        text
    }

    fn current(&self) -> Option<&'static Pass> {
        match self.script.get(self.at)? {
            PrintedPiece::Cell(pass, _) | PrintedPiece::Block(pass, _) => Some(pass),
            PrintedPiece::Text(_) => None,
        }
    }

    fn fill_cell(
        &mut self,
        pass: &'static Pass,
        row: Combination,
        repetition: &fathom_record::Repetition,
    ) -> String {
        let cell = figures::cell(repetition, self.options.unit);
        if cell.too_short {
            self.too_short_kb = self.too_short_kb.max(Some(row.file_kb));
        }
        self.cells.insert((pass.name, row), cell);
        format!("{:>1$}", cell.value, pass.width)
    }

    fn fill_block(
        &mut self,
        pass: &'static Pass,
        i: usize,
        repetition: &fathom_record::Repetition,
    ) -> String {
        let figures = figures::block(repetition, self.options.unit);
        self.rates.insert((pass.name, i), (figures.rate(), figures.cpu().2));
        block(&self.options, pass, &figures)
    }

    fn report(&self) -> String {
        if !self.options.report {
            return String::new();
        }
        match &self.layout {
            Layout::Table(grid) => report::surfaces(&self.options, grid, &self.cells),
            Layout::Streams { list_kb } => report::throughput(&self.options, *list_kb, &self.rates),
        }
    }

    fn resolution_warning(&self) -> String {
        self.too_short_kb.map_or_else(String::new, |kb| {
            format!(
                "Timer resolution is poor. Some small transfers may have \n\
                 reported inaccurate results. Sizes {kb} kBytes and below.\n"
            )
        })
    }
}

impl LivePrinter for IozonePrinter {
    fn head(&mut self) -> String {
        self.go_on()
    }

    /// Nothing: the row or block heading has already been printed.
    fn phase_started(&mut self, _phase: &fathom_workload::Phase) -> String {
        String::new()
    }

    fn phase_done(&mut self, phase: &fathom_record::Phase) -> String {
        let (Some(piece), Some(repetition)) = (self.script.get(self.at).cloned(), phase.repetitions.last())
        else {
            return String::new();
        };
        if !whole(repetition) {
            return String::new();
        }
        let text = match piece {
            PrintedPiece::Cell(pass, row) if pass.name == phase.name => self.fill_cell(pass, row, repetition),
            PrintedPiece::Block(pass, i) if pass.name == phase.name => self.fill_block(pass, i, repetition),
            _ => return String::new(),
        };
        self.at += 1;
        text + &self.go_on()
    }

    fn interrupted(&mut self) -> String {
        format!("\niozone: interrupted\n\n{}exiting iozone\n\n", self.report())
    }

    fn failed(&mut self, error: &OpError) -> String {
        let reads = self.current().is_some_and(|p| p.reads);
        let record_kb = match self.script.get(self.at) {
            Some(PrintedPiece::Cell(_, row)) => row.record_kb,
            _ => stream_sizes(&self.options, 1, None).1,
        };
        self.exit_code = failure::exit_code(error, reads);
        let typed = replay::longest(self.files.clone(), |p| Path::new(&error.path).ends_with(p));
        let path = typed.map_or_else(|| error.path.clone(), |p| p.display().to_string());
        failure::text(&OpError { path, ..error.clone() }, reads, record_kb)
    }

    fn end(&mut self) -> String {
        match self.layout {
            Layout::Table(_) => {
                format!("\niozone test complete.\n{}{}", self.resolution_warning(), self.report())
            }
            Layout::Streams { .. } => format!("{}\niozone test complete.\n", self.report()),
        }
    }
}

/// Whether a pass ran to its end; the others have no valid figure for a table.
pub(super) fn whole(repetition: &fathom_record::Repetition) -> bool {
    repetition.workers.iter().all(|w| matches!(w.ending, Ending::Completed | Ending::Stopped))
}

fn table_script(o: &IozoneOptions, grid: &Grid, script: &mut Vec<PrintedPiece>) {
    for &row in &grid.rows {
        script.push(PrintedPiece::Text(format!("{:>16}{:>8}", row.file_kb, row.record_kb)));
        let mut blank = None;
        for pass in pass::columns().filter(|p| in_row(o, p)) {
            if !o.runs(pass.test) {
                // One blank field per test, not per pass.
                if blank != Some(pass.test) {
                    script.push(PrintedPiece::Text(" ".repeat(banner::blank_width(pass.test))));
                }
                blank = Some(pass.test);
            } else if pass.retest && o.no_retest {
                script.push(PrintedPiece::Text(format!("{:>1$}", 0, pass.width)));
            } else {
                script.push(PrintedPiece::Cell(pass, row));
            }
        }
        // With -E, the row of a mapped file ends with the blanks of pread, although it has no such column.
        let tail = if o.narrow() && o.extended { banner::blank_width(10) } else { 0 };
        script.push(PrintedPiece::Text(format!("{}\n", " ".repeat(tail))));
    }
}

fn streams_script(o: &IozoneOptions, list_kb: Option<u64>, script: &mut Vec<PrintedPiece>) {
    script.push(PrintedPiece::Text(banner::streams_head(o)));
    for (i, n) in o.stream_counts().into_iter().enumerate() {
        let (file_kb, record_kb) = stream_sizes(o, n, list_kb);
        let records =
            if record_kb == 0 { "telemetry controlled".into() } else { format!("{record_kb} kByte") };
        script.push(PrintedPiece::Text(format!(
            "\tEach {} writes a {file_kb} kByte file in {records} records\n",
            banner::worker_word(o)
        )));
        let passes = passes_of_block(o).filter(|p| !(o.no_retest && p.retest));
        script.extend(passes.map(|p| PrintedPiece::Block(p, i)));
        script.push(PrintedPiece::Text("\n\n".into()));
    }
}
