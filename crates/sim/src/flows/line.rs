//! Tasks that wait for something that another task does, and no longer than until a moment.

use crate::machine::Machine;
use crate::machine::task::TaskNumber;
use std::cell::RefCell;

/// Who waits, in the order of coming.
#[derive(Default)]
pub(super) struct Line(RefCell<Vec<TaskNumber>>);

impl Line {
    /// Everybody goes on. Returns how many that are.
    pub fn wake(&self, machine: &Machine) -> usize {
        let waiting = self.0.take();
        waiting.iter().for_each(|&task| machine.wake(task));
        waiting.len()
    }

    /// Waits until somebody wakes the line, or for a moment. Whether the moment came first.
    pub async fn wait(&self, machine: &Machine, until_ns: u64) -> bool {
        let task = machine.task();
        self.0.borrow_mut().push(task);
        if !machine.park_until(until_ns).await {
            return false;
        }
        let still_there = {
            let mut line = self.0.borrow_mut();
            let at = line.iter().position(|&t| t == task);
            at.map(|at| line.remove(at)).is_some()
        };
        if !still_there {
            // Somebody woke it at that very moment, and the wake-up is on its way.
            machine.park().await;
        }
        still_there
    }
}
