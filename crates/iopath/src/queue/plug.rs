//! Today's plug: each task may gather its requests in a private list before the elevator sees them. A bio is merged with the request that
//! the task created last, if it touches it.

use crate::list::List;
use crate::request::{Requests, Slot};
use crate::task::TaskId;

/// The plug of one task.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskPlug {
    pub(crate) open: bool,
    pub(crate) list: List,
}

/// The plugs of all tasks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plugs {
    of_task: Vec<TaskPlug>,
    held: usize,
}

impl Plugs {
    pub(crate) fn start(&mut self, task: TaskId) {
        while self.of_task.len() <= task.index() {
            self.of_task.push(TaskPlug::default());
        }
        self.of_task[task.index()].open = true;
    }

    /// Requests of a task are no longer held back.
    pub(crate) fn stop(&mut self, task: TaskId) {
        if let Some(plug) = self.of_task.get_mut(task.index()) {
            plug.open = false;
        }
    }

    pub(crate) fn open(&self, task: TaskId) -> Option<&TaskPlug> {
        self.of_task.get(task.index()).filter(|plug| plug.open)
    }

    pub(crate) fn push(&mut self, requests: &mut Requests, task: TaskId, slot: Slot) {
        self.of_task[task.index()].list.push_back(requests, slot);
        self.held += 1;
    }

    pub(crate) fn pop(&mut self, requests: &mut Requests, task: TaskId) -> Option<Slot> {
        let slot = self.of_task.get_mut(task.index())?.list.pop_front(requests)?;
        self.held -= 1;
        Some(slot)
    }

    /// Removes a request from a task's plug.
    pub(crate) fn remove(&mut self, requests: &mut Requests, task: TaskId, slot: Slot) {
        if let Some(plug) = self.of_task.get_mut(task.index()) {
            plug.list.remove(requests, slot);
            self.held -= 1;
        }
    }

    /// Number of requests in all plugs.
    pub(crate) const fn held(&self) -> usize {
        self.held
    }
}
