//! Which files are ours. Every file and directory that fathom creates is entered in a journal before it is used, with its device,
//! inode number and a proof of identity ([`fathom_state::Identity`]). So only files created by fathom are ever removed: at the
//! end, on Ctrl-C, and, after a kill, by the next run.
//!
//! A journal is a text file `files-PID-START-TIME` in the state directory, append-only ([`journal`]). It is locked while its
//! process lives. `kept` lists files that the user asked to keep: later runs may overwrite them, but never remove them unasked. A
//! tree of numbered files is one entry, its root ([`tree`]): a million entries would cost more than the files. docs/safety.md
//! explains it for users.

mod entry;
mod journal;
mod sweep;
/// f_type of a virtual file system that reports blocks: efivarfs.
const COUNTED: u64 = 0xde5e_81e4;

/// Whether a file is on a file system that stores data. Files in procfs, sysfs and the like look empty, and writing them changes
/// settings; those file systems report no blocks.
fn holds_data(file: BorrowedFd<'_>) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|about| about.f_blocks > 0 && about.f_type as u64 != COUNTED)
}

/// f_type of ext4, xfs, btrfs, f2fs and tmpfs, which know of data that only memory holds. Others may call it a hole: ZFS data that was
/// just written, FUSE what its cache did not pass on, a store on tape what it migrated.
const TELL_HOLES: [u64; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994];

/// Whether a file has no data at all.
fn is_a_hole(file: BorrowedFd<'_>) -> bool {
    let tells = || {
        rustix::fs::fstatfs(file).is_ok_and(|about| TELL_HOLES.contains(&(about.f_type as u64 & 0xffff_ffff)))
    };
    tells()
        && rustix::fs::fdatasync(file).is_ok()
        && rustix::fs::seek(file, rustix::fs::SeekFrom::Data(0)) == Err(Errno::NXIO)
}

#[cfg(test)]
mod tests;
pub(crate) mod tree;

pub use sweep::{Fate, Sweeping, Swept};
pub use tree::{REPLACED, open_below};

use crate::EngineError;
use entry::Entry;
use fathom_state::{Directory, Identity, Locked, Untrusted, absolute, here, kept_mark, lines, owner};
use journal::{ASIDE, FIRST, KEPT, PREFIX, failed, gone, intent, made, read_facts};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The journal of this process and the files it knows to be ours.
pub struct Ledger {
    /// The state directory; `None` if nothing is to be recorded for the next run.
    directory: Option<PathBuf>,
    journal: Option<Journal>,
    /// Files created by this process, each with its number in the order of creation.
    made: BTreeMap<PathBuf, (u64, Entry)>,
    created: u64,
    /// A created file could not be inspected: the next run has only the intent.
    unfinished: bool,
    kept: BTreeMap<PathBuf, Entry>,
    /// Kept files that `take_harmless` has taken over. They are not removed.
    taken: BTreeSet<PathBuf>,
    /// Files that had our mark when this run began to use them. Files changed by other programs since the last run are never
    /// marked.
    marked: BTreeSet<PathBuf>,
    /// Block devices that the user named for writing.
    devices: BTreeSet<PathBuf>,
    /// Those block devices that may be written while in use.
    used_devices: BTreeSet<PathBuf>,
}

/// What a worker creates under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CreatedKind {
    File,
    Directory,
}

/// Mode of directories that were not requested explicitly.
const DIRECTORY_MODE: u32 = 0o755;

/// An open journal and its path.
struct Journal {
    directory: Directory,
    name: String,
    file: File,
    /// When it was last synced.
    synced: Option<Instant>,
    /// Whether it has grown since.
    unsynced: bool,
}

/// The journal is synced for each of the first files of a run, then at most once in this time: a power cut must not keep a file and
/// lose its entry, but a sync for each of ten thousand files would take longer than the files.
const SYNCED_EACH: u64 = 64;
const BETWEEN_SYNCS: Duration = Duration::from_millis(20);

impl Ledger {
    /// A ledger in the given state directory; nothing is written until a file is created.
    #[must_use]
    pub fn new(directory: &Path) -> Self {
        let facts = Directory::open(directory).ok().flatten().and_then(|state| read_facts(&state, KEPT));
        let kept = facts.unwrap_or_default().made.into_iter();
        let mut ledger = Self::nowhere();
        ledger.directory = Some(directory.into());
        ledger.kept = kept.collect();
        ledger
    }

