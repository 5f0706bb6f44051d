//! The journal of what is changed on the machine: a text file `knobs-PID-START-TIME` in the state directory. It is there, with the old
//! values in it, before anything is changed, and locked as long as its process or the guardian lives. One line a fact:
//!
//! `fathom-knobs 1`, `boot ID HOST`, `save PATH DEVICE KNOB VALUE`, `turn PATH VALUE` (before it is written), `now PATH VALUE` (what was read
//! back), `disk DIRECTORY DEV INODE`, `file PATH DEV INODE BORN_NS`. Words are
//! percent-encoded, an empty one is `%`.

use super::error::KnobError;
use super::files::KnobFiles;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// First line of every journal.
const MAGIC: &str = "fathom-knobs 1";
/// Names of journals begin with it.
pub(crate) const PREFIX: &str = "knobs-";
/// Names of journals that are still being written.
const NEW: &str = "new-knobs-";

/// The journal of this process.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Makes a journal that owes nothing yet: written beside its place, forced to the disk, renamed, and the directory forced, so
    /// that there is a whole one or none.
    ///
    /// # Errors
    /// If the directory cannot be written to.
    pub fn create(directory: &Path, boot: &Boot) -> Result<Self, KnobError> {
        let untold = |error| KnobError::Journal { directory: directory.into(), error };
        fs::create_dir_all(directory).map_err(untold)?;
        let since = std::time::UNIX_EPOCH.elapsed().map_or(0, |t| t.as_nanos());
        let pid = std::process::id();
        let name = format!("{pid}-{}-{since}", start_time(pid).unwrap_or(0));
        let (new, path) = (directory.join(format!("{NEW}{name}")), directory.join(format!("{PREFIX}{name}")));
        let mut file = OpenOptions::new().create_new(true).append(true).open(&new).map_err(untold)?;
        // Where locks are not to be had, the process number in the name has to do.
        let _ = rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
        let written = file
            .write_all(format!("{MAGIC}\n{}", boot.line()).as_bytes())
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&new, &path))
            .and_then(|()| File::open(directory)?.sync_all());
        if let Err(error) = written {
            let _ = fs::remove_file(&new);
            return Err(untold(error));
        }
        Ok(Self { path, file })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file, whose lock the guardian shares.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Adds facts, on the disk when this returns.
    ///
    /// # Errors
    /// If they could not be written.
    pub fn note(&mut self, facts: &[Fact]) -> Result<(), KnobError> {
        if facts.is_empty() {
            return Ok(());
        }
        // One write: a killed process leaves whole lines, and a line cut short by a power cut is not understood and passed over.
        let text: String = facts.iter().map(Fact::line).collect();
        self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data()).map_err(|error| {
            KnobError::Journal { directory: self.path.parent().unwrap_or(Path::new("/")).into(), error }
        })
    }

    /// What it says so far.
    #[must_use]
    pub fn facts(&self) -> Facts {
        Facts::read(&self.path).unwrap_or_default()
    }

    /// Removes it: nothing is owed any more.
    pub fn close(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Which boot of which machine: a reboot resets all knobs, and another machine's (homes are shared over networks) are not ours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boot {
    /// The kernel's boot id.
    pub id: String,
    /// Name of the machine.
    pub host: String,
}

impl Boot {
    /// This one.
    #[must_use]
    pub fn now(files: &dyn KnobFiles) -> Self {
        let read = |name: &str| files.trimmed(&Path::new("/proc/sys/kernel").join(name)).unwrap_or_default();
        Self { id: read("random/boot_id"), host: read("hostname") }
    }

    fn line(&self) -> String {
        format!("boot {} {}\n", coded(self.id.as_bytes()), coded(self.host.as_bytes()))
    }
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The value that was there; `None` if there was no such file (a tunable of another scheduler).
    Save {
        /// The kernel's file.
        path: PathBuf,
        /// Whose it is.
        device: String,
        /// Its name.
        knob: String,
        /// Its value.
        value: Option<String>,
    },
    /// It is about to be written.
    Turn(PathBuf, String),
    /// It was read back.
    Now(PathBuf, String),
    /// A directory with an image and a mount point, about to be filled.
    Disk(PathBuf, Identity),
    /// A file that goes at the end.
    File(PathBuf, Identity),
}

/// What tells a file from another of the same path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Time of birth, because numbers are used again; 0 where there is none.
    pub born_ns: u64,
}

