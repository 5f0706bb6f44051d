//! Devices as TOML texts in which every value states its source: parsed, checked, and built. The shipped ones are in `profiles/device`; a
//! user's own file has the same form (docs/formats/device.md).

mod array;
mod changing;
mod disk;
mod distribution;
mod error;
mod nature;
mod optical;
mod shipped;
mod ssd;

pub use array::{ArrayProfile, Bypass};
pub use changing::{ReadText, is_file};
pub use disk::DiskProfile;
pub use distribution::{DistributionProfile, MOST_TIMES};
pub use error::ProfileError;
pub use optical::OpticalProfile;
pub use shipped::{NAMES, text};
pub use ssd::{ConstantProfile, SsdProfile};

use super::{AnyDevice, Coverage, HeldOut, KernelQueue};
use crate::host::QueueRules;
use crate::sources::{Sourced, Tally, Uncertain};
use error::Reader;
use fathom_iopath::Limits;
use serde::Deserialize;

/// A device's profile.
#[derive(Clone, Debug)]
pub struct DeviceProfile {
    /// Description for people.
    pub about: String,
    /// Name or file.
    pub name: String,
    /// Counts of its values by source, including those of an array's disks.
    pub tally: Tally,
    /// Names of the values that are not certain.
    pub uncertain: Uncertain,
    /// Error of its response times against the device it was fitted to, on requests not used in the fit: the demerit figure in % of their
    /// mean. Only `fathom sim calibrate` writes it.
    pub demerit_percent: Option<f64>,
    /// Coverage of the trace it was fitted to; it is not valid for other requests. Also written by `fathom sim calibrate`.
    pub coverage: Option<Coverage>,
    /// Prediction errors on traces it was not fitted to, if there were several.
    pub held_out: Vec<HeldOut>,
    /// What the kernel of the trace had set for the device.
    pub queue: Option<KernelQueue>,
    /// How long the traced host took from a completion to the program's next request, us. Also written by `fathom sim calibrate`.
    pub turnaround_us: Option<Sourced<f64>>,
    kind: ModelProfile,
}

#[derive(Clone, Debug)]
enum ModelProfile {
    Constant(ConstantProfile),
    Distribution(Box<DistributionProfile>),
    Disk(DiskProfile),
    Array(ArrayProfile, Box<DiskProfile>),
    Optical(OpticalProfile),
    Ssd(SsdProfile),
}

/// Fields common to all profiles.
#[derive(Deserialize)]
struct ProfileHead {
    kind: String,
    about: String,
    demerit_percent: Option<f64>,
    trace: Option<Coverage>,
    #[serde(default)]
    held_out: Vec<HeldOut>,
    queue: Option<KernelQueue>,
    host: Option<TracedHost>,
}

/// What a trace shows of its host.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct TracedHost {
    turnaround_us: Sourced<f64>,
}

const KINDS: &str = "\"disk\", \"array\", \"optical\", \"ssd\", \"constant\" or \"distribution\"";

/// Parses a shipped profile.
///
/// # Errors
/// No profile has this name; the error lists the known names.
pub fn by_name(name: &str) -> Result<DeviceProfile, ProfileError> {
    let text = text(name).ok_or_else(|| ProfileError::Unknown { name: name.to_string() })?;
    DeviceProfile::parse(name, text)
}

impl DeviceProfile {
    /// Parses a profile; `name` is used in messages.
    ///
    /// # Errors
    /// The text is not TOML, lacks a value or has one out of range; with line and column.
    pub fn parse(name: &str, text: &str) -> Result<Self, ProfileError> {
        Self::parse_with(name, text, &changing::no_files)
    }

    /// Like [`DeviceProfile::parse`]; `read` returns the texts of files that the profile names (the disk of an array).
    ///
    /// # Errors
    /// As [`DeviceProfile::parse`].
    pub fn parse_with(name: &str, text: &str, read: ReadText<'_>) -> Result<Self, ProfileError> {
        let reader = Reader { name, text };
        let table: toml::Table = text.parse().map_err(|e| reader.toml(&e))?;
        let head: ProfileHead = reader.read(text)?;
        if let Some(percent) = head.demerit_percent.filter(|p| !p.is_finite() || *p < 0.0) {
            return Err(reader.value("demerit_percent", &percent.to_string(), "0 or more"));
        }
        let off = |h: &HeldOut| !h.off_percent().is_finite();
        if let Some(held_out) = head.held_out.iter().find(|h| off(h)) {
            let value = format!("{}, {}", held_out.throughput_percent, held_out.response_percent);
            return Err(reader.value("held_out.throughput_percent, response_percent", &value, "numbers"));
        }
        if let Some((key, value, expected)) = head.trace.as_ref().and_then(Coverage::wrong) {
            return Err(reader.value(key, &value, expected));
        }
        if let Some((key, value, expected)) = head.queue.as_ref().and_then(KernelQueue::wrong) {
            return Err(reader.value(key, &value, expected));
        }
        let turnaround_us = head.host.map(|host| host.turnaround_us);
        if let Some(us) = turnaround_us.as_ref().map(Sourced::get).filter(|us| !(0.0..=1e6).contains(us)) {
            return Err(reader.value("host.turnaround_us", &us.to_string(), "0 to 1000000 us"));
        }
        let mut tally = Tally::of(&table);
        let mut uncertain = Uncertain::of(&table);
        let kind = match head.kind.as_str() {
            "constant" => ModelProfile::Constant(ConstantProfile::parse(&reader)?),
            "distribution" => ModelProfile::Distribution(Box::new(DistributionProfile::parse(&reader)?)),
            "disk" => ModelProfile::Disk(DiskProfile::parse(&reader)?),
            "optical" => ModelProfile::Optical(OpticalProfile::parse(&reader)?),
            "ssd" => ModelProfile::Ssd(SsdProfile::parse(&reader)?),
            "array" => {
                let array = ArrayProfile::parse(&reader)?;
                let members = array.members(&reader, read)?;
                tally = tally + members.tally;
                uncertain = uncertain.and("members'", &members.uncertain);
                let disk = array.disk(&reader, members)?;
                array.layout(&reader, &disk)?;
                ModelProfile::Array(array, Box::new(disk))
            }
            other => return Err(reader.value("kind", &format!("{other:?}"), KINDS)),
        };
        let (demerit_percent, coverage) = (head.demerit_percent, head.trace);
        Ok(Self {
            about: head.about,
            name: name.to_string(),
            tally,
            uncertain,
            demerit_percent,
            coverage,
            held_out: head.held_out,
            queue: head.queue,
            turnaround_us,
            kind,
        })
    }

