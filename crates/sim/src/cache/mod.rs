//! The page cache: which pages of which files are in memory, their state, and which page is evicted when a frame is needed. Page
//! numbers run through all files. The model takes 4 bytes for each page of the files and 24 for each page in memory.

mod lists;
mod physical;

use crate::host::Replacement;
use crate::machine::task::TaskNumber;
use fathom_iopath::{Limits, PageSpan};
use lists::Lists;
pub(crate) use physical::Physical;

/// Number of a page among the pages of all files.
pub(crate) type PageNumber = u32;

/// State flags of a page in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    /// Its data is valid. Without this flag it is being read.
    pub const READY: Self = Self(1);
    /// Written to since it was last submitted to the device.
    pub const DIRTY: Self = Self(2);
    /// Its write-back is in flight.
    pub const WRITEBACK: Self = Self(4);
    /// Carries a read-ahead mark.
    pub const MARKED: Self = Self(8);
    /// Touched once.
    const REFERENCED: Self = Self(16);
    /// On the active list.
    const ACTIVE: Self = Self(32);

    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Frame {
    page: PageNumber,
    older: u32,
    newer: u32,
    /// First of the tasks that wait for it.
    waiter: u32,
    /// When a CPU last copied from or to it, by the copy clock; 0: not since it was brought in.
    copied_at: u32,
    flags: Flags,
}

impl Frame {
    const EMPTY: Self =
        Self { page: 0, older: NONE, newer: NONE, waiter: NONE, copied_at: 0, flags: Flags(0) };
}

pub(crate) struct Cache {
    /// Frame of each page; `NONE` if absent.
    frame_of: Vec<u32>,
    frames: Vec<Frame>,
    /// Empty frames.
    free: Vec<u32>,
    capacity: usize,
    replacement: Replacement,
    lists: Lists,
    /// For each task, the next one that waits for the same page.
    next_waiter: Vec<u32>,
    dirty: u32,
    writeback: u32,
    /// Number of pinned pages: while all are pinned, there is no point in looking for a victim.
    pinned: usize,
    evicted: u64,
    physical: Option<Physical>,
}

impl Cache {
    /// A cache of `capacity` pages. `physical` assigns their memory; without it pages lie anywhere.
    pub fn new(capacity: usize, replacement: Replacement, physical: Option<Physical>) -> Self {
        Self {
            frame_of: Vec::new(),
            frames: Vec::new(),
            free: Vec::new(),
            capacity: capacity.max(64),
            replacement,
            lists: Lists::default(),
            next_waiter: Vec::new(),
            dirty: 0,
            writeback: 0,
            pinned: 0,
            evicted: 0,
            physical,
        }
    }

    /// Sets the rate at which pages leave the active list under 2.4's rule; 1 is the kernel's own.
    pub fn demote_by(&mut self, demotion: f64) {
        self.lists.demotion = demotion;
    }

    /// Brings in pages of other files that have been in use before the run: they are on the active list.
    pub fn occupy(&mut self, pages: std::ops::Range<PageNumber>) {
        for page in pages {
            self.insert(page, Flags::READY, 0);
            if self.replacement != Replacement::Simple
                && let Some(frame) = self.frame(page)
            {
                self.lists.activate(&mut self.frames, frame);
            }
        }
    }

    /// A CPU copies from or to a page. Returns the previous time by the same clock.
    pub fn copied(&mut self, page: PageNumber, at: u32) -> Option<u32> {
        let frame = self.frame(page)?;
        let before = std::mem::replace(&mut self.frames[frame as usize].copied_at, at);
        Some(before).filter(|&at| at > 0)
    }

    /// Grows the number of file pages to `pages`.
    pub fn grow(&mut self, pages: PageNumber) {
        if self.frame_of.len() < pages as usize {
            self.frame_of.resize(pages as usize, NONE);
        }
    }

    /// Capacity in pages.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Number of pages in memory.
    fn resident(&self) -> usize {
        self.frames.len() - self.free.len()
    }

