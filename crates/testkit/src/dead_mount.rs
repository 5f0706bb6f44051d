//! A mount that does not respond, like one with a dead server: FUSE without a process at the other end.

use crate::{TestDir, mounts, need_root, skip};
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// A process that accesses anything below it blocks until this is dropped.
#[derive(Debug)]
pub struct DeadMount {
    mount_point: PathBuf,
    /// Closing it releases the blocked processes.
    server: Option<File>,
    _dir: TestDir,
}

impl DeadMount {
    /// Mounts one; `None`, with the skip recorded, if this machine does not allow it.
    #[must_use]
    pub fn mount(test: &str) -> Option<Self> {
        if !need_root(test) {
            return None;
        }
        let server = match OpenOptions::new().read(true).write(true).open("/dev/fuse") {
            Ok(server) => server,
            Err(e) => {
                skip(test, &format!("needs /dev/fuse: {e}"));
                return None;
            }
        };
        let dir = TestDir::new();
        let mount_point = dir.subdir("mnt");
        let options = format!("fd={},rootmode=40755,user_id=0,group_id=0", server.as_raw_fd());
        if let Err(e) = mounts::mount(Path::new("dead"), &mount_point, "fuse", 0, &options) {
            skip(test, &format!("a file system of FUSE could not be mounted: {e}"));
            return None;
        }
        Some(Self { mount_point, server: Some(server), _dir: dir })
    }

    /// Its mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.mount_point
    }
}

impl Drop for DeadMount {
    fn drop(&mut self) {
        drop(self.server.take());
        let _ = mounts::unmount(&self.mount_point);
    }
}
