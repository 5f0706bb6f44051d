//! State of the page cache for files before a phase: empty or full. Both only read the file or write back its present contents,
//! so they are safe for files that are not ours. Whether it worked is measured elsewhere.

use super::bottomless::is_bottomless;
use super::owned::open_to_read;
use crate::{Engine, EngineError, interrupted_by};
use rustix::fs::Advice;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

impl Engine {
    /// Reads files once to load them into the page cache. A signal ends it early.
    ///
    /// # Errors
    /// If a file cannot be opened or read.
    pub fn warm(&self, paths: &[PathBuf]) -> Result<(), EngineError> {
        paths.iter().filter(|p| p.exists()).try_for_each(|p| warm(p))
    }
}

/// Writes back and drops the pages: only clean pages can be dropped, so fdatasync comes first. A file that does not exist yet has
/// none.
pub(super) fn evict(path: &Path) -> Result<(), EngineError> {
    let file = match open_to_read(path) {
        Err(EngineError::File { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    if holds_nothing(&file) {
        return Ok(());
    }
    rustix::fs::fdatasync(&file).map_err(|e| EngineError::file("write back", path, e))?;
    // Pages in a CPU's private batch are skipped; the attempt itself drains the batches, so a second one finds them.
    for _ in 0..2 {
        rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)
            .map_err(|e| EngineError::file("evict", path, e))?;
    }
    Ok(())
}

pub(super) fn warm(path: &Path) -> Result<(), EngineError> {
    let mut file = open_to_read(path)?;
    if holds_nothing(&file) {
        return Ok(());
    }
    let mut buffer = vec![0; super::CHUNK];
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

/// A file without cached contents and without an end.
fn holds_nothing(file: &File) -> bool {
    file.metadata().is_ok_and(|found| is_bottomless(&found))
}
