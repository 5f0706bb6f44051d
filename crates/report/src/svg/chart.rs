//! The frame of all flat charts: a plot area with a vertical axis from zero, its ticks and its title. Each chart draws the
//! content itself.

use super::{Anchor, heat_map::shortened, line, text};
use crate::units;

pub(super) const WIDTH: f64 = 520.0;
pub(super) const LEFT: f64 = 72.0;
pub(super) const RIGHT: f64 = 18.0;
pub(super) const TOP: f64 = 52.0;

/// A plot area whose vertical axis is a rate from zero.
pub(super) struct Frame {
    top_rate: f64,
    plot_height: f64,
}

impl Frame {
    /// Draws title, horizontal rules and the labels of the rate axis.
    pub(super) fn draw(out: &mut String, title: &str, highest: f64, plot_height: f64) -> Self {
        Self::ruled(out, title, highest, plot_height, round_step(highest), units::rate_tick)
    }

    /// The same for times in ns.
    pub(super) fn of_times(out: &mut String, title: &str, highest_ns: f64, plot_height: f64) -> Self {
        // A round number of ns is also round in us and ms.
        Self::ruled(out, title, highest_ns, plot_height, decimal_step(highest_ns, 1.0), units::time_ns)
    }

    /// The same for operations per second.
    pub(super) fn of_counts(out: &mut String, title: &str, highest: f64, plot_height: f64) -> Self {
        Self::ruled(out, title, highest, plot_height, decimal_step(highest, 1e-9), units::ops_rate)
    }

    /// The same for bytes.
    pub(super) fn of_bytes(out: &mut String, title: &str, highest: f64, plot_height: f64) -> Self {
        let tick = |v: f64| units::rate_tick(v).trim_end_matches("/s").to_string();
        Self::ruled(out, title, highest, plot_height, round_step(highest), tick)
    }

    /// The same for a bare number of anything.
    pub(super) fn of_numbers(out: &mut String, title: &str, highest: f64, plot_height: f64) -> Self {
        let tick = |v: f64| if v < 10.0 { format!("{v:.2}") } else { units::count(v.round() as u64) };
        Self::ruled(out, title, highest, plot_height, decimal_step(highest, 1e-9), tick)
    }

    /// The same for fractions of one.
    pub(super) fn of_shares(out: &mut String, title: &str, highest: f64, plot_height: f64) -> Self {
        Self::ruled(out, title, highest, plot_height, decimal_step(highest, 1e-9), units::percent)
    }

    fn ruled(
        out: &mut String,
        title: &str,
        highest: f64,
        plot_height: f64,
        step: f64,
        tick: fn(f64) -> String,
    ) -> Self {
        let steps = (highest / step).ceil().max(1.0);
        let frame = Self { top_rate: step * steps, plot_height };
        text(out, 8.0, 18.0, Anchor::Start, "t", &shortened(title, 60));
        for i in 0..=steps as usize {
            let rate = step * i as f64;
            let y = frame.y(rate);
            line(out, (LEFT, y), (WIDTH - RIGHT, y), if i == 0 { "axis" } else { "" });
            let label = if i == 0 { "0".to_string() } else { tick(rate) };
            text(out, LEFT - 6.0, y + 3.8, Anchor::End, "v", &label);
        }
        frame
    }

    pub(super) fn y(&self, rate: f64) -> f64 {
        TOP + self.plot_height * (1.0 - rate / self.top_rate)
    }

    pub(super) fn bottom(&self) -> f64 {
        TOP + self.plot_height
    }

    /// Time labels below the area, which ends at `end_ns`. The last label is right-aligned with the area, so that it is not cut off.
    pub(super) fn times_below(&self, out: &mut String, end_ns: f64) {
        for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let label = if share == 0.0 { "0".to_string() } else { units::time_ns(end_ns * share) };
            let anchor = if share < 1.0 { Anchor::Middle } else { Anchor::End };
            text(out, Self::x(share), self.bottom() + 15.0, anchor, "v", &label);
        }
    }

    /// Horizontal position of a fraction 0..=1 of the width.
    pub(super) fn x(share: f64) -> f64 {
        LEFT + share * (WIDTH - RIGHT - LEFT)
    }
}

/// A quarter of the highest figure, rounded up to 1, 2 or 5 times a power of ten, and never less than `least`.
pub(super) fn decimal_step(highest: f64, least: f64) -> f64 {
    let rough = (highest / 4.0).max(least);
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= rough * 0.999).unwrap_or(10.0);
    factor * power
}

/// A quarter of the highest rate, rounded up to 1, 2 or 5 times a power of ten in that rate's unit (MiB/s, GiB/s), so that
/// every tick reads as a round number.
fn round_step(highest: f64) -> f64 {
    let mut unit = 1.0;
    while highest / unit >= 1000.0 {
        unit *= 1024.0;
    }
    decimal_step(highest / unit, 1e-9) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_in_their_own_unit() {
        let mib = 1_048_576.0;
        assert!((round_step(84.0 * mib) - 50.0 * mib).abs() < 1.0);
        assert!((round_step(3.12 * mib) - mib).abs() < 1.0, "not 1000 KiB");
        assert!((round_step(4.4 * 1024.0 * mib) - 2.0 * 1024.0 * mib).abs() < 1024.0);
        assert!(round_step(0.0) > 0.0);
    }
}
