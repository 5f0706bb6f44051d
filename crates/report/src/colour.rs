//! Colour scales. Throughput uses a scale of evenly rising lightness (readable in grey and with colour blindness); a ratio runs
//! from orange through near-white at 1 to blue. Both look the same on a light and a dark page; text on them is black or white,
//! whichever contrasts more.

use crate::{Quantity, Surface};

/// Red, green, blue, 0..=255.
pub type Rgb = [u8; 3];

/// Dark violet to yellow.
const SEQUENTIAL: [Rgb; 6] = [
    [0x3b, 0x0f, 0x6f],
    [0x3f, 0x4a, 0x8a],
    [0x27, 0x7f, 0x8e],
    [0x2f, 0xb0, 0x7c],
    [0x98, 0xd8, 0x3e],
    [0xf9, 0xe7, 0x21],
];
/// From slower (orange) to faster (blue).
const DIVERGING: [Rgb; 5] =
    [[0xb3, 0x4a, 0x00], [0xf0, 0xa8, 0x5c], [0xf4, 0xf4, 0xf2], [0x7d, 0xb8, 0xe0], [0x15, 0x57, 0x9c]];

/// A ratio scale extends at least to this factor, so that noise of a few per cent stays pale.
const SMALLEST_FACTOR: f64 = 1.25;

/// Maps values to colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Value at the low end.
    pub low: f64,
    /// Value at the high end.
    pub high: f64,
    quantity: Quantity,
}

impl Scale {
    /// The scale of one surface; `None` if it has no cell to colour.
    #[must_use]
    pub fn of(surface: &Surface) -> Option<Self> {
        Self::of_all(std::slice::from_ref(surface))
    }

    /// A scale of rates from `low` to `high`.
    #[must_use]
    pub fn of_rates(low: f64, high: f64) -> Self {
        Self { low, high, quantity: Quantity::BytesPerSecond }
    }

    /// One scale for several surfaces, so that a colour means the same value in each.
    #[must_use]
    pub fn of_all(surfaces: &[Surface]) -> Option<Self> {
        let quantity = surfaces.first()?.quantity;
        let ranges: Vec<(f64, f64)> = surfaces.iter().filter_map(Surface::range).collect();
        let low = ranges.iter().map(|r| r.0).min_by(f64::total_cmp)?;
        let high = ranges.iter().map(|r| r.1).max_by(f64::total_cmp)?;
        Some(match quantity {
            Quantity::BytesPerSecond => Self { low, high, quantity },
            Quantity::Ratio => {
                let reach = high.max(1.0 / low).max(SMALLEST_FACTOR);
                Self { low: 1.0 / reach, high: reach, quantity }
            }
        })
    }

    /// Position of a value on the logarithmic scale, 0..=1.
    #[must_use]
    pub fn position(&self, value: f64) -> f64 {
        let width = (self.high / self.low).ln();
        if width > 0.0 { ((value / self.low).ln() / width).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// The colour of a value.
    #[must_use]
    pub fn colour(&self, value: f64) -> Rgb {
        self.colour_at(self.position(value))
    }

    /// The colour at a position, 0..=1.
    #[must_use]
    pub fn colour_at(&self, position: f64) -> Rgb {
        match self.quantity {
            Quantity::BytesPerSecond => sequential(position),
            Quantity::Ratio => diverging(position),
        }
    }

    /// The scale as colour stops for Plotly: (position, colour).
    #[must_use]
    pub fn stops(&self) -> Vec<(f64, String)> {
        let stops: &[Rgb] = match self.quantity {
            Quantity::BytesPerSecond => &SEQUENTIAL,
            Quantity::Ratio => &DIVERGING,
        };
        let last = (stops.len() - 1) as f64;
        stops.iter().enumerate().map(|(i, c)| (i as f64 / last, hex(*c))).collect()
    }
}

/// The colour at a position of the throughput scale, 0..=1.
#[must_use]
pub fn sequential(position: f64) -> Rgb {
    between(&SEQUENTIAL, position)
}

/// The colour at a position of the diverging scale, 0..=1.
#[must_use]
pub fn diverging(position: f64) -> Rgb {
    between(&DIVERGING, position)
}

fn between(stops: &[Rgb], position: f64) -> Rgb {
    let place = position.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
    let i = (place.floor() as usize).min(stops.len() - 2);
    let part = place - i as f64;
    std::array::from_fn(|c| {
        (f64::from(stops[i][c]) + (f64::from(stops[i + 1][c]) - f64::from(stops[i][c])) * part).round() as u8
    })
}

/// Formats as CSS: "#277f8e".
#[must_use]
pub fn hex(c: Rgb) -> String {
    format!("#{:02x}{:02x}{:02x}", c[0], c[1], c[2])
}

/// Whether black contrasts more than white on this background (relative luminance of WCAG 2).
#[must_use]
pub fn is_light(ground: Rgb) -> bool {
    let linear = |c: u8| {
        let c = f64::from(c) / 255.0;
        if c <= 0.039_28 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(ground[0]) + 0.7152 * linear(ground[1]) + 0.0722 * linear(ground[2]) > 0.179
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_ratio_of_one_is_the_middle() {
        let a = Surface::of_run(&samples::auto_run()).remove(0);
        let ratio = Surface::ratio(&a, &a).expect("same cells");
        let scale = Scale::of(&ratio).expect("cells");
        assert!((scale.position(1.0) - 0.5).abs() < 1e-9);
        assert_eq!(hex(scale.colour(1.0)), "#f4f4f2");
    }

    #[test]
    fn a_flat_surface_has_a_colour() {
        let scale = Scale { low: 5.0, high: 5.0, quantity: Quantity::BytesPerSecond };
        assert!((scale.position(5.0) - 0.5).abs() < 1e-9);
    }
}
