//! Asynchronous writes of a flow: each is done by a task of its own, which stands for what the kernel does with it. A write counts when
//! it is given to the kernel.

use super::hand::{Break, Hand, Opened};
use crate::block::Who;
use crate::machine::Machine;
use crate::machine::task::TaskNumber;
use fathom_workload::flow::Op;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// Writes in flight at once; one more waits until one of them is done.
pub(crate) const MOST: usize = 256;
/// An asynchronous wait lasts no longer.
const PATIENCE_NS: u64 = 1_000_000_000;
/// A stop is seen after at most so long.
const NAP_NS: u64 = 20_000_000;

/// A write: through which open file, where, how much.
type Write = (Opened, u64, u64);

/// Between a worker and the tasks that do its writes.
#[derive(Default)]
pub(crate) struct Flights {
    idle: RefCell<Vec<TaskNumber>>,
    handed: RefCell<VecDeque<Write>>,
    count: Cell<usize>,
    /// The worker, while it waits for one to end.
    waiting: Cell<Option<TaskNumber>>,
}

/// Does writes for a worker, for ever.
pub(crate) async fn serve(machine: &Machine, who: Who, flights: &Flights) {
    machine.own_cpu(who);
    loop {
        let next = flights.handed.borrow_mut().pop_front();
        let Some((opened, offset, bytes)) = next else {
            flights.idle.borrow_mut().push(machine.task());
            machine.park().await;
            continue;
        };
        if !machine.is_gone(opened.handle) {
            machine.write(opened.handle, offset, bytes).await;
            if opened.sync {
                machine.fsync(opened.handle, false).await;
            }
        }
        flights.count.set(flights.count.get() - 1);
        if let Some(worker) = flights.waiting.take() {
            machine.wake(worker);
        }
    }
}

impl Flights {
    /// Gives a write to a task.
    pub(super) fn hand(&self, machine: &Machine, write: Write) {
        self.count.set(self.count.get() + 1);
        self.handed.borrow_mut().push_back(write);
        let idle = self.idle.borrow_mut().pop();
        if let Some(task) = idle {
            machine.wake(task);
        }
    }

    /// Waits until one ends, or for a moment.
    async fn one_ends(&self, machine: &Machine, until_ns: u64) {
        self.waiting.set(Some(machine.task()));
        let rang = machine.park_until(until_ns).await;
        if self.waiting.take().is_none() && rang {
            // One has ended at this very moment, and its wake-up is on its way.
            machine.park().await;
        }
    }

    /// Waits until one more may be in flight.
    pub(super) async fn room(&self, hand: &mut Hand<'_, '_>) -> Result<(), Break> {
        while self.count.get() >= MOST {
            self.one_ends(hand.machine, hand.machine.now() + NAP_NS).await;
            hand.over()?;
        }
        Ok(())
    }

    /// Waits for all of them.
    pub(super) async fn land(&self, machine: &Machine) {
        while self.count.get() > 0 {
            self.one_ends(machine, machine.now() + PATIENCE_NS).await;
        }
    }
}

impl Hand<'_, '_> {
    /// Waits for half of what is in flight, and one at least.
    pub(super) async fn async_wait(&mut self, op: &Op) -> Result<(), Break> {
        let (from, flights) = (self.machine.now(), self.flights);
        self.call().await;
        let before = flights.count.get();
        let enough = before - before.div_ceil(2);
        let until_ns = from.saturating_add(PATIENCE_NS);
        while flights.count.get() > enough && self.machine.now() < until_ns {
            flights.one_ends(self.machine, until_ns.min(self.machine.now() + NAP_NS)).await;
            self.over()?;
        }
        self.thread.at_file = None;
        self.done(op, from, 0).await
    }
}
