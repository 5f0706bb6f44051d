//! Which files are ours. Every file and directory that fathom creates is entered in a journal before it is used, with its device,
//! inode number and time of birth, so that only what we made is ever removed: at the end, on Ctrl-C, and, when we were killed, by
//! the next run.
//!
//! A journal is a text file `files-PID-START-TIME` in the state directory, appended and never rewritten ([`journal`]). It is locked as
//! long as its process lives. `kept` holds files that the user asked to keep: they are ours to overwrite later, and never removed
//! unasked. A tree of numbered files is one entry, its root ([`tree`]): a million entries would cost more than the files.
//! docs/safety.md explains it for users.

mod identity;
mod journal;
#[cfg(test)]
mod tests;
pub(crate) mod tree;

use crate::EngineError;
use identity::{Entry, Identity, absolute, parent_is_on};
use journal::{encoded, is_locked, made_line, owner_lives, owner_name, read_facts, remove_intended};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The journal of this process.
pub struct Ledger {
    directory: PathBuf,
    journal: Option<(PathBuf, File)>,
    /// What this process made, each with its place in the order of creation.
    made: BTreeMap<PathBuf, (u64, Entry)>,
    created: u64,
    kept: BTreeMap<PathBuf, Entry>,
    /// Block devices that the user named to be written.
    devices: BTreeSet<PathBuf>,
}

/// What the sweep of a killed run's journal did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// The file or directory.
    pub path: PathBuf,
    /// Whether it was removed; if not, it had been replaced or could not be removed.
    pub removed: bool,
}

impl Ledger {
    /// A ledger in the given state directory; nothing is written until a file is created.
    #[must_use]
    pub fn new(directory: &Path) -> Self {
        let kept = read_facts(&directory.join("kept")).made.into_iter().collect();
        Self {
            directory: directory.into(),
            journal: None,
            made: BTreeMap::new(),
            created: 0,
            kept,
            devices: BTreeSet::new(),
        }
    }

