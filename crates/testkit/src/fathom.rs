//! The program under test: run it, watch it, signal it. Each [`Fathom`] has a directory of its own that holds the store, the XDG
//! directories and a place to measure, so that tests neither meet each other nor the user's records.

use crate::strace::{Trace, strace_command};
use crate::{TestDir, skip::find_tool};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Longest a command may take unless [`Fathom::timeout`] says otherwise: far above any test's need, far below a CI job's patience.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often a condition is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The program with its own store and directories. The directory goes when this is dropped.
#[derive(Debug)]
pub struct Fathom {
    binary: PathBuf,
    dir: TestDir,
    work: PathBuf,
    patience: Duration,
    environment: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit code, if it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Wall time.
    pub elapsed: Duration,
}

impl Fathom {
    /// The program cargo built for this test run. Panics, naming the command to type, if it was not built.
    #[must_use]
    pub fn new() -> Self {
        let binary = built_binary().unwrap_or_else(|| {
            panic!("the program fathom was not found beside the test: run `cargo build -p fathom` first")
        });
        Self::with_binary(binary)
    }

    /// Any program, e.g. `env!("CARGO_BIN_EXE_fathom")`.
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

    /// Runs in `dir` instead of its own working directory, e.g. on a [`crate::LoopFs`].
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

    /// Where commands run.
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

    /// `$XDG_STATE_HOME`, below which the journal of created files lies.
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
        // What a test prints must not depend on who runs it.
        command.env("LC_ALL", "C").env("TZ", "UTC").env_remove("COLUMNS").env_remove("LINES");
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("FORCE_COLOR");
        command.envs(self.environment.iter().map(|(n, v)| (n, v)));
        command
    }

    /// Runs to the end.
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

    /// Starts it in a process group of its own, so that a signal can go to it with its workers and not to the test.
    #[track_caller]
    pub fn spawn<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Running {
        let mut command = self.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let shown = format!("{command:?}");
        let mut child =
            command.spawn().unwrap_or_else(|e| panic!("{} could not be started: {e}", self.binary.display()));
        let stdout = Captured::new(child.stdout.take());
        let stderr = Captured::new(child.stderr.take());
        Running {
            child,
            shown,
            stdout,
            stderr,
            started: Instant::now(),
            patience: self.patience,
            ended: None,
        }
    }
}

impl Default for Fathom {
    fn default() -> Self {
        Self::new()
    }
}

/// The environment names it for integration tests; otherwise it lies beside the test's own directory.
fn built_binary() -> Option<PathBuf> {
    let named = std::env::var_os("CARGO_BIN_EXE_fathom").map(PathBuf::from);
    let beside = || {
        let exe = std::env::current_exe().ok()?;
        exe.ancestors().skip(1).take(2).map(|dir| dir.join("fathom")).find(|file| file.is_file())
    };
    named.or_else(beside)
}

/// A program that is running. Dropped without [`Running::finish`], it is killed with its workers.
#[derive(Debug)]
pub struct Running {
    child: Child,
    shown: String,
    stdout: Captured,
    stderr: Captured,
    started: Instant,
    patience: Duration,
    ended: Option<ExitStatus>,
}

impl Running {
    /// Process number, which is also the number of its group.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Standard output so far.
    #[must_use]
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// Standard error so far.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Waits until standard output or error holds `text`. Panics if the program ends or the time is up before.
    #[track_caller]
    pub fn wait_for_text(&mut self, text: &str) {
        let (stdout, stderr) = (self.stdout.clone(), self.stderr.clone());
        let seen = || stdout.text().contains(text) || stderr.text().contains(text);
        self.wait_until(&format!("the text {text:?}"), seen);
    }

    /// Waits until a file exists and is not empty.
    #[track_caller]
    pub fn wait_for_file(&mut self, path: &Path) {
        let name = format!("the file {}", path.display());
        self.wait_until(&name, || path.metadata().is_ok_and(|m| m.len() > 0));
    }

