//! The profile of a single disk: surfaces, arm, interface, buffer and write cache, in the units of data sheets.

use super::super::{Coverage, KernelQueue};
use super::error::{ProfileError, Reader};
use super::{bytes_of_mb, ns_of_ms};
use crate::devices::curve::SeekCurve;
use crate::devices::disk::{
    DestageOrder, Disk, DiskRules, Geometry, GeometryRules, Mechanism, WriteCacheRules,
};
use crate::sources::Sourced;
use serde::Deserialize;

/// Values of a disk profile, in the units of data sheets.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskProfile {
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(rename = "about")]
    _about: String,
    #[serde(rename = "demerit_percent")]
    _demerit_percent: Option<f64>,
    #[serde(rename = "trace")]
    _trace: Option<Coverage>,
    #[serde(rename = "queue")]
    _queue: Option<KernelQueue>,
    /// Surfaces, tracks and zones.
    pub geometry: GeometryProfile,
    /// Arm and head timing.
    pub mechanics: MechanicsProfile,
    /// Link between host and disk.
    pub interface: InterfaceProfile,
    /// The read buffer.
    pub buffer: BufferProfile,
    /// The write cache.
    pub write_cache: WriteCacheProfile,
}

/// Surfaces, tracks and zones.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeometryProfile {
    /// Capacity in 10^9 bytes.
    pub capacity_gb: Sourced<f64>,
    /// Revolutions per minute.
    pub rpm: Sourced<u32>,
    /// Number of surfaces.
    pub heads: Sourced<u32>,
    /// Number of zones; all have the same number of cylinders.
    pub zones: Sourced<u32>,
    /// Sectors per track in the outermost zone.
    pub outer_sectors_per_track: Sourced<u32>,
    /// Sectors per track in the innermost zone.
    pub inner_sectors_per_track: Sourced<u32>,
}

/// Arm and head timing for reads.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MechanicsProfile {
    /// Seek to the next cylinder, ms.
    pub single_ms: Sourced<f64>,
    /// Seek over a third of the stroke, ms.
    pub average_ms: Sourced<f64>,
    /// Full-stroke seek, ms.
    pub full_ms: Sourced<f64>,
    /// Switch to another head of the cylinder, ms.
    pub head_switch_ms: Sourced<f64>,
    /// Switch to the first head of the next cylinder, ms.
    pub cylinder_switch_ms: Sourced<f64>,
    /// Extra settling time before a write, ms.
    pub write_settle_ms: Sourced<f64>,
}

/// Link between host and disk.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceProfile {
    /// Overhead per command, ms.
    pub overhead_ms: Sourced<f64>,
    /// Bus rate, 10^6 bytes/s.
    pub bus_mb_s: Sourced<f64>,
    /// Maximum number of commands outstanding at once.
    pub queue_depth: Sourced<u32>,
    /// A command that has waited longer than this goes first, ms.
    pub age_limit_ms: Sourced<f64>,
}

/// The read buffer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferProfile {
    /// Number of segments; 0: no buffer.
    pub segments: Sourced<u32>,
    /// Segment size, KiB.
    pub segment_kib: Sourced<u32>,
    /// Whether the drive reads ahead.
    pub look_ahead: Sourced<bool>,
}

/// The write cache.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteCacheProfile {
    /// Size, KiB; 0: no write cache.
    pub kib: Sourced<u32>,
    /// Maximum number of commands that it holds.
    pub commands: Sourced<u32>,
    /// Write-back order: "fifo" or "shortest-first".
    pub order: Sourced<Order>,
    /// Idle time before write-back starts, ms.
    pub idle_ms: Sourced<f64>,
}

/// Write-back order of a write cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// In order of arrival.
    Fifo,
    /// Shortest access time first.
    ShortestFirst,
}

impl DiskProfile {
    pub(super) fn parse(reader: &Reader<'_>) -> Result<Self, ProfileError> {
        let profile: Self = reader.read(reader.text)?;
        profile.check(reader)?;
        profile.build(reader)?;
        Ok(profile)
    }

