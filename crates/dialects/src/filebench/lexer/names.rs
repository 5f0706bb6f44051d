//! Variable names, inside and outside of strings. A malformed one is reported and read as far as possible, so that the rest of
//! the line can still be checked.

use super::{Finding, Lexer};
use crate::filebench::ast::{Variable, VariableForm};
use crate::filebench::span::Span;

/// Characters of a bracketed name; names with a dot are internal variables of the older language.
pub(super) fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.')
}

impl Lexer<'_> {
    /// Reads a variable; positioned at `$`. A malformed one is reported and read as far as possible.
    pub(super) fn variable(&mut self) -> Variable {
        let start = self.at;
        self.at += 1;
        match self.rest().chars().next() {
            Some('{') => self.bracketed(start, '}', VariableForm::Braced),
            Some('(') => self.bracketed(start, ')', VariableForm::Parenthesised),
            _ => self.plain(start),
        }
    }

    fn plain(&mut self, start: usize) -> Variable {
        let length = self.run_length(|c| c.is_ascii_alphanumeric() || c == '_');
        let name = self.rest()[..length].trim_end_matches('_').to_owned();
        self.at += name.len();
        let fault = if name.is_empty() {
            Some("a '$' without a name")
        } else if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            Some("a variable's name starts with a letter")
        } else if name.len() < 2 {
            Some("a variable's name has at least two characters")
        } else {
            None
        };
        if let Some(fault) = fault {
            let hint = (name.len() == 1 && !fault.ends_with("letter"))
                .then(|| "give the variable a longer name; for the sign itself write \\$ in a string".into());
            self.out.errors.push(Finding { span: Span::new(start, self.at), message: fault.into(), hint });
        }
        Variable { form: VariableForm::Plain, name }
    }

    fn bracketed(&mut self, start: usize, close: char, form: VariableForm) -> Variable {
        self.at += 1;
        let length = self.run_length(is_name_char);
        let name = self.rest()[..length].to_owned();
        self.at += length;
        let good = name.starts_with(|c: char| c.is_ascii_alphabetic());
        let closed = self.rest().starts_with(close);
        if closed {
            self.at += 1;
        }
        if !good || !closed {
            let message = if closed || !good {
                format!("'{}' holds no variable's name", &self.text[start..self.at])
            } else {
                format!("a '{close}' is missing after '{}'", &self.text[start..self.at])
            };
            self.out.errors.push(Finding { span: Span::new(start, self.at), message, hint: None });
        }
        Variable { form, name }
    }
}
