//! State shared by the workers of streams over whole file sets while they run: the common sequence of each such stream, and which
//! records are being worked on. It is in a separate shared mapping, because workers may be processes.

use crate::EngineError;
use fathom_workload::ops::{Common, PooledFiles, Region};
use std::ffi::c_void;
use std::ops::Range;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// The shared memory of all pools of a phase.
pub(crate) struct Pools {
    base: NonNull<c_void>,
    length: usize,
    pools: usize,
    places: usize,
}

/// One worker's view of its pool.
#[derive(Clone)]
pub(crate) struct Pool<'a> {
    pub common: &'a Common,
    /// The records that the workers of the pool are working on, and the slots of this worker.
    pub busy: (&'a [AtomicU64], Range<usize>),
    pub files: PooledFiles,
    pub paths: &'a [PathBuf],
    /// The region of each file, where the files take turns.
    pub parts: &'a [Region],
}

impl Pools {
    /// Zeroed memory for `pools` pools and `places` slots for operations in flight.
    pub fn new(pools: usize, places: usize) -> Result<Self, EngineError> {
        let failed = |e: rustix::io::Errno| {
            EngineError::system("map shared memory for common sequences", std::io::Error::from(e))
        };
        let length = pools
            .checked_mul(size_of::<Common>())
            .and_then(|n| n.checked_add(places.checked_mul(size_of::<AtomicU64>())?))
            .ok_or_else(|| failed(rustix::io::Errno::NOMEM))?
            .max(1);
        use rustix::mm::{MapFlags, ProtFlags};
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice.
        let base = unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), length, protection, flags) }
            .map_err(failed)?;
        let base = NonNull::new(base).ok_or_else(|| failed(rustix::io::Errno::NOMEM))?;
        Ok(Self { base, length, pools, places })
    }

    /// The shared state of each pool.
    pub fn commons(&self) -> &[Common] {
        // SAFETY: the mapping begins with this many, aligned to a page; all zero is a valid state, and all fields are atomics.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().cast(), self.pools) }
    }

    /// The slots of all pools, in a row.
    pub fn places(&self) -> &[AtomicU64] {
        // SAFETY: behind the pools, inside the mapping by the length computed in `new`; aligned, because a pool's size is.
        unsafe {
            let first = self.base.as_ptr().cast::<Common>().add(self.pools).cast();
            std::slice::from_raw_parts(first, self.places)
        }
    }
}

impl Drop for Pools {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length; no reference outlives self.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr(), self.length) };
    }
}
