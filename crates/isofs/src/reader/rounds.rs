//! Several requests of the device at once, for an image that takes them so: whoever carries out one takes more from the elevator, in its order, and
//! hands them over together. Each is completed as it comes, so that others need not wait for the round. A reader takes what comes before
//! its own page and no more: what is behind it would only keep it waiting, and a helper takes that. A page that is with the device already
//! comes no earlier for what else is taken.

use super::core::Core;
use super::device::{Job, Work};
use super::look::Standing;
use super::threads::{Inside, Shared};
use crate::source::{Read, ReadAt};
use rustix::io::Errno;
use std::sync::{Arc, MutexGuard};

impl Core {
    /// The pieces of a page that are still with the elevator while a job is carried out.
    fn left_by(&self, job: &Job, standing: &Standing) -> Vec<u32> {
        let coming = job.parts().iter().filter(|&&token| self.device.goes_into(token, standing.at));
        if coming.count() as u64 >= u64::from(self.device.cache.page(standing.at).pending) {
            return Vec::new(); // all of it comes, as for most pages
        }
        self.device.queued_for(standing.at)
    }
}

impl<S: ReadAt + 'static> Shared<S> {
    /// Carries out a job, and those that come next: for who stands on a page up to the last one that brings it, for a helper as many as
    /// the image takes and leave room for those who wait.
    pub(super) fn carry_out_round<'a>(
        self: &'a Arc<Self>,
        mut guard: MutexGuard<'a, Inside>,
        first: Job,
        standing: Option<&Standing>,
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
        let reads = jobs.iter_mut().enumerate().map(|(number, job)| Read {
            number,
            offset: job.byte(),
            parts: std::mem::take(&mut job.buffers),
        });
        let reads: Vec<Read> = reads.collect();
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
