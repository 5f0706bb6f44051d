//! Frees memory after a time without reads. A thread waits for that once the last file is closed, or once something enters the cache
//! while none is open: directories, prefetched small files, the last reads of helpers. It ends when the memory is freed or a file is
//! opened.

use super::threads::{Inside, Shared};
use crate::source::ReadAt;
use fathom_iopath::Nanos;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

/// Idle time of the reader.
#[derive(Debug)]
pub(super) struct Idle {
    /// Time after which memory is freed; `None` for never.
    after: Option<Nanos>,
    opens: u32,
    last_use: Nanos,
    /// Whether a thread waits for it.
    watched: bool,
}

impl Idle {
    pub(super) fn new(seconds: u32) -> Self {
        let after = (seconds > 0).then(|| Nanos::from_secs(seconds.into()));
        Self { after, opens: 0, last_use: Nanos::ZERO, watched: false }
    }

    /// Remaining idle time; zero once it has been idle long enough.
    fn left(&self, now: Nanos) -> Option<Nanos> {
        Some((self.last_use + self.after?).since(now))
    }
}

impl Inside {
    /// A file is opened.
    pub(super) fn opened(&mut self) {
        self.quiet.opens += 1;
    }

    /// Called for each read.
    pub(super) fn used(&mut self, now: Nanos) {
        self.quiet.last_use = now;
    }
}

impl<S: ReadAt + 'static> Shared<S> {
    /// Closes a file; after the last one, a thread waits for the idle time.
    pub(super) fn closed(self: &Arc<Self>, mut guard: MutexGuard<'_, Inside>) {
        let quiet = &mut guard.quiet;
        quiet.opens = quiet.opens.saturating_sub(1);
        quiet.last_use = self.now();
        self.watch(guard);
    }

    /// If no file is open and there is memory to free, a thread waits for the idle time.
    pub(super) fn watch(self: &Arc<Self>, mut guard: MutexGuard<'_, Inside>) {
        let quiet = &guard.quiet;
        let never = quiet.after.is_none() || guard.closing;
        if never || quiet.opens > 0 || quiet.watched || guard.core.cached_pages() == 0 {
            return;
        }
        guard.quiet.watched = true;
        drop(guard);
        let shared = Arc::clone(self);
        let started = std::thread::Builder::new().name("idle".into()).spawn(move || shared.wait_for_quiet());
        if started.is_err() {
            self.lock().quiet.watched = false; // the next one tries again
        }
    }

    fn wait_for_quiet(self: Arc<Self>) {
        let mut guard = self.lock();
        while !guard.closing && guard.quiet.opens == 0 {
            let Some(left) = guard.quiet.left(self.now()) else { break };
            if left == Nanos::ZERO {
                // Pages in flight stay; the helper that completes them checks again.
                let _ = guard.core.give_back();
                break;
            }
            let waited = self.over.wait_timeout(guard, Duration::from_nanos(left.0));
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        guard.quiet.watched = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_is_counted_from_the_last_use() {
        let mut idle = Idle::new(2);
        idle.last_use = Nanos::from_secs(5);
        assert_eq!(idle.left(Nanos::from_secs(6)), Some(Nanos::from_secs(1)));
        assert_eq!(idle.left(Nanos::from_secs(9)), Some(Nanos::ZERO));
        assert_eq!(Idle::new(0).left(Nanos::ZERO), None, "never");
    }
}
