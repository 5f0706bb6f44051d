//! A single disk: electronics that process one command at a time, a mechanism that serves one access at a time, a read buffer with
//! look-ahead, a write cache, and a choice among queued commands.
//!
//! ```text
//! submit ─▶ electronics (overhead; bus for what the buffer or the write cache settles) ─▶ waiting ─▶ mechanism ─▶ done
//! ```

mod buffer;
#[cfg(test)]
mod disk_tests;
mod electronics;
mod geometry;
mod mechanism;
mod nearby;
mod rules;
#[cfg(test)]
pub(super) mod testing;
mod write_cache;

pub use buffer::{Buffer, Found};
pub use geometry::{Geometry, GeometryRules, SectorPosition};
pub use mechanism::{Mechanism, Positioning, Target};
pub use rules::DiskRules;
pub use write_cache::{DestageOrder, WriteCache, WriteCacheRules};

use super::{Command, Counters, Device, SECTOR_BYTES};
use nearby::Nearby;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    command: Command,
    since: u64,
}

#[derive(Clone, Copy, Debug)]
struct PendingFlush {
    tag: u32,
    since: u64,
    /// The last write that it waits for.
    number: u64,
}

/// Activity of the electronics.
#[derive(Clone, Copy, Debug)]
enum ElectronicsState {
    /// Decoding a command.
    Overhead,
    /// Data transfer of a command that needs no mechanism.
    Bus,
}

/// Activity of the mechanism.
#[derive(Clone, Copy, Debug)]
enum MediumAccess {
    /// With the time at which its last sector has passed; `None` if it joined look-ahead, which continues.
    Read(Command, Option<u64>),
    Write(Command),
    Destage,
}

/// Time components of an access, ns, in order.
#[derive(Clone, Copy, Debug, Default)]
struct AccessTimes {
    seek: u64,
    rotation: u64,
    transfer: u64,
}

impl AccessTimes {
    /// Subtracts the last `ns` of the access from the counters, because that time has not passed yet.
    fn take_off(self, from: &mut Counters, mut ns: u64) {
        let parts = [
            (self.transfer, &mut from.transfer_ns),
            (self.rotation, &mut from.rotation_ns),
            (self.seek, &mut from.seek_ns),
        ];
        for (part, counted) in parts {
            let off = part.min(ns);
            *counted -= off;
            ns -= off;
        }
    }
}

/// A single disk with its queue, buffer and write cache.
#[derive(Clone, Debug)]
pub struct Disk {
    rules: DiskRules,
    mechanism: Mechanism,
    buffer: Buffer,
    cache: WriteCache,
    arrived: VecDeque<Command>,
    electronics: Option<(u64, ElectronicsState, Command)>,
    /// Commands queued for the mechanism.
    waiting: Nearby<Waiting>,
    /// Writes that wait for space in the write cache.
    no_room: VecDeque<Waiting>,
    flushes: VecDeque<PendingFlush>,
    access: Option<(u64, MediumAccess)>,
    /// Time since which the drive has been idle.
    quiet_since: u64,
    busy_until: u64,
    /// Components of the current access.
    under_way: AccessTimes,
    counters: Counters,
}

impl Disk {
    /// An idle disk, heads over the outermost cylinder.
    #[must_use]
    pub fn new(rules: DiskRules, mechanism: Mechanism) -> Self {
        let buffer = Buffer::new(rules.segments, rules.segment_bytes / SECTOR_BYTES, rules.look_ahead);
        Self {
            rules,
            mechanism,
            buffer,
            cache: WriteCache::new(rules.write_cache),
            arrived: VecDeque::new(),
            electronics: None,
            waiting: Nearby::new(),
            no_room: VecDeque::new(),
            flushes: VecDeque::new(),
            access: None,
            quiet_since: 0,
            busy_until: 0,
            under_way: AccessTimes::default(),
            counters: Counters::default(),
        }
    }

