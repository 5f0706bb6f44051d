//! Writes and locks the kernel's files. Reading is part of [`KernelFiles`].

use crate::files::{KernelFiles, Live, c_string};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// Write access to the kernel's files, as setting knobs needs it.
pub trait KnobFiles: KernelFiles {
    /// Writes a value with one call, as sysfs requires.
    fn write(&self, path: &Path, value: &str) -> io::Result<()>;
    /// Whether this user may write, checked without writing.
    fn may_write(&self, path: &Path) -> io::Result<()>;
    /// Locks a directory for this process and its children; `None` if another process holds the lock.
    fn lock(&self, directory: &Path) -> io::Result<Option<File>>;
}

impl KnobFiles for Live {
    fn write(&self, path: &Path, value: &str) -> io::Result<()> {
        // Neither created nor truncated: a knob that has vanished must not become a file.
        OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
    }

    fn may_write(&self, path: &Path) -> io::Result<()> {
        let path = c_string(path)?;
        // SAFETY: a NUL-terminated string that outlives the call.
        if unsafe { libc::access(path.as_ptr(), libc::W_OK) } == 0 {
            return Ok(());
        }
        Err(io::Error::last_os_error())
    }

    fn lock(&self, directory: &Path) -> io::Result<Option<File>> {
        lock(directory)
    }
}

/// A lock that lasts until the last copy of the descriptor is closed, so the guardian inherits it. The kernel's directories can be locked
/// like others, so all sweeps on a machine exclude each other, whatever their state directories.
pub(crate) fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = File::open(path)?;
    match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(e) => Err(e.into()),
    }
}
