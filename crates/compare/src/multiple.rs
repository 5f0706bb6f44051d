//! Multiple tests: p-values adjusted so that the share of false alarms among alarms stays bounded (Benjamini-Hochberg). A test is rejected
//! if its adjusted p-value is at or below the level.

use crate::quads::critical::smallest_p;

/// Benjamini-Hochberg: the minimum over all larger ranks of `m p / rank`, in input order.
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let m = p.len() as f64;
    let mut adjusted = vec![0.0; p.len()];
    let mut least = 1.0f64;
    for (rank, i) in ascending(p).into_iter().enumerate().rev() {
        least = least.min(m * p[i] / (rank + 1) as f64);
        adjusted[i] = least;
    }
    adjusted
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|i, j| p[*i].total_cmp(&p[*j]));
    order
}

/// Whether there are too few quads per cell for a single change to survive the correction over `cells`: their smallest possible p is
/// above `level / cells`. The specification warns below five quads in any case; at this strict level four suffice for six cells.
#[must_use]
pub fn too_coarse(quads: usize, cells: usize, level: f64) -> bool {
    smallest_p(quads) * cells as f64 > level
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEN: [f64; 10] = [0.0003, 0.004, 0.011, 0.012, 0.03, 0.2, 0.41, 0.6, 0.74, 0.9];

    fn all_near(found: &[f64], expected: [f64; 10]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 5e-7, "{found} instead of {expected}");
        }
    }

    #[test]
    fn ten_cells() {
        let by_rate = benjamini_hochberg(&TEN);
        all_near(&by_rate, [0.003, 0.02, 0.03, 0.03, 0.06, 0.333333, 0.585714, 0.75, 0.822222, 0.9]);
        assert_eq!(by_rate.iter().filter(|p| **p <= 0.05).count(), 4);
        assert!(benjamini_hochberg(&[]).is_empty());
    }

    #[test]
    fn few_quads_cannot_survive_many_cells() {
        assert!(
            too_coarse(3, 66, 0.05)
                && too_coarse(4, 7, 0.01)
                && !too_coarse(4, 6, 0.01)
                && !too_coarse(5, 66, 0.05)
        );
        assert!(too_coarse(5, 200, 0.05) && !too_coarse(6, 200, 0.05));
    }

    proptest! {
        #[test]
        fn adjusting_raises_and_keeps_order(p in prop::collection::vec(1e-9..=1.0f64, 1..30)) {
            let rate = benjamini_hochberg(&p);
            for i in 0..p.len() {
                prop_assert!(p[i] <= rate[i] * (1.0 + 1e-12) && rate[i] <= 1.0);
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || rate[i] <= rate[j]);
                }
            }
        }
    }
}
