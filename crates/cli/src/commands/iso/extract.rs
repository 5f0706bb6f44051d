//! `fathom iso extract`: unpacks the tree of an image. Only into a directory that it creates, and symbolic links last,
//! so that nothing in the image can make it write elsewhere. All paths are resolved from that directory's descriptor,
//! so renames by other users cannot either. What cannot be read, or what the target file system rejects, is reported
//! and skipped.

use super::backend::ImageFile;
use super::check::several;
use super::options::Extract;
use super::{Opened, find, open_under, policy_of, reader, shown, tell_counters};
use crate::console;
use crate::exit::{self, Usage};
use anyhow::{Context as _, bail};
use fathom_engine::ledger::{REPLACED, open_below};
use fathom_isofs::reader::Reader;
use fathom_isofs::{Kind, Node, Step, Walk};
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{File, FileTimes, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

/// Bytes read and written at a time.
const PIECE: usize = 256 << 10;

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const NEW_FILE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// State of an extraction: what was done and what must wait for the end.
struct Unpacking<'a> {
    reader: &'a Reader<ImageFile>,
    /// Whether data goes through the reader's cache. Every byte is needed once, so only if cache counters were
    /// requested.
    cached: bool,
    /// For messages only.
    into: &'a Path,
    root: OwnedFd,
    /// The last directory used, by its path in the image: the next file is usually in the same one.
    last: Option<(Vec<u8>, Rc<OwnedFd>)>,
    links: Vec<(Vec<u8>, Vec<u8>)>,
    directories: Vec<(Vec<u8>, Node)>,
    /// First path of each inode, with its node; later ones become hard links.
    first: HashMap<u64, (Vec<u8>, Node)>,
    piece: Vec<u8>,
    left_out: u64,
    files: u64,
}

pub fn run(options: &Extract) -> anyhow::Result<ExitCode> {
    let policy = policy_of(&options.source, &options.reading)?;
    let reader = reader(open_under(&options.source, &policy)?, &policy)?;
    let image: &Opened = reader.image();
    let from = find(image, &options.source, &options.from)?;
    if !from.is_directory() {
        return Err(Usage(format!(
            "--from {}: not a directory; `fathom iso cat` writes one file",
            options.from.display()
        ))
        .into());
    }
    let into = &options.into;
    let root = make_root(into)?;
    let mut unpacking = Unpacking {
        reader: &reader,
        cached: options.reading.is_asked() || options.counters,
        into,
        root,
        last: None,
        links: Vec::new(),
        directories: vec![(Vec::new(), from.clone())],
        first: HashMap::new(),
        piece: vec![0; PIECE],
        left_out: 0,
        files: 0,
    };
    let mut walk = Walk::below(image, from);
    while let Some(step) = walk.step() {
        let mut has_place = true;
        match step {
            Step::Failed { path, error } => unpacking.leave_out(path, &error.to_string()),
            Step::File { path, again: true, .. } => {
                unpacking.leave_out(path, "a directory that is elsewhere in the tree, too");
            }
            Step::File { path, node, .. } => has_place = unpacking.take(path, node)?,
        }
        if !has_place {
            walk.skip();
        }
    }
    let code = unpacking.finish()?;
    if options.counters {
        tell_counters(&reader, &policy)?;
    }
    Ok(code)
}

/// Creates and opens the target directory. A user who may rename it can replace it between the two steps.
fn make_root(into: &Path) -> anyhow::Result<OwnedFd> {
    // Only the last component, relative to an open directory: a trailing slash would follow a link.
    let make = || {
        let name = into.file_name().ok_or(Errno::EXIST)?;
        let above = into.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let above = rustix::fs::openat(CWD, above, how, Mode::empty())?;
        rustix::fs::mkdirat(&above, name, Mode::RWXU)?;
        Ok((above, name))
    };
    let (above, name) = make().map_err(|e: Errno| {
        let e = io::Error::from(e);
        Usage(format!("{}: {e}; extract makes the directory itself, so it must not exist", into.display()))
    })?;
    let open = || {
        let root = rustix::fs::openat(&above, name, DIRECTORY, Mode::empty())?;
        if is_new(&root)? { Ok(root) } else { Err(io::Error::other(REPLACED)) }
    };
    open().with_context(|| into.display().to_string())
}

/// Whether a directory is empty and owned by the user whose files are created in it.
fn is_new(directory: &OwnedFd) -> io::Result<bool> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if entry.file_name() != c"." && entry.file_name() != c".." {
            return Ok(false);
        }
    }
    let owner = rustix::fs::fstat(directory)?.st_uid;
    if owner == rustix::process::geteuid().as_raw() {
        return Ok(true);
    }
    // File systems without owners (vfat) or with other ones (NFS, for root): a file gets the same owner there.
    let file = rustix::fs::openat(directory, "probe", NEW_FILE, Mode::RUSR | Mode::WUSR)?;
    rustix::fs::unlinkat(directory, "probe", AtFlags::empty())?;
    Ok(rustix::fs::fstat(&file)?.st_uid == owner)
}

