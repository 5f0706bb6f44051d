//! A device that serves one command at a time, each in a fixed time plus a time per byte. For tests of the layers above a device, and to
//! see what remains when the device costs next to nothing.

use super::{Command, Counters, Device, SECTOR_BYTES};
use std::collections::VecDeque;

/// A device with constant service time; first come, first served.
pub struct Constant {
    capacity_sectors: u64,
    depth: u32,
    command_ns: u64,
    bytes_per_s: u64,
    waiting: VecDeque<Command>,
    /// The command being served and its completion time.
    serving: Option<(u32, u64)>,
    /// The part of its time spent on bytes.
    transfer_ns: u64,
    counters: Counters,
}

impl Constant {
    /// A device of `capacity_sectors` that takes `depth` commands at once and serves each in `command_ns` plus its bytes at `bytes_per_s`
    /// (0: no time for bytes).
    #[must_use]
    pub fn new(capacity_sectors: u64, depth: u32, command_ns: u64, bytes_per_s: u64) -> Self {
        let depth = depth.max(1);
        Self {
            capacity_sectors,
            depth,
            command_ns,
            bytes_per_s,
            waiting: VecDeque::with_capacity(depth as usize),
            serving: None,
            transfer_ns: 0,
            counters: Counters::default(),
        }
    }

    fn start(&mut self, now: u64) {
        let Some(command) = self.waiting.pop_front() else { return };
        let bytes = u64::from(command.sectors) * SECTOR_BYTES;
        let transfer_ns = (bytes * 1_000_000_000).checked_div(self.bytes_per_s).unwrap_or(0);
        self.counters.overhead_ns += self.command_ns;
        self.counters.transfer_ns += transfer_ns;
        self.counters.busy_ns += self.command_ns + transfer_ns;
        self.transfer_ns = transfer_ns;
        self.serving = Some((command.tag, now + self.command_ns + transfer_ns));
    }
}

impl Device for Constant {
    fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    fn depth(&self) -> u32 {
        self.depth
    }

    fn submit(&mut self, now: u64, command: Command) {
        self.waiting.push_back(command);
        if self.serving.is_none() {
            self.start(now);
        }
    }

    fn next_event(&self) -> Option<u64> {
        self.serving.map(|(_, at)| at)
    }

    fn advance(&mut self, now: u64, done: &mut Vec<u32>) {
        while let Some((tag, at)) = self.serving.filter(|&(_, at)| at <= now) {
            self.serving = None;
            done.push(tag);
            self.start(at);
        }
    }

    fn counters(&self, now: u64) -> Counters {
        let beyond = self.serving.map_or(0, |(_, at)| at.saturating_sub(now));
        let mut done = self.counters;
        done.busy_ns -= beyond;
        let transfer = beyond.min(self.transfer_ns);
        done.transfer_ns -= transfer;
        done.overhead_ns -= beyond - transfer;
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_served_one_after_the_other() {
        let mut device = Constant::new(1 << 20, 4, 1000, 512_000_000);
        for tag in 0..2 {
            device.submit(0, Command { tag, write: false, sector: 8, sectors: 8, segments: 1 });
        }
        // 1 us plus eight sectors at 1 us each.
        assert_eq!(device.next_event(), Some(9000));
        let mut done = Vec::new();
        device.advance(17_999, &mut done);
        assert_eq!((done.as_slice(), device.next_event()), (&[0][..], Some(18_000)));
        device.advance(18_000, &mut done);
        assert_eq!((done.as_slice(), device.next_event()), (&[0, 1][..], None));
        assert_eq!(device.counters(18_000).busy_ns, 18_000);
    }
}
