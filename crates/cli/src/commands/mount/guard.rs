//! The guard: the program once more, as `fathom __unmount DIR`, started before there is a connection to the kernel. It holds the read end of a
//! pipe whose write end dies with the process that serves the mount, by whatever death; then it takes the mount out of the tree, if it
//! is still there and still that one. It holds nothing of the mount, so the kernel ends the connection whether the guard lives or not.

use super::point;
use crate::exit;
use anyhow::Context as _;
use std::ffi::OsString;
use std::io::{PipeWriter, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// The hidden command.
const COMMAND: &str = "__unmount";

/// A guard on watch.
pub struct Guard {
    pipe: PipeWriter,
}

impl Guard {
    /// Starts one for a directory.
    pub fn start(on: &Path) -> anyhow::Result<Self> {
        let (reader, pipe) = std::io::pipe().context("no pipe to the guard of the mount")?;
        let program = std::env::current_exe().context("the program does not find itself")?;
        let mut command = Command::new(program);
        // A group of its own: Ctrl-C is meant for the one it watches.
        command.arg(COMMAND).arg(on).current_dir("/").process_group(0);
        command.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().context("the guard of the mount could not be started")?;
        Ok(Self { pipe })
    }

    /// Tells it which file system it is to take down. The pipe stays open as long as this process lives.
    pub fn watch(self, device: Option<(u32, u32)>) -> anyhow::Result<()> {
        let (major, minor) = device.context("the kernel's table does not show the mount")?;
        let mut pipe = self.pipe;
        writeln!(pipe, "{major}:{minor}").context("the guard of the mount is gone")?;
        std::mem::forget(pipe); // the kernel closes it with the process, and nothing else may
        Ok(())
    }
}

/// Whether a command line is that of a guard.
pub fn is_guard(words: &[OsString]) -> bool {
    words.get(1).is_some_and(|word| word == COMMAND)
}

/// Waits for the end of the other process, then unmounts.
pub fn stand(words: &[OsString]) -> ExitCode {
    let Some(on) = words.get(2).map(Path::new) else {
        crate::console::error(&format!("{COMMAND} is started by fathom itself"));
        return ExitCode::from(exit::USAGE);
    };
    let mut told = String::new();
    let heard = std::io::stdin().lock().read_to_string(&mut told);
    let device = told.trim().split_once(':').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    // Gone before it had mounted anything, or somebody has mounted something else there since.
    if heard.is_err() || device.is_none() || point::device_of(on) != device {
        return ExitCode::SUCCESS;
    }
    match point::unmount(on) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(exit::FAILED),
    }
}
