//! The program under test: run it, watch it, signal it. Each [`Fathom`] has its own directory with the store, the XDG directories
//! and a place to measure, so that tests interfere neither with each other nor with the user's records.

use crate::strace::{Trace, strace_command};
use crate::{Outcome, Running, TestDir, find_tool};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Longest a command may take unless [`Fathom::timeout`] says otherwise: far above any test's need, far below a CI job's time
/// limit.
const PATIENCE: Duration = Duration::from_secs(300);

/// The program with its own store and directories, which are removed on drop.
#[derive(Debug)]
pub struct Fathom {
    binary: PathBuf,
    dir: TestDir,
    work: PathBuf,
    patience: Duration,
    environment: Vec<(String, String)>,
}

impl Fathom {
    /// The program that cargo built for this test run. Panics with the command to type if it was not built.
    #[must_use]
    pub fn new() -> Self {
        let binary = built_binary().unwrap_or_else(|| {
            panic!("the program fathom was not found beside the test: run `cargo build -p fathom` first")
        });
        Self::with_binary(binary)
    }

    /// Any program, such as `env!("CARGO_BIN_EXE_fathom")`.
    #[must_use]
    pub fn with_binary(binary: impl Into<PathBuf>) -> Self {
        let dir = TestDir::new();
        let work = dir.subdir("work");
        Self { binary: binary.into(), dir, work, patience: PATIENCE, environment: Vec::new() }
    }

    /// The same program called by another name, as through a link named `iozone`.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        let link = self.dir.subdir("bin").join(name);
        std::os::unix::fs::symlink(&self.binary, &link).unwrap_or_else(|e| panic!("{}: {e}", link.display()));
        self.binary = link;
        self
    }

    /// Runs in `dir` instead of the separate working directory, for example on a [`crate::LoopFs`].
    #[must_use]
    pub fn working_in(mut self, dir: &Path) -> Self {
        self.work = dir.to_path_buf();
        self
    }

    /// Sets an environment variable for every command.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Longest a command may take before the test fails.
    #[must_use]
    pub fn timeout(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Working directory of the commands.
    #[must_use]
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// The directory that holds everything: store, XDG directories, `work`.
    #[must_use]
    pub fn dir(&self) -> &TestDir {
        &self.dir
    }

    /// The SQLite file of this program's store.
    #[must_use]
    pub fn store(&self) -> PathBuf {
        self.dir.path().join("store.db")
    }

    /// `$XDG_STATE_HOME`, which contains the journal of created files.
    #[must_use]
    pub fn state_home(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// The command, not yet started: program, arguments, directory and environment.
    pub fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let home = self.dir.path();
        let mut command = Command::new(&self.binary);
        command.args(args).current_dir(&self.work).stdin(Stdio::null());
        command.env("FATHOM_STORE", self.store()).env("HOME", home).env("XDG_STATE_HOME", self.state_home());
        for (name, below) in [("DATA", "data"), ("CACHE", "cache"), ("CONFIG", "config")] {
            command.env(format!("XDG_{name}_HOME"), home.join(below));
        }
        // Output must not depend on the user's environment.
        command.env("LC_ALL", "C").env("TZ", "UTC").env_remove("COLUMNS").env_remove("LINES");
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("FORCE_COLOR");
        command.envs(self.environment.iter().map(|(n, v)| (n, v)));
        command
    }

    /// Runs a command to its end.
    #[track_caller]
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Outcome {
        self.spawn(args).finish()
    }

    /// Runs a command line without quoting, for readable tests: `run_line("iozone -s 1m -r 4k -i 0")`.
    #[track_caller]
    pub fn run_line(&self, line: &str) -> Outcome {
        self.run(line.split_whitespace())
    }

    /// Runs under strace; `None`, with the skip recorded, if this machine does not allow it.
    #[must_use]
    pub fn strace<S: AsRef<OsStr>>(&self, test: &str, args: impl IntoIterator<Item = S>) -> Option<Trace> {
        strace_command(test, &self.command(args))
    }

    /// Starts it in a separate process group, so that a signal reaches it and its workers but not the test.
    #[track_caller]
    pub fn spawn<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Running {
        Running::start(self.command(args), self.patience)
    }
}

impl Default for Fathom {
    fn default() -> Self {
        Self::new()
    }
}

/// Integration tests get it from the environment; otherwise it is next to the test's own directory.
fn built_binary() -> Option<PathBuf> {
    let named = std::env::var_os("CARGO_BIN_EXE_fathom").map(PathBuf::from);
    let beside = || {
        let exe = std::env::current_exe().ok()?;
        exe.ancestors().skip(1).take(2).map(|dir| dir.join("fathom")).find(|file| file.is_file())
    };
    named.or_else(beside)
}

/// Queries the database with SQLite's shell, independent of our own code; `None` if sqlite3 is not installed.
#[must_use]
pub fn sqlite3(database: &Path, query: &str) -> Option<String> {
    let shell = find_tool("sqlite3")?;
    let out = Command::new(shell).arg("-readonly").arg(database).arg(query).stdin(Stdio::null()).output();
    let out = out.unwrap_or_else(|e| panic!("sqlite3 could not be started: {e}"));
    assert!(out.status.success(), "sqlite3 refused {query:?}: {}", String::from_utf8_lossy(&out.stderr));
    Some(String::from_utf8_lossy(&out.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell() -> Fathom {
        Fathom::with_binary("/bin/sh").timeout(Duration::from_secs(60))
    }

    #[test]
    fn output_and_code_are_captured() {
        let outcome = shell().run(["-c", "echo out; echo err >&2; exit 3"]);
        let outcome = outcome.expect_code(3).expect_stdout("out\n").expect_stderr("err\n");
        assert_eq!(outcome.signal, None);
    }

    #[test]
    fn each_has_its_own_directories() {
        let program = shell();
        let outcome = program.run(["-c", "pwd; echo $FATHOM_STORE; echo $XDG_STATE_HOME"]).expect_code(0);
        let lines: Vec<&Path> = outcome.stdout.lines().map(Path::new).collect();
        assert_eq!(lines, [program.work(), &program.store(), &program.state_home()]);
        assert!(lines.iter().all(|p| p.starts_with(program.dir().path())));
    }

    #[test]
    fn a_link_gives_another_name() {
        let outcome = shell().named("iozone").run(["-c", "echo $0"]).expect_code(0);
        assert!(outcome.stdout.trim().ends_with("/iozone"), "{}", outcome.stdout);
    }

    #[test]
    fn the_store_can_be_asked_from_outside() {
        let dir = TestDir::new();
        let database = dir.path().join("x.db");
        let Some(sqlite) = find_tool("sqlite3") else {
            crate::skip("the_store_can_be_asked_from_outside", "needs sqlite3");
            return;
        };
        let made =
            Command::new(sqlite).arg(&database).arg("create table t(a); insert into t values(7)").status();
        assert!(made.unwrap().success());
        assert_eq!(sqlite3(&database, "select a from t").as_deref(), Some("7\n"));
    }
}
