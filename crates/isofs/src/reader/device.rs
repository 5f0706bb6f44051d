//! The device's side of the core: pages become pieces on the disc, pieces become bios of the queue, and requests come back out as jobs that
//! somebody has to carry out. What came of a job goes into the pages; what failed is read again in smaller parts or noted.

use super::cache::{Cache, Failure, Key, Piece};
use super::counters::Counters;
use super::policy::{Chunk, Policy};
use crate::format::section::Extents;
use fathom_iopath::readahead::{Kind, PAGE_BYTES};
use fathom_iopath::{Bio, Nanos, Next, Op, Queue, RequestId, Submitted};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of a sector as the queue counts.
const SECTOR: u64 = 512;

/// A part of a page on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Place of the page in the cache.
    pub(super) page: usize,
    /// Where in the page.
    at: usize,
    /// First byte in the image.
    byte: u64,
    length: usize,
}

impl Wanted {
    fn first_sector(&self) -> u64 {
        self.byte / SECTOR
    }

    fn sectors(&self) -> u32 {
        let end = (self.byte + self.length as u64).div_ceil(SECTOR);
        u32::try_from(end - self.first_sector()).unwrap_or(u32::MAX)
    }
}

/// One read of the device, to be carried out by whoever was given it: fill [`Job::buffers`] from [`Job::byte`] on, then hand it back to
/// `Core::complete`.
#[derive(Debug)]
pub struct Job {
    request: Option<RequestId>,
    byte: u64,
    pub(super) parts: Vec<u32>,
    pub(super) buffers: Vec<Vec<u8>>,
    issued_at: Nanos,
}

impl Job {
    /// First byte of the image to be read.
    #[must_use]
    pub fn byte(&self) -> u64 {
        self.byte
    }

    /// How many bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.buffers.iter().map(|buffer| buffer.len() as u64).sum()
    }

    /// Where they go, one after the other.
    pub fn buffers(&mut self) -> &mut [Vec<u8>] {
        &mut self.buffers
    }

    /// Gives up the room for the data, for those who only play through when it comes. Place and length are to be asked for before.
    pub fn discard(&mut self) {
        self.buffers.iter_mut().for_each(|buffer| *buffer = Vec::new());
    }
}

/// What to do next.
#[derive(Debug)]
pub enum Work {
    /// Carry this out.
    Job(Job),
    /// Nothing before something completes or is asked for.
    Nothing,
    /// Nothing before this moment, unless something completes or is asked for.
    NotBefore(Nanos),
}

/// Queue, cache and what is under way between them.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) cache: Cache,
    pub(super) counters: Counters,
    queue: Queue,
    pub(super) wanted: Vec<Wanted>,
    free: Vec<u32>,
    /// Bios that the queue had no place for.
    backlog: VecDeque<Bio>,
    /// Pieces to be read once more, alone.
    again: VecDeque<u32>,
    in_flight: u32,
    /// End of the last request, in sectors.
    head: u64,
    depth: u32,
    chunk: Chunk,
    isolate: bool,
    block: u64,
    size: u64,
    /// Files whose pages were dropped, for the core to forget.
    pub(super) dropped: Vec<u32>,
}

impl Device {
    pub(super) fn new(policy: &Policy, queue: Queue, block: u32, size: u64) -> Self {
        let pages = policy.cache_bytes / PAGE_BYTES;
        Self {
            cache: Cache::new(usize::try_from(pages).unwrap_or(usize::MAX)),
            counters: Counters::default(),
            queue,
            wanted: Vec::new(),
            free: Vec::new(),
            backlog: VecDeque::new(),
            again: VecDeque::new(),
            in_flight: 0,
            head: 0,
            depth: policy.depth.max(1),
            chunk: policy.chunk,
            isolate: policy.isolate,
            block: block.into(),
            size,
            dropped: Vec::new(),
        }
    }

    pub(super) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Requests that nobody has taken yet.
    pub(super) fn waiting(&self) -> usize {
        self.queue.waiting() + self.backlog.len() + self.again.len()
    }

