//! A private directory, held open. The owner of its parent can rename or replace it at any time, but only we can enter it. So its content
//! is reached through the descriptor, and its current location is looked up only to remove it.

use crate::loop_device::OpenLoop;
use fathom_state::{Identity, here, trust};
use rustix::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

const LOOK: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const READ: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Retries against a process that keeps renaming it; losing every race is very unlikely.
const TRIES: u32 = 1000;
/// Permission bits that let others change its content.
const WRITABLE: u32 = 0o022;

/// An open directory that only we can enter.
#[derive(Debug)]
pub(crate) struct OwnDirectory(OwnedFd);

impl AsFd for OwnDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl OwnDirectory {
    /// Creates it in an open directory, for this user alone.
    ///
    /// # Errors
    /// If it cannot be created, or was replaced right afterwards.
    pub(crate) fn make(above: BorrowedFd<'_>, name: &str) -> io::Result<Self> {
        rustix::fs::mkdirat(above, name, Mode::RWXU)?;
        let made = Self(rustix::fs::openat(above, name, READ, Mode::empty())?);
        if made.is_fresh(above)? {
            return Ok(made);
        }
        Err(io::Error::other(
            "it was replaced by another directory; the one fathom created is empty and can be removed",
        ))
    }

    /// Whether it can be the directory just created. Any other empty directory of this user would do as well.
    fn is_fresh(&self, above: BorrowedFd<'_>) -> io::Result<bool> {
        let (about, above) = (rustix::fs::fstat(&self.0)?, rustix::fs::fstat(above)?);
        let is_ours = about.st_uid == trust::user() && about.st_mode & WRITABLE == 0;
        // Something mounted there may report false owners (FUSE).
        Ok(is_ours && about.st_dev == above.st_dev && entries(&self.0)?.next().is_none())
    }

    /// Opens the directory at a path if it has this identity.
    fn at_path(path: &Path, identity: &Identity) -> Option<Self> {
        let found = Self(rustix::fs::openat(CWD, here(path), LOOK, Mode::empty()).ok()?);
        found.is(identity).then_some(found)
    }

    /// Searches for the directory created at a path: there, beside it, and below the loop devices on files of this name. `None` if it is
    /// gone or cannot be reached; then no loop device of it is left.
    ///
    /// # Errors
    /// If a loop device exists that may belong to it.
    pub(crate) fn find(path: &Path, identity: &Identity, image: &str) -> io::Result<Option<Self>> {
        let found = Self::at_path(path, identity).or_else(|| Self::beside(path, identity));
        if found.is_some() {
            return Ok(found);
        }
        for device in OpenLoop::on_files_named(image) {
            let Some(open_loop) = OpenLoop::open(device)? else { continue };
            if let Some(found) = Self::below(&open_loop, identity, image)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// If renamed, it is still in the same parent: moving it elsewhere needs write permission on it.
    fn beside(path: &Path, identity: &Identity) -> Option<Self> {
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let above = rustix::fs::openat(CWD, here(path.parent()?), how, Mode::empty()).ok()?;
        let mut directories = entries(&above).ok()?.map_while(Result::ok).filter(may_be_directory);
        directories.find_map(|entry| {
            let found = Self(rustix::fs::openat(&above, entry.file_name(), LOOK, Mode::empty()).ok()?);
            found.is(identity).then_some(found)
        })
    }

    /// The directory of a loop device's file, if it has this identity.
    fn below(open_loop: &OpenLoop, identity: &Identity, image: &str) -> io::Result<Option<Self>> {
        if open_loop.device() != identity.device() {
            return Ok(None);
        }
        for _ in 0..TRIES {
            // Looked up each time: the directories above may be renamed at any time.
            let Some((file, is_there)) = open_loop.file()? else { return Ok(None) };
            let above = file.parent().unwrap_or(Path::new("/"));
            let found = rustix::fs::openat(CWD, above, LOOK, Mode::empty()).map(Self);
            let is_its = |found: &Self| found.look(image).is_some_and(|image| open_loop.is_on(image.as_fd()));
            match found {
                Ok(found) if found.is(identity) => return Ok(Some(found)),
                Ok(found) if is_its(&found) => return Ok(None),
                _ if !is_there => return Ok(None),
                _ => {}
            }
        }
        let what = format!("the file behind {} cannot be found", open_loop.path().display());
        Err(io::Error::other(what))
    }

    /// Whether it has this identity.
    pub(crate) fn is(&self, identity: &Identity) -> bool {
        identity.is(self.0.as_fd())
    }

    /// A file or directory in it, opened without access to its data; `None` if there is none.
    pub(crate) fn look(&self, name: &str) -> Option<OwnedFd> {
        let how = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.0, name, how, Mode::empty()).ok()
    }

    /// A path to an entry that stays valid when the directory is renamed; only in this process.
    pub(crate) fn path_to(&self, name: &str) -> PathBuf {
        way(self.0.as_fd()).join(name)
    }

    /// Its current name; for messages.
    pub(crate) fn name(&self) -> io::Result<PathBuf> {
        name_of(self.0.as_fd())
    }

    /// Removes the empty directory by its current name. A missing one is no error.
    ///
    /// # Errors
    /// If the kernel refuses on every attempt.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let above = rustix::fs::openat(&self.0, "..", how, Mode::empty())?;
        let mut last = Errno::NOENT;
        for _ in 0..TRIES {
            let path = self.name()?;
            let name = path.file_name().unwrap_or(OsStr::new(""));
            match rustix::fs::openat(&above, name, LOOK, Mode::empty()) {
                Ok(there) if Identity::is_held(&self.0, there.as_fd()) => {
                    // The error may concern another directory that has just taken the name.
                    last = rustix::fs::unlinkat(&above, name, AtFlags::REMOVEDIR).err().unwrap_or(last);
                }
                Err(Errno::NOENT) if name.as_encoded_bytes().ends_with(b" (deleted)") => return Ok(()),
                Ok(_) => last = Errno::NOENT,
                Err(e) => last = e,
            }
        }
        Err(last.into())
    }
}

