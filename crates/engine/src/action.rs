//! The steps between phases: laying files out, evicting, warming, removing. None of them is inside a clock.

use crate::check::unsupported;
use crate::contents::Contents;
use crate::worker::Fault;
use crate::{EngineError, Ledger, interrupted_by};
use fathom_workload::ops::Place;
use fathom_workload::{Action, Bytes, Direction, Existing, FileSet, Sizing, Stream, Workload};
use rustix::fs::Advice;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::{FileExt as _, FileTypeExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Size of the writes and reads of laying out and warming.
const CHUNK: usize = 1 << 20;

pub(crate) fn act(workload: &Workload, action: &Action, ledger: &mut Ledger) -> Result<(), EngineError> {
    match action {
        Action::Sync => {
            rustix::fs::sync();
            Ok(())
        }
        Action::Evict(set) => each(workload, set, evict),
        Action::Warm(set) => each(workload, set, warm),
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

/// Writes back and drops the pages: only clean pages can be dropped, so fdatasync comes first.
fn evict(path: &Path) -> Result<(), EngineError> {
    let file = File::open(path).map_err(|e| EngineError::file("open", path, e))?;
    rustix::fs::fdatasync(&file).map_err(|e| EngineError::file("write back", path, e))?;
    rustix::fs::fadvise(&file, 0, None, Advice::DontNeed).map_err(|e| EngineError::file("evict", path, e))
}

fn warm(path: &Path) -> Result<(), EngineError> {
    let mut file = File::open(path).map_err(|e| EngineError::file("open", path, e))?;
    let mut buffer = vec![0; CHUNK];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(_) if interrupted_by().is_some() => return Ok(()),
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(EngineError::file("read", path, e)),
        }
    }
}

/// Makes sure that the file at `path` is one we may write: ours, or given to us, or not there yet.
fn make_way(set: &FileSet, path: &Path, ledger: &mut Ledger) -> Result<(), EngineError> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
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
        ""
    };
    if !other.is_empty() {
        return Err(EngineError::NotAFile(path.into(), other));
    }
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

/// Creates the set's files, or those of them that are missing if it is to be reused.
pub(crate) fn ensure(set: &FileSet, ledger: &mut Ledger) -> Result<(), EngineError> {
    for path in paths(set) {
        if path.symlink_metadata().is_err() {
            ledger.create(&path, set.mode)?;
        } else if !ledger.owns(&path) && set.existing == Existing::Refuse {
            return Err(EngineError::NotOurs(path));
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
        let mut stream = Stream::new(&set.name, Direction::Write, Bytes(CHUNK as u64));
        stream.data = set.data.clone();
        let place = Place { worker: i as u32, ..Place::default() };
        let memory = |f: Fault| {
            EngineError::system("get memory for the data", std::io::Error::from_raw_os_error(f.errno))
        };
        let mut contents = Contents::new(&stream, CHUNK, workload.seed.0, place).map_err(memory)?;
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
    let program = |name: &str| vec![name.to_owned(), point.display().to_string()];
    // A file system stays busy for a moment after the last close (scanners, lazy release).
    let mut outcome = command(&program("umount"));
    for i in 0..TRIES {
        if outcome.is_ok() || interrupted_by().is_some() {
            break;
        }
        sleep(Duration::from_millis(50 * u64::from(i + 1)));
        outcome = command(&program("umount"));
    }
    outcome?;
    command(&program("mount"))
}

fn command(words: &[String]) -> Result<(), EngineError> {
    let text = words.join(" ");
    let failed = |outcome: String| Err(EngineError::Command { command: text.clone(), outcome });
    let Some((program, arguments)) = words.split_first() else { return failed("no program named".into()) };
    // The program's own output would fall into ours; its errors are the user's to see.
    match std::process::Command::new(program).args(arguments).stdout(std::process::Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => failed(status.to_string()),
        Err(e) => failed(e.to_string()),
    }
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
