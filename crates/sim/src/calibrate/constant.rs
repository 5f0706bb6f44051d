//! A time per command and one per byte: a straight line through times over sizes.

use super::least_squares::{Solved, Sums};
use super::points::{Course, Over, Point};
use super::service::Service;
use super::{FitError, Value};
use crate::devices::SECTOR_BYTES;

const LEAST: u64 = 20;

/// The line being fitted.
#[derive(Clone, Debug, Default)]
pub struct LineFit {
    both: Sums<2>,
    alone: Sums<1>,
}

impl LineFit {
    /// A request as a point of the fit.
    pub(super) fn point(service: &Service) -> Point {
        let ns = i64::try_from(service.ns).unwrap_or(i64::MAX);
        Point { x: u64::from(service.sectors) * SECTOR_BYTES, ns }
    }

    /// Adds a request.
    pub fn add(&mut self, service: &Service) {
        let bytes = (u64::from(service.sectors) * SECTOR_BYTES) as f64;
        self.both.add([1.0, bytes], service.ns as f64);
        self.alone.add([1.0], service.ns as f64);
    }

    /// The line through sizes. Where it gives a negative time per command or per byte, no device is like that, and the mean is used.
    fn through_sizes(&self) -> Option<Solved<2>> {
        self.both.solve().filter(|l| l.values[0] >= 0.0 && l.values[1] > 0.0)
    }

    /// The line, or the mean; `None` with too few requests.
    pub(super) fn course(&self) -> Option<Course> {
        let of = |constant_ns, linear_ns| Course { over: Over::Bytes, constant_ns, root_ns: 0.0, linear_ns };
        match self.through_sizes() {
            Some(line) => Some(of(line.values[0], line.values[1])),
            None => self.alone.solve().map(|mean| of(mean.values[0], 0.0)),
        }
    }

    /// The time per command, and the rate if sizes differ enough to determine it.
    ///
    /// # Errors
    /// Too few requests.
    pub fn fit(&self) -> Result<[Value; 2], FitError> {
        let found = self.both.count();
        if found < LEAST {
            return Err(FitError::TooFew { found, wanted: LEAST });
        }
        let note = format!("least squares over {found} requests");
        let command = |value: f64, error: f64, note: String| Value {
            key: "service.command_us",
            value: value / 1e3,
            standard_error: Some(error / 1e3),
            src: "fit",
            note,
        };
        let rate = |value: f64, error: Option<f64>, note: String| Value {
            key: "service.mb_s",
            value,
            standard_error: error,
            src: "fit",
            note,
        };
        if let Some(line) = self.through_sizes() {
            let [ns, ns_per_byte] = line.values;
            let mb_s = 1e3 / ns_per_byte;
            return Ok([
                command(ns, line.errors[0], note.clone()),
                rate(mb_s, Some(mb_s * line.errors[1] / ns_per_byte), note),
            ]);
        }
        let mean = self.alone.solve().ok_or(FitError::Undetermined("their times are not finite"))?;
        Ok([
            command(mean.values[0], mean.errors[0], format!("mean over {found} requests")),
            rate(0.0, None, "times do not rise with sizes in this trace".into()),
        ])
    }
}
