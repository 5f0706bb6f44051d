//! `cargo xtask bench`: fathom beside the program it stands in for and beside the physical floor, interleaved in one run, as ratios of
//! medians. These are the only places where a speed is claimed; no test depends on one.

mod floor;
mod iozone;

use anyhow::Result;
use std::path::Path;

/// Runs the bench of that name.
pub fn run(root: &Path, rest: &[String]) -> Result<bool> {
    match rest.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["iozone"] => iozone::run(root, 9),
        ["iozone", rounds] => match rounds.parse() {
            Ok(rounds) if (1..=99).contains(&rounds) => iozone::run(root, rounds),
            _ => Err(crate::Usage(format!(
                "`bench iozone` takes a number of rounds from 1 to 99, not {rounds:?}."
            ))
            .into()),
        },
        _ => Err(crate::Usage("`bench` takes the name of a bench: iozone.".into()).into()),
    }
}

/// Minimum, median and maximum.
fn spread(values: &mut [f64]) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let median = if n % 2 == 1 { values[n / 2] } else { f64::midpoint(values[n / 2 - 1], values[n / 2]) };
    (values[0], median, values[n - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(spread(&mut [4.0, 1.0, 3.0, 2.0]), (1.0, 2.5, 4.0));
    }
}
