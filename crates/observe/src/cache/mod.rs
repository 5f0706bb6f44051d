//! The page cache around a phase, as far as it is not the measured files' own residency: how dirty data goes over time ([`course`]),
//! what waits to be written at the moments that matter, whether what is written with O_DIRECT passes through it ([`passing`]), which
//! file behind an overlay holds the pages ([`overlay`]), whether the file system compresses, and making files cold with proof
//! ([`cold`]).

pub mod cold;
pub mod course;
pub(crate) mod overlay;
pub mod passing;

use crate::device::{DeviceKind, DeviceStack};
use crate::residency::{self, page_bytes};
use fathom_record::{Residency, UnwrittenData};
use std::path::PathBuf;

/// What of the files' data waited in memory at three moments; `None` where the kernel does not tell of dirty pages. `at_stop` is not
/// known for phases that write nothing: those have nothing to wait for. `meanwhile_bytes` is what [`passing`] saw.
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

/// What waits in the files that serve as disks below; `None` where there is none, or nobody tells.
#[must_use]
pub fn waiting_below(stack: &DeviceStack) -> Option<Residency> {
    let files = backing_files(stack);
    if files.is_empty() { None } else { residency::of(&files) }
}

/// A page that is written while it is made dirty again is counted twice: it does wait twice.
fn bytes(r: Residency) -> u64 {
    r.dirty_pages.saturating_add(r.writeback_pages).saturating_mul(page_bytes())
}

/// The files that serve as disks in a stack, as far as they can be opened.
fn backing_files(stack: &DeviceStack) -> Vec<PathBuf> {
    let loops = stack.devices.iter().filter(|d| d.kind == DeviceKind::Loop);
    let named = loops.filter_map(|d| std::fs::read_to_string(d.sys.join("loop/backing_file")).ok());
    named.map(|text| PathBuf::from(text.trim_end_matches('\n'))).filter(|p| p.is_file()).collect()
}
