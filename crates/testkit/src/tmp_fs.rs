//! A tmpfs of a chosen size: the quickest full disk, and a file system without a block device.

use crate::{TestDir, mounts, need_root, skip};
use std::path::{Path, PathBuf};

/// A mounted tmpfs; unmounted on drop.
#[derive(Debug)]
pub struct TmpFs {
    mount_point: PathBuf,
    _dir: TestDir,
}

impl TmpFs {
    /// Mounts one of `bytes` (rounded up to pages by the kernel); `None`, with the skip recorded, if this machine does not allow it.
    #[must_use]
    pub fn mount(test: &str, bytes: u64) -> Option<Self> {
        if !need_root(test) {
            return None;
        }
        let dir = TestDir::new();
        let mount_point = dir.subdir("mnt");
        let size = format!("size={bytes},mode=755");
        if let Err(e) = mounts::mount(Path::new("tmpfs"), &mount_point, "tmpfs", 0, &size) {
            skip(test, &format!("a tmpfs could not be mounted: {e}"));
            return None;
        }
        Some(Self { mount_point, _dir: dir })
    }

    /// Its mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.mount_point
    }
}

impl Drop for TmpFs {
    fn drop(&mut self) {
        let _ = mounts::unmount(&self.mount_point);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tmpfs_is_full_when_it_is_full() {
        let Some(fs) = TmpFs::mount("a_tmpfs_is_full_when_it_is_full", 1 << 20) else { return };
        let error = std::fs::write(fs.path().join("file"), vec![0u8; 2 << 20]).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOSPC));
        let path = fs.path().to_path_buf();
        drop(fs);
        assert!(!path.exists());
    }
}