    /// Arm, heads and surfaces.
    #[must_use]
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// Distance from the heads to a sector, cylinders; used to choose between mirrors.
    #[must_use]
    pub fn distance(&self, sector: u64) -> u64 {
        self.mechanism.distance(sector)
    }

    fn bus_ns(&self, sectors: u64) -> u64 {
        let ns = u128::from(sectors * SECTOR_BYTES) * 1_000_000_000;
        ns.checked_div(u128::from(self.rules.bus_bytes_per_s)).unwrap_or(0) as u64
    }

    /// Accounts busy time from `from` to `to`; starts never decrease.
    fn busy(&mut self, from: u64, to: u64) {
        self.counters.busy_ns += to.saturating_sub(from.max(self.busy_until));
        self.busy_until = self.busy_until.max(to);
    }

    /// Starts an access if the mechanism is idle.
    fn start_access(&mut self, now: u64) {
        if self.access.is_some() {
            return;
        }
        let without_room = self.no_room.front().map(|w| w.since);
        let flush = self.flushes.front().map(|f| f.since);
        let destage_first = match without_room.into_iter().chain(flush).min() {
            Some(wanted) => self.waiting.iter().map(|w| w.since).min().is_none_or(|waiting| wanted < waiting),
            None if !self.waiting.is_empty() => false,
            None => self.idle_at().is_some_and(|at| at <= now),
        };
        if destage_first && self.start_destage(now) {
            return;
        }
        if let Some(at) = self.choose(now) {
            let command = self.waiting.remove(at).command;
            self.start_command(now, command);
        }
    }

    fn start_destage(&mut self, now: u64) -> bool {
        self.heads_stop(now);
        let Some((sector, sectors)) = self.cache.next(now, &self.mechanism) else { return false };
        let until = self.move_and_pass(now, sector, sectors, true);
        self.counters.destage_ns += until - now;
        self.access = Some((until, MediumAccess::Destage));
        true
    }

    /// The command that the mechanism serves next: one past the age limit, or the nearest.
    fn choose(&self, now: u64) -> Option<usize> {
        let oldest = self.waiting.first_by(|w| (w.since, w.command.tag))?;
        if self.rules.queue_depth <= 1 || now - self.waiting.get(oldest).since >= self.rules.age_limit_ns {
            return Some(oldest);
        }
        self.waiting.nearest(now, &self.mechanism, |w| w.command.write)
    }

    fn start_command(&mut self, now: u64, command: Command) {
        let mut from = command.sector;
        // Another command may have read some of it by now.
        if !command.write {
            match self.find(now, command) {
                Found::Hit => return self.join(now, command, now),
                Found::OnItsWay(at) => return self.join(now, command, at),
                Found::Miss(behind) => from = behind,
            }
        }
        self.heads_stop(now);
        let end = self.move_and_pass(now, from, command.end() - from, command.write);
        let until = end.max(now + self.bus_ns(u64::from(command.sectors)));
        self.busy(now, until);
        let access =
            if command.write { MediumAccess::Write(command) } else { MediumAccess::Read(command, Some(end)) };
        self.access = Some((until, access));
    }

    /// Look-ahead ends; the heads are where it stopped.
    fn heads_stop(&mut self, now: u64) {
        if let Some(sector) = self.buffer.run(now, &self.mechanism) {
            self.mechanism.stands_at(sector);
        }
        self.buffer.stop();
    }

    /// Moves the arm and passes a run of sectors; returns the end time.
    fn move_and_pass(&mut self, now: u64, sector: u64, sectors: u64, write: bool) -> u64 {
        let way = self.mechanism.positioning(now, sector, write);
        let from = now + way.total_ns();
        let end = self.mechanism.passed_at(from, sector, sectors);
        self.counters.seek_ns += way.seek_ns;
        self.counters.rotation_ns += way.rotation_ns;
        self.counters.transfer_ns += end - from;
        self.under_way = AccessTimes { seek: way.seek_ns, rotation: way.rotation_ns, transfer: end - from };
        self.busy(now, end);
        self.mechanism.stands_at((sector + sectors).saturating_sub(1));
        end
    }

