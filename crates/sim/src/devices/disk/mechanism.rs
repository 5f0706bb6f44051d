//! Heads over rotating surfaces: their position, and the time to reach a sector and to pass a run of sectors. The angle is a function of
//! time, so rotational latency is computed exactly and never averaged.

use super::geometry::{Geometry, SectorPosition};
use crate::devices::curve::SeekCurve;

/// Arm, heads and surfaces.
#[derive(Clone, Debug)]
pub struct Mechanism {
    geometry: Geometry,
    seek: SeekCurve,
    head_switch_ns: u64,
    cylinder_switch_ns: u64,
    write_settle_ns: u64,
    cylinder: u64,
    head: u64,
}

/// Time to reach a sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Positioning {
    /// Seek and settling, ns.
    pub seek_ns: u64,
    /// Rotational latency, ns.
    pub rotation_ns: u64,
}

/// Data that the time to a sector depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    cylinder: u64,
    head: u64,
    angle_ns: u64,
}

impl Target {
    pub(super) fn cylinder(self) -> u64 {
        self.cylinder
    }
}

impl Positioning {
    /// Sum of both, ns.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        self.seek_ns + self.rotation_ns
    }
}

impl Mechanism {
    /// Starts with the heads over the outermost cylinder.
    #[must_use]
    pub fn new(
        geometry: Geometry,
        seek: SeekCurve,
        head_switch_ns: u64,
        cylinder_switch_ns: u64,
        write_settle_ns: u64,
    ) -> Self {
        Self { geometry, seek, head_switch_ns, cylinder_switch_ns, write_settle_ns, cylinder: 0, head: 0 }
    }

    /// The surfaces.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Distance from the heads to a sector, cylinders.
    #[must_use]
    pub fn distance(&self, sector: u64) -> u64 {
        self.geometry.place(sector).cylinder.abs_diff(self.cylinder)
    }

    /// Position of a sector, for repeated timing of the same sector.
    #[must_use]
    pub fn target(&self, sector: u64) -> Target {
        let place = self.geometry.place(sector);
        Target { cylinder: place.cylinder, head: place.head, angle_ns: self.geometry.angle_ns(place) }
    }

    /// Time to reach a sector if the arm starts at `now`.
    #[must_use]
    pub fn positioning(&self, now: u64, sector: u64, write: bool) -> Positioning {
        let target = self.target(sector);
        let seek_ns = self.seek_ns(target, write);
        Positioning { seek_ns, rotation_ns: self.wait_ns(now + seek_ns, target.angle_ns) }
    }

    /// The cylinder under the heads.
    pub(super) fn cylinder(&self) -> u64 {
        self.cylinder
    }

    /// Time since the turn began, ns: the input of [`Self::way_ns`], so that a choice among many divides only once.
    pub(super) fn since_turn(&self, now: u64) -> u64 {
        now % self.geometry.turn_ns()
    }

    /// Seek time to a target's cylinder, and total time to reach the target, ns. Takes about ten nanoseconds; a choice calls it for every
    /// candidate.
    pub(super) fn way_ns(&self, since_turn: u64, target: Target, write: bool) -> (u64, u64) {
        let seek_ns = self.seek_ns(target, write);
        let settles_ns = if write && seek_ns > 0 { self.write_settle_ns } else { 0 };
        let arm_ns = if target.cylinder == self.cylinder { 0 } else { seek_ns - settles_ns };
        let turn = self.geometry.turn_ns();
        // Most seeks are shorter than a turn, and dividing is slower than comparing.
        let passed = match (since_turn + seek_ns).checked_sub(turn) {
            None => since_turn + seek_ns,
            Some(over) if over < turn => over,
            Some(over) => over % turn,
        };
        let wait_ns = if target.angle_ns >= passed {
            target.angle_ns - passed
        } else {
            target.angle_ns + turn - passed
        };
        (arm_ns, seek_ns + wait_ns)
    }

    fn seek_ns(&self, target: Target, write: bool) -> u64 {
        let move_ns = if target.cylinder != self.cylinder {
            self.seek.ns(target.cylinder.abs_diff(self.cylinder))
        } else if target.head != self.head {
            self.head_switch_ns
        } else {
            return 0;
        };
        // Writing needs a steadier head than reading; a head that has not moved is steady.
        move_ns + if write { self.write_settle_ns } else { 0 }
    }

    fn wait_ns(&self, now: u64, angle_ns: u64) -> u64 {
        let turn = self.geometry.turn_ns();
        let passed = now % turn;
        if angle_ns >= passed { angle_ns - passed } else { angle_ns + turn - passed }
    }

