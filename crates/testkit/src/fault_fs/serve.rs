//! Answers the kernel's requests from memory or with the armed fault. No answer waits for anything but the lock, so the serving
//! process may use its own mount.

use super::Shared;
use super::faults::{Call, moved};
use super::tree::{Done, ROOM, Tree};
use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use std::ffi::OsStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// No caching: a request answered from the kernel's cache could not fail.
const NEVER: Duration = Duration::ZERO;

/// Reads and writes arrive unchanged, so that a short transfer reaches the caller.
const DIRECT: FopenFlags = FopenFlags::FOPEN_DIRECT_IO;

const BLOCK: u64 = 4096;

pub(super) struct Server(pub(super) Arc<Shared>);

impl Server {
    /// Executes the request, unless the call is to fail.
    fn with<T>(&self, call: Call, work: impl FnOnce(&mut Tree) -> Done<T>) -> Result<T, Errno> {
        let (mut state, fault) = self.0.strike(call);
        moved(fault, 0).and_then(|_| work(&mut state.tree)).map_err(Errno::from_i32)
    }

    /// The same for data: `work` gets the number of bytes to transfer.
    fn move_data<T>(
        &self,
        call: Call,
        length: usize,
        work: impl FnOnce(&mut Tree, usize) -> Done<T>,
    ) -> Result<T, Errno> {
        let (mut state, fault) = self.0.strike(call);
        moved(fault, length).and_then(|length| work(&mut state.tree, length)).map_err(Errno::from_i32)
    }
}

fn owner(request: &Request) -> (u32, u32) {
    (request.uid(), request.gid())
}

fn empty(done: Result<(), Errno>, reply: ReplyEmpty) {
    match done {
        Ok(()) => reply.ok(),
        Err(errno) => reply.error(errno),
    }
}

fn entry(done: Result<FileAttr, Errno>, reply: ReplyEntry) {
    match done {
        Ok(about) => reply.entry(&NEVER, &about, Generation(0)),
        Err(errno) => reply.error(errno),
    }
}

fn attributes(done: Result<FileAttr, Errno>, reply: ReplyAttr) {
    match done {
        Ok(about) => reply.attr(&NEVER, &about),
        Err(errno) => reply.error(errno),
    }
}

