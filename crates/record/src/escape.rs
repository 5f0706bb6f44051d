//! Makes foreign text (names, paths, log lines) safe to display: control characters could move a terminal's cursor, set its
//! title or inject input, and bidirectional controls can hide text. Such characters are escaped as in JSON, so that JSON text
//! keeps its meaning.

use std::borrow::Cow;
use std::fmt::Write as _;

/// For a single line: line breaks are escaped too.
#[must_use]
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    replaced(text, |_| false)
}

/// For text of several lines: line breaks and tabs stay.
#[must_use]
pub fn escape_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c| matches!(c, '\n' | '\t'))
}

/// For text we have coloured ourselves: as [`escape_lines`], but sequences that only set colours and weights stay.
#[must_use]
pub fn escape_coloured(text: &str) -> Cow<'_, str> {
    if !text.contains('\x1b') {
        return escape_lines(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        out.push_str(&escape_lines(&rest[..at]));
        let length = colour_sequence(&rest[at..]).unwrap_or(0);
        if length == 0 {
            out.push_str(&escape_controls(&rest[at..=at]));
            rest = &rest[at + 1..];
        } else {
            out.push_str(&rest[at..at + length]);
            rest = &rest[at + length..];
        }
    }
    out.push_str(&escape_lines(rest));
    Cow::Owned(out)
}

/// Length of a colour or weight sequence at the start of the text, if there is one.
fn colour_sequence(text: &str) -> Option<usize> {
    let body = text.strip_prefix("\x1b[")?;
    let end = body.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    (body.as_bytes()[end] == b'm').then_some(2 + end + 1)
}

fn replaced(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let harmless = |c: char| stays(c) || !is_dangerous(c);
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if harmless(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => drop(write!(out, "\\u{:04x}", u32::from(c))),
        }
    }
    Cow::Owned(out)
}

fn is_dangerous(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escape_controls("12 MB/s größer"), "12 MB/s größer");
        assert_eq!(escape_controls("\x1b]0;OWNED\x07"), "\\u001b]0;OWNED\\u0007");
        assert_eq!(escape_controls("a\nb\tc\rd\u{9b}2J\u{202e}"), "a\\nb\\tc\\rd\\u009b2J\\u202e");
        assert_eq!(escape_lines("a\nb\tc\x1b[2J"), "a\nb\tc\\u001b[2J");
    }

    #[test]
    fn colours_stay_and_nothing_else() {
        for colour in ["\x1b[1;31mred\x1b[0m", "\x1b[m"] {
            assert_eq!(escape_coloured(colour), colour);
        }
        assert_eq!(escape_coloured("\x1b[1mbold\x1b[2J\x1b"), "\x1b[1mbold\\u001b[2J\\u001b");
        assert_eq!(escape_coloured("\x1b[31\x1b]0;x\x07"), "\\u001b[31\\u001b]0;x\\u0007");
    }

    proptest! {
        #[test]
        fn nothing_dangerous_is_left(text in any::<String>()) {
            prop_assert!(!escape_controls(&text).chars().any(is_dangerous));
            prop_assert!(!escape_lines(&text).chars().any(|c| c != '\n' && c != '\t' && is_dangerous(c)));
            let coloured = escape_coloured(&text).into_owned();
            let mut rest = coloured.as_str();
            while let Some(at) = rest.find('\x1b') {
                let length = colour_sequence(&rest[at..]);
                prop_assert!(length.is_some());
                rest = &rest[at + length.unwrap_or(1)..];
            }
        }
    }
}
