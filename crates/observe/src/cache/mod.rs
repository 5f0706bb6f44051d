//! The page cache around a phase, beyond the measured files' own residency: the course of dirty data ([`course`]), data waiting for
//! write-back at the start and the stop, whether O_DIRECT writes pass through the cache ([`bypass_check`]), which file behind an overlay holds
//! the pages ([`overlay`]), whether the file system compresses, and verified eviction of files ([`cold`]).

pub mod bypass_check;
pub mod cold;
pub mod course;
pub(crate) mod overlay;

use crate::device::{DeviceKind, DeviceStack};
use crate::residency::{self, page_bytes};
use fathom_record::{Residency, UnwrittenData};
use std::path::PathBuf;

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

/// A page dirtied again during write-back is counted twice, because it will be written twice.
fn bytes(r: Residency) -> u64 {
    r.dirty_pages.saturating_add(r.writeback_pages).saturating_mul(page_bytes())
}

/// The files that back devices of a stack, where they can be opened.
fn backing_files(stack: &DeviceStack) -> Vec<PathBuf> {
    let loops = stack.devices.iter().filter(|d| d.kind == DeviceKind::Loop);
    let named = loops.filter_map(|d| std::fs::read_to_string(d.sys.join("loop/backing_file")).ok());
    named.map(|text| PathBuf::from(text.trim_end_matches('\n'))).filter(|p| p.is_file()).collect()
}
