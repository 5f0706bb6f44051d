//! Whether only this user and root can change a file or directory, judged by owner and permissions. For an access list, the group
//! permissions show the most that it grants.

use crate::Untrusted;
use rustix::fs::{FileType, Stat};
use std::path::Path;

const WRITABLE_BY_GROUP: u32 = 0o020;
const WRITABLE_BY_ALL: u32 = 0o002;
/// In such a directory (`/tmp`) only the owner of an entry can rename or remove it.
const STICKY: u32 = 0o1000;

/// User id of this process.
#[must_use]
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Checks a directory on the path. Others may add names to it if they cannot change those of this user and of root.
pub(crate) fn on_the_way(path: &Path, about: &Stat) -> Result<(), Untrusted> {
    owned(path, about)?;
    if about.st_mode & STICKY != 0 { Ok(()) } else { closed(path, about) }
}

/// Whether others cannot replace what a name in its directory refers to.
#[must_use]
pub fn is_in_our_directory(path: &Path) -> bool {
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    rustix::fs::stat(above).is_ok_and(|about| on_the_way(above, &about).is_ok())
}

/// Checks a trusted file, or the directory that holds trusted files.
pub(crate) fn last(path: &Path, about: &Stat) -> Result<(), Untrusted> {
    owned(path, about)?;
    closed(path, about)
}

/// Checks a file in a trusted directory before it is read or written.
///
/// # Errors
/// If it is not a regular file, or others can change it.
pub fn file(path: &Path, about: &Stat) -> Result<(), Untrusted> {
    let kind = FileType::from_raw_mode(about.st_mode);
    if kind != FileType::RegularFile {
        return Err(Untrusted::Kind { path: path.into(), found: name_of(kind), expected: "a file" });
    }
    last(path, about)
}

pub(crate) fn owned(path: &Path, about: &Stat) -> Result<(), Untrusted> {
    if about.st_uid == 0 || about.st_uid == user() {
        return Ok(());
    }
    Err(Untrusted::Owner { path: path.into(), owner: about.st_uid })
}

fn closed(path: &Path, about: &Stat) -> Result<(), Untrusted> {
    // With user private groups (group id equals user id), files are often group-writable.
    let own_group = about.st_gid != 0 && about.st_gid == user();
    let others = if own_group { WRITABLE_BY_ALL } else { WRITABLE_BY_ALL | WRITABLE_BY_GROUP };
    if about.st_mode & others == 0 {
        return Ok(());
    }
    Err(Untrusted::Writable { path: path.into(), mode: about.st_mode & 0o7777 })
}

/// Such as "a named pipe".
pub(crate) fn name_of(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "of an unknown kind",
    }
}
