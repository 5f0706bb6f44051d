//! Source files that no `mod` names are never compiled, so their rules and tests silently do not run.

use super::{Finding, Tree};

/// Checks every source file of a crate.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.with_end(".rs").filter_map(|file| orphan(tree, &file.path)).collect()
}

fn orphan(tree: &Tree, path: &str) -> Option<Finding> {
    let (dir, name) = path.strip_suffix("/mod.rs").unwrap_or(path.strip_suffix(".rs")?).rsplit_once('/')?;
    let below_source = format!("{dir}/").contains("/src/") && !dir.ends_with("/bin");
    if !below_source || matches!(name, "lib" | "main" | "src" | "bin") {
        return None;
    }
    let (as_module, as_path) = (format!("mod {name};"), format!("#[path = \"{name}.rs\"]"));
    let parents = [format!("{dir}.rs"), format!("{dir}/")];
    // A module may be named by its directory's own file, and a `#[path]` by any of its neighbours.
    let near = tree.with_end(".rs").filter(|file| {
        file.path != path && (file.path == parents[0] || is_directly_in(&file.path, &parents[1]))
    });
    let named = near.into_iter().any(|file| file.text.contains(&as_module) || file.text.contains(&as_path));
    (!named).then(|| Finding::new(path, 0, format!("no file says `{as_module}`, so it is never compiled")))
}

fn is_directly_in(path: &str, dir: &str) -> bool {
    path.strip_prefix(dir).is_some_and(|name| !name.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    #[test]
    fn files_that_no_module_names_are_found() {
        let files = [
            ("crates/a/src/lib.rs", "mod one;\npub mod two;\nmod three;\n"),
            ("crates/a/src/one.rs", "mod deep;\n"),
            ("crates/a/src/one/deep.rs", "#[path = \"deep_tests.rs\"]\nmod tests;\n"),
            ("crates/a/src/one/deep_tests.rs", ""),
            ("crates/a/src/two/mod.rs", "mod inner;\n"),
            ("crates/a/src/two/inner.rs", ""),
            ("crates/a/src/two/lost.rs", ""),
            ("crates/a/src/three.rs", ""),
            ("crates/a/src/forgotten/mod.rs", ""),
            ("crates/a/src/bin/tool.rs", ""),
            ("crates/a/tests/main.rs", ""),
        ];
        let found: Vec<String> = check(&tree(&files)).into_iter().map(|finding| finding.path).collect();
        assert_eq!(found, ["crates/a/src/two/lost.rs", "crates/a/src/forgotten/mod.rs"]);
    }
}
