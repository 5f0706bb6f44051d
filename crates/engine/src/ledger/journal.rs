//! The text of journals and of the list of kept files ([`fathom_state::lines`]). The facts: `intent PATH`, `made DEV INODE PROOF
//! PATH`, `tree DEV INODE PROOF PATH`, `gone PATH`, and `failed PATH`: the intended creation failed.

use super::entry::Entry;
use fathom_state::here;
use fathom_state::lines::{self, coded_path, decoded_path};
use fathom_state::{Directory, Identity};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// First line of journals and of the list of kept files.
pub(super) const FIRST: &str = "fathom-files 2";
/// Name prefix of journals.
pub(super) const PREFIX: &str = "files-";
/// Name of the list of files that the user asked to keep.
pub(super) const KEPT: &str = "kept";
/// Where a list of another version is moved: we cannot read it and must not lose it.
pub(super) const ASIDE: &str = "kept.of-another-version";

/// Contents of a journal: files created and not removed, and an intent without a result.
#[derive(Default)]
pub(super) struct Facts {
    pub made: Vec<(PathBuf, Entry)>,
    pub intent: Option<PathBuf>,
}

/// The facts of a file in the state directory; `None` if it does not exist, is not ours, or has another version.
pub(super) fn read_facts(directory: &Directory, name: &str) -> Option<Facts> {
    Facts::parse(&directory.text(name).ok()??)
}

impl Facts {
    pub fn parse(text: &str) -> Option<Self> {
        let mut facts = Self::default();
        for fact in lines::facts(text, FIRST)? {
            match fact.split(' ').collect::<Vec<_>>().as_slice() {
                ["intent", path] => facts.intent = Some(decoded_path(path)),
                [kind @ ("made" | "tree"), device, inode, proof, path] => {
                    facts.intent = None;
                    if let Some(identity) = Identity::parse(device, inode, proof) {
                        facts.made.push((decoded_path(path), Entry::recorded(identity, *kind == "tree")));
                    }
                }
                ["gone", path] => {
                    let path = decoded_path(path);
                    facts.made.retain(|m| m.0 != path);
                    facts.intent = facts.intent.take().filter(|intent| *intent != path);
                }
                ["failed", path] => {
                    let path = decoded_path(path);
                    facts.intent = facts.intent.take().filter(|intent| *intent != path);
                }
                // A fact of a later version.
                _ => {}
            }
        }
        Some(facts)
    }
}

pub(super) fn made(entry: &Entry, path: &Path) -> String {
    let kind = if entry.tree { "tree" } else { "made" };
    format!("{kind} {} {}", entry.identity.words(), coded_path(path))
}

pub(super) fn intent(path: &Path) -> String {
    format!("intent {}", coded_path(path))
}

pub(super) fn gone(path: &Path) -> String {
    format!("gone {}", coded_path(path))
}

pub(super) fn failed(path: &Path) -> String {
    format!("failed {}", coded_path(path))
}

/// Removes the result of an unfinished intent: an empty file or directory of this user, as old as the journal's last line.
/// Returns whether there was one.
///
/// # Errors
/// If it cannot be inspected or removed.
pub(super) fn remove_intended(path: &Path, journal: &fs::Metadata) -> Result<bool, Errno> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Ok(false) };
    let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let found = rustix::fs::openat(CWD, here(above), how, Mode::empty())
        .and_then(|above| Ok((rustix::fs::statat(&above, name, AtFlags::SYMLINK_NOFOLLOW)?, above)));
    let (about, above) = match found {
        Ok(found) => found,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(false),
        Err(e) => return Err(e),
    };
    if about.st_uid != journal.uid() || !made_right_after(about.st_ctime, journal.ctime()) {
        return Ok(false);
    }
    let how = match FileType::from_raw_mode(about.st_mode) {
        FileType::Directory => AtFlags::REMOVEDIR,
        FileType::RegularFile if about.st_size == 0 => AtFlags::empty(),
        _ => return Ok(false),
    };
    match rustix::fs::unlinkat(&above, name, how) {
        Ok(()) => Ok(true),
        // The kernel removes only empty directories.
        Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT) => Ok(false),
        Err(e) => Err(e),
    }
}

/// A file is created right after its intent is noted. One created long before or after belongs to someone else: better to leave
/// one of our empty files than to remove theirs.
pub(super) fn made_right_after(file_s: i64, noted_s: i64) -> bool {
    (-1..=2).contains(&file_s.saturating_sub(noted_s))
}