    /// Removes what killed runs left behind. Journals of living processes are left alone.
    #[must_use]
    pub fn sweep(directory: &Path) -> Vec<Swept> {
        let mut swept = Vec::new();
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(owner) = name.to_str().and_then(|n| n.strip_prefix("files-")) else { continue };
            if owner_lives(owner) || is_locked(&entry.path()) {
                continue;
            }
            let facts = read_facts(&entry.path());
            let mut settled = true;
            for (path, entry) in facts.made.iter().rev() {
                match Identity::of(path) {
                    Some(found) => {
                        let removed = found == entry.identity && remove_entry(path, *entry).is_ok();
                        settled &= removed || found != entry.identity;
                        swept.push(Swept { path: path.clone(), removed });
                    }
                    // Gone; or its file system is not mounted now, and a later run will find it.
                    None => settled &= parent_is_on(path, entry.identity.device),
                }
            }
            // Killed between the intention and the note of the inode.
            if let Some(path) = facts.intent
                && let Some(removed) = remove_intended(&path, &entry.path())
            {
                swept.push(Swept { removed, path });
            }
            if settled {
                let _ = fs::remove_file(entry.path());
            }
        }
        swept
    }

    /// The user has named a block device on the command line, with an option for that, to be written. No workload can say this.
    pub fn allow_device(&mut self, path: &Path) {
        self.devices.insert(absolute(path));
    }

    /// Whether the user has.
    #[must_use]
    pub fn allows_device(&self, path: &Path) -> bool {
        self.devices.contains(&absolute(path))
    }

    /// Whether the file at `path` is one that this or an earlier run of ours made and that nobody has replaced since; or lies, under a
    /// name that we give, in such a tree.
    #[must_use]
    pub fn owns(&self, path: &Path) -> bool {
        let path = absolute(path);
        match self.entry(&path) {
            Some(entry) => Identity::of(&path) == Some(entry.identity),
            None => self.tree_around(&path).is_some_and(|(root, inside)| tree::lies_in(root, inside)),
        }
    }

    /// Whether `root` is a tree that we made with [`Ledger::create_tree`] and that nobody has replaced since.
    #[must_use]
    pub fn owns_tree(&self, root: &Path) -> bool {
        let root = absolute(root);
        self.entry(&root).is_some_and(|e| e.tree && Identity::of(&root) == Some(e.identity))
    }

    /// The process number of another run that has made `path`, still lives, and has not given it up.
    #[must_use]
    pub fn used_by_another(&self, path: &Path) -> Option<u32> {
        let path = absolute(path);
        let found = Identity::of(&path)?;
        fs::read_dir(&self.directory).ok()?.flatten().find_map(|journal| {
            let name = journal.file_name();
            let owner = name.to_str()?.strip_prefix("files-")?;
            let own = self.journal.as_ref().is_some_and(|(ours, _)| *ours == journal.path());
            if own || !(owner_lives(owner) || is_locked(&journal.path())) {
                return None;
            }
            let made = read_facts(&journal.path()).made;
            let is_it = made.iter().any(|(p, entry)| *p == path && entry.identity == found);
            if is_it { owner.split('-').next()?.parse().ok() } else { None }
        })
    }

    fn entry(&self, path: &Path) -> Option<Entry> {
        self.made.get(path).map(|m| m.1).or_else(|| self.kept.get(path).copied())
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
        self.note(&format!("intent {}", encoded(&path)))?;
        let file = match OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(&path) {
            Ok(file) => file,
            Err(e) => {
                // The intention is taken back: what somebody makes there later is not ours.
                self.note(&format!("gone {}", encoded(&path)))?;
                return Err(EngineError::file("create", &path, e));
            }
        };
        self.enter(path, false)?;
        Ok(file)
    }

    /// Enters files that a worker has made where there was nothing before: they are ours. Those that are not there are left out.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn adopt(&mut self, paths: &[PathBuf]) -> Result<(), EngineError> {
        let mut unknown = paths.iter().map(|path| absolute(path)).filter(|path| path.is_file());
        unknown.try_for_each(|path| if self.owns(&path) { Ok(()) } else { self.enter(path, false) })
    }

    /// Creates the directories above a file that are missing. One that somebody else (another rank of ours) makes meanwhile is theirs.
    ///
    /// # Errors
    /// As for [`Ledger::create`].
    pub fn create_above(&mut self, path: &Path) -> Result<(), EngineError> {
        let path = absolute(path);
        let missing: Vec<&Path> =
            path.ancestors().skip(1).take_while(|above| above.symlink_metadata().is_err()).collect();
        missing.into_iter().rev().try_for_each(|above| {
            match self.make_directory(above.to_path_buf(), false) {
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
        self.make_directory(absolute(path), false)
    }

    /// Creates the root of a tree, with the directories above it that are missing. All that is made in it under our names is ours, and
    /// goes with it.
    ///
    /// # Errors
    /// As for [`Ledger::create`].
    pub fn create_tree(&mut self, root: &Path) -> Result<(), EngineError> {
        let root = absolute(root);
        self.create_above(&root)?;
        self.make_directory(root, true)
    }

    fn make_directory(&mut self, path: PathBuf, tree: bool) -> Result<(), EngineError> {
        self.note(&format!("intent {}", encoded(&path)))?;
        if let Err(e) = fs::DirBuilder::new().mode(0o755).create(&path) {
            self.note(&format!("gone {}", encoded(&path)))?;
            return Err(EngineError::file("create", &path, e));
        }
        self.enter(path, tree)
    }

    fn enter(&mut self, path: PathBuf, tree: bool) -> Result<(), EngineError> {
        let Some(identity) = Identity::of(&path) else { return Ok(()) };
        let entry = Entry { identity, tree };
        self.note(&made_line(entry, &path))?;
        self.made.insert(path, (self.created, entry));
        self.created += 1;
        Ok(())
    }

    /// Removes a file, a tree or an empty directory that is ours. What is not ours, or no longer there, is left. Directories above a
    /// kept tree that were made and kept with it go too, once they are empty.
    ///
    /// # Errors
    /// If the kernel refuses, or a tree holds something that is not ours.
    pub fn remove(&mut self, path: &Path) -> Result<(), EngineError> {
        let path = absolute(path);
        let Some(entry) = self.entry(&path) else {
            return if self.owns(&path) {
                remove_any(&path).map_err(|e| EngineError::file("remove", &path, e))
            } else {
                Ok(())
            };
        };
        if Identity::of(&path) == Some(entry.identity) {
            remove_entry(&path, entry)?;
        }
        self.forget(&path)?;
        for above in path.ancestors().skip(1) {
            let kept =
                self.kept.get(above).is_some_and(|e| !e.tree && Identity::of(above) == Some(e.identity));
            if !kept || fs::remove_dir(above).is_err() {
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
        match fs::remove_file(&path) {
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
        tree::remove(&root)?;
        self.forget(&root)
    }

    fn forget(&mut self, path: &Path) -> Result<(), EngineError> {
        if self.made.remove(path).is_some() {
            self.note(&format!("gone {}", encoded(path)))?;
        }
        if self.kept.remove(path).is_some() {
            self.change_kept(|kept| {
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
            let Some(identity) = Identity::of(&path) else { continue };
            for above in path.ancestors().skip(1) {
                let Some((_, entry)) = self.made.get(above) else { break };
                stay.insert(above.to_path_buf(), *entry);
            }
            let tree = self.entry(&path).is_some_and(|e| e.tree);
            stay.insert(path, Entry { identity, tree });
        }
        if stay.is_empty() {
            return Ok(());
        }
        self.change_kept(|kept| kept.extend(stay.clone()))?;
        for (path, entry) in stay {
            if self.made.remove(&path).is_some() {
                self.note(&format!("gone {}", encoded(&path)))?;
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
        let is_left = |(path, (_, entry)): &(PathBuf, (u64, Entry))| {
            Identity::of(path) == Some(entry.identity) && remove_entry(path, *entry).is_err()
        };
        made.retain(is_left);
        if made.is_empty()
            && let Some((path, _)) = self.journal.take()
        {
            let _ = fs::remove_file(path);
        }
        let left = made.iter().map(|m| m.0.clone()).collect();
        // Dropping the ledger comes here again: without these it would take the journal away.
        self.made = made.into_iter().collect();
        left
    }

    fn note(&mut self, line: &str) -> Result<(), EngineError> {
        if self.journal.is_none() {
            let untold = |error| EngineError::Journal { directory: self.directory.clone(), error };
            fs::create_dir_all(&self.directory).map_err(untold)?;
            // In containers that share the directory two runs may have the same number and start: the time makes the name ours.
            let since = std::time::UNIX_EPOCH.elapsed().map_or(0, |t| t.as_nanos());
            let path = self.directory.join(format!("files-{}-{since}", owner_name(std::process::id())));
            let file = OpenOptions::new().create_new(true).append(true).open(&path).map_err(untold)?;
            // Process numbers mean nothing in another container or on another host that shares the directory; a lock does,
            // and the kernel drops it at any death. Where locks are not to be had, the number has to do.
            let _ = rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
            self.journal = Some((path, file));
        }
        if let Some((path, file)) = &mut self.journal {
            // One write a line: a killed process leaves whole lines. It need not reach the disk: after a power cut the
            // next start finds files and journal in the same state or neither.
            file.write_all(format!("{line}\n").as_bytes())
                .map_err(|e| EngineError::file("write", path.clone(), e))?;
        }
        Ok(())
    }

    /// Changes the list of kept files. Other runs change it too: it is read and written under a lock.
    fn change_kept(&self, change: impl FnOnce(&mut BTreeMap<PathBuf, Entry>)) -> Result<(), EngineError> {
        fs::create_dir_all(&self.directory)
            .map_err(|error| EngineError::Journal { directory: self.directory.clone(), error })?;
        let path = self.directory.join("kept");
        let failed = |e: std::io::Error| EngineError::file("write", path.clone(), e);
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.directory.join("kept.lock"))
            .map_err(failed)?;
        // Where locks are not to be had (some network file systems) the list is still written whole.
        let _ = rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive);
        let mut kept: BTreeMap<PathBuf, Entry> = read_facts(&path).made.into_iter().collect();
        change(&mut kept);
        // Files that are gone or replaced are forgotten on the way.
        kept.retain(|file, entry| Identity::of(file) == Some(entry.identity));
        let text: String = kept.iter().map(|(file, entry)| made_line(*entry, file) + "\n").collect();
        let new = self.directory.join(format!("kept.{}", std::process::id()));
        fs::write(&new, text).and_then(|()| fs::rename(&new, &path)).map_err(failed)
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Removes what an entry stands for.
fn remove_entry(path: &Path, entry: Entry) -> Result<(), EngineError> {
    if entry.tree {
        tree::remove(path)
    } else {
        remove_any(path).map_err(|e| EngineError::file("remove", path, e))
    }
}

fn remove_any(path: &Path) -> std::io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) }
}