/// A path to an open file that stays valid when it is renamed; only in this process.
pub(crate) fn way(file: BorrowedFd<'_>) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// The current name of an open file; for messages.
pub(crate) fn name_of(file: BorrowedFd<'_>) -> io::Result<PathBuf> {
    std::fs::read_link(way(file))
}

fn may_be_directory(entry: &DirEntry) -> bool {
    matches!(entry.file_type(), FileType::Directory | FileType::Unknown)
}

/// The entries of a directory.
fn entries(directory: &OwnedFd) -> io::Result<impl Iterator<Item = Result<DirEntry, Errno>>> {
    let is_dots = |e: &DirEntry| matches!(e.file_name().to_bytes(), b"." | b"..");
    Ok(Dir::read_from(directory)?.filter(move |e| !e.as_ref().is_ok_and(is_dots)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::disk::DiskPlan;
    use crate::knobs::fake_kernel::FakeKernel;
    use crate::knobs::{FileSystem, Outcome, Setter};
    use fathom_testkit::{need_root, need_tool, skip};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    fn opened(path: &Path) -> OwnedFd {
        rustix::fs::openat(CWD, path, LOOK, Mode::empty()).expect("a directory")
    }

    #[test]
    fn it_is_found_by_another_name_and_not_in_another_place() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        let made = OwnDirectory::make(opened(dir.path()).as_fd(), "own").expect("made");
        let identity = Identity::of_new(made.as_fd()).expect("an identity");
        let found = || OwnDirectory::find(&at("own"), &identity, "no such image").expect("no loop device");
        assert_eq!(found().expect("in its place").name().expect("a name"), at("own"));
        fs::rename(at("own"), at("moved")).expect("renamed");
        fs::create_dir(at("own")).expect("another");
        assert_eq!(found().expect("beside it").name().expect("a name"), at("moved"));
        fs::rename(at("moved"), at("own/inside")).expect("moved");
        assert!(found().is_none());
        made.remove().expect("removed where it is");
        made.remove().expect("it has gone");
        assert!(at("own").exists() && !at("own/inside").exists());
    }

    #[test]
    fn a_replaced_directory_is_not_fresh() {
        let dir = tempfile::tempdir().expect("a directory");
        let above = opened(dir.path());
        let made = OwnDirectory::make(above.as_fd(), "own").expect("made");
        let fresh = || made.is_fresh(above.as_fd()).expect("looked at");
        let own = dir.path().join("own");
        assert!(fresh());
        fs::write(own.join("f"), "").expect("a file");
        assert!(!fresh());
        fs::remove_file(own.join("f")).expect("removed");
        fs::set_permissions(&own, Permissions::from_mode(0o770)).expect("permissions");
        assert!(!fresh());
        fs::set_permissions(&own, Permissions::from_mode(0o700)).expect("permissions");
        assert!(fresh());
        if need_root("a_replaced_directory_is_not_fresh") {
            std::os::unix::fs::chown(&own, Some(1234), None).expect("another owner");
            assert!(!fresh());
        }
    }

    #[test]
    fn a_file_system_is_mounted_in_it_wherever_it_lies() {
        let test = "a_file_system_is_mounted_in_it_wherever_it_lies";
        if !need_root(test) || !need_tool(test, "mkfs.ext4") {
            return;
        }
        let (kernel, dir) = (FakeKernel::new(), fathom_testkit::TestDir::new());
        let [state, images, theirs] = ["state", "images", "theirs"].map(|name| dir.subdir(name));
        fs::create_dir(theirs.join("mnt")).expect("the other user's directory");
        let mut setter = Setter::begin(&kernel, &state).expect("a journal");
        let plan = DiskPlan { directory: images.clone(), bytes: 16 << 20 };
        let Ok(disk) = setter.disk(&plan) else { return skip(test, "no loop device can be had") };
        let made = fs::read_dir(&images).expect("read").flatten().next().expect("its directory").path();
        let ext4 = FileSystem { kind: "ext4".into(), mkfs: Vec::new(), mount: String::new() };
        disk.make(&ext4).expect("mounted");
        for name in ["one", "two"] {
            let moved = images.join(name);
            fs::rename(made.read_link().unwrap_or_else(|_| made.clone()), &moved).expect("renamed");
            let _ = fs::remove_file(&made);
            symlink(&theirs, &made).expect("a link");
            disk.make(&ext4).expect("mounted again");
            let device = |path: PathBuf| fs::metadata(path).expect("there").dev();
            assert_eq!(device(theirs.join("mnt")), device(theirs.clone()), "{name}");
            assert_ne!(device(moved.join("mnt")), device(moved.clone()), "{name}");
            fs::remove_file(&made).expect("removed");
            symlink(&moved, &made).expect("the way to it");
        }
        drop(disk);
        let outcomes = setter.put_back();
        assert_eq!(outcomes, [Outcome::Removed(images.join("two"))]);
        assert!(fs::symlink_metadata(images.join("two")).is_err() && theirs.join("mnt").exists());
        assert!(dir.mounts_and_loops().is_empty(), "{:?}", dir.mounts_and_loops());
    }
}