    /// Waits until `condition` holds; `what` names it in the failure. Panics if the program ends or the time is up before.
    #[track_caller]
    pub fn wait_until(&mut self, what: &str, mut condition: impl FnMut() -> bool) {
        loop {
            let over = self.has_ended();
            if condition() {
                return;
            }
            if over {
                self.fail(&format!("ended before {what} came"));
            }
            if self.started.elapsed() > self.patience {
                self.fail(&format!("did not show {what} in {:?}", self.patience));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Sends a signal to the program alone, as `kill PID` does.
    pub fn signal(&self, signal: i32) {
        self.send(signal, self.pid() as i32);
    }

    /// Sends a signal to the program and its workers, as Ctrl-C on a terminal does.
    pub fn signal_group(&self, signal: i32) {
        self.send(signal, -(self.pid() as i32));
    }

    fn send(&self, signal: i32, target: i32) {
        // Once reaped, the number may be someone else's.
        if self.ended.is_none() {
            // SAFETY: kill takes two integers; the target is our own unreaped child or its group.
            unsafe { libc::kill(target, signal) };
        }
    }

    /// Whether it has ended; does not wait.
    pub fn has_ended(&mut self) -> bool {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().unwrap_or_default();
        }
        self.ended.is_some()
    }

    /// Waits for the end. Panics with all output if the time is up before.
    #[track_caller]
    pub fn finish(mut self) -> Outcome {
        while !self.has_ended() {
            if self.started.elapsed() > self.patience {
                self.fail(&format!("did not end in {:?}", self.patience));
            }
            std::thread::sleep(LOOK_EVERY / 2);
        }
        let elapsed = self.started.elapsed();
        let status = self.ended.unwrap_or_default();
        Outcome {
            stdout: self.stdout.finish(),
            stderr: self.stderr.finish(),
            code: status.code(),
            signal: status.signal(),
            elapsed,
        }
    }

    #[track_caller]
    fn fail(&self, what: &str) -> ! {
        let (command, stdout, stderr) = (&self.shown, self.stdout(), self.stderr());
        panic!("{command} {what}.\n--- stdout\n{stdout}\n--- stderr\n{stderr}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.has_ended() {
            self.signal_group(libc::SIGKILL);
            let _ = self.child.wait();
        }
    }
}

/// One of the program's outputs, read by a thread so that it never blocks on a full pipe.
#[derive(Clone, Debug, Default)]
struct Captured {
    text: Arc<Mutex<Vec<u8>>>,
    reader: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Captured {
    fn new(pipe: Option<impl Read + Send + 'static>) -> Self {
        let captured = Self::default();
        if let Some(pipe) = pipe {
            let text = Arc::clone(&captured.text);
            let reader = std::thread::spawn(move || {
                let mut pipe = BufReader::new(pipe);
                while let Ok(chunk) = pipe.fill_buf() {
                    if chunk.is_empty() {
                        break;
                    }
                    let length = chunk.len();
                    text.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(chunk);
                    pipe.consume(length);
                }
            });
            *captured.reader.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader);
        }
        captured
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// All of it. A worker that outlives the program holds the pipe open, so the end is waited for only a moment.
    fn finish(&self) -> String {
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(reader) = reader {
            let deadline = Instant::now() + Duration::from_secs(5);
            while !reader.is_finished() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        self.text()
    }
}

impl Outcome {
    /// Panics with all output unless it ended with this exit code.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert!(
            self.code == Some(code),
            "expected exit code {code}, got {:?} (signal {:?})\n--- stdout\n{}\n--- stderr\n{}",
            self.code,
            self.signal,
            self.stdout,
            self.stderr
        );
        self
    }

    /// Panics with all output unless standard output holds `text`.
    #[track_caller]
    pub fn expect_stdout(self, text: &str) -> Self {
        assert!(
            self.stdout.contains(text),
            "expected {text:?} on stdout\n--- stdout\n{}\n--- stderr\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Panics with all output unless standard error holds `text`.
    #[track_caller]
    pub fn expect_stderr(self, text: &str) -> Self {
        assert!(
            self.stderr.contains(text),
            "expected {text:?} on stderr\n--- stdout\n{}\n--- stderr\n{}",
            self.stdout,
            self.stderr
        );
        self
    }
}

/// Asks SQLite's own shell, so that a test sees the store as a stranger would; `None` if sqlite3 is not installed.
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
    fn a_signal_after_a_text_is_answered() {
        let mut running =
            shell().spawn(["-c", "trap 'exit 130' INT; echo ready; while :; do sleep 0.05; done"]);
        running.wait_for_text("ready");
        running.signal(libc::SIGINT);
        let _ = running.finish().expect_code(130);
    }

    #[test]
    fn a_signal_after_a_file_ends_the_whole_group() {
        let program = shell();
        let mut running = program.spawn(["-c", "sleep 600 & echo $! >pid; wait"]);
        running.wait_for_file(&program.work().join("pid"));
        running.signal_group(libc::SIGKILL);
        assert_eq!(running.finish().signal, Some(libc::SIGKILL));
        let child = std::fs::read_to_string(program.work().join("pid")).unwrap();
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
        let deadline = Instant::now() + Duration::from_secs(30);
        while state().is_ok_and(|s| !s.contains(") Z")) {
            assert!(Instant::now() < deadline, "the worker lives on");
            std::thread::sleep(LOOK_EVERY);
        }
    }

    #[test]
    fn a_program_that_never_ends_fails_the_test_and_is_killed() {
        let program = Fathom::with_binary("/bin/sh").timeout(Duration::from_millis(200));
        let running = program.spawn(["-c", "echo before; exec sleep 600"]);
        let pid = running.pid();
        let failure =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| running.finish())).unwrap_err();
        let message = failure.downcast_ref::<String>().unwrap();
        assert!(message.contains("did not end") && message.contains("before"), "{message}");
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn a_program_that_ends_too_early_says_so() {
        let mut running = shell().spawn(["-c", "echo bye"]);
        let waiting = std::panic::AssertUnwindSafe(|| running.wait_for_text("never"));
        let failure = std::panic::catch_unwind(waiting).unwrap_err();
        assert!(failure.downcast_ref::<String>().unwrap().contains("ended before"));
    }

    #[test]
    fn much_output_does_not_block() {
        let outcome =
            shell().run(["-c", "i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done"]);
        assert_eq!(outcome.expect_code(0).stdout.len(), 20000 * 11);
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
