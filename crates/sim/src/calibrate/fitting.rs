//! One fit from its first request to the text of a profile, whichever kind it is of.

use super::constant::Line;
use super::disk::Curve;
use super::points::{Course, Point};
use super::service::{Service, Services};
use super::spread::Spread;
use super::{Unfit, Value};
use crate::devices::{AnyDevice, Device as _, DeviceProfile, ProfileError, SECTOR_BYTES};
use fathom_record::block::DeviceNumber;
use std::fmt::Write as _;

/// A device without places has room for what is simulated on it.
const AMPLE_GB: f64 = 1000.0;

/// A fit under way.
#[derive(Clone, Debug)]
pub enum Fitting {
    /// A time for each command and one for each byte.
    Constant(Line),
    /// A distribution of times for each command, with the line through times over sizes.
    Distribution(Line, Spread),
    /// The seek curve of a known disk.
    Disk(Box<Known>),
}

/// A known disk, and its curve as it is fitted anew.
#[derive(Clone, Debug)]
pub struct Known {
    name: String,
    table: toml::Table,
    capacity_sectors: u64,
    curve: Curve,
}

/// A profile with what it was judged to be worth: the demerit of its second half stands with it, for all who simulate with it.
#[must_use]
pub fn with_demerit(profile: &str, demerit_percent: f64) -> String {
    match profile.split_once("\n\n") {
        Some((head, values)) => format!("{head}\ndemerit_percent = {demerit_percent:.2}\n\n{values}"),
        None => profile.to_owned(),
    }
}

/// Why there is no disk to begin with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LikeError {
    /// Its profile is none.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// It is no disk.
    #[error(
        "{name} is no single disk; --like names one, as its surfaces and its turn are what a seek is told by"
    )]
    NoDisk {
        /// What was named.
        name: String,
    },
}

impl Fitting {
    /// For a device without an arm.
    #[must_use]
    pub fn constant() -> Self {
        Self::Constant(Line::default())
    }

    /// For a device of which nothing but its times is known, taken to serve so many commands at once; a byte takes as long as this line says.
    #[must_use]
    pub fn distribution(line: &Line, channels: usize) -> Self {
        let ns_per_byte = line.course().map_or(0.0, |course| course.linear_ns);
        Self::Distribution(line.clone(), Spread::new(channels, ns_per_byte))
    }

    /// What makes services of events for it.
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
    /// The text is no profile of a disk.
    pub fn disk(name: &str, text: &str) -> Result<Self, LikeError> {
        let AnyDevice::Disk(disk) = DeviceProfile::parse(name, text)?.build()? else {
            return Err(LikeError::NoDisk { name: name.into() });
        };
        // It has just been read.
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

    /// One more request.
    pub fn add(&mut self, service: &Service) {
        match self {
            Self::Constant(line) => line.add(service),
            Self::Distribution(_, spread) => spread.add(service),
            Self::Disk(known) => known.curve.add(service),
        }
    }

    /// A request as the fit sees it; `None` of those that it does not look at.
    #[must_use]
    pub fn point(&self, service: &Service) -> Option<Point> {
        match self {
            Self::Constant(_) | Self::Distribution(..) => Some(Line::point(service)),
            Self::Disk(known) => known.curve.point(service),
        }
    }

    /// What was fitted, to be drawn.
    #[must_use]
    pub fn course(&self) -> Option<Course> {
        match self {
            Self::Constant(line) | Self::Distribution(line, _) => line.course(),
            Self::Disk(known) => known.curve.course(),
        }
    }

    /// The values.
    ///
    /// # Errors
    /// The requests do not tell them.
    pub fn fit(&self) -> Result<Vec<Value>, Unfit> {
        Ok(match self {
            Self::Constant(line) => line.fit()?.to_vec(),
            Self::Distribution(_, spread) => spread.fit()?,
            Self::Disk(known) => known.curve.fit()?.to_vec(),
        })
    }

    /// The sectors that the profile has, if that is given; a constant device is as large as the trace says.
    #[must_use]
    pub fn capacity_sectors(&self) -> Option<u64> {
        match self {
            Self::Constant(_) | Self::Distribution(..) => None,
            Self::Disk(known) => Some(known.capacity_sectors),
        }
    }

    /// The text of the profile. `about` is one line; `depth` requests were with the device at most, up to `end_sector`.
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

/// Without what would end the line or the string of TOML, or is no letter in it.
pub(super) fn plain(c: char) -> char {
    if c == '"' || c == '\\' || c.is_control() { '\'' } else { c }
}

fn flat(kind: &str, about: &str, values: &str, end_sector: u64, depth: usize) -> String {
    let head = format!("kind = \"{kind}\"\nabout = \"{about}\"\n\n[service]\n");
    let depth = depth.clamp(1, 65_536);
    let depth = format!(
        "queue_depth = {{ value = {depth}, src = \"measured\", note = \"most requests in the device in the trace\" }}\n"
    );
    head + &capacity(end_sector) + &depth + values
}

/// The capacity of a device without places. Times do not depend on the place: a workload may go farther than the trace.
pub(super) fn capacity(end_sector: u64) -> String {
    // Rounded up, so that the last sector is on it.
    let farthest_gb = ((end_sector * SECTOR_BYTES) as f64 / 1e6).ceil().max(1.0) / 1e3;
    let capacity_gb = farthest_gb.max(AMPLE_GB);
    format!(
        "capacity_gb = {{ value = {capacity_gb:.3}, src = \"guess\", note = \"no time depends on it; the trace goes up to {farthest_gb:.3} GB\" }}\n"
    )
}

impl Known {
    /// Every value of the known disk, as a guess about this one, but for those that were fitted.
    fn profile(&self, about: &str, values: &[Value]) -> String {
        let mut text = format!("kind = \"disk\"\nabout = \"{about}\"\n");
        for (section, keys) in &self.table {
            // What the trace of the known disk had is nothing of this one's.
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
