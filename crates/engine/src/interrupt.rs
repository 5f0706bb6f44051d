//! SIGINT, SIGTERM and SIGHUP: the first one stops everything (workers leave at their next operation, measurements are kept). A
//! second one ends the program at once, in case a device hangs. A signal right after the first is part of the same request:
//! timeout(1) signals the program and then its whole process group, which includes the program.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU32, Ordering};

/// Signals within this time are one request.
const SAME_WISH_NS: i64 = 200_000_000;

static RECEIVED: AtomicI32 = AtomicI32::new(0);
/// When the first signal came, ns of the monotonic clock; 0 if none did.
static RECEIVED_AT: AtomicI64 = AtomicI64::new(0);
/// The stop word of the running phase; null between phases.
static STOP: AtomicPtr<AtomicU32> = AtomicPtr::new(std::ptr::null_mut());

extern "C" fn on_signal(signal: libc::c_int) {
    let now = monotonic_ns();
    if RECEIVED.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
        RECEIVED_AT.store(now, Ordering::SeqCst);
    } else {
        let first = RECEIVED_AT.load(Ordering::SeqCst);
        if first != 0 && now - first > SAME_WISH_NS {
            // SAFETY: _exit is async-signal-safe.
            unsafe { libc::_exit(128 + signal) };
        }
        return;
    }
    let stop = STOP.load(Ordering::SeqCst);
    if !stop.is_null() {
        // SAFETY: the pointer is set only while the phase's shared memory is mapped, see `StopOnSignal`.
        unsafe { (*stop).store(crate::shared::STOP_INTERRUPT, Ordering::SeqCst) };
    }
}

fn monotonic_ns() -> i64 {
    // SAFETY: clock_gettime is async-signal-safe and writes to the struct only.
    unsafe {
        let mut now: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now);
        now.tv_sec * 1_000_000_000 + now.tv_nsec
    }
}

/// This process was stopped and continued.
static CONTINUED: AtomicBool = AtomicBool::new(false);

extern "C" fn on_continue(_signal: libc::c_int) {
    CONTINUED.store(true, Ordering::SeqCst);
}

/// Whether SIGCONT came since this was last called.
pub(crate) fn was_continued() -> bool {
    CONTINUED.swap(false, Ordering::SeqCst)
}

/// From now on SIGINT, SIGTERM and SIGHUP stop the workload instead of the program, and SIGCONT is noted. A signal that was
/// ignored at the start stays ignored, as intended by nohup and by shells for background jobs.
pub fn watch_signals() {
    handle(libc::SIGCONT, on_continue);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only touches atomics and _exit; the struct is filled by the kernel or zeroed. SA_RESTART is left out so that
        // sleeping calls of the parent return.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut action);
            if action.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            action = std::mem::zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Turns reaching a file size limit (`ulimit -f`) into an error of the write instead of the end of the process.
pub fn ignore_file_size_signal() {
    // SAFETY: ignoring a valid signal has no preconditions.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// A state report was requested and not yet given.
static STATE_WANTED: AtomicBool = AtomicBool::new(false);

extern "C" fn on_state_signal(_signal: libc::c_int) {
    STATE_WANTED.store(true, Ordering::SeqCst);
}

/// From now on SIGUSR1 requests a report of the work so far instead of ending the program.
pub fn watch_state_signal() {
    handle(libc::SIGUSR1, on_state_signal);
}

fn handle(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
    // SAFETY: the handlers only touch an atomic; the struct is zeroed, which is a valid one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

/// Whether a state report was requested since the last call.
#[must_use]
pub fn state_wanted() -> bool {
    STATE_WANTED.swap(false, Ordering::SeqCst)
}

/// The signal that requested the stop, if any.
#[must_use]
pub fn interrupted_by() -> Option<i32> {
    match RECEIVED.load(Ordering::SeqCst) {
        0 => None,
        signal => Some(signal),
    }
}

/// While this lives, a signal sets the given stop word.
pub(crate) struct StopOnSignal;

impl StopOnSignal {
    pub fn new(stop: &AtomicU32) -> Self {
        STOP.store(std::ptr::from_ref(stop).cast_mut(), Ordering::SeqCst);
        // Do not lose a signal that came before the pointer was set.
        if interrupted_by().is_some() {
            stop.store(crate::shared::STOP_INTERRUPT, Ordering::SeqCst);
        }
        Self
    }
}

impl Drop for StopOnSignal {
    fn drop(&mut self) {
        STOP.store(std::ptr::null_mut(), Ordering::SeqCst);
    }
}

/// In a worker: signals are handled by the parent. A process ignores them, a thread blocks them.
pub(crate) fn leave_signals_to_the_parent(own_process: bool) {
    const OURS: [libc::c_int; 5] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGCONT];
    // SAFETY: plain signal set-up of the calling process or thread, with a set initialised by sigemptyset. SIGXFSZ is
    // ignored so that a file size limit is an error of the write instead of the end of the program.
    unsafe {
        if own_process {
            for signal in OURS {
                libc::signal(signal, libc::SIG_IGN);
            }
        } else {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for signal in OURS {
                libc::sigaddset(&raw mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        }
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}
