//! Profiles of flash drives and of the device with constant service time.

use super::super::{Coverage, KernelQueue};
use super::error::{ProfileError, Reader};
use super::{bytes_of_mb, ns_of_us};
use crate::devices::ssd::{FlashRules, MOST_SLOTS, Ssd, SsdRules};
use crate::devices::{Constant, SECTOR_BYTES};
use crate::sources::Sourced;
use serde::Deserialize;

/// Largest drive with garbage collection, GB: its page map takes 8 bytes per 4 KiB.
const LARGEST_COLLECTED_GB: f64 = 16.0;

/// Values of a flash drive's profile.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SsdProfile {
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
    /// Link and limits.
    pub interface: SsdInterface,
    /// Dies, channels and their timing.
    pub flash: FlashProfile,
    /// Write amplification and garbage collection.
    pub gc: GcProfile,
}

/// Link and limits.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SsdInterface {
    /// Capacity in 10^9 bytes.
    pub capacity_gb: Sourced<f64>,
    /// Maximum number of commands outstanding at once.
    pub queue_depth: Sourced<u32>,
    /// Controller overhead per command, us.
    pub overhead_us: Sourced<f64>,
    /// Link rate, 10^6 bytes/s.
    pub host_mb_s: Sourced<f64>,
    /// Buffer for writes acknowledged before they are programmed, KiB.
    pub buffer_kib: Sourced<u32>,
}

/// Dies, channels and their timing.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashProfile {
    /// Number of channels.
    pub channels: Sourced<u32>,
    /// Dies per channel.
    pub dies_per_channel: Sourced<u32>,
    /// Planes per die.
    pub planes: Sourced<u32>,
    /// Page size, KiB.
    pub page_kib: Sourced<u32>,
    /// Pages per block.
    pub pages_per_block: Sourced<u32>,
    /// Time to sense a page, us.
    pub read_us: Sourced<f64>,
    /// Time to program a page, us.
    pub program_us: Sourced<f64>,
    /// Time to erase a block, us.
    pub erase_us: Sourced<f64>,
    /// Rate of a channel, 10^6 bytes/s.
    pub channel_mb_s: Sourced<f64>,
}

/// Write amplification and garbage collection.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GcProfile {
    /// "off": a constant write amplification; "greedy": garbage is collected in the model.
    pub kind: Sourced<Gc>,
    /// Pages programmed per hundred written, with "off".
    pub write_amplification_percent: Sourced<u32>,
    /// Flash beyond the capacity, percent, with "greedy".
    pub over_provisioning_percent: Sourced<u32>,
}

/// Garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gc {
    /// Not modelled.
    Off,
    /// Cleans the block with the fewest valid slots.
    Greedy,
}

impl SsdProfile {
    pub(super) fn parse(reader: &Reader<'_>) -> Result<Self, ProfileError> {
        let profile: Self = reader.read(reader.text)?;
        let (i, f, gc) = (&profile.interface, &profile.flash, &profile.gc);
        let greedy = gc.kind.get() == Gc::Greedy;
        let largest = if greedy { LARGEST_COLLECTED_GB } else { 1e6 };
        let unit = if greedy { " GB with gc \"greedy\"" } else { " GB" };
        reader.within("interface.capacity_gb", i.capacity_gb.get(), 0.001..=largest, unit)?;
        reader.within("interface.queue_depth", i.queue_depth.get(), 1..=65_536, " commands")?;
        reader.within("interface.overhead_us", i.overhead_us.get(), 0.0..=1e6, " us")?;
        reader.within("interface.host_mb_s", i.host_mb_s.get(), 0.0..=1e6, " MB/s")?;
        reader.within("interface.buffer_kib", i.buffer_kib.get(), 0..=1 << 24, " KiB")?;
        reader.within("flash.channels", f.channels.get(), 1..=256, " channels")?;
        reader.within("flash.dies_per_channel", f.dies_per_channel.get(), 1..=256, " dies")?;
        reader.within("flash.planes", f.planes.get(), 1..=16, " planes")?;
        reader.within("flash.page_kib", f.page_kib.get(), 4..=1024, " KiB")?;
        reader.within("flash.pages_per_block", f.pages_per_block.get(), 1..=65_536, " pages")?;
        for (key, us) in [
            ("flash.read_us", &f.read_us),
            ("flash.program_us", &f.program_us),
            ("flash.erase_us", &f.erase_us),
        ] {
            reader.within(key, us.get(), 0.0..=1e6, " us")?;
        }
        reader.within("flash.channel_mb_s", f.channel_mb_s.get(), 0.001..=1e6, " MB/s")?;
        let amplification = gc.write_amplification_percent.get();
        reader.within("gc.write_amplification_percent", amplification, 100..=10_000, " %")?;
        let over = gc.over_provisioning_percent.get();
        let range = if greedy { 1..=400 } else { 0..=400 };
        reader.within("gc.over_provisioning_percent", over, range, " %")?;
        let slots = profile.rules().flash_slots();
        if greedy && slots > MOST_SLOTS {
            let value = format!(
                "{} with page_kib {}, dies_per_channel {} and channels {}: {slots} slots of 4 KiB",
                f.pages_per_block.get(),
                f.page_kib.get(),
                f.dies_per_channel.get(),
                f.channels.get()
            );
            let expected =
                format!("at most {MOST_SLOTS} with gc \"greedy\" (every die has three spare blocks)");
            return Err(reader.value("flash.pages_per_block", &value, &expected));
        }
        Ok(profile)
    }