    /// Builds the device, idle.
    ///
    /// # Errors
    /// None for a parsed profile: parsing checks everything that can fail.
    pub fn build(&self) -> Result<AnyDevice, ProfileError> {
        Ok(match &self.kind {
            ModelProfile::Constant(profile) => AnyDevice::Constant(profile.build()),
            ModelProfile::Distribution(profile) => AnyDevice::Distribution(Box::new(profile.build())),
            ModelProfile::Disk(profile) => AnyDevice::Disk(Box::new(profile.build(&self.reader())?)),
            ModelProfile::Array(array, disk) => {
                AnyDevice::Array(Box::new(array.build(&self.reader(), disk)?))
            }
            ModelProfile::Optical(profile) => AnyDevice::Optical(Box::new(profile.build(&self.reader())?)),
            ModelProfile::Ssd(profile) => AnyDevice::Ssd(Box::new(profile.build())),
        })
    }

    /// Limits on the device's requests under a kernel's rules.
    #[must_use]
    pub fn limits(&self, kernel: QueueRules) -> Limits {
        let one_by_one = match &self.kind {
            ModelProfile::Constant(profile) => profile.service.queue_depth.get() == 1,
            ModelProfile::Distribution(profile) => profile.service.queue_depth.get() == 1,
            ModelProfile::Disk(profile) => profile.interface.queue_depth.get() == 1,
            ModelProfile::Optical(_) => true,
            ModelProfile::Array(..) | ModelProfile::Ssd(_) => false,
        };
        match (kernel, &self.kind) {
            (QueueRules::Linux24, _) => Limits::IDE_24,
            (QueueRules::Linux26, ModelProfile::Array(..)) => Limits::CCISS,
            (QueueRules::Linux26, _) if one_by_one => Limits::IDE_26,
            (QueueRules::Linux26, _) => Limits::SCSI_26,
            (QueueRules::Today, _) => {
                self.queue.as_ref().map_or(Limits::LOOP_618, |queue| queue.limits(Limits::LOOP_618))
            }
            (QueueRules::Gathered | QueueRules::Bare, _) => Limits::UNKNOWN,
        }
    }

    fn reader(&self) -> Reader<'_> {
        Reader { name: &self.name, text: "" }
    }

    /// The disk profile, if it is one.
    fn into_disk(self) -> Option<DiskProfile> {
        match self.kind {
            ModelProfile::Disk(profile) => Some(profile),
            _ => None,
        }
    }
}

/// Converts milliseconds to whole nanoseconds.
fn ns_of_ms(ms: f64) -> u64 {
    (ms * 1e6 + 0.5) as u64
}

/// Converts microseconds to whole nanoseconds.
fn ns_of_us(us: f64) -> u64 {
    (us * 1e3 + 0.5) as u64
}

