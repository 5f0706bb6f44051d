//! An array behind a controller: host writes go through the controller's cache or bypass it, are cut into stripes, and become accesses to
//! the members. Every rule of the controller can be switched off.
//!
//! ```text
//!                                   ┌─ cache (done) ─▶ dirty stripes ─▶ destage ─┐
//! submit ─▶ firmware ─▶ link (XOR) ─┤                                            ├─▶ jobs ─▶ stripes ─▶ members
//!                                   └─ past it ─▶ in their order ────────────────┘
//! ```

#[cfg(test)]
mod array_tests;
mod dirty;
mod jobs;
mod layout;
mod members;
mod plan;
mod reads;
mod rules;

pub use layout::{ArrayLayout, MemberExtent, RaidLevel, UnitPart};
pub use rules::ArrayRules;

use super::disk::Disk;
use super::{Command, Counters, Device, SECTOR_BYTES};
use dirty::DirtyStripes;
use jobs::{JobKind, Jobs};
use members::Members;
use std::collections::VecDeque;

/// Data in transfer between host and controller.
#[derive(Clone, Copy, Debug)]
enum Transfer {
    ToCache(Command),
    PastCache(Command),
    ToHost(u32),
}

/// An array: controller, cache and member disks.
pub struct Array {
    rules: ArrayRules,
    layout: ArrayLayout,
    members: Members,
    arrived: VecDeque<Command>,
    firmware: Option<(u64, Command)>,
    link_until: u64,
    transfers: VecDeque<(u64, Transfer)>,
    /// Writes that wait for space in the cache.
    no_room: VecDeque<Command>,
    /// Writes that bypass the cache, in order.
    past: VecDeque<Command>,
    bypass_running: u32,
    dirty: DirtyStripes,
    /// Cache space reserved for transfers in flight.
    promised_sectors: u64,
    /// Sectors that left the cache but are not on the disks yet.
    leaving_sectors: u64,
    /// Sectors of writes in flight.
    outstanding_sectors: u64,
    jobs: Jobs,
    destaging: u32,
    /// Time at which the oldest partial stripe has waited long enough.
    destage_at: Option<u64>,
    owners: Vec<u32>,
    busy_since: Option<u64>,
    destaging_since: Option<u64>,
    counters: Counters,
}

impl Array {
    /// An array of disks identical to `disk`.
    #[must_use]
    pub fn new(rules: ArrayRules, layout: ArrayLayout, disk: &Disk, members: usize) -> Self {
        Self {
            rules,
            layout,
            members: Members::new(disk, members),
            arrived: VecDeque::new(),
            firmware: None,
            link_until: 0,
            transfers: VecDeque::new(),
            no_room: VecDeque::new(),
            past: VecDeque::new(),
            bypass_running: 0,
            dirty: DirtyStripes::new(layout.stripe_sectors()),
            promised_sectors: 0,
            leaving_sectors: 0,
            outstanding_sectors: 0,
            jobs: Jobs::default(),
            destaging: 0,
            destage_at: None,
            owners: Vec::new(),
            busy_since: None,
            destaging_since: None,
            counters: Counters::default(),
        }
    }

    fn write_cache_sectors(&self) -> u64 {
        if self.rules.battery { self.rules.write_cache_bytes / SECTOR_BYTES } else { 0 }
    }

    fn start_firmware(&mut self, now: u64) {
        if self.firmware.is_none()
            && let Some(command) = self.arrived.pop_front()
        {
            self.counters.overhead_ns += self.rules.firmware_ns;
            self.firmware = Some((now + self.rules.firmware_ns, command));
        }
    }

    /// The firmware has processed a command.
    fn decide(&mut self, now: u64, command: Command, done: &mut Vec<u32>) {
        if command.is_flush() {
            // Completed writes are on the disks or in battery-backed memory.
            done.push(command.tag);
        } else if !command.write {
            self.read(now, command);
        } else if self.goes_past(command) {
            self.counters.bypassed_writes += u64::from(self.write_cache_sectors() > 0);
            self.transfer(now, u64::from(command.sectors), Transfer::PastCache(command));
        } else if self.no_room.is_empty() && self.has_room(command) {
            self.enter_cache(now, command);
        } else {
            self.no_room.push_back(command);
        }
    }

