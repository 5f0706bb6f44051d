//! Files that back loop devices: writing such a file changes data under the mounted file system.

use std::fs::{self, Metadata, OpenOptions};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The loop device backed by a file, if it is mounted, swapped on, or below another device.
pub(super) fn in_use(file: &Metadata) -> Option<PathBuf> {
    fs::read_dir("/sys/block").ok()?.flatten().find_map(|disk| {
        let image = fs::read_to_string(disk.path().join("loop/backing_file")).ok()?;
        // A removed file is shown with " (deleted)" after its name, so it cannot be found.
        let image = fs::metadata(image.trim_end_matches('\n')).ok()?;
        let device = Path::new("/dev").join(disk.file_name());
        ((image.dev(), image.ino()) == (file.dev(), file.ino()) && is_taken(&device)).then_some(device)
    })
}

/// Whether it is opened exclusively; where we lack permission to check, whether it may be.
fn is_taken(device: &Path) -> bool {
    let mut alone = OpenOptions::new();
    alone.read(true).custom_flags(libc::O_EXCL | libc::O_NONBLOCK).open(device).is_err()
}
