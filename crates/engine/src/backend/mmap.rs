//! The file mapped into memory: shared for writing, private for reading; records are copied in or out.
//!
//! With a flush, every N written records msync is given the range from the first to the last byte written since the previous
//! flush. For sequential writes that is exactly the written range; scattered writes have clean pages in between, which the kernel
//! skips. The remainder is flushed with the next fsync or when the file is closed, so no record that was to be flushed stays
//! unflushed.
//!
//! A full file system or a truncated file raises SIGBUS, which cannot be turned into an error inside a thread. So workers with
//! this back-end always run in separate processes (see phase.rs), and the parent reports the signal.

use super::capability::{Capability, ProbeFile, State, text};
use super::{Backend, Handle};
use crate::fault::{FailedCall, Fault};
use crate::files;
use crate::stream_plan::StreamPlan;
use fathom_workload::{Backend as Kind, MapFlush};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::mm::{Advice, MapFlags, MsyncFlags, ProtFlags};

const PAGE: usize = 4096;

pub(crate) struct Mmap {
    file: OwnedFd,
    base: *mut u8,
    length: usize,
    /// `None`: no flush.
    flush: Option<MsyncFlags>,
    flush_every: u64,
    pending: Pending,
}

/// The range written since the last flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pending {
    records: u64,
    from: usize,
    to: usize,
}

impl Pending {
    const NOTHING: Self = Self { records: 0, from: usize::MAX, to: 0 };

    #[inline(always)]
    fn add(&mut self, offset: usize, bytes: usize) {
        self.records += 1;
        self.from = self.from.min(offset);
        self.to = self.to.max(offset + bytes);
    }
}

// SAFETY: the mapping has one owner.
unsafe impl Send for Mmap {}

impl Handle for Mmap {
    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        let (flush, flush_every, populate, advices) = match plan.stream.backend {
            Kind::Mmap { flush, flush_every, populate, huge_pages, advice } => {
                (flush, flush_every, populate, [huge_pages.then_some(HUGE_PAGES), advice])
            }
            _ => (MapFlush::No, 1, false, [None; 2]),
        };
        let file = files::open(plan)?;
        let fault = |e| Fault::of(FailedCall::Map, e, 0);
        let end = plan.region.start + plan.region.length;
        let size = rustix::fs::fstat(&file).map_err(fault)?.st_size as u64;
        let writes = files::writes(plan.stream);
        if size < end {
            if !writes {
                return Err(Fault::short(FailedCall::Read, size, end, size));
            }
            rustix::fs::ftruncate(&file, end).map_err(fault)?;
        }
        let length = usize::try_from(end).map_err(|_| fault(rustix::io::Errno::OVERFLOW))?;
        let (protection, mut flags) = if writes {
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED)
        } else {
            (ProtFlags::READ, MapFlags::PRIVATE)
        };
        flags.set(MapFlags::POPULATE, populate);
        // SAFETY: a new mapping at an address of the kernel's choice, of a file that is at least this long.
        let base = unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, protection, flags, &file, 0) }
            .map_err(fault)?;
        for advised in advices.into_iter().flatten().filter_map(advised) {
            // SAFETY: inside the mapping just made; the advices offered do not change contents of shared or unwritten pages.
            unsafe { rustix::mm::madvise(base, length, advised.advice) }.map_err(fault)?;
        }
        Ok(Self {
            file,
            base: base.cast(),
            length,
            flush: match flush {
                MapFlush::No => None,
                MapFlush::Async => Some(MsyncFlags::ASYNC),
                MapFlush::Sync => Some(MsyncFlags::SYNC),
            },
            flush_every,
            pending: Pending::NOTHING,
        })
    }

    fn read_now(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        Backend::read(self, offset, buffer)
    }

    fn sync(&mut self, _data_only: bool) -> Result<(), Fault> {
        self.pending = Pending::NOTHING;
        self.msync(0, self.length, MsyncFlags::SYNC)
    }

    fn evict(&mut self, offset: u64, bytes: u32) {
        let from = (offset as usize / PAGE * PAGE).min(self.length);
        let length = (offset as usize + bytes as usize).min(self.length) - from;
        // Mapped pages cannot be evicted from the page cache, so unmap them first.
        // SAFETY: a page-aligned part of the mapping; what was written to it is in the page cache.
        let _ = unsafe { rustix::mm::madvise(self.base.add(from).cast(), length, Advice::LinuxDontNeed) };
        files::evict(self.file.as_fd(), offset, bytes);
    }

    fn close(mut self) -> Result<(), Fault> {
        if let Some(how) = self.flush {
            self.flush_pending(how)?;
        }
        // SAFETY: mapped in `open` with this length and not used again.
        unsafe { rustix::mm::munmap(self.base.cast(), self.length) }
            .map_err(|e| Fault::of(FailedCall::Close, e, 0))?;
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
        let Some(how) = self.flush else { return Ok(()) };
        self.pending.add(offset as usize, buffer.len());
        if self.pending.records < self.flush_every { Ok(()) } else { self.flush_pending(how) }
    }
}

