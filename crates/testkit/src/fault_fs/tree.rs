//! Files and directories in memory, by inode number. An unlinked file lives while it is open.

use fuser::{FileAttr, FileType, INodeNo};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::time::SystemTime;

/// Inode number of the root directory, given by the protocol.
pub(super) const ROOT: u64 = 1;

/// Capacity for the data of all files.
pub(super) const ROOM: u64 = 256 << 20;

/// A result with an errno.
pub(super) type Done<T> = Result<T, i32>;

#[derive(Debug)]
enum NodeContent {
    File(Vec<u8>),
    Directory { names: BTreeMap<OsString, u64>, parent: u64 },
}

#[derive(Debug)]
struct Node {
    content: NodeContent,
    mode: u16,
    owner: (u32, u32),
    links: u32,
    opened: u32,
    marks: BTreeMap<OsString, Vec<u8>>,
    modified: SystemTime,
}

/// The whole file system.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: HashMap<u64, Node>,
    next: u64,
}

impl Tree {
    pub(super) fn new() -> Self {
        let mut tree = Self { nodes: HashMap::new(), next: ROOT };
        tree.add(directory(ROOT), 0o755, (0, 0));
        tree
    }

    fn add(&mut self, content: NodeContent, mode: u32, owner: (u32, u32)) -> u64 {
        let (number, mode) = (self.next, (mode & 0o7777) as u16);
        self.next += 1;
        let modified = SystemTime::now();
        self.nodes.insert(
            number,
            Node { content, mode, owner, links: 1, opened: 0, marks: BTreeMap::new(), modified },
        );
        number
    }

    fn node(&mut self, number: u64) -> Done<&mut Node> {
        self.nodes.get_mut(&number).ok_or(libc::ENOENT)
    }

    fn names(&mut self, number: u64) -> Done<&mut BTreeMap<OsString, u64>> {
        match &mut self.node(number)?.content {
            NodeContent::Directory { names, .. } => Ok(names),
            NodeContent::File(_) => Err(libc::ENOTDIR),
        }
    }

    fn bytes(&mut self, number: u64) -> Done<&mut Vec<u8>> {
        match &mut self.node(number)?.content {
            NodeContent::File(bytes) => Ok(bytes),
            NodeContent::Directory { .. } => Err(libc::EISDIR),
        }
    }

    pub(super) fn find(&mut self, parent: u64, name: &OsStr) -> Done<u64> {
        self.names(parent)?.get(name).copied().ok_or(libc::ENOENT)
    }

