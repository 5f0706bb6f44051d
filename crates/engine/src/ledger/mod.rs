//! Which files are ours. Every file and directory that fathom creates is entered in a journal before it is used, with its device,
//! inode number and what proves that it is the same ([`fathom_state::Identity`]), so that only what we made is ever removed: at the end, on
//! Ctrl-C, and, when we were killed, by the next run.
//!
//! A journal is a text file `files-PID-START-TIME` in the state directory, appended and never rewritten ([`journal`]). It is locked as
//! long as its process lives. `kept` holds files that the user asked to keep: they are ours to overwrite later, and never removed
//! unasked. A tree of numbered files is one entry, its root ([`tree`]): a million entries would cost more than the files.
//! docs/safety.md explains it for users.

mod entry;
mod journal;
mod sweep;
/// File systems of the kernel's own that count blocks: efivarfs.
const COUNTED: u64 = 0xde5e_81e4;

/// Whether a file lies where data are kept. The files of procfs, sysfs and their like are all empty, and to write one turns something; those
/// file systems have no blocks.
fn holds_data(file: BorrowedFd<'_>) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|about| about.f_blocks > 0 && about.f_type as u64 != COUNTED)
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
use std::time::SystemTime;

/// The journal of this process.
pub struct Ledger {
    /// The state directory; `None` if nothing is to be noted for the next run.
    directory: Option<PathBuf>,
    journal: Option<Journal>,
    /// What this process made, each with its place in the order of creation.
    made: BTreeMap<PathBuf, (u64, Entry)>,
    created: u64,
    /// Something was made that could not be looked at afterwards: the intention is all that the next run has of it.
    unfinished: bool,
    kept: BTreeMap<PathBuf, Entry>,
    /// Of those, what was taken as harmless: it is somebody's, and stays.
    taken: BTreeSet<PathBuf>,
    /// Files that bore our mark when this run began to use them. What others have written since the last run is never marked.
    marked: BTreeSet<PathBuf>,
    /// Block devices that the user named to be written.
    devices: BTreeSet<PathBuf>,
    /// Those of them that may be written while they are in use.
    used_devices: BTreeSet<PathBuf>,
}

/// What a worker makes under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// A file.
    File,
    /// A directory.
    Directory,
}

/// The mode of directories that nobody asked for by name.
const DIRECTORY_MODE: u32 = 0o755;

