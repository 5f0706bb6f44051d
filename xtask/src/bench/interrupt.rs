//! Ctrl-C in a bench that has set something up: this module only notes the signal. The code that waits for the running child ends it,
//! and everything is undone on the way out.

use std::sync::atomic::{AtomicBool, Ordering};

static NOTED: AtomicBool = AtomicBool::new(false);

/// From now on a signal that would end this program is noted only.
pub fn note() {
    extern "C" fn noted(_: libc::c_int) {
        NOTED.store(true, Ordering::Relaxed);
    }
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only stores to an atomic, which is allowed at any time.
        unsafe { libc::signal(signal, noted as extern "C" fn(libc::c_int) as libc::sighandler_t) };
    }
}

/// Whether such a signal came.
pub fn came() -> bool {
    NOTED.load(Ordering::Relaxed)
}
