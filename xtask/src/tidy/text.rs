//! Rules for every text: no path of a developer's machine, no blanks at line ends, no link to a missing file. A very long Rust file
//! gets only a warning, because a table may be long.

use super::{File, Finding, Tree};

/// Concatenated, so that the check does not report this file.
const MACHINE_PATHS: [&str; 2] = [concat!("/wo", "rk/"), concat!(".lib", "rary")];

/// Above this a file probably holds two subjects.
const MANY_LINES: usize = 1200;

/// Kinds of text in which a blank at a line's end is a slip. In golden files it is what the program prints.
const NO_TRAILING_BLANKS: [&str; 7] = [".rs", ".md", ".toml", ".sh", ".yml", ".yaml", ".ci/run"];

/// Checks every text.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.files.iter().flat_map(|file| check_file(tree, file)).collect()
}

fn check_file(tree: &Tree, file: &File) -> Vec<Finding> {
    let mut found = machine_paths(file);
    if NO_TRAILING_BLANKS.iter().any(|end| file.path.ends_with(end)) {
        found.extend(trailing_blanks(file));
    }
    if file.path.ends_with(".md") {
        found.extend(dead_links(tree, file));
    }
    let lines = file.text.lines().count();
    if file.path.ends_with(".rs") && lines > MANY_LINES {
        let what = format!("{lines} lines; if it holds two subjects, split it");
        found.push(Finding::warning(&file.path, 1, what));
    }
    found
}

fn machine_paths(file: &File) -> Vec<Finding> {
    let mut found = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        if let Some(path) = MACHINE_PATHS.iter().find(|path| names_path(line, path)) {
            let what = format!(
                "{path} is a path of one machine; use one that holds everywhere, or a temporary directory"
            );
            found.push(Finding::new(&file.path, number + 1, what));
        }
    }
    found
}

/// Whether a line holds the path, and not as the tail of a longer one such as `a/work/b`.
fn names_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.}".contains(c))
    })
}

fn trailing_blanks(file: &File) -> Vec<Finding> {
    let what =
        "blanks at the end of the line; take them away (in a string write \\x20, in Markdown break with \\)";
    let ends_blank = |line: &str| line.ends_with([' ', '\t', '\r']);
    let numbered = file.text.split('\n').enumerate();
    numbered
        .filter(|(_, line)| ends_blank(line))
        .map(|(n, _)| Finding::new(&file.path, n + 1, what))
        .collect()
}

fn dead_links(tree: &Tree, file: &File) -> Vec<Finding> {
    let dead = numbered_links(file).filter(|(_, _, path)| !tree.has(path));
    dead.map(|(line, target, path)| {
        Finding::new(&file.path, line, format!("the link to {target} leads nowhere; mend it or add {path}"))
    })
    .collect()
}

/// Where the links of a page lead, as paths from the root.
pub(super) fn links(file: &File) -> Vec<String> {
    numbered_links(file).map(|(_, _, path)| path).collect()
}

/// Each link into the tree outside of code: its line, the target as written, and the path from the root.
fn numbered_links(file: &File) -> impl Iterator<Item = (usize, String, String)> {
    let mut fenced = false;
    let prose = file.text.lines().enumerate().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    });
    prose.flat_map(move |(number, line)| {
        targets(&without_code(line)).into_iter().filter_map(move |target| {
            let path = resolve(&file.path, &target)?;
            Some((number + 1, target, path))
        })
    })
}

/// A line with its `code` spans blanked.
pub(super) fn without_code(line: &str) -> String {
    let spans = line.split('`');
    spans.enumerate().map(|(n, span)| if n % 2 == 0 { span } else { "" }).collect::<Vec<_>>().join(" ")
}

/// Targets of `[text](target "title")`, `![alt](target)` and `[name]: target`.
fn targets(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("](") {
        let inside = line[at + 2..].split(')').next().unwrap_or_default();
        found.extend(inside.split_whitespace().next().map(String::from));
    }
    if line.starts_with('[')
        && let Some((_, target)) = line.split_once("]: ")
    {
        found.extend(target.split_whitespace().next().map(String::from));
    }
    found.iter().map(|t| t.trim_matches(['<', '>']).to_string()).collect()
}

/// The path from the root that a link in `from` means; `None` for links out of the tree and within the page.
fn resolve(from: &str, target: &str) -> Option<String> {
    let target = target.split('#').next().unwrap_or_default();
    let elsewhere = target.contains("://") || target.starts_with("mailto:") || target.starts_with("//");
    if target.is_empty() || elsewhere {
        return None;
    }
    let mut parts: Vec<&str> = if target.starts_with('/') { Vec::new() } else { from.split('/').collect() };
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                // Nothing above the root belongs to us; the remaining name is then reported as missing.
                if parts.pop().is_none() {
                    parts.push("..");
                }
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, tree};
    use super::*;

    #[test]
    fn machine_paths_are_found_but_not_their_likes() {
        let text = format!("a {0}main\nb x{0}y\nc ${{DIR}}{0}\nd \"{0}\"\n", MACHINE_PATHS[0]);
        assert_eq!(places(&check(&tree(&[("a.toml", &text)]))), ["a.toml:1", "a.toml:4"]);
        let library = format!("see {}/env\n", MACHINE_PATHS[1]);
        assert_eq!(places(&check(&tree(&[("x.snap", &library)]))), ["x.snap:1"]);
    }

    #[test]
    fn blanks_at_line_ends_are_found_where_they_are_slips() {
        assert_eq!(
            places(&check(&tree(&[("a.rs", "a \nb\nc\t\n"), (".ci/run", "x\r\n")]))),
            ["a.rs:1", "a.rs:3", ".ci/run:1"]
        );
        assert_eq!(check(&tree(&[("golden/a.txt", "a \n"), ("a.snap", "b \n")])), []);
    }

    #[test]
    fn links_lead_somewhere() {
        let page = "[a](testing.md#skips) [b](../README.md) [c](https://x.y/z) [d](#here) ![e](img/p.png \"t\")\n\
                    [f](gone.md) `[g](code.md)` [h](/docs) [i](mailto:a@b)\n```\n[j](fence.md)\n```\n[k]: nowhere.md\n[l](../../up.md)\n";
        let files =
            [("docs/index.md", page), ("docs/testing.md", ""), ("README.md", ""), ("docs/img/p.png", "")];
        let found = check(&tree(&files));
        assert_eq!(places(&found), ["docs/index.md:2", "docs/index.md:6", "docs/index.md:7"]);
        assert!(found[0].what.contains("docs/gone.md"), "{}", found[0]);
    }

    #[test]
    fn long_files_are_a_warning() {
        let found =
            check(&tree(&[("a.rs", &"x\n".repeat(MANY_LINES + 1)), ("b.rs", &"x\n".repeat(MANY_LINES))]));
        assert_eq!(places(&found), ["a.rs:1"]);
        assert!(found[0].warning);
    }
}
