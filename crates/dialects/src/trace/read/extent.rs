//! Converts byte ranges to the kernel's 512-byte sectors, and requests with a response time to two events.

use super::cursor::{LineFault, Word};
use fathom_record::BlockEvent;
use fathom_record::block::event::{SECTOR_BYTES, TASK_NAME_BYTES};
use fathom_record::block::{BlockAction, DeviceNumber, RequestFlags};

/// Converts bytes to sectors, and counts the ranges that were widened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extents {
    widened: u64,
}

impl Extents {
    /// First sector and number of sectors for a byte range, widened to whole sectors.
    pub(super) fn of(&mut self, offset: Word<'_>, bytes: Word<'_>) -> Result<(u64, u32), LineFault> {
        let from: u64 = offset.number("an offset in bytes")?;
        let length: u64 = bytes.number("a size in bytes")?;
        let Some(to) = from.checked_add(length) else {
            return Err(bytes.not("a size that ends below 2^64 bytes"));
        };
        let sector = from / SECTOR_BYTES;
        let sectors = to.div_ceil(SECTOR_BYTES) - sector;
        if !from.is_multiple_of(SECTOR_BYTES) || !length.is_multiple_of(SECTOR_BYTES) {
            self.widened += 1;
        }
        // An empty request at an unaligned offset would become a sector.
        let sectors = if length == 0 { 0 } else { sectors };
        match u32::try_from(sectors) {
            Ok(sectors) => Ok((sector, sectors)),
            Err(_) => Err(bytes.not("a size below 2 TiB")),
        }
    }

    pub(super) fn note(&self) -> Option<String> {
        (self.widened > 0).then(|| {
            format!(
                "{} requests do not begin and end on sectors of 512 bytes and were widened to whole ones.",
                self.widened
            )
        })
    }
}

/// An event with only these fields.
pub(super) fn event(
    time_ns: u64,
    device: DeviceNumber,
    action: BlockAction,
    flags: RequestFlags,
    (sector, sectors): (u64, u32),
) -> BlockEvent {
    let task = [0; TASK_NAME_BYTES];
    BlockEvent { time_ns, device, action, flags, sector, sectors, pid: 0, cpu: 0, error: 0, task }
}

/// Parses a direction ("Read", "r", "0") with the format's words.
pub(super) fn direction(word: Word<'_>, read: &[&str], write: &[&str]) -> Result<RequestFlags, LineFault> {
    let is = |words: &[&str]| words.iter().any(|w| w.eq_ignore_ascii_case(word.text));
    if is(read) {
        Ok(RequestFlags::READ)
    } else if is(write) {
        Ok(RequestFlags::WRITE)
    } else {
        Err(word.not(&format!("{} or {}", read[0], write[0])))
    }
}
