//! Arrays in anonymous shared memory: created by the parent before it forks, visible to every process and thread of the phase.
//! They contain only atomics, so any of them may be killed at any time.

use crate::EngineError;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

/// Types allowed in shared memory.
///
/// # Safety
/// Zero bytes are a valid value, and everything that changes is an atomic.
pub(crate) unsafe trait Sharable: Sync {}

// SAFETY: an atomic, for which 0 is a valid value.
unsafe impl Sharable for std::sync::atomic::AtomicU64 {}
// SAFETY: as above.
unsafe impl Sharable for std::sync::atomic::AtomicU32 {}

/// A shared array, initially zero.
pub(crate) struct Mapped<T: Sharable> {
    base: NonNull<T>,
    count: usize,
    bytes: usize,
    kind: PhantomData<T>,
}

// SAFETY: plain memory of atomics, owned by this value.
unsafe impl<T: Sharable> Send for Mapped<T> {}
// SAFETY: as above.
unsafe impl<T: Sharable> Sync for Mapped<T> {}

impl<T: Sharable> Mapped<T> {
    /// An array of `count` elements.
    pub fn new(count: usize) -> Result<Self, EngineError> {
        const WHAT: &str = "get shared memory for the flows";
        let none = || EngineError::system(WHAT, std::io::Error::from_raw_os_error(libc::ENOMEM));
        let bytes = count.max(1).checked_mul(size_of::<T>()).ok_or_else(none)?.next_multiple_of(4096);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice.
        let base = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                bytes,
                rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE,
                rustix::mm::MapFlags::SHARED | rustix::mm::MapFlags::NORESERVE,
            )
        }
        .map_err(|e| EngineError::system(WHAT, e))?;
        Ok(Self { base: NonNull::new(base.cast()).ok_or_else(none)?, count, bytes, kind: PhantomData })
    }
}

impl<T: Sharable> Deref for Mapped<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: mapped with space for `count` elements; zero bytes are a valid T, and everything that changes is an atomic.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.count) }
    }
}

impl<T: Sharable> Drop for Mapped<T> {
    fn drop(&mut self) {
        // SAFETY: mapped with this length; no reference outlives self.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn the_array_starts_zeroed_and_is_shared_with_a_child() {
        let array = Mapped::<AtomicU64>::new(1000).unwrap();
        assert!(array.iter().all(|n| n.load(Ordering::Relaxed) == 0) && array.len() == 1000);
        // SAFETY: the child writes one number and ends without anything else.
        match unsafe { libc::fork() } {
            0 => {
                array[999].store(7, Ordering::Relaxed);
                // SAFETY: ends the child at once.
                unsafe { libc::_exit(0) }
            }
            child => {
                let mut status = 0;
                // SAFETY: our own child.
                unsafe { libc::waitpid(child, &raw mut status, 0) };
            }
        }
        assert_eq!(array[999].load(Ordering::Relaxed), 7);
        assert!(Mapped::<AtomicU64>::new(0).unwrap().is_empty());
        assert!(Mapped::<AtomicU64>::new(usize::MAX / 4).is_err());
    }
}
