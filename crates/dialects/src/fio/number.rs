//! Numbers as fio writes them: bytes with suffixes, times, percentages, ranges, lists and triples. Trailing text that fio silently
//! ignores (`4.5k` is 4 bytes there) is an error here; `lenient_number` accepts it.

/// Nanoseconds per microsecond.
pub const US: u64 = 1_000;
/// Nanoseconds per millisecond.
pub const MS: u64 = 1_000_000;
/// Nanoseconds per second.
pub const S: u64 = 1_000_000_000;

/// Stray closing brackets after a number (`65536)`): fio skips them, and they have no other meaning.
const LEFT_OVER: [char; 3] = [')', ']', '}'];

/// Bytes, or any number with the same suffixes. `kb_base`, 1024 or 1000, is the meaning of `k`; `kib` has the other one.
/// A trailing closing bracket is ignored.
///
/// # Errors
/// A message that says what was expected.
pub fn bytes(text: &str, kb_base: u64) -> Result<u64, String> {
    let lower = text.trim().trim_end_matches(LEFT_OVER).to_ascii_lowercase();
    let (digits, radix) = match lower.strip_prefix("0x") {
        Some(hex) => (hex, 16),
        None => (lower.as_str(), 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let expected = || format!("{text:?} is not a number with an optional suffix k, m, g, t or p");
    if digits[end..].starts_with('.') {
        return Err(format!(
            "{text:?} has a fraction; fio would cut it off. A whole number of a smaller unit is expected"
        ));
    }
    let number = u64::from_str_radix(&digits[..end], radix).map_err(|_| expected())?;
    let factor = factor(&digits[end..], kb_base).ok_or_else(expected)?;
    number.checked_mul(factor).ok_or_else(|| format!("{text:?} is larger than 2^64 - 1"))
}

/// The multiplier of a suffix. `ki` equals `k`; only `kib` in full uses the other base.
fn factor(suffix: &str, kb_base: u64) -> Option<u64> {
    if suffix.is_empty() || suffix == "b" {
        return Some(1);
    }
    let power = match suffix.chars().next()? {
        'k' => 1,
        'm' => 2,
        'g' => 3,
        't' => 4,
        'p' => 5,
        _ => return None,
    };
    let base: u64 = match &suffix[1..] {
        "" | "b" | "i" => kb_base,
        "ib" => {
            if kb_base == 1024 {
                1000
            } else {
                1024
            }
        }
        _ => return None,
    };
    Some(base.pow(power))
}

/// Whether a size has a suffix like `kib`, which means powers of ten unless kb_base is 1000.
#[must_use]
pub fn has_surprising_suffix(text: &str) -> bool {
    text.to_ascii_lowercase().split([',', ':', '-', '/']).any(|part| part.trim().ends_with("ib"))
}

/// Whether a number is followed by a closing bracket, which is ignored.
#[must_use]
pub fn has_bracket_left_over(text: &str) -> bool {
    text.split([',', ':', '-', '/']).any(|part| part.trim().ends_with(LEFT_OVER))
}

/// A duration in nanoseconds; a bare number is multiplied by `bare_ns`.
///
/// # Errors
/// A message that says what was expected.
pub fn time(text: &str, bare_ns: u64) -> Result<u64, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if text[end..].starts_with('.') {
        return Err(format!(
            "{text:?} has a fraction; fio would cut it off. A whole number of a smaller unit (ms, us) is expected"
        ));
    }
    let expected = || format!("{text:?} is not a time: a number and d, h, m, s, ms or us is expected");
    let number: u64 = text[..end].parse().map_err(|_| expected())?;
    let unit = match text[end..].to_ascii_lowercase().as_str() {
        "" => bare_ns,
        "us" | "usec" => US,
        "ms" | "msec" => MS,
        "s" | "sec" => S,
        "m" => 60 * S,
        "h" => 3600 * S,
        "d" => 86_400 * S,
        _ => return Err(expected()),
    };
    number.checked_mul(unit).ok_or_else(|| format!("{text:?} is longer than 584 years"))
}

/// A size in bytes or percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Absolute size in bytes.
    Bytes(u64),
    /// Percent of a whole.
    Percent(u64),
}

impl Size {
    /// The size in bytes, of a whole of `whole` bytes.
    #[must_use]
    pub fn of(self, whole: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => {
                u64::try_from(u128::from(whole) * u128::from(percent) / 100).unwrap_or(u64::MAX)
            }
        }
    }
}

/// Bytes, or `N%`.
///
/// # Errors
/// A message that says what was expected.
pub fn size(text: &str, kb_base: u64) -> Result<Size, String> {
    match text.trim().strip_suffix('%') {
        Some(number) => match number.trim().parse() {
            Ok(percent @ 0..=100) => Ok(Size::Percent(percent)),
            _ => Err(format!("{text:?} is not a percentage from 0% to 100%")),
        },
        None => bytes(text, kb_base).map(Size::Bytes),
    }
}

/// Values for reads, writes and trims: `a`, `a,b`, `a,b,c`. The last value also applies to the missing ones; an empty position keeps
/// `default`.
///
/// # Errors
/// The error of the first invalid value, or a message.
pub fn triple<T: Clone>(
    text: &str,
    default: [T; 3],
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<[T; 3], String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 3 {
        return Err(format!(
            "{text:?} has {} values; at most three (reads, writes, trims) are expected",
            parts.len()
        ));
    }
    let [mut reads, mut writes, mut trims] = default;
    let last = parts.len() - 1;
    for (place, part) in parts.iter().enumerate() {
        if part.is_empty() {
            continue;
        }
        let value = read(part)?;
        for (slot, into) in [&mut reads, &mut writes, &mut trims].into_iter().enumerate() {
            if slot == place || (place == last && slot > place) {
                *into = value.clone();
            }
        }
    }
    Ok([reads, writes, trims])
}

