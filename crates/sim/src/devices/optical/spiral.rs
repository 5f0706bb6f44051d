//! Read rates along a disc's spiral: in zones with a fixed rate each, or at constant angular velocity, where the rate grows with the
//! radius, or at constant linear velocity.

use super::scaled;
use crate::devices::SECTOR_BYTES;

/// A zone of the spiral.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpticalZone {
    /// First sector of the zone.
    pub first_sector: u64,
    /// Read rate.
    pub bytes_per_s: u64,
    /// Time of a turn, ns.
    pub turn_ns: u64,
}

/// The ring of a disc that the spiral fills evenly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscRing {
    /// Innermost radius, mm.
    pub inner_mm: f64,
    /// Outermost radius, mm.
    pub outer_mm: f64,
    /// Bytes of the whole spiral.
    pub bytes: f64,
}

impl DiscRing {
    /// Growth of the squared radius per byte, mm².
    fn area(&self) -> f64 {
        (self.outer_mm * self.outer_mm - self.inner_mm * self.inner_mm) / self.bytes
    }

    fn radius(&self, sector: u64) -> f64 {
        (self.inner_mm * self.inner_mm + self.area() * (sector * SECTOR_BYTES) as f64).sqrt()
    }
}

/// Constant angular velocity: the rate is proportional to the radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cav {
    /// The ring that holds the data.
    pub ring: DiscRing,
    /// Rate at the outer radius.
    pub rim_bytes_per_s: f64,
}

impl Cav {
    /// Time in which the lens moves one mm outwards, ns: the integral of dx / rate(x) is linear in the radius.
    fn ns_for_mm(&self) -> f64 {
        2.0 * self.ring.outer_mm / (self.rim_bytes_per_s * self.ring.area()) * 1e9
    }
}

/// Constant linear velocity: the same rate everywhere; the disc turns slower the further out the lens is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clv {
    /// The ring that holds the data.
    pub ring: DiscRing,
    /// The read rate.
    pub bytes_per_s: u64,
    /// Time to change the spindle speed to that of another radius, ns per mm.
    pub spindle_ns_for_mm: f64,
}

/// Rate model of the spiral.
#[derive(Clone, Debug, PartialEq)]
pub enum Spiral {
    /// Zones from the inside out; the first begins at 0.
    Zones(Vec<OpticalZone>),
    /// Constant angular velocity.
    Cav(Cav),
    /// Constant linear velocity.
    Clv(Clv),
}

impl Spiral {
    /// The zone of a sector, and the zone's end.
    fn zone(zones: &[OpticalZone], sector: u64) -> (OpticalZone, u64) {
        let after = zones.partition_point(|zone| zone.first_sector <= sector).max(1);
        let end = zones.get(after).map_or(u64::MAX, |zone| zone.first_sector);
        (zones[after - 1], end)
    }

    /// Time to read the sectors `from..to`, ns.
    pub(super) fn ns(&self, from: u64, to: u64) -> u64 {
        match self {
            Self::Zones(zones) => {
                let (mut sector, mut ns) = (from, 0);
                while sector < to {
                    let (zone, zone_end) = Self::zone(zones, sector);
                    let here = to.min(zone_end) - sector;
                    ns += scaled(here * SECTOR_BYTES, 1_000_000_000, zone.bytes_per_s);
                    sector += here;
                }
                ns
            }
            Self::Cav(cav) if to > from => {
                ((cav.ring.radius(to) - cav.ring.radius(from)) * cav.ns_for_mm() + 0.5) as u64
            }
            Self::Clv(clv) if to > from => scaled((to - from) * SECTOR_BYTES, 1_000_000_000, clv.bytes_per_s),
            Self::Cav(_) | Self::Clv(_) => 0,
        }
    }

