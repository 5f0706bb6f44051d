//! The page cache around a phase, beyond the measured files' own residency: the course of dirty data ([`course`]), data waiting for
//! write-back at the start and the stop, whether O_DIRECT writes pass through the cache ([`bypass_check`]), which file behind an overlay holds
//! the pages ([`overlay`]), whether the file system compresses, and verified eviction of files ([`cold`]).

pub mod bypass_check;
pub mod cold;
pub mod course;
pub(crate) mod overlay;

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

/// Pages of image files in the page cache, and those that left it for want of memory.
#[derive(Clone, Copy, Debug)]
pub struct ImagePages {
    cached: u64,
    evicted: u64,
}

impl ImagePages {
    /// Of the files behind the file system's own loop devices; `None` if it has none, if one uses direct I/O, or if the kernel
    /// does not report them.
    #[must_use]
    pub fn of(stack: &DeviceStack) -> Option<Self> {
        let own: Vec<_> = stack.devices.iter().filter(|d| d.level == 0).collect();
        let cached = |d: &&Device| d.kind == DeviceKind::Loop && text(d, "loop/dio").as_deref() == Some("0");
        if own.is_empty() || !own.iter().all(cached) {
            return None;
        }
        let pages = |d: &&Device| residency::cached_and_evicted(Path::new(&text(d, "loop/backing_file")?));
        let all: Option<Vec<(u64, u64)>> = own.iter().map(pages).collect();
        let sum = |all: &[(u64, u64)], part: fn(&(u64, u64)) -> u64| all.iter().map(part).sum();
        all.map(|all| Self { cached: sum(&all, |p| p.0), evicted: sum(&all, |p| p.1) })
    }

    /// Bytes gained until `later`, those that left again included; `None` if a large part of the cache left meanwhile, so that pages
    /// may have come back, too.
    #[must_use]
    pub fn gained_until(self, later: Self) -> Option<u64> {
        let left = later.evicted.saturating_sub(self.evicted);
        let gained = later.cached.saturating_add(left).saturating_sub(self.cached);
        (left <= self.cached / 4).then(|| gained.saturating_mul(page_bytes()))
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

/// One of a device's files in /sys.
fn text(device: &Device, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(device.sys.join(name)).ok()?;
    Some(text.trim_end_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_image_gained_includes_what_left_again() {
        let gained = |before: (u64, u64), later: (u64, u64)| {
            let pages = |(cached, evicted)| ImagePages { cached, evicted };
            pages(before).gained_until(pages(later)).map(|bytes| bytes / page_bytes())
        };
        assert_eq!(gained((100, 0), (350, 0)), Some(250));
        assert_eq!(gained((100, 40), (100, 40)), Some(0));
        assert_eq!(gained((100, 300), (350, 50)), Some(250), "pages that had been there before came back");
        assert_eq!(gained((100, 0), (90, 10)), Some(0), "the kernel freed a few");
        assert_eq!(gained((100, 0), (110, 60)), None, "too many to know");
    }
}
