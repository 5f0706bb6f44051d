//! Values of `set $x=`: a plain value, a random or custom variable, or one operation of the older language. The lexer does not know
//! arithmetic: it treats a minus or slash as the start of a word, which is split into operator and operand here.

use super::entities::Entity;
use super::{Parser, Result};
use crate::filebench::ast::{Number, Operator, Piece, Value, integer};
use crate::filebench::span::{Span, Spanned};
use crate::filebench::token::TokenKind;

impl Parser<'_> {
    /// Parses the right-hand side of `set $x=`.
    pub(super) fn set_value(&mut self) -> Result<Spanned<Value>> {
        let start = self.span();
        if (self.is_keyword("randvar") || self.is_keyword("cvar")) && !self.is_joined_to_variable() {
            let random = self.is_keyword("randvar");
            let (entity, after) =
                if random { (Entity::RandVar, "after 'randvar'") } else { (Entity::CVar, "after 'cvar'") };
            self.advance();
            self.expect_sign('(', after)?;
            let (attributes, _) = self.attributes(entity)?;
            self.expect_sign(')', "after the attributes")?;
            let value = if random { Value::RandVar(attributes) } else { Value::CVar(attributes) };
            return Ok(Spanned::new(value, self.span_from(start)));
        }
        self.in_arithmetic = true;
        let value = self.value().and_then(|left| self.arithmetic(start, left));
        self.in_arithmetic = false;
        value
    }

    /// `VALUE`, or `VALUE OPERATOR VALUE`.
    fn arithmetic(&mut self, start: Span, left: Spanned<Value>) -> Result<Spanned<Value>> {
        // `$a/ 2` and `$a- 2`: the apparent joined word is the left operand.
        if let Value::Joined(pieces) = &left.node
            && let [Piece::Variable(variable), Piece::Literal(sign)] = pieces.as_slice()
            && matches!(sign.as_str(), "/" | "-")
            && matches!(self.tokens[self.at].kind, TokenKind::Integer(_) | TokenKind::Variable(_))
        {
            let operator = if sign == "/" { Operator::Divide } else { Operator::Subtract };
            let variable = Number::Variable(variable.clone());
            let right = self.number("a number or a variable after the sign")?.node;
            return self.operation(start, variable, operator, right);
        }
        let sign_span = self.tokens[self.at].span;
        let Some((operator, right)) = self.operator() else { return Ok(left) };
        let left = match left.node {
            Value::Integer(value) => Number::Integer(value),
            Value::Variable(variable) => Number::Variable(variable),
            _ => {
                let hint =
                    "arithmetic works on numbers and variables only; quote a word that contains this sign"
                        .to_owned();
                let sign = operator.sign();
                return Err(self.error(
                    sign_span,
                    format!("'{sign}' needs a number or a variable on its left"),
                    Some(hint),
                ));
            }
        };
        let right = match right {
            Some(right) => right,
            None => self.number("a number or a variable after the sign")?.node,
        };
        self.operation(start, left, operator, right)
    }

    fn operation(
        &mut self,
        start: Span,
        left: Number,
        operator: Operator,
        right: Number,
    ) -> Result<Spanned<Value>> {
        let span = self.span_from(start);
        let next = self.tokens[self.at].span;
        if self.operator().is_some() {
            let hint = "compute in steps, with a variable for each".to_owned();
            return Err(self.error(next, "a set takes one operation", Some(hint)));
        }
        Ok(Spanned::new(Value::Arithmetic { left, operator, right }, span))
    }

    /// An operator, if there is one, with the operand that the lexer made part of its word (`/2`, `-2`).
    fn operator(&mut self) -> Option<(Operator, Option<Number>)> {
        let token = self.tokens[self.at].clone();
        let found = match token.kind {
            TokenKind::Sign('+') => (Operator::Add, None),
            TokenKind::Sign('*') => (Operator::Multiply, None),
            TokenKind::Negative(value) => (Operator::Subtract, Some(Number::Integer(value.unsigned_abs()))),
            TokenKind::Word => {
                let word = &self.text[token.span.range()];
                let operator = match word.as_bytes().first()? {
                    b'/' => Operator::Divide,
                    b'-' => Operator::Subtract,
                    _ => return None,
                };
                match &word[1..] {
                    "" => (operator, None),
                    number => (operator, Some(Number::Integer(integer(number)?))),
                }
            }
            _ => return None,
        };
        self.at += 1;
        Some(found)
    }
}
