//! Position of a sector: cylinder, head and angle. Sectors run along a track, then over the heads of a cylinder, then to the next
//! cylinder; outer zones have more sectors per track. Tracks are skewed so that a switch costs no turn.

/// Cylinders with the same number of sectors per track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Zone {
    first_sector: u64,
    sectors_per_track: u64,
    first_cylinder: u64,
}

/// Zones, tracks and skew of a disk.
#[derive(Clone, Debug)]
pub struct Geometry {
    zones: Vec<Zone>,
    heads: u64,
    turn_ns: u64,
    capacity_sectors: u64,
    cylinders: u64,
    head_skew_ns: u64,
    /// Skew from the first head of a cylinder to the first of the next, modulo a turn, so that its product with a cylinder number fits 64
    /// bits.
    cylinder_turn_ns: u64,
}

/// Parameters of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeometryRules {
    /// Total sectors of 512 bytes.
    pub capacity_sectors: u64,
    /// Number of surfaces.
    pub heads: u64,
    /// Number of zones; all have the same number of cylinders.
    pub zones: u64,
    /// Sectors per track in the outermost zone; zones in between decrease evenly.
    pub outer_sectors_per_track: u64,
    /// Sectors per track in the innermost zone.
    pub inner_sectors_per_track: u64,
    /// Time of a turn, ns.
    pub turn_ns: u64,
    /// Head switch time, ns.
    pub head_switch_ns: u64,
    /// Switch time from the last head of a cylinder to the first of the next, ns.
    pub cylinder_switch_ns: u64,
}

/// Position of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorPosition {
    /// Cylinder, counted from the outside.
    pub cylinder: u64,
    /// Surface.
    pub head: u64,
    /// Index in the track.
    pub sector: u64,
    /// Sectors on this track.
    pub per_track: u64,
}

/// Extra skew beyond the switch time, so that rounding to whole nanoseconds never costs a turn.
const SKEW_SLACK_NS: u64 = 1_000;

impl Geometry {
    /// Lays out zones; every count is at least 1 and `outer` at least `inner`.
    #[must_use]
    pub fn new(rules: GeometryRules) -> Self {
        let (heads, count) = (rules.heads.max(1), rules.zones.max(1));
        let (outer, inner) = (rules.outer_sectors_per_track.max(1), rules.inner_sectors_per_track.max(1));
        let steps = (count - 1).max(1);
        let per_track = |zone: u64| outer - (outer.saturating_sub(inner)) * zone / steps;
        let all: u64 = (0..count).map(per_track).sum();
        let cylinders_per_zone = rules.capacity_sectors.div_ceil(heads * all).max(1);
        let mut zones = Vec::with_capacity(count as usize);
        let mut first_sector = 0;
        for zone in 0..count {
            zones.push(Zone {
                first_sector,
                sectors_per_track: per_track(zone),
                first_cylinder: zone * cylinders_per_zone,
            });
            first_sector += cylinders_per_zone * heads * per_track(zone);
        }
        let head_skew_ns = rules.head_switch_ns + SKEW_SLACK_NS;
        let cylinder_skew_ns = rules.cylinder_switch_ns + SKEW_SLACK_NS;
        let turn_ns = rules.turn_ns.max(1);
        Self {
            zones,
            heads,
            turn_ns,
            capacity_sectors: rules.capacity_sectors,
            cylinders: count * cylinders_per_zone,
            head_skew_ns,
            cylinder_turn_ns: ((heads - 1) * head_skew_ns + cylinder_skew_ns) % turn_ns,
        }
    }

    /// Total number of sectors.
    #[must_use]
    pub fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    /// Total number of cylinders.
    #[must_use]
    pub fn cylinders(&self) -> u64 {
        self.cylinders
    }

    /// Time of a turn, ns.
    #[must_use]
    pub fn turn_ns(&self) -> u64 {
        self.turn_ns
    }

    /// Sectors of the outermost track, the longest.
    #[must_use]
    pub fn longest_track(&self) -> u64 {
        self.zones[0].sectors_per_track
    }

    /// Position of a sector; a sector past the end is treated as the last.
    #[must_use]
    pub fn place(&self, sector: u64) -> SectorPosition {
        let sector = sector.min(self.capacity_sectors.saturating_sub(1));
        let after = self.zones.partition_point(|zone| zone.first_sector <= sector);
        let zone = self.zones[after - 1];
        let inside = sector - zone.first_sector;
        let (track, on_track) = divided(inside, zone.sectors_per_track);
        let (cylinder, head) = divided(track, self.heads);
        SectorPosition {
            cylinder: zone.first_cylinder + cylinder,
            head,
            sector: on_track,
            per_track: zone.sectors_per_track,
        }
    }

