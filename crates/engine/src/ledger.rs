//! Which files are ours. Every file and directory that fathom creates is entered in a journal before it is used, with its device,
//! inode number and time of birth, so that only what we made is ever removed: at the end, on Ctrl-C, and, when we were killed, by
//! the next run.
//!
//! A journal is a text file `files-PID-START-TIME` in the state directory, one line a fact, appended and never rewritten:
//! `intent PATH`, `made DEV INODE BORN_NS PATH`, `gone PATH`; paths are percent-encoded. It is locked as long as its process
//! lives. `kept` holds files that the user asked to keep: they are ours to overwrite later, and never removed unasked.
//! docs/safety.md explains it for users.

use crate::EngineError;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// What tells a file from another of the same path. The time of birth (ns since 1970; 0 where the file system keeps none) is
/// needed because file systems give the number of a removed file to the next new one, often at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    born_ns: u64,
}

/// The journal of this process.
pub struct Ledger {
    directory: PathBuf,
    journal: Option<(PathBuf, File)>,
    /// In order of creation.
    made: Vec<(PathBuf, Identity)>,
    kept: BTreeMap<PathBuf, Identity>,
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
        Self { directory: directory.into(), journal: None, made: Vec::new(), kept }
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
            for (path, identity) in facts.made.iter().rev() {
                match identity_of(path) {
                    Some(found) => {
                        let removed = found == *identity && remove_any(path).is_ok();
                        settled &= removed || found != *identity;
                        swept.push(Swept { path: path.clone(), removed });
                    }
                    // Gone; or its file system is not mounted now, and a later run will find it.
                    None => settled &= parent_is_on(path, identity.device),
                }
            }
            // Killed between the intention and the note of the inode: an empty file as old as the journal's last line is ours.
            if let Some(path) = facts.intent
                && is_empty_and_as_old(&path, &entry.path())
            {
                swept.push(Swept { removed: fs::remove_file(&path).is_ok(), path });
            }
            if settled {
                let _ = fs::remove_file(entry.path());
            }
        }
        swept
    }

    /// Whether the file at `path` is one that this or an earlier run of ours made and that nobody has replaced since.
    #[must_use]
    pub fn owns(&self, path: &Path) -> bool {
        let path = absolute(path);
        let known =
            self.made.iter().find(|m| m.0 == path).map(|m| m.1).or_else(|| self.kept.get(&path).copied());
        known.is_some() && known == identity_of(&path)
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
        self.enter(path)?;
        Ok(file)
    }

    /// Creates a directory that must not exist yet.
    ///
    /// # Errors
    /// As for [`Ledger::create`].
    pub fn create_directory(&mut self, path: &Path) -> Result<(), EngineError> {
        let path = absolute(path);
        fs::DirBuilder::new().mode(0o755).create(&path).map_err(|e| EngineError::file("create", &path, e))?;
        self.enter(path)
    }

    fn enter(&mut self, path: PathBuf) -> Result<(), EngineError> {
        let Some(identity) = identity_of(&path) else { return Ok(()) };
        self.note(&made_line(identity, &path))?;
        self.made.push((path, identity));
        Ok(())
    }

    /// Removes a file or an empty directory that is ours. What is not ours, or no longer there, is left.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn remove(&mut self, path: &Path) -> Result<(), EngineError> {
        let path = absolute(path);
        if self.owns(&path) {
            remove_any(&path).map_err(|e| EngineError::file("remove", &path, e))?;
        }
        self.forget(&path)
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

    fn forget(&mut self, path: &Path) -> Result<(), EngineError> {
        if self.made.iter().any(|m| m.0 == path) {
            self.made.retain(|m| m.0 != path);
            self.note(&format!("gone {}", encoded(path)))?;
        }
        if self.kept.remove(path).is_some() {
            self.change_kept(|kept| {
                kept.remove(path);
            })?;
        }
        Ok(())
    }

    /// The file stays after the end of this run, and later runs may use and overwrite it.
    ///
    /// # Errors
    /// If the list of kept files cannot be written.
    pub fn keep(&mut self, path: &Path) -> Result<(), EngineError> {
        let path = absolute(path);
        let Some(identity) = identity_of(&path) else { return Ok(()) };
        self.change_kept(|kept| {
            kept.insert(path.clone(), identity);
        })?;
        self.kept.insert(path.clone(), identity);
        if self.made.iter().any(|m| m.0 == path) {
            self.made.retain(|m| m.0 != path);
            self.note(&format!("gone {}", encoded(&path)))?;
        }
        Ok(())
    }

    /// Removes everything that is ours and not kept, and the journal. Returns what could not be removed; that stays in the
    /// journal, so that the next run finds it.
    pub fn finish(&mut self) -> Vec<PathBuf> {
        let mut left = Vec::new();
        for (path, identity) in std::mem::take(&mut self.made).into_iter().rev() {
            if identity_of(&path) == Some(identity) && remove_any(&path).is_err() {
                left.push((path, identity));
            }
        }
        if left.is_empty()
            && let Some((path, _)) = self.journal.take()
        {
            let _ = fs::remove_file(path);
        }
        // Dropping the ledger comes here again: without these it would take the journal away.
        left.reverse();
        self.made = left;
        self.made.iter().rev().map(|m| m.0.clone()).collect()
    }

    fn note(&mut self, line: &str) -> Result<(), EngineError> {
        if self.journal.is_none() {
            fs::create_dir_all(&self.directory)
                .map_err(|e| EngineError::file("create", &self.directory, e))?;
            // In containers that share the directory two runs may have the same number and start: the time makes the name ours.
            let since = std::time::UNIX_EPOCH.elapsed().map_or(0, |t| t.as_nanos());
            let path = self.directory.join(format!("files-{}-{since}", owner_name(std::process::id())));
            let file = OpenOptions::new()
                .create_new(true)
                .append(true)
                .open(&path)
                .map_err(|e| EngineError::file("open", &path, e))?;
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
    fn change_kept(&self, change: impl FnOnce(&mut BTreeMap<PathBuf, Identity>)) -> Result<(), EngineError> {
        fs::create_dir_all(&self.directory).map_err(|e| EngineError::file("create", &self.directory, e))?;
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
        let mut kept: BTreeMap<PathBuf, Identity> = read_facts(&path).made.into_iter().collect();
        change(&mut kept);
        // Files that are gone or replaced are forgotten on the way.
        kept.retain(|file, identity| identity_of(file) == Some(*identity));
        let text: String = kept.iter().map(|(file, identity)| made_line(*identity, file) + "\n").collect();
        let new = self.directory.join(format!("kept.{}", std::process::id()));
        fs::write(&new, text).and_then(|()| fs::rename(&new, &path)).map_err(failed)
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.finish();
    }
}

/// What a journal says: files made and not gone, and an intention without a result.
#[derive(Default)]
struct Facts {
    made: Vec<(PathBuf, Identity)>,
    intent: Option<PathBuf>,
}

fn read_facts(journal: &Path) -> Facts {
    let mut facts = Facts::default();
    for line in fs::read_to_string(journal).unwrap_or_default().lines() {
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["intent", path] => facts.intent = Some(decoded(path)),
            ["made", device, inode, born_ns, path] => {
                facts.intent = None;
                if let (Ok(device), Ok(inode), Ok(born_ns)) = (device.parse(), inode.parse(), born_ns.parse())
                {
                    facts.made.push((decoded(path), Identity { device, inode, born_ns }));
                }
            }
            ["gone", path] => {
                let path = decoded(path);
                facts.made.retain(|m| m.0 != path);
                facts.intent = facts.intent.take().filter(|intent| *intent != path);
            }
            // A line cut short by a kill, or of a later version.
            _ => {}
        }
    }
    facts
}

