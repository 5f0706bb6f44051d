//! The tests of a crate are one program, `tests/main.rs`: each program more is linked with all of fathom and costs seconds. What that file
//! and the manifest do not name is never compiled, so a test could stand in the tree and not run. Nor do tests in documentation where a crate has switched
//! them off, because it had none. Both are found here.

use super::{File, Finding, Tree};

/// Checks the tests of every crate.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found: Vec<_> = tree.with_end("/tests/main.rs").flat_map(|main| unnamed(tree, main)).collect();
    found.extend(tree.with_end("/Cargo.toml").flat_map(|manifest| undocumented(tree, manifest)));
    found
}

/// Files and folders beside a `main.rs` that neither it nor the manifest names.
fn unnamed(tree: &Tree, main: &File) -> Vec<Finding> {
    let dir = main.path.trim_end_matches("main.rs");
    let module = |path: &str| {
        let below = path.strip_prefix(dir)?;
        let module = below.strip_suffix("/mod.rs").or(below.strip_suffix(".rs"))?;
        (module != "main" && !module.contains('/')).then(|| module.to_string())
    };
    let manifest = format!("{}Cargo.toml", dir.trim_end_matches("tests/"));
    let manifest = tree.files.iter().find(|file| file.path == manifest).map_or("", |file| &file.text);
    let named = |module: &str| {
        main.text.lines().any(|line| line == format!("mod {module};"))
            || manifest.lines().any(|line| line == format!("path = \"tests/{module}.rs\""))
    };
    let modules = tree.paths.iter().filter_map(|path| Some((path, module(path)?)));
    modules
        .filter(|(_, module)| !named(module))
        .map(|(path, module)| {
            let what = format!("{} does not name it, so it never runs; add `mod {module};` there", main.path);
            Finding::new(path, 1, what)
        })
        .collect()
}

/// Tests in the documentation of a crate whose manifest says that there are none.
fn undocumented<'a>(tree: &'a Tree, manifest: &'a File) -> impl Iterator<Item = Finding> + 'a {
    let source = format!("{}src/", manifest.path.trim_end_matches("Cargo.toml"));
    let switched_off = manifest.text.lines().any(|line| line == "doctest = false");
    let files = tree.with_end(".rs").filter(move |file| switched_off && file.path.starts_with(&source));
    files.filter_map(|file| {
        let begins = |line: &str| {
            line.trim_start().trim_start_matches("///").trim_start_matches("//!").trim() == "```"
        };
        // Every second fence ends a block.
        let comment = |line: &str| line.trim_start().starts_with("//") && line.contains("```");
        let mut fences = file.text.lines().enumerate().filter(|(_, line)| comment(line)).step_by(2);
        let (at, _) = fences.find(|(_, line)| begins(line))?;
        let what = format!(
            "a test in documentation never runs: {} has `doctest = false`; take it out",
            manifest.path
        );
        Some(Finding::new(&file.path, at + 1, what))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, tree};
    use super::*;

    #[test]
    fn a_test_that_main_does_not_name_is_found() {
        let main = ("crates/x/tests/main.rs", "mod named;\nmod folder;\n");
        let manifest = ("crates/x/Cargo.toml", "[[test]]\nname = \"alone\"\npath = \"tests/alone.rs\"\n");
        let others = [
            "named.rs",
            "alone.rs",
            "folder/mod.rs",
            "folder/part.rs",
            "folder/main.rs",
            "forgotten.rs",
            "lost/mod.rs",
        ];
        let others = others.map(|name| format!("crates/x/tests/{name}"));
        let mut files = vec![main, manifest];
        files.extend(others.iter().map(|path| (path.as_str(), "")));
        assert_eq!(
            places(&check(&tree(&files))),
            ["crates/x/tests/forgotten.rs:1", "crates/x/tests/lost/mod.rs:1"]
        );
    }

    #[test]
    fn a_test_in_documentation_that_is_switched_off_is_found() {
        let off = ("crates/x/Cargo.toml", "[lib]\ndoctest = false\n");
        let text = ("crates/x/src/a.rs", "/// ```text\n/// picture\n/// ```\n");
        let test = ("crates/x/src/b.rs", "/// Says it.\n///\n/// ```\n/// let x = 1;\n/// ```\n");
        assert_eq!(places(&check(&tree(&[off, text, test]))), ["crates/x/src/b.rs:3"]);
        assert!(check(&tree(&[("crates/x/Cargo.toml", "[lib]\n"), test])).is_empty());
    }

    #[test]
    fn programs_without_a_main_are_cargos_affair() {
        assert!(check(&tree(&[("crates/x/tests/one.rs", ""), ("crates/y/tests/main.rs", "")])).is_empty());
    }
}
