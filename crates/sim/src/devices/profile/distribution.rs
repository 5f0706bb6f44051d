//! The profile of a device of which only the response times are known.

use super::super::{Coverage, HeldOut, KernelQueue};
use super::error::{ProfileError, Reader};
use super::{TracedHost, bytes_of_mb, ns_of_us};
use crate::devices::SECTOR_BYTES;
use crate::devices::distribution::{CommandRules, Distribution, DistributionRules};
use crate::sources::Sourced;
use serde::Deserialize;

/// Maximum length of a list of times.
pub const MOST_TIMES: usize = 4096;

/// Values of a distribution device's profile.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DistributionProfile {
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
    #[serde(rename = "host")]
    _host: Option<TracedHost>,
    #[serde(rename = "held_out")]
    _held_out: Option<Vec<HeldOut>>,
    /// Service times and limits.
    pub service: ServiceTimes,
}

/// Service times and limits.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceTimes {
    /// Capacity in 10^9 bytes.
    pub capacity_gb: Sourced<f64>,
    /// Maximum number of commands outstanding at once.
    pub queue_depth: Sourced<u32>,
    /// Commands served in parallel; the others wait.
    pub channels: Sourced<u32>,
    /// Transfer rate, 10^6 bytes/s; 0: bytes take no time.
    pub mb_s: Sourced<f64>,
    /// Times of a read without its bytes, equally likely, us.
    pub read_us: Sourced<Vec<f64>>,
    /// Times of a write without its bytes, equally likely, us.
    pub write_us: Sourced<Vec<f64>>,
    /// Transfer rate of writes, 10^6 bytes/s; same as for reads if left out.
    pub write_mb_s: Option<Sourced<f64>>,
    /// Time of a read after releasing its channel, us; 0 if left out.
    pub read_beside_us: Option<Sourced<f64>>,
    /// Time of a write after releasing its channel, us; 0 if left out.
    pub write_beside_us: Option<Sourced<f64>>,
    /// Times of a flush, us; as a write if left out.
    pub flush_us: Option<Sourced<Vec<f64>>>,
}

impl DistributionProfile {
    pub(super) fn parse(reader: &Reader<'_>) -> Result<Self, ProfileError> {
        let profile: Self = reader.read(reader.text)?;
        let s = &profile.service;
        reader.within("service.capacity_gb", s.capacity_gb.get(), 0.001..=1e6, " GB")?;
        reader.within("service.queue_depth", s.queue_depth.get(), 1..=65_536, " commands")?;
        reader.within("service.channels", s.channels.get(), 1..=65_536, " channels")?;
        reader.rate("service.mb_s", s.mb_s.get())?;
        reader.rate("service.write_mb_s", s.write_mb_s())?;
        for (key, us) in
            [("service.read_beside_us", &s.read_beside_us), ("service.write_beside_us", &s.write_beside_us)]
        {
            reader.within(key, us.as_ref().map_or(0.0, Sourced::get), 0.0..=1e9, " us")?;
        }
        let flushes = s.flush_us.as_ref().map(|times| ("service.flush_us", &times.value));
        let lists = [("service.read_us", &s.read_us.value), ("service.write_us", &s.write_us.value)];
        for (key, times) in lists.into_iter().chain(flushes) {
            if !(1..=MOST_TIMES).contains(&times.len()) {
                let has = format!("a list of {}", times.len());
                return Err(reader.value(key, &has, &format!("1 to {MOST_TIMES} times")));
            }
            for &us in times {
                reader.within(key, us, 0.0..=1e9, " us each")?;
            }
        }
        Ok(profile)
    }

