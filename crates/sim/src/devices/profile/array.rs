//! The profile of an array: its disks, the data layout, and the controller.

use super::super::{Coverage, KernelQueue};
use super::error::{ProfileError, Reader};
use super::{DeviceProfile, DiskProfile, ReadText, by_name, bytes_of_mb, is_file, ns_of_ms, ns_of_us};
use crate::devices::array::{Array, ArrayLayout, ArrayRules, RaidLevel};
use crate::devices::{Device, SECTOR_BYTES};
use crate::sources::Sourced;
use serde::Deserialize;

/// Values of an array profile.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayProfile {
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
    /// The disks; their write caches are off.
    pub members: MembersProfile,
    /// Data layout on the disks.
    pub layout: LayoutProfile,
    /// Limits and timing of the controller.
    pub controller: ControllerProfile,
    /// The controller's cache.
    pub cache: CacheProfile,
    /// Which writes bypass the cache.
    pub bypass: Bypass,
}

/// The disks of an array.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MembersProfile {
    /// Name of a shipped profile, or the path of one.
    pub disk: Sourced<String>,
    /// Number of disks.
    pub count: Sourced<u32>,
    /// Index of a failed disk, from 0; `None` if all work.
    pub failed: Option<Sourced<u32>>,
}

/// Data layout on the disks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayoutProfile {
    /// "raid0", "raid1", "raid5" or "raid10".
    pub level: Sourced<RaidLevel>,
    /// Stripe unit, KiB.
    pub unit_kib: Sourced<u32>,
}

/// Limits and timing of the controller.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerProfile {
    /// Maximum number of commands outstanding at once.
    pub outstanding: Sourced<u32>,
    /// Firmware time per command, us.
    pub firmware_us: Sourced<f64>,
    /// Limit of bus and XOR engine, 10^6 bytes/s; 0: no limit.
    pub ceiling_mb_s: Sourced<f64>,
    /// Whether a partial stripe write may read the rest of the stripe to compute parity.
    pub reconstruct: Sourced<bool>,
}

/// The controller's write cache.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheProfile {
    /// Size of the controller's memory, MiB.
    pub mib: Sourced<u32>,
    /// Share of it used for writes, percent; 0: no write cache.
    pub write_percent: Sourced<u32>,
    /// Whether it is battery-backed; otherwise writes go to the disks.
    pub battery: Sourced<bool>,
    /// How long a partial stripe waits for the rest, ms.
    pub merge_window_ms: Sourced<f64>,
    /// Full stripes written back in one access to each disk.
    pub destage_stripes: Sourced<u32>,
    /// Number of such runs in parallel.
    pub destage_at_once: Sourced<u32>,
}

/// Which writes bypass the cache, and how.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bypass {
    /// Writes longer than this, KiB; 0: none.
    pub above_kib: Sourced<u32>,
    /// Writes with more scatter entries than this; 0: none.
    pub above_segments: Sourced<u16>,
    /// All writes while more is dirty and outstanding than the cache takes.
    pub when_overfull: Sourced<bool>,
    /// Bypassing commands served in parallel; 0: all.
    pub commands_at_once: Sourced<u32>,
    /// Contiguous commands are joined up to this size, KiB; 0: never.
    pub coalesce_kib: Sourced<u32>,
    /// Stripes of a command written in parallel; 0: all.
    pub stripes_at_once: Sourced<u32>,
}

impl ArrayProfile {
    pub(super) fn parse(reader: &Reader<'_>) -> Result<Self, ProfileError> {
        let profile: Self = reader.read(reader.text)?;
        reader.within("members.count", profile.members.count.get(), 1..=256, " disks")?;
        reader.within("layout.unit_kib", profile.layout.unit_kib.get(), 1..=1 << 20, " KiB")?;
        let c = &profile.controller;
        reader.within("controller.outstanding", c.outstanding.get(), 1..=65_536, " commands")?;
        reader.within("controller.firmware_us", c.firmware_us.get(), 0.0..=1e6, " us")?;
        reader.rate("controller.ceiling_mb_s", c.ceiling_mb_s.get())?;
        let cache = &profile.cache;
        reader.within("cache.mib", cache.mib.get(), 0..=1 << 20, " MiB")?;
        reader.within("cache.write_percent", cache.write_percent.get(), 0..=100, " %")?;
        reader.within("cache.merge_window_ms", cache.merge_window_ms.get(), 0.0..=1e6, " ms")?;
        reader.within("cache.destage_stripes", cache.destage_stripes.get(), 1..=65_536, " stripes")?;
        reader.within("cache.destage_at_once", cache.destage_at_once.get(), 1..=1024, " runs")?;
        reader.within("bypass.above_kib", profile.bypass.above_kib.get(), 0..=1 << 20, " KiB")?;
        reader.within(
            "bypass.commands_at_once",
            profile.bypass.commands_at_once.get(),
            0..=65_536,
            " commands",
        )?;
        reader.within("bypass.coalesce_kib", profile.bypass.coalesce_kib.get(), 0..=1 << 20, " KiB")?;
        reader.within(
            "bypass.stripes_at_once",
            profile.bypass.stripes_at_once.get(),
            0..=65_536,
            " stripes",
        )?;
        Ok(profile)
    }

