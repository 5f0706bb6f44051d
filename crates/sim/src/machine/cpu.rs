//! A fixed number of CPUs, first come, first served. A task keeps its CPU until it waits for something else or its slice is over, as in a
//! non-preemptive kernel: a thread submits all bios of a call before another thread runs. Time spent waiting for a CPU is part of a
//! latency, as on a real machine.

use super::task::{Park, TaskNumber};
use super::{Event, Machine};
use crate::event::Class;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// Longest time on a CPU while other tasks wait for one.
const SLICE_NS: u64 = 10_000_000;

/// A task that has a CPU.
#[derive(Clone, Copy)]
struct Holder {
    task: TaskNumber,
    /// CPU time used so far in this slice, ns.
    used: u64,
    cpu: usize,
}

pub(super) struct Cpus {
    count: usize,
    free: Cell<u32>,
    line: RefCell<VecDeque<TaskNumber>>,
    /// Which tasks have a CPU.
    holders: RefCell<Vec<Holder>>,
}

impl Cpus {
    pub fn new(count: u32) -> Self {
        let count = count.max(1);
        Self {
            count: count as usize,
            free: Cell::new(count),
            line: RefCell::default(),
            holders: RefCell::default(),
        }
    }
}

impl Machine {
    /// Computes for `ns` nanoseconds.
    pub async fn compute(&self, mut ns: u64) {
        let task = self.task();
        while ns > 0 {
            if !self.has_cpu(task) {
                if self.cpus.free.get() > 0 {
                    self.cpus.free.set(self.cpus.free.get() - 1);
                } else {
                    self.cpus.line.borrow_mut().push_back(task);
                    // The task that leaves passes its CPU on.
                    Park::new().await;
                }
                self.take_cpu(task);
            }
            let used = self.held(task);
            let piece = ns.min(SLICE_NS - used);
            ns -= piece;
            self.used_cpu(piece);
            let until = self.now() + piece;
            if !self.pass_to(until) {
                self.at(until, Class::Cpu, Event::Run(task));
                Park::new().await;
            }
            self.hold(task, used + piece);
            if used + piece >= SLICE_NS {
                if self.cpus.line.borrow().is_empty() {
                    self.hold(task, 0);
                } else {
                    self.leave_cpu();
                }
            }
        }
    }

    /// A task takes a free CPU, its own by default, so that it stays there as long as no other task has it.
    fn take_cpu(&self, task: TaskNumber) {
        let mut holders = self.cpus.holders.borrow_mut();
        let is_free = |cpu: &usize| holders.iter().all(|h| h.cpu != *cpu);
        let own = task as usize % self.cpus.count;
        let cpu = std::iter::once(own).chain(0..self.cpus.count).find(is_free).unwrap_or(0);
        holders.push(Holder { task, used: 0, cpu });
    }

    /// The number of the CPU that the running task has; 0 if it has none.
    pub fn cpu(&self) -> usize {
        let task = self.task();
        self.cpus.holders.borrow().iter().find(|h| h.task == task).map_or(0, |h| h.cpu)
    }

    /// Whether the running task, which has computed `ns` that are not yet on the clock, would continue at once: nothing else happens
    /// until then and no task waits for its CPU. Its next step may then be done before the clock is advanced.
    pub fn goes_on_after(&self, ns: u64) -> bool {
        let next = self.events.borrow().next_time();
        next.is_none_or(|next| next > self.now() + ns)
            && self.has_cpu(self.task())
            && self.cpus.line.borrow().is_empty()
    }

    fn has_cpu(&self, task: TaskNumber) -> bool {
        self.cpus.holders.borrow().iter().any(|h| h.task == task)
    }

    fn held(&self, task: TaskNumber) -> u64 {
        self.cpus.holders.borrow().iter().find(|h| h.task == task).map_or(0, |h| h.used)
    }

    fn hold(&self, task: TaskNumber, ns: u64) {
        if let Some(holder) = self.cpus.holders.borrow_mut().iter_mut().find(|h| h.task == task) {
            holder.used = ns;
        }
    }

    /// The running task, about to wait or ended, passes its CPU, if it has one, to the next task.
    pub fn leave_cpu(&self) {
        let task = self.task();
        let mut holders = self.cpus.holders.borrow_mut();
        let Some(at) = holders.iter().position(|h| h.task == task) else { return };
        holders.swap_remove(at);
        match self.cpus.line.borrow_mut().pop_front() {
            Some(next) => self.at(self.now(), Class::Cpu, Event::Run(next)),
            None => self.cpus.free.set(self.cpus.free.get() + 1),
        }
    }
}
