//! The default comparison: two sides measured in randomised quads, judged by the exact stratified rank test.
//!
//! A quad is four consecutive runs, two of each side, in random order ([`crate::design`]). Drift, warm-up and other disturbances affect
//! both sides of a quad alike, so the test's rate of false alarms is exact. `rank_test` gives the p-value, `critical` its levels and the
//! rank of the interval, `effect` the ratio with its interval, `carry_over` the effect of one run on the next. [`crate::verdict`]
//! combines them.

pub mod carry_over;
pub mod critical;
pub mod effect;
pub mod rank_test;

use crate::unusable::{Unusable, finite};

/// The side of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The baseline.
    A,
    /// The side compared with the baseline.
    B,
}

/// The six possible orders of a quad.
pub const ORDERS: [[Side; 4]; 6] = {
    use Side::{A, B};
    [[A, A, B, B], [A, B, A, B], [A, B, B, A], [B, A, A, B], [B, A, B, A], [B, B, A, A]]
};

/// Figures of four consecutive runs, two of each side, in run order within a side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quad {
    /// The baseline's two runs.
    pub a: [f64; 2],
    /// The other side's two runs.
    pub b: [f64; 2],
}

impl Quad {
    /// Assigns four runs, in run order, to their sides; `None` unless each side has two.
    #[must_use]
    pub fn of_runs(runs: [f64; 4], order: [Side; 4]) -> Option<Self> {
        let of = |side: Side| -> Option<[f64; 2]> {
            let mine: Vec<f64> =
                runs.iter().zip(order).filter(|(_, s)| *s == side).map(|(v, _)| *v).collect();
            mine.try_into().ok()
        };
        Some(Self { a: of(Side::A)?, b: of(Side::B)? })
    }

    /// The four figures, A's before B's.
    #[must_use]
    pub fn values(&self) -> [f64; 4] {
        [self.a[0], self.a[1], self.b[0], self.b[1]]
    }

    /// The same quad with swapped sides.
    #[must_use]
    pub fn swapped(&self) -> Self {
        Self { a: self.b, b: self.a }
    }
}

/// The quads of two samples measured in blocks of two rounds ([`crate::design::blocks`]): runs 1 and 2 of both sides are the first quad,
/// 3 and 4 the second, and so on. The last round of an odd number forms no quad; leave it out.
pub fn quads_of(a: &[f64], b: &[f64]) -> Result<Vec<Quad>, Unusable> {
    if a.len() != b.len() || !a.len().is_multiple_of(2) || a.is_empty() {
        return Err(Unusable::NotQuads { a: a.len(), b: b.len() });
    }
    finite(a)?;
    finite(b)?;
    let quad = |(a, b): (&[f64], &[f64])| Quad { a: [a[0], a[1]], b: [b[0], b[1]] };
    Ok(a.chunks_exact(2).zip(b.chunks_exact(2)).map(quad).collect())
}

/// Checks that there is at least one quad and that every figure is finite.
pub(crate) fn checked(quads: &[Quad]) -> Result<(), Unusable> {
    if quads.is_empty() {
        return Err(Unusable::NotQuads { a: 0, b: 0 });
    }
    quads.iter().enumerate().try_for_each(|(k, quad)| {
        let run_of = |place: usize| 4 * k + place + 1;
        match quad.values().iter().position(|v| !v.is_finite()) {
            Some(i) => Err(Unusable::NotFinite { run: run_of(i), value: quad.values()[i] }),
            None => Ok(()),
        }
    })
}

#[cfg(test)]
pub(crate) mod examples {
    //! The worked examples of the specification, as quads.
    use super::Side::{A, B};
    use super::*;

    const ABBA: [Side; 4] = [A, B, B, A];
    const BAAB: [Side; 4] = [B, A, A, B];
    const ABAB: [Side; 4] = [A, B, A, B];
    const BBAA: [Side; 4] = [B, B, A, A];
    const BABA: [Side; 4] = [B, A, B, A];
    pub(crate) const FIVE: [[Side; 4]; 5] = [ABBA, BAAB, ABAB, BBAA, BABA];

    /// B is slower by 2.7 %; one of its runs is an outlier.
    pub(crate) const SLOWER: [[f64; 4]; 5] = [
        [512.4, 498.1, 495.6, 508.9],
        [499.9, 515.2, 511.0, 497.2],
        [509.7, 470.3, 513.8, 498.8],
        [496.9, 494.2, 510.5, 507.6],
        [500.3, 514.1, 497.7, 511.9],
    ];

    /// No change.
    pub(crate) const SAME: [[f64; 4]; 5] = [
        [512.4, 509.1, 513.0, 508.9],
        [511.9, 515.2, 511.0, 508.4],
        [509.7, 507.3, 513.8, 512.8],
        [510.9, 508.2, 510.5, 507.6],
        [513.3, 514.1, 509.7, 511.9],
    ];

    pub(crate) fn quads(runs: &[[f64; 4]; 5]) -> Vec<Quad> {
        runs.iter().zip(FIVE).map(|(r, o)| Quad::of_runs(*r, o).expect("two of each")).collect()
    }

    /// Three quads, too few to tell.
    pub(crate) fn three() -> Vec<Quad> {
        quads_of(&[100.0, 102.0, 101.0, 99.0, 103.0, 100.0], &[97.0, 98.0, 96.0, 100.0, 99.0, 97.0])
            .expect("3 quads")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_go_to_their_sides_in_order() {
        use Side::{A, B};
        let quad = Quad::of_runs([1.0, 2.0, 3.0, 4.0], [B, A, A, B]);
        assert_eq!(quad, Some(Quad { a: [2.0, 3.0], b: [1.0, 4.0] }));
        assert_eq!(Quad::of_runs([1.0; 4], [A, A, A, B]), None);
        assert_eq!(ORDERS.iter().filter(|o| Quad::of_runs([0.0; 4], **o).is_some()).count(), 6);
    }

    #[test]
    fn samples_that_are_no_quads_are_refused_with_their_counts() {
        assert_eq!(quads_of(&[1.0, 2.0], &[3.0]), Err(Unusable::NotQuads { a: 2, b: 1 }));
        assert_eq!(quads_of(&[1.0; 3], &[3.0; 3]), Err(Unusable::NotQuads { a: 3, b: 3 }));
        assert!(matches!(quads_of(&[1.0, f64::NAN], &[3.0, 3.0]), Err(Unusable::NotFinite { run: 2, .. })));
        assert_eq!(checked(&[]), Err(Unusable::NotQuads { a: 0, b: 0 }));
        let bad = [Quad { a: [1.0; 2], b: [1.0; 2] }, Quad { a: [1.0; 2], b: [f64::INFINITY, 1.0] }];
        assert_eq!(checked(&bad), Err(Unusable::NotFinite { run: 7, value: f64::INFINITY }));
    }
}