/// `lo-hi` or `lo:hi`; a reversed range is swapped.
///
/// # Errors
/// A message that says what was expected.
pub fn range(text: &str, kb_base: u64) -> Result<(u64, u64), String> {
    let Some((a, b)) = text.split_once(['-', ':']) else {
        return Err(format!("{text:?} is not a range: LOW-HIGH is expected"));
    };
    // As in fio, percentages and further numbers are ignored: only bssplit has them.
    let first = |t: &str| t.split(['/', ':', '-']).next().unwrap_or_default().to_owned();
    let (a, b) = (bytes(&first(a), kb_base)?, bytes(&first(b), kb_base)?);
    Ok((a.min(b), a.max(b)))
}

/// `N`, or `LOW-HIGH`.
///
/// # Errors
/// A message that says what was expected.
pub fn from_to(text: &str, kb_base: u64) -> Result<(u64, u64), String> {
    if text.contains('/') {
        return Err(format!("{text:?}: sizes of files have no shares"));
    }
    if text.contains(['-', ':']) {
        return range(text, kb_base);
    }
    bytes(text, kb_base).map(|bytes| (bytes, bytes))
}

/// `a:b:c`, at most 20 numbers.
///
/// # Errors
/// A message that says what was expected.
pub fn floats(text: &str) -> Result<Vec<f64>, String> {
    const MOST: usize = 20;
    let parts: Vec<&str> = text.split(':').collect();
    if parts.len() > MOST {
        return Err(format!("{} numbers; at most {MOST} are expected", parts.len()));
    }
    parts.into_iter().map(float).collect()
}

/// A number with an optional fraction.
///
/// # Errors
/// A message that says what was expected.
pub fn float(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').parse::<f64>();
    number.ok().filter(|n| n.is_finite()).ok_or_else(|| format!("{text:?} is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn suffixes_are_powers_of_kb_base_and_kib_of_the_other() {
        for (text, value) in [
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("4096", 4096),
            ("0x1000", 4096),
            ("4ki", 4096),
            ("4kib", 4000),
            ("1mib", 1_000_000),
            ("0x10k", 16384),
        ] {
            assert_eq!(bytes(text, 1024), Ok(value), "{text}");
        }
        assert_eq!(bytes("4k", 1000), Ok(4000));
        assert_eq!(bytes("4kib", 1000), Ok(4096));
        assert!(has_surprising_suffix("4k,4KiB") && !has_surprising_suffix("4ki"));
    }

    #[test]
    fn a_bracket_that_was_left_over_counts_for_nothing() {
        // fio 3.33 reads each as the number before the bracket.
        for text in ["4096)", "4k)", "4k]", "4k}", "0x1000)", "4kb))"] {
            assert_eq!(bytes(text, 1024), Ok(4096), "{text}");
            assert!(has_bracket_left_over(text), "{text}");
        }
        assert_eq!(range("512)-4k)", 1024), Ok((512, 4096)));
        assert!(has_bracket_left_over("512)-4k") && !has_bracket_left_over("512-4k"));
        assert!(bytes(")", 1024).is_err() && bytes("4k)x", 1024).is_err() && bytes("4q)", 1024).is_err());
    }

    #[test]
    fn what_fio_cuts_off_is_an_error_here() {
        for text in ["4q", "4.5k", "", "k", "-1", "4 k", "99999999p"] {
            assert!(bytes(text, 1024).is_err(), "{text}");
        }
        assert!(time("0.5", S).unwrap_err().contains("fraction"));
        assert!(time("5x", S).is_err());
    }

    #[test]
    fn times_have_units_and_a_bare_one() {
        assert_eq!(time("30", S), Ok(30 * S));
        assert_eq!(time("30s", US), Ok(30 * S));
        assert_eq!(time("5", US), Ok(5000));
        assert_eq!(time("2m", S), Ok(120 * S));
        assert_eq!(time("7msec", S), Ok(7 * MS));
        assert_eq!(time("1d", S), Ok(86_400 * S));
    }

    #[test]
    fn triples_fill_the_later_places() {
        let of = |text| triple(text, [4, 4, 4], |t| bytes(t, 1024));
        assert_eq!(of("8k"), Ok([8192, 8192, 8192]));
        assert_eq!(of("4k,8k"), Ok([4096, 8192, 8192]));
        assert_eq!(of("4k,8k,"), Ok([4096, 8192, 4]));
        assert_eq!(of(",8k"), Ok([4, 8192, 8192]));
        assert!(of("1,2,3,4").is_err());
    }

    #[test]
    fn ranges_are_turned_round_and_sizes_have_percent() {
        assert_eq!(range("8k-4k", 1024), Ok((4096, 8192)));
        assert_eq!(range("1k:4k", 1024), Ok((1024, 4096)));
        // As in fio 3.33: no percentages, and at most two sizes.
        assert_eq!(range("512/25:1k:25:2k:25:4k/25", 1024), Ok((512, 1024)));
        assert_eq!(range("1k-4k/8k-32k", 1024), Ok((1024, 4096)));
        assert!(from_to("1k-4k/8k", 1024).unwrap_err().contains("no shares"));
        assert_eq!(size("50%", 1024).map(|s| s.of(1000)), Ok(500));
        assert!(size("101%", 1024).is_err());
        assert_eq!(floats("1:99.9"), Ok(vec![1.0, 99.9]));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = (bytes(&text, 1024), time(&text, S), size(&text, 1000), range(&text, 1024), floats(&text));
            let _ = triple(&text, [0, 0, 0], |t| bytes(t, 1024));
        }
    }
}
