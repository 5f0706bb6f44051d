//! Prints quoted strings. Any text without a `"` can be expressed, but not always in one string: there is no escape for a backslash,
//! and a string is read piece by piece (see the lexer). Where one string is not enough, `echo` and similar commands take several.

use super::value::variable;
use crate::filebench::ast::{Piece, Text, Variable, VariableForm};
use crate::filebench::token::is_keyword;

/// A string as a value, always a single one. The parser accepts only values with one-piece literals, so none needs splitting.
pub(super) fn quoted(text: &Text) -> String {
    let mut out = String::from("\"");
    for piece in &text.pieces {
        match piece {
            Piece::Variable(name) => out += &variable(name),
            Piece::Literal(literal) => {
                for atom in atoms(literal) {
                    out += &atom.written;
                }
            }
        }
    }
    out + "\""
}

/// The text of `echo` and similar commands.
pub(super) fn text(text: &Text) -> String {
    let mut strings = vec![String::new()];
    let mut after: Option<&Variable> = None;
    for piece in &text.pieces {
        match piece {
            Piece::Variable(name) => {
                append(&mut strings, &variable(name));
                after = Some(name);
            }
            Piece::Literal(literal) => {
                let name_goes_on =
                    after.is_some_and(|name| name.form == VariableForm::Plain) && continues_a_name(literal);
                for (index, atom) in atoms(literal).into_iter().enumerate() {
                    if atom.needs_string || (index == 0 && name_goes_on) {
                        strings.push(String::new());
                    }
                    match division(&atom.written) {
                        Some(at) => {
                            append(&mut strings, &atom.written[..at]);
                            strings.push(atom.written[at..].to_owned());
                        }
                        None => append(&mut strings, &atom.written),
                    }
                }
                after = None;
            }
        }
    }
    let strings: Vec<String> = strings.into_iter().map(|string| format!("\"{string}\"")).collect();
    strings.join(" ")
}

fn append(strings: &mut [String], text: &str) {
    if let Some(last) = strings.last_mut() {
        last.push_str(text);
    }
}

/// A piece as the lexer reads it.
struct Atom {
    written: String,
    /// In the same string it would merge with the preceding atom.
    needs_string: bool,
}

fn atoms(literal: &str) -> Vec<Atom> {
    let mut atoms = Vec::new();
    let mut rest = literal;
    let mut needs_string = false;
    while !rest.is_empty() {
        let mut length =
            rest.char_indices().skip(1).find(|(_, c)| *c == '$').map_or(rest.len(), |(at, _)| at);
        let mut next_needs_string = false;
        let dollar = rest.starts_with('$');
        if dollar && let Some(backslash) = rest[..length].find('\\') {
            // A dollar's piece ends at a backslash, and no piece starts with one: one more character goes with it.
            length = rest[..backslash].char_indices().next_back().map_or(backslash, |(last, _)| last.max(1));
            next_needs_string = true;
        }
        let written = match &rest[..length] {
            // A lone line end: 1.5 drops it after counting the line, but the escape keeps it.
            "\n" => "\\n".to_owned(),
            atom if dollar => format!("\\{atom}"),
            atom => atom.to_owned(),
        };
        atoms.push(Atom { written, needs_string });
        needs_string = next_needs_string;
        rest = &rest[length..];
    }
    atoms
}

/// Where to split a keyword so that neither part is one, as a keyword cannot be a whole piece.
fn division(word: &str) -> Option<usize> {
    if !is_keyword(word) {
        return None;
    }
    // Keywords are ASCII: any byte is a boundary.
    (1..word.len()).find(|at| !is_keyword(&word[..*at]) && !is_keyword(&word[*at..]))
}

/// Whether the lexer would read the start of `literal` as part of the preceding variable's name.
fn continues_a_name(literal: &str) -> bool {
    literal.trim_start_matches('_').starts_with(|c: char| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(text: &str) -> Piece {
        Piece::Literal(text.into())
    }

    #[test]
    fn what_one_string_cannot_say_two_do() {
        let printed = |pieces: Vec<Piece>| text(&Text { pieces });
        assert_eq!(printed(vec![literal("cost $5")]), r#""cost \$5""#);
        assert_eq!(printed(vec![literal("run")]), r#""r" "un""#);
        assert_eq!(printed(vec![literal("min")]), r#""mi" "n""#);
        assert_eq!(printed(vec![literal("\n")]), r#""\n""#);
        assert_eq!(printed(vec![literal("$xa\\b")]), r#""\$x" "a\b""#);
        let name = Piece::Variable(Variable::plain("ab"));
        assert_eq!(printed(vec![name.clone(), literal("_c")]), r#""$ab" "_c""#);
        assert_eq!(printed(vec![name, literal("_ c")]), r#""$ab_ c""#);
    }

    #[test]
    fn every_keyword_can_be_divided() {
        for word in crate::filebench::token::COMMANDS {
            assert!(division(word).is_some(), "{word}");
        }
    }

    #[test]
    fn a_dollar_piece_without_anything_before_its_backslash_does_not_loop() {
        assert_eq!(atoms("$\\").len(), 2);
        assert_eq!(atoms("$é\\x").len(), 2);
    }
}
