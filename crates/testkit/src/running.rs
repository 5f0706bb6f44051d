//! A running program: its output as it arrives, signals to it, its end. Created by [`crate::Fathom::spawn`].

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Polling interval for conditions.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Result of a command.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it, if any.
    pub signal: Option<i32>,
    /// Wall time.
    pub elapsed: Duration,
}

/// A running program. If dropped without [`Running::finish`], it is killed with its workers.
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
    /// Starts a command in a separate process group, capturing its output.
    #[track_caller]
    pub(crate) fn start(mut command: Command, patience: Duration) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let shown = format!("{command:?}");
        // SAFETY: between fork and exec only signal(2) is called, which is async-signal-safe.
        unsafe { command.pre_exec(default_signals) };
        let mut child = command.spawn().unwrap_or_else(|e| panic!("{shown} could not be started: {e}"));
        let stdout = Captured::new(child.stdout.take());
        let stderr = Captured::new(child.stderr.take());
        Self { child, shown, stdout, stderr, started: Instant::now(), patience, ended: None }
    }

    /// Process id, which is also its process group id.
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

    /// Waits until standard output or error contains `text`. Panics if the program ends or time runs out first.
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

    /// Waits until `condition` holds; `what` names it in the failure. Panics if the program ends or time runs out first.
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

    /// Waits until its workers have transferred at least this many bytes by calls, so they are known to be running.
    #[track_caller]
    pub fn wait_for_work(&mut self, bytes: u64) {
        let pid = self.pid();
        let what = format!("{bytes} bytes read or written by its workers");
        self.wait_until(&what, || moved_by_workers(pid) >= bytes);
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
        // Once reaped, the id may belong to another process.
        if self.ended.is_none() {
            // SAFETY: kill takes two integers; the target is our own unreaped child or its group.
            unsafe { libc::kill(target, signal) };
        }
    }

    /// Whether it has ended, without waiting.
    pub fn has_ended(&mut self) -> bool {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().unwrap_or_default();
        }
        self.ended.is_some()
    }

    /// Waits for its end. Panics with all output if time runs out first.
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

/// Bytes that a process and its living descendants have moved with read and write calls.
#[must_use]
pub fn transferred(pid: u32) -> u64 {
    family(pid).into_iter().map(|pid| moved(&format!("/proc/{pid}"))).sum()
}

/// The same for workers only: the threads that the engine names `fathom-PID`, and the processes that the program has started.
#[must_use]
pub fn moved_by_workers(pid: u32) -> u64 {
    let threads = |pid: u32| std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    let is_worker = |(of, thread): &(u32, PathBuf)| {
        let name = std::fs::read_to_string(thread.join("comm")).unwrap_or_default();
        *of != pid || name.starts_with("fathom-")
    };
    family(pid)
        .into_iter()
        .flat_map(|of| threads(of).filter_map(move |thread| Some((of, thread.ok()?.path()))))
        .filter(is_worker)
        .map(|(_, thread)| moved(&thread.display().to_string()))
        .sum()
}

/// A process and its descendants.
#[must_use]
pub fn family(pid: u32) -> Vec<u32> {
    let parent = |pid: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may contain anything.
        stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    let numbers = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let all: Vec<u32> = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let parents: Vec<(u32, u32)> = all.into_iter().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut family = vec![pid];
    let mut at = 0;
    while let Some(&elder) = family.get(at) {
        family.extend(parents.iter().filter(|(_, parent)| *parent == elder).map(|(child, _)| child));
        at += 1;
    }
    family
}

/// Bytes moved by a process or a thread; 0 once it is gone.
fn moved(whose: &str) -> u64 {
    let text = std::fs::read_to_string(format!("{whose}/io")).unwrap_or_default();
    let counts = text.lines().filter_map(|line| line.split_once(": "));
    counts
        .filter(|(name, _)| matches!(*name, "rchar" | "wchar"))
        .filter_map(|(_, count)| count.parse::<u64>().ok())
        .sum()
}

/// Restores default signal actions: a suite started in the background of a script ignores SIGINT, and its children would inherit
/// that.
fn default_signals() -> std::io::Result<()> {
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
        // SAFETY: restoring the default action of a valid signal number has no preconditions.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    Ok(())
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

    /// The complete output. A worker that outlives the program keeps the pipe open, so the wait for its end is short.
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

    /// Panics with all output unless standard output contains `text`.
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

    /// Panics with all output unless standard error contains `text`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fathom;

    fn shell() -> Fathom {
        Fathom::with_binary("/bin/sh").timeout(Duration::from_secs(60))
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
        let program = Fathom::with_binary("/bin/sh").timeout(Duration::from_secs(2));
        let running = program.spawn(["-c", "echo before; exec sleep 600"]);
        let pid = running.pid();
        let failure =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| running.finish())).unwrap_err();
        let message = failure.downcast_ref::<String>().unwrap();
        assert!(message.contains("did not end") && message.contains("before"), "{message}");
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn work_is_that_of_the_workers_and_nobody_elses() {
        let mut running = shell().spawn(["-c", "cat /dev/zero >/dev/null & wait"]);
        running.wait_for_work(64 << 20);
        assert!(transferred(running.pid()) >= 64 << 20);
        running.signal_group(libc::SIGKILL);
        assert_eq!(running.finish().signal, Some(libc::SIGKILL));
        // The program itself is not a worker.
        let mut alone =
            shell().timeout(Duration::from_secs(2)).spawn(["-c", "exec cat /dev/zero >/dev/null"]);
        let waiting = std::panic::AssertUnwindSafe(|| alone.wait_for_work(1));
        assert!(std::panic::catch_unwind(waiting).is_err());
        assert_eq!(transferred(u32::MAX), 0);
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
}
