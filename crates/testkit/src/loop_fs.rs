//! A real file system on a loop device: a sparse image in a test directory, formatted, mounted, and taken down again on drop. For
//! tests of full disks, read-only and vanished mounts, and of the I/O that reaches a block device.

use crate::{TestDir, find_tool, mounts, need_root, need_tool, skip};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Timeout for hanging commands.
const PATIENCE: Duration = Duration::from_secs(60);

/// The available file systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// ext4, made by mkfs.ext4.
    Ext4,
    /// XFS, made by mkfs.xfs.
    Xfs,
    /// btrfs, made by mkfs.btrfs.
    Btrfs,
    /// ext2 with inodes of 128 bytes, which have no space for a birth time; made by mkfs.ext4.
    OldExt2,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::OldExt2 => "ext2",
        }
    }

    fn maker(self) -> &'static str {
        match self {
            Self::Ext4 | Self::OldExt2 => "mkfs.ext4",
            Self::Xfs => "mkfs.xfs",
            Self::Btrfs => "mkfs.btrfs",
        }
    }

    fn maker_options(self) -> &'static [&'static str] {
        match self {
            Self::OldExt2 => &["-t", "ext2", "-I", "128"],
            _ => &[],
        }
    }

    /// mkfs.xfs needs at least 300 MiB, mkfs.btrfs 110; the image is sparse, so the size costs nothing.
    fn default_mib(self) -> u64 {
        match self {
            Self::Ext4 | Self::OldExt2 => 64,
            Self::Xfs => 320,
            Self::Btrfs => 256,
        }
    }
}

/// Options, set before mounting: `LoopFs::ext4("my_test").mebibytes(32).mount()`.
#[derive(Clone, Debug)]
pub struct LoopFsOptions {
    test: String,
    kind: Kind,
    image_bytes: u64,
    read_only: bool,
    direct_io: bool,
    image_dir: Option<PathBuf>,
}

/// A mounted file system. Dropping it unmounts, detaches and deletes, also while the test panics; what a SIGKILL leaves is swept
/// by the next test that creates a [`TestDir`].
#[derive(Debug)]
pub struct LoopFs {
    mount_point: PathBuf,
    device: PathBuf,
    kind: Kind,
    /// Last, so that it is dropped after unmounting.
    _dir: TestDir,
}

impl LoopFs {
    /// An ext4 of 64 MiB for the named test.
    #[must_use]
    pub fn ext4(test: &str) -> LoopFsOptions {
        Self::of(Kind::Ext4, test)
    }

    /// An XFS of 320 MiB for the named test.
    #[must_use]
    pub fn xfs(test: &str) -> LoopFsOptions {
        Self::of(Kind::Xfs, test)
    }

    /// A file system of the given kind for the named test.
    #[must_use]
    pub fn of(kind: Kind, test: &str) -> LoopFsOptions {
        LoopFsOptions {
            test: test.into(),
            kind,
            image_bytes: kind.default_mib() << 20,
            read_only: false,
            direct_io: false,
            image_dir: None,
        }
    }

