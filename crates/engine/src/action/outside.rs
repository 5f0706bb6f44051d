//! Steps that do not concern the files of a set: mounts, commands, pauses.

use crate::error::unsupported;
use crate::{EngineError, interrupted_by};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(super) fn remount(point: &Path) -> Result<(), EngineError> {
    const TRIES: u32 = 30;
    // Do not unmount what mount(8) cannot mount again by its mount point alone.
    let table = std::fs::read_to_string("/etc/fstab").unwrap_or_default();
    let listed = |line: &str| line.split_whitespace().nth(1).is_some_and(|p| Path::new(p) == point);
    if !table.lines().any(listed) {
        let message = format!("{} is no mount point of /etc/fstab, so it is not unmounted", point.display());
        return Err(unsupported("remount", &message));
    }
    if !is_ours_alone(point) {
        let message = format!(
            "other users could replace {} while nothing is mounted there, so it is not unmounted",
            point.display()
        );
        return Err(unsupported("remount", &message));
    }
    let program = |name: &str| {
        let mut program = Command::new(name);
        program.arg(point).env("LC_ALL", "C");
        execute(program, &format!("{name} {}", point.display()))
    };
    let busy = |e: &EngineError| e.to_string().contains("busy");
    let mut outcome = program("umount");
    for i in 0..TRIES {
        // A file system stays busy briefly after the last close (scanners, lazy release). Only that error is retried.
        if !outcome.as_ref().is_err_and(busy) || interrupted_by().is_some() {
            break;
        }
        sleep(Duration::from_millis(50 * u64::from(i + 1)));
        outcome = program("umount");
    }
    outcome?;
    program("mount")
}

/// Whether no other user can replace a mount point, or a directory above it. The owner of the directory below the mount is not
/// visible: in a directory like `/tmp` they could rename it.
fn is_ours_alone(point: &Path) -> bool {
    let above = point.canonicalize().ok().and_then(|point| point.parent().map(Path::to_path_buf));
    above.is_some_and(|above| fathom_state::Directory::open(&above).is_ok())
}

pub(super) fn command(words: &[String]) -> Result<(), EngineError> {
    let text = words.join(" ");
    let Some((program, arguments)) = words.split_first() else {
        return Err(EngineError::Command { command: text, outcome: "no program named".into() });
    };
    let mut command = Command::new(program);
    command.args(arguments);
    execute(command, &text)
}

/// Runs a command to its end. Its stderr becomes part of the error instead of mixing with our output.
fn execute(mut command: Command, text: &str) -> Result<(), EngineError> {
    let outcome = match command.stdin(Stdio::null()).stdout(Stdio::null()).output() {
        Ok(done) if done.status.success() => return Ok(()),
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr);
            let said: Vec<&str> = said.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
            if said.is_empty() {
                done.status.to_string()
            } else {
                format!("{}: {}", done.status, said.join("; "))
            }
        }
        Err(e) => e.to_string(),
    };
    Err(EngineError::Command { command: text.into(), outcome })
}

/// Sleeps in slices, so that a signal ends it.
pub(super) fn sleep(time: Duration) {
    let until = Instant::now() + time;
    while interrupted_by().is_none() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
}
