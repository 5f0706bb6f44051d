//! The reader without threads, clock and device: callers pass the time and the requests, and get the work to carry out. A caller that
//! waits for a page asks for work and does it, even if it is for another caller (as in 2007); there is no scheduler thread. So the same
//! code runs under a mount, in a program's own threads, and in tests with simulated time.
//!
//! ```text
//! open ─▶ Stream      begin ─▶ Call ─▶ touch (a page: pinned) ─▶ look: ready, failed, or work ─▶ Job ─▶ complete ─┐
//!                              ▲          ▲                                    └──────────────◀───────────────────┘
//!                              end ◀──────┴── release
//! ```

mod maintenance;

use super::cache::{Failure, Page, PageKey};
use super::device::{Asker, Device, Job, Work};
use super::file_pages::FilePages;
use super::look::{Look, PagePosition, view};
use super::policy::{Policy, PolicyError};
use super::slab::Slab;
use crate::format::section::Extents;
use fathom_iopath::readahead::{self, Kind, PAGE_BYTES, Presence, Reading, State, Touch};
use fathom_iopath::{Nanos, Queue};
use std::collections::HashMap;
use std::sync::Arc;

/// A file that is open or has cached pages.
#[derive(Debug)]
struct File {
    extents: Arc<Extents>,
    opens: u32,
    pages: u64,
    /// Read-ahead state common to all its readers, if they share it.
    shared: State,
    /// Where the last call of any of them ended, in pages.
    ended: u64,
}

/// One opening of a file.
#[derive(Debug)]
struct FileOpening {
    file: u32,
    own: State,
    ended: u64,
    metadata: bool,
}

/// Identifies an opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream(u32);

/// A read call in progress.
#[derive(Debug)]
pub struct Call {
    stream: Stream,
    file: u32,
    extents: Arc<Extents>,
    reading: Reading,
    next: u64,
    end: u64,
    /// Whether it begins where the previous one ended while the file is being read ahead.
    in_order: bool,
    by: Asker,
}

/// The reader's state machine; see the module.
#[derive(Debug)]
pub struct Core {
    rules: readahead::Policy,
    per_open: bool,
    free_behind: bool,
    drop_ahead: bool,
    pub(super) device: Device,
    files: Slab<File>,
    by_block: HashMap<u64, Vec<u32>>,
    opens: Slab<FileOpening>,
}

impl Core {
    /// For an image of `size` bytes with logical blocks of `block` bytes.
    ///
    /// # Errors
    /// An invalid policy.
    pub fn new(policy: &Policy, block: u32, size: u64) -> Result<Self, PolicyError> {
        let queue = Queue::new(policy.elevator()?, policy.rules());
        Ok(Self {
            rules: policy.ahead()?,
            per_open: policy.per_open,
            free_behind: policy.free_behind,
            drop_ahead: policy.drop_ahead,
            device: Device::new(policy, queue, block, size),
            files: Slab::new(),
            by_block: HashMap::new(),
            opens: Slab::new(),
        })
    }

    /// Opens a file with these sections. Openings of the same sections share their pages.
    pub fn open(&mut self, extents: &Arc<Extents>) -> Stream {
        self.open_as(extents, false)
    }

    /// Opens an area of directories: an elevator with classes treats its reads as metadata.
    pub fn open_metadata(&mut self, extents: &Arc<Extents>) -> Stream {
        self.open_as(extents, true)
    }

    fn open_as(&mut self, extents: &Arc<Extents>, metadata: bool) -> Stream {
        let file = self.file(extents);
        let open = FileOpening { file, own: self.rules.open(), ended: 0, metadata };
        if let Some(entry) = self.files.get_mut(file) {
            entry.opens += 1;
        }
        Stream(self.opens.put(open))
    }

