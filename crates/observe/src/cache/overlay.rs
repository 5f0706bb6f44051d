//! Maps a file on an overlay to the file of a layer that holds its pages. The overlay's own file has none: reads and writes are passed
//! on. A candidate must match in size and time, and in a lower layer in inode number, so a renamed or redirected layer is never mistaken
//! for it.

use crate::device::mount::{self, Mount};
use crate::files::{KernelFiles, Live};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// More files are not looked up one by one: their place is then taken to be the overlay, with all of its layers.
const MOST_FILES: usize = 64;

/// The layer's file, opened for reading; `None` where the layers are not visible (for example in a container).
pub(crate) fn layer_file(path: &Path) -> Option<File> {
    let path = path.canonicalize().ok()?;
    let mounts = mounts()?;
    let mount = of(&mounts, &path).filter(|m| m.kind == "overlay")?;
    Some(holding(mount, &path)?.1)
}

/// Where the data of files on overlays is: for each file a place in the layer that has it, or in the upper layer where it will be; of
/// other directories the first file. Layers may lie on different devices, or in memory. `None` if no directory is on an
/// overlay, or if that is not known of one of its files. A file of a lower layer that may be written is copied to the upper layer first,
/// and needs both. Only the files of overlays are looked at one by one.
#[must_use]
pub fn beneath(paths: &[PathBuf], writes: bool) -> Option<Vec<PathBuf>> {
    if paths.len() > MOST_FILES {
        return None;
    }
    let mounts = mounts()?;
    if !mounts.iter().any(|m| m.kind == "overlay") {
        return None;
    }
    // The directories, and whether an overlay holds them.
    let mut directories: Vec<(PathBuf, bool)> = Vec::new();
    let mut places = Vec::new();
    for path in paths {
        let path = fathom_state::absolute(path);
        let directory = path.parent().unwrap_or(&path);
        let known = directories.iter().find(|(known, _)| known == directory).map(|(_, is)| *is);
        let on_overlay = match known {
            Some(is) => is,
            None => {
                let is = of(&mounts, &nearest(directory)?)?.kind == "overlay";
                directories.push((directory.to_path_buf(), is));
                is
            }
        };
        // Devices share a directory, but are separate places.
        if !on_overlay && known.is_some() && !path.starts_with("/dev") {
            continue;
        }
        let existing = nearest(&path)?;
        let mount = of(&mounts, &existing)?;
        let place = match mount.kind.as_str() {
            "overlay" if on_overlay => place(mount, &existing, path.exists(), writes)?,
            _ => existing,
        };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    directories.iter().any(|(_, is)| *is).then_some(places)
}

/// The path itself, or the directory that it will be created in.
fn nearest(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|p| p.exists())?.canonicalize().ok()
}

/// The place of one file below an overlay; `existing` is the file, or the directory that it will be created in.
fn place(mount: &Mount, existing: &Path, exists: bool, writes: bool) -> Option<PathBuf> {
    if splits(mount, &Live) {
        return None;
    }
    let upper = mount.option("upperdir").map(Path::new);
    if !exists {
        let upper = upper.filter(|u| u.is_absolute() && u.is_dir())?;
        return Some(upper.to_path_buf());
    }
    let found = holding(mount, existing)?.0;
    // Files may be removed later, but these directories stay.
    Some(match upper.filter(|upper| found.starts_with(upper)) {
        Some(upper) => upper.to_path_buf(),
        None if writes => PathBuf::from(&mount.mount_point),
        None => found,
    })
}

