//! Calls on the names of files and directories, one per operation: create, stat or remove. No file stays open between operations.
//! Names are created and removed in directories that were opened at the start, so a link put on the path later has no effect.

use super::{Backend, Handle};
use crate::fault::{FailedCall, Fault};
use crate::files::{self, mode_of_directory};
use crate::stream_plan::StreamPlan;
use fathom_state::here;
use fathom_workload::{Backend as Kind, FileCall, StatCall};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub(crate) struct NameCalls {
    call: FileCall,
    /// The names, each with its open directory.
    names: Vec<(Option<Rc<OwnedFd>>, CString)>,
    /// Index of the file for the next operation.
    at: usize,
    /// File opened by the previous operation. Closed when the next file is selected, outside the measured time.
    made: Option<OwnedFd>,
    flags: OFlags,
    mode: Mode,
}

/// A name as a C string, so that nothing is copied inside the clock.
fn name(path: &OsStr) -> Result<CString, Fault> {
    CString::new(path.as_bytes()).map_err(|_| Fault::of(FailedCall::Open, Errno::INVAL, 0))
}

/// The directories of the names, each opened once.
#[derive(Default)]
struct Directories(HashMap<PathBuf, Rc<OwnedFd>>);

impl Directories {
    /// Splits a path into its directory and the name in it.
    fn parted(&mut self, path: &Path) -> Result<(Option<Rc<OwnedFd>>, CString), Fault> {
        let (Some(above), Some(last)) = (path.parent(), path.file_name()) else {
            return Err(Fault::of(FailedCall::Open, Errno::INVAL, 0));
        };
        let open = match self.0.get(above) {
            Some(open) => open.clone(),
            None => {
                let directory = if above.as_os_str().is_empty() { Path::new(".") } else { above };
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let open = rustix::fs::open(here(directory), flags, Mode::empty());
                let open = Rc::new(open.map_err(|e| Fault::of(FailedCall::Open, e, 0))?);
                self.0.insert(above.to_path_buf(), open.clone());
                open
            }
        };
        Ok((Some(open), name(last)?))
    }
}

impl NameCalls {
    fn call(&mut self) -> Result<(), Fault> {
        let Some((directory, name)) = self.names.get(self.at) else {
            return Err(Fault::of(FailedCall::Pick, Errno::NOENT, 0));
        };
        let (directory, name) = (directory.as_ref().map_or(CWD, |open| open.as_fd()), name.as_c_str());
        match self.call {
            FileCall::Create => {
                let made = rustix::fs::openat(directory, name, self.flags, self.mode)
                    .map_err(|e| Fault::of(FailedCall::Create, e, 0))?;
                self.made = Some(made);
                Ok(())
            }
            FileCall::Remove => rustix::fs::unlinkat(directory, name, AtFlags::empty())
                .map_err(|e| Fault::of(FailedCall::Remove, e, 0)),
            FileCall::MakeDirectory => rustix::fs::mkdirat(directory, name, self.mode)
                .map_err(|e| Fault::of(FailedCall::Create, e, 0)),
            FileCall::RemoveDirectory => rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR)
                .map_err(|e| Fault::of(FailedCall::Remove, e, 0)),
            FileCall::Stat(how) => {
                let asked = match how {
                    StatCall::Stat => rustix::fs::stat(name).map(drop_it),
                    StatCall::Lstat => rustix::fs::lstat(name).map(drop_it),
                    StatCall::Statx => {
                        rustix::fs::statx(CWD, name, AtFlags::empty(), StatxFlags::ALL).map(drop_it)
                    }
                };
                asked.map_err(|e| Fault::of(FailedCall::Stat, e, 0))
            }
            // These work on an open file and never get here.
            FileCall::Allocate | FileCall::Truncate | FileCall::MoveExtents => {
                Err(Fault::of(FailedCall::Nothing, Errno::INVAL, 0))
            }
        }
    }
}

/// Discards attributes; only the success of the call matters.
fn drop_it<T>(attributes: T) {
    std::hint::black_box(attributes);
}

impl Handle for NameCalls {
    const ONE_FILE: bool = false;

    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        let Kind::Calls(call) = plan.stream.backend else {
            return Err(Fault::of(FailedCall::Nothing, Errno::INVAL, 0));
        };
        let mut directories = Directories::default();
        let mut parted = |path: &Path| match call {
            FileCall::Stat(_) => Ok((None, name(path.as_os_str())?)),
            _ => directories.parted(path),
        };
        let names = match &plan.pool {
            Some(pool) => (0u32..)
                .zip(pool.paths)
                .map(|(file, path)| parted(path).map_err(|f| f.in_file(file)))
                .collect::<Result<Vec<_>, _>>()?,
            None => vec![parted(&plan.path)?],
        };
        let mut flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        flags.set(OFlags::DIRECT, plan.stream.open.direct);
        let mode = if call == FileCall::MakeDirectory { mode_of_directory(plan.mode) } else { plan.mode };
        Ok(Self { call, names, at: 0, made: None, flags, mode: Mode::from_raw_mode(mode) })
    }

    #[inline(always)]
    fn select(&mut self, file: u32) {
        self.at = file as usize;
        self.made = None;
    }

    fn read_now(&mut self, _: u64, _: &mut [u8]) -> Result<(), Fault> {
        Ok(())
    }

    fn sync(&mut self, _: bool) -> Result<(), Fault> {
        Ok(())
    }

    fn close(mut self) -> Result<(), Fault> {
        self.made.take().map_or(Ok(()), files::close)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

impl Backend for NameCalls {
    #[inline(always)]
    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), Fault> {
        self.call()
    }

    #[inline(always)]
    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), Fault> {
        self.call()
    }
}
