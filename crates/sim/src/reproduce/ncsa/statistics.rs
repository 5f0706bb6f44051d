//! Correlation of logarithms and mean errors. The logarithm is computed here from + - * / alone, so that every machine gives the same
//! bytes; those of the C libraries differ in the last digit.

/// Natural logarithm of a positive number; 0 for others.
pub(super) fn ln(x: f64) -> f64 {
    const LN_2: f64 = std::f64::consts::LN_2;
    if x <= 0.0 || !x.is_finite() {
        return 0.0;
    }
    let (mut rest, mut twos) = (x, 0.0);
    while rest > 1.5 {
        rest /= 2.0;
        twos += 1.0;
    }
    while rest < 0.75 {
        rest *= 2.0;
        twos -= 1.0;
    }
    // ln r = 2 artanh((r - 1) / (r + 1)), whose argument is below 0.2 here.
    let z = (rest - 1.0) / (rest + 1.0);
    let (mut power, mut sum) = (z, 0.0);
    for n in 0..14 {
        sum += power / f64::from(2 * n + 1);
        power *= z * z;
    }
    2.0 * sum + twos * LN_2
}

/// Correlation of the logarithms of pairs; 0 if one side does not vary.
pub(super) fn log_correlation(pairs: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = pairs.iter().map(|&(a, b)| (ln(a), ln(b))).collect();
    let n = (logs.len() as f64).max(1.0);
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / n;
    let (a, b) = (mean(|p| p.0), mean(|p| p.1));
    let (mut both, mut first, mut second) = (0.0, 0.0, 0.0);
    for &(x, y) in &logs {
        both += (x - a) * (y - b);
        first += (x - a) * (x - a);
        second += (y - b) * (y - b);
    }
    if first * second > 0.0 { both / (first * second).sqrt() } else { 0.0 }
}

/// Root mean square; 0 without values.
pub(super) fn root_mean_square(values: &[f64]) -> f64 {
    let squares: f64 = values.iter().map(|v| v * v).sum();
    (squares / (values.len() as f64).max(1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_the_library_s() {
        for x in [1e-9, 0.3, 0.75, 1.0, 1.5, 2.0, 7.0, 65_268.0, 3.1e12] {
            assert!((ln(x) - x.ln()).abs() <= 1e-13 * x.ln().abs().max(1.0), "{x}");
        }
        assert_eq!((ln(0.0), ln(-1.0), ln(f64::INFINITY)), (0.0, 0.0, 0.0));
    }

    #[test]
    fn rising_series_correlate() {
        let pairs =
            |of: fn(f64) -> f64| (1..20).map(|n| (f64::from(n), of(f64::from(n)))).collect::<Vec<_>>();
        assert!((log_correlation(&pairs(|x| 3.0 * x * x)) - 1.0).abs() < 1e-12);
        assert!((log_correlation(&pairs(|x| 1.0 / x)) + 1.0).abs() < 1e-12);
        assert!(log_correlation(&pairs(|_| 5.0)).abs() < 1e-9);
        assert_eq!((root_mean_square(&[3.0, -3.0]), root_mean_square(&[])), (3.0, 0.0));
    }
}
