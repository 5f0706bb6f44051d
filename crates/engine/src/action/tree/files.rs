//! One file of a tree: created, reused, truncated, or extended.

use super::super::progress::Prepared;
use super::super::writing::Writer;
use super::job::{Common, Manner, name_of};
use crate::EngineError;
use rustix::fd::BorrowedFd;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::path::PathBuf;

/// Do not follow links or wait for pipes.
const CAREFULLY: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// Prepares file `index` in the given open directory.
pub(super) fn prepare(
    common: &Common<'_, '_>,
    directory: BorrowedFd<'_>,
    index: usize,
    writer: &mut Writer,
) -> Result<Prepared, EngineError> {
    let entry = common.job.layout.files[index];
    let one = One { common, directory, index, name: name_of(entry.number), size: entry.size };
    match common.job.manner {
        Manner::Fresh { empty: true } => {
            one.create()?;
            Ok(Prepared::Created { bytes: 0 })
        }
        Manner::Fresh { empty: false } => one.make(writer),
        Manner::ReuseOurs | Manner::ReuseGiven | Manner::ReuseForeign => one.reuse(writer),
    }
}

struct One<'a, 'j, 'l> {
    common: &'a Common<'j, 'l>,
    directory: BorrowedFd<'a>,
    index: usize,
    name: String,
    size: u64,
}

impl One<'_, '_, '_> {
    fn path(&self) -> PathBuf {
        self.common.job.root.join(self.common.job.layout.file_path(self.index))
    }

    fn failed(&self, what: &'static str) -> impl Fn(Errno) -> EngineError {
        move |e| EngineError::file(what, self.path(), e)
    }

    fn open(&self, flags: OFlags) -> Result<File, Errno> {
        rustix::fs::openat(self.directory, &self.name, flags | CAREFULLY, Mode::empty()).map(File::from)
    }

    fn create(&self) -> Result<File, EngineError> {
        if self.common.job.manner == Manner::ReuseGiven {
            return self.common.create_entered(&self.path());
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(self.common.job.set.mode);
        rustix::fs::openat(self.directory, &self.name, flags, mode)
            .map(File::from)
            .map_err(self.failed("create"))
    }

    fn make(&self, writer: &mut Writer) -> Result<Prepared, EngineError> {
        let file = self.create()?;
        self.write(&file, 0, writer)?;
        Ok(Prepared::Created { bytes: self.size })
    }

    fn write(&self, file: &File, from: u64, writer: &mut Writer) -> Result<(), EngineError> {
        writer
            .write(file, self.index as u32, from..self.size, &self.common.bytes)
            .map_err(|e| EngineError::file("write", self.path(), e))
    }

    fn would_change(&self, what: String) -> EngineError {
        EngineError::WouldChange { path: self.path(), what }
    }

    fn reuse(&self, writer: &mut Writer) -> Result<Prepared, EngineError> {
        let job = self.common.job;
        // Read-only even if changes are allowed: works on read-only file systems as long as nothing must change.
        let file = match self.open(OFlags::RDONLY) {
            Ok(file) => file,
            Err(Errno::NOENT) if !job.set.trust_sizes => {
                if !job.may_change() {
                    return Err(self.would_change("does not exist".into()));
                }
                return self.make(writer);
            }
            Err(Errno::LOOP) => return Err(EngineError::NotAFile(self.path(), "a symbolic link")),
            Err(e) => return Err(self.failed("open")(e)),
        };
        if job.set.trust_sizes {
            return Ok(Prepared::Reused);
        }
        let about = rustix::fs::fstat(&file).map_err(self.failed("stat"))?;
        match FileType::from_raw_mode(about.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Err(EngineError::NotAFile(self.path(), "a directory")),
            _ => return Err(EngineError::NotAFile(self.path(), "neither a file nor a directory")),
        }
        let found = u64::try_from(about.st_size).unwrap_or(0);
        if found == self.size || (found > self.size && self.common.only_reads()) {
            return Ok(Prepared::Reused);
        }
        if !job.may_change() {
            return Err(self.would_change(format!("has {found} bytes instead of {}", self.size)));
        }
        // The other link may be anywhere, and its owner unaware of us.
        if about.st_nlink > 1 && job.manner == Manner::ReuseOurs {
            return Err(self.would_change(format!("has {} other names", about.st_nlink - 1)));
        }
        let file = self.open(OFlags::WRONLY).map_err(self.failed("open"))?;
        let again = rustix::fs::fstat(&file).map_err(self.failed("stat"))?;
        if (again.st_dev, again.st_ino) != (about.st_dev, about.st_ino) {
            return Err(self.would_change("was replaced while fathom inspected it".into()));
        }
        if found > self.size {
            rustix::fs::ftruncate(&file, self.size).map_err(self.failed("cut"))?;
            return Ok(Prepared::Cut { from: found });
        }
        self.write(&file, found, writer)?;
        Ok(Prepared::Extended { from: found, bytes: self.size - found })
    }
}
