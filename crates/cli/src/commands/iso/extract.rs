//! `fathom iso extract`: the tree of an image as files. Only into a directory that it makes itself, and links last: so nothing in the image can
//! make it write anywhere else. What cannot be read, and what the file system it goes to does not take, is told and left out; the rest is kept.

use super::backend::ImageFile;
use super::options::Extract;
use super::{Opened, find, open_under, policy_of, reader, shown, tell_counters};
use crate::console;
use crate::exit::{self, Usage};
use anyhow::Context as _;
use fathom_isofs::reader::Reader;
use fathom_isofs::{Kind, Node, Step, Walk};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, FileTimes, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

/// Bytes read and written at a time.
const PIECE: usize = 256 << 10;

/// What was done, and what waits for the end.
struct Unpacking<'a> {
    reader: &'a Reader<ImageFile>,
    /// Whether contents go through the reader's cache: every byte is wanted once, so only for those who ask how that goes.
    cached: bool,
    into: &'a Path,
    links: Vec<(Vec<u8>, Vec<u8>)>,
    directories: Vec<(PathBuf, Node)>,
    /// The first path of each inode, with what it shows: further ones of the same file become hard links.
    first: HashMap<u64, (PathBuf, Node)>,
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
    DirBuilder::new().mode(0o700).create(into).map_err(|e| {
        Usage(format!("{}: {e}; extract makes the directory itself, so it must not exist", into.display()))
    })?;
    let mut unpacking = Unpacking {
        reader: &reader,
        cached: options.reading.is_asked() || options.counters,
        into,
        links: Vec::new(),
        directories: vec![(into.clone(), from.clone())],
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

impl Unpacking<'_> {
    fn leave_out(&mut self, path: &[u8], why: &str) {
        console::warning(&format!("{}: left out: {why}", shown(path)));
        self.left_out += 1;
    }

    /// What becomes of an error of the disk: one that is about this path alone leaves it out, any other ends the unpacking.
    fn refused(&mut self, path: &[u8], error: io::Error) -> anyhow::Result<()> {
        if is_of_path(&error) {
            self.leave_out(path, &error.to_string());
            return Ok(());
        }
        Err(error).with_context(|| self.place(path).display().to_string())
    }

    /// Where a path of the image is unpacked.
    fn place(&self, path: &[u8]) -> PathBuf {
        self.into.join(OsStr::from_bytes(path))
    }

    /// Unpacks one entry; whether what is in it, if it is a directory, has a place.
    fn take(&mut self, path: &[u8], node: &Node) -> anyhow::Result<bool> {
        let to = self.place(path);
        match node.kind() {
            Kind::Directory => match DirBuilder::new().mode(0o700).create(&to) {
                Ok(()) => self.directories.push((to, node.clone())),
                Err(error) if is_of_path(&error) => {
                    self.leave_out(path, &format!("with all that is below it: {error}"));
                    return Ok(false);
                }
                Err(error) => return Err(error).with_context(|| to.display().to_string()),
            },
            Kind::Link => match self.reader.image().read_link(node) {
                Ok(target) => self.links.push((path.to_vec(), target)),
                Err(error) => self.leave_out(path, &error.to_string()),
            },
            Kind::File => self.file(path, to, node)?,
            Kind::CharDevice | Kind::BlockDevice | Kind::Fifo | Kind::Socket => {
                self.leave_out(path, "neither a file nor a directory nor a link");
            }
        }
        Ok(true)
    }

    fn file(&mut self, path: &[u8], to: PathBuf, node: &Node) -> anyhow::Result<()> {
        // Inode numbers are what an image makes of them: files of one number can be two. What cannot be linked (too often, or on a file
        // system without hard links) is copied, which also says what else is wrong.
        let first = self.first.get(&node.inode()).filter(|(_, first)| first.is_same_file(node));
        if first.is_some_and(|(first, _)| fs::hard_link(first, &to).is_ok()) {
            self.files += 1;
            return Ok(());
        }
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&to);
        let mut file = match file {
            Ok(file) => file,
            Err(error) => return self.refused(path, error),
        };
        match self.copy(&mut file, node).and_then(|read| attributes(&file, node).map(|()| read)) {
            Ok(None) => {
                self.files += 1;
                self.first.entry(node.inode()).or_insert_with(|| (to, node.clone()));
            }
            Ok(Some(error)) => {
                discard(file, &to)?;
                self.leave_out(path, &error.to_string());
            }
            Err(error) => {
                if is_of_path(&error) {
                    discard(file, &to)?;
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
            // The end need not be found by a read that gives nothing.
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

    /// Links, when nothing can be written through them any more; then the directories' modes and dates, deepest first.
    fn finish(mut self) -> anyhow::Result<ExitCode> {
        for (path, target) in std::mem::take(&mut self.links) {
            match symlink(OsStr::from_bytes(&target), self.place(&path)) {
                Ok(()) => self.files += 1,
                Err(error) => self.refused(&path, error)?,
            }
        }
        for (path, node) in self.directories.iter().rev() {
            let set = File::open(path).and_then(|dir| attributes(&dir, node));
            set.with_context(|| path.display().to_string())?;
        }
        let directories = self.directories.len();
        console::note(&format!(
            "{} files in {directories} directories are in {}",
            self.files,
            self.into.display()
        ));
        Ok(ExitCode::from(if self.left_out == 0 { exit::DONE } else { exit::FAILED }))
    }
}

/// Whether an error is about one path and not about the disk: a name or a target that is too long for this file system or that it does not
/// take, one that it holds for another's (those that know no capitals), a file longer than it can have.
fn is_of_path(error: &io::Error) -> bool {
    const OF_PATH: [i32; 5] = [libc::ENAMETOOLONG, libc::EINVAL, libc::EILSEQ, libc::EEXIST, libc::EFBIG];
    error.raw_os_error().is_some_and(|number| OF_PATH.contains(&number))
}

/// Takes a file away again: half of it under its name would be taken for all of it.
fn discard(file: File, at: &Path) -> anyhow::Result<()> {
    drop(file);
    fs::remove_file(at).with_context(|| at.display().to_string())
}

/// Mode and date. The bits that lend rights are not taken over from an image, and a directory stays one its owner can remove.
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

    /// A full or a broken disk is no reason to go on.
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
