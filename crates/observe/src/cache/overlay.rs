//! Maps a file on an overlay to the file of a layer that holds its pages. The overlay's own file has none: reads and writes are passed
//! on. A candidate must match in inode number, size and time, so a renamed or redirected layer is never mistaken for it.

use crate::device::mount::{self, Mount};
use crate::files::{KernelFiles, Live};
use std::fs::File;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The layer's file, opened for reading; `None` where the layers are not visible (for example in a container).
pub(crate) fn layer_file(path: &Path) -> Option<File> {
    let path = path.canonicalize().ok()?;
    let wanted = path.metadata().ok()?;
    let key = Live.mount_of(&path).ok()?;
    let mounts = mount::parse(&Live.read(Path::new("/proc/self/mountinfo")).ok()?);
    let mount = mount::find(&mounts, &key, &path).filter(|m| m.kind == "overlay")?;
    candidates(mount, &path).into_iter().find_map(|candidate| {
        let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(candidate).ok()?;
        let found = file.metadata().ok()?;
        let same = |of: fn(&std::fs::Metadata) -> i64| of(&found) == of(&wanted);
        let is_it = found.is_file()
            && found.ino() == wanted.ino()
            && found.len() == wanted.len()
            && same(MetadataExt::mtime)
            && same(MetadataExt::mtime_nsec);
        is_it.then_some(file)
    })
}

/// The possible path of the file in each layer, upper layer first.
fn candidates(mount: &Mount, path: &Path) -> Vec<PathBuf> {
    let Ok(below) = path.strip_prefix(&mount.mount_point) else { return Vec::new() };
    // A bind mount of an overlay's directory shows only the tree below it.
    let inside = Path::new(mount.root.trim_start_matches('/')).join(below);
    mount::layers(mount).iter().map(Path::new).filter(|l| l.is_absolute()).map(|l| l.join(&inside)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_looked_for_in_the_upper_layer_first() {
        let line = "60 1 0:60 /sub /m rw - overlay overlay rw,lowerdir=/a:rel:/b,upperdir=/up,workdir=/w\n";
        let mounts = mount::parse(line);
        let found = candidates(&mounts[0], Path::new("/m/x/f"));
        assert_eq!(found, ["/up/sub/x/f", "/a/sub/x/f", "/b/sub/x/f"].map(PathBuf::from));
        assert!(candidates(&mounts[0], Path::new("/elsewhere")).is_empty());
    }

    #[test]
    fn a_file_on_no_overlay_has_no_layer() {
        assert!(layer_file(Path::new("/proc/self/status")).is_none());
    }
}