/// "PID-START" (the file's name adds the time): a process is the same only if its start time is, because numbers are used again.
fn owner_name(pid: u32) -> String {
    format!("{pid}-{}", start_time(pid).unwrap_or(0))
}

fn owner_lives(owner: &str) -> bool {
    let mut parts = owner.split('-');
    let (Some(pid), Some(start)) = (parts.next(), parts.next()) else { return false };
    let (Ok(pid), Ok(start)) = (pid.parse(), start.parse::<u64>()) else { return false };
    start_time(pid) == Some(start)
}

/// Field 22 of /proc/PID/stat; the name in field 2 may hold anything, so count from its closing bracket.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat.rsplit_once(')')?.1;
    // A process that is dead and only not waited for holds nothing any more.
    let state = fields.split_ascii_whitespace().next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.split_ascii_whitespace().nth(19)?.parse().ok()
}

fn identity_of(path: &Path) -> Option<Identity> {
    let about = fs::symlink_metadata(path).ok()?;
    let born = about.created().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
    let born_ns = born.and_then(|b| u64::try_from(b.as_nanos()).ok()).unwrap_or(0);
    Some(Identity { device: about.dev(), inode: about.ino(), born_ns })
}

/// Whether the directory of a file that is not there is on the device where the file was made.
fn parent_is_on(path: &Path, device: u64) -> bool {
    path.parent().and_then(|p| fs::metadata(p).ok()).is_some_and(|m| m.dev() == device)
}

