//! One fit of any kind, from its first request to the text of a profile.

use super::constant::LineFit;
use super::disk::Curve;
use super::points::{Course, Point};
use super::service::{Service, Services};
use super::spread::Spread;
use super::{FitError, Value};
use crate::devices::{AnyDevice, Device as _, DeviceProfile, ProfileError, SECTOR_BYTES};
use fathom_record::block::DeviceNumber;
use std::fmt::Write as _;

/// Capacity of a device without positions: ample for any simulated workload.
const AMPLE_GB: f64 = 1000.0;

/// A fit in progress.
#[derive(Clone, Debug)]
pub enum Fitting {
    /// A time per command and one per byte.
    Constant(LineFit),
    /// A distribution of times per command, with the line through times over sizes.
    Distribution(LineFit, Spread),
    /// The seek curve of a known disk.
    Disk(Box<Known>),
}

/// A known disk, and its refitted curve.
#[derive(Clone, Debug)]
pub struct Known {
    name: String,
    table: toml::Table,
    capacity_sectors: u64,
    curve: Curve,
}

/// Adds the demerit of a profile's held-out half to its text, so that every user of the profile sees it.
#[must_use]
pub fn with_demerit(profile: &str, demerit_percent: f64) -> String {
    match profile.split_once("\n\n") {
        Some((head, values)) => format!("{head}\ndemerit_percent = {demerit_percent:.2}\n\n{values}"),
        None => profile.to_owned(),
    }
}

/// Why there is no disk to start from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LikeError {
    /// Its profile is invalid.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// It is not a single disk.
    #[error(
        "{name} is not a single disk; --like needs one, because fitting seeks takes its surfaces and rotation time"
    )]
    NoDisk {
        /// The name that was given.
        name: String,
    },
}

impl Fitting {
    /// For a device without an arm.
    #[must_use]
    pub fn constant() -> Self {
        Self::Constant(LineFit::default())
    }

    /// For a device of which only the times are known, assumed to serve `channels` commands in parallel; `line` gives the time per byte.
    #[must_use]
    pub fn distribution(line: &LineFit, channels: usize) -> Self {
        let ns_per_byte = line.course().map_or(0.0, |course| course.linear_ns);
        Self::Distribution(line.clone(), Spread::new(channels, ns_per_byte))
    }

    /// The converter from events to services for this fit.
    #[must_use]
    pub fn services(&self, device: DeviceNumber) -> Services {
        match self {
            Self::Distribution(_, spread) => Services::with_channels(device, spread.channels()),
            Self::Constant(_) | Self::Disk(_) => Services::new(device),
        }
    }

    /// For a disk whose surfaces are like those of this profile.
    ///
    /// # Errors
    /// The text is not a disk's profile.
    pub fn disk(name: &str, text: &str) -> Result<Self, LikeError> {
        let AnyDevice::Disk(disk) = DeviceProfile::parse(name, text)?.build()? else {
            return Err(LikeError::NoDisk { name: name.into() });
        };
        // It has just been parsed.
        let table: toml::Table = text.parse().unwrap_or_default();
        let overhead_ms = table
            .get("interface")
            .and_then(|t| t.get("overhead_ms")?.get("value"))
            .and_then(|v| v.as_float().or(v.as_integer().map(|i| i as f64)));
        let overhead_ns = (overhead_ms.unwrap_or(0.0) * 1e6) as u64;
        let curve = Curve::new(disk.mechanism().geometry().clone(), overhead_ns);
        let capacity_sectors = disk.capacity_sectors();
        Ok(Self::Disk(Box::new(Known { name: name.into(), table, capacity_sectors, curve })))
    }

    /// Adds a request.
    pub fn add(&mut self, service: &Service) {
        match self {
            Self::Constant(line) => line.add(service),
            Self::Distribution(_, spread) => spread.add(service),
            Self::Disk(known) => known.curve.add(service),
        }
    }

    /// A request as a point of the fit; `None` if the fit ignores it.
    #[must_use]
    pub fn point(&self, service: &Service) -> Option<Point> {
        match self {
            Self::Constant(_) | Self::Distribution(..) => Some(LineFit::point(service)),
            Self::Disk(known) => known.curve.point(service),
        }
    }