    /// Number of dirty pages.
    pub fn dirty(&self) -> u32 {
        self.dirty
    }

    /// Number of pages in write-back.
    pub fn writeback(&self) -> u32 {
        self.writeback
    }

    /// Number of evictions so far.
    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Flags of a page; `None` if it is not in memory.
    pub fn flags(&self, page: PageNumber) -> Option<Flags> {
        self.frame(page).map(|f| self.frames[f as usize].flags)
    }

    fn frame(&self, page: PageNumber) -> Option<u32> {
        self.frame_of.get(page as usize).copied().filter(|&f| f != NONE)
    }

    /// Brings in an absent page for the task on `cpu`, evicting another if needed.
    pub fn insert(&mut self, page: PageNumber, flags: Flags, cpu: usize) {
        debug_assert!(self.frame(page).is_none(), "page {page} is there already");
        let frame = self.place();
        if let Some(physical) = &mut self.physical {
            physical.put(frame, cpu);
        }
        self.frames[frame as usize] = Frame { page, flags, ..Frame::EMPTY };
        self.frame_of[page as usize] = frame;
        self.dirty += u32::from(flags.has(Flags::DIRTY));
        self.pinned += usize::from(lists::is_pinned(&self.frames[frame as usize]));
        self.lists.inactive.push(&mut self.frames, frame);
    }

    /// A free frame: an unused one, or that of the least valuable page.
    fn place(&mut self) -> u32 {
        // There may be more pages than fit, because all were pinned; the surplus is freed as soon as possible.
        while self.resident() > self.capacity
            && let Some(victim) = self.victim()
        {
            self.free.push(victim);
        }
        if self.resident() >= self.capacity
            && let Some(victim) = self.victim()
        {
            return victim;
        }
        if let Some(frame) = self.free.pop() {
            return frame;
        }
        // Everything is dirty or in flight. Writers are throttled long before, so this is brief.
        self.frames.push(Frame::EMPTY);
        (self.frames.len() - 1) as u32
    }

    /// Evicts the least valuable page and returns its frame; `None` if all are pinned.
    fn victim(&mut self) -> Option<u32> {
        if self.pinned >= self.resident() {
            return None;
        }
        let victim = self.lists.victim(&mut self.frames, self.replacement)?;
        debug_assert!(!lists::is_pinned(&self.frames[victim as usize]), "a pinned page is not evicted");
        self.evicted += 1;
        self.frame_of[self.frames[victim as usize].page as usize] = NONE;
        Some(victim)
    }

    /// Changes a frame and updates the pinned count.
    fn change<R>(&mut self, frame: u32, how: impl FnOnce(&mut Frame) -> R) -> R {
        let frame = &mut self.frames[frame as usize];
        let was = lists::is_pinned(frame);
        let result = how(frame);
        match (was, lists::is_pinned(frame)) {
            (false, true) => self.pinned += 1,
            (true, false) => self.pinned -= 1,
            _ => {}
        }
        debug_assert!(self.pinned <= self.resident(), "more pages are pinned than are in memory");
        result
    }

    /// A page is read. Returns whether that made it active.
    pub fn touch(&mut self, page: PageNumber) -> bool {
        let Some(frame) = self.frame(page) else { return false };
        match self.replacement {
            Replacement::Simple => {
                self.lists.inactive.remove(&mut self.frames, frame);
                self.lists.inactive.push(&mut self.frames, frame);
                false
            }
            Replacement::TwoList | Replacement::Linux24 => {
                let flags = self.frames[frame as usize].flags;
                let activated = flags.has(Flags::REFERENCED) && !flags.has(Flags::ACTIVE);
                if activated {
                    self.lists.activate(&mut self.frames, frame);
                } else {
                    self.frames[frame as usize].flags = flags.with(Flags::REFERENCED);
                }
                activated
            }
        }
    }

