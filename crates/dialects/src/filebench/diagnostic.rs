//! Errors and warnings about a script: position, message and hint. The parser creates them, the program renders them; nothing prints here.
//! Unlike [`fathom_workload::Diagnostic`] they have a severity and cover the whole token, not its first character.

use super::span::Span;
use std::fmt;

/// Whether the script can still run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The script cannot run.
    Error,
    /// The script can run; Filebench itself ignores this.
    Warning,
}

/// An error or warning at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether the script can still run.
    pub severity: Severity,
    /// Line, from 1.
    pub line: usize,
    /// Column of the first character, from 1.
    pub column: usize,
    /// Length in characters within that line; at least 1.
    pub length: usize,
    /// What is wrong, without a full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A diagnostic for `span` of `text`.
    #[must_use]
    pub fn new(severity: Severity, text: &str, span: Span, message: String, hint: Option<String>) -> Self {
        let start = floor_char(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let end = floor_char(text, span.end.clamp(start, line_end.max(start)));
        Self {
            severity,
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            length: text[start..end].chars().count().max(1),
            message,
            hint,
        }
    }

    /// `FILE:LINE:COLUMN: error: MESSAGE`, the line with carets below, and the hint. `text` is the script.
    #[must_use]
    pub fn render(&self, file: &str, text: &str) -> String {
        let line = text.split('\n').nth(self.line.saturating_sub(1)).unwrap_or("").trim_end_matches('\r');
        // Tabs are kept so that the caret is aligned with its character.
        let indent: String = line
            .chars()
            .take(self.column.saturating_sub(1))
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        let mut out = format!("{file}:{self}\n  {line}\n  {indent}{}\n", "^".repeat(self.length));
        if let Some(hint) = &self.hint {
            out += &format!("hint: {hint}\n");
        }
        out
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{}:{}: {severity}: {}", self.line, self.column, self.message)
    }
}

/// Rounds `at` down to a character boundary.
fn floor_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_carets_stand_below_what_is_meant() {
        let text = "set $ä1=1\n\tset $ab=size\n";
        let start = text.find("size").unwrap();
        let span = Span::new(start, start + 4);
        let d = Diagnostic::new(Severity::Error, text, span, "bad".into(), Some("mend it".into()));
        assert_eq!(
            d.render("f", text),
            "f:2:10: error: bad\n  \tset $ab=size\n  \t        ^^^^\nhint: mend it\n"
        );
    }

    #[test]
    fn a_span_over_lines_or_past_the_end_is_cut() {
        let text = "ab\ncd";
        let d =
            |start, end| Diagnostic::new(Severity::Warning, text, Span::new(start, end), String::new(), None);
        assert_eq!((d(1, 5).line, d(1, 5).column, d(1, 5).length), (1, 2, 1));
        assert_eq!((d(9, 12).line, d(9, 12).column, d(9, 12).length), (2, 3, 1));
        assert!(d(9, 12).render("f", text).ends_with("  cd\n    ^\n"));
    }
}
