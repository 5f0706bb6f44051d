//! Log files of jobs, written beside the output. Records spooled while the jobs ran are read and written piece by
//! piece.

use super::log_paths::{self, LogKind};
use crate::appended_file::AppendedFile;
use crate::console;
use fathom_dialects::fio::Plan;
use fathom_dialects::fio::output::iolog;
use fathom_dialects::fio::output::log_operations::{Did, Operation};
use fathom_dialects::fio::output::logs::{self, RecordedData};
use fathom_dialects::fio::output::packed;
use fathom_engine::Operations;
use fathom_record::Run;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Directory of the spooled records. The logs themselves lie where fio 3.33 puts them, whatever `--aux-path` says.
pub fn directory(plan: &Plan) -> &Path {
    plan.general.aux_path.as_deref().unwrap_or(Path::new("."))
}

pub struct Logged {
    /// One for each worker that logs single operations.
    pub operations: Vec<Operations>,
    /// Start of each phase, Unix time in ms.
    pub began_ms: BTreeMap<u32, u64>,
}

impl Logged {
    /// Writes all logs. Returns a sentence for each that failed.
    pub fn write(&self, plan: &Plan, run: &Run) -> Vec<String> {
        let unread = RefCell::new(None);
        let (all, failure) = (&self.operations, &unread);
        let operations = move |phase: u32, worker: u32| -> Box<dyn Iterator<Item = Operation> + '_> {
            let of = all.iter().find(|of| (of.phase, of.worker) == (phase, worker));
            match of.map(Operations::read) {
                None => Box::new(std::iter::empty()),
                Some(Err(error)) => {
                    *failure.borrow_mut() = Some(error);
                    Box::new(std::iter::empty())
                }
                Some(Ok(read)) => Box::new(read.map_while(move |operation| match operation {
                    Ok(operation) => Some(converted(operation)),
                    Err(error) => {
                        *failure.borrow_mut() = Some(error);
                        None
                    }
                })),
            }
        };
        let began_ms = |phase: u32| self.began_ms.get(&phase).copied().unwrap_or(0);
        let (mut begun, mut failed) = (BTreeMap::new(), BTreeMap::new());
        let mut torn = logs::write(
            plan,
            run,
            &RecordedData { operations: &operations, began_ms: &began_ms },
            &mut |path, text| {
                if failed.contains_key(path) {
                    return;
                }
                if let Err(error) = append(plan, LogKind::Values, path, text, &mut begun) {
                    failed.insert(path.to_owned(), error);
                }
            },
        );
        if plan.general.bandwidth_log {
            for (name, text) in logs::together(run) {
                let path = Path::new(name);
                if let Err(error) = append(plan, LogKind::Values, path, &text, &mut BTreeMap::new()) {
                    failed.insert(path.to_owned(), error);
                }
            }
        }
        let sentence = |(path, error): (PathBuf, std::io::Error)| {
            format!("{} cannot be written: {error}", path.display())
        };
        torn.extend(failed.into_iter().map(sentence));
        let unread = unread.into_inner();
        torn.extend(
            unread.map(|error| format!("what was written down for the logs cannot be read: {error}")),
        );
        torn
    }
}

impl Logged {
    /// Writes the logs that can be replayed. Returns a sentence for each that failed.
    pub fn write_iologs(&self, plan: &Plan) -> Vec<String> {
        let (mut begun, mut failed) = (BTreeMap::new(), BTreeMap::new());
        let read = iolog::write(plan, |phase, worker| self.of_worker(phase, worker), &mut |path, text| {
            if failed.contains_key(path) {
                return;
            }
            if let Err(error) = append(plan, LogKind::Operations, path, text, &mut begun) {
                failed.insert(path.to_owned(), error);
            }
        });
        let sentence = |(path, error): (PathBuf, std::io::Error)| {
            format!("{} cannot be written: {error}", path.display())
        };
        let mut torn: Vec<String> = failed.into_iter().map(sentence).collect();
        let unread = read.err();
        torn.extend(
            unread.map(|error| format!("what was written down for the logs cannot be read: {error}")),
        );
        torn
    }

    /// A worker's operations in completion order.
    fn of_worker(
        &self,
        phase: u32,
        worker: u32,
    ) -> std::io::Result<Box<dyn Iterator<Item = std::io::Result<Operation>> + '_>> {
        match self.operations.iter().find(|of| (of.phase, of.worker) == (phase, worker)) {
            Some(of) => Ok(Box::new(of.read()?.map(|operation| operation.map(converted)))),
            None => Ok(Box::new(std::iter::empty())),
        }
    }
}

/// The first write truncates an existing log, as fio does; later ones append.
fn append(
    plan: &Plan,
    kind: LogKind,
    path: &Path,
    text: &str,
    begun: &mut BTreeMap<PathBuf, AppendedFile>,
) -> std::io::Result<()> {
    let packs = packed::is_packed(path) && kind == LogKind::Values;
    let kind = if packs { LogKind::Packed } else { kind };
    let packed = |text| {
        packed::pack(text).ok_or_else(|| std::io::Error::other("a line does not fit the compressed form"))
    };
    match begun.entry(path.to_owned()) {
        Entry::Occupied(begun) => {
            let bytes = if packs { packed(text)? } else { text.into() };
            begun.get().append(path, &bytes).map(drop)
        }
        Entry::Vacant(first) => {
            let mut file = log_paths::create(plan, path, kind)?;
            first.insert(AppendedFile::of(&file)?);
            file.write_all(&if packs { packed(text)? } else { text.into() })
        }
    }
}

/// Prints a compressed log as text.
pub fn inflate(log: &Path) -> ExitCode {
    let failed = |why: &dyn std::fmt::Display| {
        console::error(&format!("--inflate-log={}: {why}", log.display()));
        ExitCode::FAILURE
    };
    let bytes = match std::fs::read(log) {
        Ok(bytes) => bytes,
        Err(error) => return failed(&error),
    };
    match packed::unpack(&bytes, &mut |lines| console::out_raw(lines)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => failed(&why),
    }
}

/// The dialect does not depend on the engine's types.
fn converted(o: fathom_engine::Operation) -> Operation {
    Operation {
        does: match o.does {
            fathom_engine::Does::Read => Did::Read,
            fathom_engine::Does::Write => Did::Write,
            fathom_engine::Does::Trim => Did::Trim,
        },
        start_ns: o.start_ns,
        latency_ns: o.latency_ns,
        submission_ns: o.submission_ns,
        file: o.file,
        offset: o.offset,
        bytes: o.bytes,
        priority: o.priority,
    }
}
