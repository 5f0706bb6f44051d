//! Splits a script into tokens by the rules of Filebench 1.5, extended by the older language's arithmetic signs and words
//! continuing after a variable. Never fails: like 1.5, it skips and reports what it does not recognise.

mod names;
mod strings;

use super::ast::INTEGER_MAX;
use super::span::Span;
use super::token::{Token, TokenKind, is_keyword};

/// A warning before its line and column are known.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub span: Span,
    pub message: String,
    pub hint: Option<String>,
}

/// Tokens, ending with [`TokenKind::End`], and the findings.
pub(super) struct Lexed {
    pub tokens: Vec<Token>,
    pub errors: Vec<Finding>,
    pub warnings: Vec<Finding>,
    /// Skipped characters.
    pub illegal: Vec<(Span, char)>,
}

pub(super) fn lex(text: &str) -> Lexed {
    let mut lexer = Lexer {
        text,
        at: 0,
        out: Lexed { tokens: Vec::new(), errors: Vec::new(), warnings: Vec::new(), illegal: Vec::new() },
    };
    while lexer.token() {}
    lexer.push(text.len(), TokenKind::End);
    lexer.out
}

/// Characters allowed in a bare word after the first.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | ':' | ';')
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    out: Lexed,
}

impl Lexer<'_> {
    /// Reads one token or skips a character; false at the end.
    fn token(&mut self) -> bool {
        let Some(first) = self.rest().chars().next() else { return false };
        let start = self.at;
        if self.tail() {
            return true;
        }
        match first {
            ' ' | '\t' | '\n' => self.at += 1,
            '#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
            '"' => self.quoted(),
            '$' => {
                let variable = self.variable();
                self.push(start, TokenKind::Variable(variable));
            }
            '=' | ',' | '{' | '}' | '(' | ')' | '+' | '*' => {
                self.at += 1;
                self.push(start, TokenKind::Sign(first));
            }
            '0'..='9' => self.integer(),
            'a'..='z' | 'A'..='Z' | '/' | '-' => self.word(),
            other => {
                self.at += other.len_utf8();
                self.out.illegal.push((Span::new(start, self.at), other));
            }
        }
        true
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn push(&mut self, start: usize, kind: TokenKind) {
        self.out.tokens.push(Token { kind, span: Span::new(start, self.at) });
    }

    /// Length of the run of characters for which `belongs` is true.
    fn run_length(&self, belongs: impl Fn(char) -> bool) -> usize {
        self.rest().find(|c| !belongs(c)).unwrap_or(self.rest().len())
    }

    /// Text directly after a variable. Without a letter, digit, slash or dash (`$ab;`) it is not a word: 1.5 skips it.
    fn tail(&mut self) -> bool {
        let start = self.at;
        let after_variable = self
            .out
            .tokens
            .last()
            .is_some_and(|token| matches!(token.kind, TokenKind::Variable(_)) && token.span.end == start);
        if !after_variable || self.rest().starts_with(';') {
            return false;
        }
        let length = self.run_length(is_word_char);
        let tail = &self.rest()[..length];
        if !tail.contains(|c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-')) {
            return false;
        }
        self.at += length;
        self.push(start, TokenKind::Tail);
        true
    }

    fn word(&mut self) {
        let start = self.at;
        self.at += self.run_length(is_word_char);
        let word = &self.text[start..self.at];
        let kind = match word.strip_prefix('-') {
            Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
                let magnitude = digits.parse::<i64>();
                if magnitude.is_err() {
                    self.clamped(start);
                }
                TokenKind::Negative(-magnitude.unwrap_or(i64::MAX))
            }
            _ if is_keyword(word) => TokenKind::Keyword,
            _ => TokenKind::Word,
        };
        self.push(start, kind);
    }

    fn clamped(&mut self, start: usize) {
        self.out.warnings.push(Finding {
            span: Span::new(start, self.at),
            message: format!("the number is larger than 2^63-1; {INTEGER_MAX} is used, as Filebench does"),
            hint: None,
        });
    }

    fn integer(&mut self) {
        let start = self.at;
        self.at += self.run_length(|c| c.is_ascii_digit());
        let digits = &self.text[start..self.at];
        let parsed = digits.parse::<u64>().ok().filter(|value| *value <= INTEGER_MAX);
        let factor = match self.rest().as_bytes().first() {
            Some(b'k') => 1_u64 << 10,
            Some(b'm') => 1 << 20,
            Some(b'g') => 1 << 30,
            _ => 1,
        };
        if factor > 1 {
            self.at += 1;
        }
        let span = Span::new(start, self.at);
        let product = parsed.unwrap_or(INTEGER_MAX).checked_mul(factor).filter(|value| *value <= INTEGER_MAX);
        if product.is_none() {
            self.out.errors.push(Finding {
                span,
                message: "the number is larger than 2^63-1 once its suffix is multiplied in".into(),
                hint: Some(
                    "Filebench 1.5 would silently use what is left of it; write a smaller number".into(),
                ),
            });
        } else if parsed.is_none() {
            self.clamped(start);
        }
        self.push(start, TokenKind::Integer(product.unwrap_or(INTEGER_MAX)));
    }
}

#[cfg(test)]
mod tests;
