//! Imports other programs' outputs, of any age and with any surrounding text, as runs. A text is processed from the top: each parser
//! decides whether its program's output starts at a line, and if so returns its end and contents. A line that no parser takes is prose,
//! or looks like figures and was not understood. Every line is in one of the three; none is silently dropped.
//!
//! A text may exceed memory: [`Outputs`] reads it incrementally and holds only the current output.
//!
//! Pure, like the rest of this crate: bytes in, [`Run`]s out; the caller handles ids, files and the store. The figures are described in
//! `fathom_record::imported`; `doubts` determines what a single run can show.

mod bonnie;
mod cell;
mod classify;
mod columns;
mod context;
mod cut;
mod dbench;
mod dd;
mod disk_mark;
mod doubts;
mod dtrace;
mod elbencho;
mod encoding;
mod filebench;
mod fio;
mod fsperf;
mod hyperfine;
mod ioping;
mod iostat;
mod iozone;
mod json_leaves;
mod lines;
mod mmtests;
mod notices;
mod outputs;
mod pairs;
mod pgbench;
mod phoronix;
mod sar;
mod source;
mod stress_ng;
mod sysbench;
mod table;
mod timed;
mod units;
mod vdbench;
mod yabs;

#[cfg(test)]
mod tests;

pub use columns::Columns;
use context::Context;
use fathom_record::{Run, Source};
use lines::Lines;
pub use outputs::{ImportError, Outputs, TextPiece};

/// A program whose output can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// IOzone: banners with tables or throughput blocks, reports, worksheets.
    Iozone,
    /// SysBench's fileio, 0.4 to 1.0.
    Sysbench,
    /// Filebench, 1.0 to 1.5.
    Filebench,
    /// fio: JSON, terse, normal, logs.
    Fio,
    /// ioping 0.6 to 1.3.
    Ioping,
    /// bonnie++ 1.0 to 2.0: text and CSV.
    Bonnie,
    /// The metrics of stress-ng.
    StressNg,
    /// dbench 3 and 4.
    Dbench,
    /// YABS: its fio table.
    Yabs,
    /// CrystalDiskMark and KDiskMark.
    DiskMark,
    /// pgbench.
    Pgbench,
    /// elbencho: its table and its CSV.
    Elbencho,
    /// vdbench of raw devices and of file systems.
    Vdbench,
    /// The composite.xml of the Phoronix Test Suite.
    Phoronix,
    /// dd, also under `time`.
    Dd,
    /// A command under the shell's `time`.
    Time,
    /// `iostat` in any form.
    Iostat,
    /// `sar` and `sadf`.
    Sar,
    /// `hyperfine --export-json`.
    Hyperfine,
    /// The comparison tables of fsperf.
    Fsperf,
    /// The comparison tables of mmtests.
    Mmtests,
    /// dtrace's aggregations.
    Dtrace,
    /// Tables of figures written by people.
    Table,
}

impl Kind {
    /// Every kind, in the order in which they are tried.
    pub const ALL: [Self; 23] = [
        Self::Iozone,
        Self::Sysbench,
        Self::Filebench,
        Self::Fio,
        Self::Ioping,
        Self::Bonnie,
        Self::StressNg,
        Self::Dbench,
        Self::Yabs,
        Self::DiskMark,
        Self::Pgbench,
        Self::Elbencho,
        Self::Vdbench,
        Self::Phoronix,
        Self::Dtrace,
        Self::Dd,
        Self::Time,
        Self::Sar,
        Self::Iostat,
        Self::Hyperfine,
        Self::Fsperf,
        Self::Mmtests,
        Self::Table,
    ];

    /// Its name on the command line and in the store.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Iozone => "iozone",
            Self::Sysbench => "sysbench",
            Self::Filebench => "filebench",
            Self::Fio => "fio",
            Self::Ioping => "ioping",
            Self::Bonnie => "bonnie++",
            Self::StressNg => "stress-ng",
            Self::Dbench => "dbench",
            Self::Yabs => "yabs",
            Self::DiskMark => "diskmark",
            Self::Pgbench => "pgbench",
            Self::Elbencho => "elbencho",
            Self::Vdbench => "vdbench",
            Self::Phoronix => "phoronix",
            Self::Dd => "dd",
            Self::Time => "time",
            Self::Iostat => "iostat",
            Self::Sar => "sar",
            Self::Hyperfine => "hyperfine",
            Self::Fsperf => "fsperf",
            Self::Mmtests => "mmtests",
            Self::Dtrace => "dtrace",
            Self::Table => "table",
        }
    }

    fn parser(self) -> Parser {
        match self {
            Self::Iozone => iozone::parse,
            Self::Sysbench => sysbench::parse,
            Self::Filebench => filebench::parse,
            Self::Fio => fio::parse,
            Self::Ioping => ioping::parse,
            Self::Bonnie => bonnie::parse,
            Self::StressNg => stress_ng::parse,
            Self::Dbench => dbench::parse,
            Self::Yabs => yabs::parse,
            Self::DiskMark => disk_mark::parse,
            Self::Pgbench => pgbench::parse,
            Self::Elbencho => elbencho::parse,
            Self::Vdbench => vdbench::parse,
            Self::Phoronix => phoronix::parse,
            Self::Dd => timed::parse_dd,
            Self::Time => timed::parse,
            Self::Iostat => iostat::parse,
            Self::Sar => sar::parse,
            Self::Hyperfine => hyperfine::parse,
            Self::Fsperf => fsperf::parse,
            Self::Mmtests => mmtests::parse,
            Self::Dtrace => dtrace::parse,
            Self::Table => table::parse,
        }
    }
}

