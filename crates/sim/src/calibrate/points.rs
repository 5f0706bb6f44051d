//! What is fitted, to be drawn: the course through the requests, and some requests of both halves, evenly thinned out.

use crate::thin::Thin;
use fathom_record::inside::Thinned;
use serde::Serialize;

/// Requests of each half that are kept.
const MOST: usize = 600;

/// A request as the fit sees it: over its bytes, or over the cylinders that the arm went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// Bytes or cylinders.
    pub x: u64,
    /// What the fit is to say of it, ns; below 0 where more was taken off than it took.
    pub ns: i64,
}

/// What a course is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Bytes of a request.
    Bytes,
    /// Cylinders between two requests.
    Cylinders,
}

/// What was fitted: a + b·√x + c·x.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Course {
    /// What x is.
    pub over: Over,
    /// a, ns.
    pub constant_ns: f64,
    /// b, ns.
    pub root_ns: f64,
    /// c, ns.
    pub linear_ns: f64,
}

/// Requests of both halves.
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
    /// One of the half that is fitted, or of the other.
    pub fn add(&mut self, point: Point, held_out: bool) {
        if held_out { &mut self.held_out } else { &mut self.fitted }.see(|| point);
    }

    /// Those of the half that was fitted, and of the other.
    #[must_use]
    pub fn take(mut self) -> (Thinned<Point>, Thinned<Point>) {
        (self.fitted.take(), self.held_out.take())
    }
}
