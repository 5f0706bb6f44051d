//! A device that serves several commands in parallel, first come, first served, each for a time drawn from a distribution plus a time per
//! byte. It models a loop device, a network volume or a rate limit of which only response times were observed.

use super::{Command, Counters, Device, SECTOR_BYTES};
use crate::random::{Entity, Stream};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Seed of the device's own random stream, constant so that runs with other seeds differ by their workload only.
const SEED: u64 = 0;

/// Parameters of the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistributionRules {
    /// Capacity in sectors.
    pub capacity_sectors: u64,
    /// Maximum number of commands outstanding at once.
    pub depth: u32,
    /// Commands served in parallel.
    pub channels: u32,
    /// Service times of reads.
    pub reads: CommandRules,
    /// Service times of writes.
    pub writes: CommandRules,
    /// Times of flushes, ns; if empty, flushes take as long as writes.
    pub flush_ns: Vec<u64>,
}

/// Service times of commands of one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandRules {
    /// Times for which a command holds a channel, equally likely, ns.
    pub times_ns: Vec<u64>,
    /// Transfer rate, which extends the hold; 0: bytes take no time.
    pub bytes_per_s: u64,
    /// From the release of the channel to the completion seen by the waiting task, ns.
    pub beside_ns: u64,
}

/// A command being served; ordered by end, then arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Serving {
    until: u64,
    number: u64,
    tag: u32,
    command_ns: u64,
    transfer_ns: u64,
    beside_ns: u64,
}

/// A device with service times drawn from a distribution.
#[derive(Debug)]
pub struct Distribution {
    rules: DistributionRules,
    chance: Stream,
    /// Values of the lists not drawn yet. A list is used up before any value repeats, so rare long times keep their frequency.
    read_left: Vec<u64>,
    write_left: Vec<u64>,
    flush_left: Vec<u64>,
    waiting: VecDeque<Command>,
    serving: BinaryHeap<Reverse<Serving>>,
    /// Commands that have left their channel: completion time, sequence number, tag.
    leaving: BinaryHeap<Reverse<(u64, u64, u32)>>,
    number: u64,
    busy_since: u64,
    /// Counters of completed commands.
    counters: Counters,
}

impl Distribution {
    /// An idle device.
    #[must_use]
    pub fn new(rules: DistributionRules) -> Self {
        Self {
            rules,
            chance: Stream::new(SEED, Entity::Device(0)),
            read_left: Vec::new(),
            write_left: Vec::new(),
            flush_left: Vec::new(),
            waiting: VecDeque::new(),
            serving: BinaryHeap::new(),
            leaving: BinaryHeap::new(),
            number: 0,
            busy_since: 0,
            counters: Counters::default(),
        }
    }

    fn drawn(&mut self, command: Command) -> u64 {
        let rules = &self.rules;
        let (times, left) = if command.is_flush() && !rules.flush_ns.is_empty() {
            (&rules.flush_ns, &mut self.flush_left)
        } else if command.write {
            (&rules.writes.times_ns, &mut self.write_left)
        } else {
            (&rules.reads.times_ns, &mut self.read_left)
        };
        if left.is_empty() {
            left.extend_from_slice(times);
        }
        match left.len() as u64 {
            0 => 0,
            n => left.swap_remove(self.chance.below(n) as usize),
        }
    }

    fn start(&mut self, now: u64) {
        while self.serving.len() < self.rules.channels.max(1) as usize
            && let Some(command) = self.waiting.pop_front()
        {
            let command_ns = self.drawn(command);
            let rules = if command.write { &self.rules.writes } else { &self.rules.reads };
            let bytes = u128::from(command.sectors) * u128::from(SECTOR_BYTES) * 1_000_000_000;
            let transfer_ns = bytes.checked_div(u128::from(rules.bytes_per_s)).unwrap_or(0) as u64;
            // A flush with its own times has no `beside_ns`.
            let of_its_own = command.is_flush() && !self.rules.flush_ns.is_empty();
            let beside_ns = if of_its_own { 0 } else { rules.beside_ns };
            if self.is_at_rest() {
                self.busy_since = now;
            }
            self.number += 1;
            let until = now + command_ns + transfer_ns;
            self.serving.push(Reverse(Serving {
                until,
                number: self.number,
                tag: command.tag,
                command_ns,
                transfer_ns,
                beside_ns,
            }));
        }
    }

    fn is_at_rest(&self) -> bool {
        self.serving.is_empty() && self.leaving.is_empty()
    }

    /// Completes a command; its end may be the end of the device's busy time.
    fn is_done(&mut self, tag: u32, at: u64, done: &mut Vec<u32>) {
        done.push(tag);
        if self.is_at_rest() {
            self.counters.busy_ns += at - self.busy_since;
        }
    }

    /// Takes the command that leaves its channel first; it completes now or later.
    fn leaves(&mut self, done: &mut Vec<u32>) {
        let Some(Reverse(first)) = self.serving.pop() else { return };
        self.counters.overhead_ns += first.command_ns;
        self.counters.transfer_ns += first.transfer_ns;
        match first.beside_ns {
            0 => self.is_done(first.tag, first.until, done),
            beside => self.leaving.push(Reverse((first.until + beside, first.number, first.tag))),
        }
        self.start(first.until);
    }
}

