//! `fathom survey`: what is this storage? Plans a workload for a directory, runs it, prints a summary and writes a page.

use super::run::{Progress, code, conclude};
use super::survey_plan::{Scope, workload};
use super::write;
use crate::exit::Usage;
use crate::line::{Common, Survey};
use crate::run_loop::{self, Head};
use crate::{console, state};
use fathom_engine::Engine;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const MIB: u64 = 1 << 20;

pub fn run(options: &Survey, common: &Common) -> anyhow::Result<ExitCode> {
    let common = &common.under(&options.conditions);
    if let Some(output) = &options.output {
        write::check_before(output)?;
    }
    if !options.dir.is_dir() {
        return Err(Usage(format!(
            "{} is not a directory; name one on the storage to be measured",
            options.dir.display()
        ))
        .into());
    }
    let mut engine = Engine::new(state::ledger());
    fathom_engine::watch_signals();
    let own = own_directory(&mut engine, &options.dir)?;
    let scope = Scope {
        directory: &own,
        largest_bytes: largest_file_bytes(&options.dir, options.quick)?,
        quick: options.quick,
        direct: takes_direct(&own, engine.ledger()),
        seed: options.seed,
        cpus: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
    };
    if !scope.direct {
        console::note("this file system does not take O_DIRECT; the direct phases are left out");
    }
    let workload = workload(&scope);
    let head = Head {
        label: "survey".into(),
        dialect: "survey".into(),
        argv: console::argv(),
        directory: std::path::absolute(&options.dir).unwrap_or_else(|_| options.dir.clone()),
        started: jiff::Zoned::now(),
    };
    let phases = workload.phases.len() as u64 * u64::from(workload.repetitions);
    let mut listener = Progress(console::progress(phases));
    let finished = run_loop::execute(&mut engine, &workload, head, common, &mut listener)?;
    listener.0.finish_and_clear();
    let page =
        options.output.clone().unwrap_or_else(|| PathBuf::from(format!("fathom-{}.html", finished.run.id)));
    let written = write::runs(&[&finished.run], &page, false);
    conclude(&finished, options.json);
    match written {
        Ok(_) => console::note(&format!("page: {}", page.display())),
        // The measurement is not lost with the page: it is in the store and on the terminal.
        Err(e) => console::error(&format!("the page was not written: {e:#}")),
    }
    Ok(code(&finished))
}

/// A directory of our own, so that nothing of the user's can be touched.
fn own_directory(engine: &mut Engine, dir: &Path) -> Result<PathBuf, fathom_engine::EngineError> {
    let own = dir.join(format!(".fathom-survey-{}", std::process::id()));
    engine.ledger().create_directory(&own)?;
    Ok(own)
}

/// 256 MiB (32 MiB if quick), less where the file system or memory is small: the survey's files together stay below a fifth of
/// the free space.
fn largest_file_bytes(dir: &Path, quick: bool) -> anyhow::Result<u64> {
    let wanted = if quick { 32 * MIB } else { 256 * MIB };
    let free =
        fathom_observe::environment::capture(dir)["filesystem"]["free_bytes"].as_u64().unwrap_or(u64::MAX);
    let room = (free / 20).min(wanted) / (64 << 10) * (64 << 10);
    if room < 64 << 10 {
        return Err(Usage(format!(
            "only {} are free below {}; a survey needs 2 MiB at least",
            fathom_record::origin::bytes_words(free),
            dir.display()
        ))
        .into());
    }
    Ok(room)
}

/// Whether a file of this directory can be opened with O_DIRECT.
fn takes_direct(own: &Path, ledger: &mut fathom_engine::Ledger) -> bool {
    let path = own.join("probe");
    let Ok(_) = ledger.create(&path, 0o600) else { return false };
    let opened = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(&path).is_ok();
    // What could not be removed now is removed at the end.
    let _ = ledger.remove(&path);
    opened
}
