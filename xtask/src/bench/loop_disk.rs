//! A disk in a file: a loop device with a file system, mounted in a directory, whose I/O scheduler can be chosen. When it is dropped
//! the scheduler is what it was, and mount, device and file are gone. It needs root and knows no benchmark.

use super::files;
use super::loop_device::{LoopDevice, root, show_failure, tool};
use anyhow::{Context as _, Result, bail, ensure};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How a disk is made and mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    pub file_system: &'static str,
    /// Options of mke2fs.
    pub make: &'static [&'static str],
    /// Options of mount.
    pub mount: &'static str,
}

impl Form {
    /// A file system with a journal, as distributions make it.
    pub const fn ordered(file_system: &'static str) -> Self {
        Self { file_system, make: &[], mount: "data=ordered" }
    }
}

/// A mounted loop device. Fields are set as its making goes on, so that dropping undoes what was done.
pub struct LoopDisk {
    mounted: bool,
    mount_point: PathBuf,
    form: Form,
    pub device: LoopDevice,
    file: Option<Backing>,
}

/// The file below; it goes last.
struct Backing(PathBuf);

impl LoopDisk {
    /// Makes a file of this size in a directory, and a device with the first of these file systems that works on it.
    pub fn made(dir: &Path, bytes: u64, file_systems: &[&'static str]) -> Result<Self> {
        ensure!(root(), "a loop device can only be set up by root");
        let file = Backing(dir.join("disk"));
        files::allocate(&file.0, bytes).with_context(|| {
            format!("the disk {} of {} MiB could not be made", file.0.display(), bytes >> 20)
        })?;
        let device = LoopDevice::over(&file.0)?;
        let forms: Vec<Form> = file_systems.iter().copied().map(Form::ordered).collect();
        let mut disk = Self::on(device, dir, &forms)?;
        disk.file = Some(file);
        Ok(disk)
    }

    /// The first of these forms that works on a device, mounted below a directory.
    pub fn on(device: LoopDevice, dir: &Path, forms: &[Form]) -> Result<Self> {
        let mount_point = dir.join("mnt");
        std::fs::create_dir_all(&mount_point)?;
        let form = *forms.first().context("no file system is named")?;
        let mut disk = Self { mounted: false, mount_point, form, device, file: None };
        for form in forms {
            disk.form = *form;
            let kind = ["-q", "-F", "-t", form.file_system];
            let options: Vec<&OsStr> = kind.iter().chain(form.make).map(OsStr::new).collect();
            tool("mke2fs", &options, &[disk.device.path().as_os_str()])?;
            if disk.mount().is_ok() {
                return Ok(disk);
            }
        }
        let names: Vec<&str> = forms.iter().map(|f| f.file_system).collect();
        bail!("none of the file systems {names:?} can be mounted")
    }

    /// Where its files are.
    pub fn dir(&self) -> &Path {
        &self.mount_point
    }

    pub fn file_system(&self) -> &'static str {
        self.form.file_system
    }

    /// Drops its files from the page cache: remounting drops the pages of this disk and of no other.
    pub fn forget(&mut self) -> Result<()> {
        self.unmount()?;
        tool("blockdev", &["--flushbufs"].map(OsStr::new), &[self.device.path().as_os_str()])?;
        if let Some(file) = &self.file {
            files::evict(&file.0)?;
        }
        self.mount()
    }

    /// Sets how far the kernel reads ahead, and reads it back.
    pub fn read_ahead(&self, kb: u32) -> Result<()> {
        self.device.set("read_ahead_kb", &kb.to_string())?;
        let now = self.device.queue_file("read_ahead_kb")?;
        ensure!(
            now.trim() == kb.to_string(),
            "the read-ahead of {} is {} although {kb} was asked for",
            self.device.path().display(),
            now.trim()
        );
        Ok(())
    }

    fn mount(&mut self) -> Result<()> {
        let options = ["-t", self.form.file_system, "-o", self.form.mount].map(OsStr::new);
        tool("mount", &options, &[self.device.path().as_os_str(), self.mount_point.as_os_str()])?;
        self.mounted = true;
        Ok(())
    }

    fn unmount(&mut self) -> Result<()> {
        // A program that another thread is starting holds what is open here, until it runs.
        let until = Instant::now() + Duration::from_secs(5);
        while let Err(error) = tool("umount", &[], &[self.mount_point.as_os_str()]) {
            if Instant::now() > until {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        self.mounted = false;
        Ok(())
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        if self.mounted {
            show_failure(self.unmount());
        }
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        if self.0.exists() {
            show_failure(std::fs::remove_file(&self.0).map_err(Into::into));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

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
        let device = disk.device.path().to_owned();
        std::fs::write(disk.dir().join("a"), vec![7; 1 << 20]).unwrap();
        for scheduler in disk.device.schedulers().unwrap().0 {
            disk.device.schedule(&scheduler).unwrap();
        }
        assert!(disk.device.schedule("no-such-scheduler").is_err());
        disk.forget().unwrap();
        assert_eq!(files::Mapping::of(&disk.dir().join("a")).unwrap().resident_share().unwrap(), 0.0);
        drop(disk);
        assert!(!dir.path().join("disk").exists() && !dir.path().join("mnt/a").exists());
        let left = Command::new("losetup").arg(device).output().unwrap();
        assert!(!String::from_utf8_lossy(&left.stdout).contains(&*dir.path().to_string_lossy()));
    }
}
