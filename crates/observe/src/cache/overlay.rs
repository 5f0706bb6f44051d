//! Maps a file on an overlay to the file of a layer that holds its pages. The overlay's own file has none: reads and writes are passed
//! on. A candidate must match in size and time, and in a lower layer in inode number, so a renamed or redirected layer is never mistaken
//! for it.

use crate::device::mount::{self, Mount};
use crate::files::{KernelFiles, Live};
use std::fs::File;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// More files are not looked up one by one.
const MOST_FILES: usize = 64;

/// The layer's file, opened for reading; `None` where the layers are not visible (for example in a container).
pub(crate) fn layer_file(path: &Path) -> Option<File> {
    let path = path.canonicalize().ok()?;
    let mounts = mounts()?;
    let mount = of(&mounts, &path).filter(|m| m.kind == "overlay")?;
    Some(holding(mount, &path)?.1)
}

/// Where the data of files on overlays is: for each file that of the layer that has it, or the place in the upper layer that it will
/// have; files elsewhere are their own. Layers may lie on different devices, or in memory. `None` if no file is on an overlay, or if
/// that is not known of one. A file of a lower layer that may be written is copied to the upper layer first, and needs both.
#[must_use]
pub fn beneath(paths: &[PathBuf], writes: bool) -> Option<Vec<PathBuf>> {
    if paths.len() > MOST_FILES {
        return None;
    }
    let mounts = mounts()?;
    if !mounts.iter().any(|m| m.kind == "overlay") {
        return None;
    }
    let mut on_overlay = false;
    let mut places = Vec::new();
    for path in paths {
        let path = fathom_state::absolute(path);
        let existing = path.ancestors().find(|p| p.exists())?.canonicalize().ok()?;
        let mount = of(&mounts, &existing)?;
        if mount.kind == "overlay" {
            on_overlay = true;
            places.push(place(mount, &existing, path.exists(), writes)?);
        } else {
            places.push(existing);
        }
    }
    on_overlay.then_some(places)
}

/// The place of one file below an overlay; `existing` is the file, or the directory that it will be created in.
fn place(mount: &Mount, existing: &Path, exists: bool, writes: bool) -> Option<PathBuf> {
    if splits(mount) {
        return None;
    }
    let upper = mount.option("upperdir").map(Path::new);
    if !exists {
        let upper = upper.filter(|u| u.is_absolute() && u.is_dir())?;
        return Some(upper.to_path_buf());
    }
    let found = holding(mount, existing)?.0;
    let is_lower = upper.is_none_or(|upper| !found.starts_with(upper));
    Some(if is_lower && writes { existing.to_path_buf() } else { found })
}

/// Whether a file's data may be in another layer than its size and time.
fn splits(mount: &Mount) -> bool {
    mount.option("metacopy") == Some("on") || mount.has_option("datadir+")
}

fn mounts() -> Option<Vec<Mount>> {
    Some(mount::parse(&Live.read(Path::new("/proc/self/mountinfo")).ok()?))
}

fn of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mount::find(mounts, &Live.mount_of(path).ok()?, path)
}

/// The file of a layer that is the overlay's file `path`: one of the upper layer hides those below. A copied file keeps the inode number
/// that it had in the lower layer, so the upper one's own says nothing.
fn holding(mount: &Mount, path: &Path) -> Option<(PathBuf, File)> {
    let wanted = path.metadata().ok()?;
    let upper = mount.option("upperdir").map(Path::new);
    for candidate in candidates(mount, path) {
        let opened = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(&candidate);
        let Ok(file) = opened else { continue };
        let found = file.metadata().ok()?;
        let same = |of: fn(&std::fs::Metadata) -> i64| of(&found) == of(&wanted);
        let is_upper = upper.is_some_and(|upper| candidate.starts_with(upper));
        let is_it = found.is_file()
            && (is_upper && !splits(mount) || found.ino() == wanted.ino())
            && found.len() == wanted.len()
            && same(MetadataExt::mtime)
            && same(MetadataExt::mtime_nsec);
        if is_it {
            return Some((candidate, file));
        }
        if is_upper {
            return None;
        }
    }
    None
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
