//! `cargo xtask tidy`: the house as data. What compilers and clippy cannot know about this house is checked here, by reading its
//! text; each finding says where, what, and what to do. One check per file:
//!
//! * [`arrows`]: crates use only crates on floors below; lints are switched on everywhere
//! * [`circles`]: modules of a crate that use each other
//! * [`one_program`]: tests that no program names
//! * [`orphans`]: source files that no module names
//! * [`source`]: opening paragraphs, stray prints, things left for later, ignored tests without a reason
//! * [`file_names`]: files whose names do not say what is in them
//! * [`index`]: pages of docs/ that its index does not name
//! * [`options`]: options without documentation, in the command line and in the dialects' tables
//! * [`tools`]: programs that tests need and no page names
//! * [`text`]: machine paths, trailing blanks, dead links, and (as a warning) very long files
//! * [`type_names`]: names that two types of a crate share
//! * [`words`]: phrases that have to be read twice
//!
//! The checks see a [`Tree`], so each is tested on a small tree made for it.

mod arrows;
mod circles;
mod code;
mod file_names;
mod index;
mod one_program;
mod options;
mod orphans;
mod source;
mod text;
mod tools;
mod type_names;
mod words;

use anyhow::{Context, Result};
use code::Code;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Something that is not as the house wants it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// File, relative to the root.
    path: String,
    /// Line, from 1; 0 for the file as a whole.
    line: usize,
    /// What was found and what to do.
    what: String,
    /// Shown, but no failure.
    warning: bool,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.into(), line, what: what.into(), warning: false }
    }

    fn warning(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { warning: true, ..Self::new(path, line, what) }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mark = if self.warning { "warning: " } else { "" };
        write!(f, "{}:{}: {mark}{}", self.path, self.line.max(1), self.what)
    }
}

/// A text file of the tree.
#[derive(Debug)]
pub(crate) struct File {
    /// Relative to the root, with `/`.
    path: String,
    text: String,
    /// Read once, by the first check that asks.
    code: OnceLock<Code>,
}

impl File {
    fn new(path: &str, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), code: OnceLock::new() }
    }

    /// Its Rust code, apart from comments and literals.
    fn code(&self) -> &Code {
        self.code.get_or_init(|| Code::of(&self.text))
    }
}

/// The files that belong to the house: what git tracks or would track.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: Vec<File>,
    /// Every path, also of files that are not text; links may point at them.
    paths: Vec<String>,
}

impl Tree {
    /// Reads the tree at `root`. Files that are not UTF-8 are known by name only.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut paths = if root.join(".git").exists() { git_files(root)? } else { walk(root)? };
        paths.retain(|path| root.join(path).is_file());
        paths.sort();
        let mut files = Vec::new();
        for path in &paths {
            let bytes = fs::read(root.join(path)).with_context(|| format!("{path} cannot be read"))?;
            if let Ok(text) = String::from_utf8(bytes)
                && !text.contains('\0')
            {
                files.push(File::new(path, text));
            }
        }
        Ok(Self { files, paths })
    }

    fn with_end<'a>(&'a self, end: &'a str) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |file| file.path.ends_with(end))
    }

    /// Whether a file or a directory of this name exists.
    fn has(&self, path: &str) -> bool {
        let below = format!("{path}/");
        path.is_empty() || self.paths.iter().any(|p| p == path || p.starts_with(&below))
    }
}

fn git_files(root: &Path) -> Result<Vec<String>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .stdin(Stdio::null())
        .output();
    match listed {
        Ok(out) if out.status.success() => {
            let names = String::from_utf8_lossy(&out.stdout).into_owned();
            Ok(names.split('\0').filter(|name| !name.is_empty()).map(String::from).collect())
        }
        // No git, or a checkout it does not trust: the directory itself is the next best list.
        _ => walk(root),
    }
}

