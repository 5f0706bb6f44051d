//! Directories for tests: on a real file system where available, removed with the test, and swept by a later test run if this one
//! is killed first.
//!
//! Ownership is a `flock` on the directory itself, held while the [`TestDir`] lives. The kernel releases it at any death of the
//! process, so a test directory that can be locked is a leftover; process ids would be fooled by reuse and containers.

use crate::mounts;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

/// Environment variable that selects the parent of test directories.
pub const BASE_ENV: &str = "FATHOM_TEST_DIR";

/// Name prefix of every test directory; the sweep touches nothing else.
const PREFIX: &str = "fathom-test-";

/// A directory younger than this may be unlocked: its creator is between mkdir and flock.
const LOCKED_BY_THEN: Duration = Duration::from_secs(30);

/// A temporary directory; removed on drop. Mounts below it are unmounted first, so their contents are not deleted.
#[derive(Debug)]
pub struct TestDir {
    dir: Option<tempfile::TempDir>,
    path: PathBuf,
    /// Holds the flock that marks it as in use.
    _lock: File,
}

impl TestDir {
    /// Creates one in the best location: `FATHOM_TEST_DIR`, else the first of the temporary directories and the build directory
    /// that is not in memory.
    #[must_use]
    pub fn new() -> Self {
        Self::new_in(&base_directory())
    }

    /// Creates one in `base`.
    #[must_use]
    pub fn new_in(base: &Path) -> Self {
        static SWEPT: Once = Once::new();
        SWEPT.call_once(|| {
            sweep(base, LOCKED_BY_THEN);
        });
        let skips = std::env::var_os(crate::skip::SKIPS_ENV).map(PathBuf::from);
        let dir = tempfile::Builder::new()
            .prefix(&prefix(skips.as_deref()))
            .tempdir_in(base)
            .unwrap_or_else(|e| panic!("a test needs a directory in {}: {e}", base.display()));
        // Canonical, as in the kernel's mount table and in strace output.
        let path = dir.path().canonicalize().unwrap_or_else(|e| panic!("{}: {e}", dir.path().display()));
        let lock = File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(try_lock(&lock), "{} is new, yet locked by someone else", path.display());
        Self { dir: Some(dir), path, _lock: lock }
    }

    /// Its canonical path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is on a memory file system, where O_DIRECT and the block layer's counters mean nothing.
    #[must_use]
    pub fn in_memory(&self) -> bool {
        in_memory(&self.path)
    }

    /// Creates a directory in it.
    #[must_use]
    pub fn subdir(&self, name: &str) -> PathBuf {
        let path = self.path.join(name);
        fs::create_dir_all(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        path
    }

    /// Sorted names of its entries, for checking that nothing was left behind.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        names_in(&self.path)
    }

    /// Mount points in it and loop devices whose image is in it, for checking that nothing is still mounted.
    #[must_use]
    pub fn mounts_and_loops(&self) -> Vec<PathBuf> {
        let mut found = mounts::mounts_below(&self.path);
        found.extend(mounts::loops_below(&self.path));
        found
    }
}

impl Default for TestDir {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for TestDir {
    fn drop(&mut self) {
        mounts::release_all_below(&self.path);
        let Some(dir) = self.dir.take() else { return };
        if mounts::mounts_below(&self.path).is_empty() {
            // On failure the next test run sweeps the directory; a panic inside drop would hide the test's own.
            let _ = dir.close();
        } else {
            let _ = dir.keep();
        }
    }
}

/// Sorted names of a directory's entries.
#[must_use]
pub fn names_in(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut names: Vec<String> =
        entries.filter_map(Result::ok).map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The prefix of test directories, followed by an id of the `cargo xtask test` run, so that the run finds what its tests left.
fn prefix(skips: Option<&Path>) -> String {
    let name = skips.and_then(|file| file.file_name()?.to_str()).unwrap_or_default();
    match name.strip_prefix("fathom-suite-") {
        Some(suite) => format!("{PREFIX}{suite}-"),
        None => PREFIX.to_string(),
    }
}

/// See [`TestDir::new`].
fn base_directory() -> PathBuf {
    if let Some(base) = std::env::var_os(BASE_ENV) {
        return PathBuf::from(base);
    }
    let build = std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf));
    let candidates = [Some(std::env::temp_dir()), Some(PathBuf::from("/var/tmp")), build];
    candidates
        .into_iter()
        .flatten()
        .find(|dir| dir.is_dir() && !in_memory(dir))
        .unwrap_or_else(std::env::temp_dir)
}

/// Whether a path is on tmpfs or ramfs.
fn in_memory(path: &Path) -> bool {
    const RAMFS: libc::c_long = 0x8584_58f6;
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else { return false };
    let mut answer = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: `name` is a terminated string and `answer` is a writable statfs of the right size.
    let done = unsafe { libc::statfs(name.as_ptr(), answer.as_mut_ptr()) } == 0;
    // SAFETY: zeroed memory is a valid statfs, and the kernel has filled it if the call succeeded.
    let kind = unsafe { answer.assume_init() }.f_type;
    done && (kind == libc::TMPFS_MAGIC || kind == RAMFS)
}

