//! The profile of an optical drive: medium, spiral, sledge and interface, in the units of data sheets. The spiral has zones and sledge
//! times (`[[zone]]`, `[seek]`), or turns at a constant rate (`[cav]`) or is read at a constant rate (`[clv]`) with one access time
//! (`[access]`).

use super::super::{Coverage, KernelQueue};
use super::error::{ProfileError, Reader};
use super::{bytes_of_mb, ns_of_ms};
use crate::devices::SECTOR_BYTES;
use crate::devices::curve::SeekCurve;
use crate::devices::optical::{
    Cav, Clv, DiscRing, Optical, OpticalRules, OpticalZone, PositioningModel, Spiral,
};
use crate::sources::Sourced;
use serde::Deserialize;

/// Values of an optical drive's profile.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpticalProfile {
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
    /// The medium.
    pub medium: MediumProfile,
    /// Zones from the inside out; none with `cav` or `clv`.
    #[serde(default)]
    pub zone: Vec<ZoneProfile>,
    /// Sledge times, with zones.
    pub seek: Option<SledgeProfile>,
    /// Constant angular velocity.
    pub cav: Option<CavProfile>,
    /// Constant linear velocity.
    pub clv: Option<ClvProfile>,
    /// Access time, with `cav` or `clv`.
    pub access: Option<AccessProfile>,
    /// Link between host and drive.
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
    /// Start of the zone, 10^9 bytes; 0 for the first.
    pub from_gb: Sourced<f64>,
    /// Read rate, 10^6 bytes/s.
    pub mb_s: Sourced<f64>,
    /// Revolutions per minute.
    pub rpm: Sourced<u32>,
}

/// The sledge.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SledgeProfile {
    /// Seek over a thousandth of the medium or less, ms.
    pub single_ms: Sourced<f64>,
    /// Seek over a third, ms.
    pub average_ms: Sourced<f64>,
    /// Full-stroke seek, ms.
    pub full_ms: Sourced<f64>,
}

/// Constant angular velocity.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CavProfile {
    /// Radius of the start of the data, mm.
    pub inner_mm: Sourced<f64>,
    /// Radius of the end of the data, mm.
    pub outer_mm: Sourced<f64>,
    /// Read rate at the outer radius, 10^6 bytes/s.
    pub rim_mb_s: Sourced<f64>,
}

/// Constant linear velocity.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClvProfile {
    /// Radius of the start of the data, mm.
    pub inner_mm: Sourced<f64>,
    /// Radius of the end of the data, mm.
    pub outer_mm: Sourced<f64>,
    /// Read rate, 10^6 bytes/s.
    pub mb_s: Sourced<f64>,
    /// Time to change the spindle speed, ms per mm of radius.
    pub spindle_ms_per_mm: Sourced<f64>,
}

/// Access time, half a turn included.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessProfile {
    /// Access time for distance 0, ms.
    pub settle_ms: Sourced<f64>,
    /// Additional time, ms per square root of the distance in GiB.
    pub root_ms: Sourced<f64>,
    /// Size of an error-correction block, at which reading starts, KiB.
    pub block_kib: Sourced<u32>,
    /// Gap after the current position up to which the drive reads on instead of seeking, KiB.
    pub skip_kib: Sourced<u32>,
}

/// Link between host and drive.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpticalInterface {
    /// Overhead per command, ms.
    pub overhead_ms: Sourced<f64>,
    /// Bus rate, 10^6 bytes/s.
    pub bus_mb_s: Sourced<f64>,
    /// Size of the buffer, KiB.
    pub buffer_kib: Sourced<u32>,
}

