//! The calls that a stream's operations are done by, and how each kind is used.

use super::{Compute, FileCall, is_default};
use crate::Bytes;
use serde::{Deserialize, Serialize};

/// The calls that do the I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// No call at all: what the generator itself costs.
    Null,
    /// One system call after the other.
    Psync(SyncCall),
    /// preadv2 and pwritev2 with one vector and flags for each call.
    Pvsync2(Pvsync2),
    /// The C library's buffered streams (fread, fwrite) with a buffer of this size; 0: the record size.
    Stdio {
        /// Buffer size given to setvbuf.
        #[serde(default)]
        buffer: Bytes,
    },
    /// io_uring.
    Uring(Uring),
    /// Linux native asynchronous I/O (io_submit, io_getevents): asynchronous in fact only with O_DIRECT.
    Aio {
        /// How many operations one io_submit carries; 0: all that are free, or a few at a time while others are in flight.
        #[serde(default, skip_serializing_if = "is_default")]
        batch: u32,
        /// RWF_ATOMIC with every write, as in `pvsync2`.
        #[serde(default, skip_serializing_if = "is_default")]
        atomic: bool,
    },
    /// The file mapped shared (writes) or private (reads), records copied in or out.
    Mmap {
        /// How what was written is flushed.
        #[serde(default)]
        flush: MapFlush,
        /// Flush after so many written records: the range from the first to the last byte they wrote. What is left of them at the end
        /// is flushed when the file is synced or closed.
        #[serde(default = "every", skip_serializing_if = "is_every")]
        flush_every: u64,
        /// MAP_POPULATE: the kernel fills the page tables (and reads the file) while mapping.
        #[serde(default, skip_serializing_if = "is_default")]
        populate: bool,
        /// MADV_HUGEPAGE after mapping: huge pages, where the file system has them in the page cache.
        #[serde(default, skip_serializing_if = "is_default")]
        huge_pages: bool,
        /// madvise advice given then, by its Linux number: 0 normal, 1 random, 2 sequential, 3 willneed, 4 dontneed,
        /// 14 hugepage, 20 cold, 21 pageout, 22 populate_read, 23 populate_write.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        advice: Option<u8>,
    },
    /// The C library's aio_read, aio_write and aio_fsync: asynchronous by threads of its own, which do one operation of an open file
    /// after the other where the library is glibc.
    Posix,
    /// splice between the file and a pipe, vmsplice between the pipe and memory.
    Splice,
    /// Calls about files, which move no data.
    Calls(FileCall),
    /// No call: computing.
    Compute(Compute),
    /// No call: the stream's program runs, and operations wait for its end, a tenth of a second each.
    Beside,
}

pub(super) fn every() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
pub(super) fn is_every(n: &u64) -> bool {
    *n == 1
}

impl Default for Backend {
    fn default() -> Self {
        Self::Psync(SyncCall::Pread)
    }
}

/// How io_uring is used. The defaults are what costs least for one submitting thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Uring {
    /// How many operations one io_uring_enter submits at most; 0: all that are free, or a few at a time while others are in flight.
    #[serde(skip_serializing_if = "is_default")]
    pub batch: u32,
    /// Register the file, so that the kernel need not look it up for every operation.
    pub registered_file: bool,
    /// Register the buffers, so that the kernel need not pin their pages for every operation.
    pub registered_buffers: bool,
    /// SINGLE_ISSUER, COOP_TASKRUN and DEFER_TASKRUN: completions are run when this thread waits for them, not by interrupting it.
    pub deferred: bool,
    /// A kernel thread polls the submission queue (SQPOLL); it needs a CPU of its own.
    #[serde(skip_serializing_if = "is_default")]
    pub submission_polling: bool,
    /// The CPU of that thread (SQ_AFF); any without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submission_cpu: Option<u32>,
    /// One in so many operations goes to a worker thread of the kernel at once (IOSQE_ASYNC), without trying first whether it has to
    /// wait; 0: none.
    #[serde(skip_serializing_if = "is_default")]
    pub async_every: u32,
    /// Completions are polled at the device (IOPOLL): O_DIRECT only, and the device's queues must support it.
    #[serde(skip_serializing_if = "is_default")]
    pub completion_polling: bool,
    /// RWF_ATOMIC with every write, as in `pvsync2`.
    #[serde(skip_serializing_if = "is_default")]
    pub atomic: bool,
}

impl Default for Uring {
    fn default() -> Self {
        Self {
            batch: 0,
            registered_file: true,
            registered_buffers: true,
            deferred: true,
            submission_polling: false,
            submission_cpu: None,
            async_every: 0,
            completion_polling: false,
            atomic: false,
        }
    }
}

/// Flavours of synchronous calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SyncCall {
    /// read and write at the file position, lseek where the next offset is elsewhere.
    Read,
    /// pread and pwrite.
    #[default]
    Pread,
}

/// Flags of every preadv2 and pwritev2 (RWF_ in linux/fs.h). Those that only mean something when writing are not given to reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pvsync2 {
    /// RWF_HIPRI: poll for the completion; O_DIRECT only.
    #[serde(skip_serializing_if = "is_default")]
    pub high_priority: bool,
    /// So many percent of the calls have it, by chance; all without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_priority_percent: Option<u8>,
    /// RWF_DSYNC: this write is durable when the call returns, as with O_DSYNC.
    #[serde(skip_serializing_if = "is_default")]
    pub dsync: bool,
    /// RWF_SYNC: likewise as with O_SYNC.
    #[serde(skip_serializing_if = "is_default")]
    pub sync: bool,
    /// RWF_NOWAIT: fail instead of waiting; a call that would have waited is repeated without the flag, inside the clock.
    #[serde(skip_serializing_if = "is_default")]
    pub nowait: bool,
    /// RWF_DONTCACHE (Linux 6.14): through the page cache, but leave nothing there.
    #[serde(skip_serializing_if = "is_default")]
    pub uncached: bool,
    /// RWF_ATOMIC (Linux 6.11): the write is whole or not at all after a loss of power; O_DIRECT on devices that can.
    #[serde(skip_serializing_if = "is_default")]
    pub atomic: bool,
}

/// msync after written records of a mapped file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MapFlush {
    /// None.
    #[default]
    No,
    /// msync(MS_ASYNC).
    Async,
    /// msync(MS_SYNC).
    Sync,
}