impl fuser::Filesystem for Server {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // Older kernels lack it and refuse shared mappings. FUSE_ASYNC_DIO is left out, as the kernel turns a short write into an
        // error with it.
        let _ = config.add_capabilities(InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.with(Call::Lookup, |tree| {
            let number = tree.find(parent.0, name)?;
            tree.attributes(number)
        });
        entry(found, reply);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        attributes(self.with(Call::Getattr, |tree| tree.attributes(number.0)), reply);
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let done = self.with(Call::Setattr, |tree| {
            mode.map_or(Ok(()), |mode| tree.set_mode(number.0, mode))?;
            tree.set_owner(number.0, uid, gid)?;
            size.map_or(Ok(()), |size| tree.resize(number.0, size))?;
            let time = modified.map(|time| match time {
                TimeOrNow::SpecificTime(time) => time,
                TimeOrNow::Now => SystemTime::now(),
            });
            time.map_or(Ok(()), |time| tree.set_modified(number.0, time))?;
            tree.attributes(number.0)
        });
        attributes(done, reply);
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        let made = self.with(Call::Mkdir, |tree| {
            let number = tree.mkdir(parent.0, name, mode & !umask, owner(request))?;
            tree.attributes(number)
        });
        entry(made, reply);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(self.with(Call::Unlink, |tree| tree.unlink(parent.0, name)), reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(self.with(Call::Rmdir, |tree| tree.rmdir(parent.0, name)), reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        if flags.intersects(RenameFlags::all() - RenameFlags::RENAME_NOREPLACE) {
            return reply.error(Errno::EINVAL);
        }
        let replace = !flags.contains(RenameFlags::RENAME_NOREPLACE);
        let (from, to) = ((parent.0, name), (new_parent.0, new_name));
        empty(self.with(Call::Rename, |tree| tree.rename(from, to, replace)), reply);
    }

    fn link(&self, _: &Request, number: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let made = self.with(Call::Create, |tree| {
            let number = tree.link(number.0, parent.0, name)?;
            tree.attributes(number)
        });
        entry(made, reply);
    }

    fn open(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.with(Call::Open, |tree| tree.open(number.0)) {
            Ok(()) => reply.opened(FileHandle(0), DIRECT),
            Err(errno) => reply.error(errno),
        }
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let made = self.with(Call::Create, |tree| {
            let number = tree.create(parent.0, name, mode & !umask, owner(request))?;
            tree.open(number)?;
            tree.attributes(number)
        });
        match made {
            Ok(about) => reply.created(&NEVER, &about, Generation(0), FileHandle(0), DIRECT),
            Err(errno) => reply.error(errno),
        }
    }

    fn release(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        empty(self.0.lock().tree.close(number.0).map_err(Errno::from_i32), reply);
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let read = self.move_data(Call::Read, size as usize, |tree, length| {
            Ok(tree.read(number.0, offset, length)?.to_vec())
        });
        match read {
            Ok(bytes) => reply.data(&bytes),
            Err(errno) => reply.error(errno),
        }
    }

    fn write(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let written = self.move_data(Call::Write, data.len(), |tree, length| {
            tree.write(number.0, offset, &data[..length])?;
            Ok(length as u32)
        });
        match written {
            Ok(length) => reply.written(length),
            Err(errno) => reply.error(errno),
        }
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        empty(self.with(Call::Fsync, |_| Ok(())), reply);
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        empty(self.with(Call::Fsync, |_| Ok(())), reply);
    }

    fn fallocate(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let done = self.with(Call::Fallocate, |tree| {
            let end = offset.saturating_add(length);
            match mode & !libc::FALLOC_FL_KEEP_SIZE {
                0 if mode == 0 && end > tree.attributes(number.0)?.size => tree.resize(number.0, end),
                0 => Ok(()),
                libc::FALLOC_FL_PUNCH_HOLE => tree.zero(number.0, offset, length),
                _ => Err(libc::EOPNOTSUPP),
            }
        });
        empty(done, reply);
    }

    fn readdir(&self, _: &Request, number: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        match self.with(Call::Readdir, |tree| tree.entries(number.0)) {
            Ok(entries) => {
                let first = usize::try_from(offset).unwrap_or(usize::MAX);
                for (index, (number, kind, name)) in entries.into_iter().enumerate().skip(first) {
                    if reply.add(INodeNo(number), index as u64 + 1, kind, name) {
                        break;
                    }
                }
                reply.ok();
            }
            Err(errno) => reply.error(errno),
        }
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        match self.with(Call::Statfs, |tree| Ok(ROOM.saturating_sub(tree.used()) / BLOCK)) {
            Ok(free) => {
                reply.statfs(ROOM / BLOCK, free, free, 1 << 20, 1 << 20, BLOCK as u32, 255, BLOCK as u32)
            }
            Err(errno) => reply.error(errno),
        }
    }

    fn getxattr(&self, _: &Request, number: INodeNo, name: &OsStr, room: u32, reply: ReplyXattr) {
        let mark = |tree: &mut Tree| tree.marks(number.0)?.get(name).cloned().ok_or(libc::ENODATA);
        match (self.with(Call::Getxattr, mark), room) {
            (Ok(mark), 0) => reply.size(mark.len() as u32),
            (Ok(mark), _) if mark.len() > room as usize => reply.error(Errno::ERANGE),
            (Ok(mark), _) => reply.data(&mark),
            (Err(errno), _) => reply.error(errno),
        }
    }

    fn setxattr(
        &self,
        _: &Request,
        number: INodeNo,
        name: &OsStr,
        value: &[u8],
        _: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        let done = self.with(Call::Setxattr, |tree| {
            tree.marks(number.0)?.insert(name.to_owned(), value.to_vec());
            Ok(())
        });
        empty(done, reply);
    }

    // The kernel does these itself, or does without them.
    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.error(Errno::ENOSYS);
    }

    fn listxattr(&self, _: &Request, _: INodeNo, _: u32, reply: ReplyXattr) {
        reply.error(Errno::ENOSYS);
    }
}
