//! Signals to a mount: terminating signals unmount, SIGUSR1 prints the counters. They are blocked in every thread and
//! awaited in one, so nothing runs inside a handler.

use anyhow::Context as _;
use std::time::Duration;

/// How long open files keep the process after it was asked to end; then it exits and the kernel returns ENOTCONN.
const PATIENCE: Duration = Duration::from_secs(1);

const ENDING: [libc::c_int; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];

/// The signals, blocked in this thread and all threads it starts.
pub struct Blocked {
    set: libc::sigset_t,
}

impl Blocked {
    pub fn new() -> Self {
        // SAFETY: sigset_t is plain data that sigemptyset fills; the signal numbers are valid; the mask of this thread alone changes.
        let set = unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for signal in ENDING.into_iter().chain([libc::SIGUSR1]) {
                libc::sigaddset(&raw mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            set
        };
        Self { set }
    }

    /// Handles them from now on: `tell` for SIGUSR1, `unmount` for terminating signals, and `end` if open files still
    /// keep the mount.
    pub fn answer(
        self,
        tell: impl Fn() + Send + 'static,
        unmount: impl Fn() + Send + 'static,
        end: impl Fn() + Send + 'static,
    ) -> anyhow::Result<()> {
        let answering = move || {
            loop {
                let mut signal = 0;
                // SAFETY: the set was made above, and the kernel writes to `signal` only.
                if unsafe { libc::sigwait(&raw const self.set, &raw mut signal) } != 0 {
                    continue;
                }
                if signal == libc::SIGUSR1 {
                    tell();
                    continue;
                }
                unmount();
                std::thread::sleep(PATIENCE);
                end();
                std::process::exit(0);
            }
        };
        std::thread::Builder::new()
            .name("signals".into())
            .spawn(answering)
            .context("no thread for signals")?;
        Ok(())
    }
}