/// Every file below `root` except what is built and what is git's.
fn walk(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).with_context(|| format!("{} cannot be read", dir.display()))? {
            let entry = entry?;
            let name = entry.file_name();
            if entry.file_type()?.is_dir() {
                if name != "target" && name != ".git" {
                    open.push(entry.path());
                }
            } else if let Ok(path) = entry.path().strip_prefix(root) {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    Ok(found)
}

/// Every finding in a tree, by file and line.
fn findings(tree: &Tree) -> Vec<Finding> {
    let mut found = arrows::check(tree);
    found.extend(circles::check(tree));
    found.extend(file_names::check(tree));
    found.extend(index::check(tree));
    found.extend(one_program::check(tree));
    found.extend(orphans::check(tree));
    found.extend(source::check(tree));
    found.extend(options::check(tree));
    found.extend(text::check(tree));
    found.extend(tools::check(tree));
    found.extend(type_names::check(tree));
    found.extend(words::check(tree));
    found.sort();
    found
}

/// Prints the findings; whether there is none but warnings.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let found = findings(&Tree::read(root)?);
    for finding in &found {
        println!("{finding}");
    }
    let wrong = found.iter().filter(|f| !f.warning).count();
    if wrong > 0 {
        eprintln!("tidy: {wrong} to put in order");
    }
    Ok(wrong == 0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fathom_testkit::TestDir;

    /// A tree from (path, text); for the tests of the checks.
    pub(crate) fn tree(files: &[(&str, &str)]) -> Tree {
        let files: Vec<File> = files.iter().map(|(path, text)| File::new(path, *text)).collect();
        let paths = files.iter().map(|f| f.path.clone()).collect();
        Tree { files, paths }
    }

    /// `path:line` of each finding.
    pub(crate) fn places(found: &[Finding]) -> Vec<String> {
        found.iter().map(|f| format!("{}:{}", f.path, f.line)).collect()
    }

    fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// A small house in order, on disk.
    fn house() -> TestDir {
        let dir = TestDir::new();
        let root = dir.path();
        write(root, "README.md", "# x\n\n![page](docs/page.png) and [the licence](LICENSE).\n");
        write(root, "LICENSE", "free\n");
        write(root, "docs/page.png", b"\x89PNG\0\xff");
        let manifest = "[package]\nname = \"fathom-workload\"\n\n[lints]\nworkspace = true\n\n[dependencies]\nlibc.workspace = true\n";
        write(root, "crates/workload/Cargo.toml", manifest);
        let lib = "//! What to do, as data. It does nothing and draws nothing; executors read it.\n\n/// A.\npub struct A;\n";
        write(root, "crates/workload/src/lib.rs", lib);
        write(root, "target/debug/x.rs", "println!()");
        dir
    }

    #[test]
    fn a_house_in_order_has_no_findings() {
        let house = house();
        assert_eq!(findings(&Tree::read(house.path()).unwrap()), []);
        assert!(run(house.path()).unwrap());
    }

    #[test]
    fn findings_of_all_checks_come_sorted_and_fail() {
        let house = house();
        write(house.path(), "crates/workload/src/a.rs", "fn f() { println!(); }\n");
        write(house.path(), "docs/a.md", "[dead](no.md)\n");
        let found = findings(&Tree::read(house.path()).unwrap());
        assert_eq!(
            places(&found),
            [
                "crates/workload/src/a.rs:0",
                "crates/workload/src/a.rs:1",
                "crates/workload/src/a.rs:1",
                "docs/a.md:1",
                "docs/a.md:1"
            ]
        );
        assert!(!run(house.path()).unwrap());
        assert!(found.iter().all(|f| f.to_string().contains(": ")));
    }

    #[test]
    fn a_warning_does_not_fail() {
        let house = house();
        let long = format!(
            "//! A long file, as tables of options and state machines sometimes are.\n{}",
            "// x\n".repeat(1300)
        );
        write(house.path(), "crates/workload/src/lib.rs", long);
        let found = findings(&Tree::read(house.path()).unwrap());
        assert_eq!(found.len(), 1);
        assert!(found[0].warning && found[0].to_string().contains("warning: "), "{}", found[0]);
        assert!(run(house.path()).unwrap());
    }

    #[test]
    fn git_says_what_belongs_to_the_house() {
        if !fathom_testkit::need_tool("git_says_what_belongs_to_the_house", "git") {
            return;
        }
        let house = house();
        let init = Command::new("git").args(["init", "--quiet"]).current_dir(house.path()).status();
        assert!(init.unwrap().success());
        write(house.path(), ".gitignore", "target/\nignored.rs\n");
        write(house.path(), "ignored.rs", "println!()");
        let tree = Tree::read(house.path()).unwrap();
        assert!(tree.has("README.md") && tree.has("crates/workload") && tree.has("docs/page.png"));
        assert!(!tree.has("ignored.rs") && !tree.has("target"));
        assert_eq!(findings(&tree), []);
    }

    #[test]
    fn this_house_can_be_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let tree = Tree::read(root).unwrap();
        assert!(tree.has("xtask/src/tidy/mod.rs") && tree.has("crates/record/Cargo.toml"));
    }
}
