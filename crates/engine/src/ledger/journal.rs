//! The text of journals and of the list of kept files, and whose they are. One line a fact:
//! `intent PATH`, `made DEV INODE BORN_NS PATH`, `tree DEV INODE BORN_NS PATH`, `gone PATH`; paths are percent-encoded.

use super::identity::{Entry, Identity};
use std::fs::{self, File};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What a journal says: files made and not gone, and an intention without a result.
#[derive(Default)]
pub(super) struct Facts {
    pub made: Vec<(PathBuf, Entry)>,
    pub intent: Option<PathBuf>,
}

pub(super) fn read_facts(journal: &Path) -> Facts {
    let mut facts = Facts::default();
    for line in fs::read_to_string(journal).unwrap_or_default().lines() {
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["intent", path] => facts.intent = Some(decoded(path)),
            [kind @ ("made" | "tree"), device, inode, born_ns, path] => {
                facts.intent = None;
                if let (Ok(device), Ok(inode), Ok(born_ns)) = (device.parse(), inode.parse(), born_ns.parse())
                {
                    let identity = Identity { device, inode, born_ns };
                    facts.made.push((decoded(path), Entry { identity, tree: *kind == "tree" }));
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

pub(super) fn made_line(entry: Entry, path: &Path) -> String {
    let Entry { identity: Identity { device, inode, born_ns }, tree } = entry;
    format!("{} {device} {inode} {born_ns} {}", if tree { "tree" } else { "made" }, encoded(path))
}

/// "PID-START" (the file's name adds the time): a process is the same only if its start time is, because numbers are used again.
pub(super) fn owner_name(pid: u32) -> String {
    format!("{pid}-{}", start_time(pid).unwrap_or(0))
}

pub(super) fn owner_lives(owner: &str) -> bool {
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

/// Removes what an unfinished intention left: an empty file or directory as old as the journal's last line. `None` if there is none.
pub(super) fn remove_intended(path: &Path, journal: &Path) -> Option<bool> {
    let (about, journal) = (fs::symlink_metadata(path).ok()?, fs::metadata(journal).ok()?);
    if !made_right_after(about.ctime(), journal.ctime()) {
        return None;
    }
    // A directory goes only if it is empty: the kernel sees to that.
    if about.is_dir() {
        return fs::read_dir(path).ok()?.next().is_none().then(|| fs::remove_dir(path).is_ok());
    }
    (about.is_file() && about.len() == 0).then(|| fs::remove_file(path).is_ok())
}

/// We create a file right after noting the intention. One made long before or after is somebody else's: better an empty file too
/// many than one of theirs too few.
pub(super) fn made_right_after(file_s: i64, noted_s: i64) -> bool {
    (-1..=2).contains(&file_s.saturating_sub(noted_s))
}

/// Whether a living process holds the journal, wherever it runs.
pub(super) fn is_locked(journal: &Path) -> bool {
    let Ok(file) = File::open(journal) else { return false };
    let refused = rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
    refused.is_err_and(|e| e == rustix::io::Errno::WOULDBLOCK)
}

pub(super) fn encoded(path: &Path) -> String {
    let plain = |b: u8| b.is_ascii_graphic() && b != b'%';
    path.as_os_str()
        .as_bytes()
        .iter()
        .map(|&b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02x}") })
        .collect()
}

pub(super) fn decoded(text: &str) -> PathBuf {
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
