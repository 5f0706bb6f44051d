//! `fathom iso extract`: the tree of an image as files. Only into a directory that it makes itself, and links last: so nothing in the image can
//! make it write anywhere else. What cannot be read is told and left out; the rest is kept.

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
use std::io::Write as _;
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
    links: Vec<(PathBuf, Vec<u8>)>,
    directories: Vec<(PathBuf, Node)>,
    /// The first path of each inode: further ones become hard links.
    first: HashMap<u64, PathBuf>,
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
        match step {
            Step::Failed { path, error } => unpacking.leave_out(path, &error.to_string()),
            Step::File { path, again: true, .. } => {
                unpacking.leave_out(path, "a directory that is elsewhere in the tree, too");
            }
            Step::File { path, node, .. } => unpacking.take(path, node)?,
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

    fn take(&mut self, path: &[u8], node: &Node) -> anyhow::Result<()> {
        let to = self.into.join(OsStr::from_bytes(path));
        match node.kind() {
            Kind::Directory => {
                let made = DirBuilder::new().mode(0o700).create(&to);
                made.with_context(|| to.display().to_string())?;
                self.directories.push((to, node.clone()));
            }
            Kind::Link => match self.reader.image().read_link(node) {
                Ok(target) => self.links.push((to, target)),
                Err(error) => self.leave_out(path, &error.to_string()),
            },
            Kind::File => return self.file(path, to, node),
            Kind::CharDevice | Kind::BlockDevice | Kind::Fifo | Kind::Socket => {
                self.leave_out(path, "neither a file nor a directory nor a link");
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &[u8], to: PathBuf, node: &Node) -> anyhow::Result<()> {
        if let Some(first) = self.first.get(&node.inode()) {
            fs::hard_link(first, &to).with_context(|| to.display().to_string())?;
            self.files += 1;
            return Ok(());
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&to)
            .with_context(|| to.display().to_string())?;
        match self.copy(&mut file, node).with_context(|| to.display().to_string())? {
            None => {
                attributes(&file, node).with_context(|| to.display().to_string())?;
                self.files += 1;
                self.first.insert(node.inode(), to);
            }
            Some(error) => {
                drop(file);
                // Half a file under a whole one's name would be taken for it.
                fs::remove_file(&to).with_context(|| to.display().to_string())?;
                self.leave_out(path, &error.to_string());
            }
        }
        Ok(())
    }

    /// Copies the content; the inner error is the image's, the outer one the disk's.
    fn copy(&mut self, file: &mut File, node: &Node) -> std::io::Result<Option<fathom_isofs::Error>> {
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
        for (to, target) in std::mem::take(&mut self.links) {
            symlink(OsStr::from_bytes(&target), &to).with_context(|| to.display().to_string())?;
            self.files += 1;
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

/// Mode and date. The bits that lend rights are not taken over from an image, and a directory stays one its owner can remove.
fn attributes(file: &File, node: &Node) -> std::io::Result<()> {
    let keep = if node.is_directory() { 0o700 } else { 0 };
    file.set_permissions(Permissions::from_mode(node.mode() & 0o777 | keep))?;
    if let Some(moment) = node.times().modified.moment() {
        let seconds = u64::try_from(moment.seconds).unwrap_or(0);
        let at = SystemTime::UNIX_EPOCH + Duration::new(seconds, moment.nanos);
        file.set_times(FileTimes::new().set_modified(at))?;
    }
    Ok(())
}
