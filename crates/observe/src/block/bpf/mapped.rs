//! A BPF array mapped into this process's memory: it is read and written without a system call while the programs fill it.

use crate::block::WatchError;
use aya::Ebpf;
use aya::maps::Map;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::marker::PhantomData;
use std::os::fd::AsFd as _;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// An array whose entries are `N` words, as the programs that fill it have them.
pub(crate) struct Mapped<const N: usize> {
    words: NonNull<[AtomicU64; N]>,
    entries: usize,
    owns: PhantomData<[AtomicU64; N]>,
}

// SAFETY: it is memory that any thread may use, and all access is atomic.
unsafe impl<const N: usize> Send for Mapped<N> {}

impl<const N: usize> Mapped<N> {
    /// Maps all `entries` of the programs' array of this name.
    pub fn take(ebpf: &mut Ebpf, name: &str, entries: usize) -> Result<Self, WatchError> {
        let missing = || WatchError::Programs(format!("the programs have no array `{name}`"));
        let Some(Map::Array(array)) = ebpf.take_map(name) else { return Err(missing()) };
        let failed = |why| WatchError::Programs(format!("mapping `{name}`: {why}"));
        let shared = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address the kernel chooses. The kernel refuses one that is longer than the array.
        let at = unsafe { mmap(null_mut(), Self::bytes(entries), shared.0, shared.1, array.fd().as_fd(), 0) };
        let words = NonNull::new(at.map_err(failed)?.cast()).ok_or_else(missing)?;
        Ok(Self { words, entries, owns: PhantomData })
    }

    const fn bytes(entries: usize) -> usize {
        entries * N * size_of::<u64>()
    }

    /// All entries.
    pub fn all(&self) -> &[[AtomicU64; N]] {
        // SAFETY: the mapping has this many entries of words, is aligned to a page, and lives as long as `self`. The kernel changes
        // words while they are shared, which atomics allow.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr(), self.entries) }
    }

    /// The entry's words as they are now.
    pub fn get(&self, at: usize) -> [u64; N] {
        self.all()[at].each_ref().map(|word| word.load(Relaxed))
    }

    /// Sets the entry word by word.
    pub fn set(&self, at: usize, words: &[u64; N]) {
        for (word, value) in self.all()[at].iter().zip(words) {
            word.store(*value, Relaxed);
        }
    }

    /// Sets the entry to 0.
    pub fn clear(&self, at: usize) {
        // Counters that nothing touched stay unwritten: most buckets of most classes.
        for word in self.all()[at].iter().filter(|word| word.load(Relaxed) != 0) {
            word.store(0, Relaxed);
        }
    }
}

impl<const N: usize> Drop for Mapped<N> {
    fn drop(&mut self) {
        // SAFETY: this is what was mapped, and no reference outlives `self`.
        let _ = unsafe { munmap(self.words.as_ptr().cast(), Self::bytes(self.entries)) };
    }
}
