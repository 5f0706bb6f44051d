//! Classes of equal width in the form of dtrace's `lquantize()`: request sizes in steps of 2 KiB, as printed for the read-ahead
//! of 2007. A class is named by its lowest value, inclusive; the class before the first and the one after the last are shown
//! empty. Below and above the classes there is one row each, `< low` and `>= high`.
//!
//! One difference from dtrace, since requests reach a megabyte today: a long run of empty classes is reduced to one row `...`.

use super::{bar, head};
use fathom_record::block::SizeCount;
use std::collections::BTreeMap;

/// Longer runs of empty classes become one row.
const LONGEST_EMPTY_RUN: u64 = 8;

/// The classes: `levels` of width `step`, from `low` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes {
    low: u64,
    step: u64,
    levels: u64,
}

impl Classes {
    /// Sizes in steps of 2 KiB, unbounded.
    pub const SIZES: Self = Self { low: 0, step: 2048, levels: u64::MAX / 2048 };

    /// The classes of `lquantize(value, low, high, step)`: whole steps only; a remainder below `high` belongs to the row above.
    /// `None` if there is no class.
    #[must_use]
    pub fn new(low: u64, high: u64, step: u64) -> Option<Self> {
        let levels = high.checked_sub(low)?.checked_div(step)?;
        // Rows are numbered from 0 to one above the levels.
        let levels = levels.min(u64::MAX - 2);
        (levels > 0).then_some(Self { low, step, levels })
    }

    /// Row of a value: 0 is below the classes, `levels` + 1 above.
    fn row(&self, value: u64) -> u64 {
        match value.checked_sub(self.low) {
            None => 0,
            Some(above) => (above / self.step).min(self.levels) + 1,
        }
    }

    fn label(&self, row: u64) -> String {
        match row {
            0 => format!("< {}", self.low),
            row if row > self.levels => format!(">= {}", self.low + self.levels * self.step),
            row => (self.low + (row - 1) * self.step).to_string(),
        }
    }
}

/// Draws values with their counts below the line `title`. Without values the text is empty, as dtrace then prints no aggregation.
#[must_use]
pub fn draw(title: &str, values: impl IntoIterator<Item = (u64, u64)>, classes: &Classes) -> String {
    let mut rows: BTreeMap<u64, u64> = BTreeMap::new();
    for (value, count) in values.into_iter().filter(|&(_, count)| count > 0) {
        let row = rows.entry(classes.row(value)).or_default();
        *row = row.saturating_add(count);
    }
    let (Some(&first), Some(&last)) = (rows.keys().next(), rows.keys().next_back()) else {
        return String::new();
    };
    let total: u128 = rows.values().map(|&n| u128::from(n)).sum();
    let mut text = head(title);
    let mut next = first.saturating_sub(1);
    for (&row, &count) in &rows {
        text.push_str(&empty(classes, next, row));
        text.push_str(&bar(&classes.label(row), count, total));
        next = row + 1;
    }
    if last <= classes.levels {
        text.push_str(&bar(&classes.label(next), 0, total));
    }
    text
}

/// The empty rows from `from` up to, but excluding, `to`.
fn empty(classes: &Classes, from: u64, to: u64) -> String {
    let one = |row: u64| bar(&classes.label(row), 0, 0);
    if to - from > LONGEST_EMPTY_RUN {
        // The first and the last stay, to show where the gap begins and ends.
        return one(from) + &bar("...", 0, 0) + &one(to - 1);
    }
    (from..to).map(one).collect()
}

