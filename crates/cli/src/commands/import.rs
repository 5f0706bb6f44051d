//! `fathom import`: finds output of other programs in any text and stores it as runs. Reports for every file what was
//! found at which lines, and every line that looks like figures but was not understood.

use crate::common::Common;
use crate::exit::{self, Usage};
use crate::line::{Import, ImportColumns, ImportKind};
use crate::{console, input, state};
use fathom_dialects::import::{Columns, Found, ImportError, Kind, Outputs, TextPiece};
use fathom_record::Run;
use fathom_record::store::new_run_id;
use import_report::ImportReport;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

mod import_report;

/// Longer than the resolution of a run's id, so that the ids of an import sort like the text.
const BETWEEN_IDS: Duration = Duration::from_micros(250);

/// Up to this many figures, all is read before the store is locked: a measurement in progress would time out on a long
/// lock.
const BEFORE_THE_LOCK: usize = 10_000;

pub fn run(options: &Import, common: &Common) -> anyhow::Result<ExitCode> {
    let mut reading = ImportedRuns::new(options);
    if options.dry_run {
        for run in &mut reading {
            run?;
        }
    } else {
        let mut first = Vec::new();
        while reading.figures < BEFORE_THE_LOCK
            && let Some(run) = reading.next()
        {
            first.push(run?);
        }
        // All or none: a retry after a failure must not store runs twice.
        let mut store = state::store(common.store.as_deref())?;
        store.save_all(first.into_iter().map(Ok).chain(&mut reading))?;
        store.close()?;
    }
    let all_held_something = reading.report.out(options)?;
    Ok(ExitCode::from(if all_held_something { exit::DONE } else { exit::USAGE }))
}

/// The runs of all files, one at a time; the report is held back until they are stored.
struct ImportedRuns<'o> {
    options: &'o Import,
    files: std::slice::Iter<'o, PathBuf>,
    /// The open file and its name.
    outputs: Option<(String, Outputs<'static>)>,
    /// Runs of the last output.
    runs: VecDeque<Run>,
    /// Figures found so far.
    figures: usize,
    ids: Ids,
    report: ImportReport,
}

impl<'o> ImportedRuns<'o> {
    fn new(options: &'o Import) -> Self {
        Self {
            options,
            files: options.files.iter(),
            outputs: None,
            runs: VecDeque::new(),
            figures: 0,
            ids: Ids { next: jiff::Timestamp::now() },
            report: ImportReport::new(options.verbose),
        }
    }

    fn advance(&mut self) -> anyhow::Result<Option<Run>> {
        loop {
            if let Some(run) = self.runs.pop_front() {
                return Ok(Some(run));
            }
            let Some((name, outputs)) = &mut self.outputs else {
                let Some(file) = self.files.next() else { return Ok(None) };
                let name = file.display().to_string();
                let input = open(file, &name)?;
                let (kind, columns) = (self.options.kind.map(kind), self.options.columns.map(columns));
                let outputs = Outputs::new(&name, BufReader::with_capacity(64 << 10, input), kind, columns)
                    .map_err(|e| unreadable(&name, &e))?;
                self.report.begin(&name);
                self.outputs = Some((name, outputs));
                continue;
            };
            match outputs.next() {
                None => {
                    self.report.end();
                    self.outputs = None;
                }
                Some(Ok(TextPiece::Found(mut found))) => {
                    found.runs.iter_mut().for_each(|run| complete(run, self.options, &mut self.ids));
                    self.figures += found.figures();
                    warn_of_doubts(name, &found);
                    self.report.found(&found, self.options.dry_run)?;
                    self.runs.extend(found.runs);
                }
                Some(Ok(TextPiece::Prose(line))) => self.report.prose(line),
                Some(Ok(TextPiece::NotUnderstood(line, words))) => {
                    self.report.not_understood(line, "looks like figures and was not understood", &words);
                }
                Some(Ok(TextPiece::Partly(line, words))) => {
                    self.report.not_understood(line, "was read only in part", &words);
                }
                Some(Ok(TextPiece::Cut(line, words))) => {
                    let how = "ends without a line break and may be cut: its last number was left out";
                    self.report.not_understood(line, how, &words);
                }
                Some(Ok(TextPiece::PassedOver { line, bytes })) => console::warning(&format!(
                    "{name}, line {line} was skipped: its {bytes} bytes are more than a line of any known output"
                )),
                Some(Err(ImportError::Read(e))) => return Err(unreadable(name, &e)),
                Some(Err(e @ (ImportError::TooLong { .. } | ImportError::NoText { .. }))) => {
                    return Err(Usage(format!("{name}, {e}")).into());
                }
            }
        }
    }
}