    /// Its mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.mount_point
    }

    /// The underlying block device: "/dev/loop3".
    #[must_use]
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// Kind of the file system.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Remounts it read-only. Panics if a file stays open for writing, as the kernel refuses then. This may happen briefly: a
    /// child started by another test inherits all open files until its exec.
    pub fn remount_read_only(&self) {
        let limit = Instant::now() + PATIENCE;
        while let Err(e) = mounts::remount(&self.mount_point, libc::MS_RDONLY) {
            let busy = e.raw_os_error() == Some(libc::EBUSY) && Instant::now() < limit;
            assert!(busy, "{} could not be made read-only: {e}", self.mount_point.display());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Remounts it writable.
    pub fn remount_writable(&self) {
        if let Err(e) = mounts::remount(&self.mount_point, 0) {
            panic!("{} could not be made writable: {e}", self.mount_point.display());
        }
    }

    /// Detaches the mount at once, like `umount -l`: open files continue to work, but no path does.
    pub fn vanish(&self) {
        if let Err(e) = mounts::unmount_lazily(&self.mount_point) {
            panic!("{} could not be unmounted: {e}", self.mount_point.display());
        }
    }

    /// Shuts the file system down like a lost disk: from now on every operation that needs the disk fails with EIO, on open files
    /// too.
    pub fn shut_down(&self) {
        /// `_IOR('X', 125, u32)`, the same number on ext4, XFS and f2fs.
        const SHUTDOWN: libc::c_ulong = 0x8004_587d;
        /// Flushes neither data nor log first.
        const NO_LOG_FLUSH: u32 = 2;
        let root =
            File::open(&self.mount_point).unwrap_or_else(|e| panic!("{}: {e}", self.mount_point.display()));
        let how = NO_LOG_FLUSH;
        // SAFETY: the descriptor is open and `how` is the u32 this ioctl reads.
        let done = unsafe { libc::ioctl(root.as_raw_fd(), SHUTDOWN, &raw const how) };
        assert!(done == 0, "the file system could not be shut down: {}", std::io::Error::last_os_error());
    }
}

impl LoopFsOptions {
    /// Size of the image in MiB. ext4 works from about 1, XFS from 300.
    #[must_use]
    pub fn mebibytes(mut self, mib: u64) -> Self {
        self.image_bytes = mib << 20;
        self
    }

    /// Mounts it read-only from the start.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Makes the loop device bypass the page cache of the file system that contains its image, so that its I/O reaches the disk
    /// below. Without it the image is soon cached, and the loop device runs at memory speed.
    #[must_use]
    pub fn direct_io(mut self) -> Self {
        self.direct_io = true;
        self
    }

    /// Puts the image into this directory (of a memory file system, say) instead of a separate one. It must exist until the file
    /// system is dropped.
    #[must_use]
    pub fn image_in(mut self, dir: &Path) -> Self {
        self.image_dir = Some(dir.to_path_buf());
        self
    }

    /// Creates and mounts it; `None`, with the skip recorded, if this machine cannot (not root, a tool missing, no loop devices).
    #[must_use]
    pub fn mount(self) -> Option<LoopFs> {
        if !need_root(&self.test)
            || !need_tool(&self.test, "losetup")
            || !need_tool(&self.test, self.kind.maker())
        {
            return None;
        }
        let dir = TestDir::new();
        let image = self.image_dir.as_deref().unwrap_or(dir.path()).join("image");
        self.make_image(&image);
        let device = match attach(&image, self.direct_io) {
            Ok(device) => device,
            Err(why) => {
                skip(&self.test, &format!("no loop device could be had: {why}"));
                return None;
            }
        };
        let mount_point = dir.subdir("mnt");
        let flags = if self.read_only { libc::MS_RDONLY } else { 0 };
        if let Err(e) = mounts::mount(&device, &mount_point, self.kind.name(), flags, "") {
            mounts::detach(&device);
            skip(&self.test, &format!("{} on a loop device could not be mounted: {e}", self.kind.name()));
            return None;
        }
        Some(LoopFs { mount_point, device, kind: self.kind, _dir: dir })
    }

    /// A sparse file containing the file system. mkfs works on plain files, so this needs no device.
    fn make_image(&self, image: &Path) {
        File::create(image)
            .and_then(|f| f.set_len(self.image_bytes))
            .unwrap_or_else(|e| panic!("{}: {e}", image.display()));
        let maker = find_tool(self.kind.maker()).unwrap_or_else(|| self.kind.maker().into());
        let made = Command::new(&maker)
            .arg("-q")
            .args(self.kind.maker_options())
            .arg(image)
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|e| panic!("{} could not be started: {e}", maker.display()));
        assert!(
            made.status.success(),
            "{} refused an image of {} bytes: {}",
            maker.display(),
            self.image_bytes,
            String::from_utf8_lossy(&made.stderr)
        );
    }
}

impl Drop for LoopFs {
    fn drop(&mut self) {
        // After `vanish` there is no mount to find; the directory's own drop cleans up either way.
        let _ = mounts::unmount(&self.mount_point);
        mounts::detach(&self.device);
    }
}

