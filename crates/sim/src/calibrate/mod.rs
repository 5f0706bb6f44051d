//! From the requests of a trace to a device profile: how long each took is fitted, by least squares, to what a profile of that kind says
//! it would take. Fitted on the first half of the requests, judged on the second, which it has not seen.
//!
//! ```text
//! issue and completion ─▶ service (one request's time, distance, size) ─▶ sums (first half) ─▶ fit ─▶ profile (TOML)
//!                                                                     └▶ judged (second half): demerit
//! ```
//!
//! Three kinds: `constant` (a time for each command and one for each byte), which suits what has no arm and serves one command after the
//! other; `distribution` (so many commands at once, each for one of the times that were seen), which keeps long tails; and `disk`, where the seek curve of a known disk is set anew and everything else of it is kept. What cannot be told from such a trace
//! (zones, buffers, write caches, what goes on at the same time inside) is not fitted, and the profile says where each value is from.
//! Memory does not grow with the trace.

mod constant;
mod disk;
mod fitting;
mod judged;
mod least_squares;
mod points;
mod service;
pub mod several;
mod spread;
#[cfg(test)]
mod tests;

pub use constant::Line;
pub use disk::Curve;
pub use fitting::{Fitting, Known, LikeError, with_demerit};
pub use judged::{Judged, demerit_percent};
pub use points::{Course, Over, Point, Points};
pub use service::{LAST_SECTOR, Service, Services};
pub use spread::Spread;

use serde::Serialize;

/// A value that was fitted or counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Value {
    /// Its key in the profile: "service.command_us".
    pub key: &'static str,
    /// The value, in the unit that its key ends in.
    pub value: f64,
    /// Standard error of the fit, likewise; none of what was counted.
    pub standard_error: Option<f64>,
    /// "fit" or "measured", as in the profile.
    pub src: &'static str,
    /// To what, from what.
    pub note: String,
}

impl Value {
    /// The value as a line of a profile. Six significant digits are more than any fit has.
    #[must_use]
    pub fn line(&self) -> String {
        let key = self.key.rsplit('.').next().unwrap_or(self.key);
        let value = rounded(self.value);
        format!("{key} = {{ value = {value}, src = \"{}\", note = \"{}\" }}\n", self.src, self.note)
    }
}

/// Six significant digits; whole numbers keep their form where the profile wants one.
fn rounded(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e9 {
        return format!("{value:.1}");
    }
    // Digits before the point, counted: a logarithm is not rounded the same way on every machine.
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

/// Why nothing could be fitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Too few.
    #[error("{found} requests can be fitted, and {wanted} at least are needed")]
    TooFew {
        /// How many there are.
        found: u64,
        /// How many it takes.
        wanted: u64,
    },
    /// The equations have no answer.
    #[error("the requests do not tell: {0}")]
    Undetermined(&'static str),
}
