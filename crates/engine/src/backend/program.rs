//! A user's program that runs beside other streams. The first operation starts it, and it is terminated when the stream ends. Each
//! operation sleeps for only a tenth of a second, so that a stop is noticed. The program's exit status is ignored.

use super::{Backend, Handle};
use crate::fault::{FailedCall, Fault};
use crate::stream_plan::StreamPlan;
use fathom_workload::Beside;
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Duration of an operation.
const TURN: Duration = Duration::from_millis(100);
/// Interval between checks of a program that was asked to end.
const NAP: Duration = Duration::from_millis(5);

pub(crate) struct RunningProgram {
    program: Option<Beside>,
    child: Option<Child>,
    /// Time between SIGTERM and SIGKILL.
    grace: Duration,
}

/// Opens the file for the program's output, in append mode so that no contents are lost. In a directory that others can change,
/// the name may lead to any of our files, so there it must be a new file.
fn output(name: &Path, kind: &str) -> std::io::Result<File> {
    let mut path = name.as_os_str().to_owned();
    path.push(kind);
    let mut how = OpenOptions::new();
    how.append(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    how.create(true).create_new(!fathom_state::trust::is_in_our_directory(Path::new(&path))).open(path)
}

fn start(of: &Beside) -> std::io::Result<Child> {
    let mut command = Command::new(&of.program);
    command.args(&of.arguments).stdin(Stdio::null());
    if let Some(name) = &of.output {
        command.stdout(output(name, ".stdout")?).stderr(output(name, ".stderr")?);
    }
    command.spawn()
}

impl RunningProgram {
    fn turn(&mut self) -> Result<(), Fault> {
        if let Some(program) = self.program.take() {
            let started = start(&program);
            let child = started.map_err(|e| {
                let errno = Errno::from_raw_os_error(e.raw_os_error().unwrap_or(libc::ENOENT));
                Fault::of(FailedCall::Spawn, errno, 0)
            })?;
            self.child = Some(child);
            self.grace = Duration::from_nanos(program.grace.0);
        }
        std::thread::sleep(TURN);
        if let Some(child) = &mut self.child
            && !matches!(child.try_wait(), Ok(None))
        {
            // It has ended and was reaped.
            self.child = None;
        }
        Ok(())
    }

    /// Asks the program to end, and kills it if it does not.
    fn end(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let until = Instant::now() + self.grace;
        if !self.grace.is_zero()
            && let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw)
        {
            let _ = kill_process(pid, Signal::TERM);
            while Instant::now() < until {
                if !matches!(child.try_wait(), Ok(None)) {
                    return;
                }
                std::thread::sleep(NAP);
            }
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.end();
    }
}

impl Handle for RunningProgram {
    const ONE_FILE: bool = false;

    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        Ok(Self { program: plan.stream.beside.clone(), child: None, grace: Duration::ZERO })
    }

    fn read_now(&mut self, _: u64, _: &mut [u8]) -> Result<(), Fault> {
        Ok(())
    }

    fn sync(&mut self, _: bool) -> Result<(), Fault> {
        Ok(())
    }

    fn close(mut self) -> Result<(), Fault> {
        self.end();
        Ok(())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

impl Backend for RunningProgram {
    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), Fault> {
        self.turn()
    }

    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), Fault> {
        self.turn()
    }
}
