//! DiskSim's ASCII format: arrival in ms with a decimal point, device, block, blocks, hexadecimal flags whose lowest bit means read.
//! Each line is an arrival.

use super::arrivals::Arrivals;
use super::cursor::{Cursor, LineFault, Word};
use super::extent::event;
use super::lines::{EventLine, EventOrder, LineForm};
use crate::trace::{About, TraceFormat};
use fathom_record::BlockEvent;
use fathom_record::block::{BlockAction, RequestFlags};

const NS_PER_MS: u64 = 1_000_000;

#[derive(Debug, Default)]
pub(super) struct DiskSim {
    arrivals: Arrivals,
}

/// The five words of a line; `None` if there are fewer or more.
pub(super) fn words(line: &str) -> Option<[Word<'_>; 5]> {
    let mut cursor = Cursor::new(line);
    let row: [Word<'_>; 5] = std::array::from_fn(|_| cursor.word());
    (!row[4].text.is_empty() && cursor.rest().text.is_empty()).then_some(row)
}

/// Whether a line matches one of the formats with five numbers.
pub(super) fn is_row(line: &str) -> bool {
    words(line).is_some_and(|f| {
        f[0].time(1, "").is_ok() && f[1..4].iter().all(|w| w.number::<u64>("").is_ok()) && flags(f[4]).is_ok()
    })
}

/// Whether one of the first arrivals has a decimal point, which only DiskSim uses.
pub(super) fn recognise(lines: &[&str]) -> bool {
    lines.first().is_some_and(|l| is_row(l))
        && lines.iter().take(100).any(|l| l.split_whitespace().next().is_some_and(|w| w.contains('.')))
}

fn flags(word: Word<'_>) -> Result<RequestFlags, LineFault> {
    let digits = word.text.trim_start_matches("0x");
    let bits = u32::from_str_radix(digits, 16)
        .map_err(|_| word.not("flags in hexadecimal, 1 for read, 0 for write"))?;
    Ok(if bits & 1 == 1 { RequestFlags::READ } else { RequestFlags::WRITE })
}

impl LineForm for DiskSim {
    const ORDER: EventOrder = EventOrder::Requests;

    fn line(&mut self, line: &str, _: u64, out: &mut Vec<BlockEvent>) -> Result<EventLine, LineFault> {
        if line.trim().is_empty() {
            return Ok(EventLine::Read);
        }
        let Some([time, unit, block, blocks, kind]) = words(line) else {
            return Err(LineFault::new(0, "expected 5 columns: milliseconds device block blocks flags"));
        };
        let time_ns = time.time(NS_PER_MS, "an arrival in milliseconds")?;
        let place = (block.number("a block's number")?, blocks.number("a number of blocks")?);
        let flags = flags(kind)?;
        let _: u64 = unit.number("a device's number")?;
        let device = self.arrivals.devices.number(&format!("disk{}", unit.text), unit.byte)?;
        out.push(event(time_ns, device, BlockAction::Queue, flags, place));
        Ok(EventLine::Read)
    }

    fn about(&self) -> About {
        self.arrivals.about(TraceFormat::DiskSim, None, " Blocks are taken as 512 bytes.")
    }
}
