//! Where the time went: the ten slowest tests and the ten slowest compile units, printed at the end so that nobody has to search.

/// How many are shown.
const SHOWN: usize = 10;

/// Something that took time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cost {
    pub(super) seconds: f64,
    pub(super) name: String,
}

/// The largest, one a line under a heading with the sum of all; nothing where nothing was timed.
pub(super) fn slowest(what: &str, costs: &[Cost]) -> String {
    if costs.is_empty() {
        return String::new();
    }
    let mut costs = costs.to_vec();
    costs.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let sum: f64 = costs.iter().map(|cost| cost.seconds).sum();
    let mut text = format!("slowest of {} {what}, which took {sum:.0} s together:\n", costs.len());
    for cost in costs.iter().take(SHOWN) {
        text += &format!("{:8.1} s  {}\n", cost.seconds, cost.name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_ten_come_first() {
        let costs: Vec<_> =
            (1..=12).map(|n| Cost { seconds: f64::from(n), name: format!("test {n}") }).collect();
        let text = slowest("tests", &costs);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 11);
        assert_eq!(lines[0], "slowest of 12 tests, which took 78 s together:");
        assert_eq!((lines[1], lines[10]), ("    12.0 s  test 12", "     3.0 s  test 3"));
        assert_eq!(slowest("tests", &[]), "");
    }
}
