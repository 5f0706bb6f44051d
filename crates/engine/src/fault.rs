//! Failures of workers as plain numbers: what was done (`FailedCall`) and what came of it (`Fault`). They fit into the memory
//! shared with the parent.

use rustix::io::Errno;

/// The action of a worker that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum FailedCall {
    #[default]
    Nothing = 0,
    Open = 1,
    Read = 2,
    Write = 3,
    Sync = 4,
    Close = 5,
    Verify = 6,
    Map = 7,
    Lock = 8,
    Memory = 9,
    Panic = 10,
    Ring = 11,
    Submit = 12,
    Settle = 13,
    /// A read or write refused because of its flags, which are in `found`.
    FlaggedRead = 14,
    FlaggedWrite = 15,
    /// A block that does not match its checksum.
    Checksum = 16,
    /// A block that belongs at another offset.
    Misplaced = 17,
    /// Flows: no file or directory to choose.
    Pick = 18,
    /// Flows: a slot that is already open, is not open, or has no known file; `found` is its index.
    OpenSlot = 19,
    ClosedSlot = 20,
    UnknownSlot = 21,
    /// Flows: an operation larger than its target; `expected` and `found` are both sizes.
    Range = 22,
    /// Flows: an operation larger than the thread's memory.
    Area = 23,
    /// Flows: an operation of 0 bytes.
    Empty = 24,
    /// Flows: a semaphore wait that timed out.
    Patience = 25,
    Create = 26,
    Remove = 27,
    Stat = 28,
    List = 29,
    /// Flows: a slot that holds a file of another set.
    ForeignSlot = 30,
    /// A block without the expected header.
    Header = 31,
    /// Punching a hole, or a discard.
    Trim = 32,
    /// A minimum rate that was missed, in bytes and in operations; `expected` and `found` are both rates.
    LeastBytes = 40,
    LeastOperations = 41,
    /// A latency above the limit; both values are in ns.
    Latency = 42,
    /// fallocate and ftruncate, as operations of a stream or parts of one.
    Allocate = 48,
    Truncate = 49,
    /// NVMe commands that the device refused; its status is in `found`.
    CommandRead = 57,
    CommandWrite = 58,
    CommandFlush = 59,
    /// Exchange of extents between two files.
    MoveExtents = 56,
    /// Creating a pipe for splice.
    Pipe = 50,
    /// Starting a program that runs beside the phase.
    Spawn = 51,
    /// Locking memory for a worker.
    LockMemory = 52,
    /// Switching to another user or group.
    RunAs = 54,
    /// Syncing a whole file system.
    SyncFileSystem = 55,
    /// Writing back a range of a file.
    SyncRange = 53,
}

impl FailedCall {
    pub fn word(self) -> &'static str {
        match self {
            Self::Nothing => "start",
            Self::Open => "open",
            Self::Read | Self::FlaggedRead | Self::CommandRead => "read",
            Self::Write | Self::FlaggedWrite | Self::CommandWrite => "write",
            Self::Sync => "fsync",
            Self::CommandFlush => "flush",
            Self::Close => "close",
            Self::Verify | Self::Checksum | Self::Misplaced | Self::Header => "verify",
            Self::Map => "map",
            Self::Lock => "lock",
            Self::Memory => "get memory for",
            Self::Ring => "set up asynchronous I/O for",
            Self::Submit => "submit operations on",
            Self::Settle => "set the requested CPU or priority for",
            Self::Pick => "pick",
            Self::OpenSlot | Self::ClosedSlot | Self::UnknownSlot | Self::ForeignSlot => "use",
            Self::Range | Self::Area | Self::Empty => "place an operation in",
            Self::Patience => "wait",
            Self::Create => "create",
            Self::Remove => "remove",
            Self::Stat => "stat",
            Self::Trim => "trim",
            Self::List => "list",
            Self::LeastBytes => "bandwidth",
            Self::LeastOperations => "rate",
            Self::Latency => "latency",
            Self::Allocate => "fallocate",
            Self::Truncate => "ftruncate",
            Self::MoveExtents => "EXT4_IOC_MOVE_EXT",
            Self::Pipe => "make a pipe for",
            Self::LockMemory => "lock the requested memory before opening",
            Self::SyncFileSystem => "syncfs the file system of",
            Self::RunAs => "run as the requested user on",
            Self::SyncRange => "sync_file_range",
            Self::Spawn => "start the program of",
            Self::Panic => "work on (fathom itself failed; please report it)",
        }
    }
}

/// A failed operation as plain numbers, for shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub call: FailedCall,
    /// 0 if it was not a kernel error.
    pub errno: i32,
    pub offset: u64,
    /// Expected bytes (or, for a failed check, the expected byte).
    pub expected: u64,
    pub found: u64,
    /// Index of the file, of several.
    pub file: u32,
}

impl Fault {
    pub fn of(call: FailedCall, errno: Errno, offset: u64) -> Self {
        Self { call, errno: errno.raw_os_error(), offset, expected: 0, found: 0, file: 0 }
    }

    /// A short transfer or failed check without a kernel error.
    pub fn short(call: FailedCall, offset: u64, expected: u64, found: u64) -> Self {
        Self { call, errno: 0, offset, expected, found, file: 0 }
    }

    /// Adds the flags of a refused write, which may be the cause.
    pub fn of_flags(self, bits: u32) -> Self {
        match (self.call, self.errno) {
            (FailedCall::Write | FailedCall::Submit, libc::EOPNOTSUPP | libc::EINVAL) => {
                Self { call: FailedCall::FlaggedWrite, found: bits.into(), ..self }
            }
            _ => self,
        }
    }

    /// Adds the index of the file, of several.
    pub fn in_file(self, file: u32) -> Self {
        Self { file, ..self }
    }
}
