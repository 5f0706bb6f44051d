//! The guard: a second process (`fathom __unmount`), started before the connection to the kernel exists. It holds the
//! read end of a pipe whose write end closes when the serving process dies in any way; then it detaches the mount, if
//! that same mount is still there. It holds no reference to the mount, so the kernel ends the connection whether the
//! guard lives or not.

use super::point::MountId;
use crate::exit;
use anyhow::Context as _;
use std::ffi::OsString;
use std::io::{PipeWriter, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};

const COMMAND: &str = "__unmount";

/// A guard that does not know its mount yet.
pub struct Guard {
    pipe: PipeWriter,
}

impl Guard {
    pub fn start() -> anyhow::Result<Self> {
        let (reader, pipe) = std::io::pipe().context("no pipe to the guard of the mount")?;
        let program = std::env::current_exe().context("the path of the running program is unknown")?;
        let mut command = Command::new(program);
        // Its own process group: Ctrl-C is meant for the process it watches.
        command.arg(COMMAND).current_dir("/").process_group(0);
        command.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().context("the guard of the mount could not be started")?;
        Ok(Self { pipe })
    }

    /// Tells it which mount to detach if this process dies.
    pub fn watch(self, ours: MountId) -> anyhow::Result<Watching> {
        let mut pipe = self.pipe;
        let (major, minor) = ours.device;
        writeln!(pipe, "{} {major}:{minor}", ours.mount).context("the guard of the mount is gone")?;
        Ok(Watching { pipe })
    }
}

/// A guard that knows its mount. While this lives the pipe is open.
pub struct Watching {
    pipe: PipeWriter,
}

impl Watching {
    /// Reports that the mount has ended normally: nothing is left to detach, and later mounts there are not ours.
    pub fn over(&self) {
        // Without a guard nothing is detached either.
        let _ = (&self.pipe).write_all(OVER.as_bytes());
    }
}

/// Ends the watch.
const OVER: &str = "over\n";

pub fn is_guard(words: &[OsString]) -> bool {
    words.get(1).is_some_and(|word| word == COMMAND)
}

/// Waits for the other process to end, then unmounts.
pub fn stand() -> ExitCode {
    let mut text = String::new();
    let heard = std::io::stdin().lock().read_to_string(&mut text);
    // The process died before it mounted, or ended normally.
    let Some(ours) = ours(&text).filter(|_| heard.is_ok()) else { return ExitCode::SUCCESS };
    match ours.unmount() {
        Err(_) if ours.is_up() => ExitCode::from(exit::FAILED),
        _ => ExitCode::SUCCESS,
    }
}

/// The reported mount, unless it is over.
fn ours(text: &str) -> Option<MountId> {
    let (mount, device) = text.strip_suffix('\n')?.split_once(' ')?;
    let (major, minor) = device.split_once(':')?;
    Some(MountId { mount: mount.parse().ok()?, device: (major.parse().ok()?, minor.parse().ok()?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_that_is_over_takes_nothing_down() {
        assert_eq!(ours("41 0:39\n"), Some(MountId { mount: 41, device: (0, 39) }));
        assert_eq!(ours(&format!("41 0:39\n{OVER}")), None);
        assert_eq!((ours(""), ours("41 0:3")), (None, None));
    }
}