    fn goes_past(&self, command: Command) -> bool {
        let rules = &self.rules;
        let room = self.write_cache_sectors();
        let overfull = self.dirty.sectors() + self.leaving_sectors + self.outstanding_sectors > room;
        u64::from(command.sectors) > room
            || (rules.bypass_above_bytes > 0 && command.bytes() > rules.bypass_above_bytes)
            || (rules.bypass_above_segments > 0 && command.segments > rules.bypass_above_segments)
            || (rules.bypass_when_overfull && overfull)
    }

    fn has_room(&self, command: Command) -> bool {
        let held = self.dirty.sectors() + self.leaving_sectors + self.promised_sectors;
        held + u64::from(command.sectors) <= self.write_cache_sectors()
    }

    fn enter_cache(&mut self, now: u64, command: Command) {
        self.promised_sectors += u64::from(command.sectors);
        self.transfer(now, u64::from(command.sectors), Transfer::ToCache(command));
    }

    fn transfer(&mut self, now: u64, sectors: u64, what: Transfer) {
        let ns = u128::from(sectors * SECTOR_BYTES) * 1_000_000_000;
        let ns = ns.checked_div(u128::from(self.rules.link_bytes_per_s)).unwrap_or(0) as u64;
        self.link_until = self.link_until.max(now) + ns;
        self.transfers.push_back((self.link_until, what));
    }

    fn transferred(&mut self, now: u64, what: Transfer, done: &mut Vec<u32>) {
        match what {
            Transfer::ToHost(tag) => done.push(tag),
            Transfer::PastCache(command) => self.past.push_back(command),
            Transfer::ToCache(command) => {
                self.promised_sectors -= u64::from(command.sectors);
                self.outstanding_sectors -= u64::from(command.sectors);
                for (stripe, from, to) in self.layout.stripes(command.sector, command.end()) {
                    self.dirty.add(now, stripe, from, to);
                }
                self.counters.cached_writes += 1;
                done.push(command.tag);
            }
        }
    }

    /// Starts waiting commands that bypass the cache.
    fn start_past(&mut self, now: u64) {
        let at_once = self.rules.bypass_at_once;
        while (at_once == 0 || self.bypass_running < at_once)
            && let Some(first) = self.past.pop_front()
        {
            self.start_bypass_from(first);
        }
        self.go_on(now);
    }

    /// Joins a command with those that directly follow it.
    fn start_bypass_from(&mut self, first: Command) {
        let (mut tags, mut end) = (vec![(first.tag, first.sectors)], first.end());
        while let Some(next) = self.past.front().filter(|next| next.sector == end)
            && (next.end() - first.sector) * SECTOR_BYTES <= self.rules.coalesce_bytes
        {
            tags.push((next.tag, next.sectors));
            end = next.end();
            self.past.pop_front();
        }
        self.bypass_running += 1;
        let at_once = self.rules.stripes_at_once;
        let stripes =
            self.layout.stripes(first.sector, end).map(|(stripe, from, to)| (stripe, vec![(from, to)]));
        let stripes = stripes.collect();
        self.jobs.start_write(JobKind::Bypass(tags), stripes, at_once);
    }

    /// Writes back dirty stripes.
    fn start_destage(&mut self, now: u64) {
        while self.destaging < self.rules.destage_at_once.max(1) {
            let due = self.dirty.due(self.rules.merge_window_ns).is_some_and(|at| at <= now);
            let wanted = due || !self.no_room.is_empty();
            let run = u64::from(self.rules.destage_run.max(1));
            let jobs = &self.jobs;
            let Some(leaving) = self.dirty.take(run, wanted, |stripe| jobs.is_busy(stripe)) else { return };
            self.destaging += 1;
            self.leaving_sectors += self.jobs.start_destage(leaving, self.layout.stripe_sectors());
            self.go_on(now);
        }
    }

