//! A file is named after its subject: a noun that a reader can look for.

use super::{Finding, Tree};

/// Names that do not say what is in the file.
const EMPTY: [&str; 12] = [
    "drawn", "going", "helpers", "left", "misc", "several", "stuff", "told", "util", "utils", "what",
    "worked",
];

/// Checks the names of all files of source.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let source = tree.with_end(".rs").filter(|file| file.path.contains("/src/"));
    let named = source.filter_map(|file| {
        let (_, name) = file.path.trim_end_matches(".rs").trim_end_matches("/mod").rsplit_once('/')?;
        let what = format!("{name:?} does not say what is in the file; name it after its subject");
        EMPTY.contains(&name).then(|| Finding::new(&file.path, 0, what))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, tree};
    use super::*;

    #[test]
    fn files_and_directories_are_named_after_their_subject() {
        let files = [
            ("crates/a/src/told.rs", ""),
            ("crates/a/src/what/mod.rs", ""),
            ("crates/a/src/what_fails.rs", ""),
            ("crates/a/tests/several.rs", ""),
        ];
        assert_eq!(places(&check(&tree(&files))), ["crates/a/src/told.rs:0", "crates/a/src/what/mod.rs:0"]);
    }
}
