//! Positions in a profile's text (name, line and column) for errors.

use fathom_workload::Diagnostic;
use std::ops::Range;

/// "file:line:column", or only the name where the position is unknown.
pub(crate) fn place(name: &str, text: &str, span: Option<Range<usize>>) -> String {
    match (Diagnostic { span, message: String::new(), help: None }).line_column(text) {
        Some((line, column)) => format!("{name}:{line}:{column}"),
        None => name.to_string(),
    }
}

/// Position of a key, with its tables, as in `geometry.heads`; for an array of tables with the index: `zone.1.mb_s`.
pub(crate) fn of_key(text: &str, key: &str) -> Option<Range<usize>> {
    let (table, key) = key.rsplit_once('.').unwrap_or(("", key));
    let numbered = table.rsplit_once('.').and_then(|(table, n)| Some((table, n.parse::<usize>().ok()?)));
    let (table, number) = numbered.unwrap_or((table, 0));
    let (mut inside, mut before) = (table.is_empty(), 0);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        if let Some(header) = words.strip_prefix('[') {
            let name = header.trim_start_matches('[').split(']').next().unwrap_or_default().trim();
            inside = name == table && before == number;
            before += usize::from(name == table);
        } else if inside && words.split(['=', ' ']).next() == Some(key) {
            return Some(at..at + line.len());
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_in_its_table() {
        let text = "kind = 1\n[a] # first\nkind = 2\n[[b]]\nkind = 3\n[[b]]\nkind = 4\n";
        let line = |key: &str| place("x.toml", text, of_key(text, key));
        assert_eq!(line("kind"), "x.toml:1:1");
        assert_eq!(line("a.kind"), "x.toml:3:1");
        assert_eq!(line("b.kind"), "x.toml:5:1");
        assert_eq!(line("b.1.kind"), "x.toml:7:1");
        assert_eq!(line("c.kind"), "x.toml");
    }
}
