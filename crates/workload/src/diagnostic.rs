//! An error in a text written by a user: where it is, what was expected and what to do. Parsers create diagnostics; the program renders
//! them. No parser prints.

use std::fmt;
use std::ops::Range;

/// An error with its location in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Byte range in the source, if known.
    pub span: Option<Range<usize>>,
    /// The error, as a sentence without a full stop.
    pub message: String,
    /// How to fix it, if known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// 1-based line and column (in characters) of the start of the span in `source`.
    #[must_use]
    pub fn line_column(&self, source: &str) -> Option<(usize, usize)> {
        let start = self.span.as_ref()?.start.min(source.len());
        let before = source.get(..start)?;
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Some((before.matches('\n').count() + 1, before[line_start..].chars().count() + 1))
    }

    /// `name:line:column: message`, the source line with a caret below, and the help.
    #[must_use]
    pub fn render(&self, name: &str, source: &str) -> String {
        let mut out = match self.line_column(source) {
            Some((line, column)) => {
                let text = source.lines().nth(line - 1).unwrap_or("");
                format!(
                    "{name}:{line}:{column}: {}\n  {text}\n  {}^",
                    self.message,
                    caret_indent(text, column)
                )
            }
            None => format!("{name}: {}", self.message),
        };
        if let Some(help) = &self.help {
            out += &format!("\n  help: {help}");
        }
        out
    }
}

/// White space up to the column; tabs are kept so that the caret stays below its character.
fn caret_indent(line: &str, column: usize) -> String {
    line.chars().take(column.saturating_sub(1)).map(|c| if c == '\t' { '\t' } else { ' ' }).collect()
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_below_the_error() {
        let d = Diagnostic { span: Some(5..6), message: "bad".into(), help: Some("mend it".into()) };
        assert_eq!(d.render("f", "ab\n\tcd\n"), "f:2:3: bad\n  \tcd\n  \t ^\n  help: mend it");
    }

    #[test]
    fn a_span_past_the_end_does_not_panic() {
        let d = Diagnostic { span: Some(99..100), message: "bad".into(), help: None };
        assert!(d.render("f", "ab").starts_with("f:1:3"));
    }
}