    /// The profile of its disks, shipped or from a file.
    pub(super) fn members(
        &self,
        reader: &Reader<'_>,
        read: ReadText<'_>,
    ) -> Result<DeviceProfile, ProfileError> {
        let name = self.members.disk.value.as_str();
        if !is_file(name) {
            let expected = "the name of a shipped disk, or the path of a disk's profile";
            return by_name(name).map_err(|_| reader.value("members.disk", &format!("{name:?}"), expected));
        }
        let text = read(name)
            .map_err(|why| reader.value("members.disk", &format!("{name:?}: {why}"), "a profile"))?;
        DeviceProfile::parse(name, &text)
    }

    /// Builds the disk model of its members.
    pub(super) fn disk(
        &self,
        reader: &Reader<'_>,
        members: DeviceProfile,
    ) -> Result<DiskProfile, ProfileError> {
        let name = &self.members.disk.value;
        members
            .into_disk()
            .ok_or_else(|| reader.value("members.disk", &format!("{name:?}"), "a profile of the kind disk"))
    }

    /// The layout on such disks.
    pub(super) fn layout(
        &self,
        reader: &Reader<'_>,
        disk: &DiskProfile,
    ) -> Result<ArrayLayout, ProfileError> {
        let member_sectors = disk.build(reader)?.capacity_sectors();
        let unit = u64::from(self.layout.unit_kib.get()) * 1024 / SECTOR_BYTES;
        let count = self.members.count.get();
        let expected =
            "at least 2 disks for raid1, at least 3 for raid5, an even number from 4 on for raid10";
        let whole = ArrayLayout::new(self.layout.level.get(), count.into(), unit, member_sectors)
            .ok_or_else(|| reader.value("members.count", &count.to_string(), expected))?;
        let Some(failed) = self.members.failed.as_ref().map(Sourced::get) else { return Ok(whole) };
        let expected = "a member's number, from 0, at a RAID level that survives its loss";
        whole
            .without(failed.into())
            .ok_or_else(|| reader.value("members.failed", &failed.to_string(), expected))
    }

    /// Builds the array model.
    pub(super) fn build(&self, reader: &Reader<'_>, disk: &DiskProfile) -> Result<Array, ProfileError> {
        let layout = self.layout(reader, disk)?;
        let disk = disk.written_through().build(reader)?;
        Ok(Array::new(self.rules(), layout, &disk, self.members.count.get() as usize))
    }

    fn rules(&self) -> ArrayRules {
        let (c, cache, b) = (&self.controller, &self.cache, &self.bypass);
        let cache_bytes = u64::from(cache.mib.get()) << 20;
        ArrayRules {
            depth: c.outstanding.get(),
            firmware_ns: ns_of_us(c.firmware_us.get()),
            link_bytes_per_s: bytes_of_mb(c.ceiling_mb_s.get()),
            write_cache_bytes: cache_bytes * u64::from(cache.write_percent.get()) / 100,
            battery: cache.battery.get(),
            bypass_above_bytes: u64::from(b.above_kib.get()) << 10,
            bypass_above_segments: b.above_segments.get(),
            bypass_when_overfull: b.when_overfull.get(),
            bypass_at_once: b.commands_at_once.get(),
            coalesce_bytes: u64::from(b.coalesce_kib.get()) << 10,
            stripes_at_once: b.stripes_at_once.get(),
            reconstruct: c.reconstruct.get(),
            merge_window_ns: ns_of_ms(cache.merge_window_ms.get()),
            destage_run: cache.destage_stripes.get(),
            destage_at_once: cache.destage_at_once.get(),
        }
    }
}
