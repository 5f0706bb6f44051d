//! State files, one per clone: how far each job got, for `verify_state_load` of a later run.

use super::log_paths::{self, LogKind};
use fathom_dialects::fio::plan::state::{self, CloneProgress};
use fathom_dialects::fio::{Job, Plan};
use fathom_record::{Ending, OpKind, Run, Worker};
use std::io::{Error, ErrorKind, Write as _};
use std::path::Path;

/// Writes them. Returns a sentence for each requested one that failed; others are written if possible.
pub fn write(plan: &Plan, run: &Run) -> Vec<String> {
    let mut failed = Vec::new();
    let mut clones = 0;
    for job in &plan.jobs {
        let asked = job.saves.is_some_and(|saves| saves.asked);
        if asked && job.name.contains('/') {
            failed.push(format!("job {}: no state is saved of a job whose name has a slash", job.name));
        }
        let came = |clone: u32| came(job, writer(job, clone, run)?);
        for (path, text) in state::files(&plan.general, job, clones, came) {
            let written = match &text {
                Some(text) => replace(plan, &path, text),
                // A file left by an earlier run would be mistaken for this run's.
                None => log_paths::remove(plan, &path, LogKind::State)
                    .and(Err(Error::other("which writes were made is not known"))),
            };
            if let (true, Err(error)) = (asked, written) {
                failed.push(format!("{} cannot be written: {error}", path.display()));
            }
        }
        clones += job.clones;
    }
    failed
}

fn replace(plan: &Plan, path: &Path, text: &str) -> std::io::Result<()> {
    if plan.jobs.iter().flat_map(|job| job.files.iter().flatten()).any(|file| file == path) {
        return Err(Error::new(ErrorKind::AlreadyExists, "a job works on this file"));
    }
    log_paths::create(plan, path, LogKind::State)?.write_all(text.as_bytes())
}

fn writer<'a>(job: &Job, clone: u32, run: &'a Run) -> Option<&'a Worker> {
    let place = job.places.first()?;
    let phase = run.phases.iter().find(|phase| phase.seq == place.phase)?;
    let workers = &phase.repetitions.first()?.workers;
    workers.iter().find(|worker| worker.index == place.worker + clone)
}

/// How far a worker got, if its writes are known to be the first ones in its order.
fn came(job: &Job, worker: &Worker) -> Option<CloneProgress> {
    let counted: u64 = worker.stats.iter().filter(|stat| stat.op == OpKind::Write).map(|stat| stat.ops).sum();
    // The kinds of the operations before counting began are unknown.
    let only_writes = !job.rw.mixed && !job.backlog && job.stream.sync_every.is_none();
    let before = if only_writes || worker.ramp_ops == 0 { worker.ramp_ops } else { return None };
    let left_out = worker.passed.as_ref().is_some_and(|passed| passed.writes > 0);
    let ended = matches!(worker.ending, Ending::Completed | Ending::Stopped);
    (!left_out).then_some(CloneProgress { writes: counted + before, ended })
}
