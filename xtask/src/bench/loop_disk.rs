//! A disk in a file: a loop device with a file system, mounted in a directory, whose I/O scheduler can be chosen. When it is dropped
//! the scheduler is what it was, and mount, device and file are gone. It needs root and knows no benchmark.

use super::files;
use anyhow::{Context as _, Result, bail, ensure};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted loop device. Fields are set as its making goes on, so that dropping undoes what was done.
pub struct LoopDisk {
    file: PathBuf,
    mount_point: PathBuf,
    device: Option<PathBuf>,
    mounted: bool,
    /// The scheduler it had before the first change.
    before: Option<String>,
    pub file_system: &'static str,
    /// Whether the device reads and writes its file past the page cache.
    pub direct: bool,
}

impl LoopDisk {
    /// Makes a file of this size in a directory, and a device with the first of these file systems that works on it.
    pub fn made(dir: &Path, bytes: u64, file_systems: &[&'static str]) -> Result<Self> {
        // SAFETY: no memory is handed over.
        ensure!(unsafe { libc::geteuid() } == 0, "a loop device can only be set up by root");
        let mount_point = dir.join("mnt");
        std::fs::create_dir_all(&mount_point)?;
        let file = dir.join("disk");
        files::allocate(&file, bytes).with_context(|| {
            format!("the disk {} of {} MiB could not be made", file.display(), bytes >> 20)
        })?;
        let mut disk = Self {
            file,
            mount_point,
            device: None,
            mounted: false,
            before: None,
            file_system: "",
            direct: true,
        };
        let set_up = |direct: &str| {
            tool(
                "losetup",
                &[OsStr::new("--find"), "--show".as_ref(), direct.as_ref(), disk.file.as_os_str()],
            )
        };
        let device = match set_up("--direct-io=on") {
            Ok(device) => device,
            Err(_) => {
                disk.direct = false;
                set_up("--direct-io=off")?
            }
        };
        disk.device = Some(device.trim().into());
        // losetup may succeed although direct I/O was refused.
        disk.direct = disk.direct && disk.queue_file("../loop/dio").is_ok_and(|text| text.trim() == "1");
        for file_system in file_systems {
            disk.file_system = file_system;
            let kind = ["-q", "-F", "-t", file_system].map(OsStr::new);
            tool("mke2fs", &[&kind[..], &[disk.device()?.as_os_str()]].concat())?;
            if disk.mount().is_ok() {
                return Ok(disk);
            }
        }
        bail!("none of the file systems {file_systems:?} can be mounted")
    }

    /// Where its files are.
    pub fn dir(&self) -> &Path {
        &self.mount_point
    }

    /// The schedulers its queue offers, and the one in use.
    pub fn schedulers(&self) -> Result<(Vec<String>, String)> {
        Ok(choices(&self.queue_file("scheduler")?))
    }

    /// Puts a scheduler on its queue.
    pub fn schedule(&mut self, scheduler: &str) -> Result<()> {
        let (_, now) = self.schedulers()?;
        self.before.get_or_insert(now);
        let path = self.queue("scheduler")?;
        std::fs::write(&path, scheduler)
            .with_context(|| format!("{scheduler} cannot be written to {}", path.display()))?;
        let (_, now) = self.schedulers()?;
        ensure!(now == scheduler, "{} stays {now} although {scheduler} was asked for", path.display());
        Ok(())
    }

    /// Drops everything the page cache holds of its files: mounting anew forgets this disk's pages and disturbs nobody else's.
    pub fn forget(&mut self) -> Result<()> {
        self.unmount()?;
        tool("blockdev", &[OsStr::new("--flushbufs"), self.device()?.as_os_str()])?;
        files::evict(&self.file)?;
        self.mount()
    }

    /// Sets how far the kernel reads ahead, and reads it back.
    pub fn read_ahead(&self, kb: u32) -> Result<()> {
        let path = self.queue("read_ahead_kb")?;
        std::fs::write(&path, kb.to_string())
            .with_context(|| format!("{kb} cannot be written to {}", path.display()))?;
        let now = self.queue_file("read_ahead_kb")?;
        ensure!(
            now.trim() == kb.to_string(),
            "{} is {} although {kb} was asked for",
            path.display(),
            now.trim()
        );
        Ok(())
    }

    /// Its device file.
    pub fn device(&self) -> Result<&PathBuf> {
        self.device.as_ref().context("the loop device is gone")
    }

    fn queue(&self, name: &str) -> Result<PathBuf> {
        let device = self.device()?.file_name().context("the loop device has no name")?;
        Ok(Path::new("/sys/block").join(device).join("queue").join(name))
    }

    /// A file of the queue's directory in sysfs.
    pub fn queue_file(&self, name: &str) -> Result<String> {
        let path = self.queue(name)?;
        std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
    }

    fn mount(&mut self) -> Result<()> {
        let options = ["-t", self.file_system, "-o", "data=ordered"].map(OsStr::new);
        tool("mount", &[&options[..], &[self.device()?.as_os_str(), self.mount_point.as_os_str()]].concat())?;
        self.mounted = true;
        Ok(())
    }

    fn unmount(&mut self) -> Result<()> {
        tool("umount", &[self.mount_point.as_os_str()])?;
        self.mounted = false;
        Ok(())
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        let told = |result: Result<()>| {
            if let Err(error) = result {
                eprintln!("{error:#}");
            }
        };
        if let Some(before) = self.before.take() {
            told(self.schedule(&before));
        }
        if self.mounted {
            told(self.unmount());
        }
        if let Some(device) = self.device.take() {
            told(tool("losetup", &[OsStr::new("--detach"), device.as_os_str()]).map(|_| ()));
        }
        told(std::fs::remove_file(&self.file).map_err(Into::into));
    }
}

/// "[none] mq-deadline": all of them, and the one in brackets.
fn choices(text: &str) -> (Vec<String>, String) {
    let bare = |word: &str| word.trim_matches(['[', ']']).to_owned();
    let now = text.split_whitespace().find(|w| w.starts_with('[')).map(bare).unwrap_or_default();
    (text.split_whitespace().map(bare).collect(), now)
}

/// Runs a system tool; what it prints on stdout.
fn tool(name: &str, args: &[&OsStr]) -> Result<String> {
    let output =
        Command::new(name).args(args).output().with_context(|| format!("{name} could not be started"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} {args:?}: {}", errors.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
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
    fn a_disk_is_mounted_scheduled_forgotten_and_gone() {
        let test = "a_disk_is_mounted_scheduled_forgotten_and_gone";
        if !fathom_testkit::need_root(test) {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let mut disk = match LoopDisk::made(dir.path(), 16 << 20, &["ext3", "ext4"]) {
            Ok(disk) => disk,
            Err(error) => return fathom_testkit::skip(test, &format!("no loop device: {error:#}")),
        };
        let device = disk.device().unwrap().clone();
        std::fs::write(disk.dir().join("a"), vec![7; 1 << 20]).unwrap();
        for scheduler in disk.schedulers().unwrap().0 {
            disk.schedule(&scheduler).unwrap();
        }
        assert!(disk.schedule("no-such-scheduler").is_err());
        disk.forget().unwrap();
        assert_eq!(files::Mapping::of(&disk.dir().join("a")).unwrap().resident_share().unwrap(), 0.0);
        drop(disk);
        assert!(!dir.path().join("disk").exists() && !dir.path().join("mnt/a").exists());
        let left = Command::new("losetup").arg(device).output().unwrap();
        assert!(!String::from_utf8_lossy(&left.stdout).contains(&*dir.path().to_string_lossy()));
    }
}
