//! The profile of an optical drive: medium, spiral, sledge and interface, in the units of data sheets. The spiral is one of zones with the
//! sledge's times (`[[zone]]`, `[seek]`), or turns at a constant rate or passes at one (`[cav]`, `[clv]`) and is reached in one time (`[access]`).

use super::super::Coverage;
use super::error::{ProfileError, Reader};
use super::{bytes_of_mb, ns_of_ms};
use crate::devices::SECTOR_BYTES;
use crate::devices::curve::SeekCurve;
use crate::devices::optical::{Access, Cav, Clv, Optical, OpticalRules, OpticalZone, Ring, Spiral};
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
    #[serde(rename = "trace")]
    _trace: Option<Coverage>,
    /// The medium.
    pub medium: MediumProfile,
    /// From the inside out; none where there is `cav` or `clv`.
    #[serde(default)]
    pub zone: Vec<ZoneProfile>,
    /// The sledge over zones.
    pub seek: Option<SledgeProfile>,
    /// Constant angular velocity.
    pub cav: Option<CavProfile>,
    /// Constant linear velocity.
    pub clv: Option<ClvProfile>,
    /// How places are reached at either.
    pub access: Option<AccessProfile>,
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

/// Constant angular velocity.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CavProfile {
    /// Radius at which the data begin.
    pub inner_mm: Sourced<f64>,
    /// Radius at which they end.
    pub outer_mm: Sourced<f64>,
    /// At which they are read there, 10^6 bytes/s.
    pub rim_mb_s: Sourced<f64>,
}

/// Constant linear velocity.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClvProfile {
    /// Radius at which the data begin.
    pub inner_mm: Sourced<f64>,
    /// Radius at which they end.
    pub outer_mm: Sourced<f64>,
    /// At which they are read, 10^6 bytes/s.
    pub mb_s: Sourced<f64>,
    /// How long the disc takes to turn as a radius one mm further needs it.
    pub spindle_ms_per_mm: Sourced<f64>,
}

/// How a place is reached, half a turn included.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessProfile {
    /// Over no way at all.
    pub settle_ms: Sourced<f64>,
    /// More, times the square root of the way in GiB.
    pub root_ms: Sourced<f64>,
    /// Block of the error correction, with which reading begins.
    pub block_kib: Sourced<u32>,
    /// What begins at most so far behind what was read is waited for.
    pub skip_kib: Sourced<u32>,
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

    /// The drive.
    pub(super) fn build(&self, reader: &Reader<'_>) -> Result<Optical, ProfileError> {
        let sectors = |gb: f64| (gb * 1e9 / SECTOR_BYTES as f64) as u64;
        let ring = |inner: &Sourced<f64>, outer: &Sourced<f64>| Ring {
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
                (Spiral::Zones(zones.collect()), Access::Turning(seek.curve(reader)?))
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
    fn whole(&self) -> Access {
        Access::Whole {
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
