//! I/O buffers: page-aligned, as O_DIRECT requires, with the pages and NUMA node that the stream requests, and populated before
//! the clock starts so that no page fault is measured.
//!
//! Large buffers are aligned to 2 MiB and advised to use transparent huge pages: copying a record then causes 512 times fewer TLB
//! misses, and pinning takes 512 times fewer steps. Small buffers gain nothing and would take 2 MiB each.

use crate::fault::{FailedCall, Fault};
use crate::numa;
use fathom_workload::{Buffers, Pages};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};
use std::ffi::c_void;
use std::path::Path;
use std::ptr::NonNull;

/// Size of a base page. On machines with larger pages, buffers are rounded to a fraction of one, which is harmless.
const PAGE: usize = 4096;
/// Size of a transparent huge page, and the smallest buffer that uses them.
const HUGE: usize = 2 << 20;

/// How to allocate a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Making {
    pub pages: Pages,
    /// NUMA node to bind to; `None`: the kernel chooses the memory nearest to the populating CPU.
    pub node: Option<u32>,
}

impl Making {
    /// The settings of a stream that works on the file at `path`.
    pub fn of(buffers: Buffers, path: &Path) -> Self {
        Self { pages: buffers.pages, node: numa::node_of(buffers.node, path) }
    }
}

/// An anonymous, populated mapping.
pub(crate) struct Buffer {
    base: NonNull<c_void>,
    length: usize,
}

// SAFETY: plain private memory with one owner.
unsafe impl Send for Buffer {}

impl Buffer {
    /// At least `bytes` zero bytes, rounded up to whole pages, with default settings.
    pub fn new(bytes: usize) -> Result<Self, Fault> {
        Self::made_of(bytes, Making::default())
    }

    /// The same with given settings.
    pub fn made_of(bytes: usize, making: Making) -> Result<Self, Fault> {
        let fault = |e| Fault::of(FailedCall::Memory, e, 0);
        let length = usize::try_from(Self::taken(bytes, making.pages)).map_err(|_| fault(Errno::NOMEM))?;
        let huge = making.pages == Pages::Huge && bytes > 0;
        let aligned = making.pages == Pages::Auto && length >= HUGE;
        let mut this =
            if aligned { Self::aligned(length) } else { Self::mapped(length, huge) }.map_err(fault)?;
        let advice = match making.pages {
            Pages::Auto if aligned => Some(Advice::LinuxHugepage),
            Pages::Base => Some(Advice::LinuxNoHugepage),
            _ => None,
        };
        if let Some(advice) = advice {
            // Kernels without transparent huge pages refuse both kinds of advice and use base pages.
            // SAFETY: exactly our own mapping, which is not used yet.
            let _ = unsafe { rustix::mm::madvise(this.base.as_ptr(), length, advice) };
        }
        if let Some(node) = making.node {
            numa::bind(this.base, length, node).map_err(fault)?;
        }
        this.populate().map_err(fault)?;
        Ok(this)
    }

    /// `bytes` bytes locked in memory, on base pages; `None` for 0.
    pub fn locked(bytes: u64) -> Result<Option<Self>, Fault> {
        if bytes == 0 {
            return Ok(None);
        }
        let fault = |e| Fault::of(FailedCall::LockMemory, e, 0);
        let bytes = usize::try_from(bytes).map_err(|_| fault(Errno::NOMEM))?;
        let this = Self::mapped(bytes, false).map_err(fault)?;
        // mlock also populates the mapping.
        // SAFETY: exactly our own mapping.
        unsafe { rustix::mm::mlock(this.base.as_ptr(), bytes) }.map_err(fault)?;
        Ok(Some(this))
    }

    /// Memory taken by a buffer of `bytes` bytes.
    pub fn taken(bytes: usize, pages: Pages) -> u64 {
        let page = if pages == Pages::Huge && bytes > 0 { huge_page_bytes() } else { PAGE as u64 };
        (bytes.max(1) as u64).next_multiple_of(page)
    }

    fn mapped(length: usize, huge: bool) -> Result<Self, Errno> {
        let flags = MapFlags::PRIVATE | if huge { MapFlags::HUGETLB } else { MapFlags::empty() };
        // SAFETY: a new private anonymous mapping at an address of the kernel's choice.
        let base = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
            )
        }?;
        let base = NonNull::new(base).ok_or(Errno::NOMEM)?;
        Ok(Self { base, length })
    }

    /// A mapping aligned to 2 MiB: maps more and unmaps the excess.
    fn aligned(length: usize) -> Result<Self, Errno> {
        let whole = Self::mapped(length.checked_add(HUGE).ok_or(Errno::NOMEM)?, false)?;
        let head = whole.base.addr().get().next_multiple_of(HUGE) - whole.base.addr().get();
        let start = whole.base.as_ptr();
        std::mem::forget(whole);
        let tail = HUGE - head;
        // SAFETY: both lie inside the mapping just made, which is not used yet: `head + length + tail` is its length.
        unsafe {
            if head > 0 {
                let _ = rustix::mm::munmap(start, head);
            }
            if tail > 0 {
                let _ = rustix::mm::munmap(start.byte_add(head + length), tail);
            }
        }
        // SAFETY: inside the mapping, so not null.
        Ok(Self { base: unsafe { NonNull::new_unchecked(start.byte_add(head)) }, length })
    }

    /// Populates the memory; otherwise the first operations would take page faults.
    fn populate(&mut self) -> Result<(), Errno> {
        // Unlike touching the pages, this returns an error when a node or the huge pages run out. Needs Linux 5.14.
        // SAFETY: exactly our own mapping; its contents, zeros, stay.
        match unsafe { rustix::mm::madvise(self.base.as_ptr(), self.length, Advice::LinuxPopulateWrite) } {
            Err(Errno::INVAL) => self.all_mut().iter_mut().step_by(PAGE).for_each(|b| *b = 0),
            // The huge pages or the node's memory ran out.
            Err(Errno::FAULT) => return Err(Errno::NOMEM),
            other => other?,
        }
        Ok(())
    }

    #[inline(always)]
    pub fn all_mut(&mut self) -> &mut [u8] {
        // SAFETY: mapped with this length, exclusively ours through &mut self.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr().cast(), self.length) }
    }

    pub fn all(&self) -> &[u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().cast(), self.length) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: mapped with this length.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr(), self.length) };
    }
}