    /// Builds the drive model.
    pub(super) fn build(&self) -> Ssd {
        Ssd::new(self.rules())
    }

    fn rules(&self) -> SsdRules {
        let (i, f, gc) = (&self.interface, &self.flash, &self.gc);
        SsdRules {
            flash: FlashRules {
                channels: f.channels.get(),
                dies_per_channel: f.dies_per_channel.get(),
                planes: f.planes.get(),
                page_bytes: f.page_kib.get() << 10,
                read_ns: ns_of_us(f.read_us.get()),
                program_ns: ns_of_us(f.program_us.get()),
                erase_ns: ns_of_us(f.erase_us.get()),
                channel_bytes_per_s: bytes_of_mb(f.channel_mb_s.get()),
            },
            capacity_sectors: (i.capacity_gb.get() * 1e9 / SECTOR_BYTES as f64) as u64,
            depth: i.queue_depth.get(),
            overhead_ns: ns_of_us(i.overhead_us.get()),
            host_bytes_per_s: bytes_of_mb(i.host_mb_s.get()),
            buffer_bytes: u64::from(i.buffer_kib.get()) << 10,
            write_amplification_percent: gc.write_amplification_percent.get(),
            over_provisioning_percent: match gc.kind.get() {
                Gc::Off => 0,
                Gc::Greedy => gc.over_provisioning_percent.get(),
            },
            pages_per_block: f.pages_per_block.get(),
        }
    }
}

/// A device with a constant time per command plus a time per byte.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantProfile {
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
    /// Service time and limits.
    pub service: ServiceProfile,
}

/// Service time and limits.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceProfile {
    /// Capacity in 10^9 bytes.
    pub capacity_gb: Sourced<f64>,
    /// Maximum number of commands outstanding at once; they are served one after the other.
    pub queue_depth: Sourced<u32>,
    /// Time per command, us.
    pub command_us: Sourced<f64>,
    /// Transfer rate, 10^6 bytes/s; 0: bytes take no time.
    pub mb_s: Sourced<f64>,
}

impl ConstantProfile {
    pub(super) fn parse(reader: &Reader<'_>) -> Result<Self, ProfileError> {
        let profile: Self = reader.read(reader.text)?;
        let s = &profile.service;
        reader.within("service.capacity_gb", s.capacity_gb.get(), 0.001..=1e6, " GB")?;
        reader.within("service.queue_depth", s.queue_depth.get(), 1..=65_536, " commands")?;
        reader.within("service.command_us", s.command_us.get(), 0.0..=1e9, " us")?;
        reader.rate("service.mb_s", s.mb_s.get())?;
        Ok(profile)
    }

    /// Builds the device model.
    pub(super) fn build(&self) -> Constant {
        let s = &self.service;
        let sectors = (s.capacity_gb.get() * 1e9 / SECTOR_BYTES as f64) as u64;
        Constant::new(sectors, s.queue_depth.get(), ns_of_us(s.command_us.get()), bytes_of_mb(s.mb_s.get()))
    }
}
