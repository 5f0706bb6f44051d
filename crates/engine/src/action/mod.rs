//! The steps between phases: laying files out, evicting ([`cache`]), warming, filling holes ([`fill`]), removing. None of them is
//! inside a clock.

mod cache;
mod fill;

use crate::check::unsupported;
use crate::{EngineError, Ledger, interrupted_by};
use fathom_workload::{Action, Bytes, Existing, FileSet, Sizing, Workload};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt as _, FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Size of the writes and reads of laying out and warming.
const CHUNK: usize = 1 << 20;

pub(crate) fn act(workload: &Workload, action: &Action, ledger: &mut Ledger) -> Result<(), EngineError> {
    match action {
        Action::Sync => {
            rustix::fs::sync();
            Ok(())
        }
        Action::Evict(set) => each(workload, set, cache::evict),
        Action::Warm(set) => each(workload, set, cache::warm),
        Action::Prepare(set) => prepare(workload, set_of(workload, set)?, ledger),
        Action::Recreate(set) => recreate(set_of(workload, set)?, ledger),
        Action::Remove(set) => remove(set_of(workload, set)?, ledger),
        Action::Remount(point) => remount(point),
        Action::Sleep(time) => {
            sleep(Duration::from_nanos(time.0));
            Ok(())
        }
        Action::Command(words) => command(words),
    }
}

fn set_of<'a>(workload: &'a Workload, name: &str) -> Result<&'a FileSet, EngineError> {
    workload.fileset(name).ok_or_else(|| unsupported("workload", &format!("no file set is named {name:?}")))
}

/// Opens a file of ours for writing data: never a link that somebody has put in its place, and not waiting for a pipe.
fn open_for_data(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
}

/// The paths of a set.
pub(crate) fn paths(set: &FileSet) -> Vec<PathBuf> {
    (0..set.files.count()).filter_map(|i| set.files.path(i)).collect()
}

/// The size its files are to have.
pub(crate) fn size(set: &FileSet) -> u64 {
    match set.size {
        Sizing::Fixed(Bytes(b)) => b,
        Sizing::Variable(_) => 0,
    }
}

fn each(
    workload: &Workload,
    set: &str,
    act: impl Fn(&Path) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    paths(set_of(workload, set)?).iter().try_for_each(|p| act(p))
}

/// Data are written to regular files only: a mistyped name must not cost a disk, nor a link the file it points to.
fn must_be_a_file(path: &Path, found: &std::fs::Metadata) -> Result<(), EngineError> {
    let kind = found.file_type();
    let other = if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_dir() {
        "a directory"
    } else if kind.is_block_device() || kind.is_char_device() {
        "a device"
    } else if !kind.is_file() {
        "a pipe or socket"
    } else {
        return Ok(());
    };
    Err(EngineError::NotAFile(path.into(), other))
}

/// Makes sure that the file at `path` is one we may write: ours, or given to us, or not there yet.
fn make_way(set: &FileSet, path: &Path, ledger: &mut Ledger) -> Result<(), EngineError> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    must_be_a_file(path, &found)?;
    if ledger.owns(path) {
        return ledger.remove(path);
    }
    match set.existing {
        Existing::Replace => ledger.remove_named(path),
        Existing::Refuse | Existing::Reuse => Err(EngineError::NotOurs(path.into())),
    }
}

fn recreate(set: &FileSet, ledger: &mut Ledger) -> Result<(), EngineError> {
    for path in paths(set) {
        make_way(set, &path, ledger)?;
        ledger.create(&path, set.mode)?;
    }
    Ok(())
}

/// For streams that write: creates the files that are missing; those that are there must be ours, or given to us.
pub(crate) fn ensure(set: &FileSet, ledger: &mut Ledger) -> Result<(), EngineError> {
    for path in paths(set) {
        let Ok(found) = path.symlink_metadata() else {
            ledger.create(&path, set.mode)?;
            continue;
        };
        must_be_a_file(&path, &found)?;
        if !ledger.owns(&path) && set.existing != Existing::Replace {
            return Err(EngineError::NotOurs(path));
        }
    }
    Ok(())
}

