//! Phrases of this house that a reader has to read twice, with what to write instead. They are looked for in comments, in strings and
//! in Markdown outside of code.

use super::{File, Finding, Tree};

/// A phrase, as whole words in any case, and what to write instead.
const BANNED: [(&str, &str); 20] = [
    ("is told", "is reported, shown or passed"),
    ("are told", "are reported, shown or passed"),
    ("be told", "be reported, shown or seen"),
    ("was told", "was reported, shown or passed"),
    ("were told", "were reported, shown or passed"),
    ("told so", "reported"),
    ("so many", "N, or a given number of"),
    ("in the mean", "on average"),
    ("of its own", "its own, separate, or a ... for it"),
    ("of their own", "their own, or separate"),
    ("stands for", "means, or represents"),
    ("stand for", "mean, or represent"),
    ("stands in for", "replaces"),
    ("whoever", "the caller, the process that, or anyone who"),
    ("anew", "again"),
    ("of theirs", "their"),
    ("of ours", "our"),
    ("the affair of", "handled by"),
    ("thereof", "of it"),
    ("who asked", "the process that requested"),
];

/// Checks every text.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let prose = |file: &&File| {
        let is = |end: &str| file.path.ends_with(end);
        (is(".rs") && !file.path.ends_with("tidy/words.rs")) || is(".md") || is(".bpf.c") || is(".sql")
    };
    tree.files.iter().filter(prose).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let text = if file.path.ends_with(".rs") {
        file.code().prose(&file.text)
    } else if file.path.ends_with(".md") {
        without_code(&file.text)
    } else {
        file.text.clone()
    };
    let (text, lines) = joined_lines(&text.to_lowercase());
    let mut found = Vec::new();
    for (phrase, better) in BANNED {
        for at in whole_words(&text, phrase) {
            let line = lines.partition_point(|&begin| begin <= at);
            found.push(Finding::new(&file.path, line, format!("\"{phrase}\": write {better}")));
        }
    }
    found.sort();
    found
}

/// Where a phrase is in the text and no part of longer words.
fn whole_words<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = usize> + 'a {
    let apart = |byte: Option<u8>| byte.is_none_or(|b| !b.is_ascii_alphanumeric() && b != b'_');
    text.match_indices(phrase).map(|(at, _)| at).filter(move |&at| {
        apart(text[..at].bytes().next_back()) && apart(text[at + phrase.len()..].bytes().next())
    })
}

/// The text as one line, since a phrase may go over the end of a comment's line: breaks, marks and indentation become one blank. Also
/// where each line begins in it.
fn joined_lines(text: &str) -> (String, Vec<usize>) {
    let mut joined = String::with_capacity(text.len());
    let mut begins = Vec::new();
    for line in text.split('\n') {
        begins.push(joined.len());
        joined.push_str(line.trim_start().trim_start_matches(['/', '!', '*', '>', '-']).trim());
        joined.push(' ');
    }
    (joined, begins)
}

/// Markdown without fenced blocks and `code` spans; the lines stay.
fn without_code(text: &str) -> String {
    let mut fenced = false;
    let lines = text.split('\n').map(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if fenced || fence { String::new() } else { super::text::without_code(line) }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, tree};
    use super::*;

    #[test]
    fn phrases_are_found_in_comments_strings_and_pages() {
        let rust = "//! It is told\nfn so_many() {}\n// Whoever\nconst A: &str = \"so many\";\n/// is\n/// told\nstruct A;\n";
        let page = "Whoever\n```\nwhoever\n```\n`anew` renewal\n";
        let found = places(&check(&tree(&[("a.rs", rust), ("b.md", page), ("c.txt", "anew")])));
        assert_eq!(found, ["a.rs:1", "a.rs:3", "a.rs:4", "a.rs:5", "b.md:1"]);
    }
}
