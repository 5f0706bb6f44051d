//! The device's side of the core: pages are split into pieces on the disc, and pieces become bios of the queue. Requests leave as jobs
//! for callers to carry out ([`job`]); their results go into the pages ([`arrival`]).

mod arrival;
mod job;

pub use job::{Job, Work};

use super::cache::{PageCache, PageKey};
use super::counters::Counters;
use super::pieces::{Pieces, SECTOR, Stage, Wanted};
use super::policy::{Chunk, Policy, knows_classes};
use crate::format::section::Extents;
use fathom_iopath::readahead::{Kind, PAGE_BYTES};
use fathom_iopath::{Bio, IoClass, Nanos, Op, Queue, Submitted, TaskId, TaskInfo};
use std::collections::VecDeque;
use std::ops::Range;

/// The requester of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asker {
    /// The opening.
    pub(super) owner: u32,
    /// Whether it reads directories.
    pub(super) metadata: bool,
}

/// Task ids that represent the classes, if the elevator has classes; otherwise all bios belong to one task.
const SYNC: TaskId = TaskId(0);
const METADATA: TaskId = TaskId(1);
const AHEAD: TaskId = TaskId(2);

fn class_of(task: TaskId) -> IoClass {
    match task {
        METADATA => IoClass::RealTime,
        AHEAD => IoClass::Idle,
        _ => IoClass::BestEffort,
    }
}

/// Queue, cache and the pieces in between.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) cache: PageCache,
    pub(super) counters: Counters,
    queue: Queue,
    pieces: Pieces,
    /// Bios that did not fit into the queue.
    backlog: VecDeque<Bio>,
    /// Pieces to read again, alone.
    again: VecDeque<u32>,
    in_flight: u32,
    /// End of the last request, in sectors.
    head: u64,
    depth: u32,
    chunk: Chunk,
    isolate: bool,
    /// Whether the elevator has classes.
    classes: bool,
    promotes: bool,
    /// Largest gap to read through, and longest request, in sectors.
    bridge: u64,
    longest: u64,
    block: u64,
    size: u64,
    /// Files with evicted pages, for the core to forget.
    pub(super) dropped: Vec<u32>,
}

impl Device {
    pub(super) fn new(policy: &Policy, mut queue: Queue, block: u32, size: u64) -> Self {
        let pages = policy.cache_bytes / PAGE_BYTES;
        let classes = knows_classes(queue.elevator());
        if classes {
            for task in [METADATA, AHEAD] {
                queue.describe(task, TaskInfo { class: class_of(task), ..TaskInfo::alone(task) });
            }
        }
        Self {
            cache: PageCache::new(usize::try_from(pages).unwrap_or(usize::MAX)),
            counters: Counters::default(),
            queue,
            pieces: Pieces::new(policy.attach),
            backlog: VecDeque::new(),
            again: VecDeque::new(),
            in_flight: 0,
            head: 0,
            depth: policy.depth.max(1),
            chunk: policy.chunk,
            isolate: policy.isolate,
            classes,
            promotes: policy.promote && classes,
            bridge: if policy.coalesce { u64::from(policy.bridge) / SECTOR } else { 0 },
            longest: u64::from(policy.max_transfer) / SECTOR,
            block: block.into(),
            size,
            dropped: Vec::new(),
        }
    }

    pub(super) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Requests not taken yet.
    pub(super) fn waiting(&self) -> usize {
        self.queue.waiting() + self.backlog.len() + self.again.len()
    }

    /// Whether one more request may go to the device.
    pub(super) fn has_room(&self) -> bool {
        self.in_flight < self.depth
    }

    /// Whether a helper may take one more request: a quarter of the slots is reserved for callers that wait for a page.
    pub(super) fn has_room_for_helpers(&self) -> bool {
        self.in_flight < self.depth - self.depth / 4
    }

    /// The pieces of a page that are still queued.
    pub(super) fn queued_for(&self, page: usize) -> Vec<u32> {
        self.pieces.queued_for(page)
    }

    /// Whether any of these is still queued.
    pub(super) fn any_queued(&self, tokens: &mut Vec<u32>) -> bool {
        self.pieces.any_queued(tokens)
    }

    /// Makes space for one more page; false if everything is in use.
    fn make_room(&mut self) -> bool {
        while !self.cache.has_room() {
            let Some(gone) = self.cache.evict() else { return false };
            self.counters.pages_unused += u64::from(gone.ahead);
            self.dropped.push(gone.key.file);
        }
        true
    }

    /// Evicts pages beyond the budget once they are no longer in use.
    pub(super) fn keep_to_budget(&mut self) {
        while self.cache.is_over() {
            let Some(gone) = self.cache.evict() else { return };
            self.counters.pages_unused += u64::from(gone.ahead);
            self.dropped.push(gone.key.file);
        }
    }

    /// Evicts every page not in use; returns their number.
    pub(super) fn give_back(&mut self) -> u64 {
        let mut given = 0;
        while let Some(gone) = self.cache.evict() {
            self.counters.pages_unused += u64::from(gone.ahead);
            self.dropped.push(gone.key.file);
            given += 1;
        }
        self.cache.release();
        self.counters.pages_given_back += given;
        given
    }

