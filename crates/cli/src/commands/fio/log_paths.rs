//! Checks where logs go. Job files are passed around and name their log files, so a log replaces only an older log or
//! what the command line allows, follows no link, and never overwrites a job's file.

use crate::{consent, input};
use fathom_dialects::fio::plan::state;
use fathom_dialects::fio::{Plan, UsageError};
use std::fs::File;
use std::io::{Error, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// Operations that can be replayed.
    Operations,
    /// Comma-separated values over time.
    Values,
    /// The same, compressed.
    Packed,
    /// The state of a job (`verify_state`).
    State,
    /// blktrace events; an existing file is never replaced unasked.
    Trace,
}

/// First bytes of every operation log, fio's and ours.
const BEGINS: &[u8] = b"fio version ";
/// Bytes needed to recognise a log.
const HEAD: u64 = 256;

/// Checks in advance whether the operation logs may be written.
pub fn check(plan: &Plan) -> Result<(), UsageError> {
    let mut taken: Vec<PathBuf> = Vec::new();
    for job in &plan.jobs {
        let Some(name) = job.iolog() else { continue };
        let refuse = |why: &str, hint: &str| {
            Err(job.settings.wrong("write_iolog", format!("write_iolog={name}: {why}")).hint(hint))
        };
        let another = "another name";
        let path = real(Path::new(name));
        if taken.contains(&path) {
            return refuse("another job writes its log there", "a log for each job");
        }
        // Names first: resolving a million paths on disk is slow.
        let the_same = |file: &PathBuf| file.file_name() == path.file_name() && real(file) == path;
        if plan.jobs.iter().flat_map(|job| job.files.iter().flatten()).any(the_same) {
            return refuse("a job works on this file", another);
        }
        if plan.general.output.as_ref().is_some_and(the_same) {
            return refuse("the results are written there (--output)", another);
        }
        if let Ok(about) = path.symlink_metadata() {
            if !about.is_file() {
                return refuse("it is there, and no regular file", another);
            }
            let log = input::open(&path).and_then(|file| is_log(&file, LogKind::Operations));
            if !log.unwrap_or(false) && !may_replace(plan, &path) {
                let hint = if plan.general.read_only {
                    "another name: --readonly replaces logs only".to_owned()
                } else {
                    format!("another name; --allow-write={name} on the command line allows it to be replaced")
                };
                return refuse("it is there, and no log of operations", &hint);
            }
        }
        taken.push(path);
    }
    plan.jobs.iter().try_for_each(|job| merged(plan, job, &mut taken))
}

/// Checks that a job's traces may be merged into one file: not over an existing file without permission, nor where
/// anything else is read or written. A trace cannot be measured again, so even an existing trace is kept.
fn merged(plan: &Plan, job: &fathom_dialects::fio::Job, taken: &mut Vec<PathBuf>) -> Result<(), UsageError> {
    const OPTION: &str = "merge_blktrace_file";
    let Some(merged) = &job.merged else { return Ok(()) };
    let path = real(&merged.path);
    let refuse_with = |why: &str, hint: &str| {
        let message = format!("{OPTION}={}: {why}", merged.path.display());
        Err(job.settings.wrong(OPTION, message).hint(hint))
    };
    let refuse = |why: &str| refuse_with(why, "another name");
    let is_it = |file: &PathBuf| real(file) == path;
    if taken.contains(&path) || plan.general.output.as_ref().is_some_and(is_it) {
        return refuse("something else is written there");
    }
    if plan.jobs.iter().flat_map(|job| job.files.iter().flatten()).any(is_it) {
        return refuse("a job works on this file");
    }
    let id = |path: &Path| path.metadata().ok().map(|about| (about.dev(), about.ino()));
    let own = id(&path);
    let traces = plan.jobs.iter().filter_map(|job| job.settings.text("read_iolog"));
    let mut traces = traces.flat_map(|named| named.split(':').chain([named])).map(Path::new);
    if own.is_some() && traces.any(|trace| id(trace) == own) {
        return refuse("a job reads this trace");
    }
    if let Ok(about) = path.symlink_metadata() {
        let empty = about.is_file() && about.len() == 0;
        if !about.is_file() || !(empty || may_replace(plan, &path)) {
            let name = merged.path.display();
            let hint =
                format!("another name; --allow-write={name} on the command line allows it to be replaced");
            return refuse_with("it is there", &hint);
        }
    }
    taken.push(path);
    Ok(())
}