/// Converts MB/s (10^6, as in data sheets) to bytes/s.
fn bytes_of_mb(mb: f64) -> u64 {
    (mb * 1e6 + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use super::super::testing::{closed, read, write};
    use super::super::{Device, SECTOR_BYTES};
    use super::*;

    #[test]
    fn every_shipped_profile_is_read_built_and_works() {
        for name in NAMES {
            let profile = by_name(name).unwrap();
            assert!(!profile.about.is_empty());
            let mut device = profile.build().unwrap();
            assert!(device.capacity_sectors() * SECTOR_BYTES >= 1 << 29, "{name}");
            let last = device.capacity_sectors() - 8;
            let done =
                closed(&mut device, &[read(0, 0, 8), write(1, last, 8), read(2, last, 8), write(3, 0, 0)], 1);
            assert!(done.iter().all(|&at| at > 0 && at < 10_000_000_000), "{name}: {done:?}");
        }
    }

    #[test]
    fn a_tagged_disk_has_not_the_limits_of_a_controller() {
        let of = |name: &str, kernel| by_name(name).unwrap().limits(kernel);
        assert_eq!(of("smartarray-6i-h1", QueueRules::Linux26), Limits::CCISS);
        assert_eq!(of("scsi-10k-72g", QueueRules::Linux26), Limits::SCSI_26);
        assert_eq!(of("deskstar-60gxp", QueueRules::Linux26), Limits::IDE_26);
        assert_eq!(of("deskstar-60gxp", QueueRules::Linux24), Limits::IDE_24);
        assert_eq!(of("ssd-generic", QueueRules::Today), Limits::LOOP_618);
    }

    #[test]
    fn every_value_has_a_source() {
        for name in NAMES {
            let table: toml::Table = text(name).unwrap().parse().unwrap();
            let values = count_values(&toml::Value::Table(table.clone())) as u32;
            let t = Tally::of(&table);
            let sourced = t.datasheet + t.measured + t.fitted + t.guessed;
            assert!(sourced >= 3 && sourced == values, "{name}: {sourced} of {values} values have a source");
        }
    }

    fn count_values(value: &toml::Value) -> usize {
        match value {
            toml::Value::Table(t) if t.contains_key("value") => 1,
            toml::Value::Table(t) => t.values().map(count_values).sum(),
            toml::Value::Array(a) => a.iter().map(count_values).sum(),
            _ => 0,
        }
    }

    #[test]
    fn a_disk_of_an_array_may_have_failed() {
        let text = text("smartarray-6i-h1").unwrap();
        let with = |n: u32| {
            let line = format!("[members]\nfailed = {{ value = {n}, src = \"guess\" }}\n");
            DeviceProfile::parse("mine.toml", &text.replacen("[members]\n", &line, 1))
        };
        assert_eq!(
            with(3).unwrap().build().unwrap().capacity_sectors(),
            by_name("smartarray-6i-h1").unwrap().build().unwrap().capacity_sectors()
        );
        let error = with(4).unwrap_err().to_string();
        assert!(error.contains(":1: members.failed is 4; expected a member's number"), "{error}");
    }

    #[test]
    fn invalid_times_and_sizes_are_errors_with_their_keys() {
        let error = |name: &str, from: &str, to: &str| {
            let text = text(name).unwrap();
            assert!(text.contains(from), "{from}");
            DeviceProfile::parse("mine.toml", &text.replacen(from, to, 1)).unwrap_err().to_string()
        };
        for wrong in ["1e30", "-1.0", "nan"] {
            let message = error("dvd", "full_ms = { value = 200", &format!("full_ms = {{ value = {wrong}"));
            assert!(
                message.contains("seek.full_ms is") && message.contains("expected 0 to 10000 ms"),
                "{message}"
            );
        }
        let collected = text("ssd-generic").unwrap().replacen("\"off\"", "\"greedy\"", 1);
        let set = |text: &str, key: &str, value: u64| -> String {
            let is = format!("{key} = {{ value = ");
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let line = lines.iter_mut().find(|line| line.starts_with(&is)).unwrap();
            let rest = &line[is.len()..];
            *line = format!("{is}{value}{}", &rest[rest.find([',', ' ']).unwrap()..]);
            lines.join("\n")
        };
        let collected = set(&set(&collected, "capacity_gb", 1), "over_provisioning_percent", 20);
        assert!(DeviceProfile::parse("mine.toml", &collected).is_ok());
        let mut huge = collected;
        for (key, value) in
            [("channels", 256), ("dies_per_channel", 256), ("page_kib", 1024), ("pages_per_block", 65_536)]
        {
            huge = set(&huge, key, value);
        }
        let message = DeviceProfile::parse("mine.toml", &huge).unwrap_err().to_string();
        for key in ["flash.pages_per_block", "page_kib", "dies_per_channel", "channels"] {
            assert!(message.contains(key), "{message}");
        }
    }

    #[test]
    fn errors_name_line_and_column() {
        let text = text("scsi-10k-72g").unwrap();
        let error = |text: &str| DeviceProfile::parse("mine.toml", text).unwrap_err().to_string();
        let wrong = text.replacen("heads = { value = 4", "heads = { value = 0", 1);
        let message = error(&wrong);
        let line = 1 + wrong.lines().position(|l| l.starts_with("heads")).unwrap();
        assert!(message.starts_with(&format!("mine.toml:{line}:1: geometry.heads is 0")), "{message}");
        let message = error(&text.replacen("rpm = ", "rmp = ", 1));
        assert!(message.contains("rmp") && message.starts_with("mine.toml:"), "{message}");
        let message = error("kind = \"tape\"\nabout = \"x\"\n");
        assert!(message.starts_with("mine.toml:1:1: kind is \"tape\"; expected \"disk\""), "{message}");
        let message = error("kind = disk\n");
        assert!(message.starts_with("mine.toml:1:8: "), "{message}");
        assert!(by_name("quantum").unwrap_err().to_string().contains("deskstar-60gxp"));
    }
}
