//! The seek curve a + b·sqrt(d) + c·d through three points of a data sheet: a single step, the average (a third of the stroke) and the
//! full stroke. Used by disks (distance in cylinders) and optical drives (in thousandths of the stroke).

/// Seek time by distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeekCurve {
    constant: f64,
    root: f64,
    linear: f64,
    full: u64,
}

impl SeekCurve {
    /// A curve over distances 1 to `full`, ns; `None` if it would decrease anywhere, or if `full` is below 9, too short for three points.
    #[must_use]
    pub fn through(full: u64, single_ns: u64, average_ns: u64, full_ns: u64) -> Option<Self> {
        if full < 9 {
            return None;
        }
        let (d2, d3) = (full as f64 / 3.0, full as f64);
        let (t1, t2, t3) = (single_ns as f64, average_ns as f64, full_ns as f64);
        // Two equations without the constant: b·(sqrt d - 1) + c·(d - 1) = t - t1.
        let (r2, r3) = (d2.sqrt() - 1.0, d3.sqrt() - 1.0);
        let (l2, l3) = (d2 - 1.0, d3 - 1.0);
        let determinant = r2 * l3 - r3 * l2;
        let root = ((t2 - t1) * l3 - (t3 - t1) * l2) / determinant;
        let linear = (r2 * (t3 - t1) - r3 * (t2 - t1)) / determinant;
        let curve = Self { constant: t1 - root - linear, root, linear, full };
        // The slope b/(2·sqrt d) + c is monotonic in d, so checking its two ends suffices.
        let slope = |d: f64| root / (2.0 * d.sqrt()) + linear;
        (slope(1.0) >= 0.0 && slope(d3) >= 0.0).then_some(curve)
    }

    /// Time for a distance, ns; 0 for distance 0.
    #[must_use]
    pub fn ns(&self, distance: u64) -> u64 {
        if distance == 0 {
            return 0;
        }
        let d = distance.min(self.full) as f64;
        // Rounded to nearest: truncation would depend on the last bit.
        (self.constant + self.root * d.sqrt() + self.linear * d + 0.5) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_goes_through_its_points() {
        let curve = SeekCurve::through(30_000, 1_000_000, 8_500_000, 14_700_000).unwrap();
        for (distance, ns) in
            [(1, 1_000_000), (10_000, 8_500_000), (30_000, 14_700_000), (40_000, 14_700_000)]
        {
            assert!(curve.ns(distance).abs_diff(ns) <= 1, "{distance}: {}", curve.ns(distance));
        }
        assert_eq!(curve.ns(0), 0);
        let mut before = 0;
        for distance in 1..30_000 {
            assert!(curve.ns(distance) >= before);
            before = curve.ns(distance);
        }
    }

    #[test]
    fn points_that_make_it_fall_are_refused() {
        assert_eq!(SeekCurve::through(30_000, 1_000_000, 20_000_000, 14_700_000), None);
        assert_eq!(SeekCurve::through(5, 1, 2, 3), None);
    }
}
