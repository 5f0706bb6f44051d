//! Parses a line from the left into words, numbers and signs with their positions, with errors that say what was expected.

use fathom_record::block::DeviceNumber;

/// An error in a line with its byte position.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LineFault {
    pub(super) byte: usize,
    pub(super) what: String,
}

impl LineFault {
    pub(super) fn new(byte: usize, what: impl Into<String>) -> Self {
        Self { byte, what: what.into() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) byte: usize,
}

impl<'a> Word<'a> {
    /// An error that something else was expected here.
    pub(super) fn not(&self, expected: &str) -> LineFault {
        let shown: String = self.text.chars().take(40).collect();
        let found = if shown.is_empty() { "nothing".into() } else { format!("\"{shown}\"") };
        LineFault::new(self.byte, format!("expected {expected}, found {found}"))
    }

    pub(super) fn number<T: TryFrom<u64>>(&self, what: &str) -> Result<T, LineFault> {
        let digits = !self.text.is_empty() && self.text.bytes().all(|b| b.is_ascii_digit());
        let value = if digits { self.text.parse::<u64>().ok() } else { None };
        value.and_then(|v| T::try_from(v).ok()).ok_or_else(|| self.not(what))
    }

    /// A number, possibly with decimals, in units of `unit_ns`, converted to ns; excess decimals are cut off.
    pub(super) fn time(&self, unit_ns: u64, what: &str) -> Result<u64, LineFault> {
        decimal(self.text, unit_ns).ok_or_else(|| self.not(what))
    }

    /// "8,0": a device number.
    pub(super) fn device(&self) -> Result<DeviceNumber, LineFault> {
        let number = || {
            let (major, minor) = self.text.split_once(',')?;
            Some(DeviceNumber { major: digits(major)?, minor: digits(minor)? })
        };
        number().ok_or_else(|| self.not("a device as MAJOR,MINOR"))
    }

    /// The word without surrounding blanks.
    pub(super) fn trimmed(&self) -> Word<'a> {
        let text = self.text.trim_start();
        Word { text: text.trim_end(), byte: self.byte + (self.text.len() - text.len()) }
    }
}

fn digits(text: &str) -> Option<u32> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

/// A decimal number in units of `unit_ns`, converted exactly.
fn decimal(text: &str, unit_ns: u64) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let all_digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(part) {
        return None;
    }
    let part = &part[..part.len().min(18)];
    let mut ns = whole.parse::<u64>().ok()?.checked_mul(unit_ns)?;
    if !part.is_empty() {
        let fraction = u128::from(part.parse::<u64>().ok()?) * u128::from(unit_ns);
        ns = ns.checked_add(u64::try_from(fraction / 10u128.pow(part.len() as u32)).ok()?)?;
    }
    Some(ns)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { line, at: 0 }
    }

    pub(super) fn at(line: &'a str, at: usize) -> Self {
        Self { line, at }
    }

    /// The rest of the line without leading blanks.
    pub(super) fn rest(&self) -> Word<'a> {
        let rest = &self.line[self.at..];
        let text = rest.trim_start();
        Word { text, byte: self.at + (rest.len() - text.len()) }
    }

    /// The next word; empty at the end.
    pub(super) fn word(&mut self) -> Word<'a> {
        let rest = self.rest();
        let end = rest.text.find(char::is_whitespace).unwrap_or(rest.text.len());
        self.at = rest.byte + end;
        Word { text: &rest.text[..end], byte: rest.byte }
    }

    /// Checks that the next word is `text`.
    pub(super) fn expect(&mut self, text: &str) -> Result<(), LineFault> {
        let word = self.word();
        if word.text == text { Ok(()) } else { Err(word.not(&format!("\"{text}\""))) }
    }

    /// "+ 8": a number of sectors.
    pub(super) fn plus(&mut self) -> Result<u32, LineFault> {
        self.expect("+")?;
        self.word().number("a number of sectors")
    }

    /// "[what]" up to the last bracket of the line; the text after it remains.
    pub(super) fn bracketed(&mut self, what: &str) -> Result<Word<'a>, LineFault> {
        let rest = self.rest();
        let inner = rest.text.strip_prefix('[').and_then(|t| t.rfind(']').map(|end| &t[..end]));
        let Some(inner) = inner else { return Err(rest.not(&format!("{what} in square brackets"))) };
        self.at = rest.byte + inner.len() + 2;
        Ok(Word { text: inner, byte: rest.byte + 1 })
    }
}

/// The fields of a line with their positions. `None` if there are fewer than `N`; the last contains any excess.
pub(super) fn fields<const N: usize>(line: &str, separator: char) -> Option<[Word<'_>; N]> {
    let mut out = [Word { text: "", byte: 0 }; N];
    let mut byte = 0;
    let mut parts = line.splitn(N, separator);
    for field in &mut out {
        let text = parts.next()?;
        *field = Word { text, byte }.trimmed();
        byte += text.len() + separator.len_utf8();
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_and_overflow_is_refused() {
        assert_eq!(decimal("1301.773715", 1_000_000_000), Some(1_301_773_715_000));
        assert_eq!(decimal("0.551706", 1_000_000_000), Some(551_706_000));
        assert_eq!(decimal("12", 1_000_000), Some(12_000_000));
        assert_eq!(decimal("0.0000000000000000000009", 1_000_000_000), Some(0));
        for bad in
            ["", ".", ".5", "-1", "1e5", "1.2.3", "1,5", "99999999999999999999", "18446744073709551615"]
        {
            assert_eq!(decimal(bad, 1_000_000_000), None, "{bad}");
        }
    }

    #[test]
    fn words_know_their_places() {
        let mut cursor = Cursor::new("  8,0 R  [a ]b] 3");
        let device = cursor.word();
        assert_eq!((device.byte, device.device()), (2, Ok(DeviceNumber { major: 8, minor: 0 })));
        assert_eq!(cursor.word().text, "R");
        assert_eq!(cursor.bracketed("a name").unwrap().text, "a ]b");
        assert_eq!(cursor.word().number::<u32>("a count"), Ok(3));
        assert_eq!(
            cursor.word().number::<u32>("a count").unwrap_err().what,
            "expected a count, found nothing"
        );
        let [a, b] = fields::<2>("1, two ,three", ',').unwrap();
        assert_eq!((a.text, b.text, b.byte), ("1", "two ,three", 3));
        assert!(fields::<4>("1,2,3", ',').is_none());
    }
}