    fn go_on(&mut self, now: u64) {
        self.jobs.go_on(now, &self.layout, self.rules.reconstruct, &mut self.members);
    }

    fn member_done(&mut self, now: u64, owner: u32, done: &mut Vec<u32>) {
        let finished = self.jobs.access_done(now, owner, &mut self.members);
        match finished {
            None => {}
            Some(JobKind::Read(command)) => {
                self.transfer(now, u64::from(command.sectors), Transfer::ToHost(command.tag));
            }
            Some(JobKind::Bypass(tags)) => {
                for (tag, sectors) in tags {
                    self.outstanding_sectors -= u64::from(sectors);
                    done.push(tag);
                }
                self.bypass_running -= 1;
            }
            Some(JobKind::Destage(sectors)) => {
                self.leaving_sectors -= sectors;
                self.destaging -= 1;
            }
        }
    }

    /// Starts all work that can begin at `now`.
    fn settle(&mut self, now: u64) {
        while let Some(&command) = self.no_room.front().filter(|command| self.has_room(**command)) {
            self.no_room.pop_front();
            self.enter_cache(now, command);
        }
        self.start_firmware(now);
        self.start_past(now);
        self.start_destage(now);
        let window = self.rules.merge_window_ns;
        // Stripes already past the window wait for a busy stripe or a slot, not for time.
        self.destage_at = self.dirty.due(window).filter(|&at| at > now);
        self.note_busy(now);
    }

    fn note_busy(&mut self, now: u64) {
        let works = self.firmware.is_some() || !self.transfers.is_empty() || !self.jobs.is_empty();
        self.counters.busy_ns += ended(&mut self.busy_since, works, now);
        self.counters.destage_ns += ended(&mut self.destaging_since, self.destaging > 0, now);
    }
}

/// Duration of an activity that ends now; 0 if it does not.
fn ended(since: &mut Option<u64>, goes_on: bool, now: u64) -> u64 {
    if goes_on {
        since.get_or_insert(now);
        return 0;
    }
    since.take().map_or(0, |since| now - since)
}

impl Device for Array {
    fn capacity_sectors(&self) -> u64 {
        self.layout.capacity_sectors()
    }

    fn depth(&self) -> u32 {
        self.rules.depth.max(1)
    }

    fn submit(&mut self, now: u64, command: Command) {
        if command.write {
            self.outstanding_sectors += u64::from(command.sectors);
        }
        self.arrived.push_back(command);
        self.settle(now);
    }

    fn next_event(&self) -> Option<u64> {
        let firmware = self.firmware.map(|(at, _)| at);
        let transfer = self.transfers.front().map(|&(at, _)| at);
        [firmware, transfer, self.members.next_event(), self.destage_at].into_iter().flatten().min()
    }

    fn advance(&mut self, now: u64, done: &mut Vec<u32>) {
        while let Some(at) = self.next_event().filter(|&at| at <= now) {
            let mut owners = std::mem::take(&mut self.owners);
            self.members.advance(at, &mut owners);
            for owner in owners.drain(..) {
                self.member_done(at, owner, done);
            }
            self.owners = owners;
            while let Some(&(_, what)) = self.transfers.front().filter(|(due, _)| *due <= at) {
                self.transfers.pop_front();
                self.transferred(at, what, done);
            }
            if let Some((_, command)) = self.firmware.take_if(|(due, _)| *due <= at) {
                self.decide(at, command, done);
            }
            self.settle(at);
        }
    }

    fn counters(&self, now: u64) -> Counters {
        let members = self.members.counters(now);
        let going_on = |since: Option<u64>| since.map_or(0, |since| now.saturating_sub(since));
        Counters {
            busy_ns: self.counters.busy_ns + going_on(self.busy_since),
            destage_ns: self.counters.destage_ns + going_on(self.destaging_since),
            seek_ns: members.seek_ns,
            rotation_ns: members.rotation_ns,
            transfer_ns: members.transfer_ns,
            members: members.members,
            ..self.counters
        }
    }
}
