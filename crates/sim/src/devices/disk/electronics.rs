//! Command processing before the mechanism: the electronics decode a command, serve it from the read buffer or the write cache, or queue
//! it for the mechanism.

use super::{AccessTimes, Disk, ElectronicsState, Found, MediumAccess, PendingFlush, Waiting};
use crate::devices::Command;

impl Disk {
    pub(super) fn start_electronics(&mut self, now: u64) {
        if self.electronics.is_some() {
            return;
        }
        if let Some(command) = self.arrived.pop_front() {
            let until = now + self.rules.overhead_ns;
            self.counters.overhead_ns += self.rules.overhead_ns;
            self.busy(now, until);
            self.electronics = Some((until, ElectronicsState::Overhead, command));
        }
    }

    /// Decides what to do with a decoded command.
    pub(super) fn decide(&mut self, now: u64, command: Command, done: &mut Vec<u32>) {
        if command.is_flush() {
            let number = self.cache.last_number();
            self.flushes.push_back(PendingFlush { tag: command.tag, since: now, number });
            self.finish_flushes(done);
        } else if command.write {
            self.buffer.forget(command.sector, command.end());
            self.decide_write(now, command);
        } else {
            self.decide_read(now, command);
        }
    }

    fn decide_write(&mut self, now: u64, command: Command) {
        let sectors = u64::from(command.sectors);
        if !self.cache.takes(sectors) {
            self.wait(now, command);
        } else if self.no_room.is_empty() && self.cache.has_room(sectors) {
            self.take(now, command);
        } else {
            self.no_room.push_back(Waiting { command, since: now });
        }
    }

    /// Queues a command for the mechanism.
    fn wait(&mut self, now: u64, command: Command) {
        let target = self.mechanism.target(command.sector);
        self.waiting.push(command.sector, target, Waiting { command, since: now });
    }

    /// The write cache accepts a write.
    pub(super) fn take(&mut self, now: u64, command: Command) {
        self.counters.cached_writes += 1;
        self.cache.keep(command.sector, u64::from(command.sectors), &self.mechanism);
        self.over_the_bus(now, command);
    }

    fn over_the_bus(&mut self, now: u64, command: Command) {
        let bus_ns = self.bus_ns(u64::from(command.sectors));
        self.counters.overhead_ns += bus_ns;
        self.busy(now, now + bus_ns);
        self.electronics = Some((now + bus_ns, ElectronicsState::Bus, command));
    }

    fn decide_read(&mut self, now: u64, command: Command) {
        if self.cache.covers(command.sector, command.end()) {
            self.counters.read_hits += 1;
            self.over_the_bus(now, command);
            return;
        }
        match self.find(now, command) {
            Found::Hit => {
                self.counters.read_hits += 1;
                self.over_the_bus(now, command);
            }
            Found::OnItsWay(at) if self.access.is_none() => self.join(now, command, at),
            Found::OnItsWay(_) | Found::Miss(_) => self.wait(now, command),
        }
    }

    pub(super) fn find(&mut self, now: u64, command: Command) -> Found {
        self.buffer.find(now, command.sector, command.end(), &self.mechanism)
    }

    /// A read waits for look-ahead.
    pub(super) fn join(&mut self, now: u64, command: Command, at: u64) {
        self.counters.read_hits += 1;
        let until = at.max(now + self.bus_ns(u64::from(command.sectors)));
        self.counters.transfer_ns += until - now;
        self.under_way = AccessTimes { transfer: until - now, ..AccessTimes::default() };
        self.busy(now, until);
        self.access = Some((until, MediumAccess::Read(command, None)));
    }
}
