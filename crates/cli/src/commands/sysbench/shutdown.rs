//! `--forced-shutdown`: ends a run that does not end by itself. First acts like Ctrl-C, so that results are printed and
//! stored; if that has no effect within some seconds, because a device hangs, the program exits at once.

use crate::console;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// SysBench's exit code for it.
pub const CODE: u8 = 2;
/// How long workers may take to stop.
const PATIENCE: Duration = Duration::from_secs(5);

static HAPPENED: AtomicBool = AtomicBool::new(false);
static CALLED_OFF: AtomicBool = AtomicBool::new(false);

/// Ends the run after `seconds` unless called off.
pub fn after(seconds: u64) {
    let watch = move || {
        std::thread::sleep(Duration::from_secs(seconds));
        if CALLED_OFF.load(Ordering::SeqCst) {
            return;
        }
        HAPPENED.store(true, Ordering::SeqCst);
        console::out_raw("FATAL: The --time limit has expired, forcing shutdown...\n");
        // SAFETY: kill has no preconditions. Our SIGTERM handler, installed before any phase starts, is async-signal-safe.
        unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
        std::thread::sleep(PATIENCE);
        if !CALLED_OFF.load(Ordering::SeqCst) {
            std::process::exit(CODE.into());
        }
    };
    // Detached: it ends with the program.
    if let Err(e) = std::thread::Builder::new().name("forced-shutdown".into()).spawn(watch) {
        console::warning(&format!("--forced-shutdown cannot be watched: {e}"));
    }
}

/// The run has ended by itself.
pub fn call_off() {
    CALLED_OFF.store(true, Ordering::SeqCst);
}

/// Whether the end of the run was forced.
pub fn happened() -> bool {
    HAPPENED.load(Ordering::SeqCst)
}