impl OpticalProfile {
    pub(super) fn parse(reader: &Reader<'_>) -> Result<Self, ProfileError> {
        let profile: Self = reader.read(reader.text)?;
        reader.within("medium.capacity_gb", profile.medium.capacity_gb.get(), 0.001..=1e6, " GB")?;
        match (&profile.seek, &profile.cav, &profile.clv, &profile.access) {
            (Some(seek), None, None, None) => profile.check_zones(reader, seek)?,
            (None, Some(cav), None, Some(access)) if profile.zone.is_empty() => {
                check_cav(reader, cav)?;
                check_access(reader, access)?;
            }
            (None, None, Some(clv), Some(access)) if profile.zone.is_empty() => {
                check_clv(reader, clv)?;
                check_access(reader, access)?;
            }
            _ => {
                let wanted = "[[zone]] with [seek], or [cav] or [clv] with [access]";
                return Err(reader.value("kind", "\"optical\"", &format!("beside it {wanted}")));
            }
        }
        reader.within("interface.overhead_ms", profile.interface.overhead_ms.get(), 0.0..=1e6, " ms")?;
        reader.within("interface.bus_mb_s", profile.interface.bus_mb_s.get(), 0.0..=1e6, " MB/s")?;
        reader.within("interface.buffer_kib", profile.interface.buffer_kib.get(), 0..=1 << 20, " KiB")?;
        profile.build(reader)?;
        Ok(profile)
    }

    fn check_zones(&self, reader: &Reader<'_>, seek: &SledgeProfile) -> Result<(), ProfileError> {
        let starts: Vec<f64> = self.zone.iter().map(|zone| zone.from_gb.get()).collect();
        if starts.first() != Some(&0.0) || !starts.is_sorted_by(|a, b| a < b) {
            return Err(reader.value("zone.from_gb", &format!("{starts:?}"), "0 first, then rising"));
        }
        for zone in &self.zone {
            reader.within("zone.mb_s", zone.mb_s.get(), 0.001..=1e6, " MB/s")?;
            reader.within("zone.rpm", zone.rpm.get(), 60..=100_000, " turns a minute")?;
        }
        for (key, ms) in [
            ("seek.single_ms", &seek.single_ms),
            ("seek.average_ms", &seek.average_ms),
            ("seek.full_ms", &seek.full_ms),
        ] {
            reader.within(key, ms.get(), 0.0..=10_000.0, " ms")?;
        }
        Ok(())
    }

    /// Builds the drive model.
    pub(super) fn build(&self, reader: &Reader<'_>) -> Result<Optical, ProfileError> {
        let sectors = |gb: f64| (gb * 1e9 / SECTOR_BYTES as f64) as u64;
        let ring = |inner: &Sourced<f64>, outer: &Sourced<f64>| DiscRing {
            inner_mm: inner.get(),
            outer_mm: outer.get(),
            bytes: self.medium.capacity_gb.get() * 1e9,
        };
        let (spiral, access) = match (&self.seek, &self.cav, &self.clv, &self.access) {
            (Some(seek), ..) => {
                let zones = self.zone.iter().map(|zone| OpticalZone {
                    first_sector: sectors(zone.from_gb.get()),
                    bytes_per_s: bytes_of_mb(zone.mb_s.get()),
                    turn_ns: 60_000_000_000 / u64::from(zone.rpm.get()),
                });
                (Spiral::Zones(zones.collect()), PositioningModel::Turning(seek.curve(reader)?))
            }
            (None, Some(cav), _, Some(access)) => {
                let ring = ring(&cav.inner_mm, &cav.outer_mm);
                (Spiral::Cav(Cav { ring, rim_bytes_per_s: cav.rim_mb_s.get() * 1e6 }), access.whole())
            }
            (None, None, Some(clv), Some(access)) => {
                let clv = Clv {
                    ring: ring(&clv.inner_mm, &clv.outer_mm),
                    bytes_per_s: bytes_of_mb(clv.mb_s.get()),
                    spindle_ns_for_mm: clv.spindle_ms_per_mm.get() * 1e6,
                };
                (Spiral::Clv(clv), access.whole())
            }
            _ => {
                let wanted = "[seek], or [cav] or [clv] with [access], beside it";
                return Err(reader.value("kind", "\"optical\"", wanted));
            }
        };
        Ok(Optical::new(OpticalRules {
            capacity_sectors: sectors(self.medium.capacity_gb.get()),
            spiral,
            access,
            overhead_ns: ns_of_ms(self.interface.overhead_ms.get()),
            bus_bytes_per_s: bytes_of_mb(self.interface.bus_mb_s.get()),
            buffer_bytes: u64::from(self.interface.buffer_kib.get()) << 10,
        }))
    }
}

