//! A CD or DVD drive: one spiral read at zone rates (constant linear or angular velocity, or steps between), a slow sledge, and a
//! read-ahead buffer. Commands are served one at a time. The medium is read-only: a write takes the overhead and changes nothing; the
//! simulation refuses workloads that would write ([`super::DeviceProfile::is_only_read`]).

#[cfg(test)]
mod sets_tests;
mod spiral;

pub use spiral::{Cav, Clv, DiscRing, OpticalZone, Spiral};

use super::curve::SeekCurve;
use super::{Command, Counters, Device, SECTOR_BYTES};
use std::collections::VecDeque;

/// How the drive reaches a sector.
#[derive(Clone, Debug, PartialEq)]
pub enum PositioningModel {
    /// A seek by distance in thousandths of the medium, then the rest of the turn. Sectors within one turn are waited for.
    Turning(SeekCurve),
    /// One time for seek, settling and half a turn, after which reading starts at an error-correction block.
    Whole {
        /// Time for distance 0, ns.
        settle_ns: u64,
        /// Additional time per square root of the distance in GiB, ns.
        root_ns: u64,
        /// Sectors per block.
        block_sectors: u64,
        /// Gap after the current position up to which the drive reads on instead of seeking, sectors.
        skip_sectors: u64,
    },
}

/// Parameters of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct OpticalRules {
    /// Capacity in sectors of 512 bytes.
    pub capacity_sectors: u64,
    /// Read rate along the spiral.
    pub spiral: Spiral,
    /// How sectors are reached.
    pub access: PositioningModel,
    /// Overhead per command, ns.
    pub overhead_ns: u64,
    /// Interface rate; 0: no limit.
    pub bus_bytes_per_s: u64,
    /// Buffer size; 0: no buffer and no read-ahead.
    pub buffer_bytes: u64,
}

/// A CD or DVD drive.
#[derive(Clone, Debug)]
pub struct Optical {
    rules: OpticalRules,
    waiting: VecDeque<Command>,
    serving: Option<(u64, CommandStep, Command)>,
    /// The buffer holds these sectors; the last of them is being read now.
    first: u64,
    /// A sector whose reading starts at `at`, ns.
    sector: u64,
    at: u64,
    /// Reading stops before this one.
    limit: u64,
    counters: Counters,
}

#[derive(Clone, Copy, Debug)]
enum CommandStep {
    Overhead,
    Data,
}

impl Optical {
    /// A drive that has just been closed, its sledge at the inner end.
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

    /// Time at which the sectors before `end` have been read, computed from the current position.
    fn passed_at(&self, end: u64) -> u64 {
        self.at + self.rules.spiral.ns(self.sector, end)
    }

    /// The first sector not read by `now`.
    fn reached(&self, now: u64) -> u64 {
        self.rules.spiral.reached(self.sector, now.saturating_sub(self.at), self.limit)
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
            self.serving = Some((now + self.rules.overhead_ns, CommandStep::Overhead, command));
        }
    }

    fn data(&mut self, now: u64, command: Command) {
        let from_bus = now + self.bus_ns(command);
        let reached = self.reached(now);
        if reached >= self.limit {
            // The buffer is full: reading has stopped, and continues from now.
            (self.sector, self.at) = (reached, self.at.max(now));
        }
        let buffered = self.rules.buffer_bytes / SECTOR_BYTES;
        let first = self.first.max(reached.saturating_sub(buffered));
        let patience = match self.rules.access {
            // Waiting for a sector within one turn is faster than seeking.
            PositioningModel::Turning(_) => self.rules.spiral.turn(command.sector, now).0,
            PositioningModel::Whole { skip_sectors, .. } => skip_sectors,
        };
        let near = command.sector >= first && command.sector <= reached + patience && reached > self.first;
        let until = if near && buffered > 0 {
            self.counters.read_hits += 1;
            self.limit = self.limit.max(command.end());
            let passed = if command.end() <= reached { now } else { self.passed_at(command.end()) };
            from_bus.max(passed)
        } else {
            let way = self.go(now, reached, command.sector);
            let until = self.passed_at(command.end());
            self.counters.transfer_ns += until - now - way;
            until.max(from_bus)
        };
        self.limit = self.limit.max((command.end() + buffered).min(self.rules.capacity_sectors));
        self.counters.busy_ns += until - now;
        self.serving = Some((until, CommandStep::Data, command));
    }

    /// Moves the sledge to a sector; returns the time until reading starts.
    fn go(&mut self, now: u64, from: u64, sector: u64) -> u64 {
        let (begin, seek_ns, rotation_ns) = match &self.rules.access {
            PositioningModel::Turning(curve) => {
                let capacity = self.rules.capacity_sectors.max(1);
                let thousandths = (from.abs_diff(sector) * 1000).div_ceil(capacity);
                let seek_ns = if from == sector { 0 } else { curve.ns(thousandths) };
                (sector, seek_ns, self.rules.spiral.turn(sector, now + seek_ns).1)
            }
            &PositioningModel::Whole { settle_ns, root_ns, block_sectors, .. } => {
                let begin = sector - sector % block_sectors.max(1);
                let gib = (from.abs_diff(begin) * SECTOR_BYTES) as f64 / (1u64 << 30) as f64;
                let way_ns = (root_ns as f64 * gib.sqrt() + 0.5) as u64;
                (begin, settle_ns + way_ns + self.rules.spiral.spindle_ns(from, begin), 0)
            }
        };
        self.counters.seek_ns += seek_ns;
        self.counters.rotation_ns += rotation_ns;
        (self.first, self.sector, self.at, self.limit) = (begin, begin, now + seek_ns + rotation_ns, begin);
        seek_ns + rotation_ns
    }
}