/// Writes the merged traces of each job before anything runs. Fails with what could not be written.
pub fn write_merged(plan: &Plan) -> Result<(), String> {
    for merged in plan.jobs.iter().filter_map(|job| job.merged.as_ref()) {
        create(plan, &merged.path, LogKind::Trace)
            .and_then(|mut file| file.write_all(&merged.bytes))
            .map_err(|e| format!("{} cannot be written: {e}", merged.path.display()))?;
    }
    Ok(())
}

/// A path with its directory resolved; a link in the last component is kept.
fn real(path: &Path) -> PathBuf {
    let whole = fathom_state::absolute(path);
    let (Some(above), Some(name)) = (whole.parent(), whole.file_name()) else { return whole };
    above.canonicalize().map_or_else(|_| whole.clone(), |above| above.join(name))
}

/// Whether the file may be replaced because it is named for that.
fn may_replace(plan: &Plan, path: &Path) -> bool {
    !plan.general.read_only && is_named(plan, path)
}

/// Whether the command line or the environment allows writing this file.
pub fn is_named(plan: &Plan, path: &Path) -> bool {
    let path = real(path);
    let on_the_line = || plan.general.allow_write.iter().any(|allowed| real(allowed) == path);
    on_the_line() || consent::is_in_the_environment(&path)
}

/// Whether the existing file looks like a log; an empty one may be overwritten.
fn is_log(file: &File, kind: LogKind) -> std::io::Result<bool> {
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head)?;
    let number = |byte: &u8| byte.is_ascii_hexdigit() || b"x., \n".contains(byte);
    Ok(match kind {
        _ if head.is_empty() => true,
        LogKind::Operations => head.starts_with(BEGINS),
        LogKind::Trace => false,
        LogKind::State => head.starts_with(state::BEGINS.as_bytes()),
        // The first two bytes of a zlib stream.
        LogKind::Packed => {
            matches!(head.as_slice(), [0x78, second, ..] if (0x7800 + u32::from(*second)).is_multiple_of(31))
        }
        LogKind::Values => head.first().is_some_and(u8::is_ascii_digit) && head.iter().all(number),
    })
}

/// Creates or truncates a log. Checks its path again, which may have changed since the start.
pub fn create(plan: &Plan, path: &Path, kind: LogKind) -> std::io::Result<File> {
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(Error::other("it is there, and no regular file"));
    }
    if about.nlink() > 1 && !fathom_state::trust::is_in_our_directory(path) {
        return Err(Error::other("it has a second name, and other users can change its directory"));
    }
    if !is_log(&file, kind)? && !may_replace(plan, path) {
        let what = match kind {
            LogKind::State => "state file of fathom's",
            LogKind::Trace => "empty file",
            _ => "such log",
        };
        return Err(Error::other(format!(
            "it is there, and no {what}; --allow-write allows it to be replaced"
        )));
    }
    file.set_len(0)?;
    file.rewind()?;
    Ok(file)
}

/// Removes such a file if it is a log.
pub fn remove(plan: &Plan, path: &Path, kind: LogKind) -> std::io::Result<()> {
    match input::open(path) {
        Ok(file) if !plan.general.read_only && file.metadata()?.len() > 0 && is_log(&file, kind)? => {
            std::fs::remove_file(path)
        }
        _ => Ok(()),
    }
}