/// Attaches an image to a free loop device. Two processes may be offered the same free device, so a refusal is retried.
fn attach(image: &Path, direct_io: bool) -> Result<PathBuf, String> {
    let losetup = find_tool("losetup").unwrap_or_else(|| "losetup".into());
    let mut why = String::new();
    for _ in 0..5 {
        let out = Command::new(&losetup)
            .args(["--find", "--show"])
            .arg(if direct_io { "--direct-io=on" } else { "--direct-io=off" })
            .arg(image)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| e.to_string())?;
        if out.status.success() {
            return Ok(PathBuf::from(String::from_utf8_lossy(&out.stdout).trim()));
        }
        why = String::from_utf8_lossy(&out.stderr).trim().to_string();
    }
    Err(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    fn gone(path: &Path) {
        assert!(mounts::mounts_below(path).is_empty(), "still mounted");
        assert!(!path.exists(), "directory still there");
        mounts::tests::assert_detached(path.parent().unwrap());
    }

    #[test]
    fn a_file_system_comes_and_goes() {
        let Some(fs) = LoopFs::ext4("a_file_system_comes_and_goes").mebibytes(8).mount() else { return };
        fs::write(fs.path().join("file"), "x").unwrap();
        let path = fs.path().to_path_buf();
        assert_eq!(mounts::mounts_below(&path), [path.as_path()]);
        drop(fs);
        gone(&path);
    }

    #[test]
    fn a_busy_file_system_goes_too() {
        let Some(fs) = LoopFs::ext4("a_busy_file_system_goes_too").mebibytes(8).mount() else { return };
        let open = File::create(fs.path().join("file")).unwrap();
        let path = fs.path().to_path_buf();
        drop(fs);
        assert!(mounts::mounts_below(&path).is_empty() && !path.exists());
        drop(open);
        gone(&path);
    }

    #[test]
    fn a_panic_takes_it_down() {
        let Some(fs) = LoopFs::ext4("a_panic_takes_it_down").mebibytes(8).mount() else { return };
        let path = fs.path().to_path_buf();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _fs = fs;
            std::panic::resume_unwind(Box::new("the test failed"));
        }));
        assert!(result.is_err());
        gone(&path);
    }

    #[test]
    fn it_is_as_large_as_asked() {
        let Some(fs) = LoopFs::ext4("it_is_as_large_as_asked").mebibytes(4).mount() else { return };
        let mut file = File::create(fs.path().join("file")).unwrap();
        let mut written = 0;
        let error = loop {
            match file.write(&[1u8; 65536]) {
                Ok(n) => written += n,
                Err(e) => break e,
            }
        };
        assert_eq!(error.raw_os_error(), Some(libc::ENOSPC));
        assert!((1 << 20..4 << 20).contains(&written), "{written} bytes fitted");
    }

    #[test]
    fn read_only_is_read_only() {
        let Some(fs) = LoopFs::ext4("read_only_is_read_only").mebibytes(8).mount() else { return };
        let write = || fs::write(fs.path().join("file"), "x").map_err(|e| e.raw_os_error());
        assert_eq!(write(), Ok(()));
        fs.remount_read_only();
        assert_eq!(write(), Err(Some(libc::EROFS)));
        fs.remount_writable();
        assert_eq!(write(), Ok(()));
    }

    #[test]
    fn a_vanished_mount_takes_its_paths_along() {
        let Some(fs) = LoopFs::ext4("a_vanished_mount_takes_its_paths_along").mebibytes(8).mount() else {
            return;
        };
        fs::write(fs.path().join("file"), "x").unwrap();
        fs.vanish();
        assert!(fs.path().exists() && !fs.path().join("file").exists());
    }

    #[test]
    fn a_shut_down_file_system_answers_eio() {
        let Some(fs) = LoopFs::ext4("a_shut_down_file_system_answers_eio").mebibytes(8).mount() else {
            return;
        };
        let mut file = File::create(fs.path().join("file")).unwrap();
        fs.shut_down();
        let error = file.write_all(b"x").and_then(|()| file.sync_all()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EIO));
    }

    #[test]
    fn direct_io_is_what_the_device_does() {
        let name = "direct_io_is_what_the_device_does";
        for direct in [false, true] {
            let options = LoopFs::ext4(name).mebibytes(8);
            // Memory file systems do not support O_DIRECT.
            if TestDir::new().in_memory() {
                return skip(name, "needs a directory on a real file system");
            }
            let Some(fs) = (if direct { options.direct_io() } else { options }).mount() else { return };
            let device = fs.device().file_name().unwrap().to_str().unwrap();
            let told = fs::read_to_string(format!("/sys/block/{device}/loop/dio")).unwrap();
            assert_eq!(told.trim(), if direct { "1" } else { "0" });
        }
    }

    #[test]
    fn xfs_can_be_had() {
        let Some(fs) = LoopFs::xfs("xfs_can_be_had").mount() else { return };
        fs::write(fs.path().join("file"), "x").unwrap();
        assert_eq!(fs.kind(), Kind::Xfs);
    }
}
