//! Adds threads and a clock to the core. A caller's own thread carries out the work its page waits for; other read-ahead is carried out
//! by helpers, which start on demand and end after a time without work.

use super::core::Core;
use super::device::{Job, Work};
use super::idle::Idle;
use super::look::{Look, PagePosition, View};
use super::policy::Policy;
use crate::image::Image;
use crate::source::ReadAt;
use fathom_iopath::Nanos;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a helper stays without work.
const PATIENCE: Duration = Duration::from_secs(1);

/// State protected by the lock.
#[derive(Debug)]
pub(super) struct Inside {
    pub(super) core: Core,
    helpers: u32,
    idle: u32,
    pub(super) closing: bool,
    pub(super) quiet: Idle,
}

/// State shared by all callers and helpers.
#[derive(Debug)]
pub(super) struct Shared<S> {
    pub(super) image: Arc<Image<S>>,
    inside: Mutex<Inside>,
    /// Signalled when a job completes.
    pub(super) arrived: Condvar,
    /// Signalled when there is work for a helper.
    called: Condvar,
    /// Signalled when the reader is dropped: the idle thread stops waiting.
    pub(super) over: Condvar,
    most_helpers: u32,
    started: Instant,
}

/// The users' side: when the last one is dropped, the helpers end.
#[derive(Debug)]
pub(super) struct Owner<S>(pub(super) Arc<Shared<S>>);

impl<S> Drop for Owner<S> {
    fn drop(&mut self) {
        self.0.inside.lock().unwrap_or_else(PoisonError::into_inner).closing = true;
        self.0.called.notify_all();
        self.0.over.notify_all();
    }
}

/// The pieces of a page, and its failure.
type Seen = (Vec<View>, Option<(u64, i32)>);

impl<S: ReadAt + 'static> Shared<S> {
    pub(super) fn new(image: Arc<Image<S>>, core: Core, policy: &Policy) -> Arc<Self> {
        Arc::new(Self {
            image,
            inside: Mutex::new(Inside {
                core,
                helpers: 0,
                idle: 0,
                closing: false,
                quiet: Idle::new(policy.idle_s),
            }),
            arrived: Condvar::new(),
            called: Condvar::new(),
            over: Condvar::new(),
            most_helpers: policy.workers,
            started: Instant::now(),
        })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time since the reader was created.
    pub(super) fn now(&self) -> Nanos {
        Nanos(u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Carries out any available work until the page is complete.
    pub(super) fn wait<'a>(
        self: &'a Arc<Self>,
        mut guard: MutexGuard<'a, Inside>,
        standing: &PagePosition,
    ) -> (MutexGuard<'a, Inside>, Seen) {
        loop {
            if let Look::Ready(views, failure) = guard.core.look(standing) {
                return (guard, (views, failure));
            }
            let now = self.now();
            match guard.core.work(now) {
                Work::Job(job) => guard = self.carry_out(guard, job, Some(standing)),
                Work::Nothing => {
                    guard = self.arrived.wait(guard).unwrap_or_else(PoisonError::into_inner);
                }
                Work::NotBefore(until) => {
                    let left = Duration::from_nanos(until.since(now).0);
                    let waited = self.arrived.wait_timeout(guard, left);
                    guard = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }

    /// Reads for a job without holding the lock; together with others if the image supports several reads at once.
    fn carry_out<'a>(
        self: &'a Arc<Self>,
        guard: MutexGuard<'a, Inside>,
        mut job: Job,
        standing: Option<&PagePosition>,
    ) -> MutexGuard<'a, Inside> {
        if self.image.disc.at_once() > 1 {
            return self.carry_out_round(guard, job, standing);
        }
        self.help(guard);
        let (got, error) = self.image.disc.read_parts(job.byte(), job.buffers());
        let errno = error.map(|error| error.raw_os_error().unwrap_or(rustix::io::Errno::IO.raw_os_error()));
        let mut guard = self.lock();
        guard.core.complete(self.now(), job, got, errno);
        self.arrived.notify_all();
        guard
    }

    /// Wakes or starts a helper if there is untaken work and the device has a free slot; a helper that finds more work calls the next.
    pub(super) fn help(self: &Arc<Self>, mut guard: MutexGuard<'_, Inside>) {
        let (waiting, room) = guard.core.waiting();
        if waiting == 0 || !room || self.most_helpers == 0 {
            return;
        }
        if guard.idle > 0 {
            drop(guard);
            self.called.notify_one();
            return;
        }
        if guard.helpers >= self.most_helpers || guard.closing {
            return;
        }
        guard.helpers += 1;
        drop(guard);
        let shared = Arc::clone(self);
        let started =
            std::thread::Builder::new().name("read-ahead".into()).spawn(move || shared.run_helper());
        if started.is_err() {
            self.lock().helpers -= 1; // the next caller does the work
        }
    }

    fn run_helper(self: Arc<Self>) {
        let mut guard = self.lock();
        while !guard.closing {
            let now = self.now();
            let left = match guard.core.work(now) {
                Work::Job(job) => {
                    guard = self.carry_out(guard, job, None);
                    continue;
                }
                Work::Nothing => PATIENCE,
                Work::NotBefore(until) => Duration::from_nanos(until.since(now).0).min(PATIENCE),
            };
            guard.idle += 1;
            let waited = self.called.wait_timeout(guard, left);
            let (woken, result) = waited.unwrap_or_else(PoisonError::into_inner);
            guard = woken;
            guard.idle -= 1;
            if result.timed_out() && guard.core.waiting().0 == 0 {
                break;
            }
        }
        guard.helpers -= 1;
        if guard.helpers == 0 {
            self.watch(guard);
        }
    }
}
