//! Serves the kernel's requests for a mounted image. Requests wait only for the image: none of them accesses the mount itself, so the
//! serving process cannot deadlock.

mod advance;

use super::attributes::{attributes, errno_of, kind_of};
use super::directories::Directories;
use super::prefetch::Prefetch;
use super::table::{ROOT, Table};
use super::{Cache, Mounting};
use crate::error::Result;
use crate::node::{Kind, Node};
use crate::reader::{Handle, Reader};
use crate::source::ReadAt;
use advance::kept_by;
use fuser::{
    Errno, FileHandle, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig, OpenAccMode, OpenFlags,
    ReplyAttr, ReplyData, ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs,
    Request,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long the kernel may cache replies: the image does not change.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 86_400);

/// Longest name according to statfs.
const LONGEST_NAME: u32 = 255;

/// An open file.
struct OpenFile<S: ReadAt + 'static> {
    node: Arc<Node>,
    /// With our own cache; otherwise the kernel caches and the image is read directly.
    handle: Option<Handle<S>>,
    /// Whether reads may be answered partially: not if the kernel caches, because it takes a short reply for the end of the file.
    in_part: bool,
}

/// The mounted file system.
pub(super) struct Files<S: ReadAt + 'static> {
    reader: Reader<S>,
    own_cache: bool,
    table: Table,
    directories: Directories,
    following: Prefetch,
    open: Mutex<HashMap<u64, Arc<OpenFile<S>>>>,
    next: AtomicU64,
    /// Whether the image is known to contain all of every file: then open files need no state.
    whole: Arc<AtomicBool>,
    /// Whether the kernel supports files without open requests.
    may_skip_open: bool,
}

thread_local! {
    /// A reply buffer per worker, so that reads do not allocate.
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl<S: ReadAt + 'static> Files<S> {
    pub(super) fn new(reader: Reader<S>, how: &Mounting) -> Self {
        let own_cache = how.cache == Cache::Own;
        let table = Table::new(reader.image().root());
        let directories = Directories::new(how.order, how.metadata);
        let following = Prefetch::new(if own_cache { how.small_files } else { 0 });
        let whole = Arc::default();
        let (open, next) = (Mutex::default(), AtomicU64::new(1));
        Self { reader, own_cache, table, directories, following, open, next, whole, may_skip_open: false }
    }

    /// Flag to set once the image is known to contain all of every file.
    pub(super) fn whole(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.whole)
    }

    /// The file of a read: an open one, or one that the kernel opened without a request.
    fn of_read(&self, file: FileHandle, number: u64) -> std::result::Result<Arc<OpenFile<S>>, Errno> {
        if file.0 == 0 && !self.own_cache {
            let node = self.table.node(number).ok_or(Errno::EBADF)?;
            return Ok(Arc::new(OpenFile { node, handle: None, in_part: false }));
        }
        self.opened().get(&file.0).cloned().ok_or(Errno::EBADF)
    }

    fn opened(&self) -> MutexGuard<'_, HashMap<u64, Arc<OpenFile<S>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entries from `offset` on, each with the next offset; "." and ".." first.
    fn each_entry(
        &self,
        number: u64,
        offset: u64,
        mut add: impl FnMut(u64, u64, &[u8], Option<&Node>) -> bool,
    ) -> std::result::Result<(), Errno> {
        let listing = self.listing(number)?;
        if offset == 0 && add(1, number, b".", None) {
            return Ok(());
        }
        if offset <= 1 && add(2, self.table.parent(number), b"..", None) {
            return Ok(());
        }
        let first = usize::try_from(offset.saturating_sub(2)).unwrap_or(usize::MAX);
        for (index, entry) in listing.entries.iter().enumerate().skip(first) {
            if add(index as u64 + 3, 0, &entry.name, Some(&entry.node)) {
                break;
            }
        }
        Ok(())
    }

    fn fill(&self, open: &OpenFile<S>, in_part: bool, offset: u64, buf: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        loop {
            let at = offset.saturating_add(done as u64);
            let read = match &open.handle {
                Some(handle) => handle.read_at(at, &mut buf[done..]),
                None => self.reader.image().read_at(&open.node, at, &mut buf[done..]),
            };
            match read {
                Ok(n) => done += n,
                Err(error) if done == 0 || !in_part => return Err(error),
                Err(_) => return Ok(done),
            }
            let end = offset.saturating_add(done as u64) >= open.node.size();
            if done == buf.len() || end || matches!(read, Ok(0)) {
                return Ok(done);
            }
        }
    }
}

