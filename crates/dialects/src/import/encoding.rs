//! What bytes represent as text: byte order marks, UTF-16 (the Windows console writes it), and mails in quoted-printable form.

use std::io::{BufRead, Read, Result};

/// Bytes of UTF-16 decoded at a time; an even number.
const AT_ONCE: u64 = 64 << 10;
/// Bytes that are searched for the signs of a mail.
const BEGINNING: usize = 64 << 10;
/// From this many encoded signs on, a text without headers is a mail.
const SEVERAL: usize = 3;

/// Makes a unit of UTF-16 from its bytes.
type Unit = fn([u8; 2]) -> u16;

/// The input as UTF-8 without its byte order mark. Without a mark it is left as it is.
pub(super) fn decoded<'i>(mut input: impl BufRead + 'i) -> Result<Box<dyn BufRead + 'i>> {
    let beginning = input.fill_buf()?;
    let (length, unit): (usize, Option<Unit>) = match beginning {
        [0xEF, 0xBB, 0xBF, ..] => (3, None),
        [0xFF, 0xFE, ..] => (2, Some(u16::from_le_bytes)),
        [0xFE, 0xFF, ..] => (2, Some(u16::from_be_bytes)),
        _ => (0, None),
    };
    input.consume(length);
    Ok(match unit {
        Some(unit) => Box::new(Utf16 { input, unit, half: None, text: Vec::new(), at: 0 }),
        None => Box::new(input),
    })
}

/// Input in UTF-16, read as UTF-8.
struct Utf16<I> {
    input: I,
    unit: Unit,
    /// The first half of a pair, if the last part ended with it.
    half: Option<u16>,
    /// The current part, and what of it was read.
    text: Vec<u8>,
    at: usize,
}

impl<I: BufRead> BufRead for Utf16<I> {
    fn fill_buf(&mut self) -> Result<&[u8]> {
        if self.at == self.text.len() {
            let mut bytes = Vec::new();
            let read = (&mut self.input).take(AT_ONCE).read_to_end(&mut bytes)?;
            let units = bytes.chunks_exact(2).map(|pair| (self.unit)([pair[0], pair[1]]));
            let mut units: Vec<u16> = self.half.take().into_iter().chain(units).collect();
            if read as u64 == AT_ONCE {
                self.half = units.pop_if(|unit| (0xD800..0xDC00).contains(unit));
            }
            self.text = String::from_utf16_lossy(&units).into_bytes();
            self.at = 0;
        }
        Ok(&self.text[self.at..])
    }

    fn consume(&mut self, length: usize) {
        self.at += length;
    }
}

impl<I: BufRead> Read for Utf16<I> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

/// Whether the current lines are quoted-printable. "=" is "=3D" in them, and one at the end of a line joins the next line to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mail {
    No,
    /// A header says so for the text below the headers.
    Announced,
    Quoted,
}

impl Mail {
    /// A text without headers shows by its beginning what it is.
    pub(super) fn of(beginning: &[u8]) -> Self {
        let beginning = String::from_utf8_lossy(&beginning[..beginning.len().min(BEGINNING)]);
        let (mut plain, mut signs, mut breaks) = (0, 0, 0);
        for line in beginning.lines() {
            if announced(line).is_some() {
                return Self::No;
            }
            let is_broken = broken(line).is_some();
            breaks += usize::from(is_broken);
            signs += line.matches("=3D").count();
            let escapes =
                line.match_indices('=').filter(|(at, _)| escaped(&line.as_bytes()[at + 1..]).is_some());
            plain += line.matches('=').count() - escapes.count() - usize::from(is_broken);
        }
        let is_clear = signs >= SEVERAL || signs > 0 && breaks > 0;
        if is_clear && signs > plain { Self::Quoted } else { Self::No }
    }

