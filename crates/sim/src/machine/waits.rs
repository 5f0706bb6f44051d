//! Waiting for work that completes in parts (the blocks of a commit, the pieces of a direct transfer), and an exclusive lock (an
//! inode's).

use super::Machine;
use super::task::TaskNumber;
use crate::block::Submitter;
use std::collections::VecDeque;

/// Groups of parts: for each, the parts outstanding and the task that waits for the last.
#[derive(Default)]
pub(crate) struct PartGroups {
    entries: Vec<PartGroup>,
    free: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct PartGroup {
    left: u32,
    waiter: Option<TaskNumber>,
}

impl PartGroups {
    /// Creates a group without parts.
    pub fn make(&mut self) -> u32 {
        if let Some(number) = self.free.pop() {
            return number;
        }
        self.entries.push(PartGroup::default());
        (self.entries.len() - 1) as u32
    }

    /// Adds a part.
    pub fn more(&mut self, number: u32) {
        self.entries[number as usize].left += 1;
    }

    /// Completes a part. If it was the last, returns the waiting task.
    pub fn came(&mut self, number: u32) -> Option<TaskNumber> {
        let entry = &mut self.entries[number as usize];
        entry.left -= 1;
        if entry.left == 0 { entry.waiter.take() } else { None }
    }
}

impl Machine {
    /// Waits for all parts of a group and removes it.
    pub async fn all_parts(&self, number: u32, who: Submitter) {
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

/// A FIFO lock.
#[derive(Default)]
pub(crate) struct Gate {
    taken: bool,
    line: VecDeque<TaskNumber>,
}

impl Gate {
    /// Takes the lock if it is free. Otherwise queues the task, which holds the lock once it is woken.
    pub fn enter(&mut self, task: TaskNumber) -> bool {
        if self.taken {
            self.line.push_back(task);
            return false;
        }
        self.taken = true;
        true
    }

    /// Releases the lock. Returns the task that holds it now and must be woken.
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
        let mut parts = PartGroups::default();
        let n = parts.make();
        parts.more(n);
        parts.more(n);
        parts.entries[n as usize].waiter = Some(7);
        assert_eq!((parts.came(n), parts.came(n)), (None, Some(7)));
    }

    #[test]
    fn a_gate_admits_tasks_one_at_a_time() {
        let mut gate = Gate::default();
        assert!(gate.enter(1) && !gate.enter(2) && !gate.enter(3));
        assert_eq!((gate.leave(), gate.leave(), gate.leave()), (Some(2), Some(3), None));
        assert!(gate.enter(4));
    }
}