impl Unpacking<'_> {
    fn leave_out(&mut self, path: &[u8], why: &str) {
        console::warning(&format!("{}: left out: {why}", shown(path)));
        self.left_out += 1;
    }

    /// Handles an error of the target: one about this path alone skips it, any other ends the extraction.
    fn refused(&mut self, path: &[u8], error: io::Error) -> anyhow::Result<()> {
        if is_of_path(&error) {
            self.leave_out(path, &error.to_string());
            return Ok(());
        }
        Err(error).with_context(|| self.place(path).display().to_string())
    }

    /// Target path of an image path, for messages.
    fn place(&self, path: &[u8]) -> PathBuf {
        if path.is_empty() { self.into.into() } else { self.into.join(OsStr::from_bytes(path)) }
    }

    /// The open target directory of an image path, and the last component.
    fn above<'p>(&mut self, path: &'p [u8]) -> Result<(Rc<OwnedFd>, &'p OsStr), Errno> {
        // Deeper paths could be created from here, but not be opened by path.
        if self.place(path).as_os_str().len() >= libc::PATH_MAX as usize {
            return Err(Errno::NAMETOOLONG);
        }
        let slash = path.iter().rposition(|byte| *byte == b'/');
        let (above, name) = slash.map_or((&[][..], path), |at| (&path[..at], &path[at + 1..]));
        let name = OsStr::from_bytes(name);
        if let Some((last, open)) = &self.last
            && last == above
        {
            return Ok((Rc::clone(open), name));
        }
        let open = Rc::new(self.directory(above)?);
        self.last = Some((above.to_vec(), Rc::clone(&open)));
        Ok((open, name))
    }

    /// Opens an extracted directory.
    fn directory(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        if path.is_empty() {
            return rustix::io::fcntl_dupfd_cloexec(&self.root, 0);
        }
        open_below(self.root.as_fd(), OsStr::from_bytes(path), DIRECTORY, 0)
    }

    fn make_directory(&mut self, path: &[u8]) -> io::Result<()> {
        let (above, name) = self.above(path)?;
        Ok(rustix::fs::mkdirat(above, name, Mode::RWXU)?)
    }

    fn make_file(&mut self, path: &[u8]) -> io::Result<File> {
        let (above, name) = self.above(path)?;
        Ok(rustix::fs::openat(above, name, NEW_FILE, Mode::RUSR | Mode::WUSR)?.into())
    }

    fn make_link(&mut self, path: &[u8], target: &[u8]) -> io::Result<()> {
        let (above, name) = self.above(path)?;
        Ok(rustix::fs::symlinkat(target, above, name)?)
    }

    fn make_hard_link(&mut self, first: &[u8], path: &[u8]) -> io::Result<()> {
        let (first_above, first_name) = self.above(first)?;
        let (above, name) = self.above(path)?;
        Ok(rustix::fs::linkat(first_above, first_name, above, name, AtFlags::empty())?)
    }

    /// Removes a file again: half of it would be mistaken for the whole.
    fn discard(&mut self, file: File, path: &[u8]) -> anyhow::Result<()> {
        drop(file);
        let removed =
            self.above(path).and_then(|(above, name)| rustix::fs::unlinkat(above, name, AtFlags::empty()));
        removed.map_err(io::Error::from).with_context(|| self.place(path).display().to_string())
    }

    /// Extracts one entry; returns whether a directory's content can follow.
    fn take(&mut self, path: &[u8], node: &Node) -> anyhow::Result<bool> {
        match node.kind() {
            Kind::Directory => match self.make_directory(path) {
                Ok(()) => self.directories.push((path.to_vec(), node.clone())),
                Err(error) if is_of_path(&error) => {
                    self.leave_out(path, &format!("with all that is below it: {error}"));
                    return Ok(false);
                }
                Err(error) => return Err(error).with_context(|| self.place(path).display().to_string()),
            },
            Kind::Link => match self.reader.image().read_link(node) {
                Ok(target) => self.links.push((path.to_vec(), target)),
                Err(error) => self.leave_out(path, &error.to_string()),
            },
            Kind::File => self.file(path, node)?,
            Kind::CharDevice | Kind::BlockDevice | Kind::Fifo | Kind::Socket => {
                self.leave_out(path, "not a file, directory or link");
            }
        }
        Ok(true)
    }

    fn file(&mut self, path: &[u8], node: &Node) -> anyhow::Result<()> {
        // Inode numbers come from the image, so files with the same number may differ. What cannot be linked (link
        // limit, no hard links) is copied, which also reports other errors.
        let first = self.first.get(&node.inode()).filter(|(_, first)| first.is_same_file(node));
        let first = first.map(|(first, _)| first.clone());
        if first.is_some_and(|first| self.make_hard_link(&first, path).is_ok()) {
            self.files += 1;
            return Ok(());
        }
        let mut file = match self.make_file(path) {
            Ok(file) => file,
            Err(error) => return self.refused(path, error),
        };
        match self.copy(&mut file, node).and_then(|read| attributes(&file, node).map(|()| read)) {
            Ok(None) => {
                self.files += 1;
                self.first.entry(node.inode()).or_insert_with(|| (path.to_vec(), node.clone()));
            }
            Ok(Some(error)) => {
                self.discard(file, path)?;
                self.leave_out(path, &error.to_string());
            }
            Err(error) => {
                if is_of_path(&error) {
                    self.discard(file, path)?;
                }
                return self.refused(path, error);
            }
        }
        Ok(())
    }

    /// Copies the content; the inner error is the image's, the outer one the disk's.
    fn copy(&mut self, file: &mut File, node: &Node) -> io::Result<Option<fathom_isofs::Error>> {
        let content = self.cached.then(|| self.reader.open(node));
        let mut offset = 0;
        loop {
            // No read of zero bytes is needed to detect the end.
            if offset > 0 && offset >= node.size() {
                return Ok(None);
            }
            let read = match &content {
                Some(content) => content.read_at(offset, &mut self.piece),
                None => self.reader.image().read_at(node, offset, &mut self.piece),
            };
            match read {
                Err(error) => return Ok(Some(error)),
                Ok(0) => return Ok(None),
                Ok(n) => {
                    file.write_all(&self.piece[..n])?;
                    offset += n as u64;
                }
            }
        }
    }

    /// Whether the given name still leads to the directory that was created.
    fn is_in_place(&self) -> bool {
        let there = rustix::fs::statat(CWD, self.into, AtFlags::SYMLINK_NOFOLLOW);
        let ours = rustix::fs::fstat(&self.root);
        matches!((there, ours), (Ok(there), Ok(ours)) if (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino))
    }

    /// Creates links once nothing can be written through them; then sets the modes and dates of directories, deepest
    /// first.
    fn finish(mut self) -> anyhow::Result<ExitCode> {
        for (path, target) in std::mem::take(&mut self.links) {
            match self.make_link(&path, &target) {
                Ok(()) => self.files += 1,
                Err(error) => self.refused(&path, error)?,
            }
        }
        for (path, node) in self.directories.iter().rev() {
            let open = self.directory(path).map_err(io::Error::from);
            let set = open.and_then(|open| attributes(&File::from(open), node));
            set.with_context(|| self.place(path).display().to_string())?;
        }
        // A user who may rename the directory may have replaced it; the files are not there then.
        if !self.is_in_place() {
            bail!(
                "{}: {REPLACED}; the files are in the one that was made, wherever it is now",
                self.into.display()
            );
        }
        let files = several(self.files, "file", "files");
        let directories = several(self.directories.len() as u64, "directory", "directories");
        console::note(&format!("{files} in {directories}: {}", self.into.display()));
        Ok(ExitCode::from(if self.left_out == 0 { exit::DONE } else { exit::FAILED }))
    }
}