impl<S: ReadAt + 'static> fuser::Filesystem for Files<S> {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        let wanted = [
            InitFlags::FUSE_DO_READDIRPLUS,
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_CACHE_SYMLINKS,
            InitFlags::FUSE_ASYNC_DIO,
            InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP,
        ];
        for flag in wanted {
            // Older kernels lack some; everything works without them, but slower.
            let _ = config.add_capabilities(flag);
        }
        let _ = config.set_max_background(64);
        self.may_skip_open = config.capabilities().contains(InitFlags::FUSE_NO_OPEN_SUPPORT);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let listing = match self.listing(parent.0) {
            Ok(listing) => listing,
            Err(errno) => return reply.error(errno),
        };
        let Some(node) = listing.find(name.as_bytes()) else { return reply.error(Errno::ENOENT) };
        let number = self.table.enter(parent.0, name.as_bytes(), node);
        reply.entry(&FOREVER, &attributes(number, node), Generation(0));
    }

    fn forget(&self, _: &Request, number: INodeNo, times: u64) {
        self.table.forget(number.0, times);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.table.node(number.0) {
            Some(node) => reply.attr(&FOREVER, &attributes(number.0, &node)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn readlink(&self, _: &Request, number: INodeNo, reply: ReplyData) {
        let Some(node) = self.table.node(number.0) else { return reply.error(Errno::ENOENT) };
        match self.reader.image().read_link(&node) {
            Ok(target) => reply.data(&target),
            Err(error) => reply.error(errno_of(&error)),
        }
    }

    fn open(&self, _: &Request, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        if flags.acc_mode() != OpenAccMode::O_RDONLY {
            return reply.error(Errno::EROFS);
        }
        if self.may_skip_open && !self.own_cache && self.whole.load(Ordering::Acquire) {
            // From now on the kernel opens and closes files by itself: of three requests for a small file one is left.
            return reply.error(Errno::ENOSYS);
        }
        let Some(node) = self.table.node(number.0) else { return reply.error(Errno::ENOENT) };
        if node.kind() != Kind::File {
            return reply.error(Errno::EINVAL);
        }
        // A truncated file can be read to its last byte only if the kernel does not read whole pages.
        let in_part = self.own_cache || !self.reader.image().holds(&node);
        let handle = self.own_cache.then(|| self.reader.open(&node));
        let file = self.next.fetch_add(1, Ordering::Relaxed);
        let flags = kept_by(handle.is_some(), in_part);
        let about = Arc::clone(&node);
        self.opened().insert(file, Arc::new(OpenFile { node, handle, in_part }));
        reply.opened(FileHandle(file), flags | FopenFlags::FOPEN_NOFLUSH);
        self.read_following(number.0, &about);
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        file: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        caller: Option<fuser::LockOwner>,
        reply: ReplyData,
    ) {
        let open = match self.of_read(file, number.0) {
            Ok(open) => open,
            Err(errno) => return reply.error(errno),
        };
        ANSWER.with_borrow_mut(|answer| {
            let left = open.node.size().saturating_sub(offset).min(size.into());
            let wanted = usize::try_from(left).unwrap_or(0);
            if answer.len() < wanted {
                answer.resize(wanted, 0);
            }
            // Only a program's own read has a caller. Reads for mappings are in pages, and the kernel would pad a short reply with zeros.
            let in_part = open.in_part && caller.is_some();
            match self.fill(&open, in_part, offset, &mut answer[..wanted]) {
                Ok(n) => reply.data(&answer[..n]),
                Err(error) => reply.error(errno_of(&error)),
            }
        });
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        file: FileHandle,
        _: OpenFlags,
        _: Option<fuser::LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        let gone = self.opened().remove(&file.0);
        drop(gone); // outside the lock: closing takes the reader's
        reply.ok();
    }

    fn opendir(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.listing(number.0) {
            Ok(_) => reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE | FopenFlags::FOPEN_CACHE_DIR),
            Err(errno) => reply.error(errno),
        }
    }

    fn readdir(&self, _: &Request, number: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let done = self.each_entry(number.0, offset, |next, own, name, node| {
            let (inode, kind) = match node {
                None => (own, fuser::FileType::Directory),
                Some(node) => (node.inode().max(ROOT + 1), kind_of(node)),
            };
            reply.add(INodeNo(inode), next, kind, OsStr::from_bytes(name))
        });
        match done {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }

    fn readdirplus(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        let done = self.each_entry(number.0, offset, |next, own, name, node| {
            let shown = OsStr::from_bytes(name);
            let Some(node) = node else {
                let itself = self.table.node(own);
                let Some(itself) = itself else { return false };
                let attributes = attributes(own, &itself);
                return reply.add(INodeNo(own), next, shown, &FOREVER, &attributes, Generation(0));
            };
            let entry = self.table.enter(number.0, name, node);
            let full =
                reply.add(INodeNo(entry), next, shown, &FOREVER, &attributes(entry, node), Generation(0));
            if full {
                self.table.forget(entry, 1); // the reply did not reach the kernel
            }
            full
        });
        match done {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let info = self.reader.image().info();
        reply.statfs(info.blocks.into(), 0, 0, 0, 0, info.block, LONGEST_NAME, info.block);
    }

    // None of these should be logged for every call: there are no extended attributes, data has no holes, and the kernel checks
    // permissions by the modes.
    fn getxattr(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, reply: fuser::ReplyXattr) {
        reply.error(Errno::ENOSYS);
    }

    fn listxattr(&self, _: &Request, _: INodeNo, _: u32, reply: fuser::ReplyXattr) {
        reply.error(Errno::ENOSYS);
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: fuser::LockOwner, reply: ReplyEmpty) {
        reply.error(Errno::ENOSYS);
    }

    fn lseek(&self, _: &Request, _: INodeNo, _: FileHandle, _: i64, _: i32, reply: fuser::ReplyLseek) {
        reply.error(Errno::ENOSYS);
    }
}
