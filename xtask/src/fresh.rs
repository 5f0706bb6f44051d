//! `cargo xtask fresh`: what a newcomer does. Clones HEAD into a temporary directory and runs there the two commands the README
//! shows, timed. It reads them from the README, so that what is checked is what is printed; it judges by their exit codes only.

use crate::steps::{Steps, seconds, succeeds};
use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The names in `<!-- command:NAME -->`, in the order in which they are run.
const COMMANDS: [&str; 2] = ["main", "test"];

/// Clones, runs, cleans up (unless told to keep the clone); whether both commands succeeded.
pub(crate) fn run(root: &Path, keep: bool) -> Result<bool> {
    let dir = tempfile::Builder::new().prefix("fathom-fresh-").tempdir().context("no temporary directory")?;
    let clone = dir.path().join("fathom");
    warn_of_uncommitted(root);
    let mut git = Command::new("git");
    git.args(["clone", "--quiet", "--no-hardlinks"]).arg(root).arg(&clone).stdin(Stdio::null());
    ensure!(succeeds(&mut git)?, "git could not clone {}", root.display());

    let good = run_commands(&clone, dir.path());
    if keep {
        eprintln!("the clone is kept in {}", dir.keep().display());
    } else {
        dir.close().context("the clone could not be removed")?;
    }
    good
}

/// A clone shows HEAD; who tests what is not committed should know.
fn warn_of_uncommitted(root: &Path) {
    let status = Command::new("git").args(["status", "--porcelain"]).current_dir(root).output();
    if status.is_ok_and(|out| !out.stdout.is_empty()) {
        eprintln!("note: there are uncommitted changes; the clone is of HEAD and does not have them");
    }
}

fn run_commands(clone: &Path, home: &Path) -> Result<bool> {
    let readme = clone.join("README.md");
    let text = std::fs::read_to_string(&readme)
        .with_context(|| "README.md is not in the clone; `fresh` runs the commands it shows".to_string())?;
    let mut steps = Steps::default();
    let mut times = Vec::new();
    for name in COMMANDS {
        let script = command(&text, name)?;
        let started = Instant::now();
        steps.take(&script, || succeeds(&mut as_newcomer(&script, clone, home)));
        times.push(format!("{}  {}", seconds(started.elapsed()), script.replace('\n', "; ")));
    }
    for line in times {
        println!("{line}");
    }
    Ok(steps.failed().is_empty())
}

/// A shell in the clone with none of what cargo set for this program, and with records that do not end among the user's own.
fn as_newcomer(script: &str, clone: &Path, home: &Path) -> Command {
    let mut shell = Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", script]).current_dir(clone).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        // CARGO_HOME and CARGO_NET_* are the user's and needed; the rest would make the build something else than a first one.
        let users = text == "CARGO_HOME" || text.starts_with("CARGO_NET_") || text.starts_with("CARGO_HTTP_");
        if text == "CARGO" || text.starts_with("CARGO_") && !users {
            shell.env_remove(&name);
        }
    }
    shell.env_remove("FATHOM_STORE");
    shell.env("XDG_DATA_HOME", home.join("data")).env("XDG_STATE_HOME", home.join("state"));
    shell
}

/// The code block that follows `<!-- command:NAME -->`, without prompts.
fn command(readme: &str, name: &str) -> Result<String> {
    let marker = format!("<!-- command:{name} -->");
    let Some((_, after)) = readme.split_once(&marker) else {
        bail!("README.md has no `{marker}`; put it on the line before the block with the {name} command");
    };
    let mut lines = after.lines().skip_while(|line| line.trim().is_empty());
    let opened = lines.next().is_some_and(|line| line.trim_start().starts_with("```"));
    ensure!(opened, "README.md: `{marker}` must be followed by a code block (```)");
    let body: Vec<&str> = lines
        .take_while(|line| !line.trim_start().starts_with("```"))
        .map(|line| line.trim())
        .map(|line| line.strip_prefix("$ ").unwrap_or(line))
        .filter(|line| !line.is_empty())
        .collect();
    ensure!(!body.is_empty(), "README.md: the block after `{marker}` is empty");
    Ok(body.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = "# x\n\n<!-- command:main -->\n```sh\n$ cargo run --release -- survey\n```\n\n\
                          <!-- command:test -->\n\n```\ncargo xtask test\n```\n<!-- command:bare -->\ntext\n";

    #[test]
    fn commands_are_read_from_the_readme() {
        assert_eq!(command(README, "main").unwrap(), "cargo run --release -- survey");
        assert_eq!(command(README, "test").unwrap(), "cargo xtask test");
    }

    #[test]
    fn what_is_missing_is_said() {
        assert!(command(README, "other").unwrap_err().to_string().contains("<!-- command:other -->"));
        assert!(command(README, "bare").unwrap_err().to_string().contains("code block"));
        let dir = tempfile::tempdir().unwrap();
        let error = run_commands(dir.path(), dir.path()).unwrap_err();
        assert!(error.to_string().contains("README.md is not in the clone"), "{error}");
    }

    #[test]
    fn commands_run_in_the_clone_and_a_failure_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let readme = |second: &str| {
            let text = format!(
                "<!-- command:main -->\n```\necho x > made\n```\n<!-- command:test -->\n```\n{second}\n```\n"
            );
            std::fs::write(dir.path().join("README.md"), text).unwrap();
        };
        readme("test -f made");
        assert!(run_commands(dir.path(), dir.path()).unwrap());
        readme("false");
        assert!(!run_commands(dir.path(), dir.path()).unwrap());
    }

    #[test]
    fn a_commit_is_cloned() {
        if !fathom_testkit::need_tool("a_commit_is_cloned", "git") {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"])
                .args(args)
                .current_dir(dir.path());
            assert!(succeeds(&mut git).unwrap(), "git {args:?}");
        };
        let text =
            "<!-- command:main -->\n```\ntrue\n```\n<!-- command:test -->\n```\ntest -f README.md\n```\n";
        std::fs::write(dir.path().join("README.md"), text).unwrap();
        git(&["init", "--quiet"]);
        git(&["add", "README.md"]);
        git(&["commit", "--quiet", "-m", "x"]);
        assert!(run(dir.path(), false).unwrap());
    }
}
