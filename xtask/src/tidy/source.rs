//! What every Rust file is held to: it opens by saying what it is for, a library does not print, nothing is left for later
//! without an issue to find it by, and no test is ignored without a reason.

use super::code::Code;
use super::{File, Finding, Tree};

/// An opening paragraph shorter than this says no more than the file's name.
const OPENING_CHARACTERS: usize = 25;

/// Macros that write to the program's own outputs.
const PRINTS: [&str; 5] = ["print!", "println!", "eprint!", "eprintln!", "dbg!"];

/// Crates that are programs or speak to a person in tests; all others return what they have to say.
const MAY_PRINT: [&str; 3] = ["crates/cli/", "crates/mpi/", "crates/testkit/"];

/// Checks every Rust file.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.with_end(".rs").flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let code = file.code();
    let mut found = Vec::new();
    found.extend(opening(file));
    if is_library(&file.path) {
        found.extend(prints(file, code));
    }
    found.extend(unfinished(file, code));
    found.extend(ignored(file, code));
    found
}

fn opening(file: &File) -> Option<Finding> {
    let paragraph: Vec<&str> = file
        .text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::trim)
        .skip_while(|line| line.starts_with('#')) // a heading is not yet a sentence
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect();
    let characters = paragraph.join(" ").chars().count();
    (characters < OPENING_CHARACTERS).then(|| {
        let what = format!(
            "opens with {characters} characters of `//!` paragraph, not {OPENING_CHARACTERS} or more; say what the file is \
             for, what it is not, where its data comes from and goes"
        );
        Finding::new(&file.path, 1, what)
    })
}

/// Library code: `crates/X/src` of every crate that may not print.
fn is_library(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    parts.len() > 3
        && parts[0] == "crates"
        && parts[2] == "src"
        && !MAY_PRINT.iter().any(|printing| path.starts_with(printing))
}

fn prints(file: &File, code: &Code) -> Vec<Finding> {
    let tests = code.test_lines();
    let mut found = Vec::new();
    for name in PRINTS {
        for line in code.words(name).map(|at| code.line_at(at)) {
            if !tests.iter().any(|range| range.contains(&line)) {
                let what = format!("{name} in a library; return the text or an error and let cli print it");
                found.push(Finding::new(&file.path, line, what));
            }
        }
    }
    found
}

/// Macros and words that mark unfinished work.
fn unfinished(file: &File, code: &Code) -> Vec<Finding> {
    let mut found = Vec::new();
    for name in ["todo!", "unimplemented!"] {
        for at in code.words(name) {
            let what = format!(
                "{name} panics at run time; write it, or refuse with an error that says what is missing"
            );
            found.push(Finding::new(&file.path, code.line_at(at), what));
        }
    }
    for (line, comment) in &code.comments {
        for word in comment.split(|c: char| !c.is_alphanumeric() && c != '_') {
            let what = match word {
                "FIXME" | "XXX" => format!("{word}; mend it now, or open an issue and write TODO(#number)"),
                "TODO" if !names_issue(comment) => "TODO without an issue; write TODO(#number)".to_string(),
                _ => continue,
            };
            found.push(Finding::new(&file.path, *line, what));
        }
    }
    found
}

/// Whether a comment holds `#` and a number.
fn names_issue(comment: &str) -> bool {
    comment.split('#').skip(1).any(|tail| tail.starts_with(|c: char| c.is_ascii_digit()))
}

fn ignored(file: &File, code: &Code) -> Vec<Finding> {
    let what = "#[ignore] without a reason; write #[ignore = \"why, and how to run it\"], or let the test skip by name";
    code.code
        .match_indices("#[ignore]")
        .map(|(at, _)| Finding::new(&file.path, code.line_at(at), what))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, tree};
    use super::*;

    const OPENING: &str = "//! Says what it is for, what it is not, and where its data goes.\n";

    fn found(path: &str, body: &str) -> Vec<String> {
        places(&check(&tree(&[(path, &format!("{OPENING}{body}"))])))
    }

    #[test]
    fn a_file_opens_by_saying_what_it_is_for() {
        let bad = [
            "",
            "fn f() {}\n",
            "//! Short.\n",
            "/// Documentation of the item below, however long it may be.\nfn f() {}\n",
        ];
        for text in bad {
            assert_eq!(
                places(&check(&tree(&[("crates/a/src/x.rs", text)]))),
                ["crates/a/src/x.rs:1"],
                "{text:?}"
            );
        }
        let wrapped = "//! # Title\n//!\n//! A sentence that is wrapped\n//! over two lines.\n\nfn f() {}\n";
        assert_eq!(check(&tree(&[("crates/a/src/x.rs", wrapped)])), []);
    }

    #[test]
    fn libraries_do_not_print() {
        let body = "fn f() {\n    println!(\"x\");\n    dbg!(1);\n    eprint!(\"\");\n}\n";
        let mut lines = found("crates/record/src/x.rs", body);
        lines.sort();
        assert_eq!(
            lines,
            ["crates/record/src/x.rs:3", "crates/record/src/x.rs:4", "crates/record/src/x.rs:5"]
        );
    }

    #[test]
    fn programs_tests_and_examples_print() {
        let body = "fn f() {\n    println!(\"x\");\n}\n";
        for path in [
            "crates/cli/src/x.rs",
            "crates/testkit/src/x.rs",
            "xtask/src/x.rs",
            "crates/record/tests/x.rs",
            "crates/record/examples/x.rs",
            "crates/record/benches/x.rs",
            "crates/record/build.rs",
            "bench/src/main.rs",
        ] {
            assert_eq!(found(path, body), Vec::<String>::new(), "{path}");
        }
        let unit_test = "#[cfg(test)]\nmod tests {\n    fn f() {\n        println!(\"x\");\n    }\n}\n";
        assert_eq!(found("crates/record/src/x.rs", unit_test), Vec::<String>::new());
    }

    #[test]
    fn words_in_comments_and_strings_are_no_prints() {
        let body = "// println! would be wrong here\nfn f() -> &'static str {\n    \"println!\"\n}\n";
        assert_eq!(found("crates/record/src/x.rs", body), Vec::<String>::new());
    }

    #[test]
    fn work_left_for_later_is_found() {
        let body = "fn f() {\n    todo!()\n}\n// FIXME: x\n// a XXX b\n// TODO: later\n// TODO(#12): later\n";
        let lines = found("crates/cli/src/x.rs", body);
        assert_eq!(
            lines,
            [
                "crates/cli/src/x.rs:3",
                "crates/cli/src/x.rs:5",
                "crates/cli/src/x.rs:6",
                "crates/cli/src/x.rs:7"
            ]
        );
    }

    #[test]
    fn patterns_of_temporary_names_are_no_notes() {
        assert_eq!(
            found("crates/cli/src/x.rs", "// names such as fooXXXXXX\nconst A: &str = \"TODO XXX\";\n"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn an_ignored_test_has_a_reason() {
        let body = "#[test]\n#[ignore]\nfn f() {}\n#[test]\n#[ignore = \"an hour\"]\nfn g() {}\n";
        assert_eq!(found("crates/cli/src/x.rs", body), ["crates/cli/src/x.rs:3"]);
    }
}