/// Whether an error concerns one path and not the disk: a name or target that this file system rejects or finds too
/// long, a case-insensitive clash, or a file that is too large.
fn is_of_path(error: &io::Error) -> bool {
    const OF_PATH: [i32; 5] = [libc::ENAMETOOLONG, libc::EINVAL, libc::EILSEQ, libc::EEXIST, libc::EFBIG];
    error.raw_os_error().is_some_and(|number| OF_PATH.contains(&number))
}

/// Sets mode and date. Set-id bits are not taken from an image, and the owner can always remove a directory.
fn attributes(file: &File, node: &Node) -> io::Result<()> {
    let keep = if node.is_directory() { 0o700 } else { 0 };
    file.set_permissions(Permissions::from_mode(node.mode() & 0o777 | keep))?;
    if let Some(moment) = node.times().modified.moment() {
        let seconds = u64::try_from(moment.seconds).unwrap_or(0);
        let at = SystemTime::UNIX_EPOCH + Duration::new(seconds, moment.nanos);
        file.set_times(FileTimes::new().set_modified(at))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A full or broken disk ends the extraction.
    #[test]
    fn errors_of_a_path_and_errors_of_the_disk() {
        let of_path = |number: i32| is_of_path(&io::Error::from_raw_os_error(number));
        for number in [libc::ENAMETOOLONG, libc::EINVAL, libc::EILSEQ, libc::EEXIST, libc::EFBIG] {
            assert!(of_path(number), "{number}");
        }
        for number in [libc::ENOSPC, libc::EIO, libc::EROFS, libc::EDQUOT, libc::EACCES] {
            assert!(!of_path(number), "{number}");
        }
        assert!(!is_of_path(&io::Error::other("no number")));
    }
}
