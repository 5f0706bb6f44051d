//! Powers of two in the form of dtrace's `quantize()`: latencies in ns, distances in bytes. A class is named by its lowest
//! value, and 0 has its own class; the class before the first and the one after the last are shown empty.

use super::{bar, head};
use fathom_record::Histogram;

/// Number of classes: one for 0 and one for each power of two.
const CLASSES: usize = 65;

/// Draws values with their counts below the line `title`; empty without values.
#[must_use]
pub fn draw(title: &str, values: impl IntoIterator<Item = (u64, u64)>) -> String {
    let mut classes = [0u64; CLASSES];
    for (value, count) in values {
        let class = &mut classes[(u64::BITS - value.leading_zeros()) as usize];
        *class = class.saturating_add(count);
    }
    let used = |&class: &usize| classes[class] > 0;
    let (Some(first), Some(last)) = ((0..CLASSES).find(used), (0..CLASSES).rev().find(used)) else {
        return String::new();
    };
    let total: u128 = classes.iter().map(|&n| u128::from(n)).sum();
    let mut text = head(title);
    if first == 0 {
        // Below 0, dtrace's class is the negative power.
        text.push_str(&bar("-1", 0, total));
    }
    for (class, &count) in classes.iter().enumerate().take(last + 1).skip(first.saturating_sub(1)) {
        text.push_str(&bar(&label(class), count, total));
    }
    text.push_str(&bar(&label(last + 1), 0, total));
    text
}

fn label(class: usize) -> String {
    match class {
        0 => "0".into(),
        class => (1u128 << (class - 1)).to_string(),
    }
}

/// Latencies in ns. A histogram bucket never crosses a power of two, so nothing is lost.
#[must_use]
pub fn latency(title: &str, latency: &Histogram) -> String {
    draw(title, latency.buckets().map(|(low, _, count)| (low, count)))
}

/// Counts already in powers of two: (exponent, count). Exponents above those of 64-bit values count as the highest.
#[must_use]
pub fn exponents(title: &str, counts: &[(u32, u64)]) -> String {
    draw(title, counts.iter().map(|&(exponent, count)| (1u64 << exponent.min(63), count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_with_an_empty_class_around_them() {
        assert_eq!(
            draw("  vda, read, D2C in ns", [(1000, 1), (1024, 2), (2047, 1), (4096, 4)]),
            concat!(
                "  vda, read, D2C in ns\n",
                "           value  ------------- Distribution ------------- count    \n",
                "             256 |                                         0        \n",
                "             512 |@@@@@                                    1        \n",
                "            1024 |@@@@@@@@@@@@@@@                          3        \n",
                "            2048 |                                         0        \n",
                "            4096 |@@@@@@@@@@@@@@@@@@@@                     4        \n",
                "            8192 |                                         0        \n",
            )
        );
    }

    #[test]
    fn the_ends_of_the_range() {
        let labels = |text: String| -> Vec<String> {
            text.lines().skip(1).map(|l| l[..l.find('|').unwrap_or(0)].trim().to_string()).collect()
        };
        assert_eq!(labels(draw("", [(0, 1)])), ["-1", "0", "1"]);
        assert_eq!(labels(draw("", [(1, 1)])), ["0", "1", "2"]);
        let top = labels(draw("", [(u64::MAX, u64::MAX), (u64::MAX, 1)]));
        assert_eq!(top, ["4611686018427387904", "9223372036854775808", "18446744073709551616"]);
        assert_eq!(draw("", [(7, 0)]), "");
        assert_eq!(exponents("", &[(12, 3), (99, 1)]).lines().count(), 2 + 64 - 12 + 1);
    }

    #[test]
    fn a_histogram_loses_nothing() {
        let values = [0, 1, 63, 64, 65, 1023, 1024, 1025, 1 << 40, (1 << 40) - 1, u64::MAX];
        let direct = draw("", values.map(|v| (v, 1)));
        assert_eq!(latency("", &Histogram::from_values(values)), direct);
    }
}
