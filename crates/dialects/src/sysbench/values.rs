//! Parses option values: integers, sizes, decimal numbers, switches. They are parsed as in SysBench, including odd
//! cases, except that trailing text after a size is an error.

use super::words::Given;
use super::{SysbenchExit, table};

/// A 32-bit integer; an empty value is 0.
///
/// # Errors
/// Any other value.
pub(super) fn number(given: &Given) -> Result<i32, SysbenchExit> {
    let text = given.text();
    let digits = text.trim_start();
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    if text.is_empty() {
        return Ok(0);
    }
    digits.parse().map_err(|_| {
        let name = given.name.replace('-', "_");
        SysbenchExit::complaint(format_args!("Invalid value for the '{name}' option: '{text}'"))
    })
}

/// A size in bytes with a suffix for powers of 1024 (text after it is ignored, as in SysBench: "500MB"); 0 if it is not a size.
pub(super) fn size(given: &Given) -> u64 {
    let text = given.text().trim_start();
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let Ok(n) = text[..end].parse::<u64>() else { return 0 };
    let shift = match text[end..].chars().next() {
        None => 0,
        Some('k' | 'K') => 10,
        Some('m' | 'M') => 20,
        Some('g' | 'G') => 30,
        Some('t' | 'T') => 40,
        Some(_) => return 0,
    };
    n.checked_mul(1 << shift).unwrap_or(0)
}

/// A decimal number; 0 if it is not a number.
pub(super) fn real(given: &Given) -> f64 {
    given.text().trim().parse::<f64>().ok().filter(|n| n.is_finite()).unwrap_or(0.0)
}

/// On or off.
///
/// # Errors
/// Any other value.
pub(super) fn switch(given: &Given) -> Result<bool, SysbenchExit> {
    match given.value.as_deref() {
        None | Some("on" | "true" | "1") => Ok(true),
        Some("off" | "false" | "0") => Ok(false),
        Some(_) => Err(unknown(given)),
    }
}

/// Error: an unknown option, or a switch that is neither on nor off.
pub(super) fn unknown(given: &Given) -> SysbenchExit {
    let exit = SysbenchExit::complaint(format_args!("invalid option: {}", given.raw));
    if table::of_04_only(&given.name) {
        return exit.because(format_args!(
            "0.4 knows --{}; --dialect=0.4 takes this line in its meaning",
            given.name
        ));
    }
    exit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(value: &str) -> Given {
        Given { name: "file-num".into(), value: Some(value.into()), raw: format!("--file-num={value}") }
    }

    #[test]
    fn numbers_have_thirty_two_bits() {
        for (text, n) in [("", 0), (" 5", 5), ("+5", 5), ("010", 10), ("-1", -1), ("2147483647", i32::MAX)] {
            assert_eq!(number(&given(text)), Ok(n), "{text:?}");
        }
        for text in ["2147483648", "0x10", "1K", "x", "1.5", "+", "5 "] {
            let error = number(&given(text)).expect_err(text);
            assert_eq!(error.stderr, format!("Invalid value for the 'file_num' option: '{text}'\n"));
        }
    }

    #[test]
    fn sizes_have_letters() {
        for (text, n) in [
            ("16384", 16384),
            ("4k", 4096),
            ("3G", 3 << 30),
            ("1t", 1 << 40),
            ("64MB", 64 << 20),
            ("64mib", 64 << 20),
            ("40Mx", 40 << 20),
            ("40x", 0),
            ("-1M", 0),
            ("1.5M", 0),
        ] {
            assert_eq!(size(&given(text)), n, "{text}");
        }
        assert_eq!(size(&given("99999999999999999999")), 0);
        assert_eq!(size(&given("18014398509481984K")), 0);
    }

    #[test]
    fn switches_are_spelled_in_six_ways() {
        for (text, on) in
            [("on", true), ("true", true), ("1", true), ("off", false), ("false", false), ("0", false)]
        {
            assert_eq!(switch(&given(text)), Ok(on));
        }
        assert_eq!(switch(&given("no")).expect_err("no switch").stderr, "invalid option: --file-num=no\n");
    }
}
