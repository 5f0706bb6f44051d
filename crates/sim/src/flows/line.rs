//! Tasks that wait for something that another task does. They stand in the order of coming and keep their places when they are called in
//! vain or look up in between; only those are called who can go on.

use crate::machine::Machine;
use crate::machine::task::TaskNumber;
use std::cell::RefCell;
use std::collections::VecDeque;

/// Who waits, and for what.
pub(super) struct Line<W>(RefCell<VecDeque<Waiter<W>>>);

struct Waiter<W> {
    task: TaskNumber,
    wants: W,
    /// It was told to try again, and has not yet.
    called: bool,
}

/// What is to become of one who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// He waits on.
    No,
    /// He is called, and those behind him are looked at.
    Also,
    /// He is called, and nobody behind him.
    Last,
}

impl<W> Default for Line<W> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<W> Line<W> {
    /// The running task is the last in the line from now on.
    pub fn enter(&self, machine: &Machine, wants: W) {
        self.0.borrow_mut().push_back(Waiter { task: machine.task(), wants, called: false });
    }

    /// The running task waits no more. Whether it was still in the line.
    pub fn leave(&self, machine: &Machine) -> bool {
        let mut line = self.0.borrow_mut();
        let at = line.iter().position(|w| w.task == machine.task());
        at.and_then(|at| line.remove(at)).is_some()
    }

    /// Whether the running task is in the line.
    pub fn holds(&self, machine: &Machine) -> bool {
        self.0.borrow().iter().any(|w| w.task == machine.task())
    }

    /// Whether somebody was called and has not been there yet.
    pub fn is_somebody_called(&self) -> bool {
        self.0.borrow().iter().any(|w| w.called)
    }

    /// Lets those go who were given what they want; the line has them no more. Returns how many. What one is given may make it
    /// possible to give another one something, so it begins again behind each.
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

    /// Calls those who can go on, as `who` says of each in turn.
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

    /// The running task, which is in the line, sleeps until it is served or called, or for a moment.
    pub async fn sleep(&self, machine: &Machine, until_ns: u64) {
        let task = machine.task();
        let rang = machine.park_until(until_ns).await;
        let is_called = {
            let mut line = self.0.borrow_mut();
            let own = line.iter_mut().find(|w| w.task == task);
            own.is_none_or(|own| std::mem::take(&mut own.called))
        };
        if rang && is_called {
            // Somebody woke it at that very moment, and the wake-up is on its way.
            machine.park().await;
        }
    }
}