    /// A ledger without a journal: files left by a killed run stay.
    #[must_use]
    pub fn nowhere() -> Self {
        Self {
            directory: None,
            journal: None,
            made: BTreeMap::new(),
            created: 0,
            unfinished: false,
            kept: BTreeMap::new(),
            taken: BTreeSet::new(),
            marked: BTreeSet::new(),
            devices: BTreeSet::new(),
            used_devices: BTreeSet::new(),
        }
    }

    /// Removes files left behind by killed runs. Journals of living processes are skipped.
    #[must_use]
    pub fn sweep(directory: &Path) -> Vec<Swept> {
        let mut swept = Vec::new();
        let mut tell = |step| {
            if let Sweeping::Did(one) = step {
                swept.push(one);
            }
        };
        sweep::sweep(directory, &mut tell);
        swept
    }

    /// As [`Ledger::sweep`], reporting each step to `tell`.
    pub fn sweep_telling(directory: &Path, tell: &mut dyn FnMut(Sweeping)) {
        sweep::sweep(directory, tell);
    }

    /// Whether killed runs left anything. Accesses only the file system of the state directory.
    #[must_use]
    pub fn needs_sweep(directory: &Path) -> bool {
        sweep::is_needed(directory)
    }

    /// Allows a block device to be written: the user named it, or it has no signature. A workload cannot say this.
    pub fn allow_device(&mut self, path: &Path) {
        self.devices.insert(absolute(path));
    }

    /// Whether [`Ledger::allow_device`] was called for it.
    #[must_use]
    pub fn allows_device(&self, path: &Path) -> bool {
        self.devices.contains(&absolute(path))
    }

    /// Allows a block device named by the user to be written even while mounted or otherwise in use, as the job requests.
    pub fn allow_device_in_use(&mut self, path: &Path) {
        self.used_devices.insert(absolute(path));
    }

    /// Whether [`Ledger::allow_device_in_use`] was called for it.
    #[must_use]
    pub fn allows_device_in_use(&self, path: &Path) -> bool {
        self.allows_device(path) && self.used_devices.contains(&absolute(path))
    }

    /// Whether the file at `path` was created by this or an earlier run and has not been replaced, or is in such a tree under a
    /// name of our scheme.
    #[must_use]
    pub fn owns(&self, path: &Path) -> bool {
        self.is_ours(path).unwrap_or(false)
    }

    /// As [`Ledger::owns`], but a file that cannot be inspected is an error instead of `false`.
    ///
    /// # Errors
    /// If the kernel does not report its attributes.
    pub fn is_ours(&self, path: &Path) -> Result<bool, EngineError> {
        let path = absolute(path);
        match self.entry(&path) {
            Some(entry) => entry.lies_at(&path).map_err(|e| EngineError::file("look at", &path, e)),
            None => Ok(self.tree_around(&path).is_some_and(|(root, inside)| tree::lies_in(root, inside))),
        }
    }

    /// Whether an open file is the one that we created at a path.
    #[must_use]
    pub fn owns_open(&self, path: &Path, open: BorrowedFd<'_>) -> bool {
        self.entry(&absolute(path)).is_some_and(|entry| !entry.tree && entry.is(open))
    }

    /// Whether `root` is a tree created by [`Ledger::create_tree`] that has not been replaced.
    #[must_use]
    pub fn owns_tree(&self, root: &Path) -> bool {
        let root = absolute(root);
        self.entry(&root).is_some_and(|e| e.tree && e.is_at(&root))
    }

    /// Whether an open directory may be used as the root of a tree to change: if we created one there, it must be that one.
    #[must_use]
    pub(crate) fn may_be_tree(&self, root: &Path, open: BorrowedFd<'_>) -> bool {
        self.entry(&absolute(root)).is_none_or(|entry| !entry.tree || entry.is(open))
    }

