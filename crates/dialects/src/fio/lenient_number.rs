//! Numbers with trailing text (`128*1`, `4.5k`, `4k4`): fio 3.33 reads the number and its suffix, computes nothing, and ignores the
//! rest. So does fathom, with a note, because the author may have meant something else.

use super::number::{self, Size};
use super::table::Kind;

/// Bytes, or any number with the same suffixes, as [`number::bytes`] reads them; trailing text is ignored.
///
/// # Errors
/// If it does not begin with a number, or if a `%` follows, which fio reads as a huge number.
pub fn bytes(text: &str, kb_base: u64) -> Result<u64, String> {
    let strict = number::bytes(text, kb_base);
    match strict {
        Ok(bytes) => Ok(bytes),
        Err(why) => match beginning(text.trim()) {
            Some(beginning) => number::bytes(beginning, kb_base),
            None => Err(why),
        },
    }
}

/// The leading number of a text with its suffix.
fn beginning(text: &str) -> Option<&str> {
    let hex = text.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x"));
    let from = if hex { 2 } else { 0 };
    let radix = if hex { 16 } else { 10 };
    let length = text[from..].find(|c: char| !c.is_digit(radix))?;
    let end = from + length;
    let rest = &text[end..];
    // A letter after a hexadecimal number is an error in fio too, or changes the number.
    if length == 0 || rest.starts_with('%') || (hex && rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    {
        return None;
    }
    Some(&text[..end + suffix(rest)])
}

/// Length of the suffix at the start of a text.
fn suffix(text: &str) -> usize {
    let lower = text.to_ascii_lowercase();
    if !lower.starts_with(['k', 'm', 'g', 't', 'p']) {
        return usize::from(lower.starts_with('b'));
    }
    let after = &lower[1..];
    1 + ["ib", "i", "b"].into_iter().find(|end| after.starts_with(end)).map_or(0, str::len)
}

/// Bytes, or a percentage if a `%` directly follows the number.
///
/// # Errors
/// If it does not begin with a number.
pub fn size(text: &str, kb_base: u64) -> Result<Size, String> {
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    if trimmed[end..].starts_with('%') {
        return number::size(&trimmed[..=end], kb_base);
    }
    number::bytes(trimmed, kb_base).or_else(|_| bytes(trimmed, kb_base)).map(Size::Bytes)
}

/// A duration in nanoseconds. Unknown units are an error: fio would read `30x` as 30 microseconds.
///
/// # Errors
/// If it does not begin with a number, or has an unknown unit.
pub fn time(text: &str, bare_ns: u64) -> Result<u64, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let rest = &text[end..];
    let unit = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    // A fraction may be followed by a unit, which counts as in fio.
    if let Some(fraction) = rest.strip_prefix('.') {
        let digits = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        return number::time(&format!("{}{digits}", &text[..end]), bare_ns);
    }
    number::time(&text[..end + unit], bare_ns)
}

/// Whether the number is nonzero; `most` is the largest value allowed.
///
/// # Errors
/// If it does not begin with a number, or the number is larger than `most`.
pub fn switch(text: &str, most: i64) -> Result<bool, String> {
    let wrong = || format!("{text:?} is neither 0 nor 1");
    let number = whole(text).ok_or_else(wrong)?;
    if number > most { Err(wrong()) } else { Ok(number != 0) }
}

/// The leading integer of a text, which may be negative.
#[must_use]
pub fn whole(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    text[..text.len() - digits.len() + end].parse().ok()
}

/// Whether a value has trailing text that is ignored.
#[must_use]
pub fn cuts_off(text: &str, kind: Kind) -> bool {
    let part = |text: &str| {
        let text = text.trim();
        let strict = match kind {
            Kind::Size => number::size(text, 1024).is_err(),
            Kind::Time(bare) => number::time(text, bare).is_err(),
            Kind::Flag | Kind::Bool | Kind::Signed => text.parse::<i64>().is_err(),
            Kind::Number | Kind::Bytes | Kind::BytesTriple => number::bytes(text, 1024).is_err(),
            _ => false,
        };
        !text.is_empty() && (strict || number::has_bracket_left_over(text))
    };
    match kind {
        Kind::BytesTriple => text.split([',', ':', '-']).any(part),
        Kind::Range | Kind::RangeTriple | Kind::SplitTriple => number::has_bracket_left_over(text),
        _ => part(text),
    }
}

