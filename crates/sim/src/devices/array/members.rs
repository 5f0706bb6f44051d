//! The disks of an array: accesses queue at each disk up to its command limit, and completions return their owner's number.

use super::layout::MemberExtent;
use crate::devices::disk::Disk;
use crate::devices::{Command, Counters, Device};
use std::collections::VecDeque;

/// Disks with their queues.
pub struct Members {
    disks: Vec<Disk>,
    queues: Vec<VecDeque<Command>>,
    outstanding: Vec<u32>,
    /// Next event time of each disk, refreshed after every submit and advance.
    next: Vec<Option<u64>>,
    /// Owner of each access in flight, and the free numbers.
    owners: Vec<u32>,
    free: Vec<u32>,
    done: Vec<u32>,
}

impl Members {
    /// `count` identical disks.
    #[must_use]
    pub fn new(disk: &Disk, count: usize) -> Self {
        Self {
            disks: vec![disk.clone(); count],
            queues: vec![VecDeque::new(); count],
            outstanding: vec![0; count],
            next: vec![None; count],
            owners: Vec::new(),
            free: Vec::new(),
            done: Vec::new(),
        }
    }

    /// Queues an access; `owner` is returned when it completes.
    pub fn ask(&mut self, now: u64, extent: MemberExtent, write: bool, owner: u32) {
        let tag = self.free.pop().unwrap_or_else(|| {
            self.owners.push(0);
            (self.owners.len() - 1) as u32
        });
        self.owners[tag as usize] = owner;
        let sectors = extent.sectors as u32;
        self.queues[extent.member].push_back(Command {
            tag,
            write,
            sector: extent.sector,
            sectors,
            segments: 1,
        });
        self.feed(now, extent.member);
    }

    fn feed(&mut self, now: u64, member: usize) {
        let disk = &mut self.disks[member];
        while self.outstanding[member] < disk.depth()
            && let Some(command) = self.queues[member].pop_front()
        {
            self.outstanding[member] += 1;
            disk.submit(now, command);
        }
        self.next[member] = disk.next_event();
    }

    /// The member that reaches a sector soonest: fewest waiting accesses, then shortest seek.
    #[must_use]
    pub fn nearest(&self, among: impl Iterator<Item = usize>, sector: u64) -> Option<usize> {
        let load = |m: usize| self.queues[m].len() as u32 + self.outstanding[m];
        among.min_by_key(|&m| (load(m), self.disks[m].distance(sector), m))
    }

    /// Time of the next event of any disk, ns.
    #[must_use]
    pub fn next_event(&self) -> Option<u64> {
        self.next.iter().flatten().min().copied()
    }

    /// Advances to `now`; appends the owners of completed accesses.
    pub fn advance(&mut self, now: u64, owners: &mut Vec<u32>) {
        for member in 0..self.disks.len() {
            if self.next[member].is_none_or(|at| at > now) {
                continue;
            }
            self.disks[member].advance(now, &mut self.done);
            for tag in self.done.drain(..) {
                owners.push(self.owners[tag as usize]);
                self.free.push(tag);
                self.outstanding[member] -= 1;
            }
            self.feed(now, member);
        }
    }

    /// Sum of the counters of all disks up to `now`.
    #[must_use]
    pub fn counters(&self, now: u64) -> Counters {
        let members = u32::try_from(self.disks.len()).unwrap_or(u32::MAX);
        let mut all = Counters { members, ..Counters::default() };
        for c in self.disks.iter().map(|disk| disk.counters(now)) {
            all.seek_ns += c.seek_ns;
            all.rotation_ns += c.rotation_ns;
            all.transfer_ns += c.transfer_ns;
        }
        all
    }
}
