//! Saved progress of a writing job. Every job that writes and verifies saves its state when it ends (`verify_state_save`); a job
//! that only verifies can limit itself to it (`verify_state_load`).

use super::super::general::General;
use super::super::settings::Settings;
use super::super::{UsageError, World};
use super::{Job, Rw, read_back};
use fathom_workload::{Access, Amount, Record, Stream, Verify};
use serde_json::Value;
use std::path::{Path, PathBuf};

const SAVE: &str = "verify_state_save";
const LOAD: &str = "verify_state_load";
const POLICY: &str = "verify_policy";

/// First bytes of a state file, followed by the job, the clone (numbered over all jobs), and the number of writes to check.
pub const BEGINS: &str = r#"{"fathom":"verify state","version":1,"#;

/// How a job saves its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saves {
    /// Explicitly requested, as opposed to the default.
    pub asked: bool,
    /// Only writes that a sync made durable count.
    synced: bool,
}

/// Whether and how a job saves its state.
pub(super) fn saves(s: &Settings, rw: Rw, verifies: bool) -> Option<Saves> {
    let synced = s.word(POLICY) == Some("fsynced");
    let saves = s.on(SAVE, true) && verifies && rw.writes();
    saves.then(|| Saves { asked: s.last(SAVE).is_some(), synced })
}

/// Whether a job loads a saved state.
pub(super) fn loads(s: &Settings) -> bool {
    s.on(LOAD, false)
}

/// Path of a clone's state file, named as in fio. `None` for names with a slash.
fn file(general: &General, job: &str, clone: u32) -> Option<PathBuf> {
    let name = format!("local-{job}-{clone}-verify.state");
    let directory = general.aux_path.as_deref().unwrap_or(Path::new(""));
    (!job.contains('/')).then(|| directory.join(name))
}

/// Progress of a clone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloneProgress {
    /// Completed writes.
    pub writes: u64,
    /// Whether it ran to its end, including the final sync.
    pub ended: bool,
}

/// State files of a job's clones: path, and contents if the progress is known. Empty for a job whose name contains a slash.
pub fn files(
    general: &General,
    job: &Job,
    first_clone: u32,
    came: impl Fn(u32) -> Option<CloneProgress>,
) -> Vec<(PathBuf, Option<String>)> {
    let Some(saves) = job.saves else { return Vec::new() };
    let name = Value::from(job.name.as_str());
    let of_clone = |clone: u32| {
        let number = first_clone + clone;
        let path = file(general, &job.name, number)?;
        let text = came(clone).map(|came| {
            let writes = if saves.synced { synced(&job.stream, came) } else { came.writes };
            format!("{BEGINS}\"job\":{name},\"clone\":{number},\"writes\":{writes}}}\n")
        });
        Some((path, text))
    };
    (0..job.clones).filter_map(of_clone).collect()
}

/// Number of leading writes that a sync made durable.
fn synced(stream: &Stream, came: CloneProgress) -> u64 {
    if came.ended && (stream.sync_after || stream.timed.fsync || stream.timed.syncfs) {
        return came.writes;
    }
    // With files that take turns, only one is synced at a time; a write in flight beside a sync may or may not be covered.
    let counts = stream.turns.is_none() && !stream.sync_in_queue;
    let each = stream.sync_every.filter(|every| every.range.is_none() && counts);
    let Some(every) = each else { return 0 };
    // With `between`, no sync follows the last write.
    let followed = came.writes.saturating_sub(u64::from(every.between));
    followed - followed % every.writes.max(1)
}

/// Loads the saved states for jobs with `verify_state_load`.
pub(super) fn load(jobs: &mut [Job], general: &General, world: &World<'_>) -> Result<(), UsageError> {
    if general.is_only_read() {
        return Ok(());
    }
    let mut first_clone = 0;
    for job in jobs {
        let checks = job.only_reads_back || job.stream.verify != Verify::No && !job.rw.writes();
        if loads(&job.settings) && checks && !job.only_lays_out {
            job.up_to = (0..job.clones)
                .map(|clone| written(job, general, first_clone + clone, world))
                .collect::<Result<_, _>>()?;
            if job.reads_listed {
                let all = job.up_to.iter().fold(0, |sum: u64, writes| sum.saturating_add(*writes));
                read_back::few_enough(&job.settings, LOAD, all)?;
            }
            job.only_lays_out = job.up_to.iter().all(|writes| *writes == 0);
        }
        first_clone += job.clones;
    }
    Ok(())
}

/// The number of writes of a clone in the saved state.
fn written(job: &Job, general: &General, clone: u32, world: &World<'_>) -> Result<u64, UsageError> {
    let wrong = |why: String| job.settings.wrong(LOAD, format!("{LOAD}: {why}"));
    let Some(path) = file(general, &job.name, clone) else {
        return Err(wrong("the name of the job has a slash, and no state file is called so".into()));
    };
    let name = path.display();
    let bytes = (world.read)(&path).map_err(|why| {
        wrong(format!("{name} cannot be read: {why}"))
            .fio(format!("open state file: {why}\nfio: state file: {name} (for_write=0)\n"))
            .hint("a job of this name that writes and verifies leaves it when it ends; --aux-path says where it lies")
    })?;
    let state =
        serde_json::from_slice::<Value>(&bytes).ok().filter(|state| state["fathom"] == "verify state");
    let Some(state) = state else {
        return Err(wrong(format!("{name} is no state file of fathom's")).hint(
            "that of another fio tells places by its own random numbers: write with fathom what it is to check",
        ));
    };
    let is_its = state["job"] == job.name.as_str() && state["clone"] == clone && state["version"] == 1;
    match state["writes"].as_u64() {
        Some(writes) if is_its => Ok(writes),
        _ => Err(wrong(format!(
            "{name} is not of version 1, job {}, clone {clone}, with a number of writes",
            job.name
        ))),
    }
}

/// Limits a stream to its first `writes` operations. `blocks` is the number of smallest blocks in a pass.
pub(super) fn cut(stream: &mut Stream, blocks: u64, writes: u64) {
    if matches!(stream.access, Access::Listed(_)) {
        return;
    }
    if writes == 0 {
        // Nothing to check, but a stream must do something.
        (stream.verify, stream.amount) = (Verify::No, Amount::Operations(1));
        return;
    }
    // With varying sizes the number per pass is unknown; the writer made no more of them in a pass.
    let fixed = match stream.record {
        Record::Fixed(size) => Some(size.0.max(1)),
        _ => None,
    };
    stream.amount = match (stream.amount, fixed) {
        (Amount::Operations(n), _) => Amount::Operations(n.min(writes)),
        (Amount::Bytes(most), Some(size)) => Amount::Operations(most.0.div_ceil(size).min(writes)),
        (Amount::Pass | Amount::Endless, Some(_)) if writes >= blocks => Amount::Pass,
        _ => Amount::Operations(writes),
    };
}
