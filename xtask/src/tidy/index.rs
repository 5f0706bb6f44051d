//! The index of the pages: docs/README.md names every page and format of docs/, so that a reader finds all of them from one place.

use super::text::links;
use super::{Finding, Tree};

/// The index.
const INDEX: &str = "docs/README.md";

/// Checks that every page is linked from the index.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let linked = tree.files.iter().find(|file| file.path == INDEX).map(links).unwrap_or_default();
    let pages = tree.files.iter().map(|file| file.path.as_str());
    pages
        .filter(|path| path.starts_with("docs/") && *path != INDEX)
        .filter(|path| !linked.iter().any(|link| link == path))
        .map(|path| {
            Finding::new(path, 1, format!("{INDEX} does not name this page; add a line for it there"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, tree};
    use super::*;

    #[test]
    fn a_page_that_the_index_does_not_name_is_found() {
        let index = "* [a](a.md#part): text\n* [b](formats/b.md)\n```\n[c](c.md)\n```\n";
        let files = [
            (INDEX, index),
            ("docs/a.md", ""),
            ("docs/formats/b.md", ""),
            ("docs/c.md", ""),
            ("docs/formats/d.json", "{}"),
            ("README.md", ""),
        ];
        assert_eq!(places(&check(&tree(&files))), ["docs/c.md:1", "docs/formats/d.json:1"]);
        assert_eq!(places(&check(&tree(&files[1..2]))), ["docs/a.md:1"]);
    }
}
