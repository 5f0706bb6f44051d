//! A FIFO wait queue of tasks that wait for another task. Tasks keep their position when they are called in vain or wake up to check;
//! only tasks that can proceed are called.

use crate::machine::Machine;
use crate::machine::task::TaskNumber;
use std::cell::RefCell;
use std::collections::VecDeque;

/// The waiting tasks and what each wants.
pub(super) struct WaitQueue<W>(RefCell<VecDeque<Waiter<W>>>);

struct Waiter<W> {
    task: TaskNumber,
    wants: W,
    /// It was asked to try again and has not done so yet.
    called: bool,
}

/// What to do with a waiting task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// It keeps waiting.
    No,
    /// It is called; those behind it are checked too.
    Also,
    /// It is called, and none behind it.
    Last,
}

impl<W> Default for WaitQueue<W> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<W> WaitQueue<W> {
    /// Appends the running task.
    pub fn enter(&self, machine: &Machine, wants: W) {
        self.0.borrow_mut().push_back(Waiter { task: machine.task(), wants, called: false });
    }

    /// Removes the running task. Returns whether it was still queued.
    pub fn leave(&self, machine: &Machine) -> bool {
        let mut line = self.0.borrow_mut();
        let at = line.iter().position(|w| w.task == machine.task());
        at.and_then(|at| line.remove(at)).is_some()
    }

    /// Whether the running task is queued.
    pub fn holds(&self, machine: &Machine) -> bool {
        self.0.borrow().iter().any(|w| w.task == machine.task())
    }

    /// Whether a called task has not run yet.
    pub fn has_called(&self) -> bool {
        self.0.borrow().iter().any(|w| w.called)
    }

    /// Removes and wakes the tasks that get what they want; returns how many. Serving one may make it possible to serve another, so the
    /// scan restarts after each.
    pub fn serve(&self, machine: &Machine, give: impl Fn(&W) -> bool) -> usize {
        let mut served = 0;
        loop {
            let mut line = self.0.borrow_mut();
            let Some(waiter) = line.iter().position(|w| give(&w.wants)).and_then(|at| line.remove(at)) else {
                return served;
            };
            served += 1;
            if waiter.task != machine.task() {
                machine.wake(waiter.task);
            }
        }
    }

    /// Calls the tasks that can proceed, as `who` decides for each in turn.
    pub fn call(&self, machine: &Machine, who: impl Fn(&W) -> Call) {
        for waiter in self.0.borrow_mut().iter_mut().filter(|w| !w.called) {
            let call = who(&waiter.wants);
            if call != Call::No {
                waiter.called = true;
                machine.wake(waiter.task);
            }
            if call == Call::Last {
                return;
            }
        }
    }

    /// The running, queued task sleeps until it is served or called, at most until `until_ns`.
    pub async fn sleep(&self, machine: &Machine, until_ns: u64) {
        let task = machine.task();
        let rang = machine.park_until(until_ns).await;
        let is_called = {
            let mut line = self.0.borrow_mut();
            let own = line.iter_mut().find(|w| w.task == task);
            own.is_none_or(|own| std::mem::take(&mut own.called))
        };
        if rang && is_called {
            // It was woken at that very time; the wake-up is on the way.
            machine.park().await;
        }
    }
}
