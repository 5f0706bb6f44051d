//! The standard gamma distribution by Knuth's methods (The Art of Computer Programming, volume 2, section 3.4.1), exact for every shape.
//! Random variables and the widths and depths of trees are drawn from it. Which uniform numbers it consumes, and in which order, is part
//! of its contract: with Filebench's generator it yields Filebench's numbers.

use std::f64::consts::{E, PI};

/// Gamma with this shape and the scale 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandardGamma {
    shape: f64,
}

impl StandardGamma {
    /// `None` unless the shape is above 0.
    pub(crate) fn new(shape: f64) -> Option<Self> {
        (shape > 0.0 && shape.is_finite()).then_some(Self { shape })
    }

    /// The next value, from numbers uniform in 0..1.
    pub(crate) fn draw(self, unit: &mut impl FnMut() -> f64) -> f64 {
        if self.shape > 1.0 { self.above_one(unit) } else { self.up_to_one(unit) }
    }

    /// Rejection from a Cauchy curve.
    fn above_one(self, unit: &mut impl FnMut() -> f64) -> f64 {
        let less = self.shape - 1.0;
        let root = (2.0 * self.shape - 1.0).sqrt();
        loop {
            let y = (PI * unit()).tan();
            let x = root * y + less;
            // Not "if x <= 0": a shape near the largest number makes x infinite or NaN, and the loop must end.
            if x > 0.0 {
                let ceiling = (1.0 + y * y) * (less * (x / less).ln() - root * y).exp();
                let v = unit();
                if v <= ceiling || ceiling.is_nan() {
                    return x;
                }
            }
        }
    }

    /// Rejection from a power and an exponential piece.
    fn up_to_one(self, unit: &mut impl FnMut() -> f64) -> f64 {
        let p = E / (self.shape + E);
        loop {
            let u = unit();
            let mut v = unit();
            while v == 0.0 {
                v = unit();
            }
            let (x, q) = if u < p {
                let x = v.powf(1.0 / self.shape);
                (x, (-x).exp())
            } else {
                let x = 1.0 - v.ln();
                (x, x.powf(self.shape - 1.0))
            };
            if unit() < q {
                return x;
            }
        }
    }
}
