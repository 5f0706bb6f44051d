//! Helpers shared by several methods: mean, variance, median, ranks. Callers must ensure that all numbers are finite.

/// Arithmetic mean; 0 without values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Sum of squared distances from the mean.
pub(crate) fn squares(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|v| (v - centre).powi(2)).sum()
}

/// Sample variance (denominator n - 1); 0 below two values.
pub(crate) fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 { 0.0 } else { squares(values) / (values.len() - 1) as f64 }
}

/// An ascending copy.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut copy = values.to_vec();
    copy.sort_by(f64::total_cmp);
    copy
}

/// Median of ascending, non-empty values. The mean of the middle two is exact under a change of sign, so swapping the sides mirrors it.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n % 2 == 1 { sorted[n / 2] } else { (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0 }
}

/// Median of non-empty values in any order.
pub(crate) fn median(values: &[f64]) -> f64 {
    median_of_sorted(&sorted(values))
}

/// Natural logarithms.
pub(crate) fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().map(|v| v.ln()).collect()
}

/// Ranks from 1, with mean ranks for ties; and the sum of `t^3 - t` over groups of ties.
pub(crate) fn ranks(values: &[f64]) -> (Vec<f64>, f64) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|i, j| values[*i].total_cmp(&values[*j]));
    let mut ranks = vec![0.0; values.len()];
    let mut ties = 0.0;
    let mut from = 0;
    while from < order.len() {
        let mut to = from + 1;
        while to < order.len() && values[order[to]] == values[order[from]] {
            to += 1;
        }
        for i in &order[from..to] {
            ranks[*i] = (from + to + 1) as f64 / 2.0;
        }
        let t = (to - from) as f64;
        ties += t.powi(3) - t;
        from = to;
    }
    (ranks, ties)
}

/// The 1-based index of quantile `q` among `n` sorted values: `ceil(q n)`, guarded against rounding in the product, within 1..=n.
pub(crate) fn place(q: f64, n: u64) -> u64 {
    let exact = q * n as f64;
    let up = (exact - exact.abs() * 1e-12).ceil();
    (up.max(1.0) as u64).min(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0, 3.0]), (vec![4.0, 1.0, 4.0, 2.0, 4.0], 24.0));
        assert_eq!(ranks(&[]), (Vec::new(), 0.0));
    }

    #[test]
    fn the_place_of_a_quantile_is_not_moved_by_rounding() {
        // 0.07 * 100 is a little above 7 in binary.
        assert_eq!((place(0.07, 100), place(0.9, 10_100), place(0.999, 10_100)), (7, 9090, 10_090));
        assert_eq!((place(0.0, 5), place(1.0, 5)), (1, 5));
    }
}
