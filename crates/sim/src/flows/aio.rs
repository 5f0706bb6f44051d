//! Asynchronous writes of a flow: a separate task, which represents the kernel's part, does each write. A write counts once it is
//! submitted.

use super::runner::{Break, FlowRunner, Opened};
use crate::block::Submitter;
use crate::machine::Machine;
use crate::machine::task::TaskNumber;
use fathom_workload::flow::FlatOp;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// Maximum number of writes in flight at once; another one waits until one completes.
pub(crate) const MOST: usize = 256;
/// Longest asynchronous wait.
const PATIENCE_NS: u64 = 1_000_000_000;
/// Longest delay until a stop is noticed.
const NAP_NS: u64 = 20_000_000;

/// A write: open file, offset, bytes.
type Write = (Opened, u64, u64);

/// State shared by a worker and the tasks that do its writes.
#[derive(Default)]
pub(crate) struct AioSlots {
    idle: RefCell<Vec<TaskNumber>>,
    handed: RefCell<VecDeque<Write>>,
    count: Cell<usize>,
    /// The worker while it waits for a completion.
    waiting: Cell<Option<TaskNumber>>,
}

/// Does writes for a worker, for ever.
pub(crate) async fn serve(machine: &Machine, who: Submitter, flights: &AioSlots) {
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

impl AioSlots {
    /// Passes a write to a task.
    pub(super) fn hand(&self, machine: &Machine, write: Write) {
        self.count.set(self.count.get() + 1);
        self.handed.borrow_mut().push_back(write);
        let idle = self.idle.borrow_mut().pop();
        if let Some(task) = idle {
            machine.wake(task);
        }
    }

    /// Waits for a completion, at most until `until_ns`.
    async fn one_ends(&self, machine: &Machine, until_ns: u64) {
        self.waiting.set(Some(machine.task()));
        let rang = machine.park_until(until_ns).await;
        if self.waiting.take().is_none() && rang {
            // One completed at this very time; its wake-up is on the way.
            machine.park().await;
        }
    }

    /// Waits until another write may be submitted.
    pub(super) async fn room(&self, hand: &mut FlowRunner<'_, '_>) -> Result<(), Break> {
        while self.count.get() >= MOST {
            self.one_ends(hand.machine, hand.machine.now() + NAP_NS).await;
            hand.over()?;
        }
        Ok(())
    }

    /// Waits for all writes in flight.
    pub(super) async fn land(&self, machine: &Machine) {
        while self.count.get() > 0 {
            self.one_ends(machine, machine.now() + PATIENCE_NS).await;
        }
    }
}

impl FlowRunner<'_, '_> {
    /// Waits for half of the writes in flight, at least one.
    pub(super) async fn async_wait(&mut self, op: &FlatOp) -> Result<(), Break> {
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
