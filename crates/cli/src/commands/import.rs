//! `fathom import`: outputs of other programs, found in any text, as runs of the store. Says of every file what was found at which
//! lines, and of every line that looks like figures and was not understood that it is so.

use crate::exit::{self, Usage};
use crate::line::{Common, Import, ImportColumns, ImportKind};
use crate::{console, state};
use fathom_dialects::import::{Columns, Imported, Kind, import_told};
use fathom_record::Run;
use fathom_record::store::new_run_id;
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Longer than the step of a run's id: ids of one import sort as the text does.
const BETWEEN_IDS: Duration = Duration::from_micros(250);

pub fn run(options: &Import, common: &Common) -> anyhow::Result<ExitCode> {
    // All files are read first: one that is not there keeps nothing of the others.
    let mut texts = Vec::new();
    for file in &options.files {
        texts.push((file.display().to_string(), bytes(file)?));
    }
    let mut ids = Ids { next: jiff::Timestamp::now() };
    let mut all = Vec::new();
    for (name, bytes) in texts {
        let mut imported = import_told(&name, &bytes, options.kind.map(kind), options.columns.map(columns));
        let runs = imported.found.iter_mut().flat_map(|found| &mut found.runs);
        runs.for_each(|run| complete(run, options, &mut ids));
        all.push((name, imported));
    }
    if !options.dry_run {
        // All or none: a second try after a failure must not double what the first one kept.
        let mut store = state::store(common.store.as_deref())?;
        store.save_all(all.iter().flat_map(|(_, imported)| &imported.found).flat_map(|found| &found.runs))?;
        store.close()?;
    }
    let mut nothing = false;
    for (name, imported) in &all {
        nothing |= !tell(options, name, imported);
    }
    Ok(ExitCode::from(if nothing { exit::USAGE } else { exit::DONE }))
}

fn bytes(file: &Path) -> anyhow::Result<Vec<u8>> {
    let read = if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    read.map_err(|e| {
        Usage(format!("{} cannot be read: {e}; name a file, or - for stdin", file.display())).into()
    })
}

/// Tells of the runs of one file; whether there are any.
fn tell(options: &Import, name: &str, imported: &Imported) -> bool {
    let mut text = format!("{name}:\n");
    let mut runs = 0;
    for found in &imported.found {
        let figures = found.figures();
        let mut kept = Vec::new();
        for run in &found.runs {
            for doubt in run.doubts.iter().filter(|d| d.code != "single-run") {
                console::warning(&format!(
                    "{name}, lines {}-{}: {}",
                    found.first_line, found.last_line, doubt.sentence
                ));
            }
            kept.push(run.id.clone());
        }
        runs += kept.len();
        let place = match (found.first_line, found.last_line) {
            (first, last) if first == last => format!("line {first}"),
            (first, last) => format!("lines {first}-{last}"),
        };
        let end = match kept.as_slice() {
            [] => String::new(),
            _ if options.dry_run => format!(", {figures} figures"),
            [id] => format!(", {figures} figures -> run {id}"),
            ids => format!(", {figures} figures -> runs {}", ids.join(", ")),
        };
        text += &format!("  {place}: {}{end}\n", found.what);
    }
    text += &format!("  {} lines of prose\n", imported.prose.len());
    if options.verbose {
        text += &format!("  prose: lines {}\n", ranges(&imported.prose));
    }
    for (line, words) in &imported.not_understood {
        console::warning(&format!("{name}, line {line} looks like figures and was not understood: {words}"));
    }
    if runs > 0 {
        console::out(&text);
    } else {
        let known: Vec<&str> = Kind::ALL.into_iter().map(Kind::word).collect();
        let only = options.kind.map_or(String::new(), |k| format!(" of {}", kind(k).word()));
        console::error(&format!(
            "{name} holds no output{only} that is known; known are those of {}",
            known.join(", ")
        ));
    }
    runs > 0
}

/// What a run has from the import itself.
fn complete(run: &mut Run, options: &Import, ids: &mut Ids) {
    run.id = ids.take();
    run.version = env!("CARGO_PKG_VERSION").into();
    if let Some(label) = &options.label {
        run.label.clone_from(label);
    }
    if let Some(source) = &run.source {
        // Where it was measured is not known; where it was read is what a list can show.
        run.directory = format!("{}:{}-{}", source.file, source.first_line, source.last_line);
    }
}

/// Ids of runs that are made in one moment.
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

/// "1-9, 26, 30-36".
fn ranges(lines: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &line in lines {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == line => *last = line,
            _ => ranges.push((line, line)),
        }
    }
    let words = ranges.iter().map(|&(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") });
    words.collect::<Vec<_>>().join(", ")
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
        ImportKind::Dd => Kind::Dd,
        ImportKind::Time => Kind::Time,
        ImportKind::Iostat => Kind::Iostat,
        ImportKind::Dtrace => Kind::Dtrace,
        ImportKind::Table => Kind::Table,
    }
}
