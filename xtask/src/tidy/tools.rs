//! The programs tests ask for against the page that tells users what they need: a test that skips for want of a program nobody
//! ever named is a test that never runs.

use super::{File, Finding, Tree};

/// The page.
const PAGE: &str = "docs/testing.md";

/// What asks.
const CALL: &str = "need_tool(";

/// Checks the calls that name their program; the testkit asks for some by the kind of file system.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let page = tree.with_end(PAGE).find(|f| f.path == PAGE).map_or("", |f| f.text.as_str());
    let listed = |tool: &str| page.contains(&format!("`{tool}`"));
    let files = tree.with_end(".rs").filter(|f| f.path.starts_with("crates/"));
    files
        .flat_map(|f| asked(f).into_iter().map(move |(line, tool)| (f, line, tool)))
        .filter(|(_, _, tool)| !listed(tool))
        .map(|(f, line, tool)| {
            let what = format!(
                "a test needs `{tool}`, which is not in the table of {PAGE}; add what skips without it"
            );
            Finding::new(&f.path, line, what)
        })
        .collect()
}

/// The programs that a file asks for by name, with the line of each.
fn asked(file: &File) -> Vec<(usize, &str)> {
    let code = file.code();
    let calls = code.code.match_indices(CALL).filter_map(|(start, _)| {
        let open = start + CALL.len() - 1;
        let arguments = file.text.get(open + 1..code.closing(open)?)?;
        let last = arguments.trim_end_matches([',', ' ', '\n']).rsplit(',').next()?;
        let tool = last.trim().strip_prefix('"')?.strip_suffix('"')?;
        Some((code.line_at(start), tool))
    });
    calls.collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, tree};
    use super::*;

    #[test]
    fn a_program_that_the_page_does_not_name_is_found() {
        let text = "//! need_tool(test, \"no code\")\nif !need_tool(test, \"strace\") {}\n\
                    let x = need_tool(\n    \"a, b\",\n    \"blkparse\",\n) && need_tool(test, kind.maker());\n";
        let found = |page: &str| check(&tree(&[("crates/a/tests/b.rs", text), (PAGE, page)]));
        assert_eq!(places(&found("| `strace` | `blkparse` |")), Vec::<String>::new());
        assert_eq!(places(&found("| `strace` | blkparse |")), ["crates/a/tests/b.rs:3"]);
        assert!(found("`strace`")[0].to_string().contains("`blkparse`"), "{:?}", found("`strace`"));
        assert_eq!(places(&found("")).len(), 2);
    }
}
