//! Numbers as words, in one place: bytes, rates, times, counts and shares. Bytes use powers of two (KiB, MiB), measurements
//! have three significant digits. Every format takes its figures from here, so a rate reads the same on the page, in the
//! terminal and in a pull request.

/// "64 KiB", "1.5 GiB".
#[must_use]
pub fn bytes(bytes: u64) -> String {
    fathom_record::origin::bytes_words(bytes)
}

/// "64K", "1.5G": for axes whose title names the unit.
#[must_use]
pub fn bytes_short(bytes: u64) -> String {
    let words = self::bytes(bytes);
    match words.split_once(' ') {
        Some((number, "B")) => number.to_string(),
        Some((number, unit)) => format!("{number}{}", &unit[..1]),
        None => words,
    }
}

/// "812 MiB/s", "1.24 GiB/s".
#[must_use]
pub fn rate(bytes_per_s: f64) -> String {
    let (value, unit) = scaled(bytes_per_s, 1024.0, &["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"]);
    format!("{} {unit}", three_digits(value))
}

/// "256 MiB/s", "1.5 GiB/s": [`rate`] without trailing zeros, for the round values of an axis.
#[must_use]
pub fn rate_tick(bytes_per_s: f64) -> String {
    let words = rate(bytes_per_s);
    let (number, unit) = words.split_once(' ').unwrap_or((words.as_str(), ""));
    let number =
        if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number} {unit}")
}

/// "812M", "1.2G": for cells of a heat map whose legend names the unit. At most four characters below 1000 TiB/s.
#[must_use]
pub fn rate_short(bytes_per_s: f64) -> String {
    let (value, unit) = scaled(bytes_per_s, 1024.0, &["B", "K", "M", "G", "T"]);
    // 1000..1023 would need a fifth character; one digit of the next unit is close enough in a cell with a tooltip.
    let (value, unit) = if value >= 999.5 { (value / 1024.0, next_unit(unit)) } else { (value, unit) };
    if value < 9.95 { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
}

fn next_unit(unit: &str) -> &'static str {
    match unit {
        "B" => "K",
        "K" => "M",
        "M" => "G",
        _ => "T",
    }
}

/// "1.24×": a ratio, three significant digits.
#[must_use]
pub fn ratio(value: f64) -> String {
    if value.is_finite() && (0.01..1000.0).contains(&value) {
        format!("{}×", three_digits(value))
    } else {
        format!("{value:.2e}×")
    }
}

/// "812 ns", "1.24 us", "3.50 ms", "12.0 s".
#[must_use]
pub fn time_ns(ns: f64) -> String {
    if ns < 1000.0 {
        return format!("{ns:.0} ns");
    }
    let (value, unit) = scaled(ns, 1000.0, &["ns", "us", "ms", "s"]);
    format!("{} {unit}", three_digits(value))
}

/// "999", "12 345", "1 234 567".
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// "12.3 k/s": operations per second, powers of ten.
#[must_use]
pub fn ops_rate(per_s: f64) -> String {
    let (value, unit) = scaled(per_s, 1000.0, &["/s", "k/s", "M/s", "G/s"]);
    format!("{} {unit}", three_digits(value))
}

/// "97 %", "0.4 %", "0 %": a fraction of one as a percentage.
#[must_use]
pub fn percent(share: f64) -> String {
    let p = share * 100.0;
    if p > 0.0 && p < 0.05 {
        return "<0.1 %".into();
    }
    if p == 0.0 || p.abs() >= 9.95 { format!("{p:.0} %") } else { format!("{p:.1} %") }
}

/// Divides by `base` until the value is below it or the units run out.
fn scaled<'u>(value: f64, base: f64, units: &[&'u str]) -> (f64, &'u str) {
    let (mut value, mut unit) = (value, 0);
    // 999.5 in base 1000 would be printed as 1000: use the next unit's 1.00.
    while value.abs() >= base - 0.5 && unit + 1 < units.len() {
        value /= base;
        unit += 1;
    }
    (value, units[unit])
}

fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// "1 run", "3 runs".
pub(crate) fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_keep_three_digits() {
        assert_eq!(rate(0.0), "0.00 B/s");
        assert_eq!(rate(812.0 * 1_048_576.0), "812 MiB/s");
        assert_eq!(rate(1.5 * 1_073_741_824.0), "1.50 GiB/s");
        assert_eq!(rate_tick(50.0 * 1_048_576.0), "50 MiB/s");
        assert_eq!(rate_tick(500.0 * 1_048_576.0), "500 MiB/s");
        assert_eq!(rate(1023.9 * 1_048_576.0), "1.00 GiB/s");
    }

    #[test]
    fn cells_stay_short() {
        for exponent in 0..50 {
            let text = rate_short(1.99_f64 * 2f64.powi(exponent));
            assert!(text.chars().count() <= 4, "{text}");
        }
        assert_eq!(rate_short(1010.0 * 1_048_576.0), "1.0G");
    }

    #[test]
    fn times_counts_shares_and_sizes() {
        assert_eq!(time_ns(999.0), "999 ns");
        assert_eq!(time_ns(1240.0), "1.24 us");
        assert_eq!(time_ns(999_600.0), "1.00 ms");
        assert_eq!(count(9999), "9999");
        assert_eq!(count(1_234_567), "1 234 567");
        assert_eq!(percent(0.004), "0.4 %");
        assert_eq!((percent(0.0), percent(0.0001)), ("0 %".into(), "<0.1 %".into()));
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(bytes_short(65536), "64K");
        assert_eq!(bytes_short(512), "512");
        assert_eq!(ratio(1.0), "1.00×");
    }
}