/// Size of the huge pages that MAP_HUGETLB uses: 2 MiB on most machines.
pub(crate) fn huge_page_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("Hugepagesize:"));
    let kib: Option<u64> = line.and_then(|l| l.split_ascii_whitespace().next()?.parse().ok());
    kib.filter(|&n| n > 0).map_or(HUGE as u64, |n| n * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field of the buffer's entry in /proc/self/smaps.
    fn smaps_field(buffer: &Buffer, field: &str) -> String {
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let at = buffer.base.addr().get();
        let mut inside = false;
        for line in smaps.lines() {
            let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
            if let Some((from, to)) = range
                && let (Ok(from), Ok(to)) = (usize::from_str_radix(from, 16), usize::from_str_radix(to, 16))
            {
                inside = (from..to).contains(&at);
            } else if inside && let Some(value) = line.strip_prefix(field) {
                return value.trim_start_matches(':').trim().to_owned();
            }
        }
        panic!("no {field} of {at:#x} in:\n{smaps}");
    }

    fn flags(buffer: &Buffer) -> Vec<String> {
        smaps_field(buffer, "VmFlags").split(' ').map(str::to_owned).collect()
    }

    fn has(buffer: &Buffer, flag: &str) -> bool {
        flags(buffer).iter().any(|f| f == flag)
    }

    fn thp() -> bool {
        std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists()
    }

    /// Number of the buffer's pages that are not resident.
    fn missing(buffer: &mut Buffer) -> usize {
        let mut answer = vec![0u8; buffer.length / PAGE];
        // SAFETY: our own mapping, and one byte for each of its pages.
        assert_eq!(unsafe { libc::mincore(buffer.base.as_ptr(), buffer.length, answer.as_mut_ptr()) }, 0);
        answer.iter().filter(|&&p| p & 1 == 0).count()
    }

    #[test]
    fn every_making_gives_zeros_that_are_there() {
        for pages in [Pages::Auto, Pages::Base] {
            for bytes in [0, 1, PAGE, HUGE - PAGE, HUGE, HUGE + 1, 3 * HUGE + 5 * PAGE] {
                let mut b = Buffer::made_of(bytes, Making { pages, node: None }).unwrap();
                assert_eq!(b.all().len() as u64, Buffer::taken(bytes, pages), "{pages:?} {bytes}");
                assert!(
                    b.all().len() >= bytes.max(1) && b.all().iter().all(|&x| x == 0),
                    "{pages:?} {bytes}"
                );
                assert_eq!(missing(&mut b), 0, "{pages:?} {bytes}");
                b.all_mut().fill(1);
            }
        }
    }

    #[test]
    fn large_buffers_are_aligned_and_may_have_huge_pages() {
        for bytes in [HUGE, 2 * HUGE + PAGE] {
            let b = Buffer::new(bytes).unwrap();
            assert!(b.base.addr().get().is_multiple_of(HUGE));
            assert!(!thp() || has(&b, "hg"), "{:?}", flags(&b));
        }
        let small = Buffer::new(HUGE - PAGE).unwrap();
        assert!(!has(&small, "hg"), "a small buffer would take 2 MiB: {:?}", flags(&small));
    }

    #[test]
    fn base_pages_are_base_pages_at_any_size() {
        let b = Buffer::made_of(4 * HUGE, Making { pages: Pages::Base, node: None }).unwrap();
        assert!(!thp() || has(&b, "nh"), "{:?}", flags(&b));
        assert_eq!(smaps_field(&b, "AnonHugePages"), "0 kB");
    }

    #[test]
    fn a_buffer_lies_on_the_node_it_is_bound_to() {
        for node in numa::nodes() {
            let b = Buffer::made_of(3 * PAGE, Making { pages: Pages::Auto, node: Some(node) }).unwrap();
            match numa::tests::node_of_address(b.base) {
                Some(found) => assert_eq!(found, node),
                None => {
                    println!("skipped a_buffer_lies_on_the_node_it_is_bound_to: move_pages is not to be had")
                }
            }
        }
    }

    #[test]
    fn huge_pages_are_whole_and_their_want_is_an_error() {
        let page = huge_page_bytes();
        assert_eq!(Buffer::taken(1, Pages::Huge), page);
        assert_eq!(Buffer::taken(0, Pages::Huge), PAGE as u64, "what is not needed takes no huge page");
        let of = |bytes| Buffer::made_of(bytes, Making { pages: Pages::Huge, node: None });
        match of(1) {
            Ok(b) => {
                assert_eq!(smaps_field(&b, "KernelPageSize"), format!("{} kB", page / 1024));
                assert_eq!(b.all().len() as u64, page);
            }
            Err(fault) => assert_eq!((fault.call, fault.errno), (FailedCall::Memory, libc::ENOMEM)),
        }
        // More memory than any machine has.
        let fault = of(1 << 46).err().unwrap();
        assert_eq!((fault.call, fault.errno), (FailedCall::Memory, libc::ENOMEM));
    }
}
