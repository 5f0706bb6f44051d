//! CPUs: so many, first come, first served, in slices. What a task computes it computes on one of them; time spent waiting for one is
//! part of its latency, as on a real machine.

use super::task::TaskNumber;
use super::{Event, Machine};
use crate::event::Class;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// Longest time on a CPU while others wait: what computes for longer goes to the end of the line.
const SLICE_NS: u64 = 10_000_000;

pub(super) struct Cpus {
    free: Cell<u32>,
    line: RefCell<VecDeque<TaskNumber>>,
}

impl Cpus {
    pub fn new(count: u32) -> Self {
        Self { free: Cell::new(count.max(1)), line: RefCell::default() }
    }
}

impl Machine {
    /// Computes for so long.
    pub async fn compute(&self, mut ns: u64) {
        while ns > 0 {
            let slice = ns.min(SLICE_NS);
            ns -= slice;
            if self.cpus.free.get() > 0 {
                self.cpus.free.set(self.cpus.free.get() - 1);
            } else {
                self.cpus.line.borrow_mut().push_back(self.task());
                // Whoever leaves hands its CPU over.
                self.park().await;
            }
            self.used_cpu(slice);
            self.at(self.now() + slice, Class::Cpu, Event::Run(self.task()));
            self.park().await;
            match self.cpus.line.borrow_mut().pop_front() {
                Some(next) => self.at(self.now(), Class::Cpu, Event::Run(next)),
                None => self.cpus.free.set(self.cpus.free.get() + 1),
            }
        }
    }
}