    /// Inserts a page and requests its pieces; false if there is no space and no caller waits for it.
    pub(super) fn ask(&mut self, now: Nanos, key: PageKey, extents: &Extents, kind: Kind, by: Asker) -> bool {
        let ahead = kind == Kind::Async;
        if !self.make_room() && ahead {
            self.counters.pages_no_room += 1;
            return false;
        }
        let page = self.cache.insert(key, ahead);
        let counter = if ahead { &mut self.counters.pages_ahead } else { &mut self.counters.pages_read };
        *counter += 1;
        let task = match (self.classes, ahead, by.metadata) {
            (true, true, _) => AHEAD,
            (true, false, true) => METADATA,
            _ => SYNC,
        };
        let start = key.page.saturating_mul(PAGE_BYTES);
        let end = start.saturating_add(PAGE_BYTES).min(extents.bytes());
        let mut attached = Vec::new();
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
                let (byte, owner) = (run.byte, by.owner);
                let wanted = Wanted { page, at: within, byte, length, owner, stage: Stage::Queued };
                if !self.want(now, wanted, task) {
                    attached.push(wanted.first_sector()..wanted.first_sector() + u64::from(wanted.sectors()));
                }
            }
            at += length;
        }
        if self.promotes && task != AHEAD {
            self.promote_runs(now, attached, class_of(task));
        }
        true
    }

    /// Requests a piece; false if it is already on its way.
    fn want(&mut self, now: Nanos, wanted: Wanted, task: TaskId) -> bool {
        self.cache.page_mut(wanted.page).pending += 1;
        if let Some(other) = self.pieces.bringing(wanted.byte, wanted.length) {
            self.pieces.attach(other, wanted);
            self.counters.attached += 1;
            return false;
        }
        let token = self.pieces.put(wanted);
        self.pieces.lead(token);
        let bio = Bio::new(Op::Read, wanted.first_sector(), wanted.sectors()).by(task).with_token(token);
        self.submit(now, bio);
        true
    }

    /// A caller waits for a page being read ahead: its queued pieces get the class of demand reads.
    pub(super) fn promote(&mut self, now: Nanos, at: usize, extents: &Extents, by: Asker) {
        let page = self.cache.page(at);
        if !self.promotes || !page.ahead {
            return;
        }
        let class = class_of(if by.metadata { METADATA } else { SYNC });
        let start = page.key.page.saturating_mul(PAGE_BYTES);
        let end = start.saturating_add(PAGE_BYTES).min(extents.bytes());
        let mut runs = Vec::new();
        let mut at = start;
        while at < end {
            let Some(run) = extents.run(at, u32::try_from(self.block).unwrap_or(2048)) else { break };
            let length = run.length.min(end - at).max(1);
            runs.push(run.byte / SECTOR..run.byte.saturating_add(length).div_ceil(SECTOR));
            at += length;
        }
        self.promote_runs(now, runs, class);
    }

    /// Changes the class of queued bios in some runs of sectors. Scans the queue once for all of them: a page may be in thousands of
    /// runs.
    fn promote_runs(&mut self, now: Nanos, mut runs: Vec<Range<u64>>, class: IoClass) {
        if runs.is_empty() {
            return;
        }
        runs.sort_unstable_by_key(|run| run.start);
        let mut end = 0;
        for run in &mut runs {
            end = run.end.max(end); // where one lies in another
            run.end = end;
        }
        for id in self.queue.holding_any(&runs) {
            self.counters.promoted += 1;
            self.queue.promote(now, id, class);
        }
    }

    /// Cancels an opening's read-ahead that is still queued and not wanted by any caller.
    pub(super) fn withdraw(&mut self, owner: u32) {
        let queued = self.pieces.queued_of(owner);
        for pieces in queued.chunk_by(|one, other| one.0 == other.0) {
            let Some(&(at, _)) = pieces.first() else { continue };
            let page = self.cache.page(at);
            let whole = page.pieces.is_empty() && page.pending as usize == pieces.len();
            if !page.ahead || page.pins > 0 || !whole {
                continue;
            }
            pieces.iter().for_each(|&(_, token)| self.pieces.abandon(token));
            self.counters.pages_withdrawn += 1;
            self.forget(at);
        }
    }

    fn submit(&mut self, now: Nanos, bio: Bio) {
        match self.queue.submit(now, bio) {
            Submitted::Queued(_) => {}
            Submitted::Merged { request, .. } => {
                if self.classes && bio.task() != AHEAD {
                    self.queue.promote(now, request, class_of(bio.task()));
                }
            }
            Submitted::Full => self.backlog.push_back(bio),
            // Only the cut-off sectors of a page can exceed the longest request: read it alone.
            Submitted::TooLarge => self.alone(bio.token()),
        }
    }

    /// Reads a piece by itself, before anything else.
    fn alone(&mut self, token: u32) {
        self.pieces.starts(token);
        self.again.push_back(token);
    }
}
