//! The profile of an array: which disks, how many, how data lie on them, and what the controller does.

use super::super::Coverage;
use super::error::{ProfileError, Reader};
use super::{DeviceProfile, DiskProfile, ReadText, by_name, bytes_of_mb, is_file, ns_of_ms, ns_of_us};
use crate::devices::array::{Array, ArrayRules, Layout, Level};
use crate::devices::{Device, SECTOR_BYTES};
use crate::sources::Sourced;
use serde::Deserialize;

/// An array's numbers.
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
    /// The disks; their write caches are off.
    pub members: MembersProfile,
    /// How data lie on them.
    pub layout: LayoutProfile,
    /// The controller.
    pub controller: ControllerProfile,
    /// Its write cache.
    pub cache: CacheProfile,
    /// Which writes go past the cache.
    pub bypass: Bypass,
}

/// The disks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MembersProfile {
    /// Name of a shipped profile, or the path of one.
    pub disk: Sourced<String>,
    /// How many.
    pub count: Sourced<u32>,
    /// One that does not work, counted from 0. May be left out: all do.
    pub failed: Option<Sourced<u32>>,
}

/// How data lie on the disks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayoutProfile {
    /// "raid0", "raid1", "raid5" or "raid10".
    pub level: Sourced<Level>,
    /// Stripe unit.
    pub unit_kib: Sourced<u32>,
}

/// The controller.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerProfile {
    /// Commands at once.
    pub outstanding: Sourced<u32>,
    /// Firmware's time for each.
    pub firmware_us: Sourced<f64>,
    /// What bus and XOR engine move, 10^6 bytes/s; 0: no limit.
    pub ceiling_mb_s: Sourced<f64>,
    /// Whether a part of a stripe may be written by reading the rest of it.
    pub reconstruct: Sourced<bool>,
}

/// The write cache.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheProfile {
    /// Size of the controller's memory.
    pub mib: Sourced<u32>,
    /// Share of it for writes; 0 is no write cache.
    pub write_percent: Sourced<u32>,
    /// Without it writes go to the disks.
    pub battery: Sourced<bool>,
    /// How long a part of a stripe waits for the rest.
    pub merge_window_ms: Sourced<f64>,
    /// Whole stripes that leave in one access to each disk.
    pub destage_stripes: Sourced<u32>,
    /// Such runs at the same time.
    pub destage_at_once: Sourced<u32>,
}

/// Which writes go past the cache, and how.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bypass {
    /// Longer ones; 0: none.
    pub above_kib: Sourced<u32>,
    /// Those of more scatter entries; 0: none.
    pub above_segments: Sourced<u16>,
    /// All while more is dirty and outstanding than the cache takes.
    pub when_overfull: Sourced<bool>,
    /// Commands at the same time; 0: all.
    pub commands_at_once: Sourced<u32>,
    /// Those that directly follow each other are joined up to this; 0: never.
    pub coalesce_kib: Sourced<u32>,
    /// Stripes of a command at the same time; 0: all.
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

    /// The profile of its disks: one that is shipped, or a file.
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

    /// Its disks.
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

    /// How data lie on such disks.
    pub(super) fn layout(&self, reader: &Reader<'_>, disk: &DiskProfile) -> Result<Layout, ProfileError> {
        let member_sectors = disk.build(reader)?.capacity_sectors();
        let unit = u64::from(self.layout.unit_kib.get()) * 1024 / SECTOR_BYTES;
        let count = self.members.count.get();
        let expected = "2 or more disks for raid1, 3 for raid5, 4 and an even number for raid10";
        let whole = Layout::new(self.layout.level.get(), count.into(), unit, member_sectors)
            .ok_or_else(|| reader.value("members.count", &count.to_string(), expected))?;
        let Some(failed) = self.members.failed.as_ref().map(Sourced::get) else { return Ok(whole) };
        let expected = "a member's number from 0, of a level that survives it";
        whole
            .without(failed.into())
            .ok_or_else(|| reader.value("members.failed", &failed.to_string(), expected))
    }

    /// The array.
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
            past_at_once: b.commands_at_once.get(),
            coalesce_bytes: u64::from(b.coalesce_kib.get()) << 10,
            stripes_at_once: b.stripes_at_once.get(),
            reconstruct: c.reconstruct.get(),
            merge_window_ns: ns_of_ms(cache.merge_window_ms.get()),
            destage_run: cache.destage_stripes.get(),
            destage_at_once: cache.destage_at_once.get(),
        }
    }
}