impl Identity {
    /// Of what is at a path now.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let about = fs::symlink_metadata(path).ok()?;
        let born = about.created().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
        let born_ns = born.and_then(|b| u64::try_from(b.as_nanos()).ok()).unwrap_or(0);
        Some(Self { device: about.dev(), inode: about.ino(), born_ns })
    }
}

impl Fact {
    fn line(&self) -> String {
        let path = |p: &Path| coded(p.as_os_str().as_bytes());
        let text = |t: &str| coded(t.as_bytes());
        let who = |i: &Identity| format!("{} {} {}", i.device, i.inode, i.born_ns);
        match self {
            Self::Save { path: p, device, knob, value } => {
                let value = value.as_deref().map_or_else(|| "-".into(), |v| format!("={}", text(v)));
                format!("save {} {} {} {value}\n", path(p), text(device), text(knob))
            }
            Self::Turn(p, v) => format!("turn {} {}\n", path(p), text(v)),
            Self::Now(p, v) => format!("now {} {}\n", path(p), text(v)),
            Self::Disk(p, i) => format!("disk {} {}\n", path(p), who(i)),
            Self::File(p, i) => format!("file {} {}\n", path(p), who(i)),
        }
    }
}

/// A knob as it was, and as we left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The kernel's file.
    pub path: PathBuf,
    /// Whose it is.
    pub device: String,
    /// Its name.
    pub knob: String,
    /// What it was before; `None` if it was not there.
    pub old: Option<String>,
    /// What it was when it was last read back.
    pub ours: Option<String>,
    /// It was about to be written, and what came of it was not noted any more.
    pub in_the_middle: bool,
}

/// What a journal says is owed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The boot it belongs to.
    pub boot: Boot,
    /// Knobs, each once.
    pub saved: Vec<Saved>,
    /// Directories of loop devices.
    pub disks: Vec<(PathBuf, Identity)>,
    /// Files.
    pub files: Vec<(PathBuf, Identity)>,
}

impl Facts {
    /// Reads a journal.
    ///
    /// # Errors
    /// If it cannot be read, or is no journal of this version.
    pub fn read(path: &Path) -> io::Result<Self> {
        Self::parse(&fs::read_to_string(path)?)
            .ok_or_else(|| io::Error::other("it is no journal of this version of fathom"))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next() != Some(MAGIC) {
            return None;
        }
        let mut facts = Self::default();
        let mut at: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["boot", id, host] => facts.boot = Boot { id: string(id), host: string(host) },
                ["save", path, device, knob, value] => {
                    let path = path_of(path);
                    if at.contains_key(&path) {
                        continue;
                    }
                    at.insert(path.clone(), facts.saved.len());
                    let old = value.strip_prefix('=').map(string);
                    let (device, knob) = (string(device), string(knob));
                    let ours = old.clone();
                    facts.saved.push(Saved { path, device, knob, old, ours, in_the_middle: false });
                }
                [kind @ ("turn" | "now"), path, value] => {
                    if let Some(&i) = at.get(&path_of(path)) {
                        facts.saved[i].in_the_middle = kind == "turn";
                        if kind == "now" {
                            facts.saved[i].ours = Some(string(value));
                        }
                    }
                }
                [kind @ ("disk" | "file"), path, device, inode, born_ns] => {
                    if let (Ok(device), Ok(inode), Ok(born_ns)) =
                        (device.parse(), inode.parse(), born_ns.parse())
                    {
                        let entry = (path_of(path), Identity { device, inode, born_ns });
                        if kind == "disk" { facts.disks.push(entry) } else { facts.files.push(entry) }
                    }
                }
                // A line cut short, or of a later version.
                _ => {}
            }
        }
        Some(facts)
    }
}

/// Journals in a state directory whose processes and guardians are dead, with the lock taken.
pub(crate) fn orphans(directory: &Path) -> Vec<(PathBuf, File)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let unfinished = name.starts_with(NEW);
        let Some(owner) = name.strip_prefix(PREFIX).or(name.strip_prefix(NEW)) else { continue };
        if owner_lives(owner) {
            continue;
        }
        let Ok(Some(locked)) = super::files::lock(&entry.path()) else { continue };
        if unfinished {
            // It was never a journal: nothing had been changed.
            let _ = fs::remove_file(entry.path());
        } else if entry.path().exists() {
            // Whoever held the lock before may have settled it meanwhile.
            found.push((entry.path(), locked));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// A process is the same only if its start time is, because numbers are used again.
fn owner_lives(owner: &str) -> bool {
    let mut parts = owner.split('-');
    let (Some(Ok(pid)), Some(Ok(start))) =
        (parts.next().map(str::parse), parts.next().map(str::parse::<u64>))
    else {
        return false;
    };
    start_time(pid) == Some(start)
}

/// Field 22 of /proc/PID/stat, counted from the bracket that closes the name.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat.rsplit_once(')')?.1;
    let state = fields.split_ascii_whitespace().next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.split_ascii_whitespace().nth(19)?.parse().ok()
}

