//! Golden files: an output is compared with a file in the repository, which `FATHOM_BLESS=1` updates.

use std::fs;
use std::path::{Path, PathBuf};

/// If set to 1, golden files are written instead of compared.
pub const BLESS_ENV: &str = "FATHOM_BLESS";

/// Lines of context around a difference.
const CONTEXT: usize = 2;

/// Compares `text` with the golden file `path` (relative to the package of the test). Panics with a line diff if they differ.
#[track_caller]
pub fn golden(path: impl AsRef<Path>, text: &str) {
    let bless = std::env::var_os(BLESS_ENV).is_some_and(|v| !v.is_empty() && v != "0");
    if let Err(difference) = compare(&resolve(path.as_ref()), text, bless) {
        panic!("{difference}");
    }
}

/// cargo runs tests in their package's directory; resolves the path even if a test has changed directory.
fn resolve(path: &Path) -> PathBuf {
    match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(package) => Path::new(&package).join(path),
        None => path.to_path_buf(),
    }
}

fn compare(path: &Path, text: &str, bless: bool) -> Result<(), String> {
    let name = path.display();
    if bless {
        return write(path, text).map_err(|e| format!("the golden file {name} cannot be written: {e}"));
    }
    match fs::read_to_string(path) {
        Ok(expected) if expected == text => Ok(()),
        Ok(expected) => Err(format!(
            "the output differs from {name} (- expected, + got). If the new output is right, run the test \
             again with {BLESS_ENV}=1 and read the change in git diff.\n{}",
            diff(&expected, text)
        )),
        Err(e) => Err(format!(
            "the golden file {name} cannot be read ({e}). Run the test with {BLESS_ENV}=1 to write it. The \
             output is:\n{text}"
        )),
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    fs::write(path, text)
}

/// A line of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Expected(&'a str),
    Got(&'a str),
}

/// A line diff with a little context; trailing blanks and tabs are made visible in differing lines.
#[must_use]
pub fn diff(expected: &str, got: &str) -> String {
    let lines = align(&split(expected), &split(got));
    let near = |at: usize| {
        let from = at.saturating_sub(CONTEXT);
        lines[from..lines.len().min(at + CONTEXT + 1)].iter().any(|l| !matches!(l, Line::Same(_)))
    };
    let mut out = String::new();
    let mut skipped = false;
    for (at, line) in lines.iter().enumerate() {
        if !near(at) {
            skipped = true;
            continue;
        }
        if std::mem::take(&mut skipped) {
            out.push_str("  ...\n");
        }
        match line {
            Line::Same(text) => out += &format!("  {text}\n"),
            Line::Expected(text) => out += &format!("- {}\n", visible(text)),
            Line::Got(text) => out += &format!("+ {}\n", visible(text)),
        }
    }
    out
}

/// Splits into lines, with a marker if the last line end is missing, so that this shows as a difference.
fn split(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    } else {
        lines.push("(no line end at the end of the text)");
    }
    lines
}

fn visible(line: &str) -> String {
    let body = line.trim_end_matches(' ');
    let trailing = "·".repeat(line.len() - body.len());
    body.replace('\t', "→\t").replace('\r', "␍") + &trailing
}

/// Longest common subsequence by the plain table, as golden files have hundreds of lines, not millions.
fn align<'a>(expected: &[&'a str], got: &[&'a str]) -> Vec<Line<'a>> {
    let columns = got.len() + 1;
    let mut common = vec![0u32; (expected.len() + 1) * columns];
    for e in (0..expected.len()).rev() {
        for g in (0..got.len()).rev() {
            common[e * columns + g] = if expected[e] == got[g] {
                common[(e + 1) * columns + g + 1] + 1
            } else {
                common[(e + 1) * columns + g].max(common[e * columns + g + 1])
            };
        }
    }
    let mut lines = Vec::new();
    let (mut e, mut g) = (0, 0);
    while e < expected.len() || g < got.len() {
        if e < expected.len() && g < got.len() && expected[e] == got[g] {
            lines.push(Line::Same(got[g]));
            (e, g) = (e + 1, g + 1);
        } else if g == got.len()
            || (e < expected.len() && common[(e + 1) * columns + g] >= common[e * columns + g + 1])
        {
            lines.push(Line::Expected(expected[e]));
            e += 1;
        } else {
            lines.push(Line::Got(got[g]));
            g += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TestDir;

    #[test]
    fn a_golden_file_is_written_then_held() {
        let dir = TestDir::new();
        let file = dir.path().join("golden/out.txt");
        let missing = compare(&file, "a\n", false).unwrap_err();
        assert!(missing.contains("FATHOM_BLESS=1") && missing.ends_with("a\n"), "{missing}");
        assert_eq!(compare(&file, "a\n", true), Ok(()));
        assert_eq!(compare(&file, "a\n", false), Ok(()));
        let differs = compare(&file, "b\n", false).unwrap_err();
        assert!(differs.contains("- a\n+ b\n"), "{differs}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "a\n", "comparing does not write");
    }

    #[test]
    fn a_diff_shows_the_change_and_its_surroundings() {
        let old = "1\n2\n3\n4\n5\n6\n7\n";
        assert_eq!(diff(old, "1\n2\n3\n4\nfive\n6\n7\n"), "  ...\n  3\n  4\n- 5\n+ five\n  6\n  7\n");
        assert_eq!(diff(old, &old[2..]), "- 1\n  2\n  3\n");
    }

    #[test]
    fn invisible_differences_are_made_visible() {
        assert_eq!(diff("a \n", "a\n"), "- a·\n+ a\n");
        assert_eq!(diff("a\tb\n", "a b\n"), "- a→\tb\n+ a b\n");
        assert!(diff("a\n", "a").contains("no line end"));
    }

    #[test]
    fn the_crates_own_golden_file() {
        golden(
            "golden/masked_table.txt",
            &crate::mask_keep_width("   kB  reclen   write\n  512       4  99812\n"),
        );
    }
}
