//! Helpers shared by the texts of all tables.

use std::fmt::{Formatter, Result};

/// Writes a paragraph with a leading dash, at most 100 columns wide.
///
/// # Errors
/// Those of the formatter.
pub fn wrapped(f: &mut Formatter<'_>, text: &str) -> Result {
    const COLUMNS: usize = 96;
    let mut line = String::from("-");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > COLUMNS {
            writeln!(f, "  {line}")?;
            line = " ".into();
        }
        line.push(' ');
        line.push_str(word);
    }
    writeln!(f, "  {line}")
}
