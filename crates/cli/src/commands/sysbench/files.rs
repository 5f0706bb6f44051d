//! prepare and cleanup: test files are created, extended and removed one by one, each printed in turn. Files that
//! fathom did not make are touched only with --file-replace=on.

use super::{ERROR, words};
use crate::{console, exit};
use fathom_dialects::sysbench::{SysbenchOptions, failure, files};
use fathom_engine::{Engine, EngineError, interrupted_by};
use fathom_workload::Action;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Creates missing files and extends short ones.
pub fn prepare(o: &SysbenchOptions, seed: u64, engine: &mut Engine) -> ExitCode {
    console::out_raw(&files::preparing(o));
    let began = Instant::now();
    let mut written = 0u64;
    for number in 0..u64::from(o.files) {
        let path = o.file(number);
        let found = path.symlink_metadata().ok();
        if found.as_ref().is_some_and(|m| !m.is_file()) {
            console::out_raw(&failure::cannot_create(None, libc::EISDIR));
            console::error(&format!(
                "{} is not a regular file; fathom writes only to regular files",
                path.display()
            ));
            return ExitCode::from(ERROR);
        }
        let step = files::step(o, number, found.map(|m| m.len()));
        console::out_raw(&files::prepared(o, &step));
        if step.written > 0
            && let Err(error) = one(o, seed, engine, &step)
        {
            return failed(&error);
        }
        written += step.written;
        if let Some(signal) = interrupted_by() {
            return ExitCode::from(exit::of_signal(signal));
        }
    }
    console::out_raw(&files::all_prepared(o, written, began.elapsed().as_secs_f64()));
    if written > 0 && !o.validate {
        console::note(
            "the files hold zeros, as SysBench's do: storage that compresses or finds duplicates shows its best with them; --validate fills them with random blocks",
        );
    }
    ExitCode::SUCCESS
}

/// As [`prepare`], without SysBench's output. `made` gets each file that did not exist before.
pub fn prepare_quietly(
    o: &SysbenchOptions,
    seed: u64,
    engine: &mut Engine,
    made: &mut dyn FnMut(&Path) -> Result<(), String>,
) -> Result<(), String> {
    for number in 0..u64::from(o.files) {
        let path = o.file(number);
        let found = path.symlink_metadata().ok();
        if found.as_ref().is_some_and(|m| !m.is_file()) {
            return Err(format!(
                "{} is not a regular file; fathom writes only to regular files",
                path.display()
            ));
        }
        let is_new = found.is_none();
        let step = files::step(o, number, found.map(|m| m.len()));
        if step.written > 0 {
            let laid_out = one(o, seed, engine, &step);
            if is_new {
                made(&path)?;
            }
            laid_out.map_err(|error| match error {
                EngineError::NotOurs(path) => not_ours(&path),
                other => other.to_string(),
            })?;
        }
        if interrupted_by().is_some() {
            break;
        }
    }
    Ok(())
}

fn one(o: &SysbenchOptions, seed: u64, engine: &mut Engine, step: &files::Step) -> Result<(), EngineError> {
    let workload = files::workload(o, step, seed);
    let path = o.file(step.number);
    let foreign = path.symlink_metadata().is_ok() && !engine.ledger().is_ours(&path)?;
    if foreign && !o.replace {
        return Err(EngineError::NotOurs(path));
    }
    let laid_out = engine.act(&workload, &Action::Prepare(files::set_name()));
    // What exists so far is ours and stays, as SysBench's files do after an error.
    if engine.ledger().owns(&path) {
        engine.ledger().keep(&path)?;
    }
    laid_out?;
    // With O_DIRECT none of it would be in the page cache.
    if o.flags.direct { engine.act(&workload, &Action::Evict(files::set_name())) } else { Ok(()) }
}

fn failed(error: &EngineError) -> ExitCode {
    let errno = match error {
        EngineError::NotOurs(path) => {
            console::error(&not_ours(path));
            libc::EEXIST
        }
        EngineError::File { error: cause, .. } | EngineError::Journal { error: cause, .. } => {
            console::error(&error.to_string());
            cause.raw_os_error().unwrap_or(0)
        }
        _ => {
            console::error(&error.to_string());
            0
        }
    };
    console::out_raw(&failure::cannot_create(None, errno));
    ExitCode::from(ERROR)
}

/// Why a file is left alone, and the remedy.
pub fn not_ours(path: &Path) -> String {
    format!(
        "{} was not made by fathom; it is left as it is. --file-replace=on allows to write and remove test files of any origin",
        path.display()
    )
}

/// Removes the files; skips missing ones.
pub fn cleanup(o: &SysbenchOptions, engine: &mut Engine) -> ExitCode {
    console::out_raw(&files::removing(o));
    let mut code = ExitCode::SUCCESS;
    let mut left = 0u32;
    for number in 0..u64::from(o.files) {
        let path = o.file(number);
        let Ok(found) = path.symlink_metadata() else { continue };
        let removed = if engine.ledger().owns(&path) {
            engine.ledger().remove(&path)
        } else if o.replace && !found.is_dir() {
            engine.ledger().remove_named(&path)
        } else {
            if left == 0 {
                console::error(&not_ours(&path));
            }
            left += 1;
            continue;
        };
        if let Err(error) = removed {
            let cause = match &error {
                EngineError::File { error, .. } => words(error),
                other => other.to_string(),
            };
            console::error(&format!("{} was not removed: {cause}", path.display()));
            code = ExitCode::from(ERROR);
        }
    }
    if left > 1 {
        console::error(&format!("the same holds for {} more files", left - 1));
    }
    if left > 0 { ExitCode::from(ERROR) } else { code }
}