impl Mmap {
    /// Flushes the range written since the last flush.
    fn flush_pending(&mut self, how: MsyncFlags) -> Result<(), Fault> {
        let Pending { records, from, to } = std::mem::replace(&mut self.pending, Pending::NOTHING);
        if records == 0 {
            return Ok(());
        }
        let start = from / PAGE * PAGE;
        self.msync(start, to - start, how)
    }

    fn msync(&self, start: usize, length: usize, how: MsyncFlags) -> Result<(), Fault> {
        // SAFETY: a page-aligned part of the mapping.
        unsafe { rustix::mm::msync(self.base.add(start).cast(), length, how) }
            .map_err(|e| Fault::of(FailedCall::Sync, e, start as u64))
    }
}

/// An madvise advice that streams may give.
struct Advised {
    /// Its Linux number, as used in workloads.
    number: u8,
    name: &'static str,
    advice: Advice,
    /// The first Linux version that has the value.
    since: &'static str,
    meaning: &'static str,
}

/// The madvise values that streams may give: they change how a file's pages are read, kept or mapped. Most others concern anonymous
/// memory, fork or dumps.
const ADVICES: [Advised; 10] = [
    Advised {
        number: 0,
        name: "MADV_NORMAL",
        advice: Advice::Normal,
        since: "2.4",
        meaning: "the usual read-ahead",
    },
    Advised {
        number: 1,
        name: "MADV_RANDOM",
        advice: Advice::Random,
        since: "2.4",
        meaning: "no read-ahead",
    },
    Advised {
        number: 2,
        name: "MADV_SEQUENTIAL",
        advice: Advice::Sequential,
        since: "2.4",
        meaning: "more read-ahead, and pages behind go first",
    },
    Advised {
        number: 3,
        name: "MADV_WILLNEED",
        advice: Advice::WillNeed,
        since: "2.4",
        meaning: "starts to read all of it into the page cache",
    },
    Advised {
        number: 4,
        name: "MADV_DONTNEED",
        advice: Advice::LinuxDontNeed,
        since: "2.4",
        meaning: "empties the page tables; what is cached stays cached",
    },
    Advised {
        number: 14,
        name: "MADV_HUGEPAGE",
        advice: Advice::LinuxHugepage,
        since: "2.6.38",
        meaning: "huge pages, where the file system has them in the page cache",
    },
    Advised {
        number: 20,
        name: "MADV_COLD",
        advice: Advice::LinuxCold,
        since: "5.4",
        meaning: "its mapped pages are the first to go when memory gets short",
    },
    Advised {
        number: 21,
        name: "MADV_PAGEOUT",
        advice: Advice::LinuxPageOut,
        since: "5.4",
        meaning: "evicts its mapped pages (with populate = true: all of them)",
    },
    Advised {
        number: 22,
        name: "MADV_POPULATE_READ",
        advice: Advice::LinuxPopulateRead,
        since: "5.14",
        meaning: "reads all of it and fills the page tables",
    },
    Advised {
        number: 23,
        name: "MADV_POPULATE_WRITE",
        advice: Advice::LinuxPopulateWrite,
        since: "5.14",
        meaning: "the same for writing: no write faults in the clock; streams that write only",
    },
];

/// Number of the advice to use huge pages.
pub(super) const HUGE_PAGES: u8 = 14;

fn advised(number: u8) -> Option<&'static Advised> {
    ADVICES.iter().find(|a| a.number == number)
}

