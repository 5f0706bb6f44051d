//! One boot of the guest: its console is read until it powers off, and the marks in it say how each test ended.

use super::kernel::Kernel;
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Size of the guest's NVMe disk.
const DISK_BYTES: u64 = 1 << 30;
/// A guest that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(600);
/// The line that init prints after a test: this, its name, its exit code.
const ENDED: &str = "@@ENDED ";

/// Kills QEMU however the boot ends.
struct Guest(Child);

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Boots, shows the console, and returns the exit code of each test.
pub(super) fn run(dir: &Path, kernel: &Kernel, ramdisk: &Path) -> Result<Vec<(String, i32)>> {
    let disk = dir.join("nvme");
    File::create(&disk)?.set_len(DISK_BYTES)?;
    let mut command = Command::new("qemu-system-x86_64");
    command.args(["-accel", "tcg", "-cpu", "max", "-m", "2G", "-smp", "2", "-no-reboot"]);
    command.args(["-display", "none", "-nic", "none", "-serial", "stdio", "-monitor", "none"]);
    command.arg("-kernel").arg(&kernel.image).arg("-initrd").arg(ramdisk);
    command.args(["-append", "console=ttyS0 quiet panic=-1"]);
    command.arg("-drive").arg(format!("file={},if=none,id=disk,format=raw", disk.display()));
    command.args(["-device", "nvme,serial=lab,drive=disk"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut guest = Guest(command.spawn().context("qemu-system-x86_64 could not be started")?);
    let console = guest.0.stdout.take().context("QEMU has no console")?;
    let (send, lines) = mpsc::channel();
    std::thread::spawn(move || {
        // Kernel messages may hold any bytes.
        let lines = BufReader::new(console).split(b'\n').map_while(Result::ok);
        lines.map(|line| String::from_utf8_lossy(&line).into_owned()).try_for_each(|line| send.send(line))
    });
    let began = Instant::now();
    let mut ended = Vec::new();
    loop {
        match lines.recv_timeout(PATIENCE.saturating_sub(began.elapsed())) {
            Ok(line) => match end_of_test(line.trim_end()) {
                Some(end) => ended.push(end),
                None => println!("  {}", line.trim_end()),
            },
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(ended),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                bail!("the guest did not end within {} s", PATIENCE.as_secs())
            }
        }
    }
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
