//! Waiting for something that comes in parts (the blocks of a commit, the pieces of a direct transfer), and for something that one
//! task after the other may have (an inode's lock).

use super::Machine;
use super::task::TaskNumber;
use crate::block::Who;
use std::collections::VecDeque;

/// Things that come in parts: how many are still to come, and who waits for the last.
#[derive(Default)]
pub(crate) struct Parts {
    entries: Vec<Entry>,
    free: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    left: u32,
    waiter: Option<TaskNumber>,
}

impl Parts {
    /// A new thing of no parts yet.
    pub fn make(&mut self) -> u32 {
        if let Some(number) = self.free.pop() {
            return number;
        }
        self.entries.push(Entry::default());
        (self.entries.len() - 1) as u32
    }

    /// One more part.
    pub fn more(&mut self, number: u32) {
        self.entries[number as usize].left += 1;
    }

    /// A part has come. Returns who waited for the last one.
    pub fn came(&mut self, number: u32) -> Option<TaskNumber> {
        let entry = &mut self.entries[number as usize];
        entry.left -= 1;
        if entry.left == 0 { entry.waiter.take() } else { None }
    }
}

impl Machine {
    /// Waits for all parts of a thing, which is gone then.
    pub async fn all_parts(&self, number: u32, who: Who) {
        let pending = {
            let mut parts = self.parts.borrow_mut();
            let entry = &mut parts.entries[number as usize];
            entry.waiter = (entry.left > 0).then(|| self.task());
            entry.left > 0
        };
        if pending {
            self.about_to_wait(who);
            self.park().await;
        }
        self.parts.borrow_mut().free.push(number);
    }
}

/// A lock that is given in the order of asking.
#[derive(Default)]
pub(crate) struct Gate {
    taken: bool,
    line: VecDeque<TaskNumber>,
}

impl Gate {
    /// Takes it if it is free; else the task is in the line and has it when it is woken.
    pub fn enter(&mut self, task: TaskNumber) -> bool {
        if self.taken {
            self.line.push_back(task);
            return false;
        }
        self.taken = true;
        true
    }

    /// Gives it back. Returns who has it now and is to be woken.
    pub fn leave(&mut self) -> Option<TaskNumber> {
        let next = self.line.pop_front();
        self.taken = next.is_some();
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_ends_the_wait() {
        let mut parts = Parts::default();
        let n = parts.make();
        parts.more(n);
        parts.more(n);
        parts.entries[n as usize].waiter = Some(7);
        assert_eq!((parts.came(n), parts.came(n)), (None, Some(7)));
    }

    #[test]
    fn a_gate_lets_in_one_after_the_other() {
        let mut gate = Gate::default();
        assert!(gate.enter(1) && !gate.enter(2) && !gate.enter(3));
        assert_eq!((gate.leave(), gate.leave(), gate.leave()), (Some(2), Some(3), None));
        assert!(gate.enter(4));
    }
}
