//! Writing and locking the kernel's files. Reading is [`KernelFiles`]; what is added here is only for knobs.

use crate::files::{KernelFiles, Live, c_string};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// The kernel as one who turns knobs sees it.
pub trait KnobFiles: KernelFiles {
    /// Writes a value with one call, as sysfs wants it.
    fn write(&self, path: &Path, value: &str) -> io::Result<()>;
    /// Whether this user could write, asked without writing.
    fn may_write(&self, path: &Path) -> io::Result<()>;
    /// Locks a directory for this process and those it starts; `None` if another holds it.
    fn lock(&self, directory: &Path) -> io::Result<Option<File>>;
}

impl KnobFiles for Live {
    fn write(&self, path: &Path, value: &str) -> io::Result<()> {
        // Neither created nor cut: a knob that has gone must not become a file.
        OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
    }

    fn may_write(&self, path: &Path) -> io::Result<()> {
        let path = c_string(path)?;
        // SAFETY: a terminated string that outlives the call.
        if unsafe { libc::access(path.as_ptr(), libc::W_OK) } == 0 {
            return Ok(());
        }
        Err(io::Error::last_os_error())
    }

    fn lock(&self, directory: &Path) -> io::Result<Option<File>> {
        lock(directory)
    }
}

/// A lock that lasts until the last copy of the descriptor is closed: it passes to the guardian with it. The kernel's directories
/// take locks as others do, so all sweeps of a machine meet there, whatever their state directories are.
pub(crate) fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = File::open(path)?;
    match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(e) => Err(e.into()),
    }
}
