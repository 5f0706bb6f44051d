//! Requests of forms that count bytes, in the kernel's sectors of 512; and the two events that a request with a response time is.

use super::cursor::{Fault, Word};
use fathom_record::BlockEvent;
use fathom_record::block::event::{SECTOR_BYTES, TASK_NAME_BYTES};
use fathom_record::block::{BlockAction, DeviceNumber, RequestFlags};

/// Turns bytes into sectors, and counts what had to be widened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extents {
    widened: u64,
}

impl Extents {
    /// First sector and number of sectors of so many bytes at an offset; whole sectors around what does not lie on them.
    pub(super) fn of(&mut self, offset: Word<'_>, bytes: Word<'_>) -> Result<(u64, u32), Fault> {
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
        // An empty request at an odd offset would become a sector.
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

/// An event of which only these are known.
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

/// "Read", "r", "0"... by a table of the form's.
pub(super) fn direction(word: Word<'_>, read: &[&str], write: &[&str]) -> Result<RequestFlags, Fault> {
    let is = |words: &[&str]| words.iter().any(|w| w.eq_ignore_ascii_case(word.text));
    if is(read) {
        Ok(RequestFlags::READ)
    } else if is(write) {
        Ok(RequestFlags::WRITE)
    } else {
        Err(word.not(&format!("{} or {}", read[0], write[0])))
    }
}
