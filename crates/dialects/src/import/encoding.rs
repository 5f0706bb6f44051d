//! What bytes represent as text: byte order marks, UTF-16 (the Windows console writes it), and mails in quoted-printable form or base64.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use encoding_rs_io::DecodeReaderBytesBuilder;
use quoted_printable::ParseMode;
use std::io::{BufRead, BufReader};

/// Bytes that are searched for the signs of a mail.
const BEGINNING: usize = 64 << 10;
/// From this many encoded signs on, a text without headers is a mail.
const SEVERAL: usize = 3;

/// The input as UTF-8 without its byte order mark. Without a mark it is left as it is.
pub(super) fn decoded<'i>(input: impl BufRead + 'i) -> Box<dyn BufRead + 'i> {
    let mut form = DecodeReaderBytesBuilder::new();
    Box::new(BufReader::with_capacity(BEGINNING, form.utf8_passthru(true).strip_bom(true).build(input)))
}

/// A line as text. What is not UTF-8 is taken for what Windows used before: a "\u{b5}" that is lost would make "5 \u{b5}s" no time.
pub(super) fn text(line: Vec<u8>) -> String {
    String::from_utf8(line).unwrap_or_else(|e| {
        encoding_rs::WINDOWS_1252.decode_without_bom_handling(e.as_bytes()).0.into_owned()
    })
}

/// A form in which a mail carries text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// "=" is "=3D", and one at the end of a line joins the next line to it.
    Quoted,
    Base64,
}

/// The form of the current lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mail {
    No,
    /// A header says so for the text below the headers.
    Announced(Form),
    In(Form),
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
            let is_escape = |(at, _): &(usize, &str)| {
                let is_digit = |b: &u8| matches!(b, b'0'..=b'9' | b'A'..=b'F');
                line.as_bytes().get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(is_digit))
            };
            breaks += usize::from(is_broken(line));
            signs += line.matches("=3D").count();
            plain += line.match_indices('=').filter(|sign| !is_escape(sign)).count()
                - usize::from(is_broken(line));
        }
        let is_clear = signs >= SEVERAL || signs > 0 && breaks > 0;
        if is_clear && signs > plain { Self::In(Form::Quoted) } else { Self::No }
    }

    /// What holds behind this line. A header holds up to the end of its part of the mail.
    pub(super) fn behind(self, line: &str) -> Self {
        let ends_part = || {
            line.strip_prefix("--").is_some_and(|b| !b.contains(' ') && b.contains(char::is_alphanumeric))
                || line.starts_with("From ")
        };
        match (announced(line), self) {
            (Some(form), _) => form,
            (None, Self::Announced(form)) if line.is_empty() => Self::In(form),
            (None, Self::In(_)) if ends_part() => Self::No,
            (None, _) => self,
        }
    }
}

/// What a header announces.
fn announced(line: &str) -> Option<Mail> {
    let (name, value) = line.split_once(':')?;
    let is_header = name.eq_ignore_ascii_case("Content-Transfer-Encoding");
    is_header.then(|| match value.trim().to_ascii_lowercase().as_str() {
        "quoted-printable" => Mail::Announced(Form::Quoted),
        "base64" => Mail::Announced(Form::Base64),
        _ => Mail::No,
    })
}

/// Whether the next line is joined to this one.
pub(super) fn is_broken(line: &str) -> bool {
    line.trim_end().ends_with('=')
}

/// A line of a mail as it was written, from the lines that it was broken into.
pub(super) fn unquoted(lines: &str) -> String {
    // The decoder drops what a mail may not hold as it is: "5 \u{b5}s" would be seconds.
    let escaped = |b: u8| match b {
        b'\t' | b'\n' | b' '..=b'~' => char::from(b).to_string(),
        _ => format!("={b:02X}"),
    };
    let lines: String = lines.bytes().map(escaped).collect();
    let bytes = quoted_printable::decode(&lines, ParseMode::Robust);
    bytes.map_or(lines, text)
}

