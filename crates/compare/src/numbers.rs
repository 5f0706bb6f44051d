//! Helpers shared by several methods: mean, median, ranks. Callers must ensure that all numbers are finite.

/// Arithmetic mean; 0 without values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Sum of squared distances from the mean.
pub(crate) fn squares(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|v| (v - centre).powi(2)).sum()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0, 3.0]), (vec![4.0, 1.0, 4.0, 2.0, 4.0], 24.0));
        assert_eq!(ranks(&[]), (Vec::new(), 0.0));
    }
}
