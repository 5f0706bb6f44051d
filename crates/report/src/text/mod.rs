//! Block-layer activity as plain text of fixed columns: the distributions of dtrace, the rows of iostat, the summary of one
//! device. Every front-end that prints requests (a stored run, a trace, a live view, the simulator) uses this module, so that
//! the same requests give the same text. No colour, no terminal detection; widths are fixed.

pub mod block;
pub mod imported;
pub mod iostat;
pub mod lquantize;
pub mod quantize;
pub mod run;
pub mod stacks;

use std::fmt::Write as _;

/// Length of a bar for 100 %.
const BAR: u64 = 40;

/// The line above a distribution, as dtrace prints the keys of an aggregation: each in its own column.
#[must_use]
pub fn keys(keys: &[&str]) -> String {
    keys.iter().fold(String::new(), |mut line, key| {
        let _ = write!(line, "  {key:<50}");
        line
    })
}

/// The first two lines of a distribution: its title and the heads of its columns.
fn head(title: &str) -> String {
    let mut text = String::new();
    if !title.is_empty() {
        let _ = writeln!(text, "{title}");
    }
    let _ = writeln!(text, "{:>16}  ------------- Distribution ------------- {:<9}", "value", "count");
    text
}

/// One class of a distribution; its bar is rounded to the nearest whole character, as in dtrace.
fn bar(label: &str, count: u64, total: u128) -> String {
    let length = if total == 0 {
        0
    } else {
        ((u128::from(count) * u128::from(BAR) * 2 + total) / (total * 2)).min(u128::from(BAR)) as usize
    };
    format!("{label:>16} |{:<40} {count:<9}\n", "@".repeat(length))
}

/// Classes from an imported text, with their counts.
fn distribution(classes: &[(&str, u64)]) -> String {
    let total: u128 = classes.iter().map(|(_, n)| u128::from(*n)).sum();
    classes.iter().fold(head(""), |text, (label, count)| text + &bar(label, *count, total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_printed_as_dtrace_did() {
        assert_eq!(
            distribution(&[("0", 0), ("2048", 1), ("4096", 3)]),
            "           value  ------------- Distribution ------------- count    \n\
             \x20              0 |                                         0        \n\
             \x20           2048 |@@@@@@@@@@                               1        \n\
             \x20           4096 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        \n"
        );
    }

    #[test]
    fn bars_are_rounded_to_the_nearest_character() {
        let length = |count, total| bar("", count, total).matches('@').count();
        assert_eq!((length(2, 11), length(1, 11), length(7, 11)), (7, 4, 25));
        assert_eq!((length(1, 65_523), length(65_522, 65_523)), (0, 40));
        assert_eq!((length(1, 80), length(1, 81), length(0, 0)), (1, 0, 0));
        assert_eq!(length(u64::MAX, u128::from(u64::MAX)), 40);
    }
}