    /// Time at which a run of sectors has passed if its first begins to pass at `at`.
    #[must_use]
    pub fn passed_at(&self, at: u64, sector: u64, sectors: u64) -> u64 {
        let (mut at, mut sector, mut left) = (at, sector, sectors);
        let mut place = self.geometry.place(sector);
        while left > 0 {
            let here = left.min(place.per_track - place.sector);
            at += self.geometry.span_ns(place, here);
            left -= here;
            sector += here;
            if left > 0 {
                (at, place) = self.next_track(at, place, sector);
            }
        }
        at
    }

    /// From the end of a track to the first sector of the next.
    fn next_track(&self, at: u64, before: SectorPosition, sector: u64) -> (u64, SectorPosition) {
        let place = self.geometry.place(sector);
        let switch =
            if place.cylinder == before.cylinder { self.head_switch_ns } else { self.cylinder_switch_ns };
        (at + switch + self.wait_ns(at + switch, self.geometry.angle_ns(place)), place)
    }

    /// Time at which a sector begins to pass if the one before it has passed at `at`.
    #[must_use]
    pub fn follows_at(&self, at: u64, sector: u64) -> u64 {
        if sector == 0 || self.geometry.place(sector).sector > 0 {
            return at;
        }
        self.next_track(at, self.geometry.place(sector - 1), sector).0
    }

    /// Progress by `now` of a run that began to pass at `at`: the sector and the time at which its current track was begun, and the first
    /// sector that has not passed entirely. Stops before `limit`.
    #[must_use]
    pub fn reached(&self, at: u64, sector: u64, limit: u64, now: u64) -> (u64, u64, u64) {
        let (mut at, mut sector) = (at, sector);
        let mut place = self.geometry.place(sector);
        while sector < limit && at <= now {
            let here = (limit - sector).min(place.per_track - place.sector);
            let end = at + self.geometry.span_ns(place, here);
            if end > now {
                let done = self.geometry.passed(place, now - at).min(here);
                return (sector, at, sector + done);
            }
            if sector + here == limit {
                return (sector, at, limit);
            }
            sector += here;
            (at, place) = self.next_track(end, place, sector);
        }
        (sector, at, sector)
    }

    /// The heads are over a sector now.
    pub fn stands_at(&mut self, sector: u64) {
        let place = self.geometry.place(sector);
        self.cylinder = place.cylinder;
        self.head = place.head;
    }
}

#[cfg(test)]
mod tests {
    use super::super::geometry::GeometryRules;
    use super::*;

    fn mechanism() -> Mechanism {
        let geometry = Geometry::new(GeometryRules {
            capacity_sectors: 1_000_000,
            heads: 2,
            zones: 1,
            outer_sectors_per_track: 100,
            inner_sectors_per_track: 100,
            turn_ns: 6_000_000,
            head_switch_ns: 600_000,
            cylinder_switch_ns: 900_000,
        });
        let seek = SeekCurve::through(geometry.cylinders() - 1, 600_000, 4_700_000, 10_500_000).unwrap();
        Mechanism::new(geometry, seek, 600_000, 900_000, 300_000)
    }

    #[test]
    fn a_sector_is_waited_for() {
        let m = mechanism();
        assert_eq!(m.positioning(0, 50, false), Positioning { seek_ns: 0, rotation_ns: 3_000_000 });
        assert_eq!(m.positioning(4_000_000, 50, true).rotation_ns, 5_000_000);
        let far = m.positioning(0, 999_999, true);
        assert_eq!(far.seek_ns, 10_800_000);
    }

    #[test]
    fn a_run_costs_its_sectors_and_switches() {
        let m = mechanism();
        // Two tracks of a turn each and one head switch with its slack.
        assert_eq!(m.passed_at(0, 0, 200), 2 * 6_000_000 + 601_000);
        assert_eq!(m.passed_at(0, 0, 10), 600_000);
    }

    #[test]
    fn progress_is_known_at_any_time() {
        let m = mechanism();
        assert_eq!(m.reached(0, 0, 1000, 120_000), (0, 0, 2));
        assert_eq!(m.reached(0, 0, 1000, 6_100_000), (100, 6_601_000, 100));
        let (sector, at, reached) = m.reached(0, 0, 1000, 6_601_000 + 60_000);
        assert_eq!((sector, at, reached), (100, 6_601_000, 101));
        assert_eq!(m.reached(0, 0, 150, u64::MAX / 2).2, 150);
        for now in (0..60_000_000).step_by(777_777) {
            let (_, _, reached) = m.reached(0, 0, 800, now);
            assert!(m.passed_at(0, 0, reached) <= now || reached == 0);
            assert!(reached == 800 || m.passed_at(0, 0, reached + 1) > now);
        }
    }
}
