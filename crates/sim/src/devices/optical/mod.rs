//! A CD or DVD drive: one spiral read at zone rates (constant linear or constant angular velocity, or steps between), a slow sledge, a
//! buffer that is filled ahead. Commands come one after the other. The medium is only read: a write takes the overhead and changes nothing.

use super::curve::SeekCurve;
use super::{Command, Counters, Device, SECTOR_BYTES};
use std::collections::VecDeque;

/// A zone of the spiral.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpticalZone {
    /// Where it begins.
    pub first_sector: u64,
    /// At which it is read.
    pub bytes_per_s: u64,
    /// Time of a turn there, ns.
    pub turn_ns: u64,
}

/// The numbers of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct OpticalRules {
    /// Sectors of 512 bytes.
    pub capacity_sectors: u64,
    /// Zones from the inside out; the first begins at 0.
    pub zones: Vec<OpticalZone>,
    /// Time of the sledge by distance in thousandths of the medium.
    pub seek: SeekCurve,
    /// Before each command, ns.
    pub overhead_ns: u64,
    /// Of the interface; 0: no limit.
    pub bus_bytes_per_s: u64,
    /// The buffer; 0: none, and nothing is read ahead.
    pub buffer_bytes: u64,
}

/// A drive.
#[derive(Clone, Debug)]
pub struct Optical {
    rules: OpticalRules,
    waiting: VecDeque<Command>,
    serving: Option<(u64, Stage, Command)>,
    /// The buffer holds these sectors, the last of them passing now.
    first: u64,
    /// A sector that begins to pass at `at`, ns.
    sector: u64,
    at: u64,
    /// Reading stops before this one.
    limit: u64,
    counters: Counters,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Overhead,
    Data,
}

impl Optical {
    /// A drive that has just been closed, its sledge inside.
    #[must_use]
    pub fn new(rules: OpticalRules) -> Self {
        Self {
            rules,
            waiting: VecDeque::new(),
            serving: None,
            first: 0,
            sector: 0,
            at: 0,
            limit: 0,
            counters: Counters::default(),
        }
    }

    fn zone(&self, sector: u64) -> (OpticalZone, u64) {
        let after = self.rules.zones.partition_point(|zone| zone.first_sector <= sector).max(1);
        let end = self.rules.zones.get(after).map_or(u64::MAX, |zone| zone.first_sector);
        (self.rules.zones[after - 1], end)
    }

    /// When the sectors before `end` have passed, reckoned from where the reading is.
    fn passed_at(&self, end: u64) -> u64 {
        let (mut sector, mut at) = (self.sector, self.at);
        while sector < end {
            let (zone, zone_end) = self.zone(sector);
            let here = end.min(zone_end) - sector;
            at += scaled(here * SECTOR_BYTES, 1_000_000_000, zone.bytes_per_s);
            sector += here;
        }
        at
    }

    /// The first sector that has not passed by `now`.
    fn reached(&self, now: u64) -> u64 {
        let (mut sector, mut at) = (self.sector, self.at);
        while sector < self.limit && at < now {
            let (zone, zone_end) = self.zone(sector);
            let passed = scaled(now - at, zone.bytes_per_s, 1_000_000_000) / SECTOR_BYTES;
            let here = self.limit.min(zone_end) - sector;
            if passed < here {
                return sector + passed;
            }
            at += scaled(here * SECTOR_BYTES, 1_000_000_000, zone.bytes_per_s);
            sector += here;
        }
        sector
    }

    fn bus_ns(&self, command: Command) -> u64 {
        scaled(command.bytes(), 1_000_000_000, self.rules.bus_bytes_per_s)
    }

    fn start(&mut self, now: u64) {
        if self.serving.is_none()
            && let Some(command) = self.waiting.pop_front()
        {
            self.counters.overhead_ns += self.rules.overhead_ns;
            self.counters.busy_ns += self.rules.overhead_ns;
            self.serving = Some((now + self.rules.overhead_ns, Stage::Overhead, command));
        }
    }

    fn data(&mut self, now: u64, command: Command) {
        let bus_ns = self.bus_ns(command);
        let from_bus = now + bus_ns;
        let reached = self.reached(now);
        let buffered = self.rules.buffer_bytes / SECTOR_BYTES;
        let first = self.first.max(reached.saturating_sub(buffered));
        // Waiting for what comes within a turn is shorter than going there.
        let (zone, _) = self.zone(command.sector);
        let patience = scaled(zone.turn_ns, zone.bytes_per_s, 1_000_000_000) / SECTOR_BYTES;
        let near = command.sector >= first && command.sector <= reached + patience && reached > self.first;
        let until = if near && buffered > 0 {
            self.counters.read_hits += 1;
            self.limit = self.limit.max(command.end());
            from_bus.max(self.passed_at(command.end()))
        } else {
            let way = self.go(now, reached, command.sector);
            let until = self.passed_at(command.end());
            self.counters.transfer_ns += until - now - way;
            until.max(from_bus)
        };
        self.limit = self.limit.max((command.end() + buffered).min(self.rules.capacity_sectors));
        self.counters.busy_ns += until - now;
        self.serving = Some((until, Stage::Data, command));
    }

