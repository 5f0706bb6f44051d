//! A boot of the guest: its console line by line, until it powers off or is killed. The marks in it say how each test ended.

use super::kernel::Kernel;
use super::table::Table;
use anyhow::{Context, Result, bail};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A guest whose console is silent for longer hangs.
const PATIENCE: Duration = Duration::from_secs(300);
/// The line that init prints after a test: this, its name, its exit code.
const ENDED: &str = "@@ENDED ";

/// A running guest. Dropping it kills QEMU. For the guest that is a power cut of a machine whose disk keeps all that it was sent, flushed
/// or not.
pub(super) struct Guest {
    qemu: Child,
    lines: Receiver<String>,
}

/// What the console says.
pub(super) enum Console {
    Line(String),
    /// Nothing until the given moment.
    Silent,
    /// The guest has powered off.
    Ended,
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

impl Guest {
    /// Boots from a RAM disk, with a file as the NVMe disk.
    pub fn boot(kernel: &Kernel, ramdisk: &Path, disk: &Path) -> Result<Self> {
        let mut command = Command::new("qemu-system-x86_64");
        command.args(["-accel", "tcg", "-cpu", "max", "-m", "2G", "-smp", "2", "-no-reboot"]);
        command.args(["-display", "none", "-nic", "none", "-serial", "stdio", "-monitor", "none"]);
        command.arg("-kernel").arg(&kernel.image).arg("-initrd").arg(ramdisk);
        command.args(["-append", "console=ttyS0 quiet panic=-1"]);
        command.arg("-drive").arg(format!("file={},if=none,id=disk,format=raw", disk.display()));
        command.args(["-device", "nvme,serial=lab,drive=disk"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut qemu = command.spawn().context("qemu-system-x86_64 could not be started")?;
        let console = qemu.stdout.take().context("QEMU has no console")?;
        let (send, lines) = channel();
        std::thread::spawn(move || {
            // Kernel messages may hold any bytes.
            let lines = BufReader::new(console).split(b'\n').map_while(Result::ok);
            let text = |line: Vec<u8>| String::from_utf8_lossy(&line).trim_end().to_owned();
            lines.map(text).try_for_each(|line| send.send(line))
        });
        Ok(Self { qemu, lines })
    }

    /// What comes next on the console, waiting at most until a moment.
    pub fn next(&self, until: Option<Instant>) -> Result<Console> {
        let hangs = Instant::now() + PATIENCE;
        let wait = until.map_or(hangs, |until| until.min(hangs));
        match self.lines.recv_timeout(wait.saturating_duration_since(Instant::now())) {
            Ok(line) => Ok(Console::Line(line)),
            Err(RecvTimeoutError::Disconnected) => Ok(Console::Ended),
            Err(RecvTimeoutError::Timeout) if wait < hangs => Ok(Console::Silent),
            Err(RecvTimeoutError::Timeout) => bail!("the guest said nothing for {} s", PATIENCE.as_secs()),
        }
    }
}

/// What a boot brought.
#[derive(Default)]
pub(super) struct Outcome {
    /// The exit code of each test.
    pub ended: Vec<(String, i32)>,
    pub table: Table,
}

/// Boots, shows the console, and returns how the tests ended.
pub(super) fn run(kernel: &Kernel, ramdisk: &Path, disk: &Path) -> Result<Outcome> {
    let guest = Guest::boot(kernel, ramdisk, disk)?;
    let mut outcome = Outcome::default();
    while let Console::Line(line) = guest.next(None)? {
        if let Some(end) = end_of_test(&line) {
            outcome.ended.push(end);
        } else if !outcome.table.takes(&line) {
            println!("  {line}");
        }
    }
    Ok(outcome)
}

/// "@@ENDED nvme 0".
fn end_of_test(line: &str) -> Option<(String, i32)> {
    let (name, code) = line.strip_prefix(ENDED)?.split_once(' ')?;
    Some((name.to_string(), code.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_test_is_recognised() {
        assert_eq!(end_of_test("@@ENDED nvme 3"), Some(("nvme".into(), 3)));
        assert_eq!(end_of_test("@@ENDED nvme"), None);
        assert_eq!(end_of_test("[    0.0] Linux"), None);
    }
}
