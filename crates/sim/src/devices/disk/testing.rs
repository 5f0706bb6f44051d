//! A small disk for tests with simple numbers: 6 ms a turn, 100 sectors on every track, two heads.

use super::*;
use crate::devices::curve::SeekCurve;

/// Geometry of the small disk: one zone, or five from 120 to 80 sectors.
pub fn rules(zones: u64) -> GeometryRules {
    GeometryRules {
        capacity_sectors: 200_000,
        heads: 2,
        zones,
        outer_sectors_per_track: if zones > 1 { 120 } else { 100 },
        inner_sectors_per_track: if zones > 1 { 80 } else { 100 },
        turn_ns: 6_000_000,
        head_switch_ns: 600_000,
        cylinder_switch_ns: 900_000,
    }
}

/// No cache, no queue, half a millisecond of overhead per command, a bus that costs nothing.
pub const PLAIN: DiskRules = DiskRules {
    overhead_ns: 500_000,
    bus_bytes_per_s: 0,
    segments: 0,
    segment_bytes: 0,
    look_ahead: false,
    write_cache: WriteCacheRules { bytes: 0, commands: 0, order: DestageOrder::Fifo, idle_ns: 0 },
    queue_depth: 1,
    age_limit_ns: u64::MAX,
};

pub fn disk_of(rules_of: GeometryRules, rules: DiskRules) -> Disk {
    let geometry = Geometry::new(rules_of);
    let seek = SeekCurve::through(geometry.cylinders() - 1, 600_000, 4_700_000, 10_500_000).unwrap();
    let mechanism =
        Mechanism::new(geometry, seek, rules_of.head_switch_ns, rules_of.cylinder_switch_ns, 300_000);
    Disk::new(rules, mechanism)
}

pub fn small_disk() -> Disk {
    disk_of(rules(1), PLAIN)
}
