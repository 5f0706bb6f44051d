//! `ioscheduler`: sets the scheduler of the block devices below the jobs' files before anything runs, and restores it
//! at the end in any case. fio sets it at the start of each job and does not restore it.

use crate::commands::sweep::{guard, kernel};
use crate::{console, state};
use fathom_dialects::fio::{Job, Plan, UsageError};
use fathom_observe::knobs::{Knob, KnobError, Place, Setter, setter, target};
use std::path::{Path, PathBuf};

const OPTION: &str = "ioscheduler";

pub struct Turned(Option<Setter<'static>>);

impl Turned {
    /// Restores the previous schedulers, and reports it.
    pub fn put_back(self) {
        if let Some(setter) = self.0 {
            guard::tell(&setter.put_back(), "");
        }
    }
}

/// Sets the schedulers that the jobs name.
///
/// # Errors
///
/// There is no such scheduler, this user may not set it, or two jobs want different ones on one device; nothing is
/// changed then.
pub fn turn(plan: &Plan) -> Result<Turned, UsageError> {
    let mut wanted: Vec<(Place, String)> = Vec::new();
    let mut last = None;
    for job in plan.jobs.iter().filter(|job| job.stream.backend.has_files()) {
        let Some(name) = job.settings.text(OPTION) else { continue };
        for place in places(job)? {
            match wanted.iter().find(|(other, _)| other.path == place.path) {
                Some((_, other)) if other != name => {
                    let message = format!(
                        "{OPTION}={name}: another job sets {other} for {}, and it is set once for all jobs",
                        place.device
                    );
                    return Err(job.settings.wrong(OPTION, message).hint("instead: two command lines"));
                }
                Some(_) => {}
                None => {
                    setter::may_set(&kernel::LIVE, &place).map_err(|e| cannot(job, name, &e))?;
                    place.knob.check(&kernel::LIVE, &place.path, name).map_err(|e| cannot(job, name, &e))?;
                    wanted.push((place, name.to_owned()));
                }
            }
        }
        last = Some((job, name));
    }
    let Some((job, name)) = last.filter(|_| !wanted.is_empty()) else { return Ok(Turned(None)) };
    let directory = state::needed_directory()
        .map_err(|e| job.settings.wrong(OPTION, format!("{OPTION}={name}: {e:#}")))?;
    let all = |turned: Result<Setter<'static>, KnobError>| turned.map_err(|e| cannot(job, name, &e));
    let turned = all(take_over(&directory, &wanted))?;
    for (place, name) in &wanted {
        console::note(&format!("the I/O scheduler of {} is {name} until the end", place.device));
    }
    Ok(Turned(Some(turned)))
}

/// Journal, locks, guardian, old values, and only then the first change. An error drops the setter, which restores.
fn take_over(directory: &Path, wanted: &[(Place, String)]) -> Result<Setter<'static>, KnobError> {
    let places: Vec<Place> = wanted.iter().map(|(place, _)| place.clone()).collect();
    let mut setter = Setter::begin(&kernel::LIVE, directory)?;
    setter.lock(&places)?;
    setter.guard(Path::new("/proc/self/exe"))?;
    setter.save(&places)?;
    let _ = setter.apply(wanted)?;
    Ok(setter)
}

/// The devices below a job's files. Files without a device are skipped, as in fio.
fn places(job: &Job) -> Result<Vec<Place>, UsageError> {
    let knob = Knob::named("scheduler").map_err(|e| job.settings.wrong(OPTION, e))?;
    let mut found: Vec<Place> = Vec::new();
    for path in job.files.iter().flatten().map(|file| there(file)) {
        if let Ok(places) = target::places(&kernel::LIVE, &knob, &kernel::stack_of(&path)) {
            found.extend(places);
        }
    }
    found.dedup();
    if found.is_empty() {
        let message =
            format!("job {}: {OPTION}: its files are not on a block device with a scheduler", job.name);
        console::note(&message);
    }
    Ok(found)
}

/// The file, or the directory it will be created in.
fn there(file: &Path) -> PathBuf {
    let file = fathom_state::absolute(file);
    file.ancestors().find(|path| path.exists()).unwrap_or(&file).to_path_buf()
}

fn cannot(job: &Job, name: &str, why: &KnobError) -> UsageError {
    let wrong = job.settings.wrong(OPTION, format!("{OPTION}={name}: {why}"));
    match why {
        KnobError::BadValue { .. } => wrong.fio(format!("fio: unable to set io scheduler to {name}\n")),
        _ => wrong,
    }
}
