//! Messages about unexpected tokens: what was expected, and the likely mistake.

use super::{Failed, Parser};
use crate::filebench::span::Span;
use crate::filebench::token::TokenKind;

impl Parser<'_> {
    /// Reports the next token; `expected` is a noun phrase.
    pub(super) fn unexpected(&mut self, expected: &str) -> Failed {
        if let Some(failed) = self.broken_number() {
            return failed;
        }
        let span = self.span();
        let found = self.found();
        let hint = match self.peek() {
            TokenKind::Negative(_) => Some("a negative number can stand only after psrun".to_owned()),
            TokenKind::Tail => Some(
                "a blank is missing, or the variable's name goes on with a sign that names do not have"
                    .into(),
            ),
            _ => None,
        };
        self.error(span, format!("expected {expected}, found {found}"), hint)
    }

    /// Describes the next token in a sentence.
    pub(super) fn found(&mut self) -> String {
        match self.peek() {
            TokenKind::End => "the end of the script".into(),
            TokenKind::Quoted(_) => "a string".into(),
            TokenKind::Keyword => format!("the keyword '{}'", self.word()),
            _ => format!("'{}'", shortened(self.word())),
        }
    }

    /// `5t`, `16K`, `0x10`, `1.5k`, `10kb`: reported as one error. Positioned at the number or at the token after it.
    pub(super) fn broken_number(&mut self) -> Option<Failed> {
        self.peek();
        let last = self.tokens[self.at.checked_sub(1)?].clone();
        if !matches!(last.kind, TokenKind::Integer(_)) {
            return None;
        }
        let bytes = self.text.as_bytes();
        let goes_on = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_');
        let length = bytes[last.span.end..].iter().take_while(|b| goes_on(b)).count();
        if length == 0 {
            return None;
        }
        // The number may itself be the rest of one: `1.5.5`.
        let before =
            bytes[..last.span.start].iter().rev().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
        let span = Span::new(last.span.start - before, last.span.end + length);
        let written = shortened(&self.text[span.range()]).to_owned();
        let hint = number_hint(&self.text[span.range()]);
        while self.span().start < span.end && *self.peek() != TokenKind::End {
            self.advance();
        }
        // The dot of a fraction was skipped as an illegal character; it is part of this error.
        self.illegal.retain(|(illegal, _)| illegal.start < span.start || illegal.end > span.end);
        Some(self.error(span, format!("'{written}' is not a number"), Some(hint)))
    }
}

/// Truncates long words, so that a message fits on a line.
fn shortened(word: &str) -> &str {
    const CHARACTERS: usize = 60;
    word.char_indices().nth(CHARACTERS).map_or(word, |(end, _)| &word[..end])
}

fn number_hint(written: &str) -> String {
    let lower = written.to_ascii_lowercase();
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let suffix = &lower[digits.len()..];
    if let Some(digits) = lower.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16)
            .map_or_else(|_| "numbers are decimal".into(), |value| format!("numbers are decimal: {value}"));
    }
    if written.contains('.') {
        return "numbers are whole; take the next smaller suffix, as in 1536 for 1.5k".into();
    }
    match suffix {
        "k" | "kb" | "kib" => {
            format!("write {digits}k: the suffixes are k, m and g, in lower case, and mean 2^10, 2^20, 2^30")
        }
        "m" | "mb" | "mib" => {
            format!("write {digits}m: the suffixes are k, m and g, in lower case, and mean 2^10, 2^20, 2^30")
        }
        "g" | "gb" | "gib" => {
            format!("write {digits}g: the suffixes are k, m and g, in lower case, and mean 2^10, 2^20, 2^30")
        }
        "t" | "tb" | "tib" => match digits.parse::<u64>().ok().and_then(|tera| tera.checked_mul(1024)) {
            Some(giga) => format!("the largest suffix is g: write {giga}g"),
            None => "the largest suffix is g".into(),
        },
        _ => {
            "a number is decimal digits and perhaps k, m or g; put a word that starts with a digit in quotes"
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_show_the_number_to_write() {
        for (written, hint) in
            [("16K", "write 16k"), ("10mb", "write 10m"), ("5t", "write 5120g"), ("0x10", "decimal: 16")]
        {
            assert!(number_hint(written).contains(hint), "{written}: {}", number_hint(written));
        }
    }
}