    fn finish_access(&mut self, now: u64, access: MediumAccess, done: &mut Vec<u32>) {
        match access {
            MediumAccess::Read(command, passed_at) => {
                if let Some(at) = passed_at {
                    self.buffer.read(at, command.sector, command.end(), &self.mechanism);
                }
                done.push(command.tag);
            }
            MediumAccess::Write(command) => done.push(command.tag),
            MediumAccess::Destage => {
                self.cache.written();
                self.finish_flushes(done);
                self.let_in(now);
            }
        }
    }

    /// Retries writes that found no space.
    fn let_in(&mut self, now: u64) {
        while self.electronics.is_none()
            && let Some(&Waiting { command, .. }) = self.no_room.front()
            && self.cache.has_room(u64::from(command.sectors))
        {
            self.no_room.pop_front();
            self.take(now, command);
        }
    }

    fn finish_flushes(&mut self, done: &mut Vec<u32>) {
        while let Some(&PendingFlush { tag, number, .. }) = self.flushes.front()
            && self.cache.clean_up_to(number)
        {
            self.flushes.pop_front();
            done.push(tag);
        }
    }

    fn nothing_asked(&self) -> bool {
        self.arrived.is_empty()
            && self.electronics.is_none()
            && self.waiting.is_empty()
            && self.no_room.is_empty()
    }

    /// Time at which idle write-back starts.
    fn idle_at(&self) -> Option<u64> {
        let quiet = self.nothing_asked() && self.access.is_none() && self.cache.waits();
        quiet.then(|| self.quiet_since + self.cache.idle_ns())
    }

    /// Starts all work that can begin at `now`.
    fn settle(&mut self, now: u64) {
        self.let_in(now);
        self.start_electronics(now);
        self.start_access(now);
    }
}

impl Device for Disk {
    fn capacity_sectors(&self) -> u64 {
        self.mechanism.geometry().capacity_sectors()
    }

    fn depth(&self) -> u32 {
        self.rules.queue_depth.max(1)
    }

    fn submit(&mut self, now: u64, command: Command) {
        // Look-ahead ends when the next command arrives, not when it is decoded, unless the command is for the sectors being read. So a
        // busy disk, where the next command is always there, reads almost nothing ahead.
        let goes_on = !command.write && !matches!(self.find(now, command), Found::Miss(_));
        if !goes_on {
            self.heads_stop(now);
        }
        self.arrived.push_back(command);
        self.settle(now);
    }

    fn next_event(&self) -> Option<u64> {
        match (&self.electronics, &self.access) {
            (Some((electronics, ..)), Some((access, _))) => Some(*electronics.min(access)),
            (Some((at, ..)), None) | (None, Some((at, _))) => Some(*at),
            // It is idle only if nothing else is in progress.
            (None, None) => self.idle_at(),
        }
    }

    fn advance(&mut self, now: u64, done: &mut Vec<u32>) {
        while let Some(at) = self.next_event().filter(|&at| at <= now) {
            if let Some((_, access)) = self.access.take_if(|(due, _)| *due <= at) {
                self.finish_access(at, access, done);
                self.quiet_since = at;
            } else if let Some((_, stage, command)) = self.electronics.take_if(|(due, ..)| *due <= at) {
                match stage {
                    ElectronicsState::Overhead => self.decide(at, command, done),
                    ElectronicsState::Bus => done.push(command.tag),
                }
                self.quiet_since = at;
            }
            self.settle(at);
        }
    }

    fn counters(&self, now: u64) -> Counters {
        let mut done = self.counters;
        done.busy_ns -= self.busy_until.saturating_sub(now);
        if let Some((until, ..)) = self.electronics {
            done.overhead_ns -= until.saturating_sub(now);
        }
        if let Some((until, access)) = self.access {
            let beyond = until.saturating_sub(now);
            if matches!(access, MediumAccess::Destage) {
                done.destage_ns -= beyond;
            }
            self.under_way.take_off(&mut done, beyond);
        }
        done
    }
}
