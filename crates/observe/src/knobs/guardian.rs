//! The guardian: the program once more, as `fathom __guard FD JOURNAL`, in a session of its own and deaf to the signals that end
//! programs. It holds the read end of a pipe whose write end its parent never closes; when the parent dies by any cause the kernel closes
//! it, and the guardian puts back what the journal owes. It shares the locks of the journal and of the devices, so nobody can step in
//! between.

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
/// What tells the guardian that nothing is owed.
const DISMISSED: u8 = b'd';

/// A guardian on watch.
#[derive(Debug)]
pub struct Guardian {
    child: Child,
    pipe: PipeWriter,
}

impl Guardian {
    /// Starts one for a journal. `program` is this program's own file; `shared` are the locks it is to hold too.
    ///
    /// # Errors
    /// If it could not be started.
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

    /// Its process number.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets it go: everything has been put back.
    pub fn dismiss(mut self) {
        let _ = self.pipe.write_all(&[DISMISSED]);
        drop(self.pipe);
        let _ = self.child.wait();
    }
}

/// A session of its own, and no signal that a terminal or a shutdown sends. Ignored signals stay ignored over exec.
fn deafen() -> io::Result<()> {
    // SAFETY: setsid and signal take no pointers; the child is no group leader, having just been forked.
    unsafe {
        libc::setsid();
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    Ok(())
}

fn survive_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: plain integers; the descriptor is open, the caller holds it.
    if unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// What the guardian does: waits for its parent's end, and puts back what is owed. `fd` is the number it was given.
///
/// # Errors
/// If the descriptor is no pipe of ours.
pub fn watch(
    files: &dyn KnobFiles,
    fd: RawFd,
    journal: &Path,
    first: impl FnOnce(),
) -> io::Result<Vec<Outcome>> {
    // SAFETY: fstat fills a structure of integers for which zeros are a value; a bad number gives an error.
    let is_pipe = unsafe {
        let mut about: libc::stat = std::mem::zeroed();
        libc::fstat(fd, &raw mut about) == 0 && about.st_mode & libc::S_IFMT == libc::S_IFIFO
    };
    if !is_pipe {
        return Err(io::Error::other(format!("descriptor {fd} is no pipe; fathom itself starts {COMMAND}")));
    }
    // SAFETY: the descriptor is open, was passed to this process for this, and nothing else here uses it.
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