impl Iterator for ImportedRuns<'_> {
    type Item = anyhow::Result<Run>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

/// A pipe is first copied into an unnamed file: the store must not stay locked while another program writes.
fn open(file: &Path, name: &str) -> anyhow::Result<File> {
    let unread = |e| unreadable(name, &e);
    let is_stdin = file.as_os_str() == "-";
    let mut input = if is_stdin {
        std::io::stdin().as_fd().try_clone_to_owned().map(File::from)
    } else {
        input::open(file)
    }
    .map_err(unread)?;
    let kind = input.metadata().map_err(unread)?.file_type();
    if kind.is_file() {
        return Ok(input);
    }
    // It may be endless. Stdin may be a terminal.
    if !is_stdin && (kind.is_char_device() || kind.is_block_device()) {
        return Err(Usage(format!("{name} is a device; import reads files, pipes and stdin")).into());
    }
    let uncopied = |e: std::io::Error| {
        let directory = std::env::temp_dir();
        anyhow::anyhow!(
            "{name} cannot be copied to {}: {e}; free some space there, or set TMPDIR to another directory",
            directory.display()
        )
    };
    let mut copy = tempfile::tempfile().map_err(uncopied)?;
    let mut buffer = vec![0; 64 << 10];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => copy.write_all(&buffer[..length]).map_err(uncopied)?,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(unread(e)),
        }
    }
    copy.rewind().map_err(uncopied)?;
    Ok(copy)
}

fn unreadable(name: &str, e: &std::io::Error) -> anyhow::Error {
    Usage(format!("{name} cannot be read: {e}; name a file, or - for stdin")).into()
}

fn warn_of_doubts(name: &str, found: &Found) {
    for doubt in found.runs.iter().flat_map(|r| &r.doubts).filter(|d| d.code != "single-run") {
        console::warning(&format!(
            "{name}, lines {}-{}: {}",
            found.first_line, found.last_line, doubt.sentence
        ));
    }
}

/// Fills in what the import itself knows about a run.
fn complete(run: &mut Run, options: &Import, ids: &mut Ids) {
    run.id = ids.take();
    run.version = env!("CARGO_PKG_VERSION").into();
    if let Some(label) = &options.label {
        run.label.clone_from(label);
    }
    if let Some(source) = &run.source {
        // Where it was measured is unknown; the list shows where it was read from.
        run.directory = format!("{}:{}-{}", source.file, source.first_line, source.last_line);
    }
}

/// Distinct ids for runs made at the same time.
struct Ids {
    next: jiff::Timestamp,
}

impl Ids {
    fn take(&mut self) -> String {
        let id = new_run_id(self.next, std::process::id());
        self.next = self.next.checked_add(BETWEEN_IDS).unwrap_or(self.next);
        id
    }
}

fn columns(columns: ImportColumns) -> Columns {
    match columns {
        ImportColumns::Systems => Columns::Systems,
        ImportColumns::Repeats => Columns::Repeats,
    }
}

fn kind(kind: ImportKind) -> Kind {
    match kind {
        ImportKind::Iozone => Kind::Iozone,
        ImportKind::Sysbench => Kind::Sysbench,
        ImportKind::Filebench => Kind::Filebench,
        ImportKind::Fio => Kind::Fio,
        ImportKind::Ioping => Kind::Ioping,
        ImportKind::Bonnie => Kind::Bonnie,
        ImportKind::StressNg => Kind::StressNg,
        ImportKind::Dbench => Kind::Dbench,
        ImportKind::Yabs => Kind::Yabs,
        ImportKind::DiskMark => Kind::DiskMark,
        ImportKind::Pgbench => Kind::Pgbench,
        ImportKind::Elbencho => Kind::Elbencho,
        ImportKind::Vdbench => Kind::Vdbench,
        ImportKind::Phoronix => Kind::Phoronix,
        ImportKind::Dd => Kind::Dd,
        ImportKind::Time => Kind::Time,
        ImportKind::Iostat => Kind::Iostat,
        ImportKind::Sar => Kind::Sar,
        ImportKind::Hyperfine => Kind::Hyperfine,
        ImportKind::Fsperf => Kind::Fsperf,
        ImportKind::Mmtests => Kind::Mmtests,
        ImportKind::Dtrace => Kind::Dtrace,
        ImportKind::Table => Kind::Table,
    }
}
