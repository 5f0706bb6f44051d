//! Eviction order: doubly linked lists through the frames, oldest first. The simple rule needs one list. With two, pages enter the
//! inactive list, move to the active list when touched a second time, and return from its old end when it has become too long, or, as in
//! 2.4, a few for every page that is needed.

use super::{Flags, Frame, NONE};
use crate::host::Replacement;

pub(super) struct List {
    oldest: u32,
    newest: u32,
    length: usize,
}

impl Default for List {
    fn default() -> Self {
        Self { oldest: NONE, newest: NONE, length: 0 }
    }
}

pub(super) struct Lists {
    pub inactive: List,
    active: List,
    /// By 2.4's rule: pages demoted per evicted page, as a multiple of active / (2 * inactive).
    pub demotion: f64,
    /// Fraction of a page still to be demoted by that rule; below one after each check.
    due: f64,
}

impl Default for Lists {
    fn default() -> Self {
        Self { inactive: List::default(), active: List::default(), demotion: 1.0, due: 0.0 }
    }
}

/// Whether a page must stay: it is dirty, has I/O in flight, or a task waits for it.
pub(super) fn is_pinned(frame: &Frame) -> bool {
    let flags = frame.flags;
    !flags.has(Flags::READY) || flags.has(Flags::DIRTY) || flags.has(Flags::WRITEBACK) || frame.waiter != NONE
}

impl List {
    /// Adds a frame at the new end.
    pub fn push(&mut self, frames: &mut [Frame], frame: u32) {
        let newest = std::mem::replace(&mut self.newest, frame);
        let this = &mut frames[frame as usize];
        (this.older, this.newer) = (newest, NONE);
        if newest == NONE {
            self.oldest = frame;
        } else {
            frames[newest as usize].newer = frame;
        }
        self.length += 1;
    }

    /// Removes a frame from any position.
    pub fn remove(&mut self, frames: &mut [Frame], frame: u32) {
        let Frame { older, newer, .. } = frames[frame as usize];
        if older == NONE {
            self.oldest = newer;
        } else {
            frames[older as usize].newer = newer;
        }
        if newer == NONE {
            self.newest = older;
        } else {
            frames[newer as usize].older = older;
        }
        self.length -= 1;
    }

    /// Removes the oldest unpinned frame. Pinned ones on the way move to the new end, each once.
    fn take_oldest(&mut self, frames: &mut [Frame]) -> Option<u32> {
        for _ in 0..self.length {
            let frame = self.oldest;
            self.remove(frames, frame);
            if !is_pinned(&frames[frame as usize]) {
                return Some(frame);
            }
            self.push(frames, frame);
        }
        None
    }
}

impl Lists {
    /// The list that holds a frame.
    pub fn of(&mut self, frame: &Frame) -> &mut List {
        if frame.flags.has(Flags::ACTIVE) { &mut self.active } else { &mut self.inactive }
    }

    /// Moves a page that was touched a second time to the active list.
    pub fn activate(&mut self, frames: &mut [Frame], frame: u32) {
        self.inactive.remove(frames, frame);
        let flags = &mut frames[frame as usize].flags;
        *flags = flags.with(Flags::ACTIVE).without(Flags::REFERENCED);
        self.active.push(frames, frame);
    }

    /// Removes the page to evict from its list.
    pub fn victim(&mut self, frames: &mut [Frame], replacement: Replacement) -> Option<u32> {
        if replacement == Replacement::TwoList {
            // At most two thirds are active, as in 2.6 when it is short of memory.
            while self.active.length > 2 * self.inactive.length {
                let frame = self.active.oldest;
                self.deactivate(frames, frame);
            }
        }
        if replacement == Replacement::Linux24 {
            self.demote(frames);
        }
        self.inactive.take_oldest(frames).or_else(|| {
            let frame = self.active.take_oldest(frames)?;
            Some(frame)
        })
    }

    /// Before 2.4 evicts a page, it demotes a few of the oldest active pages; those used since they became active go round once more.
    /// Demoted pages count as touched once.
    fn demote(&mut self, frames: &mut [Frame]) {
        self.due += self.demotion * self.active.length as f64 / (2 * (self.inactive.length + 1)) as f64;
        while self.due >= 1.0 && self.active.length > 0 {
            self.due -= 1.0;
            let frame = self.active.oldest;
            let flags = frames[frame as usize].flags;
            if flags.has(Flags::REFERENCED) {
                self.active.remove(frames, frame);
                frames[frame as usize].flags = flags.without(Flags::REFERENCED);
                self.active.push(frames, frame);
            } else {
                self.deactivate(frames, frame);
                frames[frame as usize].flags = frames[frame as usize].flags.with(Flags::REFERENCED);
            }
        }
    }

    fn deactivate(&mut self, frames: &mut [Frame], frame: u32) {
        self.active.remove(frames, frame);
        let flags = &mut frames[frame as usize].flags;
        *flags = flags.without(Flags::ACTIVE).without(Flags::REFERENCED);
        self.inactive.push(frames, frame);
    }
}