    /// The angle at which the sector numbered `place.sector + plus` of the track begins, as time since the start of the turn, ns. It may
    /// be a full turn for the end of the last sector.
    fn along_ns(&self, place: SectorPosition, plus: u64) -> u64 {
        (place.sector + plus) * self.turn_ns / place.per_track
    }

    /// Time within a turn at which a sector comes under its head, ns.
    #[must_use]
    pub fn angle_ns(&self, place: SectorPosition) -> u64 {
        let skew = place.cylinder * self.cylinder_turn_ns + place.head * self.head_skew_ns;
        (skew + self.along_ns(place, 0)) % self.turn_ns
    }

    /// Time to pass `sectors` sectors of a track, starting at `place`, ns.
    #[must_use]
    pub fn span_ns(&self, place: SectorPosition, sectors: u64) -> u64 {
        self.along_ns(place, sectors) - self.along_ns(place, 0)
    }

    /// Whole sectors that pass in a time, starting at the start of `place`.
    #[must_use]
    pub fn passed(&self, place: SectorPosition, ns: u64) -> u64 {
        (u128::from(ns) * u128::from(place.per_track) / u128::from(self.turn_ns)) as u64
    }
}

/// Quotient and remainder. Numbers of a zone mostly fit into 32 bits, where division takes a third of the time.
#[inline]
fn divided(a: u64, b: u64) -> (u64, u64) {
    match (u32::try_from(a), u32::try_from(b)) {
        (Ok(a), Ok(b)) => (u64::from(a / b), u64::from(a % b)),
        _ => (a / b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Geometry {
        Geometry::new(GeometryRules {
            capacity_sectors: 10_000,
            heads: 2,
            zones: 3,
            outer_sectors_per_track: 100,
            inner_sectors_per_track: 60,
            turn_ns: 6_000_000,
            head_switch_ns: 600_000,
            cylinder_switch_ns: 900_000,
        })
    }

    #[test]
    fn sectors_run_along_tracks_heads_and_cylinders() {
        let disk = small();
        let at = |sector| {
            let p = disk.place(sector);
            (p.cylinder, p.head, p.sector, p.per_track)
        };
        assert_eq!(at(0), (0, 0, 0, 100));
        assert_eq!(at(99), (0, 0, 99, 100));
        assert_eq!(at(100), (0, 1, 0, 100));
        assert_eq!(at(200), (1, 0, 0, 100));
        // 10000 / (2 * 240) = 20.8, so 21 cylinders a zone.
        assert_eq!(at(4200), (21, 0, 0, 80));
        assert_eq!(at(1 << 40), at(9999));
        assert_eq!(disk.cylinders(), 63);
    }

    #[test]
    fn every_sector_has_a_unique_position() {
        let disk = small();
        let places: std::collections::BTreeSet<_> =
            (0..10_000).map(|s| disk.place(s)).map(|p| (p.cylinder, p.head, p.sector)).collect();
        assert_eq!(places.len(), 10_000);
    }

    #[test]
    fn slow_switches_on_a_large_disk_have_their_angles_too() {
        // The largest values that a profile may have: a second per switch, 64 heads, 2 * 10^12 sectors, a few per track.
        let disk = Geometry::new(GeometryRules {
            capacity_sectors: 2_000_000_000_000,
            heads: 64,
            zones: 1,
            outer_sectors_per_track: 8,
            inner_sectors_per_track: 8,
            turn_ns: 6_000_000,
            head_switch_ns: 1_000_000_000,
            cylinder_switch_ns: 1_000_000_000,
        });
        let last = disk.place(u64::MAX);
        // 64 switches of a second and a microsecond for each cylinder.
        let cylinder = u128::from(last.cylinder) * (64 * 1_000_001_000);
        let skew = cylinder + u128::from(last.head) * 1_000_001_000 + u128::from(last.sector) * 750_000;
        assert_eq!(u128::from(disk.angle_ns(last)), skew % 6_000_000);
    }

    #[test]
    fn the_next_track_begins_a_switch_later() {
        let disk = small();
        let (end, next) = (disk.angle_ns(disk.place(99)) + 60_000, disk.angle_ns(disk.place(100)));
        assert_eq!(next, (end + 601_000) % 6_000_000);
        assert_eq!(disk.span_ns(disk.place(90), 10), 600_000);
        assert_eq!(disk.passed(disk.place(0), 119_999), 1);
    }
}
