//! Turns requests into jobs: picks the next one, leaves out cancelled pieces, and includes requests behind small gaps.

use super::super::pieces::SECTOR;
use super::Device;
use fathom_iopath::{Bio, Nanos, Next, RequestId};

/// Marks a part of a job that fills a gap between two others and is discarded.
pub(super) const HOLE: u32 = u32::MAX;

/// One read of the device for a caller to carry out: fill [`Job::buffers`] from [`Job::byte`] on, then pass it back to `Core::complete`.
#[derive(Debug)]
pub struct Job {
    pub(super) request: Option<RequestId>,
    /// Further requests, behind small gaps.
    pub(super) bridged: Vec<RequestId>,
    pub(super) byte: u64,
    pub(super) parts: Vec<u32>,
    pub(in crate::reader) buffers: Vec<Vec<u8>>,
    pub(super) issued_at: Nanos,
}

impl Job {
    /// First byte of the image to read.
    #[must_use]
    pub fn byte(&self) -> u64 {
        self.byte
    }

    /// Length in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.buffers.iter().map(|buffer| buffer.len() as u64).sum()
    }

    /// Consecutive destination buffers.
    pub fn buffers(&mut self) -> &mut [Vec<u8>] {
        &mut self.buffers
    }

    /// The numbers of the pieces.
    pub(in crate::reader) fn parts(&self) -> &[u32] {
        &self.parts
    }

    /// Frees the data buffers, for simulations of the timing only. Query position and length before.
    pub fn discard(&mut self) {
        self.buffers.iter_mut().for_each(|buffer| *buffer = Vec::new());
    }
}

/// What to do next.
#[derive(Debug)]
pub enum Work {
    /// Carry out this job.
    Job(Job),
    /// Nothing until a completion or a new request.
    Nothing,
    /// Nothing before this time, unless there is a completion or a new request.
    NotBefore(Nanos),
}

impl Device {
    /// Whether this part of a job is one of the page's own pieces, and not another page's piece that the page waits for.
    pub(in crate::reader) fn goes_into(&self, token: u32, page: usize) -> bool {
        token != HOLE && self.pieces.get(token).page == page
    }

    /// The next job.
    pub(in crate::reader) fn next(&mut self, now: Nanos) -> Work {
        if !self.has_room() {
            return Work::Nothing;
        }
        if let Some(token) = self.again.pop_front() {
            return Work::Job(self.job(now, vec![token], now));
        }
        self.refill(now);
        loop {
            match self.queue.next(now, 1) {
                Next::Request(id) => {
                    if let Some(job) = self.take(now, id) {
                        return Work::Job(job);
                    }
                }
                Next::Nothing => return Work::Nothing,
                Next::NotBefore(until) => return Work::NotBefore(until),
            }
        }
    }

    /// Moves backlogged bios into freed queue slots; returns how many were tried. Stops at the first one that does not fit: otherwise a
    /// file in a hundred thousand pieces would be scanned for each request.
    fn refill(&mut self, now: Nanos) -> usize {
        let mut tried = 0;
        while let Some(bio) = self.backlog.pop_front() {
            let left = self.backlog.len();
            self.submit(now, bio);
            tried += 1;
            if self.backlog.len() > left {
                self.backlog.rotate_right(1); // it keeps its turn
                break;
            }
        }
        tried
    }

    /// Makes a job from a request and those behind small gaps; `None` if all of it was cancelled.
    fn take(&mut self, now: Nanos, id: RequestId) -> Option<Job> {
        let queued_at = self.queue.request(id).map_or(now, |request| request.queued_at());
        let mut parts = self.parts(now, id)?;
        let mut bridged = Vec::new();
        while let Some((next, more)) = self.behind_a_hole(now, &parts) {
            parts.extend(more);
            bridged.push(next);
        }
        let mut job = self.job(now, parts, queued_at);
        (job.request, job.bridged) = (Some(id), bridged);
        Some(job)
    }

    /// The pieces of a request that are still wanted. If there are none, the request is finished.
    fn parts(&mut self, now: Nanos, id: RequestId) -> Option<Vec<u32>> {
        let mut parts: Vec<u32> = self.queue.bios(id).map(Bio::token).collect();
        self.pieces.trim(&mut parts);
        if parts.is_empty() {
            self.queue.completed(now, id, |_| ());
            return None;
        }
        Some(parts)
    }

