//! Formats numbers as fio does: limited width, with a letter for the magnitude.

/// `value` in at most `width` characters plus a letter. `base` is 1000 or 1024; with a unit, letters for 1024 have an i (`KiB`).
#[must_use]
pub fn short(value: u64, width: usize, base: u64, unit: &str) -> String {
    let binary = base == 1024;
    let letters: [&str; 7] = match (binary, unit.is_empty()) {
        (true, false) => ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"],
        (true, true) => ["", "K", "M", "G", "T", "P", "E"],
        (false, _) => ["", "k", "M", "G", "T", "P", "E"],
    };
    let digits = |n: f64| format!("{:.0}", n.trunc()).len();
    let mut scaled = value as f64;
    let mut power = 0;
    while digits(scaled) > width && power + 1 < letters.len() {
        scaled /= base as f64;
        power += 1;
    }
    let decimals = if power == 0 { 0 } else { (width.saturating_sub(digits(scaled) + 1)).min(3) };
    format!("{scaled:.decimals$}{}{unit}", letters[power])
}

/// Default number of significant figures (`significant_figures`).
pub const FIGURES: usize = 4;

/// Bytes per second: "68.1MiB/s", "71.4MB/s"; or in bits: "545Mibit/s".
#[must_use]
pub fn rate(bytes_per_s: u64, base: u64, figures: usize, bits: bool) -> String {
    if bits {
        return short(bytes_per_s.saturating_mul(8), figures, base, "bit/s");
    }
    short(bytes_per_s, figures, base, "B/s")
}

/// An amount of bytes: "11.1MiB".
#[must_use]
pub fn bytes(bytes: u64, base: u64, figures: usize) -> String {
    short(bytes, figures, base, "B")
}

/// A number of operations: "17.4k".
#[must_use]
pub fn count(n: u64, figures: usize) -> String {
    short(n, figures, 1000, "")
}

/// Time unit suitable for latencies from `min` to `max` with this deviation: its name and length in nanoseconds.
#[must_use]
pub fn time(min: u64, max: u64, spread: f64) -> (&'static str, u64) {
    if min > 2_000_000 && max > 99_999_999 && spread > 1e6 {
        ("msec", 1_000_000)
    } else if min > 2000 && max > 99_999 && spread > 1000.0 {
        ("usec", 1000)
    } else {
        ("nsec", 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_characters_and_a_letter() {
        // As printed by fio 3.33.
        for (value, base, expected) in [
            (992 << 10, 1024, "992KiB"),
            (1056 << 10, 1024, "1056KiB"),
            (4096 << 10, 1024, "4096KiB"),
            (1 << 20, 1024, "1024KiB"),
            (4_194_304, 1000, "4194kB"),
            (128 << 20, 1024, "128MiB"),
        ] {
            assert_eq!(bytes(value, base, FIGURES), expected);
        }
        assert_eq!(rate(23_086_545, 1024, FIGURES, false), "22.0MiB/s");
        assert_eq!(rate(23_086_545, 1000, FIGURES, false), "23.1MB/s");
        assert_eq!(rate(4_194_304_000, 1024, FIGURES, false), "4000MiB/s");
        // With unit_base=1.
        assert_eq!(rate(159_066, 1024, FIGURES, true), "1243Kibit/s");
        assert_eq!(rate(159_066, 1000, FIGURES, true), "1273kbit/s");
        assert_eq!(count(5636, FIGURES), "5636");
        assert_eq!(count(17_422, FIGURES), "17.4k");
        assert_eq!(count(1_024_000, FIGURES), "1024k");
        assert_eq!(short(1_093_412, 6, 1000, ""), "1093.4k");
        assert_eq!(short(625_195, 6, 1000, ""), "625195");
    }

    #[test]
    fn figures_are_as_many_as_asked_for() {
        // fio 3.33 on 4096 operations of 4 KiB in a millisecond.
        for (figures, iops, binary, decimal, moved) in [
            (1, "4M", "0TiB/s", "0TB/s", "0GiB"),
            (2, "4M", "16GiB/s", "17GB/s", "16MiB"),
            (3, "4.1M", "16GiB/s", "17GB/s", "16MiB"),
            (5, "4096k", "16000MiB/s", "16777MB/s", "16384KiB"),
            (8, "4096000", "16384000KiB/s", "16777216kB/s", "16777216B"),
        ] {
            assert_eq!(count(4_096_000, figures), iops);
            assert_eq!(rate(16_777_216_000, 1024, figures, false), binary);
            assert_eq!(rate(16_777_216_000, 1000, figures, false), decimal);
            assert_eq!(bytes(16_777_216, 1024, figures), moved);
        }
    }

    #[test]
    fn latencies_have_the_unit_that_fits() {
        assert_eq!(time(100, 7_810_300, 1e6).0, "nsec");
        assert_eq!(time(7000, 7_939_000, 1e6).0, "usec");
        assert_eq!(time(3_000_000, 200_000_000, 1e7).0, "msec");
    }
}
