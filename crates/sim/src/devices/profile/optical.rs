//! The profile of an optical drive: medium, zones of its spiral, sledge and interface, in the units of data sheets.

use super::error::{ProfileError, Reader};
use super::{bytes_of_mb, ns_of_ms};
use crate::devices::SECTOR_BYTES;
use crate::devices::curve::SeekCurve;
use crate::devices::optical::{Optical, OpticalRules, OpticalZone};
use crate::sources::Sourced;
use serde::Deserialize;

/// A drive's numbers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpticalProfile {
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(rename = "about")]
    _about: String,
    #[serde(rename = "demerit_percent")]
    _demerit_percent: Option<f64>,
    /// The medium.
    pub medium: MediumProfile,
    /// From the inside out.
    pub zone: Vec<ZoneProfile>,
    /// The sledge.
    pub seek: SledgeProfile,
    /// Between host and drive.
    pub interface: OpticalInterface,
}

/// The medium.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediumProfile {
    /// Capacity in 10^9 bytes.
    pub capacity_gb: Sourced<f64>,
}

/// A zone of the spiral.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneProfile {
    /// Where it begins, 10^9 bytes; the first at 0.
    pub from_gb: Sourced<f64>,
    /// At which it is read, 10^6 bytes/s.
    pub mb_s: Sourced<f64>,
    /// Turns a minute there.
    pub rpm: Sourced<u32>,
}

/// The sledge.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SledgeProfile {
    /// Over a thousandth of the medium or less.
    pub single_ms: Sourced<f64>,
    /// Over a third.
    pub average_ms: Sourced<f64>,
    /// Over all of it.
    pub full_ms: Sourced<f64>,
}

/// Between host and drive.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpticalInterface {
    /// Before each command.
    pub overhead_ms: Sourced<f64>,
    /// Of the bus, 10^6 bytes/s.
    pub bus_mb_s: Sourced<f64>,
    /// The buffer.
    pub buffer_kib: Sourced<u32>,
}

impl OpticalProfile {
    pub(super) fn parse(reader: &Reader<'_>) -> Result<Self, ProfileError> {
        let profile: Self = reader.read(reader.text)?;
        reader.within("medium.capacity_gb", profile.medium.capacity_gb.get(), 0.001..=1e6, " GB")?;
        let starts: Vec<f64> = profile.zone.iter().map(|zone| zone.from_gb.get()).collect();
        if starts.first() != Some(&0.0) || !starts.is_sorted_by(|a, b| a < b) {
            return Err(reader.value("zone.from_gb", &format!("{starts:?}"), "0 first, then rising"));
        }
        for zone in &profile.zone {
            reader.within("zone.mb_s", zone.mb_s.get(), 0.001..=1e6, " MB/s")?;
            reader.within("zone.rpm", zone.rpm.get(), 60..=100_000, " turns a minute")?;
        }
        for (key, ms) in [
            ("seek.single_ms", &profile.seek.single_ms),
            ("seek.average_ms", &profile.seek.average_ms),
            ("seek.full_ms", &profile.seek.full_ms),
        ] {
            reader.within(key, ms.get(), 0.0..=10_000.0, " ms")?;
        }
        reader.within("interface.overhead_ms", profile.interface.overhead_ms.get(), 0.0..=1e6, " ms")?;
        reader.within("interface.bus_mb_s", profile.interface.bus_mb_s.get(), 0.0..=1e6, " MB/s")?;
        reader.within("interface.buffer_kib", profile.interface.buffer_kib.get(), 0..=1 << 20, " KiB")?;
        profile.build(reader)?;
        Ok(profile)
    }

    /// The drive.
    pub(super) fn build(&self, reader: &Reader<'_>) -> Result<Optical, ProfileError> {
        let s = &self.seek;
        let [single, average, full] = [&s.single_ms, &s.average_ms, &s.full_ms].map(|ms| ns_of_ms(ms.get()));
        let seek = SeekCurve::through(1000, single, average, full).ok_or_else(|| {
            let value =
                format!("{} with {} and {} ms", s.single_ms.get(), s.average_ms.get(), s.full_ms.get());
            reader.value("seek.single_ms", &value, "three times that rise with the distance")
        })?;
        let sectors = |gb: f64| (gb * 1e9 / SECTOR_BYTES as f64) as u64;
        let zones = self.zone.iter().map(|zone| OpticalZone {
            first_sector: sectors(zone.from_gb.get()),
            bytes_per_s: bytes_of_mb(zone.mb_s.get()),
            turn_ns: 60_000_000_000 / u64::from(zone.rpm.get()),
        });
        Ok(Optical::new(OpticalRules {
            capacity_sectors: sectors(self.medium.capacity_gb.get()),
            zones: zones.collect(),
            seek,
            overhead_ns: ns_of_ms(self.interface.overhead_ms.get()),
            bus_bytes_per_s: bytes_of_mb(self.interface.bus_mb_s.get()),
            buffer_bytes: u64::from(self.interface.buffer_kib.get()) << 10,
        }))
    }
}
