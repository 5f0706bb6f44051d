//! A program run to its end within a time limit. Peers that hang (Filebench does now and then) must not stop a bench: the whole
//! process group is ended then (asked to first, so that it can undo what it set up), and the answer is an error. It measures nothing but the life of the process.

use crate::bench::interrupt;
use crate::bench::sample::{CpuTimeOf, Ended, cpu_ns};
use anyhow::{Context as _, Result, bail};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Time for a program to clean up after a request to end; then it is killed.
const GRACE: Duration = Duration::from_secs(10);
/// How often the clock and Ctrl-C are looked at. The end of the child is seen at once.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Runs a command to its end and gives what [`crate::bench::sample::run`] gives; no other child may end meanwhile.
pub fn run(command: &mut Command, limit: Duration) -> Result<Ended> {
    // A new process group, so that the program's workers end with it.
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let name = command.get_program().to_string_lossy().into_owned();
    let cpu_before = cpu_ns(CpuTimeOf::Children);
    let start = Instant::now();
    let child = command.spawn().with_context(|| format!("{name} could not be started"))?;
    let group = child.id() as libc::pid_t;
    let (ended, over) = mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let end = start + limit;
        while over.recv_timeout(LOOK_EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
            if interrupt::came() || Instant::now() >= end {
                // SAFETY: a signal to the group of a child of this process; no memory is handed over.
                let send = |signal| unsafe { libc::kill(-group, signal) };
                send(libc::SIGTERM);
                if over.recv_timeout(GRACE) == Err(mpsc::RecvTimeoutError::Timeout) {
                    send(libc::SIGKILL);
                }
                return true;
            }
        }
        false
    });
    let output = child.wait_with_output();
    let wall_ns = start.elapsed().as_nanos() as f64;
    drop(ended);
    let killed = watch.join().unwrap_or(false);
    if interrupt::came() {
        bail!("interrupted while {name} was running");
    }
    if killed {
        bail!("{name} did not end within {} s and was killed", limit.as_secs());
    }
    Ok(Ended { output: output?, wall_ns, cpu_ns: cpu_ns(CpuTimeOf::Children) - cpu_before })
}

/// What a child printed, both outputs.
pub fn printed(ended: &Ended) -> String {
    let Ended { output, .. } = ended;
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_in_time_gives_its_output_and_times() {
        let ended =
            run(Command::new("sh").args(["-c", "echo a; echo b >&2"]), Duration::from_secs(60)).unwrap();
        assert_eq!(printed(&ended), "a\nb\n");
        assert!(ended.wall_ns > 0.0);
    }

    #[test]
    fn one_that_hangs_is_killed_with_its_children() {
        let script = "sleep 600 & echo $!; wait";
        let error = run(Command::new("sh").args(["-c", script]), Duration::from_millis(100)).err().unwrap();
        assert!(error.to_string().contains("was killed"), "{error}");
    }
}