fn coded(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "%".into();
    }
    let plain = |b: u8| b.is_ascii_graphic() && b != b'%';
    bytes.iter().map(|&b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02x}") }).collect()
}

fn decoded(word: &str) -> Vec<u8> {
    if word == "%" {
        return Vec::new();
    }
    let bytes = word.as_bytes();
    let (mut out, mut i) = (Vec::with_capacity(bytes.len()), 0);
    while i < bytes.len() {
        let hex = word.get(i + 1..i + 3).and_then(|h| u8::from_str_radix(h, 16).ok());
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
    out
}

fn string(word: &str) -> String {
    String::from_utf8_lossy(&decoded(word)).into_owned()
}

fn path_of(word: &str) -> PathBuf {
    PathBuf::from(std::ffi::OsString::from_vec(decoded(word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(facts: &[Fact]) -> String {
        format!("{MAGIC}\nboot b h\n{}", facts.iter().map(Fact::line).collect::<String>())
    }

    fn save(path: &str, value: Option<&str>) -> Fact {
        let value = value.map(String::from);
        Fact::Save { path: path.into(), device: "loop 0".into(), knob: "k".into(), value }
    }

    #[test]
    fn the_last_reading_is_ours_and_the_first_saving_is_old() {
        let facts = Facts::parse(&text(&[
            save("/a b", Some("one")),
            Fact::Turn("/a b".into(), "two".into()),
            Fact::Now("/a b".into(), "2".into()),
            save("/a b", Some("2")),
        ]))
        .expect("a journal");
        assert_eq!(facts.saved.len(), 1);
        let saved = &facts.saved[0];
        assert_eq!((saved.old.as_deref(), saved.ours.as_deref()), (Some("one"), Some("2")));
        assert_eq!((saved.device.as_str(), saved.in_the_middle), ("loop 0", false));
    }

    #[test]
    fn a_kill_in_the_middle_shows() {
        let facts = Facts::parse(&text(&[save("/a", None), Fact::Turn("/a".into(), String::new())]));
        let saved = &facts.expect("a journal").saved[0];
        assert!(saved.in_the_middle && saved.old.is_none());
    }

    #[test]
    fn other_files_are_no_journals() {
        assert_eq!(Facts::parse(""), None);
        assert_eq!(Facts::parse("fathom-knobs 2\n"), None);
    }

    #[test]
    fn living_owners_are_left_alone_and_dead_ones_found_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let mine = Journal::create(dir.path(), &Boot::default()).expect("a journal");
        assert!(orphans(dir.path()).is_empty(), "its process lives");
        let dead = dir.path().join("knobs-1-1-7");
        fs::copy(mine.path(), &dead).expect("a copy");
        fs::write(dir.path().join("new-knobs-1-1-8"), "fath").expect("half a journal");
        let found = orphans(dir.path());
        assert_eq!(found.iter().map(|f| &f.0).collect::<Vec<_>>(), [&dead]);
        assert!(orphans(dir.path()).is_empty(), "somebody is at it");
        assert!(!dir.path().join("new-knobs-1-1-8").exists());
    }

    proptest! {
        #[test]
        fn any_words_survive(path in "[^\0\n]{1,20}", value in "[^\n]{0,20}", device in ".{0,8}") {
            let fact = Fact::Save { path: PathBuf::from(&path), device: device.clone(), knob: "k".into(), value: Some(value.clone()) };
            let facts = Facts::parse(&text(&[fact])).expect("a journal");
            prop_assert_eq!(&facts.saved[0].path, &PathBuf::from(&path));
            prop_assert_eq!((&facts.saved[0].old, &facts.saved[0].device), (&Some(value), &device));
        }

        #[test]
        fn any_text_is_no_panic(lines in proptest::collection::vec(".{0,40}", 0..8)) {
            let _ = Facts::parse(&format!("{MAGIC}\n{}", lines.join("\n")));
        }
    }
}
