//! Submits several device requests at once, for an image that supports it: the thread that carries out one takes more from the elevator,
//! in its order, and submits them together. Each completes on its own, so that others need not wait for the round. A waiting caller takes
//! only the requests ahead of its page; helpers take those behind it, which would only delay the caller. A page already at the device
//! does not arrive earlier by taking more.

use super::core::Core;
use super::device::{Job, Work};
use super::look::PagePosition;
use super::threads::{Inside, Shared};
use crate::source::{ReadAt, SourceRead};
use rustix::io::Errno;
use std::sync::{Arc, MutexGuard};

impl Core {
    /// The pieces of a page still in the elevator while a job is carried out.
    fn left_by(&self, job: &Job, standing: &PagePosition) -> Vec<u32> {
        let coming = job.parts().iter().filter(|&&token| self.device.goes_into(token, standing.at));
        if coming.count() as u64 >= u64::from(self.device.cache.page(standing.at).pending) {
            return Vec::new(); // all of it comes, as for most pages
        }
        self.device.queued_for(standing.at)
    }
}

impl<S: ReadAt + 'static> Shared<S> {
    /// Carries out a job and the next ones: for a waiting caller up to the last one that its page needs; for a helper as many as the
    /// image accepts, leaving slots for waiting callers.
    pub(super) fn carry_out_round<'a>(
        self: &'a Arc<Self>,
        mut guard: MutexGuard<'a, Inside>,
        first: Job,
        standing: Option<&PagePosition>,
    ) -> MutexGuard<'a, Inside> {
        let (now, most) = (self.now(), self.image.disc.at_once());
        let mut waited_for = standing.map(|page| guard.core.left_by(&first, page));
        let mut jobs = vec![first];
        while jobs.len() < most {
            let goes_on = match &mut waited_for {
                Some(pieces) => guard.core.device.any_queued(pieces),
                None => guard.core.device.has_room_for_helpers(),
            };
            if !goes_on {
                break;
            }
            let Work::Job(job) = guard.core.work(now) else { break };
            jobs.push(job);
        }
        self.help(guard);
        let reads = jobs.iter_mut().enumerate().map(|(number, job)| SourceRead {
            number,
            offset: job.byte(),
            parts: std::mem::take(&mut job.buffers),
        });
        let reads: Vec<SourceRead> = reads.collect();
        let mut jobs: Vec<Option<Job>> = jobs.into_iter().map(Some).collect();
        self.image.disc.read_round(reads, &mut |read, got, error| {
            let Some(mut job) = jobs.get_mut(read.number).and_then(Option::take) else { return };
            job.buffers = read.parts;
            let errno = error.map(|error| error.raw_os_error().unwrap_or(Errno::IO.raw_os_error()));
            self.lock().core.complete(self.now(), job, got, errno);
            self.arrived.notify_all();
        });
        debug_assert!(jobs.iter().all(Option::is_none), "the image handed back every read");
        self.lock()
    }
}
