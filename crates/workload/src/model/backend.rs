//! The system calls that perform a stream's operations, and the options of each kind.

use super::{Compute, FileCall, is_default};
use crate::Bytes;
use serde::{Deserialize, Serialize};

/// The calls that do the I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// No call at all: measures the generator's own cost.
    Null,
    /// One system call after the other.
    Psync(SyncCall),
    /// preadv2 and pwritev2 with one vector and flags for each call.
    Pvsync2(Pvsync2),
    /// The C library's buffered streams (fread, fwrite).
    Stdio {
        /// Buffer size given to setvbuf; 0: the record size.
        #[serde(default)]
        buffer: Bytes,
    },
    /// io_uring.
    Uring(Uring),
    /// NVMe commands to the namespace of a block device, through io_uring: past the file system, the page cache and the block layer's
    /// queues.
    Nvme(Uring),
    /// Linux native asynchronous I/O (io_submit, io_getevents): truly asynchronous only with O_DIRECT.
    Aio {
        /// Operations per io_submit; 0: all that are free, or a few at a time while others are in flight.
        #[serde(default, skip_serializing_if = "is_default")]
        batch: u32,
        /// RWF_ATOMIC with every write, as in `pvsync2`.
        #[serde(default, skip_serializing_if = "is_default")]
        atomic: bool,
    },
    /// The file mapped shared (writes) or private (reads), records copied in or out.
    Mmap {
        /// How written records are flushed.
        #[serde(default)]
        flush: MapFlush,
        /// Flush after this many written records, over the range from the first to the last byte they wrote. Records left at the end are
        /// flushed when the file is synced or closed.
        #[serde(default = "every", skip_serializing_if = "is_every")]
        flush_every: u64,
        /// MAP_POPULATE: the kernel fills the page tables (and reads the file) while mapping.
        #[serde(default, skip_serializing_if = "is_default")]
        populate: bool,
        /// MADV_HUGEPAGE after mapping: huge pages, where the file system has them in the page cache.
        #[serde(default, skip_serializing_if = "is_default")]
        huge_pages: bool,
        /// madvise advice given after mapping, by its Linux number: 0 normal, 1 random, 2 sequential, 3 willneed, 4 dontneed, 14
        /// hugepage, 20 cold, 21 pageout, 22 populate_read, 23 populate_write.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        advice: Option<u8>,
    },
    /// The C library's aio_read, aio_write and aio_fsync: asynchronous through the library's own threads. With glibc, operations on one
    /// open file run one at a time.
    Posix,
    /// splice between the file and a pipe, vmsplice between the pipe and memory.
    Splice,
    /// Calls about files, which move no data.
    Calls(FileCall),
    /// No call: the worker computes.
    Compute(Compute),
    /// No call: the stream's program runs, and each operation waits up to a tenth of a second for it to exit.
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
        Self::Psync(SyncCall::Positioned)
    }
}

/// io_uring options. The defaults are the cheapest for one submitting thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Uring {
    /// Maximum number of operations per io_uring_enter; 0: all that are free, or a few at a time while others are in flight.
    #[serde(skip_serializing_if = "is_default")]
    pub batch: u32,
    /// Register the file, which saves the kernel a descriptor lookup per operation.
    pub registered_file: bool,
    /// Register the buffers, which saves the kernel pinning their pages per operation; `None`: if the locked-memory limit allows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registered_buffers: Option<bool>,
    /// SINGLE_ISSUER, COOP_TASKRUN and DEFER_TASKRUN: completions run when this thread waits for them instead of interrupting it.
    pub deferred: bool,
    /// A kernel thread polls the submission queue (SQPOLL); it needs a dedicated CPU.
    #[serde(skip_serializing_if = "is_default")]
    pub submission_polling: bool,
    /// CPU of that thread (SQ_AFF); `None`: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submission_cpu: Option<u32>,
    /// Every n-th operation goes straight to a kernel worker thread (IOSQE_ASYNC) without a non-blocking attempt first; 0: none.
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
            registered_buffers: None,
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
    /// read and write at the file position, with lseek before a non-sequential offset.
    #[serde(rename = "read")]
    Streamed,
    /// pread and pwrite.
    #[default]
    #[serde(rename = "pread")]
    Positioned,
}

/// Flags of every preadv2 and pwritev2 (RWF_ in linux/fs.h). Flags that only affect writes are not passed to reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pvsync2 {
    /// RWF_HIPRI: poll for the completion; O_DIRECT only.
    #[serde(skip_serializing_if = "is_default")]
    pub high_priority: bool,
    /// Percentage of calls with the flag, chosen at random; `None`: all.
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
    /// RWF_DONTCACHE (Linux 6.14): go through the page cache but leave no pages behind.
    #[serde(skip_serializing_if = "is_default")]
    pub uncached: bool,
    /// RWF_ATOMIC (Linux 6.11): the write survives a power loss whole or not at all; O_DIRECT on devices that support it.
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