    /// The first sector not read after a time, when reading starts at `from` and stops before `limit`.
    pub(super) fn reached(&self, from: u64, ns: u64, limit: u64) -> u64 {
        match self {
            Self::Zones(zones) => {
                let (mut sector, mut left_ns) = (from, ns);
                while sector < limit && left_ns > 0 {
                    let (zone, zone_end) = Self::zone(zones, sector);
                    let passed = scaled(left_ns, zone.bytes_per_s, 1_000_000_000) / SECTOR_BYTES;
                    let here = limit.min(zone_end) - sector;
                    if passed < here {
                        return sector + passed;
                    }
                    left_ns -= scaled(here * SECTOR_BYTES, 1_000_000_000, zone.bytes_per_s).min(left_ns);
                    sector += here;
                }
                sector
            }
            Self::Cav(cav) => {
                let ring = &cav.ring;
                let radius = ring.radius(from) + ns as f64 / cav.ns_for_mm();
                let bytes = (radius * radius - ring.inner_mm * ring.inner_mm) / ring.area();
                ((bytes + 0.5) as u64 / SECTOR_BYTES).clamp(from, limit.max(from))
            }
            Self::Clv(clv) => {
                let passed = scaled(ns, clv.bytes_per_s, 1_000_000_000) / SECTOR_BYTES;
                from.saturating_add(passed).min(limit.max(from))
            }
        }
    }

    /// Time to change the spindle speed between two positions, ns.
    pub(super) fn spindle_ns(&self, from: u64, to: u64) -> u64 {
        let Self::Clv(clv) = self else { return 0 };
        ((clv.ring.radius(to) - clv.ring.radius(from)).abs() * clv.spindle_ns_for_mm + 0.5) as u64
    }

    /// Sectors per turn at a position, and the time until this sector passes; both 0 where turns are part of the access time.
    pub(super) fn turn(&self, sector: u64, now: u64) -> (u64, u64) {
        let Self::Zones(zones) = self else { return (0, 0) };
        let (zone, _) = Self::zone(zones, sector);
        let angle = scaled((sector - zone.first_sector) * SECTOR_BYTES, 1_000_000_000, zone.bytes_per_s)
            % zone.turn_ns;
        let wait_ns = (angle + zone.turn_ns - now % zone.turn_ns) % zone.turn_ns;
        (scaled(zone.turn_ns, zone.bytes_per_s, 1_000_000_000) / SECTOR_BYTES, wait_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RING: DiscRing = DiscRing { inner_mm: 24.0, outer_mm: 58.0, bytes: 4.7e9 };
    const DVD: Cav = Cav { ring: RING, rim_bytes_per_s: 11.08e6 };

    #[test]
    fn the_rate_grows_with_the_radius() {
        let spiral = Spiral::Cav(DVD);
        let rate = |at: u64| {
            let first = at / SECTOR_BYTES;
            2048.0 * 512.0 / spiral.ns(first, first + 2048) as f64 * 1e9
        };
        for (at, mb_s) in [(0, 4.59), (1_000_000_000, 6.54), (2_000_000_000, 8.03), (4_699_000_000, 11.08)] {
            let off = rate(at) / 1e6 - mb_s;
            assert!(off.abs() < 0.02, "{at}: {}", rate(at));
        }
        let first_gib_s = spiral.ns(0, 1 << 21) / 1_000_000_000;
        assert_eq!(first_gib_s, 191, "the integral of isofs.md");
    }

    #[test]
    fn sectors_passed_and_the_time_they_take_agree() {
        let spiral = Spiral::Cav(DVD);
        for (from, sectors) in [(0, 4), (7, 1), (1_000_000, 64), (9_000_000, 150_000)] {
            let ns = spiral.ns(from, from + sectors);
            let reached = spiral.reached(from, ns, u64::MAX);
            assert!(reached.abs_diff(from + sectors) <= 1, "{from}+{sectors}: {reached}");
            assert_eq!(spiral.reached(from, ns, from + sectors / 2), from + sectors / 2);
        }
    }

    #[test]
    fn at_one_rate_the_spindle_changes_with_the_radius() {
        let spiral = Spiral::Clv(Clv { ring: RING, bytes_per_s: 1_024_000, spindle_ns_for_mm: 5_000_000.0 });
        let last = 4_700_000_000 / SECTOR_BYTES;
        assert_eq!((spiral.ns(0, 2000), spiral.ns(last - 2000, last)), (1_000_000_000, 1_000_000_000));
        assert_eq!(
            (spiral.reached(100, 500_000_000, u64::MAX), spiral.reached(100, 500_000_000, 700)),
            (1100, 700)
        );
        // From edge to edge 34 mm, and as long back.
        for (from, to) in [(0, last), (last, 0)] {
            assert!(spiral.spindle_ns(from, to).abs_diff(170_000_000) < 1000);
        }
        assert_eq!(Spiral::Cav(DVD).spindle_ns(0, last), 0);
    }
}