    /// Whether one more may go to the device.
    pub(super) fn has_room(&self) -> bool {
        self.in_flight < self.depth
    }

    /// Enters a page and asks for its pieces. False if there is no room and nobody waits for it.
    pub(super) fn ask(&mut self, now: Nanos, key: Key, extents: &Extents, kind: Kind) -> bool {
        let (room, gone) = self.cache.make_room();
        if let Some(gone) = gone {
            self.counters.pages_unused += u64::from(gone.ahead);
            self.dropped.push(gone.key.file);
        }
        let ahead = kind == Kind::Async;
        if !room && ahead {
            self.counters.pages_no_room += 1;
            return false;
        }
        let page = self.cache.insert(key, ahead);
        let counter = if ahead { &mut self.counters.pages_ahead } else { &mut self.counters.pages_read };
        *counter += 1;
        let start = key.page.saturating_mul(PAGE_BYTES);
        let end = start.saturating_add(PAGE_BYTES).min(extents.bytes());
        let mut at = start;
        while at < end {
            let Some(run) = extents.run(at, u32::try_from(self.block).unwrap_or(2048)) else { break };
            let mut length = run.length.min(end - at);
            if self.chunk == Chunk::Block {
                length = length.min(self.block - run.byte % self.block);
            }
            let there = self.size.saturating_sub(run.byte).min(length);
            if there > 0 {
                let within = usize::try_from(at - start).unwrap_or(0);
                let length = usize::try_from(there).unwrap_or(0);
                self.want(now, Wanted { page, at: within, byte: run.byte, length });
            }
            at += length;
        }
        true
    }

    fn want(&mut self, now: Nanos, wanted: Wanted) {
        self.cache.page_mut(wanted.page).pending += 1;
        let token = self.token(wanted);
        let bio = Bio::new(Op::Read, wanted.first_sector(), wanted.sectors()).token(token);
        self.submit(now, bio);
    }

    fn token(&mut self, wanted: Wanted) -> u32 {
        if let Some(token) = self.free.pop() {
            self.wanted[token as usize] = wanted;
            return token;
        }
        self.wanted.push(wanted);
        u32::try_from(self.wanted.len() - 1).unwrap_or(u32::MAX)
    }

    fn submit(&mut self, now: Nanos, bio: Bio) {
        match self.queue.submit(now, bio) {
            Submitted::Merged { .. } | Submitted::Queued(_) => {}
            Submitted::Full => self.backlog.push_back(bio),
            // Longer than the longest request, which no page is but by its cut sectors: alone, then.
            Submitted::TooLarge => self.again.push_back(bio.tag()),
        }
    }

    /// The strategy: the next job, for whoever asks.
    pub(super) fn next(&mut self, now: Nanos) -> Work {
        if !self.has_room() {
            return Work::Nothing;
        }
        if let Some(token) = self.again.pop_front() {
            return Work::Job(self.job(now, None, vec![token], now));
        }
        let before = self.backlog.len();
        for _ in 0..before {
            let Some(bio) = self.backlog.pop_front() else { break };
            self.submit(now, bio);
            if self.backlog.len() == before {
                self.backlog.rotate_right(1); // still full: it keeps its turn
                break;
            }
        }
        match self.queue.next(now, 1) {
            Next::Request(id) => {
                let parts = self.queue.bios(id).map(Bio::tag).collect();
                let queued_at = self.queue.request(id).map_or(now, |request| request.queued_at());
                Work::Job(self.job(now, Some(id), parts, queued_at))
            }
            Next::Nothing => Work::Nothing,
            Next::NotBefore(until) => Work::NotBefore(until),
        }
    }

    fn job(&mut self, now: Nanos, request: Option<RequestId>, parts: Vec<u32>, queued_at: Nanos) -> Job {
        let mut job =
            Job { request, byte: 0, buffers: Vec::with_capacity(parts.len()), parts, issued_at: now };
        let mut end = 0;
        for (index, &token) in job.parts.iter().enumerate() {
            let wanted = &self.wanted[token as usize];
            let first = wanted.first_sector() * SECTOR;
            if index == 0 {
                job.byte = first;
            }
            end = (first + u64::from(wanted.sectors()) * SECTOR).min(self.size);
            job.buffers.push(vec![0; usize::try_from(end - first).unwrap_or(0)]);
        }
        let sector = job.byte / SECTOR;
        self.counters.issued(end - job.byte, job.parts.len(), sector.abs_diff(self.head), now - queued_at);
        self.head = end.div_ceil(SECTOR);
        self.in_flight += 1;
        self.counters.deepest = self.counters.deepest.max(self.in_flight);
        job
    }

