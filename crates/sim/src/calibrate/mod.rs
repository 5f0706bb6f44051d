//! From the requests of a trace to a device profile: the service times are fitted by least squares to the model of a profile. The fit
//! uses the first half of the requests and is judged on the second, which it has not seen.
//!
//! ```text
//! issue and completion ─▶ service (one request's time, distance, size) ─▶ sums (first half) ─▶ fit ─▶ profile (TOML)
//!                                                                     └▶ judged (second half): demerit
//! ```
//!
//! Three kinds: `constant` (a time per command and one per byte), which suits devices without an arm that serve one command at a time;
//! `distribution` (several commands in parallel, each taking one of the observed times), which keeps long tails; and `disk`, where the
//! seek curve of a known disk is refitted and everything else is kept. Values that such a trace does not determine (zones, buffers, write
//! caches, internal parallelism) are not fitted, and the profile states the source of each value. Memory does not grow with the trace.

mod constant;
mod disk;
mod fitting;
mod judged;
mod least_squares;
pub mod parallel;
mod points;
mod service;
mod spread;
#[cfg(test)]
mod tests;

pub use constant::LineFit;
pub use disk::Curve;
pub use fitting::{Fitting, Known, LikeError, with_demerit};
pub use judged::{Judged, demerit_percent};
pub use points::{Course, Over, Point, Points};
pub use service::{LAST_SECTOR, Service, Services};
pub use spread::Spread;

use serde::Serialize;

/// A fitted or counted value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Value {
    /// Key in the profile: "service.command_us".
    pub key: &'static str,
    /// The value, in the unit that its key ends in.
    pub value: f64,
    /// Standard error of the fit in the same unit; `None` for counted values.
    pub standard_error: Option<f64>,
    /// "fit" or "measured", as in the profile.
    pub src: &'static str,
    /// What it was fitted to or counted from.
    pub note: String,
}

impl Value {
    /// The value as a line of a profile. Six significant digits exceed the accuracy of any fit.
    #[must_use]
    pub fn line(&self) -> String {
        let key = self.key.rsplit('.').next().unwrap_or(self.key);
        let value = rounded(self.value);
        format!("{key} = {{ value = {value}, src = \"{}\", note = \"{}\" }}\n", self.src, self.note)
    }
}

/// Rounds to six significant digits; whole numbers keep their form where the profile needs one.
fn rounded(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e9 {
        return format!("{value:.1}");
    }
    // Counts the digits before the point; a logarithm is not rounded the same way on every machine.
    let (mut before, mut rest) = (0_usize, value.abs());
    while rest >= 1.0 && before < 6 {
        rest /= 10.0;
        before += 1;
    }
    let (mut behind, mut small) = (6 - before, value.abs());
    while small > 0.0 && small < 0.1 && behind < 9 {
        small *= 10.0;
        behind += 1;
    }
    format!("{value:.behind$}")
}

/// Why a fit failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// Too few requests.
    #[error("{found} requests are usable for a fit; it needs at least {wanted}")]
    TooFew {
        /// Number found.
        found: u64,
        /// Minimum number.
        wanted: u64,
    },
    /// The equations have no unique solution.
    #[error("the requests do not determine a fit: {0}")]
    Undetermined(&'static str),
}
