//! Shared code for the plain formats of research traces: lines with a fixed number of fields, each the arrival of a request.

use super::devices::Devices;
use super::extent::Extents;
use crate::trace::{About, TraceFormat};
use fathom_record::block::log::LogHeader;

/// Devices and extents of a format with arrivals only.
#[derive(Debug)]
pub(super) struct Arrivals {
    pub(super) devices: Devices,
    pub(super) extents: Extents,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self { devices: Devices::of_arrivals(), extents: Extents::default() }
    }
}

impl Arrivals {
    /// Information about the trace; `wall_ns` is the Unix time of time 0, if the format has it.
    pub(super) fn about(&self, format: TraceFormat, wall_ns: Option<i64>, note: &str) -> About {
        let mut notes = vec![format!(
            "{} tells when requests arrived and not when they were done: arrivals only.{note}",
            sentence(format.title())
        )];
        notes.extend(self.extents.note());
        let header = LogHeader {
            wall_ns,
            queueing: true,
            arrivals_only: true,
            source: format.word().into(),
            ..LogHeader::default()
        };
        About { format, header, devices: self.devices.list(), notes, ..About::default() }
    }
}

/// Capitalizes the first letter.
fn sentence(title: &str) -> String {
    let mut letters = title.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}