    /// The sledge goes to a sector; returns how long it takes until that passes.
    fn go(&mut self, now: u64, from: u64, sector: u64) -> u64 {
        let thousandths = (from.abs_diff(sector) * 1000).div_ceil(self.rules.capacity_sectors.max(1));
        let seek_ns = if from == sector { 0 } else { self.rules.seek.ns(thousandths) };
        let (zone, _) = self.zone(sector);
        let angle = scaled((sector - zone.first_sector) * SECTOR_BYTES, 1_000_000_000, zone.bytes_per_s)
            % zone.turn_ns;
        let rotation_ns = (angle + zone.turn_ns - (now + seek_ns) % zone.turn_ns) % zone.turn_ns;
        self.counters.seek_ns += seek_ns;
        self.counters.rotation_ns += rotation_ns;
        (self.first, self.sector, self.at, self.limit) =
            (sector, sector, now + seek_ns + rotation_ns, sector);
        seek_ns + rotation_ns
    }
}

/// value * times / by, without overflow; 0 for a `by` of 0, which stands for no limit.
fn scaled(value: u64, times: u64, by: u64) -> u64 {
    (u128::from(value) * u128::from(times)).checked_div(u128::from(by)).unwrap_or(0) as u64
}

impl Device for Optical {
    fn capacity_sectors(&self) -> u64 {
        self.rules.capacity_sectors
    }

    fn depth(&self) -> u32 {
        1
    }

    fn submit(&mut self, now: u64, command: Command) {
        self.waiting.push_back(command);
        self.start(now);
    }

    fn next_event(&self) -> Option<u64> {
        self.serving.map(|(at, ..)| at)
    }

    fn advance(&mut self, now: u64, done: &mut Vec<u32>) {
        while let Some((at, stage, command)) = self.serving.take_if(|(at, ..)| *at <= now) {
            match stage {
                Stage::Overhead if !command.write => self.data(at, command),
                Stage::Overhead | Stage::Data => done.push(command.tag),
            }
            self.start(at);
        }
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{closed, numbers, open, read, write};
    use super::*;

    const MS: u64 = 1_000_000;

    fn drive(buffer_bytes: u64) -> Optical {
        Optical::new(OpticalRules {
            capacity_sectors: 4_000_000,
            zones: vec![
                OpticalZone { first_sector: 0, bytes_per_s: 5_120_000, turn_ns: 10 * MS },
                OpticalZone { first_sector: 2_000_000, bytes_per_s: 10_240_000, turn_ns: 10 * MS },
            ],
            seek: SeekCurve::through(1000, 20 * MS, 80 * MS, 150 * MS).unwrap(),
            overhead_ns: MS / 2,
            bus_bytes_per_s: 20_480_000,
            buffer_bytes,
        })
    }

    #[test]
    fn outer_zones_are_faster() {
        let time = |first: u64| {
            let commands: Vec<_> = (0..1000).map(|n| read(n, first + u64::from(n) * 64, 64)).collect();
            *closed(&mut drive(2 << 20), &commands, 1).last().unwrap()
        };
        let (inner, outer) = (time(10), time(2_000_000));
        assert!(inner / MS > 6_380 && inner / MS < 6_500, "{inner}");
        assert!(outer / MS > 3_190 && outer / MS < 3_400, "{outer}");
    }

    #[test]
    fn what_lies_in_the_buffer_costs_overhead_and_bus() {
        let mut drive = drive(1 << 20);
        let done = open(
            &mut drive,
            &[(0, read(0, 100, 8)), (900 * MS, read(1, 108, 40)), (1000 * MS, read(2, 900_000, 8))],
        );
        assert_eq!(done[1], 900 * MS + MS / 2 + MS);
        assert!(done[2] - 1000 * MS > 50 * MS, "far away");
        assert_eq!(drive.counters().read_hits, 1);
    }

    #[test]
    fn without_a_buffer_every_command_waits_for_its_turn() {
        let commands: Vec<_> = (0..20).map(|n| read(n, u64::from(n) * 4, 4)).collect();
        let done = closed(&mut drive(0), &commands, 1);
        assert!(done.windows(2).all(|pair| pair[1] - pair[0] > 9 * MS), "{done:?}");
    }

    #[test]
    fn random_reads_cost_the_sledge_and_half_a_turn() {
        let commands: Vec<_> = numbers(3_999_000, 400, 3).iter().map(|&s| read(0, s, 8)).collect();
        let mut drive = drive(1 << 20);
        let done = closed(&mut drive, &commands, 1);
        let mean = done.last().unwrap() / 400;
        assert!(mean > 75 * MS && mean < 95 * MS, "{mean}");
        let turn = drive.counters().rotation_ns / 400;
        assert!(turn > 4 * MS && turn < 6 * MS, "{turn}");
    }

    #[test]
    fn a_write_changes_nothing() {
        assert_eq!(closed(&mut drive(1 << 20), &[write(0, 5, 8)], 1), [MS / 2]);
    }
}