/// Why an advice cannot be used here.
pub(super) fn refusal(number: u8, writes: bool) -> Option<String> {
    let Some(asked) = advised(number) else {
        let known: Vec<String> = ADVICES.iter().map(|a| format!("{} ({})", a.number, &a.name[5..])).collect();
        return Some(format!(
            "madvise advice {number} is not supported; supported are: {}",
            known.join(", ")
        ));
    };
    if asked.advice as u32 == Advice::LinuxPopulateWrite as u32 && !writes {
        return Some("advice 23 (POPULATE_WRITE) is for streams that write; 22 (POPULATE_READ) fills the page tables for reading".into());
    }
    // SAFETY: an empty range: the kernel checks the number and touches nothing.
    let tried = unsafe { rustix::mm::madvise(std::ptr::null_mut(), 0, asked.advice) };
    tried.err().map(|e| {
        format!(
            "this kernel refuses {} (advice = {number}): {}; it came with Linux {}",
            asked.name,
            text(e),
            asked.since
        )
    })
}

/// What works with this back-end on the probed file.
pub(super) fn probe(probe_file: &ProbeFile) -> Vec<Capability> {
    let found = |feature, state, sentence| Capability { backend: "mmap", feature, state, sentence };
    let outcome = |tried: Result<(), rustix::io::Errno>, works: String| match tried {
        Ok(()) => (State::Works, works),
        Err(e) => (State::Lacks, format!("refused for {} ({})", probe_file.name(), text(e))),
    };
    let mut all = Vec::new();
    let map = match Mapping::new(probe_file, MapFlags::SHARED) {
        Ok(map) => map,
        Err(e) => {
            let sentence = format!("{} cannot be mapped: {}", probe_file.name(), text(e));
            return vec![found("mmap, msync", State::Lacks, sentence)];
        }
    };
    // SAFETY: a page of the mapping.
    let flushed = unsafe { rustix::mm::msync(map.base, PAGE, MsyncFlags::ASYNC) };
    let (state, sentence) = outcome(flushed, format!("{}, mapped and flushed", probe_file.name()));
    all.push(found("mmap, msync", state, sentence));
    let populated = Mapping::new(probe_file, MapFlags::SHARED | MapFlags::POPULATE).map(drop);
    let (state, sentence) =
        outcome(populated, "populate = true: page tables are filled while mapping".into());
    all.push(found("MAP_POPULATE", state, sentence));
    all.extend(ADVICES.iter().map(|a| {
        // SAFETY: the mapping just made; nothing else uses it.
        let tried = unsafe { rustix::mm::madvise(map.base, map.length, a.advice) };
        let (state, sentence) = match tried {
            Ok(()) => (State::Works, a.meaning.to_owned()),
            Err(e) => (
                State::Lacks,
                format!(
                    "refused ({}); it came with Linux {}, and a kernel may be built without it",
                    text(e),
                    a.since
                ),
            ),
        };
        found(a.name, state, format!("advice = {}: {sentence}", a.number))
    }));
    all
}

/// A temporary mapping of the probed file.
struct Mapping {
    base: *mut std::ffi::c_void,
    length: usize,
}

impl Mapping {
    fn new(probe_file: &ProbeFile, flags: MapFlags) -> Result<Self, rustix::io::Errno> {
        let (length, protection) = (probe_file.bytes(), ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: a new mapping at an address of the kernel's choice, of a file of that length.
        let base = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), length, protection, flags, probe_file.file(), 0)
        }?;
        Ok(Self { base, length })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length and not used again.
        let _ = unsafe { rustix::mm::munmap(self.base, self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_records_are_one_range() {
        let mut pending = Pending::NOTHING;
        pending.add(8192, 100);
        pending.add(4096, 4096);
        pending.add(20_000, 1);
        assert_eq!(pending, Pending { records: 3, from: 4096, to: 20_001 });
    }

    #[test]
    fn advices_are_linuxs_numbers_and_refused_by_name() {
        for a in &ADVICES {
            assert_eq!(u32::from(a.number), a.advice as u32, "{}", a.name);
        }
        assert_eq!(refusal(1, false), None);
        let text = refusal(9, true).unwrap();
        assert!(text.contains("advice 9 is not supported") && text.contains("23 (POPULATE_WRITE)"), "{text}");
        assert!(refusal(23, false).unwrap().contains("22"));
    }
}