impl Device for Distribution {
    fn capacity_sectors(&self) -> u64 {
        self.rules.capacity_sectors
    }

    fn depth(&self) -> u32 {
        self.rules.depth.max(1)
    }

    fn submit(&mut self, now: u64, command: Command) {
        self.waiting.push_back(command);
        self.start(now);
    }

    fn next_event(&self) -> Option<u64> {
        let served = self.serving.peek().map(|Reverse(first)| first.until);
        let left = self.leaving.peek().map(|Reverse(first)| first.0);
        served.into_iter().chain(left).min()
    }

    fn advance(&mut self, now: u64, done: &mut Vec<u32>) {
        while let Some(at) = self.next_event().filter(|&at| at <= now) {
            match self.leaving.peek() {
                Some(&Reverse((until, _, tag))) if until == at => {
                    self.leaving.pop();
                    self.is_done(tag, at, done);
                }
                _ => self.leaves(done),
            }
        }
    }

    fn counters(&self, now: u64) -> Counters {
        let mut so_far = Counters { members: self.rules.channels.max(1), ..self.counters };
        if !self.is_at_rest() {
            so_far.busy_ns += now.saturating_sub(self.busy_since);
        }
        for Reverse(serving) in &self.serving {
            let left = serving.until.saturating_sub(now);
            so_far.transfer_ns += serving.transfer_ns.saturating_sub(left);
            so_far.overhead_ns += serving.command_ns - left.saturating_sub(serving.transfer_ns);
        }
        so_far
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{closed, read, write};
    use super::*;

    fn rules(channels: u32) -> DistributionRules {
        DistributionRules {
            capacity_sectors: 1 << 20,
            depth: 8,
            channels,
            reads: CommandRules { times_ns: vec![1000, 3000], bytes_per_s: 512_000_000, beside_ns: 0 },
            writes: CommandRules { times_ns: vec![50_000], bytes_per_s: 512_000_000, beside_ns: 0 },
            flush_ns: Vec::new(),
        }
    }

    #[test]
    fn time_outside_the_channel_does_not_block_other_commands() {
        let reads: Vec<_> = (0..64).map(|n| read(n, u64::from(n) * 8, 8)).collect();
        let end = |depth| {
            let mut with = rules(1);
            with.reads = CommandRules { times_ns: vec![2000], bytes_per_s: 0, beside_ns: 6000 };
            let mut device = Distribution::new(with);
            let done = closed(&mut device, &reads, depth);
            let at = *done.iter().max().unwrap();
            (at, device.counters(at))
        };
        let (alone, counters) = end(1);
        assert_eq!((alone, counters.busy_ns, counters.overhead_ns), (64 * 8000, alone, 64 * 2000));
        // Four at once keep the one channel busy; the last completes 6 us after leaving it.
        assert_eq!(end(4).0, 64 * 2000 + 6000);
    }

    #[test]
    fn a_flush_has_its_own_time_if_known() {
        let mut with = rules(1);
        let flush = |rules: &DistributionRules| {
            let mut device = Distribution::new(rules.clone());
            device.submit(0, write(0, 0, 0));
            device.next_event()
        };
        with.writes.beside_ns = 5;
        assert_eq!(flush(&with), Some(50_000));
        with.flush_ns = vec![2_000_000];
        assert_eq!(flush(&with), Some(2_000_000));
    }

    #[test]
    fn channels_serve_at_the_same_time_and_each_command_has_a_time_of_the_list() {
        let reads: Vec<_> = (0..4000).map(|n| read(n % 8, u64::from(n) * 8, 8)).collect();
        let end = |channels, depth| {
            let mut device = Distribution::new(rules(channels));
            let done = closed(&mut device, &reads, depth);
            let at = *done.iter().max().unwrap();
            (at, device.counters(at))
        };
        // 2 us on average plus eight sectors at 1 us each; both times equally often.
        let (one, counters) = end(1, 1);
        assert_eq!(one, 4000 * 10_000);
        assert_eq!((counters.busy_ns, counters.overhead_ns + counters.transfer_ns), (one, one));
        let (four, counters) = end(4, 8);
        assert!((four as f64 * 4.0 / one as f64 - 1.0).abs() < 0.02, "{four} {one}");
        assert!(counters.busy_ns == four && counters.members == 4);
        assert_eq!(end(1, 8).0, one, "one after the other however many wait");
    }

    #[test]
    fn writes_have_separate_times_and_running_commands_count_up_to_now() {
        let mut device = Distribution::new(rules(1));
        device.submit(0, write(0, 0, 8));
        assert_eq!(device.next_event(), Some(58_000));
        let half = device.counters(29_000);
        assert_eq!((half.busy_ns, half.overhead_ns, half.transfer_ns), (29_000, 29_000, 0));
        let late = device.counters(54_000);
        assert_eq!((late.busy_ns, late.overhead_ns, late.transfer_ns), (54_000, 50_000, 4000));
        let mut done = Vec::new();
        device.advance(60_000, &mut done);
        let all = device.counters(60_000);
        assert_eq!((all.busy_ns, all.overhead_ns, all.transfer_ns), (58_000, 50_000, 8000));
    }
}
