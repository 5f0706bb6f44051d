//! Data for plotting a fit: the fitted curve, and an even sample of the requests of both halves.

use crate::thin::Thin;
use fathom_record::course::Thinned;
use serde::Serialize;

/// Requests kept of each half.
const MOST: usize = 600;

/// A request as a point of the fit: over its bytes, or over the seek distance in cylinders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// Bytes or cylinders.
    pub x: u64,
    /// Time to be explained by the fit, ns; negative where more was subtracted than the request took.
    pub ns: i64,
}

/// Meaning of a curve's x.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Request size in bytes.
    Bytes,
    /// Cylinders between two requests.
    Cylinders,
}

/// A fitted curve: a + b·√x + c·x.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Course {
    /// Meaning of x.
    pub over: Over,
    /// a, ns.
    pub constant_ns: f64,
    /// b, ns.
    pub root_ns: f64,
    /// c, ns.
    pub linear_ns: f64,
}

/// Sampled requests of both halves.
#[derive(Clone, Debug)]
pub struct Points {
    fitted: Thin<Point>,
    held_out: Thin<Point>,
}

impl Default for Points {
    fn default() -> Self {
        Self { fitted: Thin::new(MOST), held_out: Thin::new(MOST) }
    }
}

impl Points {
    /// Adds a request of the fitted or, with `held_out`, of the other half.
    pub fn add(&mut self, point: Point, held_out: bool) {
        if held_out { &mut self.held_out } else { &mut self.fitted }.see(|| point);
    }

    /// The samples of the fitted half and of the held-out half.
    #[must_use]
    pub fn take(mut self) -> (Thinned<Point>, Thinned<Point>) {
        (self.fitted.take(), self.held_out.take())
    }
}
