//! Used service: how long a process has had the device (or, if tagged, how many requests), how it fades, and the order of the busy
//! processes by it.

use super::{Cfq2, TAGGED_FROM};
use crate::request::{Requests, Slot};

impl Cfq2 {
    fn second(&self) -> u64 {
        self.hz.jiffies_of_millis(1000)
    }

    /// Moves a process behind those that have used less service and before those that have used as much.
    pub(super) fn sort(&mut self, key: u16) {
        self.busy.retain(|&other| other != key);
        let used = self.processes[usize::from(key)].service_used;
        let less = |&other: &u16| self.processes[usize::from(other)].service_used < used;
        let at = self.busy.iter().rposition(less).map_or(0, |at| at + 1);
        self.busy.insert(at, key);
    }

    /// Used service fades when a process has not been served for a second.
    pub(super) fn fade(&mut self, key: u16, jiffies: u64, divisor: u64) -> bool {
        let second = self.second();
        let process = &mut self.processes[usize::from(key)];
        let old = process.service_start.is_some_and(|start| jiffies > start + second);
        if old {
            process.service_used /= divisor;
        }
        old
    }

    pub(super) fn account_start(&mut self, jiffies: u64, requests: &mut Requests, slot: Slot) {
        let key = requests[slot].private.queue;
        let process = &mut self.processes[usize::from(key)];
        process.service_start.get_or_insert(jiffies);
        if self.tagged {
            if self.fade(key, jiffies, 10) {
                self.processes[usize::from(key)].service_start = Some(jiffies);
            }
            self.processes[usize::from(key)].service_used += 1;
            self.resort(key);
        }
        requests[slot].private.due = self.hz.moment(jiffies);
        self.in_device += 1;
        self.tagged |= self.in_device >= TAGGED_FROM;
    }

    pub(super) fn account_end(&mut self, jiffies: u64, key: u16, started: u64) {
        self.in_device -= 1;
        if !self.tagged {
            if self.fade(key, jiffies, 8) {
                self.processes[usize::from(key)].service_start = Some(jiffies);
            }
            self.processes[usize::from(key)].service_used += jiffies - started;
            self.resort(key);
        }
    }

    fn resort(&mut self, key: u16) {
        let Some(at) = self.busy.iter().position(|&other| other == key) else { return };
        let used = |at: usize| self.processes[usize::from(self.busy[at])].service_used;
        let ordered =
            (at == 0 || used(at - 1) <= used(at)) && (at + 1 == self.busy.len() || used(at) <= used(at + 1));
        if !ordered {
            self.sort(key);
        }
    }
}
