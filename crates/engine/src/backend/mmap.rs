//! The file mapped into memory: shared for writing, private for reading; records are copied in or out.
//!
//! A full file system or a shortened file shows as SIGBUS here, which cannot be turned into an error inside a thread. So workers
//! with this back-end always run in processes of their own (see phase.rs), and the parent reports the signal.

use super::{Backend, Handle};
use crate::files;
use crate::shared::Call;
use crate::worker::{Fault, Plan};
use fathom_workload::MapFlush;
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::mm::{Advice, MapFlags, MsyncFlags, ProtFlags};

pub(crate) struct Mmap {
    file: OwnedFd,
    base: *mut u8,
    length: usize,
    flush: MapFlush,
}

// SAFETY: the mapping has one owner.
unsafe impl Send for Mmap {}

impl Handle for Mmap {
    fn open(plan: &Plan) -> Result<Self, Fault> {
        let (flush, advice) = match plan.stream.backend {
            fathom_workload::Backend::Mmap { flush, advice, .. } => (flush, advice),
            _ => (MapFlush::No, None),
        };
        let file = files::open(plan)?;
        let fault = |e| Fault::of(Call::Map, e, 0);
        let end = plan.region.start + plan.region.length;
        let size = rustix::fs::fstat(&file).map_err(fault)?.st_size as u64;
        let writes = files::writes(plan.stream);
        if size < end {
            if !writes {
                return Err(Fault::short(Call::Read, size, end, size));
            }
            rustix::fs::ftruncate(&file, end).map_err(fault)?;
        }
        let length = usize::try_from(end).map_err(|_| fault(rustix::io::Errno::OVERFLOW))?;
        let (protection, flags) = if writes {
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED)
        } else {
            (ProtFlags::READ, MapFlags::PRIVATE)
        };
        // SAFETY: a new mapping at an address of the kernel's choice, of a file that is at least this long.
        let base = unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, protection, flags, &file, 0) }
            .map_err(fault)?;
        if let Some(advice) = advice.and_then(advice_of) {
            // SAFETY: inside the mapping just made; the advices offered do not change contents of shared or unwritten pages.
            unsafe { rustix::mm::madvise(base, length, advice) }.map_err(fault)?;
        }
        Ok(Self { file, base: base.cast(), length, flush })
    }

    fn read_now(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        Backend::read(self, offset, buffer)
    }

    fn sync(&mut self, _data_only: bool) -> Result<(), Fault> {
        self.flush_record(0, self.length, MsyncFlags::SYNC)
    }

    fn close(self) -> Result<(), Fault> {
        // SAFETY: mapped in `open` with this length and not used again.
        unsafe { rustix::mm::munmap(self.base.cast(), self.length) }
            .map_err(|e| Fault::of(Call::Close, e, 0))?;
        files::close(self.file)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }
}

impl Backend for Mmap {
    #[inline(always)]
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        assert!(offset as usize + buffer.len() <= self.length, "a record lies outside the mapping");
        // SAFETY: inside the mapping by the assertion; the buffer is our own memory.
        unsafe {
            std::ptr::copy_nonoverlapping(self.base.add(offset as usize), buffer.as_mut_ptr(), buffer.len())
        };
        Ok(())
    }

    #[inline(always)]
    fn write(&mut self, offset: u64, buffer: &[u8]) -> Result<(), Fault> {
        assert!(offset as usize + buffer.len() <= self.length, "a record lies outside the mapping");
        // SAFETY: inside the mapping by the assertion; the mapping is writable for streams that write.
        unsafe {
            std::ptr::copy_nonoverlapping(buffer.as_ptr(), self.base.add(offset as usize), buffer.len())
        };
        match self.flush {
            MapFlush::No => Ok(()),
            MapFlush::Async => self.flush_record(offset, buffer.len(), MsyncFlags::ASYNC),
            MapFlush::Sync => self.flush_record(offset, buffer.len(), MsyncFlags::SYNC),
        }
    }
}

impl Mmap {
    fn flush_record(&self, offset: u64, bytes: usize, flags: MsyncFlags) -> Result<(), Fault> {
        let start = offset as usize / 4096 * 4096;
        let length = (offset as usize + bytes - start).min(self.length - start);
        // SAFETY: a page-aligned part of the mapping.
        unsafe { rustix::mm::msync(self.base.add(start).cast(), length, flags) }
            .map_err(|e| Fault::of(Call::Sync, e, offset))
    }
}

/// madvise advice by its Linux number.
pub(crate) fn advice_of(number: u8) -> Option<Advice> {
    Some(match number {
        0 => Advice::Normal,
        1 => Advice::Random,
        2 => Advice::Sequential,
        3 => Advice::WillNeed,
        4 => Advice::LinuxDontNeed,
        _ => return None,
    })
}