    /// A job has been carried out: its first `got` bytes are there, and `errno` says why not more.
    pub(super) fn complete(&mut self, now: Nanos, job: Job, got: u64, errno: Option<i32>) {
        self.in_flight -= 1;
        self.counters.served(now - job.issued_at);
        if let Some(id) = job.request {
            self.queue.completed(now, id, |_| ());
        }
        let alone = job.parts.len() == 1;
        let mut start = 0u64;
        for (token, buffer) in job.parts.into_iter().zip(job.buffers) {
            let end = start + buffer.len() as u64;
            if end <= got {
                self.arrived(token, buffer, None);
            } else {
                let whole = usize::try_from(got.saturating_sub(start)).unwrap_or(0);
                self.failed(token, buffer, whole, alone, errno.unwrap_or(EIO));
            }
            start = end;
        }
    }

    /// A piece came, or as much of it as there is.
    fn arrived(&mut self, token: u32, buffer: Vec<u8>, whole: Option<(usize, i32)>) {
        let wanted = self.wanted[token as usize];
        self.free.push(token);
        let skip = usize::try_from(wanted.byte % SECTOR).unwrap_or(0);
        let length = whole.map_or(wanted.length, |(bytes, _)| bytes.saturating_sub(skip).min(wanted.length));
        let page = self.cache.page_mut(wanted.page);
        if length > 0 {
            page.pieces.push(Piece { at: wanted.at, skip, length, buffer: Arc::new(buffer) });
        }
        if let Some((_, errno)) = whole {
            page.failure.get_or_insert(Failure { byte: wanted.byte + length as u64, errno });
        }
        page.pending -= 1;
        if page.pending == 0 {
            page.pieces.sort_unstable_by_key(|piece| piece.at);
            self.settle(wanted.page);
        }
    }

    /// Everything that was to come for a page has come. What failed is kept for those who wait for it, and for nobody else.
    fn settle(&mut self, at: usize) {
        let page = self.cache.page(at);
        if page.failure.is_some() {
            self.counters.pages_failed += 1;
            if page.pins == 0 {
                self.forget(at);
            }
        }
    }

    /// Drops a page.
    pub(super) fn forget(&mut self, at: usize) {
        if let Some(page) = self.cache.remove(at) {
            self.dropped.push(page.key.file);
        }
    }

    /// A piece did not come whole. Somebody who waits gets a second try: pieces alone, then blocks alone.
    fn failed(&mut self, token: u32, buffer: Vec<u8>, whole: usize, alone: bool, errno: i32) {
        let wanted = self.wanted[token as usize];
        let block = usize::try_from(self.block).unwrap_or(2048);
        let divisible = wanted.length > block;
        if !self.isolate || self.cache.page(wanted.page).ahead || (alone && !divisible) {
            self.arrived(token, buffer, Some((whole, errno)));
            return;
        }
        if !alone {
            self.counters.retries += 1;
            self.again.push_back(token);
            return;
        }
        let mut at = 0;
        while at < wanted.length {
            let byte = wanted.byte + at as u64;
            let rest = block - usize::try_from(byte % self.block).unwrap_or(0);
            let length = rest.min(wanted.length - at);
            let part = Wanted { at: wanted.at + at, byte, length, ..wanted };
            self.cache.page_mut(wanted.page).pending += 1;
            self.counters.retries += 1;
            let token = self.token(part);
            self.again.push_back(token);
            at += length;
        }
        self.cache.page_mut(wanted.page).pending -= 1;
        self.free.push(token);
    }
}

/// "Input/output error".
const EIO: i32 = 5;
