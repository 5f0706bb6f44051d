//! Skips: a test that cannot run here reports this by name and passes. cargo's test harness captures the output of passing tests,
//! so the line also goes to the file named by `FATHOM_TEST_SKIPS`; `cargo xtask test` sets that variable, reads the file at the
//! end and lists and counts the skips.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Environment variable with the file that skips are appended to.
pub const SKIPS_ENV: &str = "FATHOM_TEST_SKIPS";

/// Records that `test` cannot run on this machine, and why. Return from the test right after.
pub fn skip(test: &str, reason: &str) {
    let line = skip_line(test, reason);
    print!("{line}"); // seen with --nocapture and when the test fails for another reason later
    if let Some(file) = std::env::var_os(SKIPS_ENV) {
        append(Path::new(&file), &line);
    }
}

/// Always a single line, as the file is parsed by lines.
fn skip_line(test: &str, reason: &str) -> String {
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("SKIPPED {test}: {reason}\n")
}

/// One `write` on an O_APPEND descriptor, so that lines of concurrent test binaries do not mix.
fn append(file: &Path, line: &str) {
    let written = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .and_then(|mut f| f.write_all(line.as_bytes()));
    if let Err(e) = written {
        panic!("{SKIPS_ENV} names {}, but a line could not be appended to it: {e}", file.display());
    }
}

/// Whether the test runs as root; if not, records the skip.
#[must_use]
pub fn need_root(test: &str) -> bool {
    // SAFETY: geteuid has no preconditions and cannot fail.
    let root = unsafe { libc::geteuid() } == 0;
    if !root {
        skip(test, "needs root (loop devices, mounts)");
    }
    root
}

/// Whether `tool` is installed; if not, records the skip.
#[must_use]
pub fn need_tool(test: &str, tool: &str) -> bool {
    let found = find_tool(tool).is_some();
    if !found {
        skip(test, &format!("needs the program {tool}, which is not installed"));
    }
    found
}

/// Path of a program: on PATH, or in the sbin directories, which Debian leaves out of an ordinary user's PATH.
#[must_use]
pub fn find_tool(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let sbin = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(sbin).map(|dir| dir.join(tool)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_one_line_with_name_and_reason() {
        assert_eq!(skip_line("t", "no\n  loop devices"), "SKIPPED t: no loop devices\n");
    }

    #[test]
    fn lines_are_appended() {
        let dir = crate::TestDir::new();
        let file = dir.path().join("skips");
        append(&file, &skip_line("a", "x"));
        append(&file, &skip_line("b", "y"));
        assert_eq!(std::fs::read_to_string(file).unwrap(), "SKIPPED a: x\nSKIPPED b: y\n");
    }

    #[test]
    fn tools_are_found_by_name() {
        assert!(find_tool("sh").is_some());
        assert_eq!(find_tool("no-such-program-anywhere"), None);
    }
}
