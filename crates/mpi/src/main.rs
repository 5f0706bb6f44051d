//! The program `fathom-mpi`: the measurements of `fathom`, made by all ranks of an MPI job together. Most of it is in `fathom`'s
//! library; this crate adds MPI ([`team`]) and a guard.
//!
//! The guard is the process that the launcher started; the rank itself is its child. When a process is killed, the launcher ends
//! the job and reports that process's exit code: the guard turns it into 3, the code of an incomplete run.

mod team;

use fathom_cli::ranks;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::atomic::{AtomicI32, Ordering};
use team::Mpi;

/// Results are kept, but the run could not be completed.
const FAILED: u8 = 3;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(code) = ranks::answer_alone(&words) {
        return ExitCode::from(code);
    }
    // SAFETY: there is one thread.
    match unsafe { libc::fork() } {
        0 => rank(&words),
        -1 => {
            eprintln!("error: cannot start a process: {}", std::io::Error::last_os_error());
            ExitCode::from(FAILED)
        }
        child => guard(child),
    }
}

/// The child process that runs the rank.
fn rank(words: &[OsString]) -> ExitCode {
    // SAFETY: plain set-up of this process; the handler makes async-signal-safe calls only, and a zeroed struct is valid. In a
    // separate process group, the launcher's signals arrive through the guard only, once; and its SIGKILL, a second later, leaves
    // this process time to save its results.
    unsafe {
        libc::setpgid(0, 0);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = guard_is_gone as *const () as usize;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGUSR2, &raw const action, std::ptr::null_mut());
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGUSR2);
    }
    let team = match Mpi::start() {
        Ok(team) => team,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(FAILED);
        }
    };
    let end = ranks::main(&team, words);
    if end.together {
        team.end();
    } else {
        if end.code == FAILED && ranks::Team::rank(&team) == 0 && ranks::Team::size(&team) > 1 {
            team.abort(end.code);
        }
        // MPI_Finalize would wait for dead ranks.
        // SAFETY: everything was written and closed.
        unsafe { libc::_exit(i32::from(end.code)) };
    }
    ExitCode::from(end.code)
}

/// Stops the rank when the guard has died, unless it is already stopping.
extern "C" fn guard_is_gone(_signal: libc::c_int) {
    if !ranks::stopped() {
        // SAFETY: raise is async-signal-safe.
        unsafe { libc::raise(libc::SIGTERM) };
    }
}

/// Process id of the rank, for the signal handler; 0 until it is known.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// A signal was passed on: launchers repeat theirs, and a second one would force an immediate end.
static PASSED: AtomicI32 = AtomicI32::new(0);

extern "C" fn pass_on(signal: libc::c_int) {
    let child = CHILD.load(Ordering::SeqCst);
    if child > 0 && PASSED.swap(1, Ordering::SeqCst) == 0 {
        // SAFETY: kill is async-signal-safe, and the child is ours until it was waited for.
        unsafe { libc::kill(child, signal) };
    }
}

/// Waits for the rank. Returns its exit code, or 3 if a signal killed it.
fn guard(child: libc::pid_t) -> ExitCode {
    CHILD.store(child, Ordering::SeqCst);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only loads an atomic and calls kill; a zeroed struct is valid.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = pass_on as *const () as usize;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
    let mut status = 0;
    // SAFETY: waits for our own child; the status lives through the call. A signal to us is passed on, and the wait repeated.
    while unsafe { libc::waitpid(child, &raw mut status, 0) } == -1 {
        if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return ExitCode::from(FAILED);
        }
    }
    if libc::WIFEXITED(status) {
        return ExitCode::from(u8::try_from(libc::WEXITSTATUS(status)).unwrap_or(FAILED));
    }
    ExitCode::from(FAILED)
}
