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
