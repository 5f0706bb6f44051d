//! `--daemon`: the program starts itself again with the same arguments, waits until that process reports that it has
//! mounted or failed, and exits. Nothing forks after the connection to the kernel exists.

use crate::exit;
use anyhow::Context as _;
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::process::{Command, ExitCode, Stdio};

/// Message of the background process.
const MOUNTED: &str = "mounted\n";

/// Set for the background process.
const BACKGROUND: &str = "FATHOM_MOUNT_BACKGROUND";

/// Whether this is the background process, which reports on stdout when it has mounted.
pub fn is_background() -> bool {
    std::env::var_os(BACKGROUND).is_some()
}

/// The foreground process.
pub fn start() -> anyhow::Result<ExitCode> {
    let program = std::env::current_exe().context("the path of the running program is unknown")?;
    let mut command = Command::new(program);
    command.args(std::env::args_os().skip(1)).env(BACKGROUND, "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("the background process could not be started")?;
    let mut said = String::new();
    let heard = child.stdout.take().map(|mut stdout| stdout.read_to_string(&mut said));
    heard.unwrap_or(Ok(0)).context("the background process cannot be read from")?;
    if said == MOUNTED {
        return Ok(ExitCode::SUCCESS);
    }
    // It has exited, so all of its output is here.
    let ended = child.wait_with_output().context("the background process ended unexpectedly")?;
    std::io::stderr().write_all(&ended.stderr).context("stderr cannot be written")?;
    let code = ended.status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(exit::FAILED)))
}

/// Leaves the terminal's session.
pub fn detach() {
    // Fails only for a group leader, which a child process is not.
    let _ = rustix::process::setsid();
}

/// Reports the mount; nothing reads later output.
pub fn say_mounted() {
    let _ = std::io::stdout().write_all(MOUNTED.as_bytes());
    let _ = std::io::stdout().flush();
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        for output in [libc::STDOUT_FILENO, libc::STDERR_FILENO] {
            // SAFETY: both descriptors are open; what stood for the output before is closed by the kernel.
            unsafe { libc::dup2(null.as_raw_fd(), output) };
        }
    }
}