    fn file(&mut self, extents: &Arc<Extents>) -> u32 {
        let first = extents.first_block().unwrap_or(0);
        let files = &self.files;
        let same = |&&file: &&u32| {
            let known = files.get(file);
            known.is_some_and(|known| Arc::ptr_eq(&known.extents, extents) || known.extents == *extents)
        };
        if let Some(&known) = self.by_block.get(&first).and_then(|list| list.iter().find(same)) {
            return known;
        }
        let shared = self.rules.open();
        let entry = File { extents: Arc::clone(extents), opens: 0, pages: 0, shared, ended: 0 };
        let file = self.files.put(entry);
        self.by_block.entry(first).or_default().push(file);
        file
    }

    /// Closes an opening. Its pages stay until they are evicted; its queued read-ahead is cancelled.
    pub fn close(&mut self, stream: Stream) {
        let Some(open) = self.opens.take(stream.0) else { return };
        if self.drop_ahead {
            self.withdraw(stream);
        }
        if let Some(entry) = self.files.get_mut(open.file) {
            entry.opens -= 1;
        }
        self.forget_if_idle(open.file);
    }

    fn withdraw(&mut self, stream: Stream) {
        self.device.withdraw(stream.0);
        self.count_dropped();
    }

    fn forget_if_idle(&mut self, file: u32) {
        if self.files.get(file).is_none_or(|entry| entry.opens > 0 || entry.pages > 0) {
            return;
        }
        let gone = self.files.take(file);
        let first = gone.and_then(|entry| entry.extents.first_block()).unwrap_or(0);
        if let Some(list) = self.by_block.get_mut(&first) {
            list.retain(|&known| known != file);
            if list.is_empty() {
                self.by_block.remove(&first);
            }
        }
    }

    /// Starts a read of `bytes` from `offset` on; `None` if the stream is not open.
    pub fn begin(&mut self, stream: Stream, offset: u64, bytes: u64) -> Option<Call> {
        if self.drop_ahead && self.opens.get(stream.0)?.ended > offset / PAGE_BYTES + 1 {
            self.withdraw(stream); // back to an earlier position: the old read-ahead no longer applies
        }
        let open = self.opens.get_mut(stream.0)?;
        let entry = self.files.get_mut(open.file)?;
        let call = readahead::Call { offset, bytes, file_bytes: entry.extents.bytes() };
        let pages = call.pages();
        let (state, ended) = match self.per_open {
            true => (&mut open.own, open.ended),
            false => (&mut entry.shared, entry.ended),
        };
        let in_order = pages.start == ended || pages.start + 1 == ended;
        let in_order = self.free_behind && in_order && state.counters().async_windows > 0;
        let reading = self.rules.begin_call(state, call);
        let extents = Arc::clone(&entry.extents);
        let by = Asker { owner: stream.0, metadata: open.metadata };
        let (next, end) = (pages.start, pages.end);
        Some(Call { stream, file: open.file, extents, reading, next, end, in_order, by })
    }

    /// Advances the call to its next page and pins it; `None` at its end.
    pub fn touch(&mut self, now: Nanos, call: &mut Call) -> Option<PagePosition> {
        if call.next >= call.end {
            return None;
        }
        let page = call.next;
        call.next += 1;
        let key = PageKey { file: call.file, page };
        let found = self.device.cache.find(key).map(|at| self.device.cache.page(at));
        let presence = match found {
            None => Presence::Absent,
            Some(page) if page.pending > 0 => Presence::InFlight,
            Some(_) => Presence::Cached,
        };
        let mark = found.and_then(|page| page.mark);
        self.device.counters.pages_asked += 1;
        self.device.counters.pages_cached += u64::from(presence != Presence::Absent);
        // Pinned before the policy reads anything else, so that making space for that cannot evict this page.
        if let Some(at) = self.device.cache.find(key) {
            self.device.cache.page_mut(at).pins += 1;
            if presence == Presence::InFlight {
                self.device.promote(now, at, &call.extents, call.by);
            }
        }
        self.ask(now, call, Touch { page, presence, mark });
        let at = self.device.cache.find(key)?;
        self.device.cache.wanted(at);
        Some(PagePosition { at, missed: presence == Presence::Absent })
    }