/// Whether a file's data may be in another layer than its size and time. The kernel shows the option only where it differs from the
/// module's default.
fn splits(mount: &Mount, files: &dyn KernelFiles) -> bool {
    let by_default = || {
        let text = files.read(Path::new("/sys/module/overlay/parameters/metacopy")).unwrap_or_default();
        matches!(text.trim(), "Y" | "1")
    };
    let metacopy = mount.option("metacopy").map_or_else(by_default, |value| value == "on");
    // Layers for data alone follow "::".
    let data_only = mount.option("lowerdir").is_some_and(|layers| layers.contains("::"));
    metacopy || data_only || mount.has_option("datadir+")
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
    let splits = splits(mount, &Live);
    for candidate in candidates(mount, path) {
        let opened = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(&candidate);
        let file = match opened {
            Ok(file) => file,
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            // It may be this one: a lower file that only got another owner or mode has the same inode number, size and time.
            Err(_) => return None,
        };
        let found = file.metadata().ok()?;
        let same = |of: fn(&std::fs::Metadata) -> i64| of(&found) == of(&wanted);
        let is_upper = upper.is_some_and(|upper| candidate.starts_with(upper));
        let is_it = found.is_file()
            && (is_upper && !splits || found.ino() == wanted.ino())
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
    fn a_layer_that_cannot_be_looked_at_hides_those_below() {
        let directory = tempfile::tempdir().expect("a directory");
        let of = |name: &str| directory.path().canonicalize().expect("a path").join(name);
        for name in ["m", "low", "up"] {
            std::fs::create_dir(of(name)).expect("a directory");
        }
        std::fs::write(of("m/f"), "data").expect("a file");
        std::fs::hard_link(of("m/f"), of("low/f")).expect("a link");
        let options = format!("lowerdir={},upperdir={}", of("low").display(), of("up").display());
        let line =
            format!("60 1 0:60 / {} rw - overlay overlay rw,metacopy=off,{options}\n", of("m").display());
        let mount = mount::parse(&line).remove(0);
        assert_eq!(holding(&mount, &of("m/f")).expect("the lower one").0, of("low/f"));
        // A loop of links cannot be opened by root either.
        std::os::unix::fs::symlink("f", of("up/f")).expect("a link");
        assert!(holding(&mount, &of("m/f")).is_none());
    }

    #[test]
    fn what_is_written_has_the_same_place_before_and_after() {
        let directory = tempfile::tempdir().expect("a directory");
        let of = |name: &str| directory.path().canonicalize().expect("a path").join(name);
        for name in ["m", "low", "up"] {
            std::fs::create_dir(of(name)).expect("a directory");
        }
        for (name, layer) in [("old", "low"), ("new", "up")] {
            std::fs::write(of("m").join(name), "data").expect("a file");
            std::fs::hard_link(of("m").join(name), of(layer).join(name)).expect("a link");
        }
        let options = format!("lowerdir={},upperdir={}", of("low").display(), of("up").display());
        let line =
            format!("60 1 0:60 / {} rw - overlay overlay rw,metacopy=off,{options}\n", of("m").display());
        let mount = mount::parse(&line).remove(0);
        let at = |name: &str, exists, writes| place(&mount, &of(name), exists, writes);
        assert_eq!(at("m/old", true, false), Some(of("low/old")));
        assert_eq!(at("m/old", true, true), Some(of("m")), "all layers");
        for writes in [false, true] {
            assert_eq!(at("m/new", true, writes), Some(of("up")));
            assert_eq!(at("m", false, writes), Some(of("up")));
        }
    }

    #[test]
    fn metacopy_that_is_the_default_is_not_among_the_options() {
        let mount = |options: &str| {
            mount::parse(&format!("60 1 0:60 / /m rw - overlay overlay rw,{options}\n")).remove(0)
        };
        let default = |value: &str| {
            crate::fake::Fake::new().file("/sys/module/overlay/parameters/metacopy", &format!("{value}\n"))
        };
        let plain = mount("lowerdir=/a,upperdir=/b");
        assert!(splits(&plain, &default("Y")));
        assert!(!splits(&plain, &default("N")));
        assert!(!splits(&plain, &crate::fake::Fake::new()), "before Linux 4.19");
        assert!(!splits(&mount("lowerdir=/a,upperdir=/b,metacopy=off"), &default("Y")));
        assert!(splits(&mount("lowerdir=/a,upperdir=/b,metacopy=on"), &default("N")));
        assert!(splits(&mount("lowerdir=/a::/data"), &default("N")));
    }

    #[test]
    fn a_file_on_no_overlay_has_no_layer() {
        assert!(layer_file(Path::new("/proc/self/status")).is_none());
    }
}
