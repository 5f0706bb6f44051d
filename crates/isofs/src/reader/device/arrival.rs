//! Completion of jobs: bytes go into the pages that wait for them; failed parts are read again in smaller pieces or recorded as errors.

use super::super::cache::{Failure, Piece};
use super::super::pieces::{CANCELLED, SECTOR, Wanted};
use super::Device;
use super::job::{HOLE, Job};
use fathom_iopath::Nanos;
use std::sync::Arc;

/// "Input/output error".
const EIO: i32 = 5;

impl Device {
    /// Completes a job: its first `got` bytes were read, and `errno` says why not more.
    pub(in crate::reader) fn complete(&mut self, now: Nanos, job: Job, got: u64, errno: Option<i32>) {
        self.in_flight -= 1;
        self.counters.served(now - job.issued_at);
        for id in job.request.into_iter().chain(job.bridged) {
            self.queue.completed(now, id, |_| ());
        }
        let alone = job.parts.len() == 1;
        let mut start = 0u64;
        for (token, buffer) in job.parts.into_iter().zip(job.buffers) {
            let end = start + buffer.len() as u64;
            if token == HOLE {
                // No caller wants it any more.
            } else if end <= got {
                self.arrived(token, buffer, None);
            } else {
                let whole = usize::try_from(got.saturating_sub(start)).unwrap_or(0);
                self.failed(token, buffer, whole, alone, errno.unwrap_or(EIO));
            }
            start = end;
        }
    }

    /// Delivers a piece, or its readable part, to its page and to others waiting for it.
    fn arrived(&mut self, token: u32, buffer: Vec<u8>, whole: Option<(usize, i32)>) {
        let wanted = self.pieces.get(token);
        let followers = self.pieces.done(token);
        let (start, buffer) = (wanted.first_sector() * SECTOR, Arc::new(buffer));
        self.deliver(wanted, start, &buffer, whole);
        for follower in followers {
            let other = self.pieces.get(follower);
            if whole.is_some() && !self.cache.page(other.page).ahead {
                // The failed read belonged to another piece.
                self.counters.retries += 1;
                self.alone(follower);
                continue;
            }
            self.pieces.done(follower);
            self.deliver(other, start, &buffer, whole);
        }
    }

    /// Delivers bytes from `start` of the image on to a page, with the number of valid bytes and the error.
    fn deliver(&mut self, wanted: Wanted, start: u64, buffer: &Arc<Vec<u8>>, whole: Option<(usize, i32)>) {
        if wanted.page == CANCELLED {
            return;
        }
        let skip = usize::try_from(wanted.byte - start).unwrap_or(0);
        let length = whole.map_or(wanted.length, |(bytes, _)| bytes.saturating_sub(skip).min(wanted.length));
        let page = self.cache.page_mut(wanted.page);
        if length > 0 {
            page.pieces.push(Piece { at: wanted.at, skip, length, buffer: Arc::clone(buffer) });
        }
        if let Some((_, errno)) = whole.filter(|_| length < wanted.length) {
            page.failure.get_or_insert(Failure { byte: wanted.byte + length as u64, errno });
        }
        page.pending -= 1;
        if page.pending == 0 {
            page.pieces.sort_unstable_by_key(|piece| piece.at);
            self.settle(wanted.page);
        }
    }

    /// All pieces of a page are complete. An error is kept only for callers that wait for the page.
    fn settle(&mut self, at: usize) {
        let page = self.cache.page(at);
        if page.failure.is_some() {
            self.counters.pages_failed += 1;
            if page.pins == 0 {
                self.forget(at);
            }
        }
    }

    /// Removes a page.
    pub(in crate::reader) fn forget(&mut self, at: usize) {
        if let Some(page) = self.cache.remove(at) {
            self.dropped.push(page.key.file);
        }
    }

    /// A piece is incomplete. If a caller waits for it, it is retried: pieces alone, then blocks alone.
    fn failed(&mut self, token: u32, buffer: Vec<u8>, whole: usize, alone: bool, errno: i32) {
        let wanted = self.pieces.get(token);
        let block = usize::try_from(self.block).unwrap_or(2048);
        let divisible = wanted.length > block;
        let waited_for = wanted.page != CANCELLED && !self.cache.page(wanted.page).ahead;
        if !self.isolate || !waited_for || (alone && !divisible) {
            self.arrived(token, buffer, Some((whole, errno)));
            return;
        }
        self.counters.retries += 1;
        if !alone {
            self.alone(token);
            return;
        }
        let mut at = 0;
        while at < wanted.length {
            let byte = wanted.byte + at as u64;
            let rest = block - usize::try_from(byte % self.block).unwrap_or(0);
            let length = rest.min(wanted.length - at);
            let part = Wanted { at: wanted.at + at, byte, length, ..wanted };
            self.cache.page_mut(wanted.page).pending += 1;
            self.counters.retries += u64::from(at > 0);
            let token = self.pieces.put(part);
            self.alone(token);
            at += length;
        }
        self.cache.page_mut(wanted.page).pending -= 1;
        for follower in self.pieces.done(token) {
            self.counters.retries += 1;
            self.alone(follower);
        }
    }
}