#[cfg(test)]
mod tests {
    use super::super::number::{MS, S};
    use super::super::tests::{planned, refused};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_those_that_fio_uses() {
        // Each as observed with fio 3.33.
        for (text, value) in [
            ("128*1", 128),
            ("4k4", 4096),
            ("4.5k", 4),
            ("0.5m", 0),
            ("7m/8", 7 << 20),
            ("7k/8", 7 << 10),
            ("4+4", 4),
            ("4q", 4),
            ("4 k", 4),
            ("4kx", 4096),
            ("8kk", 8192),
            ("8kbx", 8192),
            ("8kibx", 8000),
            ("4096bytes", 4096),
            ("4e3", 4),
            ("4_000", 4),
            ("4,5", 4),
            ("0x10*2", 16),
        ] {
            assert_eq!(bytes(text, 1024), Ok(value), "{text}");
            assert!(cuts_off(text, Kind::Number), "{text}");
        }
        for text in ["(4+4)", "k", "", "-1", "10%", "0x10z", "99999999p"] {
            assert!(bytes(text, 1024).is_err(), "{text}");
        }
        assert!(!cuts_off("4k", Kind::Number) && !cuts_off("4k,8k", Kind::BytesTriple));
        assert!(cuts_off("4k4:8k", Kind::BytesTriple) && cuts_off("4096)", Kind::Bytes));
        assert!(!cuts_off("-5", Kind::Signed) && cuts_off("-5x", Kind::Signed));
    }

    #[test]
    fn so_are_percentages_times_and_switches() {
        for text in ["50%x", "50%%", "50%)"] {
            assert_eq!(size(text, 1024), Ok(Size::Percent(50)), "{text}");
        }
        assert_eq!(size("50.5%", 1024), Ok(Size::Bytes(50)));
        assert_eq!(size("50)%", 1024), Ok(Size::Bytes(50)));
        for (text, ns) in [("1*2", S), ("1)", S), ("1.5s", S), ("500ms*2", 500 * MS), ("2", 2 * S)] {
            assert_eq!(time(text, S), Ok(ns), "{text}");
        }
        assert!(time("1x", S).is_err() && time("1sx", S).is_err() && time("", S).is_err());
        assert_eq!((switch("1*1", 1), switch("1x", 1), switch("00", 1)), (Ok(true), Ok(true), Ok(false)));
        assert!(switch("4", 1).is_err() && switch("true", i64::MAX).is_err());
        assert_eq!((switch("4", i64::MAX), switch("-1", i64::MAX)), (Ok(true), Ok(true)));
    }

    #[test]
    fn what_is_cut_off_is_said() {
        let plan = planned(
            "--name=a --ioengine=libaio --size=1m*2 --iodepth=128*1 --runtime=2*3 --thread=4 --bs=8k4",
        );
        let job = &plan.jobs[0];
        assert_eq!(job.times.runtime, 2 * S);
        assert_eq!(job.stream.record.unit().0, 8192);
        assert_eq!(job.parts[0].file, 1 << 20);
        for said in ["size=1m*2", "iodepth=128*1", "runtime=2*3", "bs=8k4"] {
            assert!(plan.notes.iter().any(|n| n.starts_with(said)), "{said}: {:?}", plan.notes);
        }
        assert!(!plan.notes.iter().any(|n| n.starts_with("thread")), "{:?}", plan.notes);
        assert!(refused("--name=a --size=1m --iodepth=(4+4)").contains("iodepth"));
        assert!(refused("--name=a --size=1m --direct=4").contains("neither 0 nor 1"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = (bytes(&text, 1024), time(&text, S), size(&text, 1000), switch(&text, 1));
            for kind in [Kind::Size, Kind::Flag, Kind::BytesTriple, Kind::Number, Kind::Range] {
                let _ = cuts_off(&text, kind);
            }
        }
    }
}
