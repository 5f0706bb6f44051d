//! The page cache: which pages of which files are in memory, in which state, and which one goes when a place is needed. Pages are
//! numbered through all files. It takes 4 bytes for each page of the files, and 24 for each page that is in memory.

mod lists;
mod physical;

use crate::host::Replacement;
use crate::machine::task::TaskNumber;
use fathom_iopath::{Limits, PageSpan};
use lists::Lists;
pub(crate) use physical::Physical;

/// A page of any file: its number among the pages of all.
pub(crate) type PageNumber = u32;

/// What is true of a page in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    /// Its data are there. Without it, it is being read.
    pub const READY: Self = Self(1);
    /// It was written to and not given to the device since.
    pub const DIRTY: Self = Self(2);
    /// It is on its way to the device.
    pub const WRITEBACK: Self = Self(4);
    /// It carries a mark of read-ahead.
    pub const MARKED: Self = Self(8);
    /// It was touched once.
    const REFERENCED: Self = Self(16);
    /// It is on the list of those touched twice.
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

/// A page in memory.
#[derive(Clone, Copy)]
struct Frame {
    page: PageNumber,
    older: u32,
    newer: u32,
    /// First of the tasks that wait for it.
    waiter: u32,
    /// When a CPU last copied from it or to it, by the clock of copies; 0: not since it came in.
    copied_at: u32,
    flags: Flags,
}

impl Frame {
    const EMPTY: Self =
        Self { page: 0, older: NONE, newer: NONE, waiter: NONE, copied_at: 0, flags: Flags(0) };
}

/// The cache.
pub(crate) struct Cache {
    /// Frame of each page; `NONE` if absent.
    frame_of: Vec<u32>,
    frames: Vec<Frame>,
    /// Frames that hold nothing.
    free: Vec<u32>,
    capacity: usize,
    replacement: Replacement,
    lists: Lists,
    /// The next task that waits for the same page, by task.
    next_waiter: Vec<u32>,
    dirty: u32,
    writeback: u32,
    /// Pages that must stay for the time being: while all of them do, there is no use in looking for one that may go.
    pinned: usize,
    evicted: u64,
    physical: Option<Physical>,
}

impl Cache {
    /// A cache of so many pages, which lie where `physical` puts them or, without it, anywhere.
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

    /// How fast pages leave the active list under 2.4's rule; 1 is the kernel's own.
    pub fn demote_by(&mut self, demotion: f64) {
        self.lists.demotion = demotion;
    }

    /// Pages of others, in use since before anybody looked: they are on the active list.
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

    /// A CPU copies from a page or to it. Returns when it did so before, by the same clock.
    pub fn copied(&mut self, page: PageNumber, at: u32) -> Option<u32> {
        let frame = self.frame(page)?;
        let before = std::mem::replace(&mut self.frames[frame as usize].copied_at, at);
        Some(before).filter(|&at| at > 0)
    }

    /// There are so many pages of files from now on.
    pub fn grow(&mut self, pages: PageNumber) {
        if self.frame_of.len() < pages as usize {
            self.frame_of.resize(pages as usize, NONE);
        }
    }

    /// Places for pages.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Pages in memory.
    fn resident(&self) -> usize {
        self.frames.len() - self.free.len()
    }

    /// Dirty pages.
    pub fn dirty(&self) -> u32 {
        self.dirty
    }

    /// Pages on their way to the device.
    pub fn writeback(&self) -> u32 {
        self.writeback
    }

    /// Pages that had to go for others so far.
    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    /// What is true of a page; `None` if it is not in memory.
    pub fn flags(&self, page: PageNumber) -> Option<Flags> {
        self.frame(page).map(|f| self.frames[f as usize].flags)
    }

    fn frame(&self, page: PageNumber) -> Option<u32> {
        self.frame_of.get(page as usize).copied().filter(|&f| f != NONE)
    }

    /// Brings an absent page in for whoever runs on `cpu`; another one may have to go for it.
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

    /// A free place: an unused one, or that of the page that matters least.
    fn place(&mut self) -> u32 {
        // More than fit may be there since all of them had to stay; that is given back as soon as it can be.
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
        // Everything is dirty or under way: writers are held back long before, so this lasts for a moment only.
        self.frames.push(Frame::EMPTY);
        (self.frames.len() - 1) as u32
    }

    /// Puts the page out that matters least, and gives its place; `None` if all must stay.
    fn victim(&mut self) -> Option<u32> {
        if self.pinned >= self.resident() {
            return None;
        }
        let victim = self.lists.victim(&mut self.frames, self.replacement)?;
        self.evicted += 1;
        self.frame_of[self.frames[victim as usize].page as usize] = NONE;
        Some(victim)
    }

    /// Changes a frame, and counts whether it must stay from then on.
    fn change<R>(&mut self, frame: u32, how: impl FnOnce(&mut Frame) -> R) -> R {
        let frame = &mut self.frames[frame as usize];
        let was = lists::is_pinned(frame);
        let result = how(frame);
        match (was, lists::is_pinned(frame)) {
            (false, true) => self.pinned += 1,
            (true, false) => self.pinned -= 1,
            _ => {}
        }
        result
    }

    /// A page is read by somebody. Says whether that made it active.
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

    /// A page is written by somebody. Under 2.4 that is noted and makes no page active.
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

    /// Makes a flag true or false of a page in memory; says whether it was.
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
        was
    }

    /// How many of up to `most` pages from `page` on go into one bio under these limits, and the memory they lie in. At least one.
    pub fn memory(&self, page: PageNumber, most: u32, limits: &Limits) -> (u32, PageSpan) {
        let segments = u32::from(limits.max_segments.max(1));
        let most = most.min(limits.max_sectors / PageSpan::PAGE).max(1);
        let Some(physical) = &self.physical else {
            let pages = most.min(segments);
            return (pages, PageSpan::scattered(pages as u16));
        };
        physical.span((page..page + most).map_while(|p| self.frame(p)), limits)
    }

    /// A task will be woken when something under way with this page (being read, or written) is over.
    pub fn wait(&mut self, page: PageNumber, task: TaskNumber) -> bool {
        let Some(frame) = self.frame(page) else { return false };
        if self.next_waiter.len() <= task as usize {
            self.next_waiter.resize(task as usize + 1, NONE);
        }
        self.next_waiter[task as usize] = NONE;
        // First come, first served: the end of the chain, which is as long as tasks wait for one page.
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

    /// Whether somebody waits for what is under way with a page.
    pub fn is_awaited(&self, page: PageNumber) -> bool {
        self.frame(page).is_some_and(|frame| self.frames[frame as usize].waiter != NONE)
    }

    /// What was under way with a page is over: hands over those who wait, first come first.
    pub fn waiters(&mut self, page: PageNumber, mut each: impl FnMut(TaskNumber)) {
        let Some(frame) = self.frame(page) else { return };
        let mut at = self.change(frame, |frame| std::mem::replace(&mut frame.waiter, NONE));
        while at != NONE {
            let next = std::mem::replace(&mut self.next_waiter[at as usize], NONE);
            each(at);
            at = next;
        }
    }

    /// Drops a page, if nothing is under way with it and it is not dirty. Whether it is gone.
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

    /// Forgets what was written to a page of a file that is cut: it need not reach the device.
    pub fn forget_dirt(&mut self, page: PageNumber) {
        self.set(page, Flags::DIRTY, false);
    }
}

#[cfg(test)]
mod tests;