    pub(super) fn attributes(&mut self, number: u64) -> Done<FileAttr> {
        let node = self.node(number)?;
        let (kind, size) = match &node.content {
            NodeContent::File(bytes) => (FileType::RegularFile, bytes.len() as u64),
            NodeContent::Directory { .. } => (FileType::Directory, 4096),
        };
        let time = node.modified;
        Ok(FileAttr {
            ino: INodeNo(number),
            size,
            blocks: size.div_ceil(512),
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind,
            perm: node.mode,
            nlink: node.links,
            uid: node.owner.0,
            gid: node.owner.1,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    pub(super) fn create(&mut self, parent: u64, name: &OsStr, mode: u32, owner: (u32, u32)) -> Done<u64> {
        self.enter(parent, name, |tree| tree.add(NodeContent::File(Vec::new()), mode, owner))
    }

    pub(super) fn mkdir(&mut self, parent: u64, name: &OsStr, mode: u32, owner: (u32, u32)) -> Done<u64> {
        self.enter(parent, name, |tree| tree.add(directory(parent), mode, owner))
    }

    pub(super) fn link(&mut self, number: u64, parent: u64, name: &OsStr) -> Done<u64> {
        self.bytes(number)?;
        self.enter(parent, name, |_| number)?;
        self.node(number)?.links += 1;
        Ok(number)
    }

    fn enter(&mut self, parent: u64, name: &OsStr, make: impl FnOnce(&mut Self) -> u64) -> Done<u64> {
        if self.names(parent)?.contains_key(name) {
            return Err(libc::EEXIST);
        }
        let number = make(self);
        self.names(parent)?.insert(name.to_owned(), number);
        self.node(parent)?.modified = SystemTime::now();
        Ok(number)
    }

    pub(super) fn unlink(&mut self, parent: u64, name: &OsStr) -> Done<()> {
        let number = self.find(parent, name)?;
        self.bytes(number)?;
        self.names(parent)?.remove(name);
        self.node(parent)?.modified = SystemTime::now();
        self.node(number)?.links -= 1;
        self.forget_content(number)
    }

    pub(super) fn rmdir(&mut self, parent: u64, name: &OsStr) -> Done<()> {
        let number = self.find(parent, name)?;
        if !self.names(number)?.is_empty() {
            return Err(libc::ENOTEMPTY);
        }
        self.names(parent)?.remove(name);
        // The node stays: it may be the working directory of a process.
        self.node(number)?.links = 0;
        Ok(())
    }

    /// The kernel has checked that neither is an ancestor of the other.
    pub(super) fn rename(&mut self, from: (u64, &OsStr), to: (u64, &OsStr), replace: bool) -> Done<()> {
        let number = self.find(from.0, from.1)?;
        if let Ok(there) = self.find(to.0, to.1) {
            if there == number {
                return Ok(());
            }
            if !replace {
                return Err(libc::EEXIST);
            }
            if self.bytes(there).is_ok() { self.unlink(to.0, to.1)? } else { self.rmdir(to.0, to.1)? }
        }
        self.names(from.0)?.remove(from.1);
        self.names(to.0)?.insert(to.1.to_owned(), number);
        if let NodeContent::Directory { parent, .. } = &mut self.node(number)?.content {
            *parent = to.0;
        }
        Ok(())
    }

    pub(super) fn open(&mut self, number: u64) -> Done<()> {
        self.node(number)?.opened += 1;
        Ok(())
    }

    pub(super) fn close(&mut self, number: u64) -> Done<()> {
        self.node(number)?.opened -= 1;
        self.forget_content(number)
    }

    fn forget_content(&mut self, number: u64) -> Done<()> {
        let node = self.node(number)?;
        if node.links == 0 && node.opened == 0 {
            node.content = NodeContent::File(Vec::new());
        }
        Ok(())
    }

    pub(super) fn read(&mut self, number: u64, offset: u64, length: usize) -> Done<&[u8]> {
        let bytes = self.bytes(number)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let end = start.saturating_add(length).min(bytes.len());
        Ok(&bytes[start..end])
    }

    pub(super) fn write(&mut self, number: u64, offset: u64, data: &[u8]) -> Done<()> {
        if data.is_empty() {
            return Ok(());
        }
        let end = offset.checked_add(data.len() as u64).ok_or(libc::EFBIG)?;
        if end > self.bytes(number)?.len() as u64 {
            self.resize(number, end)?;
        }
        let start = offset as usize; // below the end, which fits in memory
        self.bytes(number)?[start..start + data.len()].copy_from_slice(data);
        self.node(number)?.modified = SystemTime::now();
        Ok(())
    }

    pub(super) fn resize(&mut self, number: u64, size: u64) -> Done<()> {
        let now = self.bytes(number)?.len() as u64;
        if size > now && size - now > ROOM.saturating_sub(self.used()) {
            return Err(libc::ENOSPC);
        }
        self.bytes(number)?.resize(size as usize, 0);
        self.node(number)?.modified = SystemTime::now();
        Ok(())
    }

    pub(super) fn zero(&mut self, number: u64, offset: u64, length: u64) -> Done<()> {
        let bytes = self.bytes(number)?;
        let [start, end] =
            [offset, offset.saturating_add(length)].map(|at| at.min(bytes.len() as u64) as usize);
        bytes[start..end].fill(0);
        Ok(())
    }

    /// Total bytes of all files.
    pub(super) fn used(&self) -> u64 {
        self.nodes
            .values()
            .map(|node| if let NodeContent::File(b) = &node.content { b.len() as u64 } else { 0 })
            .sum()
    }

    pub(super) fn set_mode(&mut self, number: u64, mode: u32) -> Done<()> {
        self.node(number)?.mode = (mode & 0o7777) as u16;
        Ok(())
    }

    pub(super) fn set_owner(&mut self, number: u64, user: Option<u32>, group: Option<u32>) -> Done<()> {
        let owner = &mut self.node(number)?.owner;
        *owner = (user.unwrap_or(owner.0), group.unwrap_or(owner.1));
        Ok(())
    }

    /// Extended attributes.
    pub(super) fn marks(&mut self, number: u64) -> Done<&mut BTreeMap<OsString, Vec<u8>>> {
        Ok(&mut self.node(number)?.marks)
    }

    pub(super) fn set_modified(&mut self, number: u64, time: SystemTime) -> Done<()> {
        self.node(number)?.modified = time;
        Ok(())
    }

    /// Inode number, kind and name of each entry, "." and ".." first.
    pub(super) fn entries(&mut self, number: u64) -> Done<Vec<(u64, FileType, OsString)>> {
        let parent = match self.node(number)?.content {
            NodeContent::Directory { parent, .. } => parent,
            NodeContent::File(_) => return Err(libc::ENOTDIR),
        };
        let mut all = vec![
            (number, FileType::Directory, OsString::from(".")),
            (parent, FileType::Directory, OsString::from("..")),
        ];
        for (name, number) in self.names(number)?.clone() {
            all.push((number, self.attributes(number)?.kind, name));
        }
        Ok(all)
    }
}

fn directory(parent: u64) -> NodeContent {
    NodeContent::Directory { names: BTreeMap::new(), parent }
}