fn made_line(identity: Identity, path: &Path) -> String {
    format!("made {} {} {} {}", identity.device, identity.inode, identity.born_ns, encoded(path))
}

fn is_empty_and_as_old(path: &Path, journal: &Path) -> bool {
    let (Ok(file), Ok(journal)) = (fs::symlink_metadata(path), fs::metadata(journal)) else { return false };
    file.is_file() && file.len() == 0 && made_right_after(file.ctime(), journal.ctime())
}

/// We create a file right after noting the intention. One made long before or after is somebody else's: better an empty file too
/// many than one of theirs too few.
fn made_right_after(file_s: i64, noted_s: i64) -> bool {
    (-1..=2).contains(&file_s.saturating_sub(noted_s))
}

/// Whether a living process holds the journal, wherever it runs.
fn is_locked(journal: &Path) -> bool {
    let Ok(file) = File::open(journal) else { return false };
    let refused = rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
    refused.is_err_and(|e| e == rustix::io::Errno::WOULDBLOCK)
}

fn remove_any(path: &Path) -> std::io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.into())
}

fn encoded(path: &Path) -> String {
    let plain = |b: u8| b.is_ascii_graphic() && b != b'%';
    path.as_os_str()
        .as_bytes()
        .iter()
        .map(|&b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02x}") })
        .collect()
}