    fn check(&self, reader: &Reader<'_>) -> Result<(), ProfileError> {
        let g = &self.geometry;
        reader.within("geometry.capacity_gb", g.capacity_gb.get(), 0.001..=1e6, " GB")?;
        reader.within("geometry.rpm", g.rpm.get(), 60..=100_000, " turns a minute")?;
        reader.within("geometry.heads", g.heads.get(), 1..=64, " heads")?;
        reader.within("geometry.zones", g.zones.get(), 1..=1000, " zones")?;
        let outer = g.outer_sectors_per_track.get();
        reader.within("geometry.outer_sectors_per_track", outer, 8..=100_000, " sectors")?;
        let inner = g.inner_sectors_per_track.get();
        reader.within("geometry.inner_sectors_per_track", inner, 8..=outer, " sectors (those outside)")?;
        let m = &self.mechanics;
        for (key, ms) in [
            ("mechanics.single_ms", &m.single_ms),
            ("mechanics.average_ms", &m.average_ms),
            ("mechanics.full_ms", &m.full_ms),
            ("mechanics.head_switch_ms", &m.head_switch_ms),
            ("mechanics.cylinder_switch_ms", &m.cylinder_switch_ms),
            ("mechanics.write_settle_ms", &m.write_settle_ms),
            ("interface.overhead_ms", &self.interface.overhead_ms),
        ] {
            reader.within(key, ms.get(), 0.0..=1000.0, " ms")?;
        }
        let i = &self.interface;
        reader.within("interface.bus_mb_s", i.bus_mb_s.get(), 0.001..=1e6, " MB/s")?;
        reader.within("interface.queue_depth", i.queue_depth.get(), 1..=1024, " commands")?;
        reader.within("interface.age_limit_ms", i.age_limit_ms.get(), 0.0..=1e6, " ms")?;
        reader.within("buffer.segments", self.buffer.segments.get(), 0..=4096, " segments")?;
        reader.within("buffer.segment_kib", self.buffer.segment_kib.get(), 0..=1 << 20, " KiB")?;
        reader.within("write_cache.kib", self.write_cache.kib.get(), 0..=1 << 22, " KiB")?;
        reader.within("write_cache.commands", self.write_cache.commands.get(), 0..=4096, " commands")?;
        reader.within("write_cache.idle_ms", self.write_cache.idle_ms.get(), 0.0..=1e6, " ms")?;
        Ok(())
    }

    /// Builds the disk model.
    pub(super) fn build(&self, reader: &Reader<'_>) -> Result<Disk, ProfileError> {
        let m = &self.mechanics;
        let geometry = Geometry::new(self.geometry_rules());
        let points = [m.single_ms.get(), m.average_ms.get(), m.full_ms.get()];
        let [single, average, full] = points.map(ns_of_ms);
        let seek = SeekCurve::through(geometry.cylinders() - 1, single, average, full).ok_or_else(|| {
            let value =
                format!("{} with {} and {} ms", m.single_ms.get(), m.average_ms.get(), m.full_ms.get());
            let expected = "three times that rise with the distance, on a disk of at least ten cylinders";
            reader.value("mechanics.single_ms", &value, expected)
        })?;
        let mechanism = Mechanism::new(
            geometry,
            seek,
            ns_of_ms(m.head_switch_ms.get()),
            ns_of_ms(m.cylinder_switch_ms.get()),
            ns_of_ms(m.write_settle_ms.get()),
        );
        Ok(Disk::new(self.rules(), mechanism))
    }

    /// The same disk without its write cache, as controllers run their disks.
    #[must_use]
    pub(super) fn written_through(&self) -> Self {
        let mut profile = self.clone();
        profile.write_cache.kib.value = 0;
        profile
    }

    fn geometry_rules(&self) -> GeometryRules {
        let (g, m) = (&self.geometry, &self.mechanics);
        GeometryRules {
            capacity_sectors: (g.capacity_gb.get() * 1e9 / 512.0) as u64,
            heads: g.heads.get().into(),
            zones: g.zones.get().into(),
            outer_sectors_per_track: g.outer_sectors_per_track.get().into(),
            inner_sectors_per_track: g.inner_sectors_per_track.get().into(),
            turn_ns: 60_000_000_000 / u64::from(g.rpm.get()),
            head_switch_ns: ns_of_ms(m.head_switch_ms.get()),
            cylinder_switch_ns: ns_of_ms(m.cylinder_switch_ms.get()),
        }
    }

    fn rules(&self) -> DiskRules {
        let (i, b, w) = (&self.interface, &self.buffer, &self.write_cache);
        DiskRules {
            overhead_ns: ns_of_ms(i.overhead_ms.get()),
            bus_bytes_per_s: bytes_of_mb(i.bus_mb_s.get()),
            segments: b.segments.get() as usize,
            segment_bytes: u64::from(b.segment_kib.get()) << 10,
            look_ahead: b.look_ahead.get(),
            write_cache: WriteCacheRules {
                bytes: u64::from(w.kib.get()) << 10,
                commands: w.commands.get() as usize,
                order: match w.order.get() {
                    Order::Fifo => DestageOrder::Fifo,
                    Order::ShortestFirst => DestageOrder::ShortestFirst,
                },
                idle_ns: ns_of_ms(w.idle_ms.get()),
            },
            queue_depth: i.queue_depth.get(),
            age_limit_ns: ns_of_ms(i.age_limit_ms.get()),
        }
    }
}
