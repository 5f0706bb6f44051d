//! What a bio was for. The block layer gives each a number, and tells whoever waits when it is done.

use crate::cache::{Flags, PageNumber};
use crate::files::{FileNumber, Metadata};
use crate::machine::Machine;

/// What a bio was for: who is told when it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Pages are read into the cache.
    Read { page: PageNumber, pages: u32 },
    /// Pages of a file are written back.
    Write { file: FileNumber, page: PageNumber, pages: u32 },
    /// An indirect block of a file is read.
    Indirect { file: FileNumber, number: u32 },
    /// A part of something that is waited for as a whole.
    Part(u32),
}

/// Those that are under way, by number.
#[derive(Default)]
pub(super) struct Purposes {
    entries: Vec<Purpose>,
    free: Vec<u32>,
}

impl Purposes {
    pub fn put(&mut self, purpose: Purpose) -> u32 {
        if let Some(at) = self.free.pop() {
            self.entries[at as usize] = purpose;
            return at;
        }
        self.entries.push(purpose);
        (self.entries.len() - 1) as u32
    }

    pub fn take(&mut self, at: u32) -> Purpose {
        self.free.push(at);
        self.entries[at as usize]
    }
}

impl Machine {
    /// Whether somebody waits already for what a bio is for.
    pub(super) fn is_awaited(&self, purpose: Purpose) -> bool {
        match purpose {
            Purpose::Read { page, pages } => self.is_page_awaited(page..page + pages),
            Purpose::Write { file, page, pages } => {
                self.background.is_awaited()
                    || !self.files.borrow().get(file).waiters.is_empty()
                    || self.is_page_awaited(page..page + pages)
            }
            Purpose::Indirect { file, number } => {
                let files = self.files.borrow();
                let block = &files.get(file).indirect[number as usize];
                matches!(block, Metadata::InFlight(waiting) if !waiting.is_empty())
            }
            // Who hands parts in waits for them himself.
            Purpose::Part(_) => false,
        }
    }

    fn is_page_awaited(&self, mut pages: std::ops::Range<PageNumber>) -> bool {
        let cache = self.cache.borrow();
        pages.any(|page| cache.is_awaited(page))
    }

    /// What a bio was for is done.
    pub(super) fn is_done(&self, purpose: Purpose) {
        match purpose {
            Purpose::Read { page, pages } => {
                let mut cache = self.cache.borrow_mut();
                for page in page..page + pages {
                    cache.set(page, Flags::READY, true);
                    cache.waiters(page, |task| self.wake(task));
                }
            }
            Purpose::Write { file, page, pages } => {
                let mut cache = self.cache.borrow_mut();
                for page in page..page + pages {
                    cache.set(page, Flags::WRITEBACK, false);
                    cache.waiters(page, |task| self.wake(task));
                }
                drop(cache);
                self.writeback_moved();
                let mut files = self.files.borrow_mut();
                let file = files.get_mut(file);
                file.writeback -= pages;
                if file.writeback == 0 {
                    file.waiters.drain(..).for_each(|task| self.wake(task));
                }
            }
            Purpose::Indirect { file, number } => {
                let mut files = self.files.borrow_mut();
                let block = &mut files.get_mut(file).indirect[number as usize];
                let before = std::mem::replace(block, Metadata::Present);
                if let Metadata::InFlight(waiting) = before {
                    waiting.into_iter().for_each(|task| self.wake(task));
                }
            }
            Purpose::Part(number) => {
                let waiter = self.parts.borrow_mut().came(number);
                if let Some(task) = waiter {
                    self.wake(task);
                }
            }
        }
    }
}