    /// A page is written. Under 2.4 that sets the reference flag and activates no page.
    pub fn touch_to_write(&mut self, page: PageNumber) -> bool {
        if self.replacement == Replacement::Linux24
            && let Some(frame) = self.frame(page)
        {
            let flags = &mut self.frames[frame as usize].flags;
            *flags = flags.with(Flags::REFERENCED);
            return false;
        }
        self.touch(page)
    }

    /// Sets or clears a flag of a page in memory. Returns its old value.
    pub fn set(&mut self, page: PageNumber, flag: Flags, on: bool) -> bool {
        let Some(frame) = self.frame(page) else { return false };
        let was = self.change(frame, |frame| {
            let was = frame.flags.has(flag);
            frame.flags = if on { frame.flags.with(flag) } else { frame.flags.without(flag) };
            was
        });
        let count = match flag {
            Flags::DIRTY => &mut self.dirty,
            Flags::WRITEBACK => &mut self.writeback,
            _ => return was,
        };
        match (was, on) {
            (false, true) => *count += 1,
            (true, false) => *count -= 1,
            _ => {}
        }
        debug_assert!(self.dirty as usize <= self.resident(), "more pages are dirty than are in memory");
        debug_assert!(
            self.writeback as usize <= self.resident(),
            "more pages are written than are in memory"
        );
        was
    }

    /// How many of up to `most` pages from `page` on fit into one bio under these limits, at least one, and the memory they lie in.
    pub fn memory(&self, page: PageNumber, most: u32, limits: &Limits) -> (u32, PageSpan) {
        let segments = u32::from(limits.max_segments.max(1));
        let most = most.min(limits.max_sectors / PageSpan::PAGE).max(1);
        let Some(physical) = &self.physical else {
            let pages = most.min(segments);
            return (pages, PageSpan::scattered(pages as u16));
        };
        physical.span((page..page + most).map_while(|p| self.frame(p)), limits)
    }

    /// Registers a task to be woken when the page's I/O in flight completes.
    pub fn wait(&mut self, page: PageNumber, task: TaskNumber) -> bool {
        let Some(frame) = self.frame(page) else { return false };
        if self.next_waiter.len() <= task as usize {
            self.next_waiter.resize(task as usize + 1, NONE);
        }
        self.next_waiter[task as usize] = NONE;
        // First come, first served: append to the chain, which holds one entry per task waiting for the page.
        let mut at = self.frames[frame as usize].waiter;
        if at == NONE {
            self.change(frame, |frame| frame.waiter = task);
            return true;
        }
        while self.next_waiter[at as usize] != NONE {
            at = self.next_waiter[at as usize];
        }
        self.next_waiter[at as usize] = task;
        true
    }

    /// Whether a task waits for the I/O in flight of a page.
    pub fn is_awaited(&self, page: PageNumber) -> bool {
        self.frame(page).is_some_and(|frame| self.frames[frame as usize].waiter != NONE)
    }

    /// A page's I/O has completed: passes on the waiting tasks in FIFO order.
    pub fn waiters(&mut self, page: PageNumber, mut each: impl FnMut(TaskNumber)) {
        let Some(frame) = self.frame(page) else { return };
        let mut at = self.change(frame, |frame| std::mem::replace(&mut frame.waiter, NONE));
        while at != NONE {
            let next = std::mem::replace(&mut self.next_waiter[at as usize], NONE);
            each(at);
            at = next;
        }
    }

    /// Drops a page if it is clean and has no I/O in flight. Returns whether it is gone.
    pub fn drop_clean(&mut self, page: PageNumber) -> bool {
        let Some(frame) = self.frame(page) else { return true };
        if lists::is_pinned(&self.frames[frame as usize]) {
            return false;
        }
        self.lists.of(&self.frames[frame as usize]).remove(&mut self.frames, frame);
        self.frame_of[page as usize] = NONE;
        self.free.push(frame);
        true
    }

    /// Clears the dirty flag of a page of a truncated file: it need not reach the device.
    pub fn forget_dirt(&mut self, page: PageNumber) {
        self.set(page, Flags::DIRTY, false);
    }
}

#[cfg(test)]
mod tests;
