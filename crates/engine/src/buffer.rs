//! I/O buffers: page-aligned, so that O_DIRECT takes them, and touched before the clock starts, so that no page fault falls into
//! a measurement.

use crate::shared::Call;
use crate::worker::Fault;
use std::ffi::c_void;
use std::ptr::NonNull;

/// An anonymous, populated mapping.
pub(crate) struct Buffer {
    base: NonNull<c_void>,
    length: usize,
}

// SAFETY: plain private memory with one owner.
unsafe impl Send for Buffer {}

impl Buffer {
    /// At least `bytes` zero bytes, rounded up to whole pages.
    pub fn new(bytes: usize) -> Result<Self, Fault> {
        let length = bytes.max(1).next_multiple_of(4096);
        // SAFETY: a new private anonymous mapping at an address of the kernel's choice.
        let base = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                length,
                rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE,
                rustix::mm::MapFlags::PRIVATE | rustix::mm::MapFlags::POPULATE,
            )
        }
        .map_err(|e| Fault::of(Call::Memory, e, 0))?;
        let base = NonNull::new(base).ok_or(Fault::of(Call::Memory, rustix::io::Errno::NOMEM, 0))?;
        let mut this = Self { base, length };
        // POPULATE may map the shared zero page; one write per page makes the memory ours.
        this.all_mut().iter_mut().step_by(4096).for_each(|b| *b = 0);
        Ok(this)
    }

    /// The whole buffer.
    #[inline(always)]
    pub fn all_mut(&mut self) -> &mut [u8] {
        // SAFETY: mapped in `new` with this length, exclusively ours through &mut self.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr().cast(), self.length) }
    }

    /// The whole buffer, for reading.
    pub fn all(&self) -> &[u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().cast(), self.length) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr(), self.length) };
    }
}