    /// Asks the policy about a page; afterwards the page is cached or in flight.
    fn ask(&mut self, now: Nanos, call: &mut Call, touch: Touch) {
        let Some(mut state) = self.state(call) else { return };
        let mut pages = FilePages {
            device: &mut self.device,
            file: call.file,
            extents: &call.extents,
            now,
            by: call.by,
            stands_on: touch.page,
            entered: 0,
            full: false,
        };
        self.rules.touch(&mut state, &mut call.reading, touch, &mut pages);
        if pages.full {
            // No space to read ahead into: start over.
            state = self.rules.open();
        }
        if touch.presence == Presence::Absent {
            use fathom_iopath::readahead::Pages as _;
            if !pages.present(touch.page) {
                pages.read(touch.page, 1, None, Kind::Sync);
            }
        }
        let entered = pages.entered;
        self.set_state(call, state);
        if let Some(entry) = self.files.get_mut(call.file) {
            entry.pages += entered;
        }
        self.count_dropped();
    }

    fn state(&self, call: &Call) -> Option<State> {
        if self.per_open {
            return Some(self.opens.get(call.stream.0)?.own);
        }
        Some(self.files.get(call.file)?.shared)
    }

    fn set_state(&mut self, call: &Call, state: State) {
        if self.per_open {
            if let Some(open) = self.opens.get_mut(call.stream.0) {
                open.own = state;
            }
        } else if let Some(entry) = self.files.get_mut(call.file) {
            entry.shared = state;
        }
    }

    /// Whether the call's current page is still in flight.
    #[must_use]
    pub fn is_pending(&self, standing: &PagePosition) -> bool {
        self.device.cache.page(standing.at).pending > 0
    }

    /// State of the call's current page.
    #[must_use]
    pub fn look(&self, standing: &PagePosition) -> Look {
        let page = self.device.cache.page(standing.at);
        if page.pending > 0 {
            return Look::Pending;
        }
        let failure = page.failure.map(|Failure { byte, errno }| (byte, errno));
        Look::Ready(page.pieces.iter().map(view).collect(), failure)
    }

    /// Unpins the call's current page.
    pub fn release(&mut self, call: &Call, standing: PagePosition) {
        let page = self.device.cache.page_mut(standing.at);
        page.pins -= 1;
        let Page { pins, pending, failure, .. } = *page;
        if pins == 0 && pending == 0 && failure.is_some() {
            self.device.forget(standing.at);
            self.count_dropped();
        } else if call.in_order && pins == 0 {
            self.device.cache.left_behind(standing.at);
        }
        self.keep_to_budget();
    }

    /// Ends the call.
    pub fn end(&mut self, call: Call) {
        if let Some(mut state) = self.state(&call) {
            self.rules.end_call(&mut state, call.reading);
            self.set_state(&call, state);
        }
        if let Some(open) = self.opens.get_mut(call.stream.0) {
            open.ended = call.next;
        }
        if let Some(entry) = self.files.get_mut(call.file) {
            entry.ended = call.next;
        }
    }

    /// The next work for any caller.
    pub fn work(&mut self, now: Nanos) -> Work {
        self.device.next(now)
    }

    /// Completes a job: its first `got` bytes were read, and `errno` says why not more.
    pub fn complete(&mut self, now: Nanos, job: Job, got: u64, errno: Option<i32>) {
        self.device.complete(now, job, got, errno);
        self.count_dropped();
        self.keep_to_budget();
    }

    fn keep_to_budget(&mut self) {
        if self.device.cache.is_over() {
            self.device.keep_to_budget();
            self.count_dropped();
        }
    }

    /// Number of requests not taken yet, and whether the device has a free slot.
    #[must_use]
    pub fn waiting(&self) -> (usize, bool) {
        (self.device.waiting(), self.device.has_room())
    }

    fn count_dropped(&mut self) {
        while let Some(file) = self.device.dropped.pop() {
            if let Some(entry) = self.files.get_mut(file) {
                entry.pages -= 1;
            }
            self.forget_if_idle(file);
        }
    }
}
