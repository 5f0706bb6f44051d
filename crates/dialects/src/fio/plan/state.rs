//! How far the writing of a job came, kept in a file for later runs: every job that writes and verifies leaves one when it ends
//! (`verify_state_save`), and a job that only checks may be told to check no more than that (`verify_state_load`).

use super::super::general::General;
use super::super::settings::Settings;
use super::super::{World, Wrong};
use super::{Job, Rw, backlog};
use fathom_workload::{Access, Amount, Record, Stream, Verify};
use serde_json::Value;
use std::path::{Path, PathBuf};

const SAVE: &str = "verify_state_save";
const LOAD: &str = "verify_state_load";
const POLICY: &str = "verify_policy";

/// How such a file begins; the clone is counted over all jobs of a run, and the first so many of its writes are to be checked.
pub const BEGINS: &str = r#"{"fathom":"verify state","version":1,"#;

/// What a job leaves of how far it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saves {
    /// It was asked for; else it is the default.
    pub asked: bool,
    /// Of what was written, that which a sync had made safe.
    synced: bool,
}

/// What a job leaves, if it does.
pub(super) fn saves(s: &Settings, rw: Rw, verifies: bool) -> Option<Saves> {
    let synced = s.word(POLICY) == Some("fsynced");
    let saves = s.on(SAVE, true) && verifies && rw.writes();
    saves.then(|| Saves { asked: s.last(SAVE).is_some(), synced })
}

/// Whether a job is to check as much as an earlier one wrote.
pub(super) fn loads(s: &Settings) -> bool {
    s.on(LOAD, false)
}

/// The file of a clone, as fio calls it. A name with a slash has none.
fn file(general: &General, job: &str, clone: u32) -> Option<PathBuf> {
    let name = format!("local-{job}-{clone}-verify.state");
    let directory = general.aux_path.as_deref().unwrap_or(Path::new(""));
    (!job.contains('/')).then(|| directory.join(name))
}

/// How far a clone came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Came {
    /// Its writes.
    pub writes: u64,
    /// It came to its end, with the sync there.
    pub ended: bool,
}

/// The files that a job leaves: path and text of each of its clones of which it is known how far it came.
pub fn files(
    general: &General,
    job: &Job,
    first_clone: u32,
    came: impl Fn(u32) -> Option<Came>,
) -> Vec<(PathBuf, String)> {
    let Some(saves) = job.saves else { return Vec::new() };
    let name = Value::from(job.name.as_str());
    let of_clone = |clone: u32| {
        let number = first_clone + clone;
        let path = file(general, &job.name, number)?;
        let came = came(clone)?;
        let writes = if saves.synced { synced(&job.stream, came) } else { came.writes };
        Some((path, format!("{BEGINS}\"job\":{name},\"clone\":{number},\"writes\":{writes}}}\n")))
    };
    (0..job.clones).filter_map(of_clone).collect()
}

/// How many of its first writes a sync has made safe.
fn synced(stream: &Stream, came: Came) -> u64 {
    if came.ended && (stream.sync_after || stream.timed.fsync || stream.timed.syncfs) {
        return came.writes;
    }
    let Some(every) = stream.sync_every.filter(|every| every.range.is_none()) else { return 0 };
    // None comes behind the last write, if that is left out.
    let followed = came.writes.saturating_sub(u64::from(every.between));
    followed - followed % every.writes.max(1)
}

/// Has every job that is told to check as much as was written do so.
pub(super) fn load(jobs: &mut [Job], general: &General, world: &World<'_>) -> Result<(), Wrong> {
    if general.is_only_read() {
        return Ok(());
    }
    let mut first_clone = 0;
    for job in jobs {
        let checks = job.only_reads_back || job.stream.verify != Verify::No && !job.rw.writes();
        if loads(&job.settings) && checks {
            job.up_to = (0..job.clones)
                .map(|clone| written(job, general, first_clone + clone, world))
                .collect::<Result<_, _>>()?;
            if job.reads_listed {
                backlog::few_enough(&job.settings, LOAD, job.up_to.iter().sum())?;
            }
            job.only_lays_out = job.up_to.iter().all(|writes| *writes == 0);
        }
        first_clone += job.clones;
    }
    Ok(())
}

/// How many writes an earlier run says that a clone made.
fn written(job: &Job, general: &General, clone: u32, world: &World<'_>) -> Result<u64, Wrong> {
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

/// Has a stream that goes over `bytes` in order do no more than the first so many operations.
pub(super) fn cut(stream: &mut Stream, bytes: u64, writes: u64) {
    if matches!(stream.access, Access::Listed(_)) {
        return;
    }
    if writes == 0 {
        // Nothing is to be checked, and a stream does something.
        (stream.verify, stream.amount) = (Verify::No, Amount::Operations(1));
        return;
    }
    let pass = match stream.record {
        Record::Fixed(size) => (bytes / size.0.max(1)).max(1),
        // How many there are is not known before; the writer made no more of them in a pass.
        _ => u64::MAX,
    };
    stream.amount = match stream.amount {
        Amount::Operations(n) => Amount::Operations(n.min(writes)),
        Amount::Bytes(most) if pass < u64::MAX => {
            Amount::Bytes(fathom_workload::Bytes(most.0.min(writes.saturating_mul(bytes / pass))))
        }
        Amount::Pass | Amount::Endless if writes >= pass => Amount::Pass,
        _ => Amount::Operations(writes),
    };
}
