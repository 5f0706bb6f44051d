//! Values on the right of an equals sign, and the few places that accept only some kinds.

use super::entities::is_attribute;
use super::{Failed, Parser, Result};
use crate::filebench::ast::{Number, Piece, TableRow, Text, Value, Variable};
use crate::filebench::span::{Span, Spanned};
use crate::filebench::suggest::nearest;
use crate::filebench::token::{Quoted, TokenKind};

/// Values of `type` in a random variable.
const TYPES: [&str; 3] = ["uniform", "gamma", "tabular"];

/// Values of `randsrc`.
const SOURCES: [&str; 2] = ["rand48", "urandom"];

impl Parser<'_> {
    /// Any attribute value: a word, string, number, boolean or variable, or the older language's joined word.
    pub(super) fn value(&mut self) -> Result<Spanned<Value>> {
        let start = self.span();
        let token = self.peek().clone();
        let second_is_glued_variable = self.is_joined_to_variable();
        let value = match token {
            TokenKind::Quoted(quoted) => {
                self.advance();
                Value::Quoted(self.quoted_value(start, quoted)?)
            }
            TokenKind::Variable(variable) => {
                self.advance();
                self.joined(vec![Piece::Variable(variable)])
            }
            TokenKind::Word | TokenKind::Keyword | TokenKind::Integer(_) | TokenKind::Negative(_)
                if second_is_glued_variable =>
            {
                let word = self.word().to_owned();
                let span = self.advance();
                // Digits that are part of a word have no size limit.
                self.warnings.retain(|finding| finding.span != span);
                self.errors.retain(|finding| finding.span != span);
                self.joined(vec![Piece::Literal(word)])
            }
            TokenKind::Word => {
                let word = self.word().to_owned();
                self.advance();
                Value::Word(word)
            }
            TokenKind::Integer(value) => {
                self.advance();
                self.whole_number()?;
                Value::Integer(value)
            }
            TokenKind::Keyword => match self.word() {
                "true" => self.constant(Value::Boolean(true)),
                "false" => self.constant(Value::Boolean(false)),
                _ => return Err(self.keyword_as_value()),
            },
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Spanned::new(value, self.span_from(start)))
    }

    fn constant(&mut self, value: Value) -> Value {
        self.advance();
        value
    }

    /// Checks that no word directly follows a number.
    pub(super) fn whole_number(&mut self) -> Result<()> {
        // `60quit` is a number and a command.
        if self.is_glued() && *self.peek() == TokenKind::Keyword {
            return Ok(());
        }
        self.broken_number().map_or(Ok(()), Err)
    }

    /// Whether a variable directly follows the next token.
    pub(super) fn is_joined_to_variable(&mut self) -> bool {
        let end = self.span().end;
        let next = &self.tokens[(self.at + 1).min(self.tokens.len() - 1)];
        next.span.start == end && matches!(next.kind, TokenKind::Variable(_))
    }

    /// Reads adjacent words and variables.
    fn joined(&mut self, mut pieces: Vec<Piece>) -> Value {
        loop {
            if !self.is_glued() {
                break;
            }
            match self.peek().clone() {
                TokenKind::Variable(variable) => pieces.push(Piece::Variable(variable)),
                TokenKind::Tail => {
                    let tail = self.word().to_owned();
                    pieces.push(Piece::Literal(tail));
                }
                _ => break,
            }
            self.advance();
        }
        match pieces.as_slice() {
            [Piece::Variable(variable)] => Value::Variable(variable.clone()),
            _ => Value::Joined(pieces),
        }
    }

    fn keyword_as_value(&mut self) -> Failed {
        let span = self.span();
        let word = self.word().to_owned();
        let hint = if is_attribute(&word) && *self.peek_second() == TokenKind::Sign('=') {
            "the value is missing before it, or the name is written twice".into()
        } else {
            format!("take another word, as in '{word}1'; quotes do not help")
        };
        self.advance();
        self.error(span, format!("the keyword '{word}' cannot be a value"), Some(hint))
    }

    /// A string as a value: one literal in 1.5, literals and variables in the older language.
    fn quoted_value(&mut self, span: Span, quoted: Quoted) -> Result<Text> {
        if let Some(skipped) = quoted.skipped.first() {
            let sign = &self.text[skipped.range()];
            let hint = "in a value, '\\$' is a literal dollar sign, only at the start of the string";
            return Err(self.error(*skipped, format!("'{sign}' means nothing here"), Some(hint.into())));
        }
        if quoted.pieces.is_empty() {
            let hint = "leave the attribute out if it has no value".to_owned();
            return Err(self.error(span, "the string is empty", Some(hint)));
        }
        let literal = |piece: &Piece| matches!(piece, Piece::Literal(_));
        if quoted.pieces.windows(2).any(|pair| pair.iter().all(literal)) {
            let hint = "in a value '\\$' and '\\n' are allowed only at the start of the string".to_owned();
            return Err(self.error(span, "the string is cut in two by an escape", Some(hint)));
        }
        Ok(Text { pieces: quoted.pieces })
    }

    /// The text of `echo` and similar commands: any number of strings, which are concatenated.
    pub(super) fn text(&mut self, command: &str) -> Result<Spanned<Text>> {
        let start = self.span();
        let mut pieces: Vec<Piece> = Vec::new();
        let mut strings = 0;
        while let TokenKind::Quoted(quoted) = self.peek().clone() {
            self.advance();
            strings += 1;
            for span in quoted.skipped {
                let sign = self.text[span.range()].chars().next().unwrap_or('$');
                self.illegal.push((span, sign));
            }
            for piece in quoted.pieces {
                match (pieces.last_mut(), piece) {
                    (Some(Piece::Literal(last)), Piece::Literal(more)) => last.push_str(&more),
                    (_, piece) => pieces.push(piece),
                }
            }
        }
        if strings == 0 {
            return Err(self.unexpected(&format!("a string in quotes after '{command}'")));
        }
        let span = self.span_from(start);
        if pieces.is_empty() {
            return Err(self.error(
                span,
                "the string is empty",
                Some(format!("for an empty line write {command} \" \"")),
            ));
        }
        Ok(Spanned::new(Text { pieces }, span))
    }

    /// A number or a variable.
    pub(super) fn number(&mut self, expected: &str) -> Result<Spanned<Number>> {
        let span = self.span();
        match self.peek().clone() {
            TokenKind::Integer(value) => {
                self.advance();
                self.whole_number()?;
                Ok(Spanned::new(Number::Integer(value), span))
            }
            TokenKind::Variable(variable) => {
                self.advance();
                Ok(Spanned::new(Number::Variable(variable), span))
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// A plain variable.
    pub(super) fn variable(&mut self, expected: &str) -> Result<Spanned<Variable>> {
        let span = self.span();
        match self.peek().clone() {
            TokenKind::Variable(variable) => {
                self.advance();
                Ok(Spanned::new(variable, span))
            }
            TokenKind::Word | TokenKind::Keyword => {
                let word = self.word().to_owned();
                let hint = Some(format!("a variable starts with a dollar: ${word}"));
                Err(self.error(span, format!("expected {expected}, found '{word}'"), hint))
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// A value of `type` or `randsrc` in a random variable; both have separate keywords.
    pub(super) fn choice(&mut self, attribute: &str) -> Result<Spanned<Value>> {
        let choices: &[&str] = if attribute == "type" { &TYPES } else { &SOURCES };
        let span = self.span();
        let word = self.word().to_owned();
        if choices.contains(&word.as_str()) {
            self.advance();
            return Ok(Spanned::new(Value::Word(word), span));
        }
        let hint = nearest(&word, choices.iter().copied()).map(|near| format!("did you mean '{near}'?"));
        let found = self.found();
        let message =
            format!("'{attribute}' of a random variable is one of {}, not {found}", choices.join(", "));
        Err(self.error(span, message, hint))
    }

    /// `{{percent, low, high}, ...}`
    pub(super) fn table(&mut self) -> Result<Spanned<Value>> {
        let start = self.span();
        self.expect_sign('{', "before the rows of the table")?;
        let mut rows = Vec::new();
        loop {
            let row_start = self.span();
            self.expect_sign('{', "before a row of the table")?;
            let percent = self.number("the percentage of the row")?;
            self.expect_sign(',', "after the percentage")?;
            let low = self.number("the smallest value of the row")?;
            self.expect_sign(',', "after the smallest value")?;
            let high = self.number("the largest value of the row")?;
            self.expect_sign('}', "after the three numbers of a row")?;
            rows.push(Spanned::new(TableRow { percent, low, high }, self.span_from(row_start)));
            if self.is_sign('{') {
                let span = self.span();
                self.error(span, "a comma is missing between two rows", None);
            } else if !self.eat_sign(',') {
                break;
            }
        }
        self.expect_sign('}', "after the rows of the table")?;
        Ok(Spanned::new(Value::Table(rows), self.span_from(start)))
    }
}
