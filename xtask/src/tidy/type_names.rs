//! One name, one type: a type's name that two files of a crate define means two things to a reader who meets it in a third.
//! Tests are left out, and so are types inside functions and modules, which nobody else sees.

use super::{File, Finding, Tree};
use std::collections::BTreeMap;

/// Words that begin the definition of a type.
const KINDS: [&str; 4] = ["struct ", "enum ", "trait ", "union "];

/// Checks the types of every crate.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut first: BTreeMap<(&str, String), &str> = BTreeMap::new();
    let mut found = Vec::new();
    for file in tree.with_end(".rs") {
        let Some((name, path)) = file.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"))
        else {
            continue;
        };
        if path.contains("tests") {
            continue;
        }
        for (line, defined) in types(file) {
            match first.get(&(name, defined.clone())) {
                Some(other) => {
                    let what = format!("{other} has another type {defined}; give one of them another name");
                    found.push(Finding::new(&file.path, line, what));
                }
                None => {
                    first.insert((name, defined), &file.path);
                }
            }
        }
    }
    found
}

/// The types that a file defines at its left margin, each with its line.
fn types(file: &File) -> Vec<(usize, String)> {
    let code = &file.code().code;
    let shown = code.find("#[cfg(test)]\nmod tests").map_or(code.as_str(), |at| &code[..at]);
    let defined = shown.lines().enumerate().filter_map(|(at, line)| {
        let line = match line.strip_prefix("pub") {
            Some(rest) => {
                rest.split_once(')').filter(|_| rest.starts_with('(')).map_or(rest, |r| r.1).trim_start()
            }
            None => line,
        };
        let rest = KINDS.iter().find_map(|kind| line.strip_prefix(kind))?;
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        Some((at + 1, rest[..end].to_string()))
    });
    defined.collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, tree};
    use super::*;

    #[test]
    fn a_name_of_two_types_of_a_crate_is_found() {
        let tree = tree(&[
            ("crates/a/src/one.rs", "pub(crate) struct Row<'a> {\n}\nfn f() {\n    struct Inner;\n}\n"),
            (
                "crates/a/src/two.rs",
                "/// struct Row\nstruct Inner;\npub(in super::super) enum Row {}\n#[cfg(test)]\nmod tests {\n}\n",
            ),
            ("crates/a/src/tests/three.rs", "struct Row;\n"),
            ("crates/b/src/one.rs", "pub struct Row;\n"),
            ("crates/a/tests/main.rs", "struct Row;\n"),
        ]);
        assert_eq!(places(&check(&tree)), ["crates/a/src/two.rs:3"]);
    }
}
