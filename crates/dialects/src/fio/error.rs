//! Errors in a job file or on a command line: position, message and hint. Parsers create them, the program prints them.

use std::fmt;
use std::rc::Rc;

/// Part of a line of a job file, or a word of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// File name, or "command line".
    pub source: Rc<str>,
    /// Line number from 1; on the command line, the number of the word.
    pub line: usize,
    /// Column from 1, in characters.
    pub column: usize,
    /// Length in characters; at least 1.
    pub length: usize,
    /// The whole line.
    pub text: Rc<str>,
}

impl Spot {
    /// The `length` bytes from byte `at` of line number `line`, whose text is `text`.
    #[must_use]
    pub fn new(source: &Rc<str>, line: usize, text: &Rc<str>, at: usize, length: usize) -> Self {
        let before = text.get(..at).map_or(0, |t| t.chars().count());
        let piece = text.get(at..at.saturating_add(length)).map_or(1, |t| t.chars().count());
        Self { source: source.clone(), line, column: before + 1, length: piece.max(1), text: text.clone() }
    }

    /// "FILE:LINE", for lists.
    #[must_use]
    pub fn place(&self) -> String {
        if &*self.source == COMMAND_LINE {
            COMMAND_LINE.into()
        } else {
            format!("{}:{}", self.source, self.line)
        }
    }
}

/// Used in place of a file name for words of the command line.
pub const COMMAND_LINE: &str = "command line";

/// An error that ends the program before it runs anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError {
    /// Position in a text, if there is one.
    pub spot: Option<Box<Spot>>,
    /// fio's own message, for scripts that search for it: whole lines.
    pub fio_says: String,
    /// What is wrong, without a full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl UsageError {
    /// An error at a position.
    #[must_use]
    pub fn at(spot: &Spot, message: impl Into<String>) -> Self {
        Self {
            spot: Some(Box::new(spot.clone())),
            fio_says: String::new(),
            message: message.into(),
            hint: None,
        }
    }

    /// An error without a position.
    #[must_use]
    pub fn nowhere(message: impl Into<String>) -> Self {
        Self { spot: None, fio_says: String::new(), message: message.into(), hint: None }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Adds fio's own message.
    #[must_use]
    pub fn fio(self, says: impl Into<String>) -> Self {
        Self { fio_says: says.into(), ..self }
    }
}

impl fmt::Display for UsageError {
    /// fio's message, `FILE:LINE:COLUMN: MESSAGE`, the line with carets below, and the hint; whole lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fio_says)?;
        match &self.spot {
            Some(spot) if &*spot.source == COMMAND_LINE => {
                writeln!(f, "fio: {COMMAND_LINE}: {}", self.message)?
            }
            Some(spot) => {
                writeln!(f, "fio: {}:{}:{}: {}", spot.source, spot.line, spot.column, self.message)?
            }
            None => writeln!(f, "fio: {}", self.message)?,
        }
        if let Some(spot) = &self.spot {
            // Tabs are kept so that the caret is aligned with its character.
            let indent: String = spot
                .text
                .chars()
                .take(spot.column.saturating_sub(1))
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            writeln!(f, "  {}\n  {indent}{}", spot.text, "^".repeat(spot.length))?;
        }
        match &self.hint {
            Some(hint) => writeln!(f, "hint: {hint}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_carets_stand_below_what_is_meant() {
        let (source, text): (Rc<str>, Rc<str>) = ("j.fio".into(), "\tä=raed".into());
        let wrong = UsageError::at(&Spot::new(&source, 3, &text, 4, 4), "bad").hint("mend it");
        assert_eq!(wrong.to_string(), "fio: j.fio:3:4: bad\n  \tä=raed\n  \t  ^^^^\nhint: mend it\n");
    }

    #[test]
    fn a_piece_outside_of_its_line_does_not_panic() {
        let (source, text): (Rc<str>, Rc<str>) = ("j".into(), "ä".into());
        assert_eq!(Spot::new(&source, 1, &text, 1, 9).length, 1);
        assert_eq!(Spot::new(&source, 1, &text, 99, 1).column, 1);
    }
}
