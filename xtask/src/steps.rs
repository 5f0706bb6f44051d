//! Steps of a chore: each is announced on stderr, timed, and remembered with how it went. Data (test output, findings) goes to
//! stdout; this file writes to stderr only.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The steps taken so far.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    failed: Vec<String>,
}

impl Steps {
    /// Takes a step. It fails by answering `false` or with an error; either way the next step can be taken.
    pub(crate) fn take(&mut self, name: &str, step: impl FnOnce() -> Result<bool>) -> bool {
        eprintln!("==> {name}");
        let started = Instant::now();
        let good = match step() {
            Ok(good) => good,
            Err(error) => {
                eprintln!("{error:#}");
                false
            }
        };
        let word = if good { "done" } else { "FAILED" };
        eprintln!("==> {name}: {word} in {}", seconds(started.elapsed()));
        if !good {
            self.failed.push(name.to_string());
        }
        good
    }

    /// Names of the steps that failed, in order.
    pub(crate) fn failed(&self) -> &[String] {
        &self.failed
    }
}

/// "0.4 s", "83 s": tenths while they matter.
pub(crate) fn seconds(time: Duration) -> String {
    let s = time.as_secs_f64();
    if s < 10.0 { format!("{s:.1} s") } else { format!("{s:.0} s") }
}

/// The cargo that runs this program, so that a `+toolchain` given to it holds for everything.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).stdin(Stdio::null());
    // Set for this package by `cargo xtask`; inherited, it would mislead what asks for its own package.
    command.env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO_MANIFEST_PATH");
    command
}

/// Where cargo builds.
pub(crate) fn target_directory(root: &Path) -> PathBuf {
    root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Runs a command with the terminal's outputs; whether it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> Result<bool> {
    let status = command
        .status()
        .with_context(|| format!("{} could not be started", command.get_program().to_string_lossy()))?;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_is_remembered_and_the_next_is_taken() {
        let mut steps = Steps::default();
        assert!(!steps.take("one", || Ok(false)));
        assert!(!steps.take("two", || anyhow::bail!("no")));
        assert!(steps.take("three", || Ok(true)));
        assert_eq!(steps.failed(), ["one", "two"]);
    }

    #[test]
    fn times_are_short() {
        assert_eq!(seconds(Duration::from_millis(440)), "0.4 s");
        assert_eq!(seconds(Duration::from_millis(83_400)), "83 s");
    }
}
