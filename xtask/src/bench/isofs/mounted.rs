//! An image mounted by one of the two for one sample, and unmounted when it is dropped.

use super::{Site, Who};
use anyhow::{Context as _, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// A mount.
pub struct Mounted {
    pub on: PathBuf,
    /// From the start of the program until the image could be seen.
    pub took: Duration,
}

impl Mounted {
    /// Mounts; both programs go to the background when the image is there.
    pub fn by(who: Who, site: &Site, image: &Path) -> Result<Self> {
        let on = site.dir.join("on");
        fs::create_dir_all(&on)?;
        let mut command = match who {
            Who::Fathom => {
                let mut command = Command::new(&site.fathom);
                command.args(["mount", "--daemon"]).arg(image).arg(&on);
                command
            }
            Who::Fuseiso => {
                let mut command = Command::new("fuseiso");
                command.arg(image).arg(&on);
                command
            }
            other => bail!("{} mounts nothing", other.name()),
        };
        Self::as_said(&mut command, on)
    }

    /// Runs a command that mounts and returns.
    pub fn as_said(command: &mut Command, on: PathBuf) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let begun = Instant::now();
        let status = command.status().with_context(|| format!("{name} could not be started"))?;
        ensure!(status.success(), "{name} did not mount the image: {status}");
        let mut mounted = Self { on, took: begun.elapsed() };
        while !is_mounted(&mounted.on) {
            ensure!(begun.elapsed() < PATIENCE, "{name} returned, and nothing is mounted");
            std::thread::sleep(Duration::from_millis(1));
            mounted.took = begun.elapsed();
        }
        Ok(mounted)
    }

    /// Resident memory of the process that serves it, MiB.
    pub fn resident_mib(&self, program: &Path) -> Result<f64> {
        let mut most = None;
        for entry in fs::read_dir("/proc")?.flatten() {
            let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let ours = words.starts_with(program.as_os_str().as_encoded_bytes())
                && words.windows(6).any(|word| word == b"\0mount")
                && contains(&words, self.on.as_os_str().as_encoded_bytes());
            let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
            let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
            if let (true, Some(kib)) = (ours, kib) {
                most = Some(kib.max(most.unwrap_or(0.0)));
            }
        }
        Ok(most.context("the process that serves the mount was not found")? / 1024.0)
    }
}

fn contains(words: &[u8], part: &[u8]) -> bool {
    words.windows(part.len()).any(|window| window == part)
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let begun = Instant::now();
        while is_mounted(&self.on) {
            let ended = Command::new("umount").arg(&self.on).stderr(Stdio::null()).status();
            if !ended.is_ok_and(|status| status.success()) {
                std::thread::sleep(Duration::from_millis(20));
            }
            if begun.elapsed() > PATIENCE {
                eprintln!("{} stays mounted", self.on.display());
                break;
            }
        }
    }
}

fn is_mounted(on: &Path) -> bool {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let on = on.to_string_lossy();
    table.lines().any(|line| line.split(' ').nth(4) == Some(&*on))
}
