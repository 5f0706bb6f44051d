//! The guardian: a second instance of the program, run as `fathom __guard FD JOURNAL` in its own session, ignoring the usual termination
//! signals. It holds the read end of a pipe whose write end its parent never closes. When the parent dies for any reason, the kernel
//! closes the pipe, and the guardian restores the settings in the journal. It shares the locks of the journal and the devices, so no
//! other process can interfere.

use super::error::KnobError;
use super::files::KnobFiles;
use super::journal::At;
use super::undo::{Outcome, settle};
use std::fs::File;
use std::io::{self, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The hidden command.
pub const COMMAND: &str = "__guard";
/// The byte that tells the guardian that nothing is left to restore.
const DISMISSED: u8 = b'd';

/// A running guardian.
#[derive(Debug)]
pub struct Guardian {
    child: Child,
    pipe: PipeWriter,
}

impl Guardian {
    /// Starts the guardian of a journal. `program` is this program's own file; `shared` are the locks for it to hold, too.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(program: &Path, journal: &Path, shared: &[&File]) -> Result<Self, KnobError> {
        Self::spawn(program, journal, shared).map_err(KnobError::Guardian)
    }

    fn spawn(program: &Path, journal: &Path, shared: &[&File]) -> io::Result<Self> {
        let (reader, pipe) = io::pipe()?;
        let mut kept: Vec<RawFd> = shared.iter().map(|f| f.as_raw_fd()).collect();
        kept.push(reader.as_raw_fd());
        let mut command = Command::new(program);
        command.arg0("fathom").arg(COMMAND).arg(reader.as_raw_fd().to_string()).arg(journal);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        // SAFETY: between fork and exec only setsid, signal and fcntl are called, which are async-signal-safe; nothing is allocated.
        unsafe {
            command.pre_exec(move || {
                deafen()?;
                kept.iter().try_for_each(|fd| survive_exec(*fd))
            });
        }
        Ok(Self { child: command.spawn()?, pipe })
    }

    /// The guardian's PID.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Dismisses it once everything is restored.
    pub fn dismiss(mut self) {
        let _ = self.pipe.write_all(&[DISMISSED]);
        drop(self.pipe);
        let _ = self.child.wait();
    }
}

/// Starts a new session and ignores the signals that a terminal or a shutdown sends. Ignored signals stay ignored over exec.
fn deafen() -> io::Result<()> {
    // SAFETY: setsid and signal take no pointers; the child was just forked, so it is no group leader.
    unsafe {
        libc::setsid();
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    Ok(())
}

fn survive_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: plain integers; the caller keeps the descriptor open.
    if unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Main function of the guardian: waits for its parent's end, then restores what the journal lists. `fd` is the inherited descriptor.
///
/// # Errors
/// If the descriptor is not our pipe.
pub fn watch(
    files: &dyn KnobFiles,
    fd: RawFd,
    journal: &Path,
    first: impl FnOnce(),
) -> io::Result<Vec<Outcome>> {
    // SAFETY: fstat fills a structure of integers for which all zeros is valid; a bad descriptor gives an error.
    let is_pipe = unsafe {
        let mut about: libc::stat = std::mem::zeroed();
        libc::fstat(fd, &raw mut about) == 0 && about.st_mode & libc::S_IFMT == libc::S_IFIFO
    };
    if !is_pipe {
        return Err(io::Error::other(format!("descriptor {fd} is no pipe; fathom itself starts {COMMAND}")));
    }
    // SAFETY: the descriptor is open, was passed to this process for this purpose, and has no other user here.
    let mut pipe = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    let mut word = [0u8; 1];
    let dismissed = pipe.read(&mut word).is_ok_and(|n| n == 1 && word[0] == DISMISSED);
    if dismissed {
        return Ok(Vec::new());
    }
    let Some(journal) = At::of(journal) else { return Ok(Vec::new()) };
    let Ok(facts) = journal.facts() else { return Ok(Vec::new()) };
    first();
    Ok(settle(files, &journal, &facts, &[]))
}