    /// Builds the device model.
    pub(super) fn build(&self) -> Distribution {
        let s = &self.service;
        let ns = |times: &[f64]| -> Vec<u64> { times.iter().map(|&us| ns_of_us(us)).collect() };
        let of = |times: &[f64], mb_s: f64, beside_us: &Option<Sourced<f64>>| CommandRules {
            times_ns: ns(times),
            bytes_per_s: bytes_of_mb(mb_s),
            beside_ns: ns_of_us(beside_us.as_ref().map_or(0.0, Sourced::get)),
        };
        Distribution::new(DistributionRules {
            capacity_sectors: (s.capacity_gb.get() * 1e9 / SECTOR_BYTES as f64) as u64,
            depth: s.queue_depth.get(),
            channels: s.channels.get(),
            reads: of(&s.read_us.value, s.mb_s.get(), &s.read_beside_us),
            writes: of(&s.write_us.value, s.write_mb_s(), &s.write_beside_us),
            flush_ns: s.flush_us.as_ref().map(|times| ns(&times.value)).unwrap_or_default(),
        })
    }
}

impl ServiceTimes {
    fn write_mb_s(&self) -> f64 {
        self.write_mb_s.as_ref().unwrap_or(&self.mb_s).get()
    }
}

#[cfg(test)]
mod tests {
    use super::super::DeviceProfile;
    use crate::devices::Device as _;

    const TEXT: &str = "kind = \"distribution\"\nabout = \"a volume\"\n\n[service]\n\
        capacity_gb = { value = 1.0, src = \"guess\" }\nqueue_depth = { value = 4, src = \"guess\" }\n\
        channels = { value = 2, src = \"fit\" }\nmb_s = { value = 0, src = \"guess\" }\n\
        read_us = { value = [10, 20.5], src = \"fit\" }\nwrite_us = { value = [7.0], src = \"fit\" }\n";

    #[test]
    fn a_list_of_times_is_read_and_counts_as_one_value() {
        let profile = DeviceProfile::parse("mine.toml", TEXT).unwrap();
        assert_eq!((profile.tally.fitted, profile.tally.guessed), (3, 3));
        let device = profile.build().unwrap();
        assert_eq!((device.depth(), device.capacity_sectors()), (4, 1_953_125));
    }

    #[test]
    fn optional_values_are_read_if_present() {
        use crate::devices::testing::{closed, read, write};
        let more = "write_mb_s = { value = 4.096, src = \"fit\" }\nread_beside_us = { value = 5, src = \"fit\" }\n\
            write_beside_us = { value = 6.0, src = \"fit\" }\nflush_us = { value = [2000.0], src = \"fit\" }\n";
        let text = TEXT.replacen("[10, 20.5]", "[10]", 1) + more;
        let mut device = DeviceProfile::parse("mine.toml", &text).unwrap().build().unwrap();
        let done = closed(&mut device, &[read(0, 0, 8), write(1, 8, 8), write(2, 0, 0)], 1);
        assert_eq!(done, [15_000, 15_000 + 1_013_000, 15_000 + 1_013_000 + 2_000_000]);
        let wrong = text.replacen("value = 6.0", "value = -6.0", 1);
        let message = DeviceProfile::parse("mine.toml", &wrong).unwrap_err().to_string();
        assert!(message.contains("service.write_beside_us is -6"), "{message}");
    }

    #[test]
    fn invalid_lists_are_errors_with_line_and_key() {
        let error = |from: &str, to: &str| {
            assert!(TEXT.contains(from));
            DeviceProfile::parse("mine.toml", &TEXT.replacen(from, to, 1)).unwrap_err().to_string()
        };
        let message = error("[10, 20.5]", "[]");
        assert!(
            message.contains("mine.toml:9:1: service.read_us is a list of 0; expected 1 to 4096 times"),
            "{message}"
        );
        let message = error("[7.0]", "[7.0, -1.0]");
        assert!(message.contains("service.write_us is -1; expected 0 to 1000000000 us each"), "{message}");
        let message = error("channels = { value = 2", "channels = { value = 0");
        assert!(message.contains("service.channels is 0"), "{message}");
        let message = error("mb_s = { value = 0,", "mb_s = { value = 0.0000001,");
        assert!(
            message.contains("service.mb_s is 0.0000001; expected 0 (no limit), or 0.001 to"),
            "{message}"
        );
        let message = error("[10, 20.5]", "10");
        assert!(message.contains("mine.toml:9:"), "{message}");
    }
}
