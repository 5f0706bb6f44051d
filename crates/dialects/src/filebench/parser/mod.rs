//! Recursive-descent parser. After an error it resumes at the nearest attribute, flowop or command, so that one pass finds most errors;
//! a script with errors must not be run. Names are not resolved and values not converted here.

mod attributes;
mod command;
mod define;
mod entities;
mod older;
mod recover;
mod set_value;
mod unexpected;
mod values;

use super::ast::Script;
use super::diagnostic::{Diagnostic, Severity};
use super::lexer::{Finding, lex};
use super::span::Span;
use super::token::{Token, TokenKind};
use std::collections::BTreeMap;

/// Parsing stops after this many errors.
const ERRORS_MAX: usize = 20;

/// A parsed script with its errors.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The commands. Complete only if there are no errors.
    pub script: Script,
    /// Skipped or changed text, in script order.
    pub warnings: Vec<Diagnostic>,
    /// Errors that prevent a run, in script order; at most twenty.
    pub errors: Vec<Diagnostic>,
}

/// Reads a whole script, of any version. Never fails: see [`Parsed::errors`].
#[must_use]
pub fn parse(text: &str) -> Parsed {
    let lexed = lex(text);
    let mut parser = Parser {
        text,
        tokens: lexed.tokens,
        at: 0,
        depth: 0,
        in_arithmetic: false,
        unclosed_at: None,
        errors: lexed.errors,
        warnings: lexed.warnings,
        illegal: lexed.illegal,
    };
    let script = parser.script();
    parser.report_illegal();
    let (errors, warnings) = (parser.errors, parser.warnings);
    Parsed {
        script,
        warnings: diagnostics(text, Severity::Warning, warnings),
        errors: diagnostics(text, Severity::Error, errors),
    }
}

fn diagnostics(text: &str, severity: Severity, mut findings: Vec<Finding>) -> Vec<Diagnostic> {
    findings.sort_by_key(|finding| finding.span.start);
    // The lexer and the parser may report the same error: keep the first, which is more specific.
    findings.dedup_by_key(|finding| finding.span.start);
    findings
        .into_iter()
        .take(ERRORS_MAX)
        .map(|f| Diagnostic::new(severity, text, f.span, f.message, f.hint))
        .collect()
}

/// An error has been reported; the caller recovers.
struct Failed;

type Result<T> = std::result::Result<T, Failed>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    /// Nesting depth of `foreach`.
    depth: usize,
    /// Whether the value of a `set` is being parsed.
    in_arithmetic: bool,
    /// The token at which a body was last found unclosed.
    unclosed_at: Option<usize>,
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
    illegal: Vec<(Span, char)>,
}

impl Parser<'_> {
    /// The next token. `+` and `*` are illegal characters outside of arithmetic, as in 1.5.
    fn peek(&mut self) -> &TokenKind {
        while !self.in_arithmetic
            && let TokenKind::Sign(sign @ ('+' | '*')) = self.tokens[self.at].kind
        {
            self.illegal.push((self.tokens[self.at].span, sign));
            self.at += 1;
        }
        &self.tokens[self.at].kind
    }

    fn peek_second(&mut self) -> &TokenKind {
        self.peek();
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind
    }

    fn span(&mut self) -> Span {
        self.peek();
        self.tokens[self.at].span
    }

    fn word(&mut self) -> &str {
        let span = self.span();
        &self.text[span.range()]
    }

    /// Consumes the next token, but not the end.
    fn advance(&mut self) -> Span {
        let span = self.span();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        span
    }

    /// The span from `start` to the last consumed token.
    fn span_from(&self, start: Span) -> Span {
        let last = self.at.checked_sub(1).map_or(start, |last| self.tokens[last].span);
        start.to(last)
    }

    /// Whether the next token directly follows the previous one.
    fn is_glued(&mut self) -> bool {
        let span = self.span();
        self.at > 0 && self.tokens[self.at - 1].span.end == span.start
    }

    fn is_sign(&mut self, sign: char) -> bool {
        *self.peek() == TokenKind::Sign(sign)
    }

    fn eat_sign(&mut self, sign: char) -> bool {
        let eaten = self.is_sign(sign);
        if eaten {
            self.advance();
        }
        eaten
    }

    fn expect_sign(&mut self, sign: char, after: &str) -> Result<()> {
        if self.eat_sign(sign) {
            return Ok(());
        }
        Err(self.unexpected(&format!("'{sign}' {after}")))
    }

    fn is_keyword(&mut self, keyword: &str) -> bool {
        *self.peek() == TokenKind::Keyword && self.word() == keyword
    }

    fn eat_keyword(&mut self, keyword: &str) -> bool {
        let eaten = self.is_keyword(keyword);
        if eaten {
            self.advance();
        }
        eaten
    }

    fn error(&mut self, span: Span, message: impl Into<String>, hint: Option<String>) -> Failed {
        self.errors.push(Finding { span, message: message.into(), hint });
        Failed
    }

    /// Whether there are too many errors to continue.
    fn is_hopeless(&self) -> bool {
        self.errors.len() >= ERRORS_MAX
    }

    /// Reports each kind of illegal character once.
    fn report_illegal(&mut self) {
        let mut kinds: BTreeMap<char, (Span, usize)> = BTreeMap::new();
        for (span, c) in std::mem::take(&mut self.illegal) {
            kinds.entry(c).or_insert((span, 0)).1 += 1;
        }
        for (c, (span, count)) in kinds {
            let what =
                if c == '\r' { "a carriage return".to_owned() } else { format!("the character {c:?}") };
            let more = if count == 2 {
                ", here and in one more place".to_owned()
            } else if count > 2 {
                format!(", here and in {} more places", count - 1)
            } else {
                String::new()
            };
            let hint = match c {
                '\r' => Some("the file has the line ends of another system; sed 's/\\r$//' removes them".into()),
                '\\' => Some("'\\$' is a dollar, '\\n' where a piece of the string starts a new line; there is no '\\\"'".into()),
                '$' => Some("write \\$ for a dollar".into()),
                _ => None,
            };
            self.warnings.push(Finding {
                span,
                message: format!("{what} means nothing here and is skipped{more}"),
                hint,
            });
        }
    }
}
