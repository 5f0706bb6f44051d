//! A machine for tests: a directory tree in place of `/`, and the results of system calls for chosen paths.

use crate::files::{FileSize, KernelFiles, MountKey, Space, sorted_names};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// A fake machine. Its methods take the machine's paths, not those of the temporary directory.
pub(crate) struct Fake {
    root: tempfile::TempDir,
    mounts: BTreeMap<PathBuf, MountKey>,
    space: Space,
    refused: BTreeSet<PathBuf>,
    copied_on_write: BTreeSet<PathBuf>,
    empty_call_ns: Option<u64>,
}

impl Fake {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        Self {
            root,
            mounts: BTreeMap::new(),
            space: Space::default(),
            refused: BTreeSet::new(),
            copied_on_write: BTreeSet::new(),
            empty_call_ns: None,
        }
    }

    /// The real location of one of the machine's paths.
    pub(crate) fn inside(&self, path: &Path) -> PathBuf {
        self.root.path().join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Adds or replaces a file.
    pub(crate) fn file(mut self, path: &str, text: &str) -> Self {
        self.put(path, text);
        self
    }

    /// Adds or replaces a file later in a test.
    pub(crate) fn put(&mut self, path: &str, text: &str) {
        let real = self.inside(Path::new(path));
        std::fs::create_dir_all(real.parent().expect("a parent")).expect("directories");
        std::fs::write(real, text).expect("a file");
    }

    /// Takes a file away.
    pub(crate) fn remove(&mut self, path: &str) {
        std::fs::remove_file(self.inside(Path::new(path))).expect("a file to remove");
    }

    /// Sets a file's length, extending it by a hole.
    pub(crate) fn lengthen(&self, path: &str, bytes: u64) {
        let file = std::fs::File::options().write(true).open(self.inside(Path::new(path))).expect("a file");
        file.set_len(bytes).expect("a length");
    }

    /// Adds a symbolic link with a relative target.
    pub(crate) fn link(self, path: &str, target: &str) -> Self {
        let real = self.inside(Path::new(path));
        std::fs::create_dir_all(real.parent().expect("a parent")).expect("directories");
        std::os::unix::fs::symlink(target, real).expect("a link");
        self
    }

    /// Assigns a path and everything below it to a mount.
    pub(crate) fn on_mount(mut self, path: &str, mount_id: u64, device: (u32, u32)) -> Self {
        self.mounts.insert(path.into(), MountKey { mount_id: Some(mount_id), device });
        self
    }

    /// As `on_mount`, for a kernel that does not report mount ids.
    pub(crate) fn on_device(mut self, path: &str, device: (u32, u32)) -> Self {
        self.mounts.insert(path.into(), MountKey { mount_id: None, device });
        self
    }

    /// Sets the space of every file system.
    pub(crate) fn space(mut self, space: Space) -> Self {
        self.space = space;
        self
    }

    /// Makes a file or directory unreadable.
    pub(crate) fn refuse(mut self, path: &str) -> Self {
        self.refused.insert(path.into());
        self
    }

    /// How long a system call that does nothing takes.
    pub(crate) fn empty_call(mut self, ns: u64) -> Self {
        self.empty_call_ns = Some(ns);
        self
    }

    /// Puts a file on a file system that writes each of its blocks to a new place.
    pub(crate) fn copied_on_write(mut self, path: &str) -> Self {
        self.copied_on_write.insert(path.into());
        self
    }

    fn allowed(&self, path: &Path) -> io::Result<()> {
        let refused = path.ancestors().any(|a| self.refused.contains(a));
        if refused { Err(io::Error::from(io::ErrorKind::PermissionDenied)) } else { Ok(()) }
    }

    /// Adds a whole disk: its directory below `parent` in /sys/devices, and the links by number and by name.
    pub(crate) fn disk(self, parent: &str, name: &str, number: (u32, u32)) -> Self {
        let dir = format!("devices/{parent}/block/{name}");
        self.node(&dir, name, number)
    }

    /// Adds a partition of a disk added before.
    pub(crate) fn partition(self, parent: &str, disk: &str, name: &str, number: (u32, u32)) -> Self {
        let dir = format!("devices/{parent}/block/{disk}/{name}");
        self.file(&format!("/sys/{dir}/partition"), "1\n").node(&dir, name, number)
    }

    fn node(self, dir: &str, name: &str, (major, minor): (u32, u32)) -> Self {
        self.file(&format!("/sys/{dir}/dev"), &format!("{major}:{minor}\n"))
            .file(&format!("/sys/{dir}/size"), "2048\n")
            .file(&format!("/sys/{dir}/stat"), &stat_line(0))
            .link(&format!("/sys/dev/block/{major}:{minor}"), &format!("../../{dir}"))
            .link(&format!("/sys/class/block/{name}"), &format!("../../{dir}"))
    }
}

/// A line of a `stat` file in which every field is `n`.
pub(crate) fn stat_line(n: u64) -> String {
    format!("{}\n", vec![n.to_string(); 17].join(" "))
}

impl KernelFiles for Fake {
    fn read(&self, path: &Path) -> io::Result<String> {
        self.allowed(path)?;
        std::fs::read_to_string(self.inside(path))
    }

    fn empty_call_ns(&self) -> Option<u64> {
        self.empty_call_ns
    }

    fn is_copied_on_write(&self, path: &Path) -> Option<bool> {
        Some(self.copied_on_write.contains(path))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::read_link(self.inside(path))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let root = self.root.path().canonicalize()?;
        let real = self.inside(path).canonicalize()?;
        Ok(Path::new("/").join(real.strip_prefix(root).unwrap_or(&real)))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.allowed(path)?;
        sorted_names(&self.inside(path))
    }

    fn mount_of(&self, path: &Path) -> io::Result<MountKey> {
        let found = path.ancestors().find_map(|a| self.mounts.get(a));
        found.copied().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn space_of(&self, _path: &Path) -> io::Result<Space> {
        Ok(self.space)
    }
    fn size_of(&self, path: &Path) -> io::Result<FileSize> {
        FileSize::read(&self.inside(path))
    }
}
