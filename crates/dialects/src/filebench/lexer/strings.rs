//! Quoted strings, split into the pieces of which Filebench 1.5 makes a token each. Its treatment of escapes and backslashes was
//! determined by experiment.

use super::names::is_name_char;
use super::{Finding, Lexer};
use crate::filebench::ast::Piece;
use crate::filebench::span::Span;
use crate::filebench::token::{Quoted, TokenKind, is_keyword};

impl Lexer<'_> {
    pub(super) fn quoted(&mut self) {
        let start = self.at;
        self.at += 1;
        let mut quoted = Quoted::default();
        loop {
            match self.rest().chars().next() {
                None => {
                    let line =
                        self.text[start..].find('\n').map_or(self.text.len(), |newline| start + newline);
                    self.out.errors.push(Finding {
                        span: Span::new(start, line),
                        message: "the string that starts here is never closed".into(),
                        hint: Some("close it with '\"'".into()),
                    });
                    break;
                }
                Some('"') => {
                    self.at += 1;
                    break;
                }
                Some(_) => self.piece(&mut quoted),
            }
        }
        self.push(start, TokenKind::Quoted(quoted));
    }

    /// Reads one piece, which is a token in 1.5.
    fn piece(&mut self, quoted: &mut Quoted) {
        let start = self.at;
        let rest = self.rest();
        if rest.starts_with("\\n") {
            self.at += 2;
            quoted.pieces.push(Piece::Literal("\n".into()));
        } else if let Some(escaped) = rest.strip_prefix("\\$") {
            let length = escaped.find(['$', '"', '\\']).unwrap_or(escaped.len());
            quoted.pieces.push(Piece::Literal(format!("${}", &escaped[..length])));
            self.at += 2 + length;
        } else if rest.starts_with('$') {
            self.dollar(quoted);
        } else if rest.starts_with('\\') {
            self.skip(quoted);
        } else {
            let run = &rest[..rest.find(['$', '"']).unwrap_or(rest.len())];
            let literal = run.trim_end_matches('\\').to_owned();
            self.at += literal.len();
            if is_keyword(&literal) {
                self.out.errors.push(Finding {
                    span: Span::new(start, self.at),
                    message: format!("'{literal}' is a keyword, which quotes do not change"),
                    hint: Some(
                        "use another word, or add to it; a blank is enough where it does not matter".into(),
                    ),
                });
            }
            quoted.pieces.push(Piece::Literal(literal));
        }
    }

    /// A dollar in a string. It is dropped unless a name follows; `$a` is an error, as it would change a path.
    fn dollar(&mut self, quoted: &mut Quoted) {
        let start = self.at;
        let named = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic());
        let rest = &self.rest()[1..];
        let (inside, close) = match rest.chars().next() {
            Some('{') => (&rest[1..], Some('}')),
            Some('(') => (&rest[1..], Some(')')),
            _ => (rest, None),
        };
        if !named(inside) {
            self.skip(quoted);
            return;
        }
        if let Some(close) = close {
            let length = inside.find(|c: char| !is_name_char(c)).unwrap_or(inside.len());
            if !inside[length..].starts_with(close) {
                // `$(ls /x)` is meant for the shell: in 1.5 an unknown variable, which expands to its own text.
                self.at += 2 + length;
                quoted.pieces.push(Piece::Literal(self.text[start..self.at].to_owned()));
                return;
            }
        }
        let variable = self.variable();
        quoted.pieces.push(Piece::Variable(variable));
    }

    fn skip(&mut self, quoted: &mut Quoted) {
        quoted.skipped.push(Span::new(self.at, self.at + 1));
        self.at += 1;
    }
}
