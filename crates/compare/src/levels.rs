//! Detects two levels in a sample: a device that flips between two states gives runs on two levels, and their mean describes neither.
//!
//! The sorted logarithms are split where the sum of squares within both parts is smallest. The distance of the two means in units of the
//! spread within is compared with bounds that normal and t3 noise exceed once in a hundred samples. A strongly skewed sample exceeds them
//! too, so the report says "two levels or strong skew", and decisions require more: see [`Levels::beyond_skew`].

use crate::numbers::{mean, squares};
use crate::unusable::{Unusable, positive};

/// Smallest sample that is judged.
const SMALLEST: usize = 8;

/// Factor on the bound for normal noise that one in a hundred samples with exponential skew exceeds: simulated 8.6 of 6.0 for 12 values,
/// 6.6 of 4.6 for 20, 5.6 of 4.0 for 32.
const SKEW: f64 = 1.44;

/// The best split of a sample in two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// Geometric mean of the lower part.
    pub low: f64,
    /// Geometric mean of the upper part.
    pub high: f64,
    /// Values in the lower part.
    pub low_count: usize,
    /// Number of values in all.
    pub count: usize,
    /// Distance of the means divided by the spread within; infinite without spread.
    pub separation: f64,
    /// Whether the separation exceeds chance: two levels or strong skew.
    pub flagged: bool,
}

impl Levels {
    /// Ratio of the upper to the lower level.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.high / self.low
    }

    /// Whether the separation also exceeds what exponential skew gives once in a hundred samples. This withholds verdicts; the flag only
    /// warns.
    #[must_use]
    pub fn beyond_skew(&self) -> bool {
        self.separation > SKEW * bound(self.count)
    }

    /// The share of runs on the upper level.
    #[must_use]
    pub fn high_share(&self) -> f64 {
        (self.count - self.low_count) as f64 / self.count as f64
    }
}

/// Splits a sample of positive figures; `None` for fewer than eight values or if all are equal.
pub fn two_levels(values: &[f64]) -> Result<Option<Levels>, Unusable> {
    positive(values)?;
    let mut logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    logs.sort_by(f64::total_cmp);
    let n = logs.len();
    if n < SMALLEST || logs[0] == logs[n - 1] {
        return Ok(None);
    }
    // 0.15 n, rounded up in integer arithmetic.
    let least = (15 * n).div_ceil(100).max(2);
    let within = |split: usize| squares(&logs[..split]) + squares(&logs[split..]);
    let best = (least..=n - least).map(|split| (split, within(split))).min_by(|a, b| a.1.total_cmp(&b.1));
    Ok(best.map(|(split, within)| {
        let (low, high) = (mean(&logs[..split]), mean(&logs[split..]));
        let spread = (within / (n - 2) as f64).sqrt();
        let separation = if spread > 0.0 { (high - low) / spread } else { f64::INFINITY };
        let flagged = separation > bound(n);
        Levels { low: low.exp(), high: high.exp(), low_count: split, count: n, separation, flagged }
    }))
}