/// A recognised output.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Its first line, counted from 1.
    pub first_line: u64,
    /// Its last line, counted from 1.
    pub last_line: u64,
    /// Description: "IOzone throughput mode, 3 processes".
    pub what: String,
    /// Its runs; empty if it only describes a workload or a machine.
    pub runs: Vec<Run>,
}

impl Found {
    /// Number of figures in all runs.
    #[must_use]
    pub fn figures(&self) -> usize {
        self.runs.iter().flat_map(|r| &r.phases).map(cell::figures).sum()
    }
}

/// The contents of a text.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// Outputs, in order of appearance.
    pub found: Vec<Found>,
    /// Line numbers of prose.
    pub prose: Vec<u64>,
    /// Lines that look like figures but were not understood, with their text.
    pub not_understood: Vec<(u64, String)>,
    /// Lines too long for any output, with their length.
    pub passed_over: Vec<(u64, u64)>,
}

/// A parser's result; line numbers from 0.
#[derive(Default)]
struct Block {
    /// Its last line.
    last: usize,
    what: String,
    runs: Vec<Run>,
    /// Lines up to the last one that the parser does not know.
    left: Vec<usize>,
    /// Lines that were only partly understood.
    partly: Vec<usize>,
    /// Workload parameters for tables that follow.
    parameters: Vec<(String, String)>,
    /// Host information for outputs that follow.
    hosts: Vec<context::Host>,
    /// A log that continues beyond the text read so far.
    goes_on: Option<fio::ImportedLog>,
    /// A log that is cut after its last line.
    cut_log: Option<fio::Cut>,
    /// The document exceeds the limit.
    too_long: bool,
    /// Rules in it are part of the output and do not mark headings.
    has_own_rules: bool,
    /// Lines too long for text were read as well.
    is_document: bool,
}

/// Decides whether an output starts at a line, and reads it.
type Parser = fn(&Lines, usize, &Context) -> Option<Block>;

/// Imports a text in memory like [`Outputs`], up to the first document that is too long.
#[must_use]
pub fn import(name: &str, bytes: &[u8], only: Option<Kind>) -> Imported {
    let mut imported = Imported::default();
    let pieces = Outputs::new(name, bytes, only, None).into_iter().flatten();
    for piece in pieces.map_while(Result::ok) {
        match piece {
            TextPiece::Found(found) => imported.found.push(found),
            TextPiece::Prose(line) => imported.prose.push(line),
            TextPiece::NotUnderstood(line, words)
            | TextPiece::Partly(line, words)
            | TextPiece::Cut(line, words) => {
                imported.not_understood.push((line, words));
            }
            TextPiece::PassedOver { line, bytes } => imported.passed_over.push((line, bytes)),
        }
    }
    imported
}

/// "1 job", "2 jobs".
fn several(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// Completes a block's runs with their position, surrounding heading, and doubts.
fn found(lines: &Lines, at: usize, block: Block, left: &[usize], context: &Context) -> Found {
    let (first_line, last_line) = (at as u64 + 1, block.last as u64 + 1);
    let unclear = |n: &&usize| classify::looks_like_figures(lines.at(**n));
    let not_understood: Vec<u64> = left.iter().filter(unclear).map(|&n| n as u64 + 1).collect();
    let mut runs = block.runs;
    for run in &mut runs {
        let program = run.source.take().unwrap_or_default().program;
        let not_understood = not_understood.clone();
        run.source =
            Some(Source { file: context.file.clone(), program, first_line, last_line, not_understood });
        let heading = context.heading();
        if run.label.is_empty() {
            run.label = heading.label().unwrap_or_else(|| block.what.clone());
        }
        if let (Some(test), Some(_)) = (&heading.section, &heading.variant) {
            for phase in &mut run.phases {
                phase.axes.tags.insert("test".into(), test.clone());
            }
        }
        doubts::judge(run);
    }
    runs.retain(|r| !r.phases.is_empty());
    Found { first_line, last_line, what: block.what, runs }
}