impl SledgeProfile {
    fn curve(&self, reader: &Reader<'_>) -> Result<SeekCurve, ProfileError> {
        let [single, average, full] =
            [&self.single_ms, &self.average_ms, &self.full_ms].map(|ms| ns_of_ms(ms.get()));
        SeekCurve::through(1000, single, average, full).ok_or_else(|| {
            let value = format!(
                "{} with {} and {} ms",
                self.single_ms.get(),
                self.average_ms.get(),
                self.full_ms.get()
            );
            reader.value("seek.single_ms", &value, "three times that rise with the distance")
        })
    }
}

impl AccessProfile {
    fn whole(&self) -> PositioningModel {
        PositioningModel::Whole {
            settle_ns: ns_of_ms(self.settle_ms.get()),
            root_ns: ns_of_ms(self.root_ms.get()),
            block_sectors: u64::from(self.block_kib.get()) * 1024 / SECTOR_BYTES,
            skip_sectors: u64::from(self.skip_kib.get()) * 1024 / SECTOR_BYTES,
        }
    }
}

fn check_cav(reader: &Reader<'_>, cav: &CavProfile) -> Result<(), ProfileError> {
    reader.within("cav.inner_mm", cav.inner_mm.get(), 1.0..=1000.0, " mm")?;
    reader.within("cav.outer_mm", cav.outer_mm.get(), cav.inner_mm.get() + 0.1..=2000.0, " mm")?;
    reader.within("cav.rim_mb_s", cav.rim_mb_s.get(), 0.001..=1e6, " MB/s")?;
    Ok(())
}

fn check_clv(reader: &Reader<'_>, clv: &ClvProfile) -> Result<(), ProfileError> {
    reader.within("clv.inner_mm", clv.inner_mm.get(), 1.0..=1000.0, " mm")?;
    reader.within("clv.outer_mm", clv.outer_mm.get(), clv.inner_mm.get() + 0.1..=2000.0, " mm")?;
    reader.within("clv.mb_s", clv.mb_s.get(), 0.001..=1e6, " MB/s")?;
    reader.within("clv.spindle_ms_per_mm", clv.spindle_ms_per_mm.get(), 0.0..=1000.0, " ms")?;
    Ok(())
}

fn check_access(reader: &Reader<'_>, access: &AccessProfile) -> Result<(), ProfileError> {
    reader.within("access.settle_ms", access.settle_ms.get(), 0.0..=10_000.0, " ms")?;
    reader.within("access.root_ms", access.root_ms.get(), 0.0..=10_000.0, " ms")?;
    reader.within("access.block_kib", access.block_kib.get(), 1..=1 << 20, " KiB")?;
    reader.within("access.skip_kib", access.skip_kib.get(), 0..=1 << 20, " KiB")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::devices::{DeviceProfile, text};

    #[test]
    fn a_drive_has_zones_or_turns_evenly_and_not_both() {
        let zones = text("dvd").unwrap();
        let cav = text("t60p").unwrap();
        let error = |text: &str| DeviceProfile::parse("mine.toml", text).unwrap_err().to_string();
        let wanted = "[[zone]] with [seek], or [cav] or [clv] with [access]";
        let from = cav.find("[cav]").unwrap();
        let until = cav.find("[interface]").unwrap();
        let both = zones.replacen("[interface]", &format!("{}[interface]", &cav[from..until]), 1);
        let neither = format!("{}{}", &cav[..from], &cav[until..]);
        for text in [both, neither] {
            assert!(error(&text).contains(wanted), "{}", error(&text));
        }
        let clv = text("cd-1x").unwrap();
        let begin = clv.find("[clv]").unwrap();
        let end = clv.find("[access]").unwrap();
        let twice = cav.replacen("[access]", &format!("{}[access]", &clv[begin..end]), 1);
        assert!(error(&twice).contains(wanted), "{}", error(&twice));
        let slow = clv.replacen("mb_s = { value = 0.1536", "mb_s = { value = 0", 1);
        assert!(error(&slow).contains("clv.mb_s is 0"), "{}", error(&slow));
        let inside_out = cav.replacen("outer_mm = { value = 58", "outer_mm = { value = 20", 1);
        assert!(error(&inside_out).contains("cav.outer_mm is 20"), "{}", error(&inside_out));
    }
}
