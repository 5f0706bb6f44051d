//! A loop device over a file or over another device, whose queue can be looked at and set. When it is dropped the scheduler is what it
//! was, and the device is gone. It needs root and knows no file system.

use anyhow::{Context as _, Result, bail, ensure};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A loop device that was set up here.
pub struct LoopDevice {
    path: PathBuf,
    /// The scheduler it had before the first change.
    before: Option<String>,
    /// Whether it reads and writes what lies below past the page cache.
    pub direct: bool,
}

impl LoopDevice {
    /// A device over this file or device, with direct I/O to it where that can be had.
    pub fn over(below: &Path) -> Result<Self> {
        let set_up = |direct: &str| {
            tool("losetup", &["--find", "--show", direct].map(OsStr::new), &[below.as_os_str()])
        };
        let (made, asked) = match set_up("--direct-io=on") {
            Ok(made) => (made, true),
            Err(_) => (set_up("--direct-io=off")?, false),
        };
        let mut device = Self { path: made.trim().into(), before: None, direct: asked };
        // losetup may succeed although direct I/O was refused.
        device.direct = asked && device.queue_file("../loop/dio").is_ok_and(|text| text.trim() == "1");
        Ok(device)
    }

    /// Its device file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its number, as the kernel writes it: "7:0".
    pub fn number(&self) -> Result<String> {
        Ok(self.queue_file("../dev")?.trim().to_owned())
    }

    /// The schedulers its queue offers, and the one in use.
    pub fn schedulers(&self) -> Result<(Vec<String>, String)> {
        Ok(choices(&self.queue_file("scheduler")?))
    }

    /// Puts a scheduler on its queue.
    pub fn schedule(&mut self, scheduler: &str) -> Result<()> {
        let (offered, now) = self.schedulers()?;
        if !offered.iter().any(|o| o == scheduler) {
            bail!("{} offers {} and not {scheduler}", self.path.display(), offered.join(", "));
        }
        self.before.get_or_insert(now);
        self.set("scheduler", scheduler)?;
        let (_, now) = self.schedulers()?;
        ensure!(now == scheduler, "{} stays {now} although {scheduler} was asked for", self.path.display());
        Ok(())
    }

    /// A file of the queue's directory in sysfs.
    pub fn queue_file(&self, name: &str) -> Result<String> {
        let path = self.queue(name)?;
        std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
    }

    /// Writes one.
    pub fn set(&self, name: &str, value: &str) -> Result<()> {
        let path = self.queue(name)?;
        std::fs::write(&path, value)
            .with_context(|| format!("{value} cannot be written to {}", path.display()))
    }

    fn queue(&self, name: &str) -> Result<PathBuf> {
        let device = self.path.file_name().context("the loop device has no name")?;
        Ok(Path::new("/sys/block").join(device).join("queue").join(name))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            show_failure(self.schedule(&before));
        }
        show_failure(tool("losetup", &["--detach"].map(OsStr::new), &[self.path.as_os_str()]).map(|_| ()));
    }
}

/// What goes wrong while something is undone is said; the rest is undone all the same.
pub fn show_failure(result: Result<()>) {
    if let Err(error) = result {
        eprintln!("{error:#}");
    }
}

/// `[none] mq-deadline`: all of them, and the one in brackets.
fn choices(text: &str) -> (Vec<String>, String) {
    let bare = |word: &str| word.trim_matches(['[', ']']).to_owned();
    let now = text.split_whitespace().find(|w| w.starts_with('[')).map(bare).unwrap_or_default();
    (text.split_whitespace().map(bare).collect(), now)
}

/// Runs a system tool with options and what they are about; what it prints on stdout.
pub fn tool(name: &str, options: &[&OsStr], about: &[&OsStr]) -> Result<String> {
    let args = [options, about].concat();
    let output =
        Command::new(name).args(&args).output().with_context(|| format!("{name} could not be started"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} {args:?}: {}", errors.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether this process is root's.
pub fn root() -> bool {
    // SAFETY: no memory is handed over.
    unsafe { libc::geteuid() == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_use_stands_in_brackets() {
        let (all, now) = choices("none [mq-deadline] kyber bfq\n");
        assert_eq!((all.join(" ").as_str(), now.as_str()), ("none mq-deadline kyber bfq", "mq-deadline"));
    }

    #[test]
    fn a_device_over_a_device_is_there_and_gone() {
        let test = "a_device_over_a_device_is_there_and_gone";
        if !fathom_testkit::need_root(test) {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("disk");
        std::fs::write(&file, vec![0; 1 << 20]).unwrap();
        let lower = match LoopDevice::over(&file) {
            Ok(device) => device,
            Err(error) => return fathom_testkit::skip(test, &format!("no loop device: {error:#}")),
        };
        let mut upper = LoopDevice::over(lower.path()).unwrap();
        assert_ne!(upper.number().unwrap(), lower.number().unwrap());
        assert!(upper.schedule("no-such-scheduler").is_err());
        for scheduler in upper.schedulers().unwrap().0 {
            upper.schedule(&scheduler).unwrap();
        }
        drop(upper);
        drop(lower);
        // Another program that looks at all loop devices may hold it; it is detached when that is done.
        let limit = std::time::Instant::now() + std::time::Duration::from_secs(60);
        let left = || Command::new("losetup").arg("--list").output().unwrap().stdout;
        while String::from_utf8_lossy(&left()).contains(&*dir.path().to_string_lossy()) {
            assert!(std::time::Instant::now() < limit, "the device is still there");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}