fn decoded(text: &str) -> PathBuf {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let hex = text.get(i + 1..i + 3).and_then(|h| u8::from_str_radix(h, 16).ok());
        match (bytes[i], hex) {
            (b'%', Some(b)) => {
                out.push(b);
                i += 3;
            }
            (b, _) => {
                out.push(b);
                i += 1;
            }
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_made_is_removed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let (state, ours, theirs) =
            (dir.path().join("state"), dir.path().join("ours"), dir.path().join("theirs"));
        fs::write(&theirs, "x").unwrap();
        let mut ledger = Ledger::new(&state);
        ledger.create(&ours, 0o600).unwrap();
        assert!(ledger.owns(&ours) && !ledger.owns(&theirs));
        assert!(ledger.create(&theirs, 0o600).is_err());
        ledger.remove(&theirs).unwrap();
        drop(ledger);
        assert!(!ours.exists() && theirs.exists());
        assert_eq!(fs::read_dir(&state).unwrap().count(), 0);
    }

    #[test]
    fn a_file_that_was_replaced_is_no_longer_ours() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let mut ledger = Ledger::new(&dir.path().join("state"));
        ledger.create(&path, 0o600).unwrap();
        // Both exist for a moment, so the inode numbers differ.
        fs::write(dir.path().join("new"), "theirs").unwrap();
        fs::rename(dir.path().join("new"), &path).unwrap();
        assert!(!ledger.owns(&path));
        drop(ledger);
        assert!(path.exists());
    }

    #[test]
    fn the_next_run_sweeps_what_a_killed_one_left() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let path = dir.path().join("a file");
        let mut ledger = Ledger::new(&state);
        ledger.create(&path, 0o600).unwrap();
        // As if killed: the journal stays, under the name of a process that does not exist.
        let journal = ledger.journal.take().unwrap().0;
        ledger.made.clear();
        drop(ledger);
        assert_eq!(Ledger::sweep(&state), [], "our own process is alive");
        fs::rename(&journal, state.join("files-999999999-1")).unwrap();
        assert_eq!(Ledger::sweep(&state), [Swept { path: path.clone(), removed: true }]);
        assert!(!path.exists());
        assert_eq!(Ledger::sweep(&state), []);
    }

    #[test]
    fn what_could_not_be_removed_stays_in_the_journal_for_the_next_run() {
        let dir = tempfile::tempdir().unwrap();
        let (state, ours) = (dir.path().join("state"), dir.path().join("ours"));
        let mut ledger = Ledger::new(&state);
        ledger.create_directory(&ours).unwrap();
        fs::write(ours.join("theirs"), "a directory that is not empty cannot be removed").unwrap();
        assert_eq!(ledger.finish(), std::slice::from_ref(&ours));
        drop(ledger);
        let journal = fs::read_dir(&state).unwrap().next().expect("the journal is still there").unwrap();
        fs::rename(journal.path(), state.join("files-999999999-1")).unwrap();
        fs::remove_file(ours.join("theirs")).unwrap();
        assert_eq!(Ledger::sweep(&state), [Swept { path: ours, removed: true }]);
    }

    #[test]
    fn a_journal_in_use_is_left_alone_wherever_its_owner_lives() {
        let dir = tempfile::tempdir().unwrap();
        let (state, ours) = (dir.path().join("state"), dir.path().join("ours"));
        let mut ledger = Ledger::new(&state);
        ledger.create(&ours, 0o600).unwrap();
        // As seen from another container: no process of this number.
        let journal = &mut ledger.journal.as_mut().unwrap().0;
        let foreign = state.join("files-999999999-1");
        fs::rename(&*journal, &foreign).unwrap();
        *journal = foreign;
        assert_eq!(Ledger::sweep(&state), []);
        assert!(ours.exists());
        drop(ledger);
        assert!(!ours.exists());
    }

    #[test]
    fn an_empty_file_of_an_unfinished_intention_is_ours_only_if_it_is_as_old() {
        assert!(made_right_after(100, 100) && made_right_after(101, 100) && made_right_after(99, 100));
        assert!(!made_right_after(160, 100) && !made_right_after(40, 100));
        let dir = tempfile::tempdir().unwrap();
        let (state, path) = (dir.path().join("state"), dir.path().join("planned"));
        fs::create_dir(&state).unwrap();
        fs::write(state.join("files-999999999-1"), format!("intent {}\n", encoded(&path))).unwrap();
        fs::write(&path, "").unwrap();
        assert_eq!(Ledger::sweep(&state), [Swept { path: path.clone(), removed: true }]);
        fs::write(state.join("files-999999999-1"), format!("intent {}\n", encoded(&path))).unwrap();
        fs::write(&path, "not empty").unwrap();
        assert_eq!(Ledger::sweep(&state), []);
    }

    #[test]
    fn a_kept_file_stays_and_is_ours_again_later() {
        let dir = tempfile::tempdir().unwrap();
        let (state, path) = (dir.path().join("state"), dir.path().join("kept file"));
        let mut ledger = Ledger::new(&state);
        ledger.create(&path, 0o600).unwrap();
        ledger.keep(&path).unwrap();
        drop(ledger);
        let mut later = Ledger::new(&state);
        assert!(later.owns(&path));
        later.remove(&path).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn runs_that_overlap_do_not_lose_each_others_kept_files() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let mut ledgers: Vec<Ledger> = (0..5).map(|_| Ledger::new(&state)).collect();
        for (i, ledger) in ledgers.iter_mut().enumerate() {
            let path = dir.path().join(format!("kept{i}"));
            ledger.create(&path, 0o600).unwrap();
            ledger.keep(&path).unwrap();
        }
        drop(ledgers);
        let later = Ledger::new(&state);
        assert!((0..5).all(|i| later.owns(&dir.path().join(format!("kept{i}")))));
    }

    #[test]
    fn what_cannot_be_reached_now_stays_in_the_journal() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        fs::create_dir(&state).unwrap();
        let journal = state.join("files-999999999-1");
        fs::write(&journal, "made 1 2 3 /nowhere/that/is/mounted/file\n").unwrap();
        assert_eq!(Ledger::sweep(&state), []);
        assert!(journal.exists());
    }

    proptest! {
        #[test]
        fn paths_survive_the_journal(bytes in prop::collection::vec(1u8..=255, 1..40)) {
            let path = PathBuf::from(std::ffi::OsString::from_vec(bytes));
            prop_assert_eq!(decoded(&encoded(&path)), path);
        }
    }
}
