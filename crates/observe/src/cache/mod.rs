//! The page cache around a phase, beyond the measured files' own residency: the course of dirty data ([`course`]), data waiting for
//! write-back at the start and the stop, whether O_DIRECT writes pass through the cache ([`bypass_check`]), which file behind an overlay holds
//! the pages ([`overlay`]), whether the file system compresses, and verified eviction of files ([`cold`]).

pub mod bypass_check;
pub mod cold;
pub mod course;
pub(crate) mod overlay;

pub use overlay::beneath;

use crate::counters::Evictions;
use crate::device::{Device, DeviceKind, DeviceStack};
use crate::residency::{self, page_bytes};
use fathom_record::{Residency, UnwrittenData};
use std::path::{Path, PathBuf};

/// Dirty data of the files at three points in time; `None` where the kernel does not report dirty pages. `at_stop` is unknown for phases
/// that write nothing. `meanwhile_bytes` comes from [`bypass_check`].
#[must_use]
pub fn waiting(
    paths: &[PathBuf],
    stack: &DeviceStack,
    before: Option<Residency>,
    at_stop: Option<Residency>,
    after: Option<Residency>,
    meanwhile_bytes: u64,
) -> Option<UnwrittenData> {
    let (before, at_stop, after) = (before?, at_stop?, after?);
    if !residency::tells_dirty(paths) {
        return None;
    }
    let below = waiting_below(stack).unwrap_or_default();
    Some(UnwrittenData {
        before_bytes: bytes(before),
        at_stop_bytes: bytes(at_stop),
        after_bytes: bytes(after),
        below_bytes: bytes(below),
        meanwhile_bytes,
    })
}

/// Dirty data of the files that back the devices below; `None` if there are none or the kernel does not report it.
#[must_use]
pub fn waiting_below(stack: &DeviceStack) -> Option<Residency> {
    let files = backing_files(stack);
    if files.is_empty() { None } else { residency::of(&files) }
}

/// Pages of image files in the page cache.
#[derive(Clone, Copy, Debug)]
pub struct ImagePages(u64);

impl ImagePages {
    /// Of the files behind the file system's own loop devices, except those in memory; `None` if it has none, if one uses direct
    /// I/O, or if the kernel does not report them.
    #[must_use]
    pub fn of(stack: &DeviceStack) -> Option<Self> {
        let own: Vec<_> = stack.devices.iter().filter(|d| d.level == 0 && !d.in_memory).collect();
        let cached = |d: &&Device| d.kind == DeviceKind::Loop && text(d, "loop/dio").as_deref() == Some("0");
        if own.is_empty() || !own.iter().all(cached) {
            return None;
        }
        let pages = |d: &Device| residency::cached_pages(Path::new(&text(d, "loop/backing_file")?));
        own.into_iter().map(pages).sum::<Option<u64>>().map(Self)
    }

    /// Bytes gained until `later`. `None` if so much left the page cache of the machine meanwhile that pages may have come back.
    #[must_use]
    pub fn gained_until(self, later: Self, evictions: Option<Evictions>) -> Option<u64> {
        let left = evictions.filter(|e| e.drops == 0)?.reclaimed_pages;
        let few = left <= later.0 / 20;
        few.then(|| later.0.saturating_sub(self.0).saturating_mul(page_bytes()))
    }
}

/// A page dirtied again during write-back is counted twice, because it will be written twice.
fn bytes(r: Residency) -> u64 {
    r.dirty_pages.saturating_add(r.writeback_pages).saturating_mul(page_bytes())
}

/// The files that back devices of a stack, where they can be opened.
fn backing_files(stack: &DeviceStack) -> Vec<PathBuf> {
    let loops = stack.devices.iter().filter(|d| d.kind == DeviceKind::Loop);
    let named = loops.filter_map(|d| text(d, "loop/backing_file"));
    named.map(PathBuf::from).filter(|p| p.is_file()).collect()
}

/// The contents of one of a device's files in /sys; `None` if it cannot be read.
fn text(device: &Device, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(device.sys.join(name)).ok()?;
    Some(text.trim_end_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_image_gained_is_unknown_if_pages_may_have_come_back() {
        let gained = |later, reclaimed_pages, drops| {
            let evictions = Some(Evictions { reclaimed_pages, drops });
            ImagePages(100).gained_until(ImagePages(later), evictions).map(|bytes| bytes / page_bytes())
        };
        assert_eq!(gained(350, 0, 0), Some(250));
        assert_eq!(gained(98, 4, 0), Some(0), "the kernel freed a few");
        assert_eq!(gained(100, 500, 0), None, "the image is larger than memory");
        assert_eq!(gained(350, 0, 1), None, "the page cache was dropped");
        assert_eq!(ImagePages(100).gained_until(ImagePages(350), None), None, "not counted");
    }
}
