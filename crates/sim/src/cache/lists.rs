//! The order in which pages leave: doubly linked lists through the frames, the oldest first. One list is enough for the simple rule;
//! with two, pages enter the inactive one, move to the active one when they are touched a second time, and come back from its old
//! end when it has become too long, or, as in 2.4, a few for every page that is needed.

use super::{Flags, Frame, NONE};
use crate::host::Replacement;

/// One list.
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

/// Both lists.
pub(super) struct Lists {
    pub inactive: List,
    active: List,
    /// By 2.4's rule: how much of active / (2 * inactive) comes from the active list for each page that goes.
    pub demotion: f64,
    /// Pages that are due by that rule: less than one after each look.
    due: f64,
}

impl Default for Lists {
    fn default() -> Self {
        Self { inactive: List::default(), active: List::default(), demotion: 1.0, due: 0.0 }
    }
}

/// Whether a page must stay: somebody writes it, or something is under way with it, or somebody waits for it.
pub(super) fn is_pinned(frame: &Frame) -> bool {
    let flags = frame.flags;
    !flags.has(Flags::READY) || flags.has(Flags::DIRTY) || flags.has(Flags::WRITEBACK) || frame.waiter != NONE
}

impl List {
    /// Puts a frame at the new end.
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

    /// Takes a frame out, wherever it stands.
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

    /// Takes the oldest frame that may go out. Those that may not are moved to the new end, each once.
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
    /// The list a frame is on.
    pub fn of(&mut self, frame: &Frame) -> &mut List {
        if frame.flags.has(Flags::ACTIVE) { &mut self.active } else { &mut self.inactive }
    }

    /// A page was touched a second time.
    pub fn activate(&mut self, frames: &mut [Frame], frame: u32) {
        self.inactive.remove(frames, frame);
        let flags = &mut frames[frame as usize].flags;
        *flags = flags.with(Flags::ACTIVE).without(Flags::REFERENCED);
        self.active.push(frames, frame);
    }

    /// The page that goes, taken out of its list.
    pub fn victim(&mut self, frames: &mut [Frame], replacement: Replacement) -> Option<u32> {
        if replacement == Replacement::TwoList {
            // Two thirds at most are active, as in 2.6 when it is short of memory.
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

    /// What 2.4 does before it takes a page: a few of the oldest active ones come over; those that were used since they became
    /// active go round once more. They come over as if touched once.
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