/// Tries to take an exclusive flock without waiting.
fn try_lock(dir: &File) -> bool {
    // SAFETY: the descriptor is open while `dir` is borrowed.
    unsafe { libc::flock(dir.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

/// Removes what killed test runs left in `base`: unmounts, detaches loop devices, deletes. Returns what it removed. Errors are
/// ignored, as another test run may be sweeping at the same time.
fn sweep(base: &Path, older_than: Duration) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(base) else { return Vec::new() };
    let ours = entries.filter_map(Result::ok).filter(|e| e.file_name().to_string_lossy().starts_with(PREFIX));
    ours.map(|e| e.path())
        .filter(|path| remove_leftover(path, older_than).is_ok_and(|removed| removed))
        .collect()
}

/// Removes a directory if it is a real directory of this user, old enough and not locked.
fn remove_leftover(path: &Path, older_than: Duration) -> io::Result<bool> {
    let about = fs::symlink_metadata(path)?;
    // SAFETY: geteuid has no preconditions and cannot fail.
    let mine = about.is_dir() && about.uid() == unsafe { libc::geteuid() };
    let old = about.modified()?.elapsed().unwrap_or_default() >= older_than;
    let lock = if mine && old { File::open(path)? } else { return Ok(false) };
    if !try_lock(&lock) {
        return Ok(false);
    }
    let path = path.canonicalize()?;
    mounts::release_all_below(&path);
    if !mounts::mounts_below(&path).is_empty() {
        return Ok(false);
    }
    fs::remove_dir_all(&path)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_vanishes_with_its_owner() {
        let dir = TestDir::new();
        let path = dir.path().to_path_buf();
        fs::write(dir.subdir("a").join("file"), "x").unwrap();
        assert_eq!(dir.names(), ["a"]);
        drop(dir);
        assert!(!path.exists());
    }

    #[test]
    fn a_directory_bears_the_mark_of_the_run_of_tests_that_made_it() {
        assert_eq!(prefix(Some(Path::new("/tmp/fathom-suite-a1B2"))), "fathom-test-a1B2-");
        assert_eq!(prefix(Some(Path::new("/tmp/skips"))), "fathom-test-");
        assert_eq!(prefix(None), "fathom-test-");
    }

    #[test]
    fn a_directory_vanishes_after_a_panic() {
        let mut path = PathBuf::new();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let dir = TestDir::new();
            path = dir.path().to_path_buf();
            std::panic::resume_unwind(Box::new("the test failed"));
        }));
        assert!(result.is_err());
        assert!(!path.as_os_str().is_empty() && !path.exists());
    }

    #[test]
    fn the_sweep_takes_leftovers_and_nothing_else() {
        let base = TestDir::new();
        let leftover = base.subdir("fathom-test-abc");
        fs::write(leftover.join("image"), "x").unwrap();
        let foreign = base.subdir("somebody-else");
        let live = TestDir::new_in(base.path());
        std::os::unix::fs::symlink(&foreign, base.path().join("fathom-test-link")).unwrap();

        assert_eq!(
            sweep(base.path(), Duration::from_secs(3600)),
            Vec::<PathBuf>::new(),
            "too young to judge"
        );
        assert_eq!(sweep(base.path(), Duration::ZERO), std::slice::from_ref(&leftover));
        assert!(!leftover.exists());
        assert!(foreign.exists() && live.path().exists());
    }

    #[test]
    fn the_sweep_takes_mounts_and_loop_devices_down() {
        let name = "the_sweep_takes_mounts_and_loop_devices_down";
        if !crate::need_root(name) || !crate::need_tool(name, "losetup") {
            return;
        }
        let base = TestDir::new();
        let leftover = base.subdir("fathom-test-killed");
        let point = base.subdir("fathom-test-killed/mnt");
        if let Err(e) = mounts::mount(Path::new("tmpfs"), &point, "tmpfs", 0, "size=64k") {
            crate::skip(name, &format!("a tmpfs could not be mounted: {e}"));
            return;
        }
        fs::write(leftover.join("image"), vec![0; 65536]).unwrap();
        let losetup = crate::find_tool("losetup").unwrap();
        let attached = std::process::Command::new(losetup).arg("-f").arg(leftover.join("image")).status();
        if !attached.is_ok_and(|s| s.success()) {
            crate::skip(name, "no loop device could be had");
            return;
        }
        assert_eq!(mounts::loops_below(&leftover).len(), 1);
        assert_eq!(sweep(base.path(), Duration::ZERO), std::slice::from_ref(&leftover));
        assert!(mounts::mounts_below(&leftover).is_empty() && !leftover.exists());
        mounts::tests::assert_detached(base.path());
    }

    #[test]
    fn memory_file_systems_are_known() {
        if Path::new("/dev/shm").is_dir() {
            assert!(in_memory(Path::new("/dev/shm")));
        }
        assert!(!in_memory(Path::new("/proc")));
    }
}