/// value * times / by, without overflow; 0 for a `by` of 0, which means no limit.
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
                CommandStep::Overhead if !command.write => self.data(at, command),
                CommandStep::Overhead | CommandStep::Data => done.push(command.tag),
            }
            self.start(at);
        }
    }

    fn counters(&self, now: u64) -> Counters {
        let beyond = self.serving.map_or(0, |(until, ..)| until.saturating_sub(now));
        Counters { busy_ns: self.counters.busy_ns - beyond, ..self.counters }
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
            spiral: Spiral::Zones(vec![
                OpticalZone { first_sector: 0, bytes_per_s: 5_120_000, turn_ns: 10 * MS },
                OpticalZone { first_sector: 2_000_000, bytes_per_s: 10_240_000, turn_ns: 10 * MS },
            ]),
            access: PositioningModel::Turning(SeekCurve::through(1000, 20 * MS, 80 * MS, 150 * MS).unwrap()),
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
    fn buffer_hits_cost_overhead_and_bus() {
        let mut drive = drive(1 << 20);
        let done = open(
            &mut drive,
            &[(0, read(0, 100, 8)), (900 * MS, read(1, 108, 40)), (1000 * MS, read(2, 900_000, 8))],
        );
        assert_eq!(done[1], 900 * MS + MS / 2 + MS);
        assert!(done[2] - 1000 * MS > 50 * MS, "far away");
        assert_eq!(drive.counters(u64::MAX).read_hits, 1);
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
        let turn = drive.counters(u64::MAX).rotation_ns / 400;
        assert!(turn > 4 * MS && turn < 6 * MS, "{turn}");
    }

    /// Seek 50 ms plus 100 ms per square root of the distance in GiB; blocks of 32 KiB; a constant 5.12 MB/s, so that a sector takes 0.1
    /// ms.
    fn whole() -> Optical {
        let even = vec![OpticalZone { first_sector: 0, bytes_per_s: 5_120_000, turn_ns: MS }];
        Optical::new(OpticalRules {
            capacity_sectors: 4_000_000,
            spiral: Spiral::Zones(even),
            access: PositioningModel::Whole {
                settle_ns: 50 * MS,
                root_ns: 100 * MS,
                block_sectors: 64,
                skip_sectors: 64,
            },
            overhead_ns: MS,
            bus_bytes_per_s: 0,
            buffer_bytes: 1 << 20,
        })
    }

    #[test]
    fn reading_begins_with_the_block_of_the_error_correction() {
        let gib = 1 << 21;
        let done = open(&mut whole(), &[(0, read(0, gib + 10, 4))]);
        assert_eq!(done, [MS + 150 * MS + 14 * MS / 10]);
    }

    #[test]
    fn sectors_just_ahead_are_waited_for_and_others_sought() {
        let (there, near, far) = (read(0, 6400, 4), read(1, 6460, 4), read(2, 6700, 4));
        let done = open(&mut whole(), &[(0, there), (60 * MS, near)]);
        assert!(done[1] < 75 * MS, "{done:?}");
        let done = open(&mut whole(), &[(0, there), (60 * MS, far)]);
        assert!(done[1] > 105 * MS, "{done:?}");
    }

    #[test]
    fn reading_ahead_stops_when_the_buffer_is_full_and_goes_on_from_then() {
        // A buffer of 2048 sectors is full 205 ms after the first command; sectors past it come at the medium's rate.
        let done = open(&mut whole(), &[(0, read(0, 0, 4)), (900 * MS, read(1, 2040, 24))]);
        assert_eq!(done[1], 901 * MS + 12 * MS / 10);
    }

    #[test]
    fn a_write_changes_nothing() {
        assert_eq!(closed(&mut drive(1 << 20), &[write(0, 5, 8)], 1), [MS / 2]);
    }
}