/// Sizes of requests in classes of 2 KiB.
#[must_use]
pub fn sizes(title: &str, sizes: &[SizeCount]) -> String {
    draw(title, sizes.iter().map(|s| (s.bytes, s.count)), &Classes::SIZES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::keys;
    use proptest::prelude::*;

    const LARGE: &str = "/media/TestDVD/largefile3";

    /// dtrace's output for the read-ahead that issued single blocks: 1 GiB in requests of 2 KiB.
    #[test]
    fn requests_of_one_block_as_in_2007() {
        let classes = Classes::new(0, 32_767, 2048).expect("classes");
        let drawn = draw(&keys(&["dd", LARGE]), [(2048, 524_288)], &classes);
        assert_eq!(
            drawn,
            concat!(
                "  dd                                                  /media/TestDVD/largefile3                         \n",
                "           value  ------------- Distribution ------------- count    \n",
                "               0 |                                         0        \n",
                "            2048 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 524288   \n",
                "            4096 |                                         0        \n",
            )
        );
    }

    /// And for the one with both the process's and its own requests: a value equal to a bound belongs to the class it opens.
    #[test]
    fn requests_of_read_ahead_as_in_2007() {
        let classes = Classes::new(0, 65_536, 2048).expect("classes");
        let drawn = draw(&keys(&["dd", LARGE]), [(24_576, 7), (4096, 2), (12_288, 1), (20_480, 1)], &classes);
        assert_eq!(
            drawn,
            concat!(
                "  dd                                                  /media/TestDVD/largefile3                         \n",
                "           value  ------------- Distribution ------------- count    \n",
                "            2048 |                                         0        \n",
                "            4096 |@@@@@@@                                  2        \n",
                "            6144 |                                         0        \n",
                "            8192 |                                         0        \n",
                "           10240 |                                         0        \n",
                "           12288 |@@@@                                     1        \n",
                "           14336 |                                         0        \n",
                "           16384 |                                         0        \n",
                "           18432 |                                         0        \n",
                "           20480 |@@@@                                     1        \n",
                "           22528 |                                         0        \n",
                "           24576 |@@@@@@@@@@@@@@@@@@@@@@@@@                7        \n",
                "           26624 |                                         0        \n",
            )
        );
        let drawn = draw(&keys(&["sched", LARGE]), [(12_288, 1), (16_384, 65_522)], &classes);
        assert_eq!(
            drawn,
            concat!(
                "  sched                                               /media/TestDVD/largefile3                         \n",
                "           value  ------------- Distribution ------------- count    \n",
                "           10240 |                                         0        \n",
                "           12288 |                                         1        \n",
                "           14336 |                                         0        \n",
                "           16384 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 65522    \n",
                "           18432 |                                         0        \n",
            )
        );
    }

    #[test]
    fn sizes_outside_the_classes_have_separate_rows() {
        let classes = Classes::new(4096, 12_287, 4096).expect("one whole class");
        let labels = |text: String| -> Vec<String> {
            text.lines().skip(1).map(|l| l[..16].trim().to_string()).collect()
        };
        assert_eq!(labels(draw("", [(512, 1)], &classes)), ["< 4096", "4096"]);
        assert_eq!(labels(draw("", [(4096, 1)], &classes)), ["< 4096", "4096", ">= 8192"]);
        assert_eq!(labels(draw("", [(8192, 1)], &classes)), ["4096", ">= 8192"]);
        assert_eq!(labels(draw("", [(512, 3)], &Classes::SIZES)), ["< 0", "0", "2048"]);
        let all = Classes::new(0, u64::MAX, 1).expect("classes");
        assert_eq!(labels(draw("", [(u64::MAX, 1)], &all)).len(), 2);
        assert_eq!(draw("nothing", [(5, 0)], &classes), "");
        assert_eq!((Classes::new(0, 5, 0), Classes::new(5, 0, 1), Classes::new(0, 5, 6)), (None, None, None));
    }

    #[test]
    fn a_long_gap_is_one_row() {
        let sizes = [SizeCount { bytes: 4096, count: 1 }, SizeCount { bytes: u64::MAX, count: u64::MAX }];
        let text = super::sizes("loop0, read", &sizes);
        assert!(text.lines().count() <= 9, "{text}");
        assert!(text.contains("\n             ... |"), "{text}");
        assert!(text.contains("\n            6144 |"), "the gap's beginning: {text}");
        assert_eq!(text.lines().next(), Some("loop0, read"));
    }

    proptest! {
        #[test]
        fn every_value_is_counted_once(values in prop::collection::vec((any::<u64>(), 0u64..1 << 40), 0..40)) {
            let text = draw("", values.iter().copied(), &Classes::SIZES);
            let counts = text.lines().skip(1).filter_map(|l| l.split_whitespace().next_back()?.parse::<u64>().ok());
            prop_assert_eq!(counts.sum::<u64>(), values.iter().map(|v| v.1).sum::<u64>());
        }
    }
}