    /// The next request with its pieces, if it starts within a small gap after the last of `parts`.
    fn behind_a_hole(&mut self, now: Nanos, parts: &[u32]) -> Option<(RequestId, Vec<u32>)> {
        if self.bridge == 0 {
            return None;
        }
        let (first, last) = (self.pieces.get(*parts.first()?), self.pieces.get(*parts.last()?));
        let end = last.first_sector() + u64::from(last.sectors());
        let room = self.longest.saturating_sub(end - first.first_sector());
        loop {
            let id = self.queue.next_within(now, end, self.bridge, room)?;
            let Some(mut more) = self.parts(now, id) else { continue };
            let hole = more.first().map_or(0, |&token| self.pieces.get(token).first_sector() - end);
            if hole > 0 {
                more.insert(0, HOLE);
                self.counters.bridged += 1;
                self.counters.bridged_bytes += hole * SECTOR;
            }
            return Some((id, more));
        }
    }

    fn job(&mut self, now: Nanos, parts: Vec<u32>, queued_at: Nanos) -> Job {
        let mut buffers = Vec::with_capacity(parts.len());
        let (mut byte, mut end, mut pieces) = (None, 0, 0);
        for (index, &token) in parts.iter().enumerate() {
            if token == HOLE {
                let next = parts.get(index + 1).map_or(0, |&next| self.pieces.get(next).first_sector());
                let bytes = (next * SECTOR).saturating_sub(end);
                buffers.push(vec![0; usize::try_from(bytes).unwrap_or(0)]);
                end += bytes;
                continue;
            }
            let wanted = self.pieces.get(token);
            self.pieces.starts(token);
            let first = wanted.first_sector() * SECTOR;
            byte.get_or_insert(first);
            end = (first + u64::from(wanted.sectors()) * SECTOR).min(self.size);
            buffers.push(vec![0; usize::try_from(end - first).unwrap_or(0)]);
            pieces += 1;
        }
        let byte = byte.unwrap_or(0);
        self.counters.issued(end - byte, pieces, (byte / SECTOR).abs_diff(self.head), now - queued_at);
        self.head = end.div_ceil(SECTOR);
        self.in_flight += 1;
        self.counters.deepest = self.counters.deepest.max(self.in_flight);
        Job { request: None, bridged: Vec::new(), byte, parts, buffers, issued_at: now }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::cache::PageKey;
    use super::super::super::policy::{Chunk, Policy};
    use super::super::Asker;
    use super::*;
    use crate::format::section::{Extents, Section};
    use fathom_iopath::Queue;
    use fathom_iopath::readahead::Kind;

    const BY: Asker = Asker { owner: 0, metadata: false };

    fn device(policy: &Policy) -> Device {
        Device::new(policy, Queue::new(policy.elevator().unwrap(), policy.rules()), 2048, 1 << 40)
    }

    #[test]
    fn who_found_no_place_tries_again_only_as_places_become_free() {
        // A piece of one byte in every other block: more pieces than queue slots.
        let section = |n: u64| Section { lbn: 2 * n, bytes: 1, unit: 0, gap: 0 };
        let extents: Extents = (0..20_480).map(section).collect();
        let (mut device, now) = (device(&Policy::modern()), Nanos::ZERO);
        for page in 0..5 {
            assert!(device.ask(now, PageKey { file: 0, page }, &extents, Kind::Async, BY));
        }
        let left = device.backlog.len();
        assert!(left > 1000 && device.refill(now) == 1 && device.backlog.len() == left);
        let first = device.backlog[0].sector();
        for done in 1..=10 {
            let Work::Job(job) = device.next(now) else { panic!("there is enough to do") };
            let bytes = job.bytes();
            device.complete(now, job, bytes, None);
            assert_eq!((device.refill(now), device.backlog.len()), (2, left - done));
        }
        assert_eq!(device.backlog[0].sector(), first + 10 * 8, "in their order");
    }

    #[test]
    fn all_of_a_page_is_hurried_at_once() {
        let section = |n: u64| Section { lbn: 2 * n, bytes: 2048, unit: 0, gap: 0 };
        let extents: Extents = [3, 1, 2, 0].map(section).into_iter().collect();
        let apart = Policy { chunk: Chunk::Block, coalesce: false, ..Policy::modern() };
        let together: Extents = [Section { lbn: 10, bytes: 8192, unit: 0, gap: 0 }].into_iter().collect();
        for (policy, extents) in [(&Policy::modern(), &extents), (&apart, &extents), (&apart, &together)] {
            let (mut device, now) = (device(policy), Nanos::ZERO);
            for page in 0..2 {
                assert!(device.ask(now, PageKey { file: 0, page }, extents, Kind::Async, BY));
            }
            let at = device.cache.find(PageKey { file: 0, page: 0 }).unwrap();
            device.promote(now, at, extents, BY);
            assert_eq!(device.counters.promoted, 2, "of each block");
        }
    }
}