/// An open journal and where it is.
struct Journal {
    directory: Directory,
    name: String,
    file: File,
}

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

    /// A ledger that notes nothing for the next run: what this one leaves when it is killed stays.
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

    /// Removes what killed runs left behind. Journals of living processes are left alone.
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

    /// The same, told step by step.
    pub fn sweep_telling(directory: &Path, tell: &mut dyn FnMut(Sweeping)) {
        sweep::sweep(directory, tell);
    }

    /// Whether killed runs left anything. Asks no file system but that of the state directory.
    #[must_use]
    pub fn needs_sweep(directory: &Path) -> bool {
        sweep::is_needed(directory)
    }

    /// A block device may be written: the user has named it for that, or it bears no signature. No workload of the native format can say this.
    pub fn allow_device(&mut self, path: &Path) {
        self.devices.insert(absolute(path));
    }

    /// Whether the user has.
    #[must_use]
    pub fn allows_device(&self, path: &Path) -> bool {
        self.devices.contains(&absolute(path))
    }

    /// A block device that the user has named may be written even while it is mounted or otherwise in use: the job says so, too.
    pub fn allow_device_in_use(&mut self, path: &Path) {
        self.used_devices.insert(absolute(path));
    }

    /// Whether both have.
    #[must_use]
    pub fn allows_device_in_use(&self, path: &Path) -> bool {
        self.allows_device(path) && self.used_devices.contains(&absolute(path))
    }

    /// Whether the file at `path` is one that this or an earlier run of ours made and that nobody has replaced since; or lies, under a
    /// name that we give, in such a tree.
    #[must_use]
    pub fn owns(&self, path: &Path) -> bool {
        self.is_ours(path).unwrap_or(false)
    }

    /// As [`Ledger::owns`], but a file that cannot be looked at is not said to be somebody else's.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn is_ours(&self, path: &Path) -> Result<bool, EngineError> {
        let path = absolute(path);
        match self.entry(&path) {
            Some(entry) => entry.lies_at(&path).map_err(|e| EngineError::file("look at", &path, e)),
            None => Ok(self.tree_around(&path).is_some_and(|(root, inside)| tree::lies_in(root, inside))),
        }
    }

    /// Whether an open file is the one that we made at a path.
    #[must_use]
    pub fn owns_open(&self, path: &Path, open: BorrowedFd<'_>) -> bool {
        self.entry(&absolute(path)).is_some_and(|entry| !entry.tree && entry.is(open))
    }

    /// Whether `root` is a tree that we made with [`Ledger::create_tree`] and that nobody has replaced since.
    #[must_use]
    pub fn owns_tree(&self, root: &Path) -> bool {
        let root = absolute(root);
        self.entry(&root).is_some_and(|e| e.tree && e.is_at(&root))
    }

    /// Whether an open directory may be the root of a tree that is to be changed: if we made one there, that one.
    #[must_use]
    pub(crate) fn may_be_tree(&self, root: &Path, open: BorrowedFd<'_>) -> bool {
        self.entry(&absolute(root)).is_none_or(|entry| !entry.tree || entry.is(open))
    }

    /// Whether an open file may be one that is to be changed at a path: if we made one there, that one. What an earlier run made there does
    /// not count if this run has only ever found another one, which it was allowed to write.
    #[must_use]
    pub(crate) fn may_be_file(&self, path: &Path, open: BorrowedFd<'_>) -> bool {
        let path = absolute(path);
        let is_of_this_run = self.made.contains_key(&path);
        self.entry(&path).is_none_or(|entry| entry.is(open) || !is_of_this_run && entry.was_replaced())
    }

    /// The process number of another run that has made `path`, still lives, and has not given it up.
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
            // It says so itself: whether it is the same file need not be proved.
            let is_it = made.iter().any(|(p, entry)| *p == path && entry.identity.may_be_at(&path));
            is_it.then(|| owner::pid_of(process)).flatten()
        })
    }

    fn entry(&self, path: &Path) -> Option<&Entry> {
        self.made.get(path).map(|m| &m.1).or_else(|| self.kept.get(path))
    }

    /// The tree of ours that a path with our names lies in, and the path inside it.
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
        let (_, file) =
            self.make_intended(&path, |above, name| rustix::fs::openat(above, name, how, mode))?;
        let file = File::from(file);
        self.enter(path, false, file.as_fd())?;
        Ok(file)
    }

    /// Makes a name that was intended; with the directory that holds it.
    fn make_intended<T>(
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
            // What somebody makes there later is not ours. What we made there before still is.
            self.note(&failed(path))?;
        } else {
            // A file system may fail when it has made it.
            self.unfinished = true;
        }
        Err(EngineError::file("create", path, error))
    }

    /// The directory that is to hold a new name, open. One of ours must still be that one: somebody may have put a link in its place.
    fn above(&self, path: &Path) -> std::io::Result<OwnedFd> {
        let above = path.parent().unwrap_or(path);
        let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = rustix::fs::openat(CWD, here(above), how, Mode::empty())?;
        if self.made.get(above).is_some_and(|(_, directory)| !directory.is(open.as_fd())) {
            return Err(std::io::Error::other(tree::REPLACED));
        }
        Ok(open)
    }

    /// Enters files (or directories) that a worker has made `since` then where there was nothing before: they are ours. Those that are not there are left out.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub(crate) fn adopt(
        &mut self,
        paths: &[PathBuf],
        since: SystemTime,
        named: Named,
    ) -> Result<(), EngineError> {
        for path in paths.iter().map(|path| absolute(path)) {
            let Some(file) = Identity::open(&path).map_err(|e| EngineError::file("look at", &path, e))?
            else {
                continue;
            };
            let file = File::from(file);
            let about = file.metadata().map_err(|e| EngineError::file("look at", &path, e))?;
            // What was there before, somebody has put in the place of the worker's.
            let is_new =
                tree::is_new(file.as_fd(), since).map_err(|e| EngineError::file("look at", &path, e))?;
            let is_it = match named {
                Named::File => about.is_file() && about.nlink() == 1,
                Named::Directory => about.is_dir(),
            };
            if is_it && is_new && !self.owns(&path) {
                self.enter(path, false, file.as_fd())?;
            }
        }
        Ok(())
    }

    /// Creates the directories above a file that are missing. One that somebody else (another rank of ours) makes meanwhile is theirs.
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
                // It may be there: to make it would fail with words about something else.
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

    /// The same, with a mode.
    ///
    /// # Errors
    /// As for [`Ledger::create`].
    pub fn create_directory_with(&mut self, path: &Path, mode: u32) -> Result<(), EngineError> {
        self.make_directory(absolute(path), false, mode)
    }

    /// Creates the root of a tree, with the directories above it that are missing. All that is made in it under our names is ours, and
    /// goes with it.
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
        let (above, ()) = self.make_intended(&path, |above, name| rustix::fs::mkdirat(above, name, mode))?;
        let open = tree::just_made(above.as_fd(), name_of(&path), since, tree)
            .map_err(|e| self.unfinished(&path, e))?;
        self.enter(path, tree, open.as_fd())
    }

    fn enter(&mut self, path: PathBuf, tree: bool, open: BorrowedFd<'_>) -> Result<(), EngineError> {
        let entry = Entry::of_new(open, tree).map_err(|e| self.unfinished(&path, e.into()))?;
        self.note(&made(&entry, &path))?;
        self.made.insert(path, (self.created, entry));
        self.created += 1;
        Ok(())
    }

    fn unfinished(&mut self, path: &Path, error: std::io::Error) -> EngineError {
        self.unfinished = true;
        EngineError::file("look at", path, error)
    }

    /// Removes a file, a tree or an empty directory that is ours. What is not ours, or no longer there, is left. Directories above a
    /// kept tree that were made and kept with it go too, once they are empty.
    ///
    /// # Errors
    /// If the kernel refuses, or a tree holds something that is not ours.
    pub fn remove(&mut self, path: &Path) -> Result<(), EngineError> {
        let path = absolute(path);
        if self.taken.contains(&path) {
            return Ok(());
        }
        let Some(entry) = self.entry(&path).cloned() else {
            // In a tree of ours, under one of our names.
            let inside = Entry::at_rest(&path, false, None).filter(|_| self.owns(&path));
            return inside.map_or(Ok(()), |entry| entry.remove(&path));
        };
        match entry.lies_at(&path) {
            Ok(true) => entry.remove(&path)?,
            Ok(false) => {}
            // It may still be there: forgotten, it would stay for ever.
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

    /// Replaces a file that the user named for it: removes it, whoever made it.
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

    /// Replaces a tree that the user named for it: removes it, whoever made it, if it holds nothing but names that we give.
    ///
    /// # Errors
    /// If the kernel refuses, or it holds something else.
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

    /// The file or tree stays after the end of this run, and later runs may use and overwrite it.
    ///
    /// # Errors
    /// If the list of kept files cannot be written.
    pub fn keep(&mut self, path: &Path) -> Result<(), EngineError> {
        self.keep_all([path])
    }

    /// As [`Ledger::keep`], for many at once. The directories above them that we made stay, too.
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

    /// As [`Ledger::keep`], of a file that is open: whatever came to its path meanwhile is not ours.
    ///
    /// # Errors
    /// If the list of kept files cannot be written.
    pub fn keep_open(&mut self, path: &Path, open: BorrowedFd<'_>) -> Result<(), EngineError> {
        let identity = Identity::at_rest(open);
        let entry = identity.map(|identity| (absolute(path), Entry::seen(identity, false)));
        self.keep_entries(entry.into_iter().collect())
    }

    /// Takes a file with which nothing is lost as one of ours that stays, until somebody else changes it: whether it could be taken. It is
    /// empty, or a run of another user, or in a container, made it and let it stay; and it has no other name. If this run writes it, later
    /// ones know it.
    pub fn take_harmless(&mut self, path: &Path) -> bool {
        let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = rustix::fs::open(here(path), how, Mode::empty()) else { return false };
        let is_harmless = rustix::fs::fstat(&file).is_ok_and(|about| {
            FileType::from_raw_mode(about.st_mode).is_file()
                && about.st_nlink == 1
                && (about.st_size == 0 || kept_mark::is_set(file.as_fd()))
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

    /// Looks which of the files that are ours bear a mark, before anything is written to them.
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

    /// As [`Ledger::keep_all`], of files that were laid out: they get a mark, so that others may write them. Not those that were here
    /// before without one: somebody may have written them.
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

    /// Removes everything that is ours and not kept, and the journal. Returns what could not be removed; that stays in the
    /// journal, so that the next run finds it.
    pub fn finish(&mut self) -> Vec<PathBuf> {
        let mut made: Vec<_> = std::mem::take(&mut self.made).into_iter().collect();
        made.sort_unstable_by_key(|(_, (order, _))| std::cmp::Reverse(*order));
        made.retain(|(path, (_, entry))| match entry.lies_at(path) {
            Ok(is_it) => is_it && entry.remove(path).is_err(),
            // It may still be there: forgotten, it would stay for ever.
            Err(_) => true,
        });
        if made.is_empty()
            && !self.unfinished
            && let Some(journal) = self.journal.take()
        {
            journal.directory.remove(&journal.name);
        }
        self.renew_kept();
        let left = made.iter().map(|m| m.0.clone()).collect();
        // Dropping the ledger comes here again: without these it would take the journal away.
        self.made = made.into_iter().collect();
        left
    }

    /// Kept files that this run has written to, where only the time of the last change tells them from others, are entered anew.
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
        let untold = |error: Untrusted| EngineError::Journal { directory: path.clone(), error: error.into() };
        if self.journal.is_none() {
            let directory = Directory::make(path).map_err(untold)?;
            let name = format!("{PREFIX}{}", owner::own_name());
            let file = directory.create(&name).map_err(untold)?;
            // Process numbers mean nothing in another container or on another host that shares the directory; a lock does,
            // and the kernel drops it at any death. Where locks are not to be had, the number has to do.
            let _ = rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
            let journal = self.journal.insert(Journal { directory, name, file });
            journal.append(&format!("{FIRST}\n"))?;
        }
        // One write a line: a killed process leaves whole lines. It need not reach the disk: after a power cut the
        // next start finds files and journal in the same state or neither.
        self.journal.as_mut().map_or(Ok(()), |journal| journal.append(&lines::sealed(fact)))
    }

    /// Changes the list of kept files, of which some paths are concerned. Other runs change it too: it is read and written under a lock.
    fn change_kept<'p>(
        &self,
        concerned: impl IntoIterator<Item = &'p Path>,
        change: impl FnOnce(&mut BTreeMap<PathBuf, Entry>),
    ) -> Result<(), EngineError> {
        let Some(path) = &self.directory else { return Ok(()) };
        let untold = |error: Untrusted| EngineError::Journal { directory: path.clone(), error: error.into() };
        let directory = Directory::make(path).map_err(untold)?;
        let _lock = directory.wait_for_lock("kept.lock").map_err(untold)?;
        if directory.text(KEPT).map_err(untold)?.is_some_and(|text| journal::Facts::parse(&text).is_none()) {
            directory.rename(KEPT, ASIDE).map_err(untold)?;
        }
        let facts = read_facts(&directory, KEPT).unwrap_or_default();
        let mut kept: BTreeMap<PathBuf, Entry> = facts.made.into_iter().collect();
        change(&mut kept);
        // Files beside them that are gone or replaced are forgotten on the way. Others are not looked at: their file system may not answer.
        let near: BTreeSet<Option<&Path>> = concerned.into_iter().map(Path::parent).collect();
        kept.retain(|file, entry| !near.contains(&file.parent()) || entry.identity.may_be_at(file));
        let facts = kept.iter().map(|(file, entry)| lines::sealed(&made(entry, file)));
        let text: String = std::iter::once(format!("{FIRST}\n")).chain(facts).collect();
        directory.replace(KEPT, &text).map_err(untold)
    }
}

fn name_of(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

impl Journal {
    fn append(&mut self, text: &str) -> Result<(), EngineError> {
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|e| EngineError::file("write", self.directory.path().join(&self.name), e))
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.finish();
    }
}