    /// Whether an open file may be changed under a path: if we created one there, it must be that one. A file of an earlier run
    /// does not count if this run has only seen a different one there that it may write.
    #[must_use]
    pub(crate) fn may_be_file(&self, path: &Path, open: BorrowedFd<'_>) -> bool {
        let path = absolute(path);
        let is_of_this_run = self.made.contains_key(&path);
        self.entry(&path).is_none_or(|entry| entry.is(open) || !is_of_this_run && entry.was_replaced())
    }

    /// The process id of another live run that created `path` and still uses it.
    #[must_use]
    pub fn used_by_another(&self, path: &Path) -> Option<u32> {
        let path = absolute(path);
        let state = Directory::open(self.directory.as_deref()?).ok()??;
        state.names().into_iter().find_map(|name| {
            let process = name.strip_prefix(PREFIX)?;
            let own = self.journal.as_ref().is_some_and(|ours| ours.name == name);
            let is_held = || matches!(state.try_lock(&name), Ok(Some(Locked::ByAnother)));
            if own || !(owner::lives(process) || is_held()) {
                return None;
            }
            let made = read_facts(&state, &name)?.made;
            // The other run's own journal says so, so identity need not be proved.
            let is_it = made.iter().any(|(p, entry)| *p == path && entry.identity.may_be_at(&path));
            is_it.then(|| owner::pid_of(process)).flatten()
        })
    }

    fn entry(&self, path: &Path) -> Option<&Entry> {
        self.made.get(path).map(|m| &m.1).or_else(|| self.kept.get(path))
    }