    /// The fitted curve, for plotting.
    #[must_use]
    pub fn course(&self) -> Option<Course> {
        match self {
            Self::Constant(line) | Self::Distribution(line, _) => line.course(),
            Self::Disk(known) => known.curve.course(),
        }
    }

    /// The fitted values.
    ///
    /// # Errors
    /// The requests do not determine them.
    pub fn fit(&self) -> Result<Vec<Value>, FitError> {
        Ok(match self {
            Self::Constant(line) => line.fit()?.to_vec(),
            Self::Distribution(_, spread) => spread.fit()?,
            Self::Disk(known) => known.curve.fit()?.to_vec(),
        })
    }

    /// Capacity of the profile, if fixed; a constant device is as large as the trace requires.
    #[must_use]
    pub fn capacity_sectors(&self) -> Option<u64> {
        match self {
            Self::Constant(_) | Self::Distribution(..) => None,
            Self::Disk(known) => Some(known.capacity_sectors),
        }
    }

    /// The text of the profile. `about` is one line; `depth` is the highest number of requests in the device, `end_sector` the end of the
    /// highest.
    #[must_use]
    pub fn profile(&self, about: &str, values: &[Value], end_sector: u64, depth: usize) -> String {
        let about: String = about.chars().map(plain).collect();
        match self {
            Self::Constant(_) => {
                let values: String = values.iter().map(Value::line).collect();
                flat("constant", &about, &values, end_sector, depth)
            }
            Self::Distribution(_, spread) => {
                let [channels, rate, ..] = values else { return String::new() };
                let (number, note) = (channels.value as u64, &channels.note);
                let channels =
                    format!("channels = {{ value = {number}, src = \"fit\", note = \"{note}\" }}\n");
                flat("distribution", &about, &(channels + &rate.line() + &spread.lines()), end_sector, depth)
            }
            Self::Disk(known) => known.profile(&about, values),
        }
    }
}

/// Replaces characters that would end the TOML line or string, or are not printable.
pub(super) fn plain(c: char) -> char {
    if c == '"' || c == '\\' || c.is_control() { '\'' } else { c }
}

fn flat(kind: &str, about: &str, values: &str, end_sector: u64, depth: usize) -> String {
    let head = format!("kind = \"{kind}\"\nabout = \"{about}\"\n\n[service]\n");
    head + &capacity(end_sector) + &queue_depth(depth) + values
}

/// Queue depth of the model as a multiple of the deepest queue seen, so that deeper loads show, although without an error bar.
const ROOM: usize = 4;

pub(super) fn queue_depth(most: usize) -> String {
    let room = most.saturating_mul(ROOM).clamp(1, 65_536);
    format!(
        "queue_depth = {{ value = {room}, src = \"guess\", note = \"at most {most} were in flight; beyond that there is no error bar\" }}\n"
    )
}

/// Capacity of a device without positions. Times do not depend on the position, so a workload may go beyond the trace's end.
pub(super) fn capacity(end_sector: u64) -> String {
    // Rounded up, so that the last sector fits.
    let farthest_gb = ((end_sector * SECTOR_BYTES) as f64 / 1e6).ceil().max(1.0) / 1e3;
    let capacity_gb = farthest_gb.max(AMPLE_GB);
    format!(
        "capacity_gb = {{ value = {capacity_gb:.3}, src = \"guess\", note = \"no time depends on it; the trace reaches {farthest_gb:.3} GB\" }}\n"
    )
}

impl Known {
    /// Every value of the known disk as a guess about this one, except the fitted ones.
    fn profile(&self, about: &str, values: &[Value]) -> String {
        let mut text = format!("kind = \"disk\"\nabout = \"{about}\"\n");
        for (section, keys) in &self.table {
            // Coverage of the known disk's trace does not apply to this one.
            let Some(keys) = keys.as_table().filter(|_| section != "trace") else { continue };
            let _ = write!(text, "\n[{section}]\n");
            for (key, value) in keys {
                let fitted = values.iter().find(|v| v.key == format!("{section}.{key}"));
                match (fitted, value.get("value")) {
                    (Some(fitted), _) => text += &fitted.line(),
                    (None, Some(value)) => {
                        let name: String = self.name.chars().map(plain).collect();
                        let _ = writeln!(
                            text,
                            "{key} = {{ value = {value}, src = \"guess\", note = \"as {name}\" }}"
                        );
                    }
                    (None, None) => {}
                }
            }
        }
        text
    }
}