/// Makes sure that what is only read is a file or a block device: a pipe would be waited for, for ever.
pub(crate) fn must_be_readable(set: &FileSet) -> Result<(), EngineError> {
    for path in paths(set) {
        if let Ok(found) = path.metadata()
            && !found.file_type().is_block_device()
        {
            must_be_a_file(&path, &found)?;
        }
    }
    Ok(())
}

/// Lays files out with real writes: fallocate would leave unwritten extents, which read as nothing and write slowly.
fn prepare(workload: &Workload, set: &FileSet, ledger: &mut Ledger) -> Result<(), EngineError> {
    let size = size(set);
    for (i, path) in paths(set).into_iter().enumerate() {
        if set.existing == Existing::Reuse && path.metadata().is_ok_and(|m| m.len() >= size) {
            continue;
        }
        make_way(set, &path, ledger)?;
        let file = ledger.create(&path, set.mode)?;
        let mut contents = fill::contents_of(workload, set, set.data.clone(), i as u32)?;
        let mut at = 0;
        while at < size && interrupted_by().is_none() {
            let n = (size - at).min(CHUNK as u64) as usize;
            file.write_all_at(contents.record_to_write(at, n), at)
                .map_err(|e| EngineError::file("write", &path, e))?;
            at += n as u64;
        }
        file.sync_all().map_err(|e| EngineError::file("write back", &path, e))?;
    }
    Ok(())
}

/// Removes what is ours of the set, or notes it as kept. Files that were there before us and were reused stay.
fn remove(set: &FileSet, ledger: &mut Ledger) -> Result<(), EngineError> {
    for path in paths(set) {
        if set.keep {
            if ledger.owns(&path) {
                ledger.keep(&path)?;
            }
        } else {
            ledger.remove(&path)?;
        }
    }
    Ok(())
}

fn remount(point: &Path) -> Result<(), EngineError> {
    const TRIES: u32 = 30;
    // What mount(8) cannot mount again by its name alone must not be unmounted.
    let table = std::fs::read_to_string("/etc/fstab").unwrap_or_default();
    let listed = |line: &str| line.split_whitespace().nth(1).is_some_and(|p| Path::new(p) == point);
    if !table.lines().any(listed) {
        let message = format!("{} is no mount point of /etc/fstab, so it is not unmounted", point.display());
        return Err(unsupported("remount", &message));
    }
    let program = |name: &str| {
        let mut program = Command::new(name);
        program.arg(point).env("LC_ALL", "C");
        execute(program, &format!("{name} {}", point.display()))
    };
    let busy = |e: &EngineError| e.to_string().contains("busy");
    let mut outcome = program("umount");
    for i in 0..TRIES {
        // A file system stays busy for a moment after the last close (scanners, lazy release). Nothing else mends itself.
        if !outcome.as_ref().is_err_and(busy) || interrupted_by().is_some() {
            break;
        }
        sleep(Duration::from_millis(50 * u64::from(i + 1)));
        outcome = program("umount");
    }
    outcome?;
    program("mount")
}

fn command(words: &[String]) -> Result<(), EngineError> {
    let text = words.join(" ");
    let Some((program, arguments)) = words.split_first() else {
        return Err(EngineError::Command { command: text, outcome: "no program named".into() });
    };
    let mut command = Command::new(program);
    command.args(arguments);
    execute(command, &text)
}

/// Runs a command to its end. Its own output would fall into ours, so what it says on stderr becomes part of the error.
fn execute(mut command: Command, text: &str) -> Result<(), EngineError> {
    let outcome = match command.stdin(Stdio::null()).stdout(Stdio::null()).output() {
        Ok(done) if done.status.success() => return Ok(()),
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr);
            let said: Vec<&str> = said.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
            if said.is_empty() {
                done.status.to_string()
            } else {
                format!("{}: {}", done.status, said.join("; "))
            }
        }
        Err(e) => e.to_string(),
    };
    Err(EngineError::Command { command: text.into(), outcome })
}

/// Sleeps in slices, so that a signal ends it.
fn sleep(time: Duration) {
    let until = Instant::now() + time;
    while interrupted_by().is_none() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
}