    /// What holds behind this line. A header holds up to the end of its part of the mail.
    pub(super) fn behind(self, line: &str) -> Self {
        let ends_part = || {
            line.strip_prefix("--").is_some_and(|b| !b.contains(' ') && b.contains(char::is_alphanumeric))
                || line.starts_with("From ")
        };
        match announced(line) {
            Some(true) => Self::Announced,
            Some(false) => Self::No,
            None if self == Self::Announced && line.is_empty() => Self::Quoted,
            None if self == Self::Quoted && ends_part() => Self::No,
            None => self,
        }
    }
}

/// Whether a header announces this form.
fn announced(line: &str) -> Option<bool> {
    let (name, value) = line.split_once(':')?;
    let is_header = name.eq_ignore_ascii_case("Content-Transfer-Encoding");
    is_header.then(|| value.trim().eq_ignore_ascii_case("quoted-printable"))
}

/// A line that the next one is joined to, without its "=".
pub(super) fn broken(line: &str) -> Option<&str> {
    line.trim_end().strip_suffix('=')
}

/// A line of a mail as it was written.
pub(super) fn unquoted(line: &str) -> String {
    let mut bytes = Vec::with_capacity(line.len());
    let mut rest = line.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        match escaped(behind).filter(|_| first == b'=') {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => bytes.push(first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The byte of two hexadecimal digits, which are capitals.
fn escaped(digits: &[u8]) -> Option<u8> {
    let digits = digits.get(..2).filter(|d| d.iter().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F')))?;
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        let mut text = String::new();
        let _ = decoded(bytes).expect("memory").read_to_string(&mut text).expect("text");
        text
    }

    #[test]
    fn marks_go_and_utf_16_is_decoded() {
        let told = "\u{b5}s \u{1f600}\n".repeat(AT_ONCE as usize / 4);
        let units = || "\u{feff}".encode_utf16().chain(told.encode_utf16());
        assert_eq!(text("\u{feff}a\u{feff}".as_bytes()), "a\u{feff}", "only the first");
        assert_eq!(text(told.as_bytes()), told);
        assert_eq!(text(&units().flat_map(u16::to_le_bytes).collect::<Vec<_>>()), told);
        assert_eq!(text(&units().flat_map(u16::to_be_bytes).collect::<Vec<_>>()), told);
        assert_eq!((text(&[0xFF, 0xFE, b'a']), text(&[0xFE, 0xFF])), (String::new(), String::new()));
    }

    #[test]
    fn a_mail_is_announced_or_clear() {
        let of = |text: &str| Mail::of(text.as_bytes());
        for mail in ["bw=3D12,=\n iops=3D3", "a=3D1 b=3D2 c=3D3", "=C3=BCber x=3D1 =\ny"] {
            assert_eq!(of(mail), Mail::Quoted, "{mail}");
        }
        for other in ["bw=32000KB/s, iops=80", "x=3D", "url?a=3D&b=3D&c=3D&d=e&f=g&h=i&j=k", "a =\nb"] {
            assert_eq!(of(other), Mail::No, "{other}");
        }
        let header = "content-transfer-encoding: Quoted-Printable";
        assert_eq!(of(&format!("{header}\n\na=3D1 b=3D2 c=3D3")), Mail::No, "the header will tell");
        let after = |lines: &[&str]| lines.iter().fold(Mail::No, |mail, line| mail.behind(line));
        assert_eq!(after(&[header, "DKIM-Signature: b=AB="]), Mail::Announced);
        assert_eq!(after(&[header, "", "a", "-------"]), Mail::Quoted, "a rule ends no part");
        assert_eq!(after(&[header, "", "--0000b1f5"]), Mail::No);
        assert_eq!(after(&[header, "", "Content-Transfer-Encoding: 7bit"]), Mail::No);
    }

    #[test]
    fn only_capital_digits_are_decoded() {
        assert_eq!(unquoted("bw=3D1=2E5 =C2=B5s =3d =ZZ ="), "bw=1.5 \u{b5}s =3d =ZZ =");
        assert_eq!((broken("a = "), broken("a=b")), (Some("a "), None));
    }
}