/// Whether a line may follow one of this length in base64: all but the last have the same length, and are of several characters.
pub(super) fn is_base64(line: &str, before: Option<(&str, usize)>) -> bool {
    let symbols = line.trim_end_matches('=');
    let is_symbol = |b: u8| b.is_ascii_alphanumeric() || b == b'+' || b == b'/';
    let goes_on = |(last, first): (&str, usize)| {
        last.len() == first && line.len() <= first && first >= 4 && !last.ends_with('=')
    };
    !symbols.is_empty() && symbols.bytes().all(is_symbol) && before.is_none_or(goes_on)
}

/// The bytes of a text in base64; of one that was cut, what came before.
pub(super) fn bytes_of(base64: &str) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let whole = &base64[..base64.len() / 4 * 4];
    GeneralPurpose::new(&base64::alphabet::STANDARD, config).decode(whole).ok()
}

/// Whether a file in a mail is text, or a worksheet: an image has zeros.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    !bytes.contains(&0)
        || bytes.starts_with(&[0xFF, 0xFE])
        || bytes.starts_with(&[0xFE, 0xFF])
        || bytes.starts_with(&crate::iozone::worksheet::BEGINNING)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        let mut text = String::new();
        let _ = decoded(bytes).read_to_string(&mut text).expect("text");
        text
    }

    #[test]
    fn marks_go_and_utf_16_is_decoded() {
        let content = "\u{b5}s \u{1f600}\n".repeat(BEGINNING / 4);
        let units = || "\u{feff}".encode_utf16().chain(content.encode_utf16());
        assert_eq!(text("\u{feff}a\u{feff}".as_bytes()), "a\u{feff}", "only the first");
        assert_eq!(text(content.as_bytes()), content);
        assert_eq!(text(&units().flat_map(u16::to_le_bytes).collect::<Vec<_>>()), content);
        assert_eq!(text(&units().flat_map(u16::to_be_bytes).collect::<Vec<_>>()), content);
        assert_eq!((text(&[0xFF, 0xFE, b'a']), text(&[0xFE, 0xFF])), ("\u{fffd}".into(), String::new()));
    }

    #[test]
    fn a_mail_is_announced_or_clear() {
        let of = |text: &str| Mail::of(text.as_bytes());
        for mail in ["bw=3D12,=\n iops=3D3", "a=3D1 b=3D2 c=3D3", "=C3=BCber x=3D1 =\ny"] {
            assert_eq!(of(mail), Mail::In(Form::Quoted), "{mail}");
        }
        for other in ["bw=32000KB/s, iops=80", "x=3D", "url?a=3D&b=3D&c=3D&d=e&f=g&h=i&j=k", "a =\nb"] {
            assert_eq!(of(other), Mail::No, "{other}");
        }
        let header = "content-transfer-encoding: Quoted-Printable";
        assert_eq!(of(&format!("{header}\n\na=3D1 b=3D2 c=3D3")), Mail::No, "the header will tell");
        let after = |lines: &[&str]| lines.iter().fold(Mail::No, |mail, line| mail.behind(line));
        assert_eq!(after(&[header, "DKIM-Signature: b=AB="]), Mail::Announced(Form::Quoted));
        assert_eq!(after(&[header, "", "a", "-------"]), Mail::In(Form::Quoted), "a rule ends no part");
        assert_eq!(after(&[header, "", "--0000b1f5"]), Mail::No);
        assert_eq!(after(&[header, "", "Content-Transfer-Encoding: 7bit"]), Mail::No);
    }

    #[test]
    fn what_a_mail_may_not_hold_as_it_is_stays() {
        assert_eq!(unquoted("bw=3D1=2E5 =C2=B5s =ZZ =\n 5 \u{b5}s"), "bw=1.5 \u{b5}s =ZZ  5 \u{b5}s");
        assert_eq!((is_broken("a = "), is_broken("a=b")), (true, false));
    }
}
