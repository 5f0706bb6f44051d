//! The system calls of a command: runs it under `strace -f` and returns its calls. [`Trace::on_file`] lists the calls on one file
//! in order, each with its offset, also for `read` and `write`, which imply it.
//!
//! I/O without a call is invisible: loads and stores on a mapping, and requests in an io_uring's ring (its `io_uring_enter` is
//! visible).

mod files;
mod log;

use crate::{need_tool, skip};
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

pub use files::FileCall;
pub use log::{Syscall, parse};

/// The traced calls: those on file data and descriptors, and those that copy descriptor tables.
const TRACED: &str = "trace=openat,open,creat,close,dup,dup2,dup3,fcntl,read,write,pread64,pwrite64,readv,writev,\
                      preadv,pwritev,preadv2,pwritev2,lseek,fsync,fdatasync,syncfs,sync_file_range,ftruncate,truncate,\
                      fallocate,fadvise64,mmap,munmap,msync,madvise,unlink,unlinkat,rename,renameat2,clone,clone3,\
                      unshare,fork,vfork,execve,io_setup,io_submit,io_getevents,io_uring_setup,io_uring_enter";

/// A finished command and its calls, in the order of their start.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The calls of all its threads and processes.
    pub calls: Vec<Syscall>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it, if any.
    pub signal: Option<i32>,
}

impl Trace {
    /// The calls on the file `path` (as the kernel names it: absolute, links resolved), in order.
    #[must_use]
    pub fn on_file(&self, path: &Path) -> Vec<FileCall> {
        files::on_file(&self.calls, path)
    }

    /// (name, offset) of the transfers on a file, in order.
    #[must_use]
    pub fn transfers(&self, path: &Path) -> Vec<(String, u64)> {
        let moves = |c: &FileCall| c.name.contains("read") || c.name.contains("write");
        self.on_file(path)
            .into_iter()
            .filter(moves)
            .filter_map(|c| c.offset.map(|offset| (c.name, offset)))
            .collect()
    }
}

/// Runs a command under strace for the named test; `None`, with the skip recorded, if strace is missing or cannot trace here.
#[must_use]
pub fn strace<S: AsRef<OsStr>>(test: &str, argv: &[S]) -> Option<Trace> {
    let (program, args) = argv.split_first()?;
    let mut command = Command::new(program);
    command.args(args);
    strace_command(test, &command)
}

/// The same for a prepared command: its program, arguments, environment and directory are used.
#[must_use]
pub fn strace_command(test: &str, command: &Command) -> Option<Trace> {
    if !need_tool(test, "strace") || !may_trace(test) {
        return None;
    }
    let dir = crate::TestDir::new();
    let log = dir.path().join("strace.log");
    let mut tracer = Command::new("strace");
    tracer.args(["-f", "-q", "-y", "-s", "16", "-e", "signal=none", "-e", TRACED, "-o"]).arg(&log).arg("--");
    tracer.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => tracer.env(name, value),
            None => tracer.env_remove(name),
        };
    }
    if let Some(dir) = command.get_current_dir() {
        tracer.current_dir(dir);
    }
    let out = tracer.output().unwrap_or_else(|e| panic!("strace could not be started: {e}"));
    // Paths and buffers may contain any bytes.
    let text = std::fs::read(&log).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
    let calls = parse(&text);
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!calls.is_empty(), "strace wrote nothing: {stderr}");
    Some(Trace {
        calls,
        stdout: String::from_utf8_lossy(&out.stdout).into_owned(),
        stderr,
        code: out.status.code(),
        signal: out.status.signal(),
    })
}

/// Containers may forbid ptrace, which is a limit of the machine, not a failure of the program.
fn may_trace(test: &str) -> bool {
    let tried =
        Command::new("strace").args(["-q", "-o", "/dev/null", "--", "true"]).stdin(Stdio::null()).output();
    match tried {
        Ok(out) if out.status.success() => true,
        Ok(out) => {
            skip(
                test,
                &format!("strace may not trace here: {}", String::from_utf8_lossy(&out.stderr).trim()),
            );
            false
        }
        Err(e) => {
            skip(test, &format!("strace could not be started: {e}"));
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TestDir;

    #[test]
    fn a_real_command_shows_its_calls() {
        let dir = TestDir::new();
        let file = dir.path().join("file");
        let of = format!("of={}", file.display());
        let dd = ["dd", "if=/dev/zero", &of, "bs=4096", "count=3", "seek=2", "conv=fsync"];
        let Some(trace) = strace("a_real_command_shows_its_calls", &dd) else { return };
        assert_eq!(trace.code, Some(0), "{}", trace.stderr);
        let writes: Vec<u64> = trace.transfers(&file).into_iter().map(|(_, offset)| offset).collect();
        assert_eq!(writes, [8192, 12288, 16384]);
        assert!(trace.on_file(&file).iter().any(|c| c.name == "fsync" && c.ret == Some(0)));
    }
}