/// The separation that one in a hundred samples of normal or t3 noise exceeds, by simulation.
fn bound(n: usize) -> f64 {
    match n {
        ..10 => 7.1,
        10..12 => 6.2,
        12..16 => 6.0,
        16..20 => 4.8,
        20..30 => 4.6,
        30.. => 4.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded::RandomStream;
    use proptest::prelude::*;

    /// The NCSA report's row of a local disk: writer, 256 MiB, records of 128 KiB and up.
    const NCSA: [f64; 8] = [58444.0, 88184.0, 58753.0, 87618.0, 57463.0, 88536.0, 89942.0, 90438.0];

    #[test]
    fn the_row_of_two_states() {
        let found = two_levels(&NCSA).expect("positive").expect("eight");
        assert_eq!((found.low_count, found.count, found.flagged), (3, 8, true));
        assert!((found.separation - 32.964912).abs() < 5e-7, "{}", found.separation);
        assert!((found.low - 58217.4).abs() < 0.05 && (found.high - 88937.2).abs() < 0.05, "{found:?}");
        assert!((found.ratio() - 1.527673).abs() < 5e-7 && found.high_share() == 0.625);
    }

    #[test]
    fn a_single_level_is_not_flagged() {
        let control = [512.4, 508.9, 515.2, 511.0, 509.7, 513.8, 510.5, 507.6];
        let found = two_levels(&control).expect("positive").expect("eight");
        assert!((found.separation - 3.117101).abs() < 5e-7, "{}", found.separation);
        assert!(!found.flagged);
        assert_eq!(two_levels(&[1.0; 7]), Ok(None));
        assert_eq!(two_levels(&[1.0; 9]), Ok(None));
    }

    #[test]
    fn chance_is_flagged_about_once_in_a_hundred() {
        let mut draws = RandomStream::from_seed(3);
        for n in [8, 10, 14, 20] {
            let mut flagged = 0;
            for _ in 0..1000 {
                let sample: Vec<f64> = (0..n).map(|_| (0.01 * draws.normal()).exp()).collect();
                flagged += usize::from(two_levels(&sample).expect("positive").is_some_and(|l| l.flagged));
            }
            assert!(flagged <= 20, "{flagged} of 1000 samples of {n}");
        }
    }

    /// Twenty runs, as in the noise gate: how often each kind of noise is flagged, and how often it is beyond skew, of 4000.
    #[test]
    fn skew_is_flagged_often_and_withholds_nothing() {
        let mut draws = RandomStream::from_seed(4);
        let mut rates = |draw: &dyn Fn(&mut RandomStream) -> f64| {
            let found = (0..4000).filter_map(|_| {
                let sample: Vec<f64> = (0..20).map(|_| draw(&mut draws).exp()).collect();
                two_levels(&sample).expect("positive")
            });
            found.fold((0, 0), |(flagged, beyond), l| {
                (flagged + usize::from(l.flagged), beyond + usize::from(l.beyond_skew()))
            })
        };
        let normal = rates(&|d| 0.01 * d.normal());
        let student = rates(&|d| {
            let chi_square: f64 = (0..3).map(|_| d.normal().powi(2)).sum();
            0.01 * d.normal() / (chi_square / 3.0).sqrt()
        });
        let mild = rates(&|d| (10.0 - d.uniform().ln()).ln());
        let steep = rates(&|d| -0.01 * d.uniform().ln());
        // Ten percent apart, three runs of ten on the upper level.
        let levels = rates(&|d| 0.01 * d.normal() + if d.uniform() < 0.3 { 0.1 } else { 0.0 });
        // Simulated with another program: 0.6, 1.1, 14, 17, 97 % flagged; 0.0, 0.0, 0.7, 1.0, 96 % beyond skew.
        assert!(normal.0 <= 60 && normal.1 <= 2, "{normal:?}");
        assert!(student.0 <= 70 && student.1 <= 6, "{student:?}");
        assert!((400..760).contains(&mild.0) && mild.1 <= 48, "{mild:?}");
        assert!((520..860).contains(&steep.0) && steep.1 <= 60, "{steep:?}");
        assert!(levels.1 >= 3760, "{levels:?}");
    }

    proptest! {
        #[test]
        fn order_and_unit_do_not_matter(mut values in prop::collection::vec(1.0..9.0f64, 8..40), by in 0.1..10.0f64) {
            let one = two_levels(&values).expect("positive").expect("eight");
            values.reverse();
            let scaled: Vec<f64> = values.iter().map(|v| v * by).collect();
            let two = two_levels(&scaled).expect("positive").expect("eight");
            prop_assert!(one.low_count == two.low_count || (one.separation / two.separation - 1.0).abs() < 1e-6);
            prop_assert!(one.low <= one.high);
        }
    }
}