    /// The one of our trees that contains a path with names of our scheme, and the path within it.
    fn tree_around<'p>(&self, path: &'p Path) -> Option<(&'p Path, &'p Path)> {
        let mut root = path;
        while root.file_name().is_some_and(|name| tree::is_our_name(name.as_encoded_bytes())) {
            root = root.parent()?;
            if self.owns_tree(root) {
                return Some((root, path.strip_prefix(root).ok()?));
            }
        }
        None
    }

    /// Creates an empty file that must not exist yet.
    ///
    /// # Errors
    /// If it exists, or cannot be created, or the journal cannot be written.
    pub fn create(&mut self, path: &Path, mode: u32) -> Result<File, EngineError> {
        let path = absolute(path);
        self.note(&intent(&path))?;
        let how = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode);
        let (_, file) = self.create_noted(&path, |above, name| rustix::fs::openat(above, name, how, mode))?;
        let file = File::from(file);
        self.enter(path, false, file.as_fd())?;
        Ok(file)
    }

    /// Creates a name whose intent was noted, in its parent directory.
    fn create_noted<T>(
        &mut self,
        path: &Path,
        make: impl FnOnce(BorrowedFd<'_>, &OsStr) -> Result<T, Errno>,
    ) -> Result<(OwnedFd, T), EngineError> {
        let above = match self.above(path) {
            Ok(above) => above,
            Err(e) => {
                self.note(&failed(path))?;
                return Err(EngineError::file("create", path, e));
            }
        };
        let error = match make(above.as_fd(), name_of(path)) {
            Ok(made) => return Ok((above, made)),
            Err(e) => e,
        };
        let found = rustix::fs::statat(&above, name_of(path), AtFlags::SYMLINK_NOFOLLOW);
        if error == Errno::EXIST || found.is_err_and(|e| e == Errno::NOENT) {
            // A file created there later is not ours; files that we created there earlier still are.
            self.note(&failed(path))?;
        } else {
            // Some file systems report a failure after creating the file.
            self.unfinished = true;
        }
        Err(EngineError::file("create", path, error))
    }

    /// The open parent directory of a new name. If we created it, it must still be the same: another user may have replaced it
    /// by a link.
    fn above(&self, path: &Path) -> std::io::Result<OwnedFd> {
        let above = path.parent().unwrap_or(path);
        let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = rustix::fs::openat(CWD, here(above), how, Mode::empty())?;
        if self.made.get(above).is_some_and(|(_, directory)| !directory.is(open.as_fd())) {
            return Err(std::io::Error::other(tree::REPLACED));
        }
        Ok(open)
    }

    /// Enters files (or directories) that a worker created after `since` where nothing existed before. Missing ones are skipped.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub(crate) fn adopt(
        &mut self,
        paths: &[PathBuf],
        since: SystemTime,
        named: CreatedKind,
    ) -> Result<(), EngineError> {
        for path in paths.iter().map(|path| absolute(path)) {
            let Some(file) = Identity::open(&path).map_err(|e| EngineError::file("look at", &path, e))?
            else {
                continue;
            };
            let file = File::from(file);
            let about = file.metadata().map_err(|e| EngineError::file("look at", &path, e))?;
            // A file older than `since` is not the worker's: it has replaced the worker's file.
            let is_new =
                tree::is_new(file.as_fd(), since).map_err(|e| EngineError::file("look at", &path, e))?;
            let is_it = match named {
                CreatedKind::File => about.is_file() && about.nlink() == 1,
                CreatedKind::Directory => about.is_dir(),
            };
            if is_it && is_new && !self.owns(&path) {
                self.enter(path, false, file.as_fd())?;
            }
        }
        Ok(())
    }

    /// Creates the missing directories above a file. One that another process (such as another rank) creates at the same time
    /// belongs to that process.
    ///
    /// # Errors
    /// As for [`Ledger::create`].
    pub fn create_above(&mut self, path: &Path) -> Result<(), EngineError> {
        let path = absolute(path);
        let mut missing = Vec::new();
        for above in path.ancestors().skip(1) {
            match here(above).symlink_metadata() {
                Ok(_) => break,
                Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                    missing.push(above);
                }
                // It may exist: trying to create it would fail with a misleading message.
                Err(e) => return Err(EngineError::file("stat", above, e)),
            }
        }
        missing.into_iter().rev().try_for_each(|above| {
            match self.make_directory(above.to_path_buf(), false, DIRECTORY_MODE) {
                Err(EngineError::File { error, .. })
                    if error.kind() == ErrorKind::AlreadyExists && above.is_dir() =>
                {
                    Ok(())
                }
                made => made,
            }
        })
    }

    /// Creates a directory that must not exist yet.
    ///
    /// # Errors
    /// As for [`Ledger::create`].
    pub fn create_directory(&mut self, path: &Path) -> Result<(), EngineError> {
        self.make_directory(absolute(path), false, DIRECTORY_MODE)
    }

    /// As [`Ledger::create_directory`], with the given permission bits.
    ///
    /// # Errors
    /// As for [`Ledger::create`].
    pub fn create_directory_with(&mut self, path: &Path, mode: u32) -> Result<(), EngineError> {
        self.make_directory(absolute(path), false, mode)
    }

    /// Creates the root of a tree and the missing directories above it. Everything created in it under names of our scheme is
    /// ours and is removed with it.
    ///
    /// # Errors
    /// As for [`Ledger::create`].
    pub fn create_tree(&mut self, root: &Path) -> Result<(), EngineError> {
        let root = absolute(root);
        self.create_above(&root)?;
        self.make_directory(root, true, DIRECTORY_MODE)
    }

    fn make_directory(&mut self, path: PathBuf, tree: bool, mode: u32) -> Result<(), EngineError> {
        self.note(&intent(&path))?;
        let mode = Mode::from_raw_mode(mode);
        let since = SystemTime::now();
        let (above, ()) = self.create_noted(&path, |above, name| rustix::fs::mkdirat(above, name, mode))?;
        let open = tree::just_made(above.as_fd(), name_of(&path), since, tree)
            .map_err(|e| self.unfinished(&path, e))?;
        self.enter(path, tree, open.as_fd())
    }

    fn enter(&mut self, path: PathBuf, tree: bool, open: BorrowedFd<'_>) -> Result<(), EngineError> {
        let entry = Entry::of_new(open, tree).map_err(|e| self.unfinished(&path, e.into()))?;
        self.note(&made(&entry, &path))?;
        self.made.insert(path, (self.created, entry));
        self.created += 1;
        let recent = |journal: &Journal| journal.synced.is_some_and(|then| then.elapsed() < BETWEEN_SYNCS);
        if self.created <= SYNCED_EACH || !self.journal.as_ref().is_some_and(recent) {
            self.settle();
        }
        Ok(())
    }

    /// Makes the entries of all created files durable, so that they survive a power cut.
    pub fn settle(&mut self) {
        if let Some(journal) = self.journal.as_mut().filter(|journal| journal.unsynced) {
            // Without it the run can go on; only a power cut would lose entries.
            journal.unsynced = rustix::fs::fdatasync(&journal.file).is_err();
            journal.synced = Some(Instant::now());
        }
    }

    fn unfinished(&mut self, path: &Path, error: std::io::Error) -> EngineError {
        self.unfinished = true;
        EngineError::file("look at", path, error)
    }

    /// Removes a file, a tree or an empty directory that is ours; anything else is left alone. Directories created and kept
    /// together with a kept tree are removed too, once they are empty.
    ///
    /// # Errors
    /// If the kernel refuses, or a tree contains something that is not ours.
    pub fn remove(&mut self, path: &Path) -> Result<(), EngineError> {
        let path = absolute(path);
        if self.taken.contains(&path) {
            return Ok(());
        }
        let Some(entry) = self.entry(&path).cloned() else {
            // In one of our trees, under a name of our scheme.
            let inside = Entry::at_rest(&path, false, None).filter(|_| self.owns(&path));
            return inside.map_or(Ok(()), |entry| entry.remove(&path));
        };
        match entry.lies_at(&path) {
            Ok(true) => entry.remove(&path)?,
            Ok(false) => {}
            // It may still exist: if forgotten, it would never be removed.
            Err(e) => return Err(EngineError::file("look at", &path, e)),
        }
        self.forget(&path)?;
        for above in path.ancestors().skip(1) {
            let kept = self.kept.get(above).is_some_and(|e| !e.tree && e.is_at(above));
            if !kept || fs::remove_dir(here(above)).is_err() {
                break;
            }
            self.forget(above)?;
        }
        Ok(())
    }

    /// Removes a file that the user named for replacement, no matter who created it.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn remove_named(&mut self, path: &Path) -> Result<(), EngineError> {
        let path = absolute(path);
        match fs::remove_file(here(&path)) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(EngineError::file("remove", &path, e)),
            _ => self.forget(&path),
        }
    }

    /// Removes a tree that the user named for replacement, no matter who created it, if it contains only names of our scheme.
    ///
    /// # Errors
    /// If the kernel refuses, or it contains something else.
    pub fn remove_named_tree(&mut self, root: &Path) -> Result<(), EngineError> {
        let root = absolute(root);
        tree::remove_named(&root)?;
        self.forget(&root)
    }

    fn forget(&mut self, path: &Path) -> Result<(), EngineError> {
        if self.made.remove(path).is_some() {
            self.note(&gone(path))?;
        }
        if self.kept.remove(path).is_some() {
            self.change_kept([path], |kept| {
                kept.remove(path);
            })?;
        }
        Ok(())
    }

    /// Keeps a file or tree after the end of this run; later runs may use and overwrite it.
    ///
    /// # Errors
    /// If the list of kept files cannot be written.
    pub fn keep(&mut self, path: &Path) -> Result<(), EngineError> {
        self.keep_all([path])
    }

    /// As [`Ledger::keep`], for many at once. The directories above them that we created are kept, too.
    ///
    /// # Errors
    /// If the list of kept files cannot be written.
    pub fn keep_all<'p>(&mut self, paths: impl IntoIterator<Item = &'p Path>) -> Result<(), EngineError> {
        let mut stay: BTreeMap<PathBuf, Entry> = BTreeMap::new();
        for path in paths {
            let path = absolute(path);
            let known = self.entry(&path);
            let tree = known.is_some_and(|e| e.tree);
            let Some(entry) = Entry::at_rest(&path, tree, known) else {
                match here(&path).symlink_metadata() {
                    Err(e) if e.kind() != ErrorKind::NotFound => {
                        return Err(EngineError::file("look at", &path, e));
                    }
                    _ => continue,
                }
            };
            for above in path.ancestors().skip(1) {
                let Some((_, known)) = self.made.get(above) else { break };
                let entry = Entry::at_rest(above, false, Some(known));
                stay.extend(entry.map(|entry| (above.to_path_buf(), entry)));
            }
            stay.insert(path, entry);
        }
        self.keep_entries(stay)
    }

    /// As [`Ledger::keep`], for an open file: a file that has replaced it at its path is not kept.
    ///
    /// # Errors
    /// If the list of kept files cannot be written.
    pub fn keep_open(&mut self, path: &Path, open: BorrowedFd<'_>) -> Result<(), EngineError> {
        let identity = Identity::at_rest(open);
        let entry = identity.map(|identity| (absolute(path), Entry::seen(identity, false)));
        self.keep_entries(entry.into_iter().collect())
    }

    /// Takes over a file that cannot lose data, until another program changes it; it is not removed. Returns whether it could be
    /// taken: it must be empty or one hole (truncate, fallocate), or created and kept by a run of another user or in a container, and
    /// have no second hard link. If this run writes it, later runs recognise it.
    pub fn take_harmless(&mut self, path: &Path) -> bool {
        let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = rustix::fs::open(here(path), how, Mode::empty()) else { return false };
        let is_harmless = rustix::fs::fstat(&file).is_ok_and(|about| {
            FileType::from_raw_mode(about.st_mode).is_file()
                && about.st_nlink == 1
                && (about.st_size == 0 || is_a_hole(file.as_fd()) || kept_mark::is_set(file.as_fd()))
        });
        if !is_harmless || !holds_data(file.as_fd()) {
            return false;
        }
        let Ok(entry) = Entry::until_changed(file.as_fd()) else { return false };
        let path = absolute(path);
        let _ = self.kept.insert(path.clone(), entry);
        let _ = self.taken.insert(path.clone());
        let _ = self.marked.insert(path);
        true
    }

    /// Notes which of our files have a mark, before anything is written to them.
    pub fn look_for_marks<'p>(&mut self, paths: impl IntoIterator<Item = &'p Path>) {
        let is_marked = |path: &Path| {
            rustix::fs::open(here(path), OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
                .is_ok_and(|file| kept_mark::is_set(file.as_fd()))
        };
        for path in paths.into_iter().map(absolute) {
            if self.kept.contains_key(&path) && is_marked(&path) {
                let _ = self.marked.insert(path);
            }
        }
    }

    /// As [`Ledger::keep_all`], for files that were laid out: they get a mark, so that other users may overwrite them. Files that
    /// existed before without a mark do not, as another program may have written them.
    ///
    /// # Errors
    /// If the list of kept files cannot be written.
    pub fn keep_laid_out<'p>(
        &mut self,
        paths: impl IntoIterator<Item = &'p Path> + Clone,
    ) -> Result<(), EngineError> {
        for path in paths.clone() {
            let path = absolute(path);
            let is_new = self.made.contains_key(&path) || self.marked.contains(&path);
            if let Some(entry) = self.entry(&path).filter(|entry| is_new && !entry.tree) {
                entry.mark(&path);
            }
        }
        self.keep_all(paths)
    }

    fn keep_entries(&mut self, stay: BTreeMap<PathBuf, Entry>) -> Result<(), EngineError> {
        if stay.is_empty() {
            return Ok(());
        }
        self.change_kept(stay.keys().map(PathBuf::as_path), |kept| kept.extend(stay.clone()))?;
        for (path, entry) in stay {
            if self.made.remove(&path).is_some() {
                self.note(&gone(&path))?;
            }
            self.kept.insert(path, entry);
        }
        Ok(())
    }

    /// Removes everything that is ours and not kept, and the journal. Returns what could not be removed; it stays in the journal
    /// for the next run.
    pub fn finish(&mut self) -> Vec<PathBuf> {
        let mut made: Vec<_> = std::mem::take(&mut self.made).into_iter().collect();
        let places: BTreeSet<PathBuf> =
            made.iter().filter_map(|(path, _)| Some(path.parent()?.into())).collect();
        made.sort_unstable_by_key(|(_, (order, _))| std::cmp::Reverse(*order));
        made.retain(|(path, (_, entry))| match entry.lies_at(path) {
            Ok(is_it) => is_it && entry.remove(path).is_err(),
            // It may still exist: if forgotten, it would never be removed.
            Err(_) => true,
        });
        if made.is_empty()
            && !self.unfinished
            && let Some(journal) = self.journal.take()
        {
            journal.outlive_removals(&places);
            journal.directory.remove(&journal.name);
        }
        self.renew_kept();
        let left = made.iter().map(|m| m.0.clone()).collect();
        // Dropping the ledger calls this again, and would remove the journal without these entries.
        self.made = made.into_iter().collect();
        left
    }

    /// Updates the entries of kept files that this run has written, where only the time of the last change identifies them.
    fn renew_kept(&mut self) {
        let changed = |(path, entry): (&PathBuf, &Entry)| Some((path.clone(), entry.changed(path)?));
        let changed: BTreeMap<PathBuf, Entry> = self.kept.iter().filter_map(changed).collect();
        if changed.is_empty() {
            return;
        }
        let paths = changed.keys().map(PathBuf::as_path);
        if self.change_kept(paths, |kept| kept.extend(changed.clone())).is_ok() {
            self.kept.extend(changed);
        }
    }

    fn note(&mut self, fact: &str) -> Result<(), EngineError> {
        let Some(path) = &self.directory else { return Ok(()) };
        let journal_error =
            |error: Untrusted| EngineError::Journal { directory: path.clone(), error: error.into() };
        if self.journal.is_none() {
            let directory = Directory::make(path).map_err(journal_error)?;
            let name = format!("{PREFIX}{}", owner::own_name());
            let file = directory.create(&name).map_err(journal_error)?;
            // Process ids are meaningless in another container or on another host that shares the directory; a lock is not, and
            // the kernel releases it at any death. Without lock support the id has to do.
            let _ = rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
            let journal =
                self.journal.insert(Journal { directory, name, file, synced: None, unsynced: false });
            journal.append(&format!("{FIRST}\n"))?;
        }
        // One write per line: a killed process leaves whole lines.
        self.journal.as_mut().map_or(Ok(()), |journal| journal.append(&lines::sealed(fact)))
    }

    /// Changes the entries of some paths in the list of kept files. It is read and written under a lock, as other runs change it
    /// too.
    fn change_kept<'p>(
        &self,
        concerned: impl IntoIterator<Item = &'p Path>,
        change: impl FnOnce(&mut BTreeMap<PathBuf, Entry>),
    ) -> Result<(), EngineError> {
        let Some(path) = &self.directory else { return Ok(()) };
        let journal_error =
            |error: Untrusted| EngineError::Journal { directory: path.clone(), error: error.into() };
        let directory = Directory::make(path).map_err(journal_error)?;
        let _lock = directory.wait_for_lock("kept.lock").map_err(journal_error)?;
        if directory
            .text(KEPT)
            .map_err(journal_error)?
            .is_some_and(|text| journal::Facts::parse(&text).is_none())
        {
            directory.rename(KEPT, ASIDE).map_err(journal_error)?;
        }
        let facts = read_facts(&directory, KEPT).unwrap_or_default();
        let mut kept: BTreeMap<PathBuf, Entry> = facts.made.into_iter().collect();
        change(&mut kept);
        // Drops sibling entries that are gone or replaced. Others are not checked, as their file system may not respond.
        let near: BTreeSet<Option<&Path>> = concerned.into_iter().map(Path::parent).collect();
        kept.retain(|file, entry| !near.contains(&file.parent()) || entry.identity.may_be_at(file));
        let facts = kept.iter().map(|(file, entry)| lines::sealed(&made(entry, file)));
        let text: String = std::iter::once(format!("{FIRST}\n")).chain(facts).collect();
        directory.replace(KEPT, &text).map_err(journal_error)
    }
}

fn name_of(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

impl Journal {
    /// On another file system, a power cut could bring removed files back after the journal is gone: the removals are synced first.
    fn outlive_removals(&self, places: &BTreeSet<PathBuf>) {
        let Ok(here) = self.file.metadata() else { return };
        for place in places {
            let open = File::open(place).and_then(|open| Ok((open.metadata()?.dev(), open)));
            if let Ok((device, open)) = open
                && device != here.dev()
            {
                let _ = rustix::fs::fsync(open);
            }
        }
    }

    fn append(&mut self, text: &str) -> Result<(), EngineError> {
        debug_assert!(text.ends_with('\n'), "a journal is written in whole lines: {text}");
        self.unsynced = true;
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|e| EngineError::file("write", self.directory.path().join(&self.name), e))
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.finish();
    }
}
