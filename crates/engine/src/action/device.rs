//! Block devices that are written: only those allowed outside of any workload ([`Ledger::allow_device`]), only while not
//! otherwise in use unless that was allowed as well ([`Ledger::allow_device_in_use`]), and never beyond their ends.

use crate::{EngineError, Ledger};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Whether `found` is a block device that may be written; an error if it is allowed, but in use or too small.
pub(super) fn may_write(
    path: &Path,
    found: &Metadata,
    size: u64,
    ledger: &Ledger,
) -> Result<bool, EngineError> {
    if !found.file_type().is_block_device() || !ledger.allows_device(path) {
        return Ok(false);
    }
    // An exclusive open of a device fails while it, or a part of it, is mounted, swapped on, or below another device.
    let alone = if ledger.allows_device_in_use(path) { 0 } else { libc::O_EXCL };
    let mut device = OpenOptions::new()
        .read(true)
        .custom_flags(alone | libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
        .map_err(|e| EngineError::file("have for itself alone", path, e))?;
    match end(&mut device) {
        Ok(bytes) if bytes >= size => Ok(true),
        Ok(bytes) => Err(EngineError::WouldChange {
            path: path.into(),
            what: format!("has {bytes} bytes instead of {size}"),
        }),
        Err(e) => Err(EngineError::file("find the size of", path, e)),
    }
}

/// Size of a device.
pub(super) fn end(device: &mut File) -> std::io::Result<u64> {
    device.seek(SeekFrom::End(0))
}
