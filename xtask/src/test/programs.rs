//! Runs test programs, one after the other, and passes on what they say as they say it. A program is run as cargo would run it (in the
//! directory of its package, with that in the environment), but directly, because cargo would not hand on what makes Rust's test harness
//! say how long each test took.

use super::build::Program;
use super::output::Totals;
use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// `--report-time` is unstable. This variable lets a test program of a stable toolchain take unstable options; it is read by the program and
/// by a compiler alone, and what is built was built before.
const UNSTABLE: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");
const TIMED: [&str; 2] = ["-Zunstable-options", "--report-time"];

/// Tests at once, for each CPU: most of them wait for a program that they started, and that for a disk or a clock.
const PER_CPU: usize = 3;

/// How many tests a program runs at once unless this variable says it; the harness reads it, too.
const THREADS: &str = "RUST_TEST_THREADS";

/// Runs the programs with the arguments; whether all passed.
pub(super) fn run(
    programs: &[Program],
    args: &[String],
    environment: (&str, &OsStr),
    totals: &mut Totals,
) -> Result<bool> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = std::env::var(THREADS).unwrap_or_else(|_| (cpus * PER_CPU).to_string());
    let mut good = true;
    for program in programs {
        eprintln!("     Running {}", program.name);
        let mut command = Command::new(&program.executable);
        command.args(TIMED).args(args).current_dir(&program.package).env(UNSTABLE.0, UNSTABLE.1);
        command.env("CARGO_MANIFEST_DIR", &program.package).env(environment.0, environment.1);
        command.env(THREADS, &threads);
        // SAFETY: between fork and exec only signal(2) is called, which is async-signal-safe.
        unsafe { command.pre_exec(default_signals) };
        if !relay(&mut command, totals)? {
            eprintln!("error: {} failed; to run it alone: {}", program.name, program.executable.display());
            good = false;
        }
    }
    Ok(good)
}

/// A suite started in the background of a script ignores SIGINT, and so would every program that a test starts.
fn default_signals() -> std::io::Result<()> {
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: restoring the default action of a valid signal number has no preconditions.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    Ok(())
}

/// A test program that says nothing for so long hangs: its slowest test takes a tenth of that.
const SILENCE: Duration = Duration::from_secs(600);

/// Runs a command; its output is passed on line by line and summed up. Whether it succeeded. One that hangs is ended, and its tests that
/// were still running have failed.
pub(super) fn relay(command: &mut Command, totals: &mut Totals) -> Result<bool> {
    relay_unless_silent(command, totals, SILENCE, &mut std::io::stdout())
}

fn relay_unless_silent(
    command: &mut Command,
    totals: &mut Totals,
    silence: Duration,
    to: &mut dyn Write,
) -> Result<bool> {
    totals.begin();
    let name = command.get_program().to_string_lossy().into_owned();
    let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut child = started.with_context(|| format!("{name} could not be started"))?;
    let output = child.stdout.take().with_context(|| format!("{name} has no output"))?;
    let (sender, lines) = mpsc::channel();
    // It ends with the output, or after the first line that nobody takes.
    std::thread::spawn(move || {
        BufReader::new(output).split(b'\n').try_for_each(|l| sender.send(l).map_err(drop))
    });
    loop {
        match lines.recv_timeout(silence) {
            Ok(line) => {
                let mut line = line.with_context(|| format!("the output of {name}"))?;
                totals.take_line(String::from_utf8_lossy(&line).trim_end());
                line.push(b'\n');
                // The reader of our output may have gone (`| head`); the tests still run to their end.
                let _ = to.write_all(&line);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let running = totals.give_up();
                eprintln!("error: {name} said nothing for {} s; still running: {running}", silence.as_secs());
                let _ = child.kill();
                break;
            }
        }
    }
    Ok(child.wait().with_context(|| format!("{name} cannot be waited for"))?.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_is_ended_and_its_tests_have_failed() {
        let mut totals = Totals::default();
        let script = "echo 'test a has been running for over 60 seconds'; echo 'test a ... ok <61.000s>'; \
                      echo 'test b has been running for over 60 seconds'; exec sleep 1000";
        let (mut command, mut told) = (Command::new("sh"), Vec::new());
        let silence = Duration::from_secs(5);
        let ended = relay_unless_silent(command.args(["-c", script]), &mut totals, silence, &mut told);
        assert!(!ended.unwrap() && String::from_utf8(told).unwrap().lines().count() == 3);
        assert_eq!((totals.failures(), totals.failed()), (&["b".to_string()][..], 1));
    }
}
