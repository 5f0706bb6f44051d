//! The seek curve a + b·√d + c·d of a disk, over cylinders of a known disk's geometry. It is fitted to reads that moved the arm; the
//! other components (half a turn, transfer, command overhead) are taken from that disk and subtracted first.

use super::least_squares::Sums;
use super::points::{Course, Over, Point};
use super::service::Service;
use super::{FitError, Value};
use crate::devices::disk::Geometry;

const LEAST: u64 = 50;

/// The curve being fitted.
#[derive(Clone, Debug)]
pub struct Curve {
    geometry: Geometry,
    overhead_ns: u64,
    sums: Sums<3>,
    /// Reads that stayed on their cylinder.
    stayed: u64,
}

impl Curve {
    /// For this geometry and overhead per command.
    #[must_use]
    pub fn new(geometry: Geometry, overhead_ns: u64) -> Self {
        Self { geometry, overhead_ns, sums: Sums::default(), stayed: 0 }
    }

    /// Seek distance and time, ns. `None` for writes, which a cache may answer, and for reads that stayed on their cylinder.
    fn way(&self, service: &Service) -> Option<(u64, f64)> {
        let (from, to) = (self.geometry.place(service.head), self.geometry.place(service.sector));
        let distance = from.cylinder.abs_diff(to.cylinder);
        if service.write || distance == 0 {
            return None;
        }
        let half_turn = self.geometry.turn_ns() as f64 / 2.0;
        let passes = self.geometry.turn_ns() as f64 * f64::from(service.sectors) / to.per_track as f64;
        Some((distance, service.ns as f64 - half_turn - passes - self.overhead_ns as f64))
    }

    /// A request as a point of the fit.
    pub(super) fn point(&self, service: &Service) -> Option<Point> {
        self.way(service).map(|(x, ns)| Point { x, ns: ns as i64 })
    }

    /// Adds a request.
    pub fn add(&mut self, service: &Service) {
        match self.way(service) {
            Some((distance, ns)) => {
                let d = distance as f64;
                self.sums.add([1.0, d.sqrt(), d], ns);
            }
            None => self.stayed += u64::from(!service.write),
        }
    }

    /// The curve; `None` where the reads do not determine one.
    pub(super) fn course(&self) -> Option<Course> {
        let [constant_ns, root_ns, linear_ns] = self.sums.solve()?.values;
        Some(Course { over: Over::Cylinders, constant_ns, root_ns, linear_ns })
    }

    /// The three seek times that define the curve in a profile.
    ///
    /// # Errors
    /// Too few reads that moved the arm, or too similar distances.
    pub fn fit(&self) -> Result<[Value; 3], FitError> {
        let found = self.sums.count();
        if found < LEAST {
            return Err(FitError::TooFew { found, wanted: LEAST });
        }
        let solved = self.sums.solve().ok_or(FitError::Undetermined("their distances differ too little"))?;
        let [a, b, c] = solved.values;
        let full = (self.geometry.cylinders() - 1) as f64;
        let at = |d: f64| a + b * d.sqrt() + c * d;
        let slope = |d: f64| b / (2.0 * d.sqrt()) + c;
        if at(1.0) < 0.0 || slope(1.0) < 0.0 || slope(full) < 0.0 {
            return Err(FitError::Undetermined(
                "the fitted seek time falls with the distance, or begins below 0",
            ));
        }
        let note = format!("least squares over {found} reads, minus half a rotation, transfer and overhead");
        // The uncertainty of the curve at a point is bounded by the sum of its parts.
        let error = |d: f64| {
            let [a, b, c] = solved.errors;
            Some((a + b * d.sqrt() + c * d) / 1e6)
        };
        let value = |key, d: f64| Value {
            key,
            value: at(d) / 1e6,
            standard_error: error(d),
            src: "fit",
            note: note.clone(),
        };
        Ok([
            value("mechanics.single_ms", 1.0),
            value("mechanics.average_ms", full / 3.0),
            value("mechanics.full_ms", full),
        ])
    }
}
