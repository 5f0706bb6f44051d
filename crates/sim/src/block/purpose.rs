//! The purpose of a bio. The block layer numbers the bios in flight and wakes the waiting tasks when one completes.

use crate::cache::{Flags, PageNumber};
use crate::files::{FileNumber, Metadata};
use crate::machine::Machine;

/// Purpose of a bio: decides what happens on completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Reads pages into the cache.
    Read { page: PageNumber, pages: u32 },
    /// Writes back pages of a file.
    Write { file: FileNumber, page: PageNumber, pages: u32 },
    /// Reads an indirect block of a file.
    Indirect { file: FileNumber, number: u32 },
    /// Part of a group that is waited for as a whole.
    Part(u32),
}

/// Purposes in flight, by number.
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
    /// Whether a task already waits for the bio.
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
            // The task that submits parts waits for them itself.
            Purpose::Part(_) => false,
        }
    }

    fn is_page_awaited(&self, mut pages: std::ops::Range<PageNumber>) -> bool {
        let cache = self.cache.borrow();
        pages.any(|page| cache.is_awaited(page))
    }

    /// Completes the purpose of a bio.
    pub(super) fn is_done(&self, purpose: Purpose) {
        match purpose {
            Purpose::Read { page, pages } => {
                let mut cache = self.cache.borrow_mut();
                for page in page..page + pages {
                    cache.set(page, Flags::READY, true);
                    cache.waiters(page, |task| self.wake_after_io(task));
                }
            }
            Purpose::Write { file, page, pages } => {
                let mut cache = self.cache.borrow_mut();
                for page in page..page + pages {
                    cache.set(page, Flags::WRITEBACK, false);
                    cache.waiters(page, |task| self.wake_after_io(task));
                }
                drop(cache);
                self.writeback_moved();
                let mut files = self.files.borrow_mut();
                let file = files.get_mut(file);
                file.writeback -= pages;
                if file.writeback == 0 {
                    file.waiters.drain(..).for_each(|task| self.wake_after_io(task));
                }
            }
            Purpose::Indirect { file, number } => {
                let mut files = self.files.borrow_mut();
                let block = &mut files.get_mut(file).indirect[number as usize];
                let before = std::mem::replace(block, Metadata::Present);
                if let Metadata::InFlight(waiting) = before {
                    waiting.into_iter().for_each(|task| self.wake_after_io(task));
                }
            }
            Purpose::Part(number) => {
                let waiter = self.parts.borrow_mut().came(number);
                if let Some(task) = waiter {
                    self.wake_after_io(task);
                }
            }
        }
    }
}
