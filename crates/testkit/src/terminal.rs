//! Runs a program on a terminal, for testing its interactive output.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::process::{Command, ExitStatus, Stdio};

/// Runs a command with a terminal as its standard output and error; returns its status and everything written.
///
/// # Panics
/// If no terminal is available or the command cannot be started.
pub fn on_terminal(command: &mut Command) -> (ExitStatus, String) {
    let (ours, theirs) = terminal();
    let copy = || Stdio::from(theirs.try_clone().expect("a descriptor"));
    let mut child = command.stdin(Stdio::null()).stdout(copy()).stderr(copy()).spawn().expect("started");
    // Drops the last copy of the terminal, which then reports its end.
    *command = Command::new("true");
    drop(theirs);
    let (mut terminal, mut got, mut piece) = (File::from(ours), Vec::new(), [0; 4096]);
    // Once all are closed, the kernel returns an error.
    while let Ok(n) = terminal.read(&mut piece) {
        got.extend_from_slice(&piece[..n]);
        if n == 0 {
            break;
        }
    }
    (child.wait().expect("waited for"), String::from_utf8_lossy(&got).into_owned())
}

fn terminal() -> (OwnedFd, OwnedFd) {
    let (mut ours, mut theirs) = (-1, -1);
    let none = std::ptr::null_mut();
    // SAFETY: two valid pointers to numbers; the other pointers may be null. The opened descriptors are owned here alone.
    unsafe {
        let opened = libc::openpty(&raw mut ours, &raw mut theirs, none, none.cast(), none.cast());
        assert_eq!(opened, 0, "openpty: {}", std::io::Error::last_os_error());
        (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_sees_a_terminal_and_all_it_writes_is_there() {
        let (status, got) =
            on_terminal(Command::new("sh").args(["-c", "test -t 1 && test -t 2 && echo seen >&2"]));
        assert!(status.success() && got == "seen\r\n", "{got:?}");
    }
}
