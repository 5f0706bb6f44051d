//! How many observations a quantile needs before it is shown.

/// Observations required beyond a quantile: p99.9 needs 10,000 in all.
const BEYOND: f64 = 10.0;

/// Number of observations that a quantile needs.
#[must_use]
pub fn needed_for(q: f64) -> u64 {
    let needed = BEYOND / (1.0 - q.clamp(0.0, 1.0));
    // 1 - 0.999 is not quite 0.001.
    (needed - needed * 1e-9).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_must_lie_beyond() {
        assert_eq!((needed_for(0.5), needed_for(0.99), needed_for(0.999)), (20, 1000, 10_000));
    }
}
