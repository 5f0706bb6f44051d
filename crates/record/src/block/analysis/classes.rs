//! Size classes for people: powers of two.

use super::super::activity::SizeCount;

/// Sizes from `from_bytes` up to, but not including, the next class's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeClass {
    /// Smallest size in it.
    pub from_bytes: u64,
    /// Exclusive upper bound, saturating at 2^64 - 1.
    pub below_bytes: u64,
    /// Requests in it.
    pub count: u64,
}

/// The non-empty classes, ascending: from each power of two to the next; 0 has its own class.
#[must_use]
pub fn power_classes(sizes: &[SizeCount]) -> Vec<SizeClass> {
    let mut all = std::collections::BTreeMap::<u64, SizeClass>::new();
    for size in sizes.iter().filter(|s| s.count > 0) {
        let (from_bytes, below_bytes) = match size.bytes.checked_ilog2() {
            None => (0, 1),
            Some(power) => (1 << power, (1u64 << power).saturating_mul(2)),
        };
        let class = all.entry(from_bytes).or_insert(SizeClass { from_bytes, below_bytes, count: 0 });
        class.count = class.count.saturating_add(size.count);
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(classes: &[SizeClass]) -> Vec<(u64, u64, u64)> {
        classes.iter().map(|c| (c.from_bytes, c.below_bytes, c.count)).collect()
    }

    #[test]
    fn sizes_fall_into_classes() {
        let size = |bytes, count| SizeCount { bytes, count };
        let sizes = [
            size(0, 9),
            size(512, 1),
            size(1536, 2),
            size(2048, 3),
            size(16_384, 4),
            size(17_920, 5),
            size(18_432, 0),
        ];
        let powers = power_classes(&sizes);
        assert_eq!(
            counts(&powers),
            [(0, 1, 9), (512, 1024, 1), (1024, 2048, 2), (2048, 4096, 3), (16_384, 32_768, 9)]
        );
    }

    #[test]
    fn the_largest_sizes_have_classes_too() {
        let sizes =
            [SizeCount { bytes: u64::MAX, count: u64::MAX }, SizeCount { bytes: u64::MAX - 1, count: 1 }];
        assert_eq!(counts(&power_classes(&sizes)), [(1 << 63, u64::MAX, u64::MAX)]);
    }
}
